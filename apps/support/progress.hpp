// SPDX-License-Identifier: Apache-2.0
/// @file
/// Progress bar for long work, on a terminal only.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace apps {

/// Bar on the standard error stream, if that is a terminal: `[######......]  50 % what`. The
/// destructor clears the line.
class progress {
 public:
  /// Begins at 0 of `all`. Shows nothing if `all` is 0.
  progress(std::string what, std::uint64_t all)
      : what_{std::move(what)}, all_{isatty(STDERR_FILENO) != 0 ? all : 0} {}
  ~progress() {
    if (percent_ >= 0) std::fprintf(stderr, "\r\033[K");
  }
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// Sets the progress to `done` of `all`. Draws if the percentage changes.
  void advance_to(std::uint64_t done) {
    if (all_ == 0) return;
    constexpr int width = 30;
    double const share = static_cast<double>(done) / static_cast<double>(all_);
    int const percent = std::min(100, static_cast<int>(100 * share));
    if (percent == percent_) return;
    percent_ = percent;
    auto const filled = static_cast<std::size_t>(width * percent / 100);
    std::fprintf(stderr, "\r\033[K[%s%s] %3d %% %s", std::string(filled, '#').c_str(),
                 std::string(width - filled, '.').c_str(), percent, what_.c_str());
    std::fflush(stderr);
  }

 private:
  std::string what_;
  std::uint64_t all_;
  int percent_ = -1;
};

}  // namespace apps
