// SPDX-License-Identifier: Apache-2.0
// Kernels that look at a record before they send a section for it.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;
using testing::HasSubstr;

/// The smallest value that was sent, and the number of sections that ran.
struct least {
  std::uint64_t value;
  std::uint32_t runs;
  std::uint32_t half;  ///< lower half of the value
};
struct lower {
  std::uint64_t to;
  __device__ void operator()(least& r) const {
    ++r.runs;
    if (to >= r.value) return;
    r.value = to;
    r.half = static_cast<std::uint32_t>(to);
  }
};
using policy = warden::policy<warden::options{.block_threads = 64}>;
using table = warden::basic_guarded<policy, least, lower>;
using in_order = warden::with_parts<policy, warden::order::sequential>;
using ordered_table = warden::basic_guarded<in_order, least, lower>;

/// Both halves of its words are used, so that a torn value shows.
WARDEN_HOST_DEVICE std::uint64_t value_of(std::uint32_t i) {
  std::uint64_t const half = test::mix(i) % 1000;
  return half << 32 | half;
}

template <class Ref>
struct sending {
  Ref ref;
  std::uint32_t first, end, keys;
  std::uint32_t* torn;
};
/// True if a section with that value would change the record. Counts values of which it sees parts.
struct would_lower {
  std::uint64_t to;
  std::uint32_t* torn;
  __device__ bool operator()(least const& r) const {
    if (r.value >> 32 != (r.value & 0xffffffffu)) simt::fetch_add(torn, 1u);
    return to < r.value;
  }
};
WARDEN_KERNEL void send_alone(sending<table::deferred_ref> a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.end) return;
  std::uint64_t const v = value_of(i);
  a.ref.send_if(test::id_of(i, a.keys), lower{v}, would_lower{v, a.torn});
}
template <class Table>
WARDEN_KERNEL void send_together(sending<typename Table::deferred_ref> a) {
  using block = typename Table::template deferred_block<64>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * 64;
  for (std::uint32_t base = a.first + simt::block_rank() * 64; base < a.end; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    std::uint64_t const v = value_of(i);
    client.send_if(test::id_of(i, a.keys), lower{v}, would_lower{v, a.torn}, i < a.end);
  }
  client.flush();
}

template <class Table>
class bench {
 public:
  explicit bench(std::uint32_t keys)
      : keys_{keys}, records_{start(keys)}, torn_{1}, all_{records_} {
    torn_.fill_bytes(0);
  }
  Table& all() { return all_; }

  template <class Log>
  void alone(Log& to, std::uint32_t first, std::uint32_t end, warden::stream_ref s = {}) {
    warden::launch(&send_alone, (end - first + 63) / 64, 64, s,
                   sending<table::deferred_ref>{to.ref(), first, end, keys_, torn_.data()});
  }
  template <class Log>
  void together(Log& to, std::uint32_t first, std::uint32_t end) {
    simt::launch(&send_together<Table>, 4, 64,
                 sizeof(typename Table::template deferred_block<64>::storage),
                 {to.ref(), first, end, keys_, torn_.data()}, {});
  }
  /// The operations below `end` have run, or were not sent. Parts of `part` operations ran one
  /// after another. Without parts only the result is known.
  void expect(std::uint32_t end, std::uint32_t part) const {
    std::vector<least> wanted = start(keys_);
    for (std::uint32_t first = 0; first < end; first += part) {
      auto const before = wanted;
      for (std::uint32_t i = first; i < std::min(end, first + part); ++i) {
        std::uint32_t const k = test::id_of(i, keys_);
        if (value_of(i) < before[k].value) ++wanted[k].runs;
        wanted[k].value = std::min(wanted[k].value, value_of(i));
      }
    }
    auto const found = records_.to_host();
    for (std::uint32_t k = 0; k < keys_; ++k) {
      ASSERT_EQ(found[k].value, wanted[k].value) << "lost section on record " << k;
      if (part == end) continue;
      ASSERT_EQ(found[k].runs, wanted[k].runs) << "sections that were not needed on record " << k;
    }
    EXPECT_EQ(torn_.to_host()[0], 0u) << "values that were read in parts";
  }

 private:
  static std::vector<least> start(std::uint32_t keys) {
    return std::vector<least>(keys, least{std::uint64_t{1023} << 32 | 1023, 0, 0});
  }

  std::uint32_t keys_;
  warden::buffer<least> records_;
  warden::buffer<std::uint32_t> torn_;
  Table all_;
};

TEST(send_if, sends_what_would_change_the_record) {
  for (std::uint32_t const keys : {1u, 50u}) {
    bench<table> b{keys};
    warden::deferred later{b.all(), 1000};
    for (std::uint32_t first = 0; first < 900; first += 300) {
      if (first == 300) {
        b.alone(later, first, first + 300);
      } else {
        b.together(later, first, first + 300);
      }
      later.run();
    }
    b.all().wait();
    b.expect(900, 300);
  }
}
TEST(send_if, keeps_the_order) {
  bench<ordered_table> b{10};
  warden::deferred later{b.all(), 1000};
  for (std::uint32_t first = 0; first < 900; first += 300) {
    b.together(later, first, first + 300);
    later.run();
  }
  b.all().wait();
  b.expect(900, 300);
}
TEST(send_if, reports_ids_outside_the_records) {
  bench<table> b{10};
  warden::deferred later{b.all(), 1000};
  auto bad = sending<table::deferred_ref>{later.ref(), 0, 64, 20, nullptr};
  warden::buffer<std::uint32_t> torn{1};
  bad.torn = torn.data();
  warden::launch(&send_alone, 1, 64, {}, bad);
  later.run();
  EXPECT_THAT(test::error_of<warden::limit_error>([&] { b.all().wait(); }),
              HasSubstr("is not below 10"));
}

/// A record whose alignment is 4, and whose size is no multiple of 8.
struct narrow {
  std::uint32_t first;
  float second;
  std::uint16_t third[2];
  WARDEN_HOST_DEVICE static narrow of(std::uint32_t i) {
    return {i, static_cast<float>(i), {static_cast<std::uint16_t>(i + 1), 3}};
  }
  WARDEN_HOST_DEVICE bool is(narrow const& o) const {
    return first == o.first && second == o.second && third[0] == o.third[0];
  }
};
/// A record that is aligned to 16 bytes.
struct alignas(16) wide {
  std::uint64_t first;
  std::uint32_t second[4];
  std::uint8_t third;
  WARDEN_HOST_DEVICE static wide of(std::uint32_t i) {
    return {i * 0x100000001ull, {i, i + 1, i + 2, i + 3}, static_cast<std::uint8_t>(i)};
  }
  WARDEN_HOST_DEVICE bool is(wide const& o) const {
    return first == o.first && second[0] == o.second[0] && second[3] == o.second[3] &&
           third == o.third;
  }
};
struct touch {
  template <class Record>
  __device__ void operator()(Record& r) const {
    r.first = 0;
  }
};
template <class Record>
using touched = warden::basic_guarded<policy, Record, touch>;
template <class Record>
struct touching {
  typename touched<Record>::deferred_ref ref;
  std::uint32_t n;
};
/// Touches the odd records, if they are as they were made.
template <class Record>
WARDEN_KERNEL void touch_some(touching<Record> a) {
  std::uint32_t const i = simt::thread_rank();
  if (i >= a.n) return;
  a.ref.send_if(i, touch{}, [i](Record const& r) { return i % 2 != 0 && r.is(Record::of(i)); });
}
template <class Record>
void expect_read() {
  constexpr std::uint32_t n = 50;
  std::vector<Record> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back(Record::of(i));
  warden::buffer<Record> records{all};
  touched<Record> g{records};
  warden::deferred later{g, n};
  simt::launch(&touch_some<Record>, 1, 64, 0, touching<Record>{later.ref(), n}, {});
  later.run();
  g.wait();
  auto const found = records.to_host();
  for (std::uint32_t i = 0; i < n; ++i)
    EXPECT_EQ(found[i].first, i % 2 != 0 ? 0 : all[i].first) << "record " << i;
}
TEST(send_if, reads_records_of_any_alignment) {
  expect_read<narrow>();
  expect_read<wide>();
}

/// Two logs in turn: one is filled while the other one runs.
TEST(send_if, reads_records_during_the_run_of_another_log) {
  for (int repetition = 0; repetition < 5; ++repetition) {
    bench<table> b{3};
    warden::deferred first{b.all(), 400}, second{b.all(), 400};
    warden::stream running, filling;
    warden::event begun, filled;
    b.alone(first, 0, 400, running);
    begun.record(running);
    warden::stream_ref{filling}.wait_for(begun);
    first.run(running);
    // A run has several kernels. One of these launches meets the one that runs the sections.
    for (std::uint32_t i = 400; i < 800; i += 40) b.alone(second, i, i + 40, filling);
    filled.record(filling);
    warden::stream_ref{running}.wait_for(filled);
    second.run(running);
    b.all().wait(running);
    b.expect(800, 800);
  }
}

}  // namespace
