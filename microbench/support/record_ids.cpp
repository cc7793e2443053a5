// SPDX-License-Identifier: Apache-2.0
// Reads record ids.

#include "microbench/support/record_ids.hpp"

#include "apps/text/line_reader.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace bench {

std::vector<std::uint32_t> read_ids(std::string const& path) {
  constexpr std::string_view separators = " \t,";
  apps::line_reader lines{path};
  std::vector<std::uint64_t> numbers;
  std::string_view line;
  while (lines.next_data(line, "#")) {
    for (std::size_t at = 0; (at = line.find_first_not_of(separators, at)) != line.npos;) {
      std::size_t const end = std::min(line.find_first_of(separators, at), line.size());
      constexpr apps::number_limits limits{0, std::numeric_limits<std::uint64_t>::max()};
      numbers.push_back(
          apps::whole_number(line.substr(at, end - at), "record id", limits, lines.here()));
      at = end;
    }
  }
  if (numbers.empty()) throw std::runtime_error{path + ": no record ids"};
  auto sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint32_t> ids;
  ids.reserve(numbers.size());
  for (std::uint64_t v : numbers) {
    ids.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), v) -
                                             sorted.begin()));
  }
  return ids;
}

}  // namespace bench
