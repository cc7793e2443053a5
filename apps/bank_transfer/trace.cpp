// SPDX-License-Identifier: Apache-2.0
// Reading traces.

#include "apps/bank_transfer/trace.hpp"

#include "apps/support/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace bank_transfer {

namespace {

using apps::shown;
using apps::text_place;
using apps::whole_number;

constexpr std::string_view blanks = " \t\r";
constexpr std::array<std::string_view, 3> columns{"from", "to", "amount"};

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The fields of a line; refuses another number of them.
std::array<std::string_view, 3> fields_of(std::string_view line, text_place const& at) {
  auto const commas = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  if (commas + 1 != columns.size()) {
    at.refuse(std::to_string(commas + 1) + (commas == 0 ? " column" : " columns") +
              "; a transfer has 3: from,to,amount");
  }
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) {
    std::size_t const end = std::min(line.find(','), line.size());
    field = trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

std::uint32_t account_of(std::string_view text, std::string_view column, std::uint32_t accounts,
                         text_place const& at) {
  std::uint64_t const number = whole_number(text, column, at);
  if (number >= accounts) {
    at.refuse(std::string{column} + " " + shown(text) + " is not below " +
              std::to_string(accounts) + ", the number of accounts");
  }
  return static_cast<std::uint32_t>(number);
}

std::uint32_t amount_of(std::string_view text, text_place const& at) {
  std::uint64_t const cents = whole_number(text, columns[2], at);
  if (cents == 0 || cents > most_cents) {
    at.refuse("amount " + shown(text) + " is not from 1 to " + std::to_string(most_cents) +
              " cents");
  }
  return static_cast<std::uint32_t>(cents);
}

}  // namespace

trace read_trace(std::string const& path, std::uint32_t accounts) {
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error{path + ": cannot be read"};
  trace t;
  std::string text;
  for (text_place at{path, 1}; std::getline(in, text); ++at.line) {
    std::string_view line = text;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (at.line == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(3);
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    auto const fields = fields_of(line, at);
    if (t.size() == 0 && fields == columns) continue;
    std::uint32_t const from = account_of(fields[0], columns[0], accounts, at);
    std::uint32_t const to = account_of(fields[1], columns[1], accounts, at);
    t.add(from, to, amount_of(fields[2], at));
    if (t.size() > most_transfers)
      at.refuse("more than " + std::to_string(most_transfers) + " transfers");
  }
  if (in.bad()) throw std::runtime_error{path + ": cannot be read"};
  if (t.size() == 0) throw std::runtime_error{path + ": no transfers"};
  return t;
}

trace with_audits(trace const& t, std::uint32_t ordinary) {
  std::uint32_t const pairs = pairs_for(ordinary);
  trace all;
  std::uint32_t turn = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    all.add(t.from[i], t.to[i], t.amounts[i]);
    if (i % (operations_for_a_pair - 1) != operations_for_a_pair - 2) continue;
    std::uint32_t const first = ordinary + 2 * (turn / 2 % pairs);
    std::uint32_t const payer = turn / 2 / pairs % 2;
    bool const is_audit = turn % 2 == 1;
    all.add(first + payer, first + 1 - payer, is_audit ? 0 : 1 + turn % 100);
    ++turn;
  }
  return all;
}

}  // namespace bank_transfer
