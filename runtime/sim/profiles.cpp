// SPDX-License-Identifier: Apache-2.0
// Limits of the compute capabilities that a simulated device can have.

#include <warden/error.hpp>
#include <warden/simulation.hpp>

#include <cstdlib>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {
namespace {

constexpr std::size_t kb = 1024;
/// [CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; clusters of more
/// than 8 blocks: "Thread Block Clusters"; bulk copies: "Asynchronous Data Copies"]
constexpr device_profile profiles[] = {
    // threads, blocks, cluster, registers, shared memory of a multiprocessor, a block, reserved,
    // bulk copies
    {"default", 2048, 8, 16, 65536, 228 * kb, 227 * kb, kb, true},
    {"7.5", 1024, 16, 1, 65536, 64 * kb, 64 * kb, 0, false},
    {"8.0", 2048, 32, 1, 65536, 164 * kb, 163 * kb, kb, false},
    {"8.6", 1536, 16, 1, 65536, 100 * kb, 99 * kb, kb, false},
    {"8.9", 1536, 24, 1, 65536, 100 * kb, 99 * kb, kb, false},
    {"9.0", 2048, 32, 16, 65536, 228 * kb, 227 * kb, kb, true},
    {"10.0", 2048, 32, 16, 65536, 228 * kb, 227 * kb, kb, true},
    {"12.0", 1536, 24, 8, 65536, 100 * kb, 99 * kb, kb, true},
};

}  // namespace

device_profile const& find_profile(std::string_view name) {
  std::string names;
  for (device_profile const& one : profiles) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string{one.name};
  }
  throw limit_error{"WARDEN_SIM_PROFILE: no profile \"" + std::string{name} + "\"; there are " +
                    names};
}
device_profile const& chosen_profile() {
  char const* const name = std::getenv("WARDEN_SIM_PROFILE");
  return find_profile(name == nullptr ? "default" : name);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
