// SPDX-License-Identifier: Apache-2.0
// The program's memory report, its text, and the environment variable that prints it.

#include "memory_report.hpp"

#include "machine.hpp"
#include "streams.hpp"

#include <warden/error.hpp>
#include <warden/simulation.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// A place with the kind of its accesses. Names of lines are looked up when the report is read.
using origin_key = std::tuple<place_id, std::string_view, std::uint32_t, bool, access_effect>;

struct totals {
  std::map<origin_key, access_costs> costs;
  std::set<std::string> uncounted;
};
totals& all() {
  // Never destroyed: see streams.
  static totals& t = *new totals;
  return t;
}

std::string line_of(place_id place, std::string_view file, std::uint32_t line) {
  if (place != 0) return places().line(place);
  return std::string{file.substr(file.rfind('/') + 1)} + ":" + std::to_string(line);
}

char const* name_of(access_effect effect) {
  switch (effect) {
    case access_effect::load:
      return "load";
    case access_effect::store:
      return "store";
    case access_effect::atomic:
      return "atomic";
  }
  return "";
}

std::string padded(std::string const& text, std::size_t width, bool left) {
  std::string const fill(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + fill : fill + text;
}
std::string row(std::string const& name, std::string const& a, std::string const& b,
                std::string const& c) {
  return "  " + padded(name, 36, true) + padded(a, 12, false) + padded(b, 12, false) +
         (c.empty() ? "" : padded(c, 12, false)) + "\n";
}

/// The rows of one kind of memory, those that cost most first.
std::string table_of(std::vector<line_accesses> lines, bool shared) {
  std::erase_if(lines, [&](line_accesses const& l) { return l.shared != shared; });
  if (lines.empty()) return "";
  auto const cost = [&](line_accesses const& l) { return shared ? l.conflicts : l.sectors; };
  std::stable_sort(lines.begin(), lines.end(), [&](line_accesses const& x, line_accesses const& y) {
    return cost(x) > cost(y);
  });
  std::string text = shared ? row("shared memory", "accesses", "conflicts", "")
                            : row("global memory", "accesses", "sectors", "ideal");
  for (line_accesses const& l : lines) {
    text += row(l.line + " " + l.effect, std::to_string(l.accesses), std::to_string(cost(l)),
                shared ? "" : std::to_string(l.ideal_sectors));
  }
  return text;
}

/// Prints the report when the program ends.
void print_at_exit() {
  // Objects that exist before the registration are destroyed after the report.
  static_cast<void>(places());
  std::atexit([] { std::fputs(to_text(memory_report()).c_str(), stderr); });
}

bool environment_asks() {
  static bool const asks = [] {
    char const* const name = std::getenv("WARDEN_SIM_REPORT");
    if (name == nullptr || *name == '\0') return false;
    if (std::string_view{name} != "memory") {
      throw limit_error(std::string{"WARDEN_SIM_REPORT: no report \""} + name +
                        "\"; there is memory");
    }
    print_at_exit();
    return true;
  }();
  return asks;
}

}  // namespace

void add_to_report(access_origin const& from, access_costs const& costs) {
  bool const is_place = from.place != 0;
  access_costs& sum = all().costs[{from.place, is_place ? "" : from.site.file_name(),
                                   is_place ? 0 : from.site.line(), from.is_shared, from.effect}];
  sum.accesses += costs.accesses;
  sum.conflicts += costs.conflicts;
  sum.sectors += costs.sectors;
  sum.ideal_sectors += costs.ideal_sectors;
}

void note_uncounted(access_origin const& from, char const* reason) {
  all().uncounted.insert(line_of(from.place, from.site.file_name(), from.site.line()) + ": " +
                         reason);
}

bool reports_memory(settings const& chosen) { return environment_asks() || chosen.report_memory; }

memory_lines memory_report() {
  auto const lock = lock_device();
  all_streams().finish_all();
  memory_lines report;
  std::map<std::tuple<std::string, bool, access_effect>, access_costs> by_line;
  for (auto const& [key, costs] : all().costs) {
    auto const& [place, file, line, shared, effect] = key;
    access_costs& sum = by_line[{line_of(place, file, line), shared, effect}];
    sum.accesses += costs.accesses;
    sum.conflicts += costs.conflicts;
    sum.sectors += costs.sectors;
    sum.ideal_sectors += costs.ideal_sectors;
  }
  for (auto const& [key, sum] : by_line) {
    auto const& [line, shared, effect] = key;
    report.lines.push_back({line, name_of(effect), shared, sum.accesses, sum.conflicts, sum.sectors,
                            sum.ideal_sectors});
  }
  report.uncounted.assign(all().uncounted.begin(), all().uncounted.end());
  return report;
}

void clear_memory_report() {
  auto const lock = lock_device();
  all_streams().finish_all();
  all() = {};
}

std::string to_text(memory_lines const& report) {
  std::string text = "memory report: accesses of warps, by line\n";
  text += table_of(report.lines, true) + table_of(report.lines, false);
  if (!report.uncounted.empty()) text += "  not counted\n";
  for (std::string const& line : report.uncounted) text += "    " + line + "\n";
  return text;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
