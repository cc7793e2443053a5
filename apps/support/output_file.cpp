// SPDX-License-Identifier: Apache-2.0
// Output files by the system's calls.

#include "apps/support/output_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace apps {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_writing(std::string const& path, std::string const& why) {
  throw std::runtime_error{path + ": cannot be written: " + why};
}

pthread_t main_thread;

sigset_t ending_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (int const signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&all, signal);
  return all;
}

/// Blocks the signals on the main thread while the list of open outputs changes.
class without_signals {
 public:
  without_signals() {
    sigset_t const all = ending_signals();
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(without_signals const&) = delete;
  without_signals& operator=(without_signals const&) = delete;

 private:
  sigset_t before_;
};

/// Returns where the links of `path` lead, also if no file is there. Precondition: they end.
fs::path target_of(fs::path path) {
  while (fs::is_symlink(path)) path = path.parent_path() / fs::read_symlink(path);
  return path;
}

/// Returns a descriptor by which the process has this file open for writing, or -1. Returns -1 for
/// devices such as /dev/null, which have no write position.
int descriptor_of(struct stat const& file) {
  auto const is_it = [&](int descriptor) {
    struct stat facts {};
    return fstat(descriptor, &facts) == 0 && facts.st_dev == file.st_dev &&
           facts.st_ino == file.st_ino && (!S_ISCHR(facts.st_mode) || isatty(descriptor) != 0) &&
           (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
  };
  if (is_it(STDOUT_FILENO)) return STDOUT_FILENO;
  std::error_code none;  // where /proc is not mounted
  for (auto const& entry : fs::directory_iterator{"/proc/self/fd", none}) {
    int const descriptor = std::stoi(entry.path().filename().string());
    if (is_it(descriptor)) return descriptor;
  }
  return -1;
}

}  // namespace

/// The list of all output files that are open.
struct open_outputs {
  static inline output_file* newest = nullptr;

  static void add(output_file& one) {
    without_signals const guard;
    one.next_ = std::exchange(newest, &one);
  }
  static void remove(output_file& one) {
    without_signals const guard;
    output_file** at = &newest;
    while (*at != &one) at = &(*at)->next_;
    *at = one.next_;
  }
  /// Returns the output file that is this file, or nullptr.
  static output_file const* find(dev_t device, ino_t inode, std::string const& name) {
    output_file const* one = newest;
    while (one != nullptr && (one->device_ != device || one->inode_ != inode || one->name_ != name))
      one = one->next_;
    return one;
  }
  /// Removes the temporary files; then the signal ends the process as if there were no handler.
  static void end_by(int signal) {
    // The main thread changes the list with signals blocked, so its handler reads a whole list.
    if (pthread_equal(pthread_self(), main_thread) == 0) {
      pthread_kill(main_thread, signal);
      return;
    }
    for (output_file const* one = newest; one != nullptr; one = one->next_) {
      if (!one->temporary_.empty()) unlink(one->temporary_.c_str());
    }
    ::signal(signal, SIG_DFL);
    raise(signal);
  }
  static void handle_signals() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    main_thread = pthread_self();
    for (int const signal : {SIGHUP, SIGINT, SIGTERM}) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_DFL) continue;  // nohup
      action.sa_handler = &end_by;
      action.sa_mask = ending_signals();
      sigaction(signal, &action, nullptr);
    }
  }
};

output_file::output_file(std::string path) : path_{std::move(path)} {
  struct stat facts {};
  bool const exists = stat(path_.c_str(), &facts) == 0;
  if (!exists && (errno != ENOENT || path_.empty())) refuse(errno);
  target_ = exists && !S_ISREG(facts.st_mode) ? path_ : target_of(path_).string();
  if (!exists) {
    name_ = fs::path{target_}.filename();
    std::string const folder = target_.substr(0, target_.size() - name_.size()) + ".";
    if (stat(folder.c_str(), &facts) != 0) refuse(errno);
  }
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  int const descriptor = exists ? descriptor_of(facts) : -1;
  bool const is_device = descriptor < 0 && S_ISCHR(facts.st_mode);  // such as /dev/null
  auto const* const other = open_outputs::find(device_, inode_, name_);
  if (other != nullptr && !is_device)
    refuse_writing(path_,
                   "it and the output " + other->path_ + " are one file; choose another name");
  if (descriptor >= 0) {
    file_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file_ < 0 || std::fflush(stdout) != 0) refuse(errno);
    if (descriptor == STDOUT_FILENO) stdout = stderr;
  } else if (exists && !S_ISREG(facts.st_mode)) {
    file_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) refuse(errno);
  } else {
    open_temporary(exists ? &facts : nullptr);
    return;
  }
  open_outputs::add(*this);
}

void output_file::open_temporary(struct stat const* replaced) {
  constexpr mode_t all = 07777, writable = 0222;
  if (replaced != nullptr) {
    // access() lets root write to all files.
    if ((replaced->st_mode & writable) == 0) {
      char mode[8];
      std::snprintf(mode, sizeof mode, "%03o", replaced->st_mode & all);
      refuse_writing(path_, std::string{"its mode is "} + mode +
                                ", read-only; make it writable, or choose another name");
    }
    if (access(target_.c_str(), W_OK) != 0) refuse(errno);
  }
  open_outputs::handle_signals();
  constexpr std::string_view ending = ".XXXXXX";
  std::size_t const folder = target_.find_last_of('/') + 1;
  without_signals const guard;  // until the temporary file is in the list
  temporary_ = target_.substr(0, folder + NAME_MAX - ending.size()) + std::string{ending};
  file_ = mkstemp(temporary_.data());
  if (file_ < 0) refuse(errno);
  open_outputs::add(*this);
  if (replaced != nullptr) {
    // Only root can give a file to its owner. Before fchmod, since it changes the mode.
    [[maybe_unused]] int const is_given = fchown(file_, replaced->st_uid, replaced->st_gid);
    fchmod(file_, replaced->st_mode & all);
    return;
  }
  mode_t const mask = umask(0);
  umask(mask);
  fchmod(file_, 0666 & ~mask);  // mkstemp makes 0600; open would make this
}

output_file::~output_file() {
  open_outputs::remove(*this);
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void output_file::write(void const* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t const wrote = ::write(file_, static_cast<char const*>(from) + done, bytes - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) refuse(errno);
    done += static_cast<std::size_t>(wrote);
  }
}

void output_file::commit() {
  int const file = std::exchange(file_, -1);
  if (close(file) != 0) refuse(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(errno);
  without_signals const guard;
  temporary_.clear();
}

void output_file::refuse(int error) const { refuse_writing(path_, std::strerror(error)); }

bool is_open_for_writing(std::string const& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && descriptor_of(facts) >= 0;
}

void refuse_output_as_input(std::string const& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || S_ISCHR(facts.st_mode)) return;
  if (auto const* const output = open_outputs::find(facts.st_dev, facts.st_ino, "")) {
    throw std::runtime_error{path + ": cannot be read: it and the output " + output->path() +
                             " are one file; choose another name for the output"};
  }
}

}  // namespace apps
