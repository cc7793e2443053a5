// SPDX-License-Identifier: Apache-2.0
// Rows, reporters and interrupts of a benchmark program.

#include "microbench/support/report.hpp"

#include <warden/runtime.hpp>
#include <warden/version.hpp>

#include <benchmark/benchmark.h>

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>

namespace bench {

namespace {

volatile std::sig_atomic_t interrupted = 0;
char interrupt_message[160];

/// Shows how far the sweep is, on a terminal only.
class progress_bar {
 public:
  explicit progress_bar(std::size_t rows) : rows_{rows}, shown_{isatty(STDERR_FILENO) != 0} {}
  void advance(std::string const& name) {
    ++done_;
    if (!shown_) return;
    std::size_t const filled = 30 * done_ / std::max<std::size_t>(rows_, 1);
    std::fprintf(stderr, "\r\033[K[%s%s] %zu/%zu %s", std::string(filled, '#').c_str(),
                 std::string(30 - std::min<std::size_t>(filled, 30), '.').c_str(), done_, rows_,
                 name.c_str());
    if (done_ >= rows_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  std::size_t rows_, done_ = 0;
  bool shown_;
};

/// One point of the sweep and its arms' rows. The first row that runs measures all arms,
/// interleaved.
void add_rows(std::string const& program, std::shared_ptr<point> const& point, sweep const& s,
              progress_bar& bar) {
  auto const begun = std::make_shared<bool>(false);
  for (std::string const& arm : s.arms) {
    if (!point->has(arm)) continue;
    std::string const name = program + "/" + point->name(arm);
    auto const measure = [point, arm, name, begun, &s, &bar](benchmark::State& state) {
      for (auto _ : state) {
        // The other arms of a point that was measured are finished, too.
        if (interrupted != 0 && !*begun) {
          state.SkipWithError("interrupted");
          return;
        }
        *begun = true;
        row r;
        try {
          r = point->measure(arm, s);
        } catch (std::exception const& e) {
          state.SkipWithError(e.what());
          return;
        }
        if (!r.verified) {
          state.SkipWithError("not verified: something was lost, doubled or torn");
          return;
        }
        state.SetIterationTime(r.seconds);
        for (auto const& [counter, value] : r.counters) state.counters[counter] = value;
        if (!r.settings.empty()) state.SetLabel(r.settings);
        if (r.seconds > 0 && r.operations > 0)
          state.counters["items_per_second"] = static_cast<double>(r.operations) / r.seconds;
        bar.advance(name);
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), measure)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

/// Says what failed; the table is printed from the file.
class console : public benchmark::ConsoleReporter {
 public:
  console() : ConsoleReporter(OO_Tabular) {}
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override {
    for (Run const& run : runs) {
      if (!run.error_occurred) continue;
      if (run.error_message == "interrupted") {
        ++not_run;
        continue;
      }
      ++failures;
      // All arms of a point that could not be measured have one error, and it can be long.
      bool const again = run.error_message == last_;
      last_ = run.error_message;
      std::fprintf(stderr, "%s: %s\n", run.run_name.function_name.c_str(),
                   again ? "the same error" : last_.c_str());
    }
  }
  int failures = 0, not_run = 0;

 private:
  std::string last_;
};

/// Writes rows to the file as they come, and closes the file properly when interrupted.
class file_reporter : public benchmark::JSONReporter {
 public:
  void ReportRuns(std::vector<Run> const& runs) override {
    // Unverified and unfinished rows are not published.
    std::vector<Run> good;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(good),
                 [](Run const& r) { return !r.error_occurred; });
    for (Run& run : good) {
      run.run_name.iterations.clear();  // the name is the row's, not the library's settings
      run.run_name.time_type.clear();
    }
    if (!good.empty()) JSONReporter::ReportRuns(good);
    GetOutputStream().flush();
  }
};

}  // namespace

program::program(std::string name, std::string const& description, int& argc, char** argv)
    : name_{std::move(name)}, command_{name_}, app_{description, name_} {
  for (int i = 1; i < argc; ++i) command_ += std::string{" "} + argv[i];
  // Its --help would hide ours.
  bool const asks = std::any_of(argv + 1, argv + argc,
                                [](char const* a) { return std::strcmp(a, "--help") == 0; });
  if (!asks) benchmark::Initialize(&argc, argv);
}

bool program::parse(std::vector<std::string> const& arms, int argc, char** argv,
                    std::vector<std::string> const& on_demand) {
  sweep_.arms = arms;
  std::vector<std::string> known = arms;
  known.insert(known.end(), on_demand.begin(), on_demand.end());
  app_.add_option("--arms", sweep_.arms, "arms")->delimiter(',')->check(CLI::IsMember(known));
  app_.add_option("--ops", sweep_.operations, "operations a run; chosen by trial runs if not given")
      ->check(CLI::Range(1u, 1u << 26));
  app_.add_option("--repetitions", sweep_.repetitions,
                  "repetitions, of which the median is reported")
      ->check(CLI::Range(1u, 1000u));
  app_.footer("Google Benchmark's options work, too.");
  try {
    app_.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    exit_code_ = app_.exit(e);
    return false;
  } catch (CLI::ParseError const& e) {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), e.what());
    exit_code_ = 2;
    return false;
  }
  if (warden::runtime::device_count() == 0) {
    std::fprintf(stderr, "%s: no CUDA GPU\n", name_.c_str());
    exit_code_ = 77;
    return false;
  }
  simulated_ = warden::runtime::facts(warden::runtime::current_device()).simulated;
  if (simulated_) sweep_.repetitions = 1;  // counts, which no other run makes truer
  return true;
}

void program::add_context() const {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  benchmark::AddCustomContext("device", facts.name);
  benchmark::AddCustomContext("simulated", simulated_ ? "yes" : "no");
  for (auto const& [key, value] : warden::runtime::device_details())
    benchmark::AddCustomContext(key, value);
  benchmark::AddCustomContext("warden", std::to_string(WARDEN_VERSION_MAJOR) + "." +
                                            std::to_string(WARDEN_VERSION_MINOR) + "." +
                                            std::to_string(WARDEN_VERSION_PATCH));
  benchmark::AddCustomContext("commit", BENCH_COMMIT);
  benchmark::AddCustomContext("include_hash", BENCH_INCLUDE_HASH);
  benchmark::AddCustomContext("command", command_);
}

void program::add_numbers(std::string const& name, std::vector<std::uint32_t>& numbers,
                          std::uint32_t most, std::string const& what) {
  app_.add_option(name, numbers, what)->delimiter(',')->check(CLI::Range(1u, most));
}
void program::add_names(std::string const& name, std::vector<std::string>& chosen,
                        std::vector<std::string> const& names, std::string const& what) {
  app_.add_option(name, chosen, what)->delimiter(',')->check(CLI::IsMember(names));
}

int program::run(std::function<void(points&)> const& make) {
  points all;
  try {
    make(all);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), e.what());
    return 2;
  }
  return run(all);
}
int program::run(points const& all) {
  std::snprintf(interrupt_message, sizeof interrupt_message,
                "\n%s: interrupted; ends with this point, or at once by another one\n",
                name_.c_str());
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
    [[maybe_unused]] auto const written =
        write(STDERR_FILENO, interrupt_message, std::strlen(interrupt_message));
  });
  std::size_t rows = 0;
  for (auto const& p : all) {
    rows += static_cast<std::size_t>(std::count_if(sweep_.arms.begin(), sweep_.arms.end(),
                                                   [&](auto const& a) { return p->has(a); }));
  }
  if (rows == 0) {
    std::fprintf(stderr, "%s: none of these arms has one of these operations\n", name_.c_str());
    return 2;
  }
  add_context();
  progress_bar bar{rows};
  for (auto const& p : all) add_rows(name_, p, sweep_, bar);

  console display;
  file_reporter file;
  // Without --benchmark_out a file reporter would be an error.
  bool const to_file = command_.find("--benchmark_out=") != std::string::npos;
  bool const any = benchmark::RunSpecifiedBenchmarks(&display, to_file ? &file : nullptr) != 0;
  if (!any) return 2;
  if (display.not_run != 0)
    std::fprintf(stderr, "%s: %d rows were not run\n", name_.c_str(), display.not_run);
  return display.failures != 0 ? 1 : interrupted != 0 ? 130 : 0;
}

}  // namespace bench
