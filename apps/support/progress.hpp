// SPDX-License-Identifier: Apache-2.0
/// @file
/// A progress bar for work that takes long, on a terminal only.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace apps {

/// A bar on the standard error stream, if that is a terminal: `[######......]  50 % what`. It
/// leaves the line empty when it ends.
class progress {
 public:
  /// `all` is what `advance_to` will come to; of 0 nothing is shown.
  progress(std::string what, std::uint64_t all)
      : what_{std::move(what)}, all_{isatty(STDERR_FILENO) != 0 ? all : 0} {}
  ~progress() {
    if (percent_ >= 0) std::fprintf(stderr, "\r\033[K");
  }
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// `done` of `all` is done; draws when the percentage changes.
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
