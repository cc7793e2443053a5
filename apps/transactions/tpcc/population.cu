// SPDX-License-Identifier: Apache-2.0
// The population of the tables (clause 4.3.3) and the input of transactions (clauses 2.4.1 and
// 2.5.1).

#include "apps/transactions/tpcc/workload.cuh"

#include <algorithm>
#include <numeric>
#include <utility>

namespace transactions::tpcc {

namespace {

using graph::random_numbers;

/// Constants of the non-uniform random numbers (clause 2.1.6). The names of the population and
/// those of the transactions have different ones.
constexpr std::uint32_t name_range = 255, customer_range = 1023, item_range = 8191;
constexpr std::uint32_t population_name = 0, run_name = 100, run_customer = 500, run_item = 5000;

/// Random numbers of one item, one after another.
class numbers {
 public:
  numbers(random_numbers const& of, std::uint64_t item) : of_{of}, item_{item} {}

  /// Returns a number from `least` to `most`.
  std::uint32_t from(std::uint32_t least, std::uint32_t most) {
    return least + of_.below(std::uint64_t{most} - least + 1, item_, which_++);
  }
  /// Returns a non-uniform number from 0 to n - 1.
  std::uint32_t uneven(std::uint32_t range, std::uint32_t constant, std::uint32_t n) {
    std::uint32_t const bits = from(0, range), number = from(0, n - 1);
    return static_cast<std::uint32_t>((std::uint64_t{bits | number} + constant) % n);
  }

 private:
  random_numbers const& of_;
  std::uint64_t item_;
  std::uint32_t which_ = 0;
};

std::vector<std::uint32_t> uniform(std::size_t n, std::uint32_t least, std::uint32_t most,
                                   std::uint64_t seed) {
  random_numbers const random{seed};
  std::vector<std::uint32_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = numbers{random, i}.from(least, most);
  return all;
}

/// Makes the index of customers by last name, their discounts and credits.
void populate_customers(host_tables& t, scale const& of, std::uint64_t seed) {
  random_numbers const random{seed};
  std::uint32_t const names = of.names();
  t.name_begins.push_back(0);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted(of.customers);
  for (std::uint32_t d = 0; d < of.districts(); ++d) {
    std::vector<std::uint32_t> counts(names);
    for (std::uint32_t k = 0; k < of.customers; ++k) {
      std::uint32_t const c = d * of.customers + k;
      numbers draw{random, c};
      // The first customers have one name each.
      std::uint32_t const any = draw.uneven(name_range, population_name, names);
      std::uint32_t const name = k < names ? k : any;
      std::uint32_t const first_name = draw.from(0, 0xfffffffeu);
      ++counts[name];
      sorted[k] = {std::uint64_t{name} << 32 | first_name, c};
      bool const has_bad_credit = draw.from(0, 9) == 0;
      t.discounts.push_back(draw.from(0, 5000));
      t.credits.push_back(has_bad_credit ? t.bad_credits++ : good_credit);
    }
    std::sort(sorted.begin(), sorted.end());
    for (auto const& entry : sorted) t.names.push_back(entry.second);
    for (std::uint32_t const count : counts) t.name_begins.push_back(t.name_begins.back() + count);
  }
}

transaction draw_new_order(scale const& of, numbers draw) {
  transaction t{};
  t.what = kind::new_order;
  t.district = draw.from(0, of.districts() - 1);
  t.customer = t.district * of.customers + draw.uneven(customer_range, run_customer, of.customers);
  t.lines = draw.from(5, most_lines);
  bool const is_unused = draw.from(1, 100) == 1;
  for (std::uint32_t l = 0; l < t.lines; ++l) {
    std::uint32_t item = draw.uneven(item_range, run_item, of.items);
    if (is_unused && l + 1 == t.lines) item = item_line::unused_item;
    std::uint32_t const quantity = draw.from(1, 10);
    std::uint32_t supplier = t.warehouse();
    // One line of 100 comes from another warehouse.
    if (draw.from(1, 100) == 1)
      supplier = (supplier + draw.from(1, of.warehouses - 1)) % of.warehouses;
    t.items[l].bits = item | quantity << item_line::item_bits |
                      supplier << (item_line::item_bits + item_line::quantity_bits);
  }
  return t;
}
transaction draw_payment(scale const& of, numbers draw) {
  transaction t{};
  t.what = kind::payment;
  t.district = draw.from(0, of.districts() - 1);
  t.amount = draw.from(100, 500'000);
  std::uint32_t home = t.district;
  // 15 of 100 customers belong to another warehouse.
  if (draw.from(1, 100) > 85) {
    std::uint32_t const warehouse =
        (t.warehouse() + draw.from(1, of.warehouses - 1)) % of.warehouses;
    home = warehouse * districts_each + draw.from(0, districts_each - 1);
  }
  t.by_name = draw.from(1, 100) <= 60;
  t.customer = t.by_name
                   ? home * of.names() + draw.uneven(name_range, run_name, of.names())
                   : home * of.customers + draw.uneven(customer_range, run_customer, of.customers);
  return t;
}

}  // namespace

host_tables populate(tpcc_options const& o) {
  scale const& of = o.of;
  host_tables t;
  t.prices = uniform(of.items, 100, 10'000, o.seed + 1);
  t.warehouse_taxes = uniform(of.warehouses, 0, 2000, o.seed + 2);
  t.district_taxes = uniform(of.districts(), 0, 2000, o.seed + 3);
  populate_customers(t, of, o.seed + 4);
  t.records.resize(of.records());
  // Each customer has paid 10.00 when the population ends.
  std::uint64_t const paid = 1000;
  for (std::uint32_t w = 0; w < of.warehouses; ++w)
    set_columns(t.records[of.warehouse_id(w)], warehouse{districts_each * of.customers * paid, 0});
  for (std::uint32_t d = 0; d < of.districts(); ++d)
    set_columns(t.records[of.district_id(d)], district{of.customers * paid, of.customers + 1, 0});
  for (std::uint32_t c = 0; c < of.districts() * of.customers; ++c)
    set_columns(t.records[of.customer_id(c)], customer{-static_cast<std::int64_t>(paid), paid, 1});
  random_numbers const random{o.seed + 5};
  for (std::uint32_t s = 0; s < of.customer_id(0); ++s)
    set_columns(t.records[s], stock{numbers{random, s}.from(10, 100), 0, 0, 0});
  return t;
}
std::vector<transaction> draw(tpcc_options const& o) {
  random_numbers const random{o.seed};
  std::vector<transaction> all(o.transactions);
  for (std::uint32_t i = 0; i < o.transactions; ++i) {
    bool const pays = o.kinds == mix::payments || (o.kinds == mix::both && i % 2 != 0);
    // A transaction draws at most 2 + 2 + 2 + 15 * 5 numbers: two items' share.
    numbers const draw{random, std::uint64_t{2} * i};
    all[i] = pays ? draw_payment(o.of, draw) : draw_new_order(o.of, draw);
  }
  return all;
}

}  // namespace transactions::tpcc
