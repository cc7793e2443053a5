// SPDX-License-Identifier: Apache-2.0
// Draws transactions, sets rows to their first values, and replays transactions on the host.

#include "apps/transactions/ycsb.cuh"

#include "apps/support/device.cuh"
#include "apps/transactions/serial_order.hpp"

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <cmath>
#include <cstring>

namespace transactions {

namespace simt = warden::simt;

namespace {

/// Ranks by Zipf's law, computed from a uniform number: J. Gray et al., Quickly generating
/// billion-record synthetic databases, SIGMOD 1994. YCSB uses the same method.
struct zipf {
  double n, theta, sum, second, eta;

  zipf(std::uint32_t rows, double exponent) : n{static_cast<double>(rows)}, theta{exponent} {
    sum = 0;
    // The smallest terms first, for the precision of the sum.
    for (std::uint32_t r = rows; r != 0; --r) sum += std::pow(static_cast<double>(r), -theta);
    second = 1 + std::pow(0.5, theta);
    eta = (1 - std::pow(2 / n, 1 - theta)) / (1 - second / sum);
  }
  /// Returns the rank of a number from 0 to 1.
  [[nodiscard]] __device__ std::uint32_t rank(double u) const {
    if (u * sum < 1) return 0;
    if (u * sum < second) return 1;
    double const r = n * pow(eta * u - eta + 1, 1 / (1 - theta));
    return static_cast<std::uint32_t>(r < n - 1 ? r : n - 1);
  }
};

struct draw_arguments {
  transaction* all;
  std::uint32_t n, rows;
  zipf ranks;
  double writes;  ///< share of operations
  bool repeats;
  graph::random_numbers random;
};
/// Draws an id that is none of the first `k`, unless ids may repeat.
__device__ std::uint32_t draw_id(draw_arguments const& a, transaction const& t, std::uint64_t item,
                                 unsigned k, graph::random_order const& place) {
  constexpr unsigned tries = graph::random_numbers::numbers_an_item - 1;
  std::uint32_t id = 0;
  for (unsigned attempt = 0;; ++attempt) {
    if (attempt < tries) {
      double const u = static_cast<double>(a.random.bits(item, attempt) >> 11) * 0x1p-53;
      id = static_cast<std::uint32_t>(place(a.ranks.rank(u)));
    } else {
      // Few rows: the next one ends the draw.
      id = (id + 1) % a.rows;
    }
    bool is_new = true;
    for (unsigned other = 0; other < k; ++other) is_new = is_new && t.id(other) != id;
    if (is_new || a.repeats) return id;
  }
}
WARDEN_KERNEL void draw_transactions(draw_arguments a) {
  simt::assume_one_dimension();
  graph::random_order const place{a.rows, 1};
  constexpr unsigned coin = graph::random_numbers::numbers_an_item - 1;
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    transaction t;
    for (unsigned k = 0; k < operations; ++k) {
      std::uint64_t const item = i * operations + k;
      std::uint32_t const id = draw_id(a, t, item, k, place);
      double const u = static_cast<double>(a.random.bits(item, coin) >> 11) * 0x1p-53;
      t.accesses[k] = id << 1 | (u < a.writes ? 1u : 0u);
    }
    a.all[i] = t;
  });
}

template <class Row>
struct open_arguments {
  Row* rows;
  std::uint32_t n;
};
template <class Row>
WARDEN_KERNEL void open_rows(open_arguments<Row> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    for (unsigned k = 0; k < Row::count; ++k)
      a.rows[i].words[k] =
          static_cast<typename Row::word>(first_word(static_cast<std::uint32_t>(i), k));
  });
}
template <class Row>
void open_async_as(Row* rows, std::uint32_t n) {
  simt::launch(&open_rows<Row>, apps::blocks(), apps::threads(), 0, {rows, n}, {});
}

ycsb_options checked(ycsb_options const& o) {
  auto const refuse = [](std::string const& text) {
    throw warden::limit_error{"transactions: " + text};
  };
  if (o.rows < operations || o.rows > most_rows) {
    refuse(std::to_string(o.rows) + " rows are not from " + std::to_string(operations) + " to " +
           std::to_string(most_rows));
  }
  if (o.row_bytes != sizeof(small_row) && o.row_bytes != sizeof(wide_row))
    refuse("rows of " + std::to_string(o.row_bytes) + " bytes; there are 8 and 100");
  if (o.transactions == 0 || o.transactions > most_transactions) {
    refuse(std::to_string(o.transactions) + " transactions are not from 1 to " +
           std::to_string(most_transactions));
  }
  if (!(o.theta >= 0 && o.theta <= most_theta))
    refuse("theta " + std::to_string(o.theta) + " is not from 0 to " + std::to_string(most_theta));
  if (!(o.writes >= 0 && o.writes <= 100))
    refuse(std::to_string(o.writes) + " % of writes are not from 0 to 100");
  return o;
}

}  // namespace

ycsb::ycsb(ycsb_options const& o)
    : options_{checked(o)},
      all_{o.transactions},
      rows_{std::size_t{o.rows} * o.row_bytes},
      words_{o.rows},
      times_{o.rows},
      sums_{o.transactions},
      serial_{o.transactions} {
  simt::launch(&draw_transactions, apps::blocks(), apps::threads(), 0,
               {all_.data(), o.transactions, o.rows, zipf{o.rows, o.theta}, o.writes / 100,
                o.repeats, graph::random_numbers{o.seed}},
               {});
  open_async();
  on_host_ = all_.to_host();
}

void ycsb::open_async() {
  words_.fill_bytes(0);
  times_.fill_bytes(0);
  // No transaction has these values.
  sums_.fill_bytes(0);
  serial_.fill_bytes(0xff);
  if (options_.row_bytes == sizeof(small_row)) {
    open_async_as(rows<small_row>(), options_.rows);
  } else {
    open_async_as(rows<wide_row>(), options_.rows);
  }
}

std::string ycsb::error_text(bool is_claimed) const {
  serial_order const order = order_of(is_claimed ? serial_.to_host() : serial_as_given(size()));
  if (!order.error_text.empty()) return order.error_text;
  return options_.row_bytes == sizeof(small_row) ? replay<small_row>(order.transactions)
                                                 : replay<wide_row>(order.transactions);
}

template <class Row>
std::string ycsb::replay(std::vector<std::uint32_t> const& order) const {
  std::vector<Row> wanted(options_.rows);
  for (std::uint32_t id = 0; id < options_.rows; ++id) {
    for (unsigned k = 0; k < Row::count; ++k)
      wanted[id].words[k] = static_cast<typename Row::word>(first_word(id, k));
  }
  auto const sums = sums_.to_host();
  for (std::uint32_t const i : order) {
    transaction const& t = on_host_[i];
    read_sum read;
    for (unsigned k = 0; k < operations; ++k) read.add(row_sum(wanted[t.id(k)]));
    std::uint64_t const sum = read.value();
    if (sums[i] != sum)
      return "transaction " + std::to_string(i) + " did not read what it reads in a serial order";
    for (unsigned k = 0; k < operations; ++k) {
      if (!t.writes(k)) continue;
      auto& words = wanted[t.id(k)].words;
      for (unsigned w = 0; w < Row::count; ++w) words[w] = new_word(words[w], sum, k, w);
    }
  }
  auto const bytes = rows_.to_host();
  for (std::uint32_t id = 0; id < options_.rows; ++id) {
    if (std::memcmp(&bytes[std::size_t{id} * sizeof(Row)], &wanted[id], sizeof(Row)) != 0)
      return "row " + std::to_string(id) + " is not that of a serial order";
  }
  return {};
}

}  // namespace transactions
