// SPDX-License-Identifier: Apache-2.0
/// @file
/// Line that shows the progress of work of unknown length, on a terminal only.
#pragma once

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <string>

namespace apps {

/// Line on the standard error stream, if that is a terminal. The destructor clears the line.
class progress_line {
 public:
  progress_line() = default;
  ~progress_line() {
    if (is_drawn_) std::fprintf(stderr, "\r\033[K");
  }
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;

  /// Shows `what()`, a std::string; not more often than it can be read.
  template <class What>
  void show(What what) {
    if (!is_terminal_) return;
    auto const now = std::chrono::steady_clock::now();
    if (is_drawn_ && now - last_ < std::chrono::milliseconds{100}) return;
    last_ = now;
    is_drawn_ = true;
    std::fprintf(stderr, "\r\033[K%s", std::string{what()}.c_str());
    std::fflush(stderr);
  }

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) != 0, is_drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace apps
