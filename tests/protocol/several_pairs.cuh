// SPDX-License-Identifier: Apache-2.0
// Sections on two records without an order, and a search for a serial order that explains them.
#pragma once

#include "tests/protocol/several.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace several {

namespace simt = warden::simt;

/// Versions of its records that a section has seen, by position. Each write makes a version.
struct sighting {
  std::uint32_t versions[2];
};
/// A section on up to two records that notes what it has seen. With an even number it begins with
/// its ids, and a message does not have them twice. It is small enough for that.
struct witness {
  std::uint32_t ids[2];
  std::uint32_t number;
  std::uint32_t place;  ///< index of its sighting
  std::uint32_t records;
  std::uint8_t positions_at_most, writes_of, aborts_of, bad_of;  ///< see shape

  WARDEN_HOST_DEVICE witness(std::uint32_t n, shape const& of, std::uint32_t where)
      : ids{0, 0},
        number{n},
        place{where},
        records{of.records},
        positions_at_most{static_cast<std::uint8_t>(of.positions)},
        writes_of{static_cast<std::uint8_t>(of.writes)},
        aborts_of{static_cast<std::uint8_t>(of.aborts)},
        bad_of{static_cast<std::uint8_t>(of.bad)} {
    for (unsigned p = 0; p < 2; ++p) ids[p] = first_word(p);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE mixed<2> drawn() const {
    return {number, {records, positions_at_most, writes_of, aborts_of, bad_of}};
  }
  [[nodiscard]] WARDEN_HOST_DEVICE unsigned positions() const { return drawn().positions(); }
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_bad() const { return drawn().is_bad(); }
  [[nodiscard]] WARDEN_HOST_DEVICE bool writes(unsigned p) const { return drawn().writes(p); }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t id(unsigned p) const { return drawn().id(p); }
  /// Returns word `p` of the section as it was sent.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t first_word(unsigned p) const {
    return number % 2 != 0 ? 0 : id(p < positions() ? p : 0);
  }
  [[nodiscard]] outcome run_alone(std::vector<cell>& all) const { return drawn().run_alone(all); }

  __device__ void access(warden::access_list<2>& a) const { drawn().access(a); }
  __device__ outcome operator()(warden::records<cell, 2>& r, sighting* const& seen) const {
    for (unsigned p = 0; p < positions(); ++p) {
      // No record has the other version.
      bool const is_whole = ids[0] == first_word(0) && ids[1] == first_word(1);
      seen[place].versions[p] = is_whole ? r.read(p).writes : ~0u;
    }
    return drawn()(r);
  }
};
template <unsigned Threads>
using witnessed = warden::basic_guarded<
    warden::policy<warden::options{.block_threads = Threads}, warden::context<sighting*>>, cell,
    clear>;

/// Replays sections in a serial order in which each sees the versions that it has seen. Expects
/// that there is one, and that it leads to these results.
class serial_replay {
 public:
  serial_replay(std::vector<witness> const& sections, std::vector<outcome> const& results,
                std::vector<sighting> const& seen)
      : sections_{sections}, results_{results}, seen_{seen}, done_(sections.size(), false) {}

  /// Changes the records as the sections do.
  void run(std::vector<cell>& all) {
    std::vector<std::uint32_t> next;
    for (std::uint32_t i = 0; i < sections_.size(); ++i) {
      if (results_[i] == outcome::refused) {
        ASSERT_TRUE(sections_[i].is_bad()) << "section " << i << ": lost or doubled section";
        done_[i] = true;
        continue;
      }
      for_each_record(i, [&](unsigned, auto& witnesses) {
        witnesses.sections.push_back(i);
        ++witnesses.left;
      });
      next.push_back(i);
    }
    while (!next.empty()) {
      std::uint32_t const i = next.back();
      next.pop_back();
      if (done_[i] || !is_next(i, all)) continue;
      ASSERT_EQ(sections_[i].run_alone(all), results_[i]) << "section " << i << ": other result";
      done_[i] = true;
      for_each_record(i, [&](unsigned p, auto& witnesses) {
        --witnesses.left;
        std::uint32_t const id = sections_[i].id(p);
        for (std::uint32_t const other : witnesses_[{id, all[id].writes}].sections)
          next.push_back(other);
      });
    }
    for (std::uint32_t i = 0; i < sections_.size(); ++i)
      ASSERT_TRUE(done_[i]) << "section " << i << ": no serial order";
  }

 private:
  /// Sections that have seen one version of a record.
  struct version_witnesses {
    std::vector<std::uint32_t> sections;
    std::uint32_t left = 0;  ///< not replayed
  };
  template <class F>
  void for_each_record(std::uint32_t i, F const& f) {
    witness const& one = sections_[i];
    for (unsigned p = 0; p < one.positions(); ++p) {
      if (p == 1 && one.id(0) == one.id(1)) continue;
      f(p, witnesses_[{one.id(p), seen_[one.place].versions[p]}]);
    }
  }
  /// True if the records have the versions that the section has seen, and no other section is left
  /// that has seen a version which this one replaces.
  bool is_next(std::uint32_t i, std::vector<cell> const& all) {
    witness const& one = sections_[i];
    bool is = true, writes = false;
    for (unsigned p = 0; p < one.positions(); ++p) writes = writes || one.writes(p);
    for_each_record(i, [&](unsigned p, auto const& witnesses) {
      if (all[one.id(p)].writes != seen_[one.place].versions[p]) is = false;
      bool const replaces = one.writes(p) || (one.id(0) == one.id(1) && writes);
      if (results_[i] == outcome::commit && replaces && witnesses.left != 1) is = false;
    });
    return is;
  }

  std::vector<witness> const& sections_;
  std::vector<outcome> const& results_;
  std::vector<sighting> const& seen_;
  std::vector<bool> done_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, version_witnesses> witnesses_;
};

/// Runs sections in rounds. Expects that a serial order explains records, results and counts.
template <unsigned Threads = 256>
void expect_as_in_some_order(shape of, std::uint32_t n, unsigned calls = 2,
                             warden::guarded_options chosen = {}, std::uint32_t first_number = 0) {
  std::vector<cell> all = first_cells(of.records);
  warden::buffer<cell> records{all};
  warden::buffer<sighting> sightings{n};
  witnessed<Threads> on{records, sightings.data(), chosen};
  warden::deferred_several<witnessed<Threads>, witness> later{on, n};
  warden::buffer<outcome> results{n};
  for (unsigned call = 0; call < calls; ++call) {
    std::vector<witness> sections;
    for (std::uint32_t i = 0; i < n; ++i) sections.emplace_back(first_number + call * n + i, of, i);
    warden::buffer<witness> const on_device{sections};
    later.apply_async(on_device.data(), n, results.data());
    std::uint32_t counted[4] = {}, bad = 0;
    for (witness const& one : sections) bad += one.is_bad() ? 1 : 0;
    if (bad == 0) {
      on.wait();
    } else {
      EXPECT_THROW(on.wait(), warden::limit_error);
    }
    std::vector<outcome> const seen = results.to_host();
    for (outcome const one : seen) ++counted[static_cast<unsigned>(one)];
    warden::outcome_counts const counts = later.counts();
    EXPECT_EQ(counts.committed, counted[0]) << "wrong counts";
    EXPECT_EQ(counts.aborted, counted[1]) << "wrong counts";
    EXPECT_EQ(counts.refused, counted[2]);
    EXPECT_EQ(counted[2], bad) << "lost or doubled section";
    std::vector<sighting> const versions = sightings.to_host();
    serial_replay{sections, seen, versions}.run(all);
    if (testing::Test::HasFatalFailure()) return;
  }
  expect_same(records.to_host(), all);
}

/// A section that does as `how` says.
struct step {
  std::uint32_t ids[2];
  /// 1: writes what it reads. 2: reads a position without a record. 3: names 3 records. 4: none.
  /// 5: one. Above: milliseconds that it takes.
  std::uint32_t how;
  __device__ void access(warden::access_list<2>& a) const {
    if (how == 4) return;
    a.write(ids[0]);
    if (how != 5) a.read(ids[1]);
    if (how == 3) a.read(0);
  }
  __device__ outcome operator()(warden::records<cell, 2>& r, std::uint64_t* const& sum) const {
    if (how == 4) {
      simt::add(sum, std::uint64_t{1});
      return outcome::commit;
    }
    r.write(0).value += 5;
    if (how == 1) r.write(1).value += 1;
    if (how == 2) r.write(0).value += r.read(2).value;
    if (how == 5 && r.read(1).value != 0) r.write(0).value += 1;
    std::uint64_t const until = simt::nanoseconds() + std::uint64_t{how} * 1'000'000;
    if (how > 5) {
      simt::wait_until([] { return false; }, [&] { return simt::nanoseconds() < until; },
                       [](auto) {});
    }
    return outcome::commit;
  }
};
using summed =
    warden::basic_guarded<warden::policy<warden::options{.records = warden::placement::on_chip},
                                         warden::context<std::uint64_t*>>,
                          cell, clear>;

struct steps {
  explicit steps(std::uint32_t size, std::size_t room = 8, warden::guarded_options chosen = {})
      : records{first_cells(size)},
        on{records, sum.data(), chosen},
        later{on, room},
        results{room} {}
  std::vector<outcome> apply(std::vector<step> const& sections) {
    warden::buffer<step> const on_device{sections};
    later.apply_async(on_device.data(), sections.size(), results.data());
    warden::stream_ref{}.synchronize();
    std::vector<outcome> seen = results.to_host();
    seen.resize(sections.size());
    return seen;
  }
  /// Returns the increase of a record.
  [[nodiscard]] std::uint64_t increase(std::uint32_t id) const {
    auto const before = first_cells(id + 1);
    return records.to_host()[id].value - before[id].value;
  }
  warden::buffer<cell> records;
  warden::buffer<std::uint64_t> sum{std::vector<std::uint64_t>{0}};
  summed on;
  warden::deferred_several<summed, step> later;
  warden::buffer<outcome> results;
};

/// Lets all sections stall whose number is a multiple of `period`, so that others may wait too long
/// for their records. Expects that the results tell which sections have changed their records.
/// Returns true if the run was stopped.
inline bool stops(std::uint32_t n, std::uint32_t size, std::uint32_t period) {
  steps s{size, n, {.time_limit_seconds = 0.01, .minimum_polls = 1}};
  std::vector<step> sections(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    // Time passes by tenths of a second on the simulated device.
    sections[i] = {{i % size, (i * 7 + 1) % size}, i % period == 0 ? test::sized(3000u, 300u) : 0};
  }
  std::vector<outcome> const seen = s.apply(sections);
  bool const is_stopped = std::count(seen.begin(), seen.end(), outcome::commit) < n;
  if (is_stopped) {
    // Nothing runs before a wait has reported it.
    EXPECT_EQ(s.apply({{{size, size}, 0}}), std::vector<outcome>{outcome::not_run});
    try {
      s.on.wait();
      ADD_FAILURE() << "no error";
    } catch (warden::timeout_error const& e) {
      EXPECT_EQ(std::string{e.what()}.find("is not below"), std::string::npos) << e.what();
    }
  }
  std::vector<cell> const before = first_cells(size), after = s.records.to_host();
  for (std::uint32_t id = 0; id < size; ++id) {
    std::uint64_t all = 0;
    for (std::uint32_t i = id; i < n; i += size) all += seen[i] == outcome::commit ? 5 : 0;
    EXPECT_EQ(after[id].value - before[id].value, all)
        << "record " << id << ": lost or doubled section";
  }
  for (step& one : sections) one.how = 0;
  EXPECT_EQ(s.apply(sections), std::vector<outcome>(n, outcome::commit));
  s.on.wait();
  EXPECT_EQ(s.later.counts().committed, n);
  return is_stopped;
}

}  // namespace several
