// SPDX-License-Identifier: Apache-2.0
// Rows, reporters and interrupts of a benchmark program.

#include "microbench/support/report.hpp"

#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/standard_output.hpp"
#include "apps/support/version.hpp"

#include <warden/runtime.hpp>

#include <benchmark/benchmark.h>

#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace bench {

namespace {

volatile std::sig_atomic_t interrupted = 0;
char interrupt_message[160];

/// Shows the progress of the sweep, on a terminal only.
class progress_bar {
 public:
  explicit progress_bar(std::size_t rows) : rows_{rows}, shown_{isatty(STDERR_FILENO) != 0} {}
  void advance(std::string const& name) {
    ++done_;
    last_ = name;
    draw();
  }
  /// Removes the bar from the terminal, so that a line can be printed. `draw` shows it again.
  void clear() const {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void draw() const {
    if (!shown_ || done_ == 0) return;
    std::size_t const filled = 30 * done_ / std::max<std::size_t>(rows_, 1);
    clear();
    std::fprintf(stderr, "[%s%s] %zu/%zu %s", std::string(filled, '#').c_str(),
                 std::string(30 - std::min<std::size_t>(filled, 30), '.').c_str(), done_, rows_,
                 last_.c_str());
    if (done_ >= rows_) clear();
  }

 private:
  std::size_t rows_, done_ = 0;
  bool shown_;
  std::string last_;
};

using run_result = benchmark::BenchmarkReporter::Run;

std::string figure(std::string name, double value) {
  std::replace(name.begin(), name.end(), '_', ' ');
  char text[96];
  std::snprintf(text, sizeof text, "%s %.2f", name.c_str(), value);
  return text;
}

/// Returns the figures of a row as text: its rate, else the counts of the simulated device, else
/// all its counters.
std::string figures_of(run_result const& run) {
  if (auto const rate = run.counters.find("items_per_second"); rate != run.counters.end()) {
    double value = rate->second.value;
    char const* prefix = "";
    for (char const* larger : {"K", "M", "G"}) {
      if (value < 1000) break;
      value /= 1000;
      prefix = larger;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%7.2f %s/s", value, prefix);
    return text;
  }
  std::string counts, all;
  for (char const* name : {"global_atomics", "lock_retries", "sectors", "messages"}) {
    if (auto const count = run.counters.find(name); count != run.counters.end())
      counts += (counts.empty() ? "" : ", ") + figure(name, count->second.value);
  }
  if (!counts.empty()) return counts;
  for (auto const& [name, counter] : run.counters) {
    if (name != "operations" && name != "runs")
      all += (all.empty() ? "" : ", ") + figure(name, counter.value);
  }
  return all;
}

/// Name of the processor, from the operating system.
std::string host_cpu() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    if (auto const colon = line.find(": "); line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 2);
  }
  return "unknown";
}

/// Registers the rows of one point. The first row that runs measures all arms, interleaved.
void add_rows(std::string const& program, std::shared_ptr<point> const& point, sweep const& s,
              progress_bar& bar) {
  auto const begun = std::make_shared<bool>(false);
  for (std::string const& arm : s.arms) {
    if (!point->has(arm)) continue;
    std::string const name = program + "/" + point->name(arm);
    auto const measure = [point, arm, name, begun, &s, &bar](benchmark::State& state) {
      for (auto _ : state) {
        // If the point was measured already, this row is finished, too.
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

/// Prints each row when it is finished, and errors.
class console : public benchmark::ConsoleReporter {
 public:
  /// `width` is the length of the longest name. `quiet` prints no rows.
  console(progress_bar const& bar, std::size_t width, bool quiet)
      : ConsoleReporter(OO_Tabular), bar_{bar}, width_{static_cast<int>(width)}, quiet_{quiet} {}
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override {
    bar_.clear();
    for (Run const& run : runs) {
      if (!run.error_occurred) {
        if (quiet_) continue;
        std::printf("%-*s  %s\n", width_, run.run_name.function_name.c_str(),
                    figures_of(run).c_str());
        // Flush, so that the reader of a pipe or file sees the row now.
        apps::flush_standard_output();
        continue;
      }
      if (run.error_message == "interrupted") {
        ++not_run;
        continue;
      }
      ++failures;
      // All arms of a point that failed have the same error, which can be long.
      bool const again = run.error_message == last_;
      last_ = run.error_message;
      std::fprintf(stderr, "%s: %s\n", run.run_name.function_name.c_str(),
                   again ? "the same error" : last_.c_str());
    }
    bar_.draw();
  }
  int failures = 0, not_run = 0;

 private:
  progress_bar const& bar_;
  int width_;
  bool quiet_;
  std::string last_;
};

/// Writes each row to the file when it is finished. An interrupt leaves a valid file.
class file_reporter : public benchmark::JSONReporter {
 public:
  void ReportRuns(std::vector<Run> const& runs) override {
    // Unverified and unfinished rows are not published.
    std::vector<Run> good;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(good),
                 [](Run const& r) { return !r.error_occurred; });
    for (Run& run : good) {
      run.run_name.iterations.clear();  // keeps the library's settings out of the name
      run.run_name.time_type.clear();
    }
    if (!good.empty()) JSONReporter::ReportRuns(good);
    GetOutputStream().flush();
  }
  void Finalize() override {
    JSONReporter::Finalize();
    is_written = static_cast<bool>(GetOutputStream().flush());
  }
  bool is_written = true;
};

/// Version of NCCL, if the program is linked with it.
std::optional<std::string> nccl_version() {
  auto const get_version = reinterpret_cast<int (*)(int*)>(::dlsym(RTLD_DEFAULT, "ncclGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return std::nullopt;
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

program::program(std::string name, std::string const& description, int& argc, char** argv)
    : name_{std::move(name)}, command_{name_}, app_{description, name_} {
  apps::check_standard_output(name_);
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i], out = "--benchmark_out=";
    (command_ += ' ') += word;
    if (word.starts_with(out)) out_ = word.substr(out.size());
  }
  // The --help of Google Benchmark would hide the program's own.
  bool const wants_help = std::any_of(argv + 1, argv + argc,
                                      [](char const* a) { return std::strcmp(a, "--help") == 0; });
  if (!wants_help) benchmark::Initialize(&argc, argv);
}

bool program::parse(std::vector<std::string> const& arms, int argc, char** argv,
                    std::vector<std::string> const& on_demand) {
  sweep_.arms = arms;
  std::vector<std::string> known = arms;
  known.insert(known.end(), on_demand.begin(), on_demand.end());
  app_.add_option("--arms", sweep_.arms, "arms")->delimiter(',')->check(CLI::IsMember(known));
  app_.add_option("--ops", sweep_.operations,
                  "operations of a repetition; by default, trial repetitions choose the number")
      ->transform(apps::whole(1, 1u << 26));
  app_.add_option("--repetitions", sweep_.repetitions,
                  "repetitions, of which the median is reported")
      ->transform(apps::whole(1, 1000))
      ->capture_default_str();
  app_.add_flag("--quiet", quiet_, "no line for each row as it is finished");
  app_.footer("Google Benchmark's options work, too.");
  if (auto const code = apps::parse_options(app_, argc, argv)) {
    exit_code_ = *code;
    return false;
  }
  if (warden::runtime::device_count() == 0) {
    std::fprintf(stderr, "%s: no CUDA GPU\n", name_.c_str());
    exit_code_ = 77;
    return false;
  }
  simulated_ = warden::runtime::facts(warden::runtime::current_device()).simulated;
  if (simulated_) sweep_.repetitions = 1;  // counts do not get better by repetition
  return true;
}

void program::add_context() const {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  benchmark::AddCustomContext("device", facts.name);
  benchmark::AddCustomContext("simulated", simulated_ ? "yes" : "no");
  benchmark::AddCustomContext("host_cpu", host_cpu());
  for (auto const& [key, value] : warden::runtime::device_details())
    benchmark::AddCustomContext(key, value);
  if (auto const version = nccl_version()) benchmark::AddCustomContext("nccl", *version);
  benchmark::AddCustomContext("warden", apps::version_text());
  benchmark::AddCustomContext("commit", BENCH_COMMIT);
  benchmark::AddCustomContext("include_hash", BENCH_INCLUDE_HASH);
  benchmark::AddCustomContext("command", command_);
}

void program::add_numbers(std::string const& name, std::vector<std::uint32_t>& numbers,
                          std::uint32_t most, std::string const& what) {
  app_.add_option(name, numbers, what)->delimiter(',')->transform(apps::whole(1, most));
}
void program::add_names(std::string const& name, std::vector<std::string>& chosen,
                        std::vector<std::string> const& names, std::string const& what) {
  app_.add_option(name, chosen, what)->delimiter(',')->check(CLI::IsMember(names));
}
void program::add_file(std::string const& name, std::string& path, std::string const& what) {
  app_.add_option(name, path, what)->check(CLI::ExistingFile)->check([this](std::string const& in) {
    std::error_code none;  // a file that does not exist yet is another file
    bool const same = std::filesystem::equivalent(in, out_, none);
    return same ? in + " is the file of --benchmark_out, too; choose another one" : std::string{};
  });
}

int program::run(std::function<void(points&)> const& make) {
  points all;
  if (apps::is_open_for_writing(out_)) {
    std::fprintf(stderr, "%s: --benchmark_out=%s is open already; choose another name\n",
                 name_.c_str(), out_.c_str());
    return 2;
  }
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
                "\n%s: interrupted; ends after this point; interrupt again to end at once\n",
                name_.c_str());
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
    [[maybe_unused]] auto const written =
        write(STDERR_FILENO, interrupt_message, std::strlen(interrupt_message));
  });
  std::size_t rows = 0, width = 0;
  for (auto const& p : all) {
    for (std::string const& arm : sweep_.arms) {
      if (!p->has(arm)) continue;
      ++rows;
      width = std::max(width, name_.size() + 1 + p->name(arm).size());
    }
  }
  if (rows == 0) {
    std::fprintf(stderr, "%s: none of these arms has one of these operations\n", name_.c_str());
    return 2;
  }
  add_context();
  progress_bar bar{rows};
  for (auto const& p : all) add_rows(name_, p, sweep_, bar);

  console display{bar, width, quiet_};
  file_reporter file;
  // Google Benchmark refuses a file reporter without --benchmark_out.
  bool const any = benchmark::RunSpecifiedBenchmarks(&display, out_.empty() ? nullptr : &file) != 0;
  // The bar may still be shown, because rows that failed or did not run do not advance it.
  bar.clear();
  if (!any) return 2;
  if (display.not_run != 0)
    std::fprintf(stderr, "%s: %d rows were not run\n", name_.c_str(), display.not_run);
  if (!file.is_written)
    std::fprintf(stderr, "%s: %s: cannot be written\n", name_.c_str(), out_.c_str());
  return display.failures != 0 || !file.is_written ? 1 : interrupted != 0 ? 130 : 0;
}

}  // namespace bench
