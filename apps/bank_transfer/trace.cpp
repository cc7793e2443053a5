// SPDX-License-Identifier: Apache-2.0
// Reads traces.

#include "apps/bank_transfer/trace.hpp"

#include "apps/text/line_reader.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace bank_transfer {

namespace {

using apps::text_place;

constexpr std::array<std::string_view, 3> columns{"from", "to", "amount"};

/// Returns the fields of a line; refuses a line without exactly three fields.
std::array<std::string_view, 3> fields_of(std::string_view line, text_place const& at) {
  auto const commas = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  if (commas + 1 != columns.size()) {
    at.refuse(std::to_string(commas + 1) + (commas == 0 ? " column" : " columns") +
              "; a transfer has 3: from,to,amount");
  }
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) {
    std::size_t const end = std::min(line.find(','), line.size());
    field = apps::trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

}  // namespace

trace read_trace(std::string const& path, std::uint32_t accounts) {
  apps::line_reader lines{path};
  trace t;
  std::string const remark = ", as there are " + std::to_string(accounts) + " accounts";
  std::string_view line;
  while (lines.next_data(line, "#")) {
    text_place const at = lines.here();
    auto const fields = fields_of(line, at);
    if (t.size() == 0 && fields == columns) continue;
    auto const number = [&](std::size_t i, apps::number_limits const& limits) {
      return static_cast<std::uint32_t>(apps::whole_number(fields[i], columns[i], limits, at));
    };
    std::uint32_t const from = number(0, {0, accounts - std::uint64_t{1}, remark}),
                        to = number(1, {0, accounts - std::uint64_t{1}, remark});
    t.add(from, to, number(2, {1, most_cents, " cents"}));
    if (t.size() > most_transfers)
      at.refuse("more than " + std::to_string(most_transfers) + " transfers");
  }
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
