// SPDX-License-Identifier: Apache-2.0
// Data, time and output of the five programs.
#pragma once

#include "microbench/support/device.cuh"
#include "microbench/support/workload.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace programs {

/// Returns the number of rows: 2 to the power of the first argument, or of `log2`. Ends the program
/// with exit code 2 for an argument that is not from 1 to 30.
inline std::uint32_t rows_of(int argc, char** argv, unsigned log2) {
  if (argc > 1) {
    std::string_view const text{argv[1]};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), log2);
    if (error != std::errc{} || end != text.data() + text.size() || log2 < 1 || log2 > 30) {
      std::fprintf(stderr, "%s: \"%s\" is no logarithm of a number of rows; give 1 to 30\n",
                   argv[0], argv[1]);
      std::exit(2);
    }
  }
  return 1u << log2;
}
/// Returns n ids below `records`. `distribution` is a name that bench::workload::named takes.
inline warden::buffer<std::uint32_t> draw_ids(std::string const& distribution,
                                              std::uint32_t records, std::uint32_t n) {
  warden::buffer<std::uint32_t> ids{n};
  bench::workload::named(distribution, records, "").draw(ids.data(), n, 1);
  return ids;
}
template <class T, class Make>
__global__ void fill(T* values, std::uint64_t n, Make make) {
  bench::for_each_of(n, [&](std::uint64_t i) { values[i] = make(i); });
}
/// Returns the n values that the function object `make` returns for 0 to n - 1, on the device.
template <class T, class Make>
warden::buffer<T> made(std::uint64_t n, Make const& make) {
  warden::buffer<T> values{n};
  auto const [blocks, threads] = bench::shape_of_helpers();
  warden::launch(&fill<T, Make>, blocks, threads, {}, values.data(), n, make);
  return values;
}

/// Measures and prints configurations of one program.
class report {
 public:
  explicit report(std::string name) : name_{std::move(name)} {}

  /// Prints the median time of 5 repetitions. Each is `reset()`, which is not measured, `run()`,
  /// `wait()`, and `is_right()`.
  template <class Reset, class Run, class Wait, class Check>
  void measure(std::string const& config, std::uint64_t rows, Reset reset, Run run, Wait wait,
               Check is_right) {
    std::vector<double> seconds;
    bool all_right = true;
    for (int k = 0; k < 6; ++k) {
      reset();
      warden::timer clock;
      clock.start();
      run();
      clock.stop();
      wait();
      all_right = is_right() && all_right;
      if (k != 0) seconds.push_back(clock.result().seconds);  // the first one warms up
    }
    std::sort(seconds.begin(), seconds.end());
    double const median = seconds[seconds.size() / 2];
    std::printf("%-12s %-28s %10.3f ms %9.4f G/s %s\n", name_.c_str(), config.c_str(), median * 1e3,
                median == 0 ? 0 : static_cast<double>(rows) / median * 1e-9,
                all_right ? "ok" : "WRONG");
    std::fflush(stdout);
    failed_ = failed_ || !all_right;
  }
  /// Returns the exit code of the program.
  [[nodiscard]] int exit_code() const { return failed_ ? 1 : 0; }

 private:
  std::string name_;
  bool failed_ = false;
};

}  // namespace programs
