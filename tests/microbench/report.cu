// SPDX-License-Identifier: Apache-2.0
// What a benchmark program prints of its rows, and does with those that were not verified: exit
// code 1, and not in the file.

#include "microbench/support/measure_interleaved.hpp"
#include "microbench/support/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

class settled_point final : public bench::point {
 public:
  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override { return arm + "/x:1"; }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const&) override {
    std::map<std::string, bench::row> rows;
    rows["good"].verified = true;
    rows["good"].seconds = 0.5;
    rows["good"].operations = 1250000000;
    rows["counted"].verified = true;
    rows["counted"].counters = {{"messages", 1}, {"global_atomics", 0.125}, {"threads", 64}};
    rows["waited"].verified = true;
    rows["waited"].counters = {{"p99_ns", 1472}, {"operations", 64}};
    rows["bad"].verified = false;
    return rows;
  }
};

int run(std::vector<std::string> const& arms, std::string const& out) {
  std::string option = "--benchmark_out=" + out, format = "--benchmark_out_format=json";
  std::string name = "settled";
  std::vector<char*> words{name.data(), option.data(), format.data(), nullptr};
  int argc = 3;
  bench::program program{name, "", argc, words.data()};
  EXPECT_TRUE(program.parse(arms, argc, words.data()));
  return program.run(
      [](bench::program::points& points) { points.push_back(std::make_shared<settled_point>()); });
}

TEST(report, interleaved_repetitions_have_a_median_and_a_range_of_rates) {
  std::map<std::string, bench::row> rows;
  rows["arm"].operations = 12;
  rows["arm"].verified = true;
  double const seconds[] = {3, 1, 2};
  int repetition = 0;
  bench::measure_interleaved(rows, 3, [&](std::string const&) {
    bench::run_result result;
    result.verified = true;
    result.cost.seconds = seconds[repetition++];
    return result;
  });
  bench::row& r = rows["arm"];
  EXPECT_EQ(r.seconds, 2);
  EXPECT_EQ(r.counters["runs"], 3);
  EXPECT_EQ(r.counters["slowest_per_second"], 4);
  EXPECT_EQ(r.counters["fastest_per_second"], 12);
}

// One program for each process: Google Benchmark keeps its registrations.
TEST(report, rows_are_printed_and_an_unverified_one_is_an_error_and_not_in_the_file) {
  std::string const out = testing::TempDir() + "warden_rows_" + std::to_string(getpid());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"good", "counted", "waited", "bad"}, out), 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "settled/good/x:1        2.50 G/s\n"
            "settled/counted/x:1  global atomics 0.12, messages 1.00\n"
            "settled/waited/x:1   p99 ns 1472.00\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "settled/bad/x:1: not verified: something was lost, doubled or torn\n");
  std::ifstream file{out};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  std::filesystem::remove(out);
  EXPECT_THAT(text, testing::HasSubstr("settled/good/x:1"));
  // Where it was run, and how.
  EXPECT_THAT(text, testing::ContainsRegex("\"host_cpu\": \"[^\"]+\""));
  EXPECT_THAT(text, testing::HasSubstr("\"command\": \"settled --benchmark_out="));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("settled/bad")));
}

TEST(report, reads_no_file_that_it_writes) {
  std::string const rows = testing::TempDir() + "warden_rows_" + std::to_string(getpid());
  std::ofstream{rows} << "1 2 3\n";
  std::string option = "--benchmark_out=" + rows, name = "settled", ids = "--ids", same = rows;
  same.insert(same.rfind('/'), "/.");
  std::vector<char*> words{name.data(), option.data(), ids.data(), same.data(), nullptr};
  int argc = 4;
  bench::program program{name, "", argc, words.data()};
  std::string read;
  program.add_file("--ids", read, "numbers");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(program.parse({"good"}, argc, words.data()));
  EXPECT_EQ(program.exit_code(), 2);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "settled: --ids: " + same + " is the file of --benchmark_out, too; choose another one\n");
  std::filesystem::remove(rows);
}

}  // namespace
