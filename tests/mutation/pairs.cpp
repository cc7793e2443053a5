// SPDX-License-Identifier: Apache-2.0
// Sections on two records of one owner, by locks.

#include "scenario.hpp"

namespace {

using scenario::failure;
using scenario::hash;
using scenario::in_rounds;
using scenario::note;
using scenario::tally;

/// Four warps a server: they contend for locks.
using policy =
    warden::policy<warden::options{.block_threads = 128, .tuning = {.outbox_bytes_per_thread = 64}},
                   warden::executor::locks<16>>;

struct move_note {
  static constexpr bool reads_other_memory = false;
  std::uint32_t i;
  void operator()(tally& from, tally& to, warden::no_context) const {
    from.mixed += hash(i);
    to.mixed += hash(i + 1);
    from.count += 1;
  }
};
using pair_notes = warden::basic_guarded<policy, tally, note, move_note>;
/// Every other operation is on two neighbours; `id` is the first, the next one the second.
struct move_notes {
  std::uint32_t n;
  void operator()(warden::virtual_block const& at, pair_notes::ref const& ref) const {
    pair_notes::block_client client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) {
      client.send(i % 3, (i + 1) % 3, move_note{i}, i < n && i % 2 == 0);
      client.send(i % 3, note::of(i), i < n && i % 2 != 0);
    });
    client.flush();
  }
};
void paired(unsigned servers, std::uint32_t records) {
  constexpr std::uint32_t n = 300;
  warden::buffer<tally> memory{records};
  memory.fill_bytes(0);
  pair_notes g{memory,
               {.servers = servers, .capacity = 64, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(move_notes{n}, 2, 128, {}, g);
  try {
    g.wait();
  } catch (warden::limit_error const&) {  // pairs apart
  }
  if (servers != 1) {
    // Only records 2 and 0 have one owner.
    auto const seen = memory.to_host();
    if (seen[0].count != n / 6 || seen[1].count != n / 6)
      throw failure{"a section on a record of another server"};
    return;
  }
  std::vector<tally> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) {
    wanted[i % 3].count += 1;
    wanted[i % 3].mixed += hash(i);
    if (i % 2 == 0) wanted[(i + 1) % 3].mixed += hash(i + 1);
  }
  scenario::expect_equal(memory.to_host(), wanted);
}

/// Adds by the platform layer, so that the next section may see older values.
struct add_to_both {
  static constexpr bool reads_other_memory = false;
  void operator()(tally& a, tally& b, warden::no_context) const {
    std::uint64_t const x = warden::simt::load_relaxed(&a.count);
    std::uint64_t const y = warden::simt::load_relaxed(&b.count);
    warden::simt::store_relaxed(&a.count, x + 1);
    warden::simt::store_relaxed(&b.count, y + 1);
  }
};
using added_pairs = warden::basic_guarded<policy, tally, add_to_both>;
/// Pairs of records with two locks, or all on two records that share theirs.
struct add_to_all {
  std::uint32_t n;
  bool one_lock;
  void operator()(warden::virtual_block const& at, added_pairs::ref const& ref) const {
    added_pairs::block_client client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) {
      client.send(one_lock ? 0 : i % 3, one_lock ? 16 : 3 + i % 2, add_to_both{}, i < n);
    });
    client.flush();
  }
};
void paired_visible(bool one_lock) {
  constexpr std::uint32_t n = 300;
  warden::buffer<tally> memory{17};
  memory.fill_bytes(0);
  added_pairs g{memory,
                {.servers = 1, .capacity = 64, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(add_to_all{n, one_lock}, 2, 128, {}, g);
  g.wait();
  auto const seen = memory.to_host();
  for (std::uint32_t k = 0; k < 17; ++k) {
    std::uint32_t const wanted = one_lock ? k % 16 == 0 ? n : 0 : k < 3 ? n / 3 : k < 5 ? n / 2 : 0;
    if (seen[k].count != wanted) throw failure{"torn or lost message"};
  }
}

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(argc, argv,
                       {{"paired", [] { paired(1, 3); }},
                        {"apart", [] { paired(2, 3); }},
                        {"paired_visible", [] { paired_visible(false); }},
                        {"paired_one_lock", [] { paired_visible(true); }}});
}
