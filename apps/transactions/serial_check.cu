// SPDX-License-Identifier: Apache-2.0
// Checks a run on the device.

#include "apps/transactions/serial_check.cuh"

#include "apps/support/device.cuh"

#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <bit>
#include <utility>

namespace transactions {

namespace simt = warden::simt;

namespace {

using findings = serial_check::findings;

/// Keys and values to sort.
struct pairs {
  std::uint32_t *keys, *values;
};

struct key_arguments {
  std::uint64_t const* serial;
  std::uint32_t const* order;  ///< transactions in the order to keep, or null: their own
  std::uint32_t n;
  unsigned shift;  ///< first bit of the serial numbers to sort by
  pairs to;
};
WARDEN_KERNEL void take_keys(key_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t k) {
    std::uint32_t const i = a.order == nullptr ? static_cast<std::uint32_t>(k) : a.order[k];
    a.to.keys[k] = a.serial == nullptr ? 0 : static_cast<std::uint32_t>(a.serial[i] >> a.shift);
    a.to.values[k] = i;
  });
}
struct order_arguments {
  std::uint64_t const* serial;
  std::uint32_t const* sorted;
  std::uint32_t n;
  bool is_claimed;
  std::uint32_t* order;
  findings* found;
};
/// Keeps the order, and finds serial numbers that two transactions have, or none.
WARDEN_KERNEL void keep_order(order_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t k) {
    std::uint32_t const i = a.sorted[k];
    a.order[k] = i;
    if (!a.is_claimed) return;
    std::uint64_t const serial = a.serial[i];
    if (serial == ~std::uint64_t{0} || (k != 0 && a.serial[a.sorted[k - 1]] == serial))
      simt::fetch_min(&a.found->repeated, i);
  });
}
struct access_arguments {
  transaction const* all;
  std::uint32_t const* order;
  std::uint32_t n;
  pairs to;
};
WARDEN_KERNEL void list_accesses(access_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t k) {
    std::uint32_t const i = a.order[k];
    for (unsigned o = 0; o < operations; ++o) {
      a.to.keys[k * operations + o] = a.all[i].id(o);
      a.to.values[k * operations + o] = i * operations + o;
    }
  });
}

template <class Row>
struct execute_arguments {
  transaction const* all;
  std::uint64_t const* claimed;  ///< [transaction] sums of the run
  std::uint32_t n;               ///< transactions
  std::uint32_t rows;
  Row const* table;
  std::uint32_t const *ids, *places;  ///< [access], by row and serial order
  row_access* accesses;
  std::uint64_t* sums;
  findings* found;
};
template <class Row>
WARDEN_KERNEL void gather_accesses(execute_arguments<Row> a) {
  simt::assume_one_dimension();
  apps::for_my_share(std::uint64_t{a.n} * operations, [&](std::uint64_t p) {
    std::uint32_t const place = a.places[p], i = place / operations;
    a.accesses[p] = {a.claimed[i], place, a.all[i].writes(place % operations)};
  });
}
template <class Row>
WARDEN_DEVICE Row first_row(std::uint32_t id) {
  Row r;
  for (unsigned k = 0; k < Row::count; ++k)
    r.words[k] = static_cast<typename Row::word>(first_word(id, k));
  return r;
}
template <class Row>
WARDEN_DEVICE bool is_same(Row const& a, Row const& b) {
  bool is_same = true;
  for (unsigned k = 0; k < Row::count; ++k) is_same = is_same && a.words[k] == b.words[k];
  return is_same;
}
/// Executes the accesses to the row whose first access is `p`.
template <class Row>
WARDEN_DEVICE void execute_row(execute_arguments<Row> const& a, std::uint64_t p) {
  // Accesses are loaded several at a time: the chain of a hot row would add up their latencies.
  constexpr unsigned ahead = 8;
  std::uint64_t const n = std::uint64_t{a.n} * operations;
  std::uint32_t const id = a.ids[p];
  Row const first = first_row<Row>(id);
  // A transaction reads before it writes, also if it names the row twice.
  Row read = first, now = first;
  std::uint64_t sum = row_sum(first);
  std::uint32_t before = serial_check::nothing;
  for (bool is_there = true; is_there; p += ahead) {
    row_access next[ahead];
    bool is_next[ahead];
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      is_next[k] = p + k < n && a.ids[p + k] == id;
      if (is_next[k]) next[k] = a.accesses[p + k];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      is_there = is_there && is_next[k];
      if (!is_there) continue;
      std::uint32_t const transaction = next[k].place / operations;
      if (transaction != before) {
        read = now;
        sum = row_sum(read);
        before = transaction;
      }
      a.sums[next[k].place] = sum;
      if (!next[k].writes) continue;
      for (unsigned w = 0; w < Row::count; ++w)
        now.words[w] = new_word(now.words[w], next[k].sum, next[k].place % operations, w);
    }
  }
  if (!is_same(now, a.table[id])) simt::fetch_min(&a.found->row, id);
  if (!is_same(now, first)) simt::add(&a.found->expected, 1u);
}
template <class Row>
WARDEN_KERNEL void execute_rows(execute_arguments<Row> a) {
  simt::assume_one_dimension();
  apps::for_my_share(std::uint64_t{a.n} * operations, [&](std::uint64_t p) {
    if (p == 0 || a.ids[p - 1] != a.ids[p]) execute_row(a, p);
  });
}
/// Compares the sums of all transactions, and counts the rows that have changed: a row without an
/// access must not have.
template <class Row>
WARDEN_KERNEL void compare(execute_arguments<Row> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    read_sum read;
    for (unsigned k = 0; k < operations; ++k) read.add(a.sums[i * operations + k]);
    if (read.value() != a.claimed[i]) simt::fetch_min(&a.found->sum, static_cast<std::uint32_t>(i));
  });
  std::uint32_t changed = 0;
  apps::for_my_share(a.rows, [&](std::uint64_t id) {
    if (!is_same(a.table[id], first_row<Row>(static_cast<std::uint32_t>(id)))) ++changed;
  });
  if (changed != 0) simt::add(&a.found->changed, changed);
}

}  // namespace

serial_check::serial_check(ycsb const& of)
    : of_{of},
      words_{std::size_t{4} * of.size() * operations},
      order_{of.size()},
      accesses_{std::size_t{of.size()} * operations},
      sums_{std::size_t{of.size()} * operations},
      sorting_{warden::runtime::sort_bytes(of.size() * operations, 32)},
      found_{1} {}

std::string serial_check::error_text(bool is_claimed) {
  findings const none{nothing, nothing, nothing, 0, 0};
  warden::copy(found_.data(), &none, 1);
  order(is_claimed);
  if (of_.options().row_bytes == sizeof(small_row)) {
    execute<small_row>();
  } else {
    execute<wide_row>();
  }
  findings const found = found_.to_host()[0];
  auto const number = [](std::uint32_t n) { return std::to_string(n); };
  if (found.repeated != nothing)
    return "transaction " + number(found.repeated) + " has no serial number of its own";
  if (found.sum != nothing) {
    return "transaction " + number(found.sum) + " did not read what it reads in a serial order";
  }
  if (found.row != nothing) return "row " + number(found.row) + " is not that of a serial order";
  if (found.expected == found.changed) return {};
  return number(found.changed) + " rows have changed; in a serial order " + number(found.expected) +
         " change";
}

void serial_check::sort(std::uint32_t n, unsigned bits) {
  std::size_t const places = words_.size() / 4;
  std::uint32_t* const w = words_.data();
  warden::runtime::sort_pairs({w, w + places, w + 2 * places, w + 3 * places, n}, bits,
                              sorting_.data(), sorting_.bytes(), {});
}
void serial_check::order(bool is_claimed) {
  std::size_t const places = words_.size() / 4;
  std::uint32_t const n = of_.size();
  pairs const to{words_.data(), words_.data() + places};
  std::uint32_t const* const sorted = words_.data() + 3 * places;
  std::uint64_t const* const serial = is_claimed ? of_.serial() : nullptr;
  // Each sort keeps the order of equal keys.
  for (unsigned const shift : {0u, 32u}) {
    key_arguments const keys{serial, shift == 0 ? nullptr : sorted, n, shift, to};
    simt::launch(&take_keys, apps::blocks(), apps::threads(), 0, keys, {});
    sort(n, 32);
  }
  simt::launch(&keep_order, apps::blocks(), apps::threads(), 0,
               {serial, sorted, n, is_claimed, order_.data(), found_.data()}, {});
  simt::launch(&list_accesses, apps::blocks(), apps::threads(), 0,
               {of_.all(), order_.data(), n, to}, {});
  sort(n * operations, static_cast<unsigned>(std::bit_width(of_.options().rows)));
}
template <class Row>
void serial_check::execute() {
  std::size_t const places = words_.size() / 4;
  execute_arguments<Row> const a{of_.all(),
                                 of_.sums(),
                                 of_.size(),
                                 of_.options().rows,
                                 of_.rows<Row>(),
                                 words_.data() + 2 * places,
                                 words_.data() + 3 * places,
                                 accesses_.data(),
                                 sums_.data(),
                                 found_.data()};
  simt::launch(&gather_accesses<Row>, apps::blocks(), apps::threads(), 0, a, {});
  simt::launch(&execute_rows<Row>, apps::blocks(), apps::threads(), 0, a, {});
  simt::launch(&compare<Row>, apps::blocks(), apps::threads(), 0, a, {});
}

}  // namespace transactions
