// SPDX-License-Identifier: Apache-2.0
// Finds columns by name or number.

#include "apps/hash_table/aggregate/query.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace hash_table {

namespace {

/// Finds the columns of one file.
class column_names {
 public:
  column_names(aggregate_options const& o, std::vector<std::string_view> const& first)
      : o_{o}, first_{first} {}

  /// Returns the index of a column from 0 on.
  [[nodiscard]] std::size_t index(std::string const& column) const {
    if (!o_.no_header) {
      auto const found = std::find(first_.begin(), first_.end(), column);
      if (found != first_.end()) {
        if (std::find(found + 1, first_.end(), column) != first_.end())
          refuse(column, "is the name of several columns; give the number of one");
        return static_cast<std::size_t>(found - first_.begin());
      }
    }
    std::size_t number = 0;
    char const* const end = column.data() + column.size();
    auto const [stop, error] = std::from_chars(column.data(), end, number);
    if (stop != end || error != std::errc{} || number == 0 || number > first_.size()) {
      refuse(column, (o_.no_header ? "is not" : "is neither a name in the first row nor") +
                         (" a number from 1 to " + std::to_string(first_.size())));
    }
    return number - 1;
  }
  /// Returns the title of a column in the output: its name, or its number.
  [[nodiscard]] std::string title(std::size_t index) const {
    return o_.no_header ? std::to_string(index + 1) : std::string{first_[index]};
  }

 private:
  [[noreturn]] void refuse(std::string const& column, std::string const& what) const {
    throw std::runtime_error{o_.file + ": column \"" + apps::shown(column) + "\" " + what};
  }

  aggregate_options const& o_;
  std::vector<std::string_view> const& first_;
};

}  // namespace

query::query(aggregate_options const& o, std::vector<std::string_view> const& first)
    : counts_rows{o.counts_rows} {
  column_names const names{o, first};
  for (std::string const& key : o.keys) {
    key_fields.push_back(names.index(key));
    key_titles.push_back(names.title(key_fields.back()));
  }
  std::vector<bool> is_real(first.size());
  for (std::string const& real : o.reals) is_real[names.index(real)] = true;
  auto const number = [&](std::size_t field) {
    std::size_t i = 0;
    while (i < numbers.size() && numbers[i].field != field) ++i;
    if (i == numbers.size()) numbers.push_back({field, names.title(field), is_real[field]});
    return i;
  };
  if (o.counts_rows) outputs.push_back({aggregate::rows, 0, "count"});
  auto const add = [&](aggregate what, char const* title, std::vector<std::string> const& of) {
    for (std::string const& column : of) {
      std::size_t const i = number(names.index(column));
      number_column& n = numbers[i];
      if (what == aggregate::wide_sum && n.is_real) {
        throw std::runtime_error{"--sum128: column \"" + n.name +
                                 "\" is --real; a sum of 128 bits is for whole numbers: use --sum"};
      }
      outputs.push_back({what, i, title + ("(" + n.name + ")")});
      bool const is_in_real = n.is_real || what == aggregate::variance;
      std::uint32_t& at = is_in_real ? n.real : n.whole;
      std::size_t& columns = is_in_real ? real_columns : whole_columns;
      if (at == number_column::none) at = static_cast<std::uint32_t>(columns++);
    }
  };
  add(aggregate::sum, "sum", o.sums);
  add(aggregate::wide_sum, "sum", o.wide_sums);
  add(aggregate::minimum, "min", o.minima);
  add(aggregate::maximum, "max", o.maxima);
  add(aggregate::mean, "mean", o.means);
  add(aggregate::variance, "variance", o.variances);
  if (o.counts_rows) ++whole_columns;
  if (outputs.empty()) {
    throw std::runtime_error{
        "nothing to aggregate; give --count, --sum, --sum128, --min, --max, --mean or --variance"};
  }
}

std::int64_t whole_in(std::string_view field, number_column const& column,
                      apps::text_place const& at) {
  std::int64_t value = 0;
  char const* const end = field.data() + field.size();
  auto const [stop, error] = std::from_chars(field.data(), end, value);
  if (stop == end && error == std::errc{}) return value;
  at.refuse("column \"" + column.name + "\": \"" + apps::shown(field) +
            "\" is not a whole number of 64 bits; give --real " + column.name +
            " if the column has fractions");
}

double real_in(std::string_view field, number_column const& column, apps::text_place const& at) {
  double const value = apps::real_number(field, "column \"" + column.name + "\":", at);
  if (std::isfinite(value)) return value;
  at.refuse("column \"" + column.name + "\": \"" + apps::shown(field) +
            "\" is not a finite number; the largest is 1.797e308");
}

}  // namespace hash_table
