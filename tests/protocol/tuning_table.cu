// SPDX-License-Identifier: Apache-2.0
// Tuning tables: contrary ones give the same results, and others are ignored or refused.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/tuning_table.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

warden::tuning_table usual() {
  return warden::usual_tuning(warden::runtime::facts(warden::runtime::current_device()));
}

/// Tables whose choices differ as much as the limits allow: one with large shards, few partitions
/// and records on chip, one with small shards, many partitions and records in memory.
warden::tuning_table const on_chip{.sections_per_shard = 1u << 26,
                                   .most_shards = 1,
                                   .record_bytes_per_section = 1u << 12,
                                   .on_chip_bytes = 1u << 20,
                                   .partitions_in_memory = 1,
                                   .records_per_split_section = 1,
                                   .split_part_bytes = 1u << 20};
warden::tuning_table const in_memory{.sections_per_shard = 1u << 12,
                                     .most_shards = 256,
                                     .record_bytes_per_section = 1,
                                     .on_chip_bytes = 0,
                                     .partitions_in_memory = 16,
                                     .records_per_split_section = 1u << 12,
                                     .split_part_bytes = 1u << 10};

template <unsigned Words>
struct record {
  float value;
  std::uint32_t count;
  std::uint32_t others[Words];
};
/// A section whose result depends on the order. Sections on integers do not, and combine.
template <unsigned Words>
struct blend {
  std::uint32_t with;
  __device__ void operator()(record<Words>& r) const {
    r.value = r.value * 0.75f + static_cast<float>(with);
    r.others[with % Words] = ++r.count;
  }
};
/// A section whose partials depend on which sections are combined first.
template <unsigned Words>
struct add_float {
  float amount;
  __device__ explicit add_float(std::uint32_t i) : amount{1 / static_cast<float>(i + 1)} {}
  __device__ void operator()(record<Words>& r) const { r.value += amount; }
  __device__ static add_float combine(add_float a, add_float const& b) {
    a.amount += b.amount;
    return a;
  }
};
template <unsigned Words, bool Combines>
struct add {
  static constexpr bool combines = Combines;
  std::uint32_t amount;
  __device__ void operator()(record<Words>& r) const { r.others[Words - 1] += amount; }
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
};

/// Sends section i to a record: evenly, or most of them to one.
template <class Section>
struct send {
  std::uint32_t records;
  bool is_skewed;
  __device__ warden::to<Section> operator()(std::uint64_t i) const {
    auto const h = static_cast<std::uint32_t>(i * 2654435761u >> 3);
    return {is_skewed && h % 8 != 0 ? 7 : h % records, Section{h % 1000}};
  }
};

/// Records after a run, and the report on it.
template <unsigned Words>
struct outcome {
  std::vector<record<Words>> records;
  warden::run_report report;
};
template <unsigned Words, class Section, class Order>
outcome<Words> run(warden::tuning_table const& table, bool is_skewed) {
  using policy = warden::policy<warden::options{.block_threads = 64}, Order>;
  constexpr std::uint32_t sections = 9'000, size = 2'000;
  warden::set_tuning(table);
  warden::buffer<record<Words>> records{size};
  records.fill_bytes(0);
  warden::basic_guarded<policy, record<Words>, Section> on{records};
  warden::deferred<policy, record<Words>, Section> log{on, sections};
  warden::send_async(log, sections, send<Section>{size, is_skewed});
  log.run();
  on.wait();
  warden::set_tuning(usual());
  return {records.to_host(), log.explain()};
}
template <unsigned Words, class Section, class Order>
void run_by_contrary_tables() {
  for (bool const is_skewed : {false, true}) {
    auto const a = run<Words, Section, Order>(on_chip, is_skewed);
    auto const b = run<Words, Section, Order>(in_memory, is_skewed);
    // Logs with order::deterministic have no partitions.
    if constexpr (!std::is_same_v<Order, warden::order::deterministic>) {
      EXPECT_NE(a.report.on_chip, 0u);
      EXPECT_EQ(a.report.in_memory, 0u);
      EXPECT_EQ(b.report.on_chip, 0u);
      EXPECT_NE(b.report.in_memory, 0u);
    }
    EXPECT_EQ(
        std::memcmp(a.records.data(), b.records.data(), a.records.size() * sizeof(b.records[0])), 0)
        << Words << (is_skewed ? " words, skewed" : " words, even");
  }
}

template <unsigned Words>
void run_in_order() {
  run_by_contrary_tables<Words, blend<Words>, warden::order::sequential>();
  run_by_contrary_tables<Words, add<Words, true>, warden::order::sequential>();
}
TEST(tuning_table, keeps_every_bit_in_order) {
  run_in_order<1>();
  run_in_order<2>();
  run_in_order<14>();
}
TEST(tuning_table, keeps_every_bit_of_partials) {
  run_by_contrary_tables<1, add_float<1>, warden::order::deterministic>();
}
template <unsigned Words>
void run_unordered() {
  run_by_contrary_tables<Words, add<Words, true>, warden::order::unordered>();
  run_by_contrary_tables<Words, add<Words, false>, warden::order::unordered>();
}
TEST(tuning_table, keeps_sums_of_integers) {
  run_unordered<1>();
  run_unordered<14>();
}

/// A file that is removed at the end of the scope.
class table_file {
 public:
  explicit table_file(std::string const& text) { std::ofstream{path_} << text; }
  ~table_file() { std::remove(path_.c_str()); }
  table_file(table_file const&) = delete;
  table_file& operator=(table_file const&) = delete;
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "warden_table_" + std::to_string(getpid());
};
/// Returns a table with other values than the usual ones, with `with` instead of the line that
/// begins with `key`.
std::string text(std::string const& key = "", std::string const& with = "") {
  std::string all = "# comment\n\n" + to_string(on_chip);
  if (key.empty()) return all;
  auto const begin = all.find("\n" + key + " ") + 1;
  return all.replace(begin, all.find('\n', begin) + 1 - begin, with);
}
warden::tuning_table current() { return warden::current_tuning(warden::runtime::current_device()); }

TEST(tuning_table, is_loaded_from_a_file) {
  table_file const file{text()};
  EXPECT_TRUE(warden::load_tuning(file.path()));
  EXPECT_EQ(current(), on_chip);
  warden::set_tuning(usual());
  EXPECT_EQ(current(), usual());
}

TEST(tuning_table, may_have_two_characters_at_the_end_of_a_line) {
  std::string const all = std::regex_replace(text(), std::regex{"\n"}, "\r\n");
  EXPECT_TRUE(warden::load_tuning(table_file{all}.path()));
  EXPECT_EQ(current(), on_chip);
  warden::set_tuning(usual());
}

TEST(tuning_table, is_ignored_if_it_is_of_another_device_or_version) {
  warden::set_tuning(usual());
  for (std::string const key : {"gpu", "compute_capability", "driver", "warden"}) {
    table_file const file{text(key, key + " 99.9 of others\n")};
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(warden::load_tuning(file.path()));
    std::string const said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, AllOf(HasSubstr(file.path()), HasSubstr("its " + key + " is 99.9 of others"),
                            HasSubstr("here it is "), HasSubstr("./warden tune")));
    EXPECT_EQ(said.find('\n'), said.size() - 1);
    EXPECT_EQ(current(), usual());
  }
}
TEST(tuning_table, may_be_of_another_minor_version_of_the_driver) {
  std::string const all = text();
  auto const begin = all.find("\ndriver ") + 1;
  std::string const line = all.substr(begin, all.find('.', begin) - begin);
  table_file const file{text("driver", line + ".987\n")};
  EXPECT_TRUE(warden::load_tuning(file.path()));
  warden::set_tuning(usual());
}

std::string refusal_of(std::string const& table) {
  table_file const file{table};
  std::string const why = test::refusal([&] { warden::load_tuning(file.path()); });
  EXPECT_THAT(why, AllOf(HasSubstr(file.path()), HasSubstr("./warden tune")));
  EXPECT_EQ(why.find('\n'), std::string::npos);
  EXPECT_EQ(current(), usual());
  return why;
}
TEST(tuning_table, is_refused_if_it_is_broken) {
  warden::set_tuning(usual());
  EXPECT_THAT(refusal_of(""), HasSubstr("has no gpu"));
  EXPECT_THAT(refusal_of(text("on_chip_bytes")), HasSubstr("has no on_chip_bytes"));
  EXPECT_THAT(refusal_of(text() + "colour 3\n"), HasSubstr("unknown key colour"));
  EXPECT_THAT(refusal_of(text() + "gpu other\n"), HasSubstr(": gpu is there twice"));
  EXPECT_THAT(refusal_of("\n# text\ncolour\n"), HasSubstr(":3: not a key, a space and a value"));
  EXPECT_THAT(refusal_of({"\x7f\0\xff\n\x1b", 5}), HasSubstr(":1: not a key"));
  for (std::string const value : {"many", "", "-1", "1.5", "0x10", "99999999999"}) {
    EXPECT_THAT(refusal_of(text("on_chip_bytes", "on_chip_bytes " + value + "\n")),
                HasSubstr("on_chip_bytes is \"" + value + "\"; the limits are 0 and 1048576"));
  }
  EXPECT_THAT(refusal_of(text("sections_per_shard", "sections_per_shard 4095\n")),
              HasSubstr("sections_per_shard is 4095; the limits are 4096 and 67108864"));
  EXPECT_THAT(test::refusal([] { warden::load_tuning("/nowhere/table"); }),
              HasSubstr("/nowhere/table cannot be read"));
  EXPECT_THAT(test::refusal([] { warden::load_tuning(::testing::TempDir()); }),
              HasSubstr(::testing::TempDir() + " cannot be read"));
}
TEST(tuning_table, is_refused_if_a_value_is_outside_of_its_limits) {
  warden::tuning_table table = usual();
  table.partitions_in_memory = 17;
  EXPECT_THAT(test::refusal([&] { warden::set_tuning(table); }),
              HasSubstr("partitions_in_memory is 17; the limits are 1 and 16"));
}

/// Ends the process: with 0 if new logs choose by the table in the file.
[[noreturn]] void read_environment(std::string const& path) {
  setenv("WARDEN_TUNING", path.c_str(), 1);
  try {
    warden::tuning_table const found = current();
    std::exit(found == on_chip ? 0 : 1);
  } catch (warden::limit_error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::exit(2);
  }
}
// Each statement runs in a process that has read no table yet.
TEST(tuning_table_death_test, is_named_by_the_environment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_environment(table_file{text()}.path()), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(read_environment(table_file{text("gpu", "gpu other\n")}.path()),
              ::testing::ExitedWithCode(1), "its gpu is other, and here");
  EXPECT_EXIT(read_environment("/nowhere/table"), ::testing::ExitedWithCode(2),
              "/nowhere/table cannot be read; write a new table by ./warden tune");
}

}  // namespace
