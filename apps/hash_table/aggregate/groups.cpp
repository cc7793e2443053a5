// SPDX-License-Identifier: Apache-2.0
// The host numbers the groups; the device adds the numbers of one piece of the file at a time.

#include "apps/hash_table/aggregate/groups.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace hash_table {

namespace {

/// Rows of a piece. Not chosen by the memory, because the roundings of floating-point sums depend
/// on where pieces end.
constexpr std::size_t piece_rows = std::size_t{1} << 14;
/// Device memory of a number in a piece, with that of the work on it, at most.
constexpr std::size_t number_bytes = 96;

/// Returns the number of groups whose totals fit half of the memory. Throws std::runtime_error if
/// the pieces need more than the other half.
std::size_t groups_that_fit(query const& q, std::uint64_t megabytes) {
  std::uint64_t const half = megabytes << 19;
  std::uint64_t const piece_bytes = q.columns() * piece_rows * number_bytes;
  if (piece_bytes > half) {
    throw std::runtime_error{"--memory " + std::to_string(megabytes) + " is too small for " +
                             std::to_string(q.columns()) + " columns of numbers; give at least " +
                             std::to_string((piece_bytes >> 19) + 1)};
  }
  std::uint64_t const group_bytes =
      q.whole_columns * sizeof(whole_totals) + q.real_columns * sizeof(real_totals);
  // Numbers of records have 32 bits.
  return std::min(half / group_bytes, 0xf0000000 / q.columns());
}

/// Rows of one piece of the file, and the totals of all.
class row_adder {
 public:
  row_adder(query const& q, std::size_t groups)
      : q_{q},
        whole_{groups, q.whole_columns, piece_rows * q.whole_columns},
        real_{groups, q.real_columns, piece_rows * q.real_columns} {}

  /// Adds a row of group `group`, the last one of `groups` at most.
  void add(std::uint32_t group, std::size_t groups, table_reader const& row) {
    auto const whole_begin = static_cast<std::uint32_t>(group * q_.whole_columns),
               real_begin = static_cast<std::uint32_t>(group * q_.real_columns);
    for (number_column const& c : q_.numbers) {
      std::string_view const field = row.fields()[c.field];
      if (field.empty()) continue;
      if (c.is_real) {
        reals_.add(real_begin + c.real, real_in(field, c, row.here()));
        continue;
      }
      std::int64_t const number = whole_in(field, c, row.here());
      if (c.whole != number_column::none) wholes_.add(whole_begin + c.whole, number);
      if (c.real != number_column::none)
        reals_.add(real_begin + c.real, static_cast<double>(number));
    }
    if (q_.counts_rows)
      wholes_.add(static_cast<std::uint32_t>(whole_begin + q_.whole_columns - 1), 0);
    if (++rows_ == piece_rows) flush(groups);
  }
  /// Adds the rest, and moves the totals to the host.
  void finish(groups& to) {
    flush(to.keys.size());
    wholes_ = {};
    reals_ = {};
    to.whole = whole_.to_host(to.keys.size());
    to.real = real_.to_host(to.keys.size());
    to.device_bytes = whole_.memory_bytes() + real_.memory_bytes();
  }

 private:
  void flush(std::size_t groups) {
    whole_.add(wholes_, groups);
    real_.add(reals_, groups);
    wholes_.clear();
    reals_.clear();
    rows_ = 0;
  }

  query const& q_;
  std::size_t rows_ = 0;
  piece<std::int64_t> wholes_;
  piece<double> reals_;
  whole_columns whole_;
  real_columns real_;
};

int128 sum_of(whole_totals const& t) {
  __extension__ using bits = unsigned __int128;
  return static_cast<int128>(static_cast<bits>(t.high) << 64 | t.low);
}

std::string digits(int128 number) {
  std::string text;
  bool const is_negative = number < 0;
  do {
    auto const digit = static_cast<int>(number % 10);
    text += static_cast<char>('0' + (is_negative ? -digit : digit));
    number /= 10;
  } while (number != 0);
  if (is_negative) text += '-';
  return {text.rbegin(), text.rend()};
}

std::string digits(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

std::string to_text(aggregated const& number) {
  if (auto const* whole = std::get_if<int128>(&number)) return digits(*whole);
  if (auto const* real = std::get_if<double>(&number)) return digits(*real);
  return {};
}

aggregated groups::value(query const& q, output_column const& column, std::uint32_t group) const {
  if (column.what == aggregate::rows)
    return static_cast<int128>(whole[(group + std::size_t{1}) * q.whole_columns - 1].count);
  number_column const& c = q.numbers[column.numbers];
  if (c.is_real || column.what == aggregate::variance) {
    real_totals const& t = real[group * q.real_columns + c.real];
    if (t.count < (column.what == aggregate::variance ? 2 : 1)) return {};
    switch (column.what) {
      case aggregate::minimum:
        return t.minimum;
      case aggregate::maximum:
        return t.maximum;
      case aggregate::mean:
        return t.sum / static_cast<double>(t.count);
      case aggregate::variance:
        return t.deviations / static_cast<double>(t.count - 1);
      default:
        return t.sum;
    }
  }
  whole_totals const& t = whole[group * q.whole_columns + c.whole];
  if (t.count == 0) return {};
  switch (column.what) {
    case aggregate::minimum:
      return static_cast<int128>(t.minimum);
    case aggregate::maximum:
      return static_cast<int128>(t.maximum);
    case aggregate::mean:
      return static_cast<double>(sum_of(t)) / static_cast<double>(t.count);
    default:
      return sum_of(t);
  }
}

std::string groups::name(query const& q, std::string_view key) const {
  std::vector<std::string_view> fields;
  keys.split(key, fields);
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text += (i == 0 ? "" : ", ") + q.key_titles[i] + "=";
    text += fields[i].empty() ? "NULL" : apps::shown(fields[i]);
  }
  return text;
}

groups::groups(table_reader& from, aggregate_options const& o)
    : keys{from.columns().key_fields.size(), static_cast<std::size_t>(o.megabytes << 19)} {
  query const& q = from.columns();
  std::size_t const fit = groups_that_fit(q, o.megabytes);
  row_adder adder{q, fit};
  auto const refuse = [&](std::size_t most) {
    from.here().refuse("one more group than the " + std::to_string(most) + " that fit --memory " +
                       std::to_string(o.megabytes) + "; give more MiB, or fewer --key columns");
  };
  std::vector<std::string_view> key(q.key_fields.size());
  for (; from.next(); ++rows) {
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = from.fields()[q.key_fields[i]];
    std::uint32_t group = 0;
    try {
      group = keys.number_of(key);
    } catch (memory_full const&) {
      refuse(keys.size());
    }
    if (group == fit) refuse(group);
    adder.add(group, keys.size(), from);
  }
  adder.finish(*this);
  keys.sort();
}

void check_sums(query const& q, groups const& of) {
  for (output_column const& column : q.outputs) {
    if (column.what != aggregate::sum || q.numbers[column.numbers].is_real) continue;
    for (group_keys::entry const* e : of.keys.entries()) {
      aggregated const value = of.value(q, column, e->second);
      auto const* const sum = std::get_if<int128>(&value);
      if (sum == nullptr || *sum == static_cast<std::int64_t>(*sum)) continue;
      throw std::runtime_error{column.title + " of group " + of.name(q, e->first) + " is " +
                               to_text(*sum) + ", which 64 bits cannot hold; give --sum128 " +
                               q.numbers[column.numbers].name + " instead"};
    }
  }
}

}  // namespace hash_table
