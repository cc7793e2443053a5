// SPDX-License-Identifier: Apache-2.0
// Scenarios of sends by servers: sections that send sections, and sections on two records of two
// owners.

#include "scenario.hpp"

namespace {

using scenario::failure;
using scenario::hash;
using scenario::tally;

using policy =
    warden::policy<warden::options{.block_threads = 32, .tuning = {.outbox_bytes_per_thread = 64}},
                   warden::executor::sorted<64>>;

/// Every chain and every tree visits all records; with few slots, each of many.
constexpr std::uint32_t records = 6;
template <unsigned Branches>
struct note {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned sends_sections = Branches;
  std::uint32_t a, left;
  template <class Next>
  void operator()(tally& t, warden::no_context, Next& next) const {
    t.count += 1;
    t.mixed += hash(a) ^ left;
    for (unsigned b = 0; left != 0 && b < Branches; ++b)
      next.send((a + left + b) % records, note{a + b, left - 1});
  }
  void run_on(std::vector<tally>& tallies, std::uint32_t id) const {
    tallies[id].count += 1;
    tallies[id].mixed += hash(a) ^ left;
    for (unsigned b = 0; left != 0 && b < Branches; ++b)
      note{a + b, left - 1}.run_on(tallies, (a + left + b) % records);
  }
};
template <unsigned Branches>
struct send_notes {
  std::uint32_t n, left;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(i % records, note<Branches>{i, left}, i < n);
    }
    client.flush();
  }
};
template <unsigned Branches>
void forwarded(unsigned servers, unsigned forward_capacity, std::uint32_t n, std::uint32_t left) {
  warden::buffer<tally> memory{records};
  memory.fill_bytes(0);
  warden::basic_guarded<policy, tally, note<Branches>> g{memory,
                                                         {.servers = servers,
                                                          .capacity = 32,
                                                          .time_limit_seconds = 1,
                                                          .minimum_polls = 64,
                                                          .forward_capacity = forward_capacity}};
  warden::launch_fused(send_notes<Branches>{n, left}, 2, 32, {}, g);
  g.wait();
  std::vector<tally> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) note<Branches>{i, left}.run_on(wanted, i % records);
  scenario::expect_equal(memory.to_host(), wanted);
}

/// With this many records, the thread that publishes a section's messages is seldom the owner
/// thread.
constexpr std::uint32_t many = 128;
constexpr std::uint32_t links = 8;
/// A section looks for what the one before it in its chain has written.
struct look_on {
  std::uint32_t* words;
  std::uint32_t i, left;
  template <class Next>
  void operator()(tally& t, warden::no_context, Next& next) const {
    t.count += warden::simt::load_relaxed(&words[i]) == left + 1 ? 1 : 0;
    warden::simt::store_relaxed(&words[i], left);
    if (left != 0) next.send((i + 37 * left) % many, look_on{words, i, left - 1});
  }
};
struct send_lookers {
  std::uint32_t* words;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    std::uint32_t const i = at.block_index();
    bool const first = at.thread_rank() == 0;
    if (first) warden::simt::store_relaxed(&words[i], links + 1);
    client.send(i % many, look_on{words, i, links}, first);
    client.flush();
    // While clients are busy no server fences because it has nothing else to do.
    for (int polls = 0; first && polls < 5000 && warden::simt::load_relaxed(&words[i]) != 0;
         ++polls)
      warden::simt::back_off(10);
  }
};
template <class Policy, class... Sections>
void visible() {
  warden::buffer<std::uint32_t> words{2};
  warden::buffer<tally> memory{many};
  memory.fill_bytes(0);
  warden::basic_guarded<Policy, tally, look_on, Sections...> g{
      memory, {.servers = 4, .capacity = 32, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(send_lookers{words.data()}, 2, Policy::block_threads, {}, g);
  g.wait();
  std::uint64_t count = 0;
  for (tally const& t : memory.to_host()) count += t.count;
  if (count != 2 * (links + 1)) throw failure{"stale read"};
}

/// Records share the two locks of their owner. They are many enough that neither their ids nor the
/// order in which sections name them match the order of the locks.
using two_locks =
    warden::with_values<warden::with_parts<policy, warden::executor::pair_messages<2>>,
                        &warden::options::block_threads, 64>;
constexpr std::uint32_t shared_records = 12;
/// Count of a record for being the second one, which tells the two apart.
constexpr std::uint64_t received = 1'000;
/// Moves half of one record to the other: both must be read at one moment.
struct halve {
  static constexpr bool reads_other_memory = false;
  void operator()(tally& from, tally& to, warden::no_context) const {
    std::uint64_t const half = from.mixed / 2;
    from.mixed -= half;
    to.mixed += half;
    from.count += 1;
    to.count += received;
  }
};
/// Pairs of all records, in both orders; a record with itself now and then.
std::uint32_t from_of(std::uint32_t i) { return hash(i) % shared_records; }
std::uint32_t to_of(std::uint32_t i) { return (hash(i) >> 32) % shared_records; }
struct send_halves {
  std::uint32_t n;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(from_of(i), to_of(i), halve{}, i < n);
    }
    client.flush();
  }
};
/// Launch after launch, each from where the one before it has ended.
template <class Policy>
void pair_messages(unsigned servers, std::uint32_t n, unsigned launches = 1) {
  constexpr std::uint64_t whole = 1'000'000;
  warden::buffer<tally> memory{shared_records};
  std::vector<tally> const start(shared_records, tally{0, whole});
  warden::copy(memory.data(), start.data(), start.size());
  warden::basic_guarded<Policy, tally, halve> g{memory,
                                                {.servers = servers,
                                                 .capacity = 64,
                                                 .chunk = 1,
                                                 .time_limit_seconds = 1,
                                                 .minimum_polls = 64,
                                                 .forward_capacity = 64}};
  for (unsigned l = 0; l < launches; ++l) {
    warden::launch_fused(send_halves{n}, 2, Policy::block_threads, {}, g);
    g.wait();
  }
  std::vector<std::uint64_t> wanted(shared_records);
  for (std::uint32_t i = 0; i < n; ++i) {
    wanted[from_of(i)] += launches;
    wanted[to_of(i)] += launches * received;
  }
  std::uint64_t sum = 0;
  auto const seen = memory.to_host();
  for (std::uint32_t k = 0; k < shared_records; ++k) {
    sum += seen[k].mixed;
    if (seen[k].count != wanted[k]) throw failure{"torn or lost message"};
  }
  if (sum != shared_records * whole) throw failure{"not conserved"};
}
/// With 32 credits a server has no more places than it must have.
using tight = warden::with_values<two_locks, &warden::options::block_threads, 96>;

/// Sections on record 0 and each of the others, which travel at once: with 128 threads three warps
/// read the ring, which has two slices.
using many_locks =
    warden::with_values<warden::with_parts<two_locks, warden::executor::pair_messages<64>>,
                        &warden::options::block_threads, 128>;
struct send_to_first {
  std::uint32_t n;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(1 + i % (many - 1), 0, halve{}, i < n);
    }
    client.flush();
  }
};
void many_pair_messages() {
  constexpr std::uint32_t n = 3 * (many - 1);
  warden::buffer<tally> memory{many};
  memory.fill_bytes(0);
  warden::basic_guarded<many_locks, tally, halve> g{memory,
                                                    {.servers = 4,
                                                     .capacity = 64,
                                                     .chunk = 1,
                                                     .time_limit_seconds = 1,
                                                     .minimum_polls = 64,
                                                     .forward_capacity = 64}};
  warden::launch_fused(send_to_first{n}, 2, 128, {}, g);
  g.wait();
  auto const seen = memory.to_host();
  for (std::uint32_t k = 0; k < many; ++k) {
    if (seen[k].count != (k == 0 ? n * received : 3)) throw failure{"torn or lost message"};
  }
}

/// A section looks for what the one before it on its record has written.
struct look_back {
  std::uint32_t* words;
  std::uint32_t id;
  void operator()(tally& t, warden::no_context) const {
    if (warden::simt::load_relaxed(&words[id]) != t.count) t.mixed += 1;
    t.count += 1;
    warden::simt::store_relaxed(&words[id], static_cast<std::uint32_t>(t.count));
  }
};
struct send_lookers_back {
  std::uint32_t* words;
  std::uint32_t n;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t first = 0; first < n; first += at.block_dim()) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(i % 2, look_back{words, i % 2}, i < n);
    }
    client.flush();
  }
};
void pair_messages_visible() {
  warden::buffer<std::uint32_t> words{2};
  words.fill_bytes(0);
  warden::buffer<tally> memory{2};
  memory.fill_bytes(0);
  warden::basic_guarded<two_locks, tally, look_back, halve> g{
      memory, {.servers = 1, .capacity = 32, .time_limit_seconds = 1, .minimum_polls = 64}};
  // The second launch begins within a slice.
  for (unsigned l = 0; l < 2; ++l) {
    warden::launch_fused(send_lookers_back{words.data(), 40}, 1, 64, {}, g);
    g.wait();
  }
  for (tally const& t : memory.to_host()) {
    if (t.mixed != 0) throw failure{"stale read"};
    if (t.count != 40) throw failure{"torn or lost message"};
  }
}

void sleep_for(std::uint64_t nanoseconds) {
  warden::simt::wait_until([] { return false; },
                           [=, start = warden::simt::nanoseconds()] {
                             return warden::simt::nanoseconds() - start < nanoseconds;
                           },
                           [](auto) {});
}
/// A section that may take longer than the time limit, while others wait for its record's lock.
struct sleep_long {
  static constexpr bool reads_other_memory = false;
  std::uint32_t seconds;
  void operator()(tally& t, warden::no_context) const {
    if (seconds != 0) sleep_for(seconds * std::uint64_t{1'000'000'000});
    t.count += 1;
  }
};
struct send_sleepers {
  std::uint32_t seconds;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    client.send(0, sleep_long{seconds}, at.thread_rank() < 8);
    client.flush();
  }
};
/// After the error the guarded array is as new: other launches use all its places several times.
void poisoned() {
  warden::buffer<tally> memory{1};
  memory.fill_bytes(0);
  warden::basic_guarded<two_locks, tally, sleep_long> g{memory,
                                                        {.servers = 1,
                                                         .capacity = 32,
                                                         .time_limit_seconds = 1,
                                                         .minimum_polls = 64,
                                                         .forward_capacity = 64}};
  warden::launch_fused(send_sleepers{4}, 1, 64, {}, g);
  try {
    g.wait();
    throw failure{"no error"};
  } catch (warden::timeout_error const&) {  // as it must
  }
  auto const before = memory.to_host()[0].count;
  for (unsigned l = 0; l < 4; ++l) {
    warden::launch_fused(send_sleepers{0}, 1, 64, {}, g);
    g.wait();
  }
  if (memory.to_host()[0].count != before + 4 * 8) throw failure{"torn or lost message"};
}

/// A chain of sections that lasts several times the time limit: all that moves is in the rings.
struct slow_link {
  static constexpr bool reads_other_memory = false;
  std::uint32_t left;
  template <class Next>
  void operator()(tally& t, warden::no_context, Next& next) const {
    sleep_for(400'000'000);
    t.count += 1;
    if (left != 0) next.send(left % 2, slow_link{left - 1});
  }
};
struct send_slow_chain {
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    if (at.thread_rank() == 0) warden::thread_client<Ref>{ref, at}.send(0, slow_link{9});
  }
};
void slow_chain() {
  warden::buffer<tally> memory{3};
  memory.fill_bytes(0);
  warden::basic_guarded<policy, tally, slow_link> g{
      memory,
      {.servers = 3, .capacity = 32, .chunk = 1, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(send_slow_chain{}, 1, 32, {}, g);
  g.wait();
  if (memory.to_host()[0].count + memory.to_host()[1].count != 10)
    throw failure{"torn or lost message"};
}

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(argc, argv,
                       {{"forwarded", [] { forwarded<1>(3, 32, 200, 5); }},
                        {"ended", [] { forwarded<1>(3, 32, 1, 12); }},
                        {"forked", [] { forwarded<2>(3, 512, 6, 4); }},
                        {"visible", visible<policy>},
                        {"pair_messages_chain", visible<two_locks, halve>},
                        {"pair_messages", [] { pair_messages<two_locks>(3, 150); }},
                        {"few_pair_messages", [] { pair_messages<two_locks>(3, 2); }},
                        {"waiting", [] { pair_messages<tight>(1, 300); }},
                        {"relaunched", [] { pair_messages<two_locks>(2, 10, 4); }},
                        {"many_pair_messages", many_pair_messages},
                        {"poisoned", poisoned},
                        {"slow_chain", slow_chain},
                        {"pair_messages_visible", pair_messages_visible}});
}
