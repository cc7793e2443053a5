// SPDX-License-Identifier: Apache-2.0
// Results of one program under several seeds.

#include <warden/simulation.hpp>

#include <sstream>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Restores the settings.
class settings_scope {
 public:
  settings_scope() = default;
  ~settings_scope() { configure(before_); }
  settings_scope(settings_scope const&) = delete;
  settings_scope& operator=(settings_scope const&) = delete;
  [[nodiscard]] settings with_seed(std::uint64_t seed) const {
    settings s = before_;
    s.seed = seed;
    s.order = seed % 2 == 0 ? schedule::pct : schedule::random;
    return s;
  }

 private:
  settings before_ = current_settings();
};

std::string quoted(std::string const& line) {
  constexpr std::size_t most = 60;
  return '"' + (line.size() <= most ? line : line.substr(0, most) + "...") + '"';
}

/// Names the first line in which two different texts differ.
std::string difference(std::string const& a, std::string const& b) {
  std::istringstream left{a}, right{b};
  std::string left_line, right_line;
  unsigned number = 0;
  do {
    ++number;
    left_line.clear();
    right_line.clear();
    std::getline(left, left_line);
    std::getline(right, right_line);
  } while (left_line == right_line && (left || right));
  return "in line " + std::to_string(number) + ": " + quoted(left_line) + " and " +
         quoted(right_line);
}

}  // namespace

std::string compare_seeds(std::uint64_t first, std::uint64_t end,
                          std::function<std::string()> const& run) {
  settings_scope const scope;
  std::string expected;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    configure(scope.with_seed(seed));
    std::string const result = run();
    if (seed == first) expected = result;
    if (result == expected) continue;
    return "no race found; results differ between seeds " + std::to_string(first) + " and " +
           std::to_string(seed) + ", first " + difference(expected, result);
  }
  return "";
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
