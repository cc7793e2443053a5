// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows of the tables of TPC-C that NewOrder and Payment use: TPC Benchmark C, revision 5.11,
/// clause 1.3. A row is split into columns that these transactions change, which are a record, and
/// columns that none of them changes.
#pragma once

#include "apps/graph/generators/random.cuh"

#include <warden/simt/annotations.cuh>

#include <cstdint>

namespace transactions::tpcc {

inline constexpr unsigned districts_each = 10;  ///< districts of a warehouse
inline constexpr unsigned most_lines = 15;      ///< order lines of an order
/// Number of a customer with good credit among those with bad credit.
inline constexpr std::uint32_t good_credit = ~0u;
/// Entries of C_DATA: 20 of 24 characters fit its 500 characters.
inline constexpr unsigned remarks = 20;

/// Numbers of rows. The specification's, except for `warehouses`, which is free.
struct scale {
  std::uint32_t warehouses = 8;
  std::uint32_t customers = 3000;  ///< customers of a district
  std::uint32_t items = 100'000;

  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t districts() const {
    return warehouses * districts_each;
  }
  /// Different last names.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t names() const {
    return customers < 1000 ? customers : 1000;
  }
  // Numbers of records: stock, customers, districts and warehouses follow one another. Locks are
  // taken in this order, so those that most transactions want are held for the shortest time.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t stock_id(std::uint32_t warehouse,
                                                          std::uint32_t item) const {
    return warehouse * items + item;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t customer_id(std::uint32_t c) const {
    return warehouses * items + c;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t district_id(std::uint32_t d) const {
    return customer_id(districts() * customers) + d;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t warehouse_id(std::uint32_t w) const {
    return district_id(districts()) + w;
  }
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint32_t records() const {
    return warehouse_id(warehouses);
  }
};

/// Changed columns of a row of any table.
struct alignas(16) record {
  std::uint64_t words[2];
};
struct warehouse {
  std::uint64_t ytd;  ///< W_YTD, in cents
  std::uint64_t unused;
};
struct district {
  std::uint64_t ytd;         ///< D_YTD
  std::uint32_t next_order;  ///< D_NEXT_O_ID
  std::uint32_t payments;    ///< rows of HISTORY that the district has added
};
struct customer {
  std::int64_t balance;            ///< C_BALANCE
  std::uint64_t ytd_payment : 40;  ///< C_YTD_PAYMENT
  std::uint64_t payments : 24;     ///< C_PAYMENT_CNT
};
struct stock {
  std::uint32_t quantity;  ///< S_QUANTITY
  std::uint32_t ytd;       ///< S_YTD
  std::uint32_t orders;    ///< S_ORDER_CNT
  std::uint32_t remote;    ///< S_REMOTE_CNT
};

/// Return and set the columns of a record. memcpy to or from a record in memory would move single
/// bytes.
template <class Row>
WARDEN_HOST_DEVICE Row columns(record const& r) {
  return __builtin_bit_cast(Row, r);
}
template <class Row>
WARDEN_HOST_DEVICE void set_columns(record& r, Row const& row) {
  r = __builtin_bit_cast(record, row);
}

/// A row of ORDER.
struct order {
  std::uint32_t number;  ///< O_ID
  std::uint32_t customer;
  std::uint32_t lines;  ///< O_OL_CNT
  std::uint32_t all_local;
};
/// A row of ORDER-LINE. Its order and number are its place.
struct order_line {
  std::uint32_t item;
  std::uint32_t supplier;  ///< OL_SUPPLY_W_ID
  std::uint32_t quantity;
  std::uint32_t amount;
  std::uint64_t info[3];  ///< OL_DIST_INFO
};
/// A row of HISTORY.
struct history {
  std::uint32_t customer;
  std::uint32_t district;  ///< H_W_ID and H_D_ID
  std::uint32_t amount;
  std::uint32_t number;  ///< payments of the customer before
};

/// Columns that no transaction changes, and rows that transactions insert. On the host or in device
/// memory.
struct tables {
  scale of;
  std::uint32_t orders_each, payments_each;  ///< capacity of a district
  std::uint32_t const* prices;               ///< [item] I_PRICE
  std::uint32_t const* warehouse_taxes;      ///< [warehouse] W_TAX; units: 1/10,000
  std::uint32_t const* district_taxes;       ///< [district] D_TAX
  std::uint32_t const* discounts;            ///< [customer] C_DISCOUNT; units: 1/10,000
  std::uint32_t const* credits;              ///< [customer] number among those with bad credit
  std::uint64_t const* infos;                ///< [stock][district][3] S_DIST_01 and so on, or null
  std::uint32_t const* name_begins;          ///< [district][name] index of C_LAST
  std::uint32_t const* names;                ///< customers by district, last and first name
  order* orders;                             ///< [district][order]
  std::uint32_t* new_orders;                 ///< [district][order] NO_O_ID
  order_line* lines;                         ///< [district][order][line]
  history* payments;                         ///< [district][payment]
  history* remarks;  ///< [customer with bad credit][remarks] C_DATA, the oldest replaced
};

/// Returns a word of S_DIST_xx.
WARDEN_HOST_DEVICE std::uint64_t info_word(std::uint64_t stock, unsigned district, unsigned k) {
  return graph::random_numbers::mixed((stock * districts_each + district) * 3 + k + 1);
}

}  // namespace transactions::tpcc
