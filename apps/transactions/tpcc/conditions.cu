// SPDX-License-Identifier: Apache-2.0
// The conditions of consistency (clause 3.3.2), checked on the device. Rows of the population that
// are not stored count as specified: orders 1 to n of a district with n customers, of which the
// last 3 of 10 are new, and a payment of 10.00 of each customer. Delivered lines have the amount
// 0.00, as none is delivered after the population.

#include "apps/support/device.cuh"
#include "apps/transactions/tpcc/workload.cuh"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <array>

namespace transactions::tpcc {

namespace simt = warden::simt;

namespace {

/// Sums over the inserted rows of a district.
struct district_sums {
  std::uint32_t orders, new_orders;
  std::uint32_t last_order, last_new_order;
  std::uint32_t lines_claimed;  ///< sum of O_OL_CNT
  std::uint32_t lines;          ///< rows of ORDER-LINE
  std::uint64_t paid;
};
/// Sums over the inserted rows of HISTORY of a customer.
struct payment_sums {
  std::uint64_t amount;
  std::uint32_t rows, unused;
};
/// Sums over the inserted rows of ORDER-LINE of a stock.
struct stock_sums {
  std::uint32_t quantity, lines, remote;
};
struct condition_arguments {
  tables in;
  record const* records;
  district_sums* districts;
  payment_sums* paid;     ///< [customer]
  stock_sums* stocks;     ///< [stock]
  record const* first;    ///< records before the first transaction
  std::uint64_t* failed;  ///< smallest condition << 32 | number of the row
};
/// Bytes of a row that no transaction has inserted.
constexpr std::uint32_t absent = 0xffffffffu;
/// Further conditions, after the specification's.
constexpr std::uint64_t payment_condition = 13, stock_condition = 14;
/// Payment of each customer before the first transaction.
constexpr std::uint64_t paid_before = 1000;

WARDEN_DEVICE void demand(condition_arguments const& a, bool holds, std::uint64_t condition,
                          std::uint64_t row) {
  if (!holds) simt::fetch_min(a.failed, condition << 32 | row);
}
WARDEN_KERNEL void add_rows(condition_arguments a) {
  simt::assume_one_dimension();
  std::uint32_t const districts = a.in.of.districts();
  apps::for_my_share(std::uint64_t{districts} * a.in.orders_each, [&](std::uint64_t place) {
    district_sums& sums = a.districts[place / a.in.orders_each];
    order const o = a.in.orders[place];
    std::uint32_t const home =
        static_cast<std::uint32_t>(place / a.in.orders_each / districts_each);
    std::uint32_t lines = 0;
    for (unsigned l = 0; l < most_lines; ++l) {
      order_line const line = a.in.lines[place * most_lines + l];
      if (line.item == absent) continue;
      ++lines;
      bool const is_whole = line.item < a.in.of.items && line.supplier < a.in.of.warehouses;
      demand(a, is_whole, stock_condition, place);
      if (!is_whole) continue;
      stock_sums& of = a.stocks[a.in.of.stock_id(line.supplier, line.item)];
      simt::add(&of.quantity, line.quantity);
      simt::add(&of.lines, 1u);
      if (line.supplier != home) simt::add(&of.remote, 1u);
    }
    if (lines != 0) simt::add(&sums.lines, lines);
    if (o.number != absent) {
      simt::add(&sums.orders, 1u);
      simt::fetch_max(&sums.last_order, o.number);
      simt::add(&sums.lines_claimed, o.lines);
      demand(a, o.lines == lines, 6, place);
    }
    if (a.in.new_orders[place] == absent) return;
    simt::add(&sums.new_orders, 1u);
    simt::fetch_max(&sums.last_new_order, a.in.new_orders[place]);
  });
  apps::for_my_share(std::uint64_t{districts} * a.in.payments_each, [&](std::uint64_t place) {
    history const h = a.in.payments[place];
    if (h.customer == absent) return;
    bool const is_whole = h.district < districts && h.customer < districts * a.in.of.customers;
    demand(a, is_whole, 9, place);
    if (!is_whole) return;
    simt::add(&a.districts[h.district].paid, std::uint64_t{h.amount});
    simt::add(&a.paid[h.customer].amount, std::uint64_t{h.amount});
    simt::add(&a.paid[h.customer].rows, 1u);
  });
}
WARDEN_DEVICE void check_district(condition_arguments const& a, std::uint32_t d) {
  scale const& of = a.in.of;
  district_sums const& sums = a.districts[d];
  auto const row = columns<district>(a.records[of.district_id(d)]);
  std::uint32_t const before = of.customers, new_before = before * 3 / 10;
  std::uint32_t const last = sums.orders == 0 ? before : sums.last_order;
  std::uint32_t const last_new = sums.new_orders == 0 ? before : sums.last_new_order;
  std::uint32_t const new_orders = new_before + sums.new_orders;
  demand(a, row.next_order - 1 == last && last == last_new, 2, d);
  demand(a, last_new - (before - new_before + 1) + 1 == new_orders, 3, d);
  demand(a, sums.lines_claimed == sums.lines, 4, d);
  demand(a, row.ytd == before * paid_before + sums.paid, 9, d);
  demand(a, before + sums.orders - new_orders == before - new_before, 11, d);
}
/// Orders change a quantity by 91 or by nothing in addition to what they take, and it stays from 10
/// to 100. So the sum of what they take determines it.
WARDEN_DEVICE void check_stock(condition_arguments const& a, std::uint64_t s) {
  auto const row = columns<stock>(a.records[s]), before = columns<stock>(a.first[s]);
  stock_sums const sums = a.stocks[s];
  constexpr std::uint32_t refill = 91, least = 10;
  std::uint32_t const taken = sums.quantity % refill;
  std::uint32_t const wanted = least + (before.quantity - least + refill - taken) % refill;
  demand(a,
         row.ytd == sums.quantity && row.orders == sums.lines && row.remote == sums.remote &&
             row.quantity == wanted,
         stock_condition, s);
}
WARDEN_KERNEL void check_rows(condition_arguments a) {
  simt::assume_one_dimension();
  scale const& of = a.in.of;
  apps::for_my_share(of.warehouses, [&](std::uint64_t w) {
    std::uint64_t ytd = 0, paid = districts_each * of.customers * paid_before;
    for (std::uint64_t d = w * districts_each; d < (w + 1) * districts_each; ++d) {
      ytd += columns<district>(a.records[of.district_id(static_cast<std::uint32_t>(d))]).ytd;
      paid += a.districts[d].paid;
    }
    auto const row = columns<warehouse>(a.records[of.warehouse_id(static_cast<std::uint32_t>(w))]);
    demand(a, row.ytd == ytd, 1, w);
    demand(a, row.ytd == paid, 8, w);
  });
  apps::for_my_share(of.districts(),
                     [&](std::uint64_t d) { check_district(a, static_cast<std::uint32_t>(d)); });
  apps::for_my_share(std::uint64_t{of.districts()} * of.customers, [&](std::uint64_t c) {
    auto const row = columns<customer>(a.records[of.customer_id(static_cast<std::uint32_t>(c))]);
    auto const balance = static_cast<std::uint64_t>(row.balance);
    demand(a, balance == 0 - paid_before - a.paid[c].amount, 10, c);
    demand(a, balance + row.ytd_payment == 0, 12, c);
    demand(a, row.payments == 1 + a.paid[c].rows, payment_condition, c);
  });
  apps::for_my_share(of.customer_id(0), [&](std::uint64_t s) { check_stock(a, s); });
}

}  // namespace

std::string workload::condition_error_text() const {
  scale const& of = options_.of;
  warden::buffer<district_sums> districts{of.districts()};
  warden::buffer<payment_sums> paid{std::size_t{of.districts()} * of.customers};
  warden::buffer<stock_sums> stocks{of.customer_id(0)};
  warden::buffer<std::uint64_t> failed{1};
  districts.fill_bytes(0);
  paid.fill_bytes(0);
  stocks.fill_bytes(0);
  failed.fill_bytes(0xff);
  condition_arguments const a{in_,           records_.data(), districts.data(), paid.data(),
                              stocks.data(), first_.data(),   failed.data()};
  simt::launch(&add_rows, apps::blocks(), apps::threads(), 0, a, {});
  simt::launch(&check_rows, apps::blocks(), apps::threads(), 0, a, {});
  std::uint64_t const found = failed.to_host()[0];
  if (found == ~std::uint64_t{0}) return {};
  return "condition " + std::to_string(found >> 32) + " does not hold for row " +
         std::to_string(found & 0xffffffffu);
}

}  // namespace transactions::tpcc
