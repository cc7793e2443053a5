// SPDX-License-Identifier: Apache-2.0
/// @file
/// NewOrder and Payment: the records that they name, and what they do with them.
#pragma once

#include "apps/transactions/tpcc/schema.cuh"
#include "apps/transactions/transaction.cuh"

#include <cstdint>

namespace transactions::tpcc {

enum class kind : std::uint32_t { new_order, payment };

/// Largest number of records that a transaction names.
inline constexpr unsigned most_named = 1 + most_lines;
inline constexpr unsigned most_named_by_payment = 3;

/// An item of a NewOrder in one word.
struct item_line {
  std::uint32_t bits;

  static constexpr unsigned item_bits = 17, quantity_bits = 4;
  static constexpr std::uint32_t unused_item = (1u << item_bits) - 1;
  static constexpr std::uint32_t most_warehouses = 1u << (32 - item_bits - quantity_bits);

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t item() const { return bits & unused_item; }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t quantity() const {
    return bits >> item_bits & ((1u << quantity_bits) - 1);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t supplier() const {
    return bits >> (item_bits + quantity_bits);
  }
  [[nodiscard]] WARDEN_HOST_DEVICE bool is_unused() const { return item() == unused_item; }
};

/// Input of a transaction.
struct transaction {
  kind what;
  std::uint32_t district;  ///< warehouse * districts_each + D_ID
  std::uint32_t customer;  ///< its number among all; of a payment by name: district * names + name
  bool by_name;
  std::uint32_t lines;   ///< lines of a NewOrder
  std::uint32_t amount;  ///< H_AMOUNT of a Payment
  item_line items[most_lines];

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t warehouse() const {
    return district / districts_each;
  }
  /// Number of lines with an item. Only the last line of a NewOrder may have an unused one: then it
  /// aborts.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t items_found() const {
    return lines - (lines != 0 && items[lines - 1].is_unused() ? 1 : 0);
  }
};

/// Returns the customer of a transaction. A payment by name finds it in the index: the middle one,
/// rounded up, of all with that name in the district, by first name.
WARDEN_HOST_DEVICE std::uint32_t customer_of(tables const& in, transaction const& t) {
  if (!t.by_name) return t.customer;
  std::uint32_t const begin = in.name_begins[t.customer], end = in.name_begins[t.customer + 1];
  return in.names[begin + (end - begin - 1) / 2];
}

/// Records of a transaction, by position.
struct named_records {
  std::uint32_t ids[most_named];
  unsigned count;
};
/// Returns the records that a transaction names. It writes all of them.
WARDEN_HOST_DEVICE named_records name_records(tables const& in, transaction const& t) {
  named_records all{};
  if (t.what == kind::payment) {
    all.ids[0] = in.of.warehouse_id(t.warehouse());
    all.ids[1] = in.of.district_id(t.district);
    all.ids[2] = in.of.customer_id(customer_of(in, t));
    all.count = most_named_by_payment;
    return all;
  }
  all.ids[0] = in.of.district_id(t.district);
  std::uint32_t const items = t.items_found();
  // Constant indexes let the compiler keep the ids in registers.
  for (std::uint32_t l = 0; l < most_lines; ++l) {
    if (l < items) all.ids[1 + l] = in.of.stock_id(t.items[l].supplier(), t.items[l].item());
  }
  all.count = 1 + items;
  return all;
}

/// Columns that a transaction reads, and that no transaction changes.
struct fixed_columns {
  std::uint32_t prices[most_lines];
  std::uint32_t customer;
  std::uint32_t credit;           ///< tables::credits, for a Payment
  std::uint32_t discount, taxes;  ///< sum of taxes, for a NewOrder
};
/// Reads them all, so that the loads overlap.
WARDEN_HOST_DEVICE fixed_columns read_fixed(tables const& in, transaction const& t) {
  fixed_columns of{};
  of.customer = customer_of(in, t);
  if (t.what == kind::payment) {
    of.credit = in.credits[of.customer];
    return of;
  }
  of.discount = in.discounts[of.customer];
  std::uint32_t const items = t.items_found();
  for (std::uint32_t l = 0; l < most_lines; ++l) {
    if (l < items) of.prices[l] = in.prices[t.items[l].item()];
  }
  of.taxes = in.warehouse_taxes[t.warehouse()] + in.district_taxes[t.district];
  return of;
}

/// Result of a transaction.
struct result {
  bool commits;
  std::uint32_t number;    ///< D_NEXT_O_ID, or number of the district's payments before
  std::uint32_t payments;  ///< number of the customer's payments before
  std::uint64_t answer;    ///< sum of what the terminal shows: numbers, amounts and quantities
};
/// Answer of a transaction that aborts.
inline constexpr std::uint64_t aborted = 1;

/// Pointers to the records of a transaction, by position.
using record_pointers = record* [most_named];

/// Executes NewOrder, except for its inserts. An unused item is found before a record is changed.
WARDEN_HOST_DEVICE result order_items(transaction const& t, fixed_columns const& fixed,
                                      record_pointers const& at) {
  if (t.items_found() != t.lines) return {false, 0, 0, aborted};
  district of_order = columns<district>(*at[0]);
  result r{true, of_order.next_order, 0, 0};
  ++of_order.next_order;
  set_columns(*at[0], of_order);
  read_sum shown;
  shown.add(r.number);
  std::uint64_t sum = 0;
  for (std::uint32_t l = 0; l < most_lines; ++l) {
    if (l >= t.lines) continue;
    item_line const line = t.items[l];
    record& stored = *at[1 + l];
    stock s = columns<stock>(stored);
    s.quantity = s.quantity >= line.quantity() + 10 ? s.quantity - line.quantity()
                                                    : s.quantity + 91 - line.quantity();
    s.ytd += line.quantity();
    ++s.orders;
    if (line.supplier() != t.warehouse()) ++s.remote;
    set_columns(stored, s);
    sum += std::uint64_t{line.quantity()} * fixed.prices[l];
    shown.add(s.quantity);
  }
  shown.add(sum * (10'000 - fixed.discount) * (10'000 + fixed.taxes));
  r.answer = shown.value();
  return r;
}
/// Executes Payment, except for its inserts.
WARDEN_HOST_DEVICE result pay(transaction const& t, record_pointers const& at) {
  warehouse w = columns<warehouse>(*at[0]);
  w.ytd += t.amount;
  set_columns(*at[0], w);
  district d = columns<district>(*at[1]);
  d.ytd += t.amount;
  result r{true, d.payments, 0, 0};
  ++d.payments;
  set_columns(*at[1], d);
  customer c = columns<customer>(*at[2]);
  r.payments = static_cast<std::uint32_t>(c.payments);
  c.balance -= t.amount;
  c.ytd_payment += t.amount;
  c.payments += 1;
  set_columns(*at[2], c);
  read_sum shown;
  shown.add(r.number);
  shown.add(r.payments);
  shown.add(static_cast<std::uint64_t>(c.balance));
  r.answer = shown.value();
  return r;
}
/// Executes a transaction, except for its inserts.
WARDEN_HOST_DEVICE result execute(transaction const& t, fixed_columns const& fixed,
                                  record_pointers const& at) {
  return t.what == kind::payment ? pay(t, at) : order_items(t, fixed, at);
}

/// Writes C_DATA of a customer with bad credit. Precondition: the transaction has its records.
WARDEN_HOST_DEVICE void write_remark(tables const& in, transaction const& t,
                                     fixed_columns const& fixed, result const& r) {
  if (t.what != kind::payment || fixed.credit == good_credit) return;
  in.remarks[std::uint64_t{fixed.credit} * remarks + r.payments % remarks] = {
      fixed.customer, t.district, t.amount, r.payments};
}
WARDEN_HOST_DEVICE void insert_order(tables const& in, transaction const& t, result const& r) {
  std::uint64_t const place =
      std::uint64_t{t.district} * in.orders_each + r.number - (in.of.customers + 1);
  bool all_local = true;
  for (std::uint32_t l = 0; l < t.lines; ++l) {
    item_line const line = t.items[l];
    all_local = all_local && line.supplier() == t.warehouse();
    order_line to{line.item(),
                  line.supplier(),
                  line.quantity(),
                  line.quantity() * in.prices[line.item()],
                  {}};
    std::uint64_t const stock = std::uint64_t{line.supplier()} * in.of.items + line.item();
    unsigned const d = t.district % districts_each;
    // The host computes these texts, which fill gigabytes.
    for (unsigned k = 0; k < 3; ++k) {
      to.info[k] = in.infos == nullptr ? info_word(stock, d, k)
                                       : in.infos[(stock * districts_each + d) * 3 + k];
    }
    in.lines[place * most_lines + l] = to;
  }
  in.orders[place] = {r.number, t.customer, t.lines, all_local ? 1u : 0u};
  in.new_orders[place] = r.number;
}
WARDEN_HOST_DEVICE void insert_payment(tables const& in, transaction const& t, result const& r) {
  in.payments[std::uint64_t{t.district} * in.payments_each + r.number] = {
      customer_of(in, t), t.district, t.amount, r.payments};
}
/// Inserts the rows of a transaction, if it commits. The counts in its records have given each row
/// a place of its own, and no transaction reads the rows. So the records may be those of other
/// transactions again.
WARDEN_HOST_DEVICE void insert(tables const& in, transaction const& t, result const& r) {
  if (!r.commits) return;
  if (t.what == kind::payment) {
    insert_payment(in, t, r);
  } else {
    insert_order(in, t, r);
  }
}

}  // namespace transactions::tpcc
