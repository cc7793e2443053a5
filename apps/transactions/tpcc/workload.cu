// SPDX-License-Identifier: Apache-2.0
// Opens the tables, and replays transactions on the host.

#include "apps/transactions/tpcc/workload.cuh"

#include "apps/support/device.cuh"
#include "apps/transactions/serial_order.hpp"

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstring>

namespace transactions::tpcc {

namespace simt = warden::simt;

namespace {

struct info_arguments {
  std::uint64_t* infos;
  std::uint64_t stocks;
};
WARDEN_KERNEL void write_infos(info_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.stocks * districts_each * 3, [&](std::uint64_t i) {
    std::uint64_t const of = i / 3;
    a.infos[i] = info_word(of / districts_each, static_cast<unsigned>(of % districts_each),
                           static_cast<unsigned>(i % 3));
  });
}

tpcc_options checked(tpcc_options const& o) {
  auto const demand = [](std::uint64_t value, std::uint64_t least, std::uint64_t most,
                         std::string const& what) {
    if (value >= least && value <= most) return;
    throw warden::limit_error{"transactions: " + std::to_string(value) + " " + what +
                              " are not from " + std::to_string(least) + " to " +
                              std::to_string(most)};
  };
  // Some items and customers belong to another warehouse.
  demand(o.of.warehouses, 2, most_warehouses, "warehouses");
  demand(o.of.customers, least_customers, most_customers, "customers of a district");
  demand(o.of.items, least_items, most_items, "items");
  demand(o.transactions, 1, most_transactions, "transactions");
  return o;
}
/// Returns the largest number of transactions of a kind that a district has.
std::uint32_t most_of_district(std::vector<transaction> const& all, kind of,
                               std::uint32_t districts) {
  std::vector<std::uint32_t> counts(districts);
  for (transaction const& t : all) {
    if (t.what == of) ++counts[t.district];
  }
  return *std::max_element(counts.begin(), counts.end());
}
template <class Row>
std::vector<Row> no_rows(std::size_t n) {
  std::vector<Row> rows(n);
  if (n != 0) std::memset(rows.data(), 0xff, n * sizeof(Row));
  return rows;
}

}  // namespace

workload::workload(tpcc_options const& o)
    : options_{checked(o)},
      host_{populate(o)},
      on_host_{draw(o)},
      all_{on_host_},
      prices_{host_.prices},
      warehouse_taxes_{host_.warehouse_taxes},
      district_taxes_{host_.district_taxes},
      discounts_{host_.discounts},
      credits_{host_.credits},
      name_begins_{host_.name_begins},
      names_{host_.names},
      infos_{std::size_t{o.of.warehouses} * o.of.items * districts_each * 3},
      first_{host_.records},
      records_{host_.records.size()},
      remarks_{std::size_t{host_.bad_credits} * remarks},
      words_{host_.records.size()},
      answers_{o.transactions},
      serial_{o.transactions},
      device_tables_{1} {
  std::uint32_t const districts = o.of.districts();
  in_.of = o.of;
  in_.orders_each = most_of_district(on_host_, kind::new_order, districts);
  in_.payments_each = most_of_district(on_host_, kind::payment, districts);
  std::size_t const orders = std::size_t{districts} * in_.orders_each;
  orders_ = warden::buffer<order>{orders};
  new_orders_ = warden::buffer<std::uint32_t>{orders};
  lines_ = warden::buffer<order_line>{orders * most_lines};
  payments_ = warden::buffer<history>{std::size_t{districts} * in_.payments_each};
  in_.prices = prices_.data();
  in_.warehouse_taxes = warehouse_taxes_.data();
  in_.district_taxes = district_taxes_.data();
  in_.discounts = discounts_.data();
  in_.credits = credits_.data();
  in_.infos = infos_.data();
  in_.name_begins = name_begins_.data();
  in_.names = names_.data();
  in_.orders = orders_.data();
  in_.new_orders = new_orders_.data();
  in_.lines = lines_.data();
  in_.payments = payments_.data();
  in_.remarks = remarks_.data();
  warden::copy(device_tables_.data(), &in_, 1);
  simt::launch(&write_infos, apps::blocks(), apps::threads(), 0,
               {infos_.data(), std::uint64_t{o.of.warehouses} * o.of.items}, {});
  open_async();
}

void workload::open_async() {
  warden::runtime::copy_async(records_.data(), first_.data(), records_.bytes(), {});
  words_.fill_bytes(0);
  // No row and no transaction has these values.
  orders_.fill_bytes(0xff);
  new_orders_.fill_bytes(0xff);
  lines_.fill_bytes(0xff);
  payments_.fill_bytes(0xff);
  remarks_.fill_bytes(0xff);
  answers_.fill_bytes(0);
  serial_.fill_bytes(0xff);
}

std::string workload::replay_error_text(bool is_claimed) const {
  serial_order const order = order_of(is_claimed ? serial_.to_host() : serial_as_given(size()));
  if (!order.error_text.empty()) return order.error_text;
  std::vector<record> records = host_.records;
  auto orders = no_rows<tpcc::order>(orders_.size());
  auto new_orders = no_rows<std::uint32_t>(new_orders_.size());
  auto lines = no_rows<order_line>(lines_.size());
  auto payments = no_rows<history>(payments_.size());
  auto remarks = no_rows<history>(remarks_.size());
  tables const in{options_.of,
                  in_.orders_each,
                  in_.payments_each,
                  host_.prices.data(),
                  host_.warehouse_taxes.data(),
                  host_.district_taxes.data(),
                  host_.discounts.data(),
                  host_.credits.data(),
                  nullptr,
                  host_.name_begins.data(),
                  host_.names.data(),
                  orders.data(),
                  new_orders.data(),
                  lines.data(),
                  payments.data(),
                  remarks.data()};
  auto const answers = answers_.to_host();
  for (std::uint32_t const i : order.transactions) {
    transaction const& t = on_host_[i];
    named_records const named = name_records(in, t);
    record_pointers at{};
    for (unsigned p = 0; p < named.count; ++p) at[p] = &records[named.ids[p]];
    fixed_columns const fixed = read_fixed(in, t);
    result const r = execute(t, fixed, at);
    write_remark(in, t, fixed, r);
    insert(in, t, r);
    if (answers[i] != r.answer)
      return "transaction " + std::to_string(i) + " did not answer as in a serial order";
  }
  for (std::string const& text :
       {difference("of the changed columns", records_, records),
        difference("of ORDER", orders_, orders),
        difference("of NEW-ORDER", new_orders_, new_orders),
        difference("of ORDER-LINE", lines_, lines), difference("of HISTORY", payments_, payments),
        difference("of C_DATA", remarks_, remarks)}) {
    if (!text.empty()) return text;
  }
  return {};
}
template <class Row>
std::string workload::difference(char const* table, warden::buffer<Row> const& found,
                                 std::vector<Row> const& wanted) const {
  if (wanted.empty()) return {};
  auto const rows = found.to_host();
  if (std::memcmp(rows.data(), wanted.data(), wanted.size() * sizeof(Row)) == 0) return {};
  std::size_t row = 0;
  while (std::memcmp(&rows[row], &wanted[row], sizeof(Row)) == 0) ++row;
  return "row " + std::to_string(row) + " " + table + " is not that of a serial order";
}

}  // namespace transactions::tpcc
