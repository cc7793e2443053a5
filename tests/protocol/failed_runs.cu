// SPDX-License-Identifier: Apache-2.0
// Runs with a failing launch: each section has run once, or is still in the log, or is reported.

#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred_forwarding.cuh>
#include <warden/deferred_pairs.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace simt = warden::simt;

struct counter {
  std::uint32_t runs;
};
/// A section on one record, on two, that sends another one, and that combines to a wider partial.
struct visit {
  __device__ void operator()(counter& c) const { ++c.runs; }
};
struct meet {
  __device__ void operator()(counter& c, counter&) const { ++c.runs; }
};
struct pass_on {
  std::uint32_t to;
  template <class Next>
  __device__ void operator()(counter&, warden::no_context, Next& next) const {
    next.send(to, visit{});
  }
};
struct tell {
  std::uint32_t value;
  __device__ void operator()(counter& c) const { c.runs += value; }
  struct partial {
    std::uint32_t value, more[3];
    __device__ explicit partial(tell t) : value{t.value}, more{} {}
    __device__ void operator()(counter& c) const { c.runs += value; }
    __device__ static partial combine(partial a, partial b) {
      a.value += b.value;
      return a;
    }
  };
};

using plain = warden::policy<warden::options{.block_threads = 32}>;
using in_order = warden::with_parts<plain, warden::order::sequential>;
constexpr unsigned records = 40;

/// Sends a section for each i from `first` on that is below `end`; the last third by themselves.
template <class Log>
struct arguments {
  Log log;
  std::uint32_t first, end;
};
template <class Log, class Send>
WARDEN_DEVICE void send_all(arguments<Log> const& a, Send send) {
  using block = warden::deferred_block<Log, 32>;
  WARDEN_SHARED(typename block::storage, storage);
  block client{a.log, storage};
  std::uint32_t const alone = Log::in_order ? a.end : a.end - (a.end - a.first) / 3;
  for (std::uint32_t base = a.first; base < a.end; base += 32) {
    std::uint32_t const i = base + simt::thread_rank();
    send([&](auto... what) { client.send(what..., i < alone); }, i);
    if constexpr (!Log::in_order) {
      if (i >= alone && i < a.end) send([&](auto... what) { a.log.send(what...); }, i);
    }
  }
  client.flush();
}
template <class Log>
WARDEN_KERNEL void send_visits(arguments<Log> a) {
  send_all(a, [](auto send, std::uint32_t i) { send(i % records, visit{}); });
}
template <class Log>
WARDEN_KERNEL void send_meetings(arguments<Log> a) {
  send_all(a, [](auto send, std::uint32_t i) { send(i % records, (i + 1) % records, meet{}); });
}
template <class Log>
WARDEN_KERNEL void send_passes(arguments<Log> a) {
  send_all(a, [](auto send, std::uint32_t i) { send((i + 7) % records, pass_on{i % records}); });
}
/// All to few records, so that they are combined.
template <class Log>
WARDEN_KERNEL void send_told(arguments<Log> a) {
  send_all(a, [](auto send, std::uint32_t i) { send(i % 2, tell{1}); });
}

constexpr std::uint32_t before = 300, after = 100;
/// Lets the n-th launch from here on fail, or none for 0, and `count - 1` launches after it.
void fail_launch(std::uint64_t number, std::uint64_t count = 1) {
  warden::sim::settings s = warden::sim::current_settings();
  s.failing_launch = number;
  s.failing_launches = count;
  warden::sim::configure(s);
}
/// A log of a guarded array, with `before` sections.
template <class Guarded, class Kernel>
struct filled_log {
  filled_log(Kernel sender, warden::deferred_options chosen, std::uint32_t room)
      : kernel{sender}, log{on, room, chosen} {
    memory.fill_bytes(0);
    send(0, before);
  }
  void send(std::uint32_t first, std::uint32_t end) {
    warden::launch(kernel, 1, 32, {}, {log.ref(), first, end});
  }
  /// Sends `after` more sections and runs them. All sections have run once, or `wait` reports that
  /// the first ones may not have.
  void expect_none_lost_after_another_run() {
    send(before, before + after);
    log.run();
    bool reported = false;
    try {
      on.wait();
    } catch (warden::limit_error const& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("after it had begun, and its log was emptied"));
      EXPECT_EQ(e.all().size(), 1u) << e.what();
      reported = true;
    }
    std::uint32_t ran = 0;
    for (counter const& c : memory.to_host()) ran += c.runs;
    if (reported) {
      EXPECT_LE(ran, before + after) << "doubled section";
      EXPECT_GE(ran, after);
    } else {
      EXPECT_EQ(ran, before + after) << "lost or doubled section";
    }
  }

  Kernel kernel;
  warden::buffer<counter> memory{records};
  Guarded on{memory, warden::guarded_options{.servers = 2}};
  decltype(warden::deferred{std::declval<Guarded&>(), 1u}) log;
};
/// Lets one of a run's `launches` fail, or none, as the seed says, and runs the log again.
template <class Guarded, class Kernel>
void expect_none_lost(Kernel kernel, unsigned launches, warden::deferred_options chosen = {},
                      std::uint32_t room = before + after) {
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    std::uint64_t const number = 1 + seed % (launches + 1);
    SCOPED_TRACE("launch " + std::to_string(number) + " of the run fails");
    filled_log<Guarded, Kernel> a{kernel, chosen, room};
    fail_launch(number);
    std::string const error = test::error_of<warden::cuda_error>([&] { a.log.run(); });
    fail_launch(0);
    EXPECT_EQ(error.find("failing_launch") != std::string::npos, number <= launches)
        << "a run has another number of launches: " << error;
    a.expect_none_lost_after_another_run();
  });
  // The launch that would open the log fails, too: the next run does it.
  for (std::uint64_t number = 1; number <= launches; ++number) {
    SCOPED_TRACE("launches " + std::to_string(number) + " and the next of the run fail");
    filled_log<Guarded, Kernel> a{kernel, chosen, room};
    fail_launch(number, 2);
    EXPECT_THROW(a.log.run(), warden::cuda_error);
    fail_launch(0);
    a.log.run();
    a.expect_none_lost_after_another_run();
  }
}

/// Sends `visit` or `meet`.
struct visits {
  __device__ auto operator()(std::uint64_t i) const {
    return warden::to{static_cast<std::uint32_t>(i % records), visit{}};
  }
};
struct meetings {
  __device__ auto operator()(std::uint64_t i) const {
    auto const id = static_cast<std::uint32_t>(i % records);
    return warden::to{id, (id + 1) % records, meet{}};
  }
};
/// Its sums are the same in any order. As a function it returns itself.
struct visits_together {
  std::uint32_t number;
  __device__ static visits_together combine(visits_together a, visits_together b) {
    return {a.number + b.number};
  }
  __device__ void operator()(counter& c) const { c.runs += number; }
  __device__ visits_together operator()(std::uint64_t) const { return *this; }
};
template <class Guarded>
struct applied {
  applied() { memory.fill_bytes(0); }
  std::uint32_t runs() const {
    std::uint32_t sum = 0;
    for (counter const& c : memory.to_host()) sum += c.runs;
    return sum;
  }
  /// Returns the text of the error of `wait`.
  std::string waited() {
    try {
      on.wait();
    } catch (warden::error const& e) {
      return e.what();
    }
    return "";
  }
  warden::buffer<counter> memory{records};
  Guarded on{memory};
};
/// Lets one launch of an `apply_async` fail, and calls it again: a call that failed, and that
/// `wait` does not report, has run nothing and leaves nothing.
template <class Guarded, class Call>
void expect_nothing_left(std::uint64_t number, unsigned launches, std::size_t n, Call call,
                         std::uint64_t count = 1) {
  applied<Guarded> a;
  a.on.reserve(n);
  fail_launch(number, count);
  bool failed = false;
  try {
    call(a.on);
  } catch (warden::cuda_error const& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("failing_launch"));
    failed = true;
  }
  EXPECT_EQ(failed, number <= launches) << "a call has another number of launches";
  fail_launch(0);
  std::string const reported = a.waited();
  std::uint32_t const first = a.runs();
  if (!failed) {
    EXPECT_EQ(reported, "");
    EXPECT_EQ(first, n);
  } else if (reported.empty()) {
    EXPECT_EQ(first, 0u);
  } else {
    EXPECT_THAT(reported, testing::HasSubstr("messages did not run; make their records anew"));
    EXPECT_LE(first, n);
  }
  call(a.on);
  EXPECT_EQ(a.waited(), "");
  EXPECT_EQ(a.runs(), first + n) << "sections of the call that failed ran, too";
}
template <class Guarded, class Function>
void expect_nothing_left(Function function, unsigned launches) {
  test::under_many_schedules(5, [&](std::uint64_t seed) {
    std::uint64_t const number = 1 + seed % (launches + 1);
    SCOPED_TRACE("launch " + std::to_string(number) + " of the call fails");
    expect_nothing_left<Guarded>(number, launches, before,
                                 [&](Guarded& on) { on.apply_async(before, function); });
  });
}

template <class Guarded>
using log_of = typename Guarded::deferred_ref;

TEST(failed_runs, of_partitions) {
  using guarded = warden::basic_guarded<plain, counter, visit>;
  expect_none_lost<guarded>(&send_visits<log_of<guarded>>, 2);
}
TEST(failed_runs, of_logs_that_are_not_sorted_where_they_are_closed) {
  using guarded = warden::basic_guarded<plain, counter, visit>;
  expect_none_lost<guarded>(&send_visits<log_of<guarded>>, 3, {}, 10'000);
}
TEST(failed_runs, of_partitions_that_are_split) {
  using guarded = warden::basic_guarded<plain, counter, visit>;
  expect_none_lost<guarded>(&send_visits<log_of<guarded>>, 3, {.partitions = 2, .split = 4});
}
TEST(failed_runs, in_order) {
  using guarded = warden::basic_guarded<in_order, counter, visit>;
  expect_none_lost<guarded>(&send_visits<log_of<guarded>>, 4);
}
TEST(failed_runs, of_sections_that_were_combined) {
  using guarded = warden::basic_guarded<plain, counter, tell>;
  expect_none_lost<guarded>(&send_told<log_of<guarded>>, 3);
}
TEST(failed_runs, in_rounds) {
  using guarded = warden::basic_guarded<plain, counter, meet>;
  expect_none_lost<guarded>(&send_meetings<log_of<guarded>>, 5);
}
/// A run after a failed one has the log's whole room.
TEST(failed_runs, in_rounds_of_a_full_log) {
  using guarded = warden::basic_guarded<plain, counter, meet>;
  constexpr std::uint32_t n = 5000;  // more than one block runs alone
  for (std::uint64_t number = 1; number <= 7; ++number) {
    SCOPED_TRACE("launch " + std::to_string(number) + " of the run fails");
    applied<guarded> a;
    warden::deferred log{a.on, n};
    auto const send = [&] {
      warden::launch(&send_meetings<log_of<guarded>>, 1, 32, {}, {log.ref(), 0u, n});
    };
    send();
    fail_launch(number);
    EXPECT_EQ(test::error_of<warden::cuda_error>([&] { log.run(); }).empty(), number == 7);
    fail_launch(0);
    std::string const reported = a.waited();
    std::uint32_t const first = a.runs();
    if (!reported.empty()) send();
    log.run();
    EXPECT_EQ(a.waited(), "");
    EXPECT_EQ(a.runs() - first, number == 7 ? 0 : n);
  }
}
TEST(failed_runs, of_sections_that_send) {
  using guarded = warden::basic_guarded<plain, counter, pass_on, visit>;
  expect_none_lost<guarded>(&send_passes<log_of<guarded>>, 2);
}

/// A log that could not be opened frees the records when it ends.
TEST(failed_runs, of_a_log_that_is_destroyed) {
  using guarded = warden::basic_guarded<plain, counter, visit>;
  applied<guarded> a;
  auto const send = [&](auto& log) {
    warden::launch(&send_visits<log_of<guarded>>, 1, 32, {}, {log.ref(), 0u, before});
  };
  {
    warden::deferred log{a.on, before};
    send(log);
    fail_launch(2, 2);
    EXPECT_THROW(log.run(), warden::cuda_error);
    fail_launch(0);
  }
  EXPECT_THAT(a.waited(), testing::HasSubstr("300 deferred sections were never run"));
  warden::deferred log{a.on, before};
  send(log);
  log.run();
  EXPECT_EQ(a.waited(), "");
  EXPECT_EQ(a.runs(), before);
}

TEST(failed_runs, of_apply_async) {
  using guarded = warden::basic_guarded<plain, counter, visit>;
  expect_nothing_left<guarded>(visits{}, 4);
  // The launch that would open the log fails, too.
  for (std::uint64_t number = 1; number <= 4; ++number) {
    SCOPED_TRACE("launches " + std::to_string(number) + " and the next of the call fail");
    expect_nothing_left<guarded>(
        number, 4, before, [](guarded& on) { on.apply_async(before, visits{}); }, 2);
  }
}
TEST(failed_runs, of_apply_async_in_order) {
  expect_nothing_left<warden::basic_guarded<in_order, counter, visit>>(visits{}, 5);
}
TEST(failed_runs, of_apply_async_in_rounds) {
  expect_nothing_left<warden::basic_guarded<plain, counter, meet>>(meetings{}, 7);
}
TEST(failed_runs, of_apply_async_in_pieces) {
  using small =
      warden::policy<warden::options{.block_threads = 32, .tuning = {.apply_bytes = 512}}>;
  expect_nothing_left<warden::basic_guarded<small, counter, visit>>(visits{}, 17);
}
TEST(failed_runs, of_apply_async_by_trees) {
  using guarded = warden::basic_guarded<warden::with_parts<plain, warden::order::deterministic>,
                                        counter, visits_together>;
  // With ids enough for the call to look whether they ascend.
  warden::sim::settings s;
  s.multiprocessors = 1;
  warden::sim::configure(s);
  std::vector<std::uint32_t> ids(33'000);
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = i * 7 % records;
  warden::buffer<std::uint32_t> const on_device{ids};
  for (std::uint64_t const number : {1u, 8u, 9u, 10u}) {
    SCOPED_TRACE("launch " + std::to_string(number) + " of the call fails");
    expect_nothing_left<guarded>(number, 9, ids.size(), [&](guarded& on) {
      on.apply_async(on_device.data(), ids.size(), visits_together{1});
    });
  }
}
TEST(failed_runs, an_apply_async_that_is_put_off_leaves_nothing) {
  for (std::uint32_t const n : {300u, 4000u}) {
    applied<warden::basic_guarded<plain, counter, visit>> a;
    a.on.reserve(n);
    auto& in_use = warden::detail::guarded_access::shared(a.on)->at_work;
    in_use.fill_bytes(1);
    a.on.apply_async(n, visits{});
    in_use.fill_bytes(0);
    EXPECT_THAT(a.waited(), testing::HasSubstr("1 runs of logs found the guarded array in another "
                                               "run or launch, and ran nothing"));
    EXPECT_EQ(a.runs(), 0u);
    a.on.apply_async(n, visits{});
    EXPECT_EQ(a.waited(), "");
    EXPECT_EQ(a.runs(), n);
  }
}

}  // namespace
