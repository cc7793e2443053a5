// SPDX-License-Identifier: Apache-2.0
// The ids that the benchmark hits: their distribution, their repeatability, and lists from files.

#include "microbench/support/workload.cuh"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using bench::workload;
using ids_type = std::vector<std::uint32_t>;

/// The ids of one draw. Words after the last id must stay as they were.
ids_type draw(workload& w, std::uint32_t n, std::uint64_t seed) {
  constexpr std::uint32_t spare = 100, garbage = 0xeeeeeeee;
  warden::buffer<std::uint32_t> ids{n + spare};
  ids.fill_bytes(0xee);
  w.draw(ids.data(), n, seed);
  ids_type host = ids.to_host();
  for (std::uint32_t i = n; i < n + spare; ++i) {
    EXPECT_EQ(host[i], garbage) << "written after the last of " << n << " ids";
  }
  host.resize(n);
  return host;
}

/// How often each id was drawn. Fails if one is too large.
std::vector<std::uint64_t> histogram(ids_type const& ids, std::uint32_t keys) {
  std::vector<std::uint64_t> counts(keys);
  std::size_t too_large = 0;
  for (std::uint32_t const id : ids) {
    if (id < keys) {
      ++counts[id];
    } else {
      ++too_large;
    }
  }
  EXPECT_EQ(too_large, 0u) << "ids that are no record of " << keys;
  return counts;
}

/// Expects counts that fit the probabilities, by Pearson's chi-square test. The bound is five
/// standard deviations above the mean of the statistic. Seeds are fixed and both devices draw the
/// same ids, so the outcome never changes by chance.
void expect_distribution(std::vector<std::uint64_t> const& counts, std::vector<double> const& p,
                         std::uint32_t n) {
  double statistic = 0, expected = 0, seen = 0;
  int bins = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    expected += p[k] * n;
    seen += static_cast<double>(counts[k]);
    if (expected < 10 && k + 1 < p.size()) continue;  // rare ids share a bin
    statistic += (seen - expected) * (seen - expected) / expected;
    expected = seen = 0;
    ++bins;
  }
  double const freedom = bins - 1;
  EXPECT_LE(statistic, freedom + 5 * std::sqrt(2 * freedom))
      << p.size() << " keys, " << bins << " bins";
}

std::uint32_t many() { return test::sized(1u << 17, 1u << 22); }

/// P(rank r) ~ (r + 1)^-0.99, computed apart from the generator, largest first.
std::vector<double> zipf(std::uint32_t keys) {
  std::vector<double> p(keys);
  double sum = 0;
  for (std::uint32_t r = keys; r-- > 0;) sum += p[r] = std::exp(-0.99 * std::log1p(r));
  for (double& x : p) x /= sum;
  return p;
}

TEST(workload, uniform_draws_are_uniform) {
  for (std::uint32_t const keys : {1u, 2u, 32u, 1000u}) {
    auto w = workload::uniform(keys);
    EXPECT_EQ(w.name(), "uniform");
    EXPECT_EQ(w.keys(), keys);
    for (std::uint64_t const seed : {1u, 101u}) {
      auto const counts = histogram(draw(w, many(), seed), keys);
      expect_distribution(counts, std::vector<double>(keys, 1.0 / keys), many());
    }
  }
}

/// Expects draws that fit the probabilities of the ranks.
void expect_ranked(workload w, std::string const& name, std::vector<double> const& p) {
  SCOPED_TRACE(name);
  auto const keys = static_cast<std::uint32_t>(p.size());
  EXPECT_EQ(w.name(), name);
  EXPECT_EQ(w.keys(), keys);
  auto const id_of_rank = bench::permutation(keys, 42);
  for (std::uint64_t const seed : {1u, 101u}) {
    auto const by_id = histogram(draw(w, many(), seed), keys);
    std::vector<std::uint64_t> by_rank;
    for (std::uint32_t const id : id_of_rank) by_rank.push_back(by_id[id]);
    expect_distribution(by_rank, p, many());
  }
}

TEST(workload, zipf_draws_have_the_exact_probabilities) {
  for (std::uint32_t const keys : {1u, 2u, 32u, 1000u}) {
    expect_ranked(workload::zipf(keys), "zipf099", zipf(keys));
  }
}

TEST(workload, hot90_draws_have_the_exact_probabilities) {
  for (std::uint32_t const keys : {2u, 32u, 1000u, 32768u}) {
    std::vector<double> p(keys, 0.1 / (keys - 1.0));
    p[0] = 0.9;
    expect_ranked(workload::hot90(keys), "hot90", p);
  }
  expect_ranked(workload::hot90(1), "hot90", {1.0});
  // The number of keys is its own, whichever is asked for.
  EXPECT_EQ(workload::named("hot90", 7, "").keys(), 32768u);
}

// Otherwise neighbouring ids, which share cache lines and owners, would be hot together.
TEST(workload, ranks_are_scattered_over_the_ids) {
  for (std::uint32_t const keys : {1u, 2u, 32u, 1000u}) {
    ids_type identity(keys);
    std::iota(identity.begin(), identity.end(), 0u);
    ids_type const ids = bench::permutation(keys, 42);
    EXPECT_THAT(ids, testing::UnorderedElementsAreArray(identity));
    EXPECT_EQ(ids, bench::permutation(keys, 42));
    if (keys >= 32) {
      EXPECT_NE(ids, identity);
      EXPECT_NE(ids, bench::permutation(keys, 43));
      // The hottest id of the draws is that of rank 0.
      auto w = workload::zipf(keys);
      auto const counts = histogram(draw(w, many(), 5), keys);
      EXPECT_EQ(std::max_element(counts.begin(), counts.end()) - counts.begin(), ids[0]);
    }
  }
}

TEST(workload, the_seed_alone_decides) {
  ids_type listed(50);
  std::iota(listed.begin(), listed.end(), 0u);
  std::function<workload()> const makers[] = {
      [] { return workload::uniform(1000); }, [] { return workload::zipf(1000); },
      [] { return workload::hot90(); }, [&] { return workload::list("ids", listed); }};
  for (auto const& make : makers) {
    auto w = make();
    SCOPED_TRACE(w.name());
    ids_type const first = draw(w, 200, 7);
    ids_type const other = draw(w, 200, 8);
    EXPECT_NE(first, other);
    EXPECT_EQ(first, draw(w, 200, 7)) << "depends on the draws before";
    auto again = make();
    EXPECT_EQ(first, draw(again, 200, 7));
    ids_type const fewer = draw(again, 33, 7);
    EXPECT_EQ(fewer, ids_type(first.begin(), first.begin() + 33));
  }
}

TEST(workload, a_list_is_dealt_evenly) {
  ids_type const listed{0, 4, 4, 4, 2, 1, 3};  // 4 thrice
  auto w = workload::list("ids", listed);
  EXPECT_EQ(w.name(), "ids");
  EXPECT_EQ(w.keys(), 5u);
  std::map<std::uint32_t, std::uint64_t> listed_counts;
  for (std::uint32_t const id : listed) ++listed_counts[id];
  for (std::uint32_t const n : {1u, 3u, 6u, 7u, 8u, 13u, 7u * 100, 7u * 100 + 3}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto const counts = histogram(draw(w, n, seed), 5);
      std::uint64_t left = 0;
      for (auto const& [id, times] : listed_counts) {
        std::uint64_t const full = times * (n / 7);
        EXPECT_GE(counts[id], full) << n << " operations, id " << id;
        EXPECT_LE(counts[id], full + std::min<std::uint64_t>(times, n % 7));
        left += counts[id] - full;
      }
      EXPECT_EQ(left, n % 7);
    }
  }
}

TEST(workload, a_sequence_keeps_its_order) {
  ids_type listed(100);
  std::iota(listed.begin(), listed.end(), 0u);
  auto w = workload::sequence("mst", listed);
  EXPECT_EQ(w.keys(), 100u);
  EXPECT_EQ(w.length(), 100u);
  EXPECT_EQ(workload::uniform(100).length(), 0u);
  EXPECT_EQ(draw(w, 100, 3), listed);
  ids_type twice = listed;
  twice.insert(twice.end(), listed.begin(), listed.end());
  EXPECT_EQ(draw(w, 200, 3), twice);
  // Every n-th of them, from the first to the last.
  for (std::uint32_t const n : {1u, 7u, 50u, 99u}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      ids_type const ids = draw(w, n, seed);
      std::uint32_t const most = (100 + n - 1) / n;
      EXPECT_LT(ids.front(), most);
      EXPECT_GE(ids.back() + most, 100u);
      for (std::size_t i = 1; i < ids.size(); ++i) {
        EXPECT_GE(ids[i] - ids[i - 1], 100 / n);
        EXPECT_LE(ids[i] - ids[i - 1], most);
      }
    }
  }
  EXPECT_EQ(draw(w, 7, 3), draw(w, 7, 3));
  EXPECT_NE(draw(w, 7, 3), draw(w, 7, 4)) << "another seed, another sample";
}

/// A file of record ids that is gone afterwards.
class ids_file {
 public:
  explicit ids_file(std::string const& text)
      : path_{testing::TempDir() + "warden_ids_" + std::to_string(getpid())} {
    std::ofstream{path_, std::ios::binary} << text;
  }
  ~ids_file() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

ids_type ids_in(std::string const& text) { return bench::read_ids(ids_file{text}.path()); }
std::string error_of(std::string const& path) {
  try {
    bench::read_ids(path);
  } catch (std::runtime_error const& e) {
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("\n")));
    return e.what();
  }
  return "no error";
}

TEST(read_ids, numbers_become_ids_in_order_of_value) {
  EXPECT_EQ(ids_in("7\n5\n5\n9\n"), (ids_type{1, 0, 0, 2}));
  EXPECT_EQ(ids_in("7\n5"), (ids_type{1, 0})) << "no newline at the end";
  EXPECT_EQ(ids_in("18446744073709551615 0\n"), (ids_type{1, 0}));
}

TEST(read_ids, separators_and_comments) {
  EXPECT_EQ(ids_in("# from a trace\n7,5\n\n 5 ,\t9\n#8\n"), (ids_type{1, 0, 0, 2}));
  EXPECT_EQ(ids_in("# from a trace\r\n7,5\r\n\r\n5\r\n9\r\n"), (ids_type{1, 0, 0, 2}));
  EXPECT_EQ(ids_in("# from a trace\r7,5\r\r5\r9\r"), (ids_type{1, 0, 0, 2}));
  EXPECT_EQ(ids_in("\xef\xbb\xbf"
                   "7\n \t# here\n+5\n"),
            (ids_type{1, 0}));
}

TEST(read_ids, errors_name_the_place) {
  using testing::AllOf;
  using testing::EndsWith;
  using testing::StartsWith;
  EXPECT_EQ(error_of("/no/such/file"), "/no/such/file: cannot be read: No such file or directory");
  EXPECT_EQ(error_of("/"), "/: cannot be read: Is a directory");
  auto const error_in = [](std::string const& text) {
    ids_file const file{text};
    std::string const error = error_of(file.path());
    EXPECT_THAT(error, StartsWith(file.path() + ":"));
    return error.substr(std::min(file.path().size(), error.size()));
  };
  EXPECT_EQ(error_in(""), ": no record ids");
  EXPECT_EQ(error_in("# none\n\n"), ": no record ids");
  EXPECT_EQ(error_in("\x1f\x8b"), ": is compressed; uncompress it first");
  EXPECT_EQ(error_in("1\n2\n3 x4 5\n"), ":3: record id \"x4\" is not a whole number");
  EXPECT_EQ(error_in("1\r\n-2\r\n"), ":2: record id -2 is negative");
  EXPECT_EQ(error_in("# a\n1.5"), ":2: record id \"1.5\" is not a whole number");
  EXPECT_EQ(error_in("1\n18446744073709551616\n"),
            ":2: record id 18446744073709551616 is not from 0 to 18446744073709551615");
  EXPECT_THAT(error_in(std::string(10'000, 'x')),
              AllOf(StartsWith(":1: record id \"xxx"), EndsWith("a whole number")));
  EXPECT_LT(error_in(std::string(10'000, 'x')).size(), 100u);
}

}  // namespace
