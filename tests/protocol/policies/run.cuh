// SPDX-License-Identifier: Apache-2.0
// Runs a random program on a log by one policy, and compares its records with the host's.
#pragma once

#include "program.hpp"
#include "sections.cuh"

#include "tests/support/error_text.hpp"

#include <warden/simt/launch.cuh>

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace policies {

/// Threads of a block client, and of a block that runs the log.
constexpr unsigned client_threads(std::size_t policy) { return 32u << policy % 6; }
constexpr unsigned run_threads(std::size_t policy) { return 32u << policy % 3; }

/// The types of policy number `I`.
template <std::size_t I>
struct setup {
  static constexpr policy_choices choices = list[I];
  static constexpr bool on_two = choices.executor == executor::pair_messages;
  using record = std::conditional_t<choices.has_rows(), row_record, word_record>;
  using section = typename decltype(section_type<choices>())::type;
  using guarded = warden::basic_guarded<policy<choices, run_threads(I)>, record, section>;
  using ref = typename guarded::deferred_ref;
  using client = typename guarded::template deferred_block<client_threads(I)>;
};

template <class Setup>
struct send_arguments {
  typename Setup::ref ref;
  std::uint64_t seed;
  std::uint32_t begin, end, ids;
  std::uint32_t* refused;  ///< sections, by the results of `send` and `flush`

  /// Calls `send` with the ids and the section of operation `number`.
  template <class Send>
  WARDEN_DEVICE auto with(std::uint32_t number, Send send) const {
    typename Setup::section section{};
    section.set(number);
    std::uint32_t const first = program::id_of(seed, number, false, ids);
    if constexpr (Setup::on_two) {
      return send(first, program::id_of(seed, number, true, ids), section);
    } else {
      return send(first, section);
    }
  }
};
template <class Setup>
WARDEN_KERNEL void send_alone(send_arguments<Setup> a) {
  if constexpr (Setup::choices.order == order::unordered) {
    std::uint32_t const step = simt::block_count() * simt::block_threads();
    std::uint32_t i = a.begin + simt::block_rank() * simt::block_threads() + simt::thread_rank();
    for (; i < a.end; i += step) {
      if (!a.with(i, [&](auto const&... s) { return a.ref.send(s...); }))
        simt::fetch_add(a.refused, 1u);
    }
  }
}
/// Operations are numbered by block, by send and by thread. Without an order, a block has a second
/// client in the storage of the first one.
template <class Setup>
WARDEN_KERNEL void send_together(send_arguments<Setup> a) {
  using client = typename Setup::client;
  auto& storage = *reinterpret_cast<typename client::storage*>(simt::dynamic_shared());
  std::uint32_t const all = simt::block_count() * simt::block_threads();
  std::uint32_t const each = (a.end - a.begin + all - 1) / all;
  std::uint32_t const first = a.begin + simt::block_rank() * each * simt::block_threads();
  std::uint32_t const switched = Setup::choices.order == order::unordered ? each / 2 : 0;
  std::uint32_t refused = 0;
  auto const send = [&](std::uint32_t begin, std::uint32_t end) {
    client c{a.ref, storage};
    for (std::uint32_t k = begin; k < end; ++k) {
      std::uint32_t const i = first + k * simt::block_threads() + simt::thread_rank();
      a.with(i, [&](auto const&... s) { c.send(s..., i < a.end); });
      if (test::mix(a.seed + a.begin + k) % 5 == 0) refused += c.flush();
    }
    refused += c.flush();
  };
  if (switched != 0) send(0, switched);
  send(switched, each);
  if (simt::thread_rank() == 0) simt::fetch_add(a.refused, refused);
}

/// The memory of a program, its log, and the expected records.
template <std::size_t I>
class bench {
  using types = setup<I>;
  using record = typename types::record;
  using section = typename types::section;
  static constexpr policy_choices choices = types::choices;
  static constexpr bool combines = choices.combining != combining::none;
  static constexpr bool has_numbers = !combines && choices.payload != payload::empty;

 public:
  explicit bench(program const& p)
      : p_{p},
        records_{std::vector<record>(p.records)},
        ran_{std::vector<std::uint32_t>(p.operations() + 1)},
        refused_{1},
        on_{records_, marks{ran_.data()}, {.chunk = p.chunk}},
        log_{on_, p.capacity, p.options} {}

  void run(round const& r) {
    std::uint64_t const ran_before = ran();
    refused_.fill_bytes(0);
    std::vector<typename types::ref> refs;
    for (std::size_t k = 0; k < r.sent.size(); ++k) refs.push_back(log_.ref());
    // The order of sections is that of the refs, not of the launches.
    for (std::size_t k = 0; k < r.sent.size(); ++k) {
      std::size_t const turn = p_.seed % 2 == 0 ? k : r.sent.size() - 1 - k;
      send(refs[turn], r.sent[turn]);
    }
    log_.run();
    apply(r.end(), r.applied);
    std::string const text = test::error_text(on_);
    EXPECT_FALSE(warden::sim::last_report().deadlock) << warden::sim::last_report().deadlock_text;

    std::uint64_t bad = 0;
    std::uint64_t const sent = count_valid(r.begin(), r.end(), bad);
    std::uint64_t const valid = sent + count_valid(r.end(), r.applied, bad);
    std::uint64_t const refused = refused_.to_host()[0];
    expect_text(text, refused, std::to_string(refused) + " deferred sections were refused");
    expect_text(text, bad, "(" + std::to_string(bad) + " such id");
    EXPECT_EQ(text.empty(), refused + bad == 0) << text;
    // A log refuses only the sections that do not fit.
    std::uint64_t const too_many = sent - std::min<std::uint64_t>(sent, p_.capacity);
    if (combines) {
      EXPECT_TRUE(refused == 0 || too_many != 0) << refused << " sections were refused";
    } else if (p_.has_few_batches()) {
      EXPECT_GE(refused, too_many);
    } else {
      EXPECT_EQ(refused, too_many);
    }
    if (combines && refused != 0) {
      EXPECT_GE(ran() - ran_before, valid - too_many) << "sections were lost";
      EXPECT_LT(ran() - ran_before, valid) << "sections were doubled";
    } else {
      EXPECT_EQ(ran() - ran_before, valid - refused) << "sections were lost or doubled";
    }
    all_ran_ = all_ran_ && refused == 0;
    check_records(r.applied);
  }

 private:
  [[nodiscard]] std::uint32_t id_of(std::uint32_t number, bool second) const {
    return program::id_of(p_.seed, number, second, p_.ids);
  }
  /// Operations whose records exist; adds the ids that are reported to `bad`.
  std::uint64_t count_valid(std::uint32_t begin, std::uint32_t end, std::uint64_t& bad) const {
    std::uint64_t valid = 0;
    for (std::uint32_t i = begin; i < end; ++i) (is_valid(i) ? valid : bad) += 1;
    return valid;
  }
  [[nodiscard]] bool is_valid(std::uint32_t i) const {
    return id_of(i, false) < p_.records && (!types::on_two || id_of(i, true) < p_.records);
  }
  /// Operations that have run, as their records say.
  [[nodiscard]] std::uint64_t ran() const {
    std::uint64_t all = 0;
    for (record const& r : records_.to_host()) all += r.count;
    return types::on_two ? all / 2 : all;
  }
  static void expect_text(std::string const& text, std::uint64_t count, std::string const& part) {
    if (count != 0) {
      EXPECT_THAT(text, testing::HasSubstr(part));
    }
  }

  void send(typename types::ref const& ref, sending const& s) const {
    send_arguments<types> const a{ref, p_.seed, s.begin, s.end, p_.ids, refused_.data()};
    using storage = typename types::client::storage;
    if (s.together) {
      warden::launch(
          &send_together<types>,
          {.grid = s.blocks, .block = client_threads(I), .shared_bytes = sizeof(storage)}, {}, a);
    } else {
      warden::launch(&send_alone<types>, s.blocks, s.threads, {}, a);
    }
  }
  void apply(std::uint32_t begin, std::uint32_t end) {
    if (begin == end) return;
    std::vector<std::uint32_t> firsts, seconds;
    std::vector<section> sections;
    for (std::uint32_t i = begin; i < end; ++i) {
      firsts.push_back(id_of(i, false));
      seconds.push_back(id_of(i, true));
      sections.emplace_back().set(i);
    }
    firsts_ = warden::buffer<std::uint32_t>{firsts};
    seconds_ = warden::buffer<std::uint32_t>{seconds};
    sections_ = warden::buffer<section>{sections};
    if constexpr (types::on_two) {
      on_.apply_async(firsts_.data(), seconds_.data(), sections_.data(), sections.size());
    } else {
      on_.apply_async(firsts_.data(), sections_.data(), sections.size());
    }
  }

  /// After the operations below `end`.
  void check_records(std::uint32_t end) const {
    auto const ran = ran_.to_host();
    std::vector<word_record> wanted(p_.records);
    for (std::uint32_t i = 0; i < end; ++i) {
      ASSERT_LE(ran[i], is_valid(i) ? 1u : 0u) << "operation " << i << " was doubled";
      if (has_numbers ? ran[i] == 0 : !is_valid(i)) continue;
      std::uint32_t const value = choices.payload == payload::empty ? 1 : value_of(i);
      add(wanted[id_of(i, false)], value);
      if (types::on_two) add(wanted[id_of(i, true)], 3 * value);
    }
    auto const seen = records_.to_host();
    for (std::uint32_t k = 0; k < p_.records && !testing::Test::HasFailure(); ++k) {
      SCOPED_TRACE("record " + std::to_string(k));
      EXPECT_EQ(seen[k].faults & torn, 0u) << "a torn section";
      EXPECT_EQ(seen[k].faults & misordered, 0u) << "sections in another order";
      EXPECT_EQ(seen[k].faults & half_done, 0u) << "a section half done";
      // Without numbers it is not known which sections were refused.
      if (has_numbers || all_ran_) {
        EXPECT_EQ(seen[k].count, wanted[k].count) << "sections were lost or doubled";
        EXPECT_EQ(seen[k].sum, wanted[k].sum) << "another payload";
      } else {
        EXPECT_LE(seen[k].count, wanted[k].count) << "sections were doubled";
      }
      if constexpr (choices.has_rows() && choices.executor != executor::atomics) {
        for (std::uint32_t const word : seen[k].row) EXPECT_EQ(word, seen[k].sum) << "half done";
      }
    }
  }
  static void add(word_record& r, std::uint32_t value) {
    r.count += 1;
    r.sum += value;
  }

  program const& p_;
  warden::buffer<record> records_;
  warden::buffer<std::uint32_t> ran_, refused_;
  typename types::guarded on_;
  warden::deferred<policy<choices, run_threads(I)>, record, section> log_;
  warden::buffer<std::uint32_t> firsts_, seconds_;
  warden::buffer<section> sections_;
  bool all_ran_ = true;
};

template <std::size_t I>
void run_program(std::uint64_t seed) {
  program const p =
      program::of(seed, list[I], sizeof(typename setup<I>::client::storage), client_threads(I));
  SCOPED_TRACE(testing::Message() << p);
  warden::sim::configure(p.device);
  bench<I> b{p};
  for (round const& r : p.rounds) b.run(r);
}

/// Runs the program of a seed, if its policy has this executor and this order.
template <executor E, order O, std::size_t I = 0>
void run_seed(std::uint64_t seed) {
  if constexpr (I < count) {
    if constexpr (list[I].executor == E && list[I].order == O) {
      if (seed % count == I) return run_program<I>(seed);
    }
    run_seed<E, O, I + 1>(seed);
  }
}

}  // namespace policies
