// SPDX-License-Identifier: Apache-2.0
// Files by the system's calls.

#include "apps/graph/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace graph {

namespace {

[[noreturn]] void refuse_reading(std::string const& path) {
  throw std::runtime_error{path + ": cannot be read: " + std::strerror(errno)};
}

[[noreturn]] void refuse_writing(std::string const& path, int error) {
  throw std::runtime_error{path + ": cannot be written: " + std::strerror(error)};
}

/// Whether a new file may take the name: it is that of none, or of a regular one.
bool is_replaced(std::string const& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

struct stat facts_of(int file, std::string const& path) {
  struct stat facts {};
  if (fstat(file, &facts) != 0) refuse_reading(path);
  return facts;
}

/// Calls `f()`, one of the system's, until no signal interrupts it.
template <class F>
ssize_t uninterrupted(F f) {
  ssize_t done = 0;
  do {
    done = f();
  } while (done < 0 && errno == EINTR);
  return done;
}

}  // namespace

input_file::input_file(std::string path)
    : path_{std::move(path)}, file_{open(path_.c_str(), O_RDONLY | O_CLOEXEC)} {
  if (file_ < 0) refuse_reading(path_);
  posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

input_file::~input_file() { close(file_); }

std::uint64_t input_file::bytes() const {
  auto const facts = facts_of(file_, path_);
  return S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

std::int64_t input_file::modified_ns() const {
  auto const time = facts_of(file_, path_).st_mtim;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::size_t input_file::read(void* to, std::size_t bytes) {
  ssize_t const got = uninterrupted([&] { return ::read(file_, to, bytes); });
  if (got < 0) refuse_reading(path_);
  return static_cast<std::size_t>(got);
}

std::size_t input_file::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    ssize_t const got = uninterrupted([&] {
      return pread(file_, static_cast<char*>(to) + done, bytes - done,
                   static_cast<off_t>(offset + done));
    });
    if (got < 0) refuse_reading(path_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

output_file::output_file(std::string path)
    : path_{std::move(path)}, temporary_{is_replaced(path_) ? path_ + ".XXXXXX" : ""} {
  if (temporary_.empty()) {
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) refuse(errno);
    return;
  }
  file_ = mkstemp(temporary_.data());
  if (file_ < 0) refuse(errno);
  mode_t const mask = umask(0);
  umask(mask);
  fchmod(file_, 0666 & ~mask);  // as if it had been made without a temporary name
}

output_file::~output_file() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void output_file::write(void const* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t const wrote = uninterrupted(
        [&] { return ::write(file_, static_cast<char const*>(from) + done, bytes - done); });
    if (wrote < 0) refuse(errno);
    done += static_cast<std::size_t>(wrote);
  }
}

void output_file::commit() {
  int const file = std::exchange(file_, -1);
  if (close(file) != 0) refuse(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(errno);
  temporary_.clear();
}

void output_file::refuse(int error) const { refuse_writing(path_, error); }

void check_folder_of(std::string const& path) {
  std::string const folder = path.substr(0, path.find_last_of('/') + 1) + ".";
  if (is_replaced(path) && access(folder.c_str(), W_OK) != 0) refuse_writing(path, errno);
}

}  // namespace graph
