// SPDX-License-Identifier: Apache-2.0
// The contention benchmark: locks, atomics and Warden on the same keys, as Google Benchmark rows.

#include "point.hpp"

#include <warden/runtime.hpp>
#include <warden/version.hpp>

#include <benchmark/benchmark.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

volatile std::sig_atomic_t interrupted = 0;

struct options {
  std::vector<std::uint32_t> keys;
  std::vector<std::string> arms = contention::arms();
  std::vector<std::string> operations{"push", "add", "update"};
  std::vector<std::string> workloads;
  std::string ids;
  std::string facebook = "apps/data/facebook_combined.txt";
  std::uint32_t ops = 0;
  unsigned repetitions = 5;
};

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

void add_context(bool simulated) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  benchmark::AddCustomContext("device", facts.name);
  benchmark::AddCustomContext("simulated", simulated ? "yes" : "no");
  for (auto const& [key, value] : warden::runtime::device_details())
    benchmark::AddCustomContext(key, value);
  benchmark::AddCustomContext("warden", std::to_string(WARDEN_VERSION_MAJOR) + "." +
                                            std::to_string(WARDEN_VERSION_MINOR) + "." +
                                            std::to_string(WARDEN_VERSION_PATCH));
  benchmark::AddCustomContext("commit", CONTENTION_COMMIT);
  benchmark::AddCustomContext("include_hash", CONTENTION_INCLUDE_HASH);
}

/// One point of the sweep and its arms' rows. The first row that runs measures all arms,
/// interleaved.
void add_rows(std::shared_ptr<contention::point> const& point, options const& o,
              progress_bar& bar) {
  auto const begun = std::make_shared<bool>(false);
  for (std::string const& arm : o.arms) {
    if (!point->has(arm)) continue;
    std::string const name = "contention/" + point->operation() + "/" + point->workload() + "/" +
                             arm + "/keys:" + std::to_string(point->keys());
    benchmark::RegisterBenchmark(
        name.c_str(),
        [point, arm, name, begun, &o, &bar](benchmark::State& state) {
          for (auto _ : state) {
            // The other arms of a point that was measured are finished, too.
            if (interrupted != 0 && !*begun) {
              state.SkipWithError("interrupted");
              return;
            }
            *begun = true;
            contention::row r;
            try {
              r = point->measure(arm, o.arms, o.ops, o.repetitions);
            } catch (std::exception const& e) {
              state.SkipWithError(e.what());
              return;
            }
            if (!r.verified) {
              state.SkipWithError("not verified: sections were lost, doubled or torn");
              return;
            }
            state.SetIterationTime(r.seconds);
            for (auto const& [counter, value] : r.counters) state.counters[counter] = value;
            if (!r.settings.empty()) state.SetLabel(r.settings);
            if (r.seconds > 0) {
              state.counters["items_per_second"] = static_cast<double>(r.operations) / r.seconds;
            }
            bar.advance(name);
          }
        })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

/// Writes rows to the file as they come, and closes the file properly when interrupted.
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

int main(int argc, char** argv) {
  std::string command = "contention";
  for (int i = 1; i < argc; ++i) command += std::string{" "} + argv[i];
  benchmark::Initialize(&argc, argv);  // takes its own options out
  if (warden::runtime::device_count() == 0) {
    std::fprintf(stderr, "contention: no CUDA GPU\n");
    return 77;
  }
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  options o;
  CLI::App app{"Locks, atomics and Warden on the same keys. Google Benchmark's options work, too.",
               "contention"};
  app.add_option("--keys", o.keys, "numbers of records")
      ->delimiter(',')
      ->check(CLI::Range(1u, 1u << 28));
  app.add_option("--arms", o.arms, "arms")
      ->delimiter(',')
      ->check(CLI::IsMember(contention::arms()));
  app.add_option("--operation", o.operations, "operations")
      ->delimiter(',')
      ->check(CLI::IsMember({"push", "add", "update"}));
  app.add_option("--workload", o.workloads, "workloads")
      ->delimiter(',')
      ->check(CLI::IsMember({"uniform", "zipf099", "facebook"}));
  app.add_option("--ops", o.ops, "operations a run; chosen by a trial run if not given")
      ->check(CLI::Range(1u, 1u << 26));
  app.add_option("--repetitions", o.repetitions, "repetitions, of which the median is reported")
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--ids", o.ids, "file of record ids, used instead of the workloads");
  app.add_option("--facebook", o.facebook, "edge list for the workload facebook");
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    return app.exit(e);
  } catch (CLI::ParseError const& e) {
    std::fprintf(stderr, "contention: %s\n", e.what());
    return 2;
  }
  if (o.keys.empty()) {
    o.keys = simulated ? std::vector<std::uint32_t>{1, 32, 256, 1024}
                       : std::vector<std::uint32_t>{1,    32,   128,   256,    512,
                                                    1024, 4096, 32768, 131072, 1048576};
  }
  if (o.workloads.empty())
    o.workloads = simulated ? std::vector<std::string>{"uniform", "zipf099"}
                            : std::vector<std::string>{"uniform", "zipf099", "facebook"};
  if (simulated) o.repetitions = 1;

  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
    char const text[] =
        "\ncontention: interrupted; ends with this point, or at once by another one\n";
    [[maybe_unused]] auto const written = write(STDERR_FILENO, text, sizeof text - 1);
  });
  add_context(simulated);
  benchmark::AddCustomContext("command", command);

  std::vector<std::shared_ptr<contention::point>> points;
  try {
    for (std::string const& operation : o.operations) {
      if (!o.ids.empty()) {
        points.push_back(contention::make_point(operation, "ids", 0, o.ids));
        continue;
      }
      for (std::string const& workload : o.workloads) {
        if (workload == "facebook") {
          points.push_back(contention::make_point(operation, workload, 0, o.facebook));
          continue;
        }
        for (std::uint32_t keys : o.keys)
          points.push_back(contention::make_point(operation, workload, keys, ""));
      }
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "contention: %s\n", e.what());
    return 2;
  }
  std::size_t rows = 0;
  for (auto const& p : points)
    rows += static_cast<std::size_t>(
        std::count_if(o.arms.begin(), o.arms.end(), [&](auto const& a) { return p->has(a); }));
  if (rows == 0) {
    std::fprintf(stderr, "contention: none of these arms has one of these operations\n");
    return 2;
  }
  progress_bar bar{rows};
  for (auto const& p : points) add_rows(p, o, bar);

  console display;
  file_reporter file;
  // Without --benchmark_out a file reporter would be an error.
  bool const to_file = command.find("--benchmark_out=") != std::string::npos;
  bool const any = benchmark::RunSpecifiedBenchmarks(&display, to_file ? &file : nullptr) != 0;
  if (!any) return 2;
  if (display.not_run != 0)
    std::fprintf(stderr, "contention: %d rows were not run\n", display.not_run);
  return display.failures != 0 ? 1 : interrupted != 0 ? 130 : 0;
}
