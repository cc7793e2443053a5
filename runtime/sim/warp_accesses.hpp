// SPDX-License-Identifier: Apache-2.0
// Accesses of whole warps to memory, put together from those of their lanes, and their cost on a
// GPU: bank conflicts and sectors. See docs/memory-report.md.
#pragma once

#include "launch_state.hpp"

#include <warden/simt/host_abi.hpp>
#include <warden/simt/sim_device.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

enum class access_effect : unsigned char { load, store, atomic };

/// The lanes of a warp that access memory together, in the order of lanes.
struct warp_access {
  std::uint32_t lanes = 0;  ///< the lanes that take part
  unsigned size = 0;        ///< bytes of the widest lane
  std::array<std::uintptr_t, 32> address{};
};

/// Returns the number of times that shared memory serves the access again because lanes of one pass
/// need different words of a bank. A pass has 32 lanes, of 8-byte accesses 16, of 16-byte ones 8.
/// Lanes of an atomic on one word count as lanes with different words.
std::uint64_t bank_conflicts(warp_access const& access, access_effect effect);
/// Sectors of 32 bytes of an access, and the number that its distinct bytes fill.
struct sector_count {
  std::uint64_t touched = 0, ideal = 0;
};
sector_count sectors_of(warp_access const& access);

/// Place of an access: one of compiled code, or one of the platform layer.
struct access_origin {
  place_id place = 0;  ///< 0: `site` is the place
  device::site site{};
  bool is_shared = false;
  access_effect effect = access_effect::load;
};

/// The accesses of a machine's launches. Lanes access together if they come from one place, have
/// last met at the same barrier or collective, and have come there as often since.
class warp_accesses {
 public:
  void note(thread const& t, access_origin const& from, std::uintptr_t address, unsigned size);
  /// Notes that these threads have met: their next accesses are later ones.
  void meet(std::span<thread* const> threads);
  /// Ends the accesses of a block whose threads have ended.
  void end_block(block const& b);

 private:
  /// Accesses from one place after one meeting.
  struct line {
    access_origin from;
    std::array<std::uint32_t, 32> visits{};  ///< [lane]
    std::vector<warp_access> accesses;       ///< [visit]
  };
  struct warp_lines {
    std::array<std::uint64_t, 32> meeting{};  ///< [lane] number of its last meeting; 0: none
    std::unordered_map<std::uint64_t, line> lines;
  };
  static void close(warp_lines& w);

  std::unordered_map<warp_state const*, warp_lines> warps_;
  std::uint64_t meetings_ = 0;
};

/// Names an access, a launch or a copy that the report does not count. `reason` is a clause.
void note_uncounted(access_origin const& from, char const* reason);
/// True if the settings or WARDEN_SIM_REPORT ask for the report. Throws limit_error if that
/// variable names another report.
bool reports_memory(settings const& chosen);

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
