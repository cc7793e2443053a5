// SPDX-License-Identifier: Apache-2.0
// Scenarios of launches with two guarded arrays, and of servers that run atomics.

#include "scenario.hpp"

namespace {

/// One atomic, for any executor.
struct add {
  static constexpr bool reads_other_memory = false;
  std::uint32_t i;
  std::uint64_t change() const { return scenario::hash(i) | 1; }
  void operator()(std::uint64_t& sum, warden::no_context) const { sum += change(); }
  void atomic(std::uint64_t* sum, warden::no_context) const {
    warden::simt::fetch_add(sum, change());
  }
};
using policy =
    warden::policy<warden::options{.block_threads = 64, .tuning = {.outbox_bytes_per_thread = 64}},
                   warden::executor::sorted<64>>;
using atomics_policy = warden::with_parts<policy, warden::executor::atomics<32>>;
template <class Policy>
using sums = warden::basic_guarded<Policy, std::uint64_t, add>;

constexpr std::uint32_t records = 5;
constexpr warden::guarded_options options{
    .servers = 2, .capacity = 64, .time_limit_seconds = 1, .minimum_polls = 64};

/// Operation i goes to each guarded array, to the last one `times` times.
struct send_to_all {
  std::uint32_t n, times;
  template <class Ref>
  void send(warden::virtual_block const& at, Ref const& ref, std::uint32_t count) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      for (std::uint32_t k = 0; k < count; ++k) client.send(i % records, add{i}, i < n);
    }
    client.flush();
  }
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    send(at, ref, times);
  }
  template <class First, class Second>
  void operator()(warden::virtual_block const& at, First const& a, Second const& b) const {
    send(at, a, 1);
    send(at, b, times);
  }
};

void expect_sums(warden::buffer<std::uint64_t> const& seen, std::uint32_t n, std::uint32_t times) {
  std::vector<std::uint64_t> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) wanted[i % records] += times * add{i}.change();
  if (seen.to_host() != wanted) throw scenario::failure{"torn or lost message"};
}

/// The servers of the first have ended long before those of the second.
void two_arrays() {
  constexpr std::uint32_t n = 100, times = 4;
  warden::buffer<std::uint64_t> few{records}, many{records};
  few.fill_bytes(0);
  many.fill_bytes(0);
  sums<policy> a{few, options}, b{many, options};
  warden::launch_fused(send_to_all{n, times}, 2, 64, {}, a, b);
  a.wait();
  b.wait();
  expect_sums(few, n, 1);
  expect_sums(many, n, times);
}

/// Nothing but the barrier of a window keeps the warps of a server together.
void atomics() {
  constexpr std::uint32_t n = 300;
  warden::buffer<std::uint64_t> memory{records};
  memory.fill_bytes(0);
  sums<atomics_policy> g{memory, options};
  warden::launch_fused(send_to_all{n, 2}, 3, 64, {}, g);
  g.wait();
  expect_sums(memory, n, 2);
}

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(argc, argv, {{"two_arrays", two_arrays}, {"atomics", atomics}});
}
