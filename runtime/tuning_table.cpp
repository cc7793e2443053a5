// SPDX-License-Identifier: Apache-2.0
// Tuning tables: lines of a key and a value, and comments that begin with #.

#include <warden/error.hpp>
#include <warden/tuning_table.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

struct limited_value {
  char const* name;
  unsigned tuning_table::*member;
  unsigned least, most;
};
// A shard holds at least one large batch. The numbers of partitions are powers of two.
constexpr std::array values{
    limited_value{"sections_per_shard", &tuning_table::sections_per_shard, 1u << 12, 1u << 26},
    limited_value{"most_shards", &tuning_table::most_shards, 1, 256},
    limited_value{"record_bytes_per_section", &tuning_table::record_bytes_per_section, 1, 1u << 12},
    limited_value{"on_chip_bytes", &tuning_table::on_chip_bytes, 0, 1u << 20},
    limited_value{"partitions_in_memory", &tuning_table::partitions_in_memory, 1, 16},
    limited_value{"records_per_split_section", &tuning_table::records_per_split_section, 1,
                  1u << 12},
    limited_value{"split_part_bytes", &tuning_table::split_part_bytes, 1u << 10, 1u << 20}};

// Keys of the device and of Warden, in the order in which a table has them.
constexpr std::array origins{"gpu", "compute_capability", "driver", "warden"};

std::string origin_of(std::string const& key, std::source_location where) {
  if (key == "gpu") return runtime::facts(runtime::current_device(where), where).name;
  if (key == "warden") {
    return std::to_string(WARDEN_VERSION_MAJOR) + "." + std::to_string(WARDEN_VERSION_MINOR) + "." +
           std::to_string(WARDEN_VERSION_PATCH);
  }
  // The simulated device has no details.
  for (auto const& [name, value] : runtime::device_details(where))
    if (name == (key == "driver" ? "driver_cuda" : key)) return value;
  return "0.0";
}

// Returns the part of an origin that must be the same.
std::string compared(std::string const& key, std::string const& value) {
  return key == "driver" ? value.substr(0, value.find('.')) : value;
}

[[noreturn]] void refuse(std::string const& what, std::source_location where) {
  throw limit_error{"tuning table: " + what + "; write a new table by ./warden tune", where};
}

void check(limited_value const& of, unsigned value, std::string const& place,
           std::source_location where) {
  if (value >= of.least && value <= of.most) return;
  refuse(place + of.name + " is " + std::to_string(value) + "; the limits are " +
             std::to_string(of.least) + " and " + std::to_string(of.most),
         where);
}

struct read_table {
  std::map<std::string, std::string> origin;
  tuning_table values;
};

read_table read(std::string const& path, std::source_location where) {
  std::ifstream file{path};
  if (!file || std::filesystem::is_directory(path)) refuse(path + " cannot be read", where);
  read_table table;
  std::map<std::string, std::string> found;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    std::string const place = path + ":" + std::to_string(number) + ": ";
    auto const space = line.find(' ');
    if (space == std::string::npos) refuse(place + "not a key, a space and a value", where);
    std::string const key = line.substr(0, space);
    if (!found.emplace(key, line.substr(space + 1)).second)
      refuse(place + key + " is there twice", where);
  }
  auto const take = [&](char const* key) {
    auto const place = found.find(key);
    if (place == found.end()) refuse(path + " has no " + key, where);
    std::string const value = place->second;
    found.erase(place);
    return value;
  };
  for (char const* key : origins) table.origin[key] = take(key);
  for (limited_value const& of : values) {
    std::string const text = take(of.name);
    unsigned& value = table.values.*of.member;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      refuse(path + ": " + of.name + " is \"" + text + "\"; the limits are " +
                 std::to_string(of.least) + " and " + std::to_string(of.most),
             where);
    }
    check(of, value, path + ": ", where);
  }
  if (!found.empty()) refuse(path + ": unknown key " + found.begin()->first, where);
  return table;
}

// The values that the process uses, for devices of one name.
struct {
  std::mutex mutex;
  bool is_set = false;  // false until values were set, or the environment variable was read
  std::string gpu;
  std::optional<tuning_table> values;
} used;

// Returns false if the table is of another origin. Precondition: the mutex is held.
bool load(std::string const& path, std::source_location where) {
  read_table const table = read(path, where);
  for (char const* key : origins) {
    std::string const mine = origin_of(key, where), its = table.origin.at(key);
    if (compared(key, mine) == compared(key, its)) continue;
    std::fprintf(stderr,
                 "warden: tuning table %s is ignored: its %s is %s, and here it is %s; write a new "
                 "table by ./warden tune\n",
                 path.c_str(), key, its.c_str(), mine.c_str());
    return false;
  }
  used.gpu = table.origin.at("gpu");
  used.values = table.values;
  return true;
}

}  // namespace

tuning_table usual_tuning(runtime::device_facts const& device) {
  // results/h100/tuning.txt
  constexpr tuning_table hopper{.sections_per_shard = 65536,
                                .most_shards = 128,
                                .record_bytes_per_section = 32,
                                .on_chip_bytes = 8192,
                                .partitions_in_memory = 2,
                                .records_per_split_section = 4,
                                .split_part_bytes = 65536};
  if (device.compute_capability == 90) return hopper;
  tuning_table table;
  // The level-1 cache is in the same memory as shared memory. A block that runs the log has most of
  // that.
  table.split_part_bytes = static_cast<unsigned>(std::clamp<std::size_t>(
      std::bit_ceil(device.shared_bytes_per_multiprocessor / 8), 8u << 10, 64u << 10));
  return table;
}

tuning_table current_tuning(int device, std::source_location where) {
  auto const facts = runtime::facts(device, where);
  std::lock_guard const lock{used.mutex};
  if (!used.is_set) {
    runtime::device_scope const scope{device, where};
    char const* const path = std::getenv("WARDEN_TUNING");
    if (path != nullptr && *path != '\0') load(path, where);
    used.is_set = true;
  }
  return used.values && used.gpu == facts.name ? *used.values : usual_tuning(facts);
}

void set_tuning(tuning_table const& table, std::source_location where) {
  for (limited_value const& of : values) check(of, table.*of.member, "", where);
  std::string const gpu = origin_of("gpu", where);
  std::lock_guard const lock{used.mutex};
  used.is_set = true;
  used.gpu = gpu;
  used.values = table;
}

bool load_tuning(std::string const& path, std::source_location where) {
  std::lock_guard const lock{used.mutex};
  bool const is_used = load(path, where);
  used.is_set = used.is_set || is_used;
  return is_used;
}

std::string to_string(tuning_table const& table, std::source_location where) {
  std::ostringstream text;
  for (char const* key : origins) text << key << ' ' << origin_of(key, where) << '\n';
  for (limited_value const& of : values) text << of.name << ' ' << table.*of.member << '\n';
  return text.str();
}

WARDEN_HOST_NAMESPACE_END
