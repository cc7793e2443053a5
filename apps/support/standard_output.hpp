// SPDX-License-Identifier: Apache-2.0
/// @file
/// Standard output that fails is an error of the command.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace apps {

/// The first error of standard output that `flush_standard_output` met; 0 if there was none.
inline int standard_output_error = 0;

inline void flush_standard_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 && standard_output_error == 0) standard_output_error = errno;
}

/// Call it first in `main`, before any file is opened: when the program exits and what it printed
/// could not be written, it says so in one line that begins with `name`, and its exit code is 1.
inline void check_standard_output(std::string const& name) {
  static std::string command;  // of the first call, if there are more
  if (!command.empty()) return;
  command = name;
  // No file may take the place of a stream that is closed: it would receive what is printed. A
  // folder can be neither read nor written, also by names such as /dev/stdout.
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) file = open("/", O_RDONLY);
  if (file >= 0) close(file);
  // Without these the process would end without a word: at a pipe without reader, at a file's
  // largest size.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::atexit([] {
    flush_standard_output();
    if (std::ferror(stdout) == 0) return;
    int const error = standard_output_error;  // 0 if the library wrote, when its buffer was full
    std::fprintf(stderr, "%s: standard output cannot be written%s%s\n", command.c_str(),
                 error != 0 ? ": " : "", error != 0 ? std::strerror(error) : "");
    _exit(EXIT_FAILURE);
  });
}

}  // namespace apps
