// SPDX-License-Identifier: Apache-2.0
// Kernels that defer sections between records of two arrays, and the expected records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/deferred_pairs.cuh>
#include <warden/simt/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace two_arrays {

namespace simt = warden::simt;
using test::mix;

struct user {
  std::uint64_t mixed;  ///< hash of the ratings
  std::int64_t balance;
  std::uint32_t ratings, visits;
};
/// `Padding` makes it larger.
template <unsigned Padding>
struct item_of {
  std::uint64_t mixed;
  std::int64_t balance;
  std::uint32_t ratings, visits;
  std::uint32_t padding[Padding];
};
using item = item_of<1>;
using large_item = item_of<16>;

/// Mixing up the two, or running it twice, changes a sum.
struct rate {
  std::uint32_t stars;
  template <class Item>
  __device__ void operator()(user& u, Item& i) const {
    u.balance -= stars;
    i.balance += stars;
    u.ratings += 1;
    i.ratings += 1;
    u.mixed += mix(stars);
    i.mixed -= 3 * mix(stars + 1);
  }
};
/// Looks at two records between which alone stars are moved.
struct look {
  template <class Item>
  __device__ void operator()(user& u, Item& i, warden::no_context) const {
    if (u.balance + i.balance != 0) u.mixed += 1;
    u.visits += 1;
    i.visits += 1;
  }
};
/// A section on one record, of either array.
struct visit {
  template <class Record>
  __device__ void operator()(Record& r) const {
    r.visits += 1;
  }
};
/// `n` visits of the first records of a guarded array, by one thread each.
template <class Guarded>
struct visit_arguments {
  typename Guarded::deferred_ref ref;
  std::uint32_t n, records;
};
template <class Guarded>
WARDEN_KERNEL void send_visits(visit_arguments<Guarded> a) {
  std::uint32_t const i =
      warden::simt::block_rank() * warden::simt::block_threads() + warden::simt::thread_rank();
  if (i < a.n) a.ref.send(i % a.records, visit{});
}

template <warden::placement Where = warden::placement::in_memory, unsigned Threads = 32>
using small_blocks = warden::policy<warden::options{.records = Where, .block_threads = Threads}>;
/// With channels, so that it takes part in fused launches.
using fused = test::small<>;

/// Operation i is on these records, among the first ones of each array.
struct operation {
  std::uint32_t user, item, stars;
  WARDEN_HOST_DEVICE static operation of(std::uint32_t i, std::uint32_t users,
                                         std::uint32_t items) {
    std::uint64_t const h = mix(i);
    return {static_cast<std::uint32_t>((h >> 32) * users >> 32),
            static_cast<std::uint32_t>((h & 0xffffffffu) * items >> 32), i % 1000};
  }
};
/// Ratings, or ratings and looks within pairs of a user and the item of the same number.
enum class kind { ratings, looks };

template <class Ref>
struct arguments {
  Ref ref;
  std::uint32_t first, end;    ///< operations
  std::uint32_t users, items;  ///< that they are on
  kind what;
  std::uint64_t* refused;  ///< as the senders were told

  /// Hands operation i to `send(user, item, section)`.
  template <class Send>
  WARDEN_DEVICE void operator()(std::uint32_t i, Send send) const {
    auto const o = operation::of(i, users, items);
    if (what == kind::ratings) {
      send(o.user, o.item, rate{o.stars});
    } else if (i % 2 == 0) {
      send(o.user % items, o.user % items, rate{o.stars});
    } else {
      send(o.user % items, o.user % items, look{});
    }
  }
};

template <class Ref>
WARDEN_KERNEL void send_alone(arguments<Ref> a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.end) return;
  a(i, [&](std::uint32_t user, std::uint32_t item, auto const& section) {
    if (!a.ref.send(user, item, section)) simt::fetch_add(a.refused, std::uint64_t{1});
  });
}

/// By block clients; now and then a thread appends.
template <class Ref, unsigned Threads>
WARDEN_KERNEL void send_together(arguments<Ref> a) {
  using block = warden::deferred_block<Ref, Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * Threads;
  std::uint64_t refused = 0;
  for (std::uint32_t base = a.first + simt::block_rank() * Threads; base < a.end; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    auto const o = operation::of(i, a.users, a.items);
    bool const valid = i < a.end, appends = i % 61 == 7 || a.what == kind::looks;
    client.send(o.user, o.item, rate{o.stars}, valid && !appends);
    if (!valid || !appends) continue;
    a(i, [&](std::uint32_t user, std::uint32_t item, auto const& section) {
      refused += client.append(user, item, section) ? 0 : 1;
    });
  }
  std::uint32_t const flushed = client.flush();
  if (simt::thread_rank() == 0) refused += flushed;
  if (refused != 0) simt::fetch_add(a.refused, refused);
}

/// Users, items, and logs between them.
template <class Policy, class Item = item, class ItemPolicy = Policy>
class bench {
 public:
  using users_type = warden::basic_guarded<Policy, user, visit>;
  using items_type = warden::basic_guarded<ItemPolicy, Item, visit>;
  using log = warden::deferred_between<users_type, items_type, rate, look>;
  using ref_type = typename log::ref_type;
  static constexpr unsigned threads = 32;

  /// Arrays of `users` and `items` records, with operations on the first `user_spread` and
  /// `item_spread` of them.
  bench(std::uint32_t users, std::uint32_t items, kind what = kind::ratings,
        std::uint32_t user_spread = ~0u, std::uint32_t item_spread = ~0u,
        warden::guarded_options const& options = {})
      : what_{what},
        user_spread_{user_spread < users ? user_spread : users},
        item_spread_{item_spread < items ? item_spread : items},
        user_records_{users},
        item_records_{items},
        refused_{1},
        users_{user_records_, options},
        items_{item_records_, options} {
    user_records_.fill_bytes(0);
    item_records_.fill_bytes(0);
    refused_.fill_bytes(0);
  }

  users_type& users() { return users_; }
  items_type& items() { return items_; }
  std::vector<user> user_records() const { return user_records_.to_host(); }
  std::vector<Item> item_records() const { return item_records_.to_host(); }
  std::uint64_t refused() const { return refused_.to_host()[0]; }
  void wait(warden::stream_ref s = {}) {
    users_.wait(s);
    items_.wait(s);
  }
  log make(std::size_t sections, unsigned tiles = 0, unsigned item_tiles = 0) {
    return log{users_, items_, sections, {.partitions = tiles, .second_partitions = item_tiles}};
  }

  void send_alone(log const& to, std::uint32_t first, std::uint32_t end,
                  warden::stream_ref s = {}) const {
    if (first == end) return;
    unsigned const blocks = (end - first + threads - 1) / threads;
    simt::launch(&two_arrays::send_alone<ref_type>, blocks, threads, 0, given(to.ref(), first, end),
                 s);
  }
  void send_together(log const& to, std::uint32_t first, std::uint32_t end, unsigned blocks,
                     warden::stream_ref s = {}) const {
    if (first == end) return;
    using storage = typename log::template block<threads>::storage;
    simt::launch(&two_arrays::send_together<ref_type, threads>, blocks, threads, sizeof(storage),
                 given(to.ref(), first, end), s);
  }
  arguments<ref_type> given(ref_type const& ref, std::uint32_t first, std::uint32_t end) const {
    return {ref, first, end, user_spread_, item_spread_, what_, refused_.data()};
  }

  /// Exactly the ratings below `end` have run, each once, `times` times.
  void expect_ran(std::uint32_t end, std::uint32_t times = 1) const {
    std::vector<user> users(user_records_.size());
    std::vector<Item> items(item_records_.size());
    for (std::uint32_t i = 0; i < end; ++i) {
      auto const o = operation::of(i, user_spread_, item_spread_);
      users[o.user].balance -= std::int64_t{times} * o.stars;
      users[o.user].ratings += times;
      users[o.user].mixed += times * mix(o.stars);
      items[o.item].balance += std::int64_t{times} * o.stars;
      items[o.item].ratings += times;
      items[o.item].mixed -= 3 * times * mix(o.stars + 1);
    }
    expect_same(user_records(), users, "user");
    expect_same(item_records(), items, "item");
  }
  /// How many ratings have run, whichever; nothing was lost between two records.
  std::uint64_t rated() const {
    std::uint64_t by = 0, of = 0;
    for (user const& u : user_records()) by += u.ratings;
    for (Item const& i : item_records()) of += i.ratings;
    EXPECT_EQ(by, of) << "half a section has run";
    return by;
  }
  /// How many visits there were, of users or of items.
  template <class Record>
  static std::uint64_t visits(std::vector<Record> const& records) {
    std::uint64_t sum = 0;
    for (Record const& r : records) sum += r.visits;
    return sum;
  }

 private:
  template <class Record>
  static void expect_same(std::vector<Record> const& seen, std::vector<Record> const& wanted,
                          char const* what) {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_EQ(seen[k].ratings, wanted[k].ratings) << "lost or doubled section on " << what << k;
      ASSERT_EQ(seen[k].balance, wanted[k].balance) << "lost or doubled section on " << what << k;
      ASSERT_EQ(seen[k].mixed, wanted[k].mixed) << "lost or doubled section on " << what << k;
    }
  }

  kind what_;
  std::uint32_t user_spread_, item_spread_;
  warden::buffer<user> user_records_;
  warden::buffer<Item> item_records_;
  warden::buffer<std::uint64_t> refused_;
  users_type users_;
  items_type items_;
};

/// Records and sections of their own arrays, which no test runs. Not in a source: nvcc would warn
/// of sections there that nothing calls.
struct account {
  std::uint64_t sum;
};
struct count_up {
  __device__ void operator()(account& a) const { a.sum += 1; }
};
struct large {
  unsigned char bytes[1 << 12];
};
struct wipe {
  __device__ void operator()(large& l) const { l.bytes[0] = 0; }
};

}  // namespace two_arrays
