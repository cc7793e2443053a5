// SPDX-License-Identifier: Apache-2.0
// The plain way: one row after another, with a map of keys.

#include "apps/hash_table/aggregate/groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace hash_table {

namespace {

/// Aggregates of one column of one group.
struct sequential_totals {
  std::uint64_t count = 0;
  int128 sum = 0;
  std::int64_t minimum = 0, maximum = 0;
  // Aggregates of floating-point numbers, with more digits than the device has.
  long double real_sum = 0, magnitude = 0, mean = 0, deviations = 0;
  double real_minimum = 0, real_maximum = 0;

  void add(double number) {
    real_minimum = count == 0 ? number : std::min(real_minimum, number);
    real_maximum = count == 0 ? number : std::max(real_maximum, number);
    ++count;
    real_sum += number;
    magnitude += std::fabs(number);
    long double const difference = number - mean;
    mean += difference / static_cast<long double>(count);
    deviations += difference * (number - mean);
  }
  void add_whole(std::int64_t number) {
    minimum = count == 0 ? number : std::min(minimum, number);
    maximum = count == 0 ? number : std::max(maximum, number);
    sum += number;
    add(static_cast<double>(number));
  }
};
struct sequential_group {
  std::uint64_t rows = 0;
  std::vector<sequential_totals> columns;
};

/// A result, and how far a rounded one may be from it.
struct expectation {
  aggregated value;
  long double tolerance = 0;
};

expectation real_value(aggregate what, sequential_totals const& t) {
  auto const n = static_cast<long double>(t.count);
  // Error of n roundings, for numbers of this mean magnitude.
  long double const part = n * std::ldexp(1.0L, -50), mean = t.magnitude / n;
  auto const rounded = [](long double value) { return static_cast<double>(value); };
  switch (what) {
    case aggregate::minimum:
      return {t.real_minimum};
    case aggregate::maximum:
      return {t.real_maximum};
    case aggregate::mean:
      return {rounded(t.real_sum / n), part * mean};
    case aggregate::variance: {
      if (t.count < 2) return {};
      long double const variance = t.deviations / (n - 1);
      return {rounded(variance),
              part * (variance + mean * std::sqrt(variance)) + part * mean * part * mean};
    }
    default:
      return {rounded(t.real_sum), part * t.magnitude};
  }
}

expectation value(query const& q, output_column const& column, sequential_group const& group) {
  if (column.what == aggregate::rows) return {static_cast<int128>(group.rows)};
  sequential_totals const& t = group.columns[column.numbers];
  if (t.count == 0) return {};
  if (!q.numbers[column.numbers].is_real) {
    if (column.what == aggregate::minimum) return {static_cast<int128>(t.minimum)};
    if (column.what == aggregate::maximum) return {static_cast<int128>(t.maximum)};
    if (column.what == aggregate::sum || column.what == aggregate::wide_sum) return {t.sum};
  }
  return real_value(column.what, t);
}

bool is_equal(aggregated const& found, expectation const& wanted) {
  auto const* const f = std::get_if<double>(&found);
  auto const* const w = std::get_if<double>(&wanted.value);
  if (f == nullptr || w == nullptr) return found == wanted.value;
  return *f == *w || std::fabs(static_cast<long double>(*f) - *w) <= wanted.tolerance;
}

}  // namespace

std::string difference_from_sequential(aggregate_options const& o, groups const& found) {
  table_reader rows{o};
  query const& q = rows.columns();
  std::map<std::vector<std::string>, sequential_group> all;
  while (rows.next()) {
    std::vector<std::string> key;
    for (std::size_t const field : q.key_fields) key.emplace_back(rows.fields()[field]);
    sequential_group& group = all[key];
    ++group.rows;
    group.columns.resize(q.numbers.size());
    for (std::size_t i = 0; i < q.numbers.size(); ++i) {
      number_column const& c = q.numbers[i];
      std::string_view const field = rows.fields()[c.field];
      if (field.empty()) continue;
      if (c.is_real) {
        group.columns[i].add(real_in(field, c, rows.here()));
      } else {
        group.columns[i].add_whole(whole_in(field, c, rows.here()));
      }
    }
  }
  if (all.size() != found.keys.size()) {
    return std::to_string(found.keys.size()) + " groups, a sequential pass finds " +
           std::to_string(all.size());
  }
  std::vector<std::string_view> fields;
  for (group_keys::entry const* e : found.keys.entries()) {
    found.keys.split(e->first, fields);
    auto const group = all.find({fields.begin(), fields.end()});
    if (group == all.end())
      return "group " + found.name(q, e->first) + " is not found by a sequential pass";
    for (output_column const& column : q.outputs) {
      expectation const wanted = value(q, column, group->second);
      aggregated const is = found.value(q, column, e->second);
      if (is_equal(is, wanted)) continue;
      return column.title + " of group " + found.name(q, e->first) + " is " + to_text(is) +
             ", a sequential pass finds " + to_text(wanted.value);
    }
  }
  return {};
}

}  // namespace hash_table
