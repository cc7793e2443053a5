// SPDX-License-Identifier: Apache-2.0
// What must hold when a random program has run, found out on the host, one operation at a time.
#pragma once

#include "sections.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fuzz {

class oracle {
 public:
  explicit oracle(domain const& d) : domain_{d}, records_(d.records) {}

  void run(std::uint32_t number) {
    operation const o = operation::of(domain_, number);
    switch (o.what) {
      case plain:
      case wide:
        add(o.first, o.value);
        break;
      case pair:
        add(o.first, o.value);
        add(o.second, 3 * o.value);
        break;
      case chain:
        run_chain(number, 0, o);
        break;
      case fork:
        add(o.first, o.value);
        run_chain(number, 1, o);
        run_chain(number, 2, o);
        break;
    }
  }

  /// Checks records, or the copies kept apart from them.
  void expect_records(std::vector<record> const& seen, char const* where) const {
    ASSERT_EQ(seen.size(), records_.size());
    for (std::size_t k = 0; k < seen.size(); ++k) {
      EXPECT_EQ(seen[k].count, records_[k].count)
          << "record " << k << where << ": sections lost or doubled";
      EXPECT_EQ(seen[k].sum, records_[k].sum) << "record " << k << where << ": wrong payload";
    }
  }
  /// Each section has a turn of its own at its record. `turns` by operation, 0 for those that were
  /// not called.
  void expect_turns(std::vector<std::uint32_t> const& turns) const {
    std::vector<std::vector<std::uint32_t>> of_record(records_.size());
    for (std::uint32_t number = 0; number < turns.size(); ++number) {
      if (turns[number] == 0) continue;
      std::uint32_t const id = operation::of(domain_, number).first;
      EXPECT_LE(turns[number], records_[id].count) << "record " << id << ": a turn beyond the last";
      of_record[id].push_back(turns[number]);
    }
    for (auto& of_one : of_record) {
      std::sort(of_one.begin(), of_one.end());
      EXPECT_EQ(std::adjacent_find(of_one.begin(), of_one.end()), of_one.end())
          << "record " << &of_one - of_record.data() << ": two callers were told the same turn";
    }
  }

 private:
  void add(std::uint32_t id, std::uint32_t value) {
    records_[id].count += 1;
    records_[id].sum += value;
  }
  void run_chain(std::uint32_t number, std::uint32_t which, operation const& o) {
    for (std::uint32_t left = o.links + 1; left-- != 0;)
      add(station(domain_, number, which, left), o.value + left);
  }

  domain domain_;
  std::vector<record> records_;
};

}  // namespace fuzz
