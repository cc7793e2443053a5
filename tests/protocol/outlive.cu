// SPDX-License-Identifier: Apache-2.0
// Logs whose guarded arrays are gone when they are run.

#include "tests/support/support.cuh"

#include <warden/deferred_forwarding.cuh>
#include <warden/deferred_pairs.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <memory>

namespace {

struct shelf {
  std::uint32_t crates;
};
struct put {
  __device__ void operator()(shelf& s) const { s.crates += 1; }
};
struct put_each {
  __device__ void operator()(shelf& a, shelf& b) const {
    a.crates += 1;
    b.crates += 1;
  }
};
/// Sends, so its log is replayed by a launch.
struct take {
  std::uint32_t to;
  template <class Next>
  __device__ void operator()(shelf&, warden::no_context, Next& next) const {
    next.send(to, put{});
  }
};
/// Answers, so the guarded array has memory for answers.
struct look {
  __device__ std::uint32_t operator()(shelf& s) const { return s.crates; }
};
using house = warden::basic_guarded<test::small<>, shelf, take, put, look>;
using pairs = warden::basic_guarded<test::small<>, shelf, put_each, put>;
using single = warden::basic_guarded<test::small<>, shelf, put>;
using between = warden::deferred_between<single, single, put_each>;
constexpr std::uint32_t shelves = 32;

template <class Log>
WARDEN_KERNEL void send_takes(Log log) {
  std::uint32_t const i = warden::simt::thread_rank();
  log.send(i, take{(i + 7) % shelves});
}
template <class Log>
WARDEN_KERNEL void send_pairs(Log log) {
  std::uint32_t const i = warden::simt::thread_rank();
  log.send(i, (i + 7) % shelves, put_each{});
}

warden::buffer<shelf> empty_shelves() {
  warden::buffer<shelf> memory{shelves};
  memory.fill_bytes(0);
  return memory;
}
void expect_crates(warden::buffer<shelf> const& memory, std::uint32_t each) {
  for (shelf const& s : memory.to_host()) EXPECT_EQ(s.crates, each);
}
TEST(outlive, a_log_that_is_replayed) {
  auto memory = empty_shelves();
  auto on = std::make_unique<house>(memory.data(), shelves);
  warden::deferred log{*on, 100};
  warden::launch(&send_takes<house::deferred_ref>, 1, shelves, {}, log.ref());
  on.reset();
  log.run();
  expect_crates(memory, 1);
}
TEST(outlive, a_log_that_is_run_in_rounds) {
  auto memory = empty_shelves();
  auto on = std::make_unique<pairs>(memory.data(), shelves);
  warden::deferred log{*on, 100};
  warden::launch(&send_pairs<pairs::deferred_ref>, 1, shelves, {}, log.ref());
  on.reset();
  log.run();
  expect_crates(memory, 2);
}
TEST(outlive, a_log_between_two_guarded_arrays) {
  auto first = empty_shelves(), second = empty_shelves();
  auto a = std::make_unique<single>(first.data(), shelves);
  auto b = std::make_unique<single>(second.data(), shelves);
  between log{*a, *b, 100};
  warden::launch(&send_pairs<between::ref_type>, 1, shelves, {}, log.ref());
  a.reset();
  b.reset();
  log.run();
  expect_crates(first, 1);
  expect_crates(second, 1);
}

}  // namespace
