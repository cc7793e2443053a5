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

/// Makes the program end with exit code 1 and one line on standard error, which begins with `name`,
/// if standard output could not be written. Precondition: the program has opened no file yet.
inline void check_standard_output(std::string const& name) {
  static std::string command;  // name in the first call, if there are more
  if (!command.empty()) return;
  command = name;
  // The next file to be opened would get the descriptor of a closed stream, and the printed text. A
  // folder in its place can be neither read nor written, also by names such as /dev/stdout.
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) file = open("/", O_RDONLY);
  if (file >= 0) close(file);
  // By default these signals end the process without an error line: SIGPIPE at a pipe without a
  // reader, SIGXFSZ at the size limit of files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::atexit([] {
    flush_standard_output();
    if (std::ferror(stdout) == 0) return;
    int const error = standard_output_error;  // 0 if printf met it, when its buffer was full
    std::fprintf(stderr, "%s: standard output cannot be written%s%s\n", command.c_str(),
                 error != 0 ? ": " : "", error != 0 ? std::strerror(error) : "");
    _exit(EXIT_FAILURE);
  });
}

}  // namespace apps
