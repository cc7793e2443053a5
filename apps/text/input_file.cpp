// SPDX-License-Identifier: Apache-2.0
// Reading by system calls.

#include "apps/text/input_file.hpp"

#include "apps/support/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace apps {

namespace {

[[noreturn]] void refuse(std::string const& path) {
  throw std::runtime_error{path + ": cannot be read: " + std::strerror(errno)};
}

struct stat facts_of(int file, std::string const& path) {
  struct stat facts {};
  if (fstat(file, &facts) != 0) refuse(path);
  return facts;
}

/// Calls `f()`, a system call, until no signal interrupts it; returns its result.
template <class F>
ssize_t uninterrupted(F f) {
  ssize_t done = 0;
  do {
    done = f();
  } while (done < 0 && errno == EINTR);
  return done;
}

}  // namespace

input_file::input_file(std::string path) : path_{std::move(path)} {
  refuse_output_as_input(path_);
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) refuse(path_);
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
  if (got < 0) refuse(path_);
  return static_cast<std::size_t>(got);
}

std::size_t input_file::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    ssize_t const got = uninterrupted([&] {
      return pread(file_, static_cast<char*>(to) + done, bytes - done,
                   static_cast<off_t>(offset + done));
    });
    if (got < 0) refuse(path_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace apps
