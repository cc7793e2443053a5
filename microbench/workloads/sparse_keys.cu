// SPDX-License-Identifier: Apache-2.0
// Sums by keys of 64 bits: by compare-and-swap and atomics on an open-addressing table, and by the
// hash table of apps/hash_table. All empty their tables in the measured time.

#include "microbench/workloads/sparse_keys.cuh"

#include "apps/hash_table/table.cuh"
#include "microbench/workloads/points.hpp"
#include "microbench/workloads/work_point.hpp"

#include <warden/buffer.hpp>
#include <warden/deferred.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

namespace workloads {

/// Operation: adds a value to the total of its key.
struct add_to_key {
  std::uint64_t key, value;
  template <class Bucket, class Context>
  __device__ void operator()(Bucket& b, Context const& c) const {
    bool is_new;
    key_total* const total = c.find_or_insert(b, key, key_total{value, 1}, is_new);
    if (total == nullptr) {
      c.count(hash_table::outcome::refused);
    } else if (!is_new) {
      total->sum += value;
      ++total->count;
    }
  }
};

namespace {

/// Entry of the open-addressing table: one sector. A key of 0 is no key.
struct alignas(32) open_entry {
  std::uint64_t key, sum, count;
};
/// Table with at least twice as many entries as keys.
struct open_table {
  open_entry* entries;
  std::uint32_t log2;

  WARDEN_DEVICE std::uint64_t first(std::uint64_t key) const {
    return key * 0x9e3779b97f4a7c15ull >> (64 - log2);
  }
  WARDEN_DEVICE std::uint64_t next(std::uint64_t place) const {
    return (place + 1) & ((std::uint64_t{1} << log2) - 1);
  }
  WARDEN_DEVICE void add(std::uint64_t key, std::uint64_t value) const {
    for (std::uint64_t place = first(key);; place = next(place)) {
      open_entry& e = entries[place];
      std::uint64_t found = simt::load_relaxed(&e.key);
      if (found == 0) {
        found = simt::compare_exchange(&e.key, std::uint64_t{0}, key);
        if (found == 0) found = key;
      }
      if (found != key) continue;
      simt::add(&e.sum, value);
      simt::add(&e.count, 1u);
      return;
    }
  }
  WARDEN_DEVICE key_total operator()(std::uint64_t key) const {
    for (std::uint64_t place = first(key); entries[place].key != 0; place = next(place)) {
      if (entries[place].key == key) return {entries[place].sum, entries[place].count};
    }
    return {0, 0};
  }
};
struct open_arguments {
  keyed_rows rows;
  open_table table;
};
WARDEN_KERNEL void add_to_open_table(open_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.rows.n,
                     [&](std::uint64_t i) { a.table.add(a.rows.keys[i], a.rows.values[i]); });
}
arm make_atomics(keyed_work& w) {
  keyed_rows const r = w.rows();
  auto const log2 = static_cast<std::uint32_t>(std::bit_width(2 * r.n_groups - 1));
  auto const entries = std::make_shared<warden::buffer<open_entry>>(std::size_t{1} << log2);
  open_table const table{entries->data(), log2};
  return {[=] {
            entries->fill_bytes(0);
            launch_resident(&add_to_open_table, arm_threads(256), 0, {r, table});
          },
          [=] { look_up(r, table); }};
}

struct make_value {
  keyed_rows rows;
  __device__ add_to_key operator()(std::uint32_t i) const { return {rows.keys[i], rows.values[i]}; }
};
using totals_table = hash_table::table<std::uint64_t, key_total>;
struct find_in_table {
  totals_table::view view;
  WARDEN_DEVICE key_total operator()(std::uint64_t key) const {
    key_total const* const found = view.find(key);
    return found == nullptr ? key_total{0, 0} : *found;
  }
};
arm make_warden(keyed_work& w) {
  keyed_rows const r = w.rows();
  auto const table =
      std::make_shared<totals_table>(hash_table::table_options{.capacity = r.n_groups});
  return {[=] {
            table->clear_async({});
            table->run_async(make_value{r}, r.n);
          },
          [=] {
            table->wait();
            look_up(r, find_in_table{table->device_view()});
          }};
}

/// Section: a value of a group.
struct add_value {
  std::uint64_t value;
  __device__ void operator()(key_total& t) const { partial{*this}(t); }

  struct partial {
    std::uint64_t sum, count;
    __device__ explicit partial(add_value const& one) : sum{one.value}, count{1} {}
    __device__ static partial combine(partial a, partial const& b) {
      a.sum += b.sum;
      a.count += b.count;
      return a;
    }
    __device__ void operator()(key_total& t) const {
      t.sum += sum;
      t.count += count;
    }
  };
};
/// Table that numbers the keys from 0 on, and totals by number.
struct numbered_totals {
  using number_table = hash_table::table<std::uint64_t, std::uint32_t>;
  using insert_log = hash_table::operation_log<number_table, number_table::section::insert>;

  numbered_totals(std::uint32_t groups, std::uint32_t rows)
      : numbers{hash_table::table_options{.capacity = groups}},
        inserts{numbers, rows},
        totals{groups},
        guards{totals} {}
  number_table numbers;
  insert_log inserts;
  warden::buffer<key_total> totals;
  warden::guarded<key_total, add_value> guards;
  warden::buffer<std::uint64_t> next{1};
};
using number_table = numbered_totals::number_table;
struct insert_arguments {
  numbered_totals::insert_log::ref_type ref;
  number_table::view view;
  std::uint64_t const* keys;
  std::uint32_t first, end;
};
/// Inserts the keys of some rows that are not in the table yet.
WARDEN_KERNEL void insert_missing(insert_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.end - a.first, [&](std::uint64_t k) {
    std::uint64_t const key = a.keys[a.first + k];
    if (a.view.find(key) == nullptr) a.ref.send(number_table::section::insert{key, 0});
  });
}
/// Inserts all keys, in parts: 1/64 of the rows, and then 3 times those of all parts before. Later
/// parts find most keys in the table, the hot ones in any case.
void insert_keys(numbered_totals& by, keyed_rows const& r) {
  for (std::uint32_t first = 0, end = r.n / 64 + 1; first < r.n; first = end, end *= 4) {
    end = std::min(end, r.n);
    launch_resident(&insert_missing, arm_threads(256), 0,
                    {by.inserts.ref(), by.numbers.device_view(), r.keys, first, end});
    by.inserts.run();
  }
}
/// Numbers an entry. The table is not const, but what it visits entries with takes no changes.
struct number_entry {
  std::uint64_t* next;
  __device__ void operator()(std::uint64_t const&, std::uint32_t const& number) const {
    const_cast<std::uint32_t&>(number) =
        static_cast<std::uint32_t>(simt::fetch_add_together(next, 1));
  }
};
struct find_number {
  number_table::view view;
  key_total const* totals;
  WARDEN_DEVICE key_total operator()(std::uint64_t key) const {
    std::uint32_t const* const number = view.find(key);
    return number == nullptr ? key_total{0, 0} : totals[*number];
  }
};
void sum_numbered(numbered_totals& by, keyed_rows const& r) {
  by.next.fill_bytes(0);
  by.totals.fill_bytes(0);
  by.numbers.clear_async({});
  insert_keys(by, r);
  by.numbers.for_each_async(number_entry{by.next.data()});
  by.guards.apply_async(r.n, [=, view = by.numbers.device_view()] __device__(std::uint64_t i) {
    return warden::to{*view.find(r.keys[i]), add_value{r.values[i]}};
  });
}
/// Numbers the keys by the hash table, and sums up by number, so that a hot key is combined.
arm make_warden_bulk(keyed_work& w) {
  auto const by = std::make_shared<numbered_totals>(w.rows().n_groups, w.rows().n);
  return {[=, r = w.rows()] { sum_numbered(*by, r); },
          [=, r = w.rows()] {
            by->inserts.wait();
            by->numbers.wait();
            by->guards.wait();
            look_up(r, find_number{by->numbers.device_view(), by->totals.data()});
          }};
}

}  // namespace

std::shared_ptr<bench::point> make_sparse_keys_point(size const& s) {
  arm_makers<keyed_work> arms{
      {"atomics", make_atomics}, {"warden", make_warden}, {"warden_bulk", make_warden_bulk}};
  add_cub_arms(arms);
  return make_point<keyed_work>({"sparse_keys", s.workload, s.keys, s.rows, std::move(arms),
                                 [s] { return std::make_unique<keyed_work>(s); }});
}

}  // namespace workloads
