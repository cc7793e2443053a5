// SPDX-License-Identifier: Apache-2.0
// Puts the accesses of lanes together to accesses of warps, and counts what they cost.

#include "warp_accesses.hpp"

#include "memory_report.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr unsigned bank_bytes = 4;
constexpr unsigned banks = 32;
constexpr unsigned sector_bytes = 32;

std::uint64_t mixed(std::uint64_t key, std::uint64_t more) {
  key = (key ^ more) * 0x9e3779b97f4a7c15ull;
  return key ^ key >> 29;
}

/// Returns a number of the place, of the lane's last meeting and of the kind of access.
std::uint64_t key_of(thread const& t, access_origin const& from, std::uint64_t meeting) {
  std::uint64_t key = mixed(meeting, static_cast<std::uint64_t>(from.effect) << 1 |
                                         static_cast<std::uint64_t>(from.is_shared));
  if (from.place != 0) return mixed(key, from.place);
  key = mixed(key, reinterpret_cast<std::uintptr_t>(from.site.file_name()));
  key = mixed(key, std::uint64_t{from.site.line()} << 32 | from.site.column());
  // One line of an inlined function is several places.
  return mixed(key, t.calls);
}

}  // namespace

std::uint64_t bank_conflicts(warp_access const& access, access_effect effect) {
  unsigned const words = std::max(1u, access.size / bank_bytes);
  unsigned const pass_lanes = banks / words;
  std::uint64_t conflicts = 0;
  for (unsigned first = 0; first < 32; first += pass_lanes) {
    std::array<std::vector<std::uintptr_t>, banks> wanted;
    for (unsigned lane = first; lane < first + pass_lanes; ++lane) {
      if ((access.lanes >> lane & 1u) == 0) continue;
      for (unsigned w = 0; w < words; ++w) {
        std::uintptr_t const word = access.address[lane] / bank_bytes + w;
        wanted[word % banks].push_back(word);
      }
    }
    std::size_t most = 1;
    for (std::vector<std::uintptr_t>& bank : wanted) {
      if (effect != access_effect::atomic) {
        std::sort(bank.begin(), bank.end());
        bank.erase(std::unique(bank.begin(), bank.end()), bank.end());
      }
      most = std::max(most, bank.size());
    }
    conflicts += most - 1;
  }
  return conflicts;
}

sector_count sectors_of(warp_access const& access) {
  std::vector<std::uintptr_t> begins;
  for (unsigned left = access.lanes; left != 0; left &= left - 1)
    begins.push_back(access.address[static_cast<unsigned>(std::countr_zero(left))]);
  std::sort(begins.begin(), begins.end());
  sector_count count;
  std::uint64_t bytes = 0;
  std::uintptr_t end = 0, sectors_end = 0;
  for (std::uintptr_t const begin : begins) {
    std::uintptr_t const new_end = std::max(end, begin + access.size);
    bytes += new_end - std::max(end, begin);
    end = new_end;
    std::uintptr_t const first = std::max(sectors_end, begin / sector_bytes);
    sectors_end = std::max(first, (begin + access.size + sector_bytes - 1) / sector_bytes);
    count.touched += sectors_end - first;
  }
  count.ideal = (bytes + sector_bytes - 1) / sector_bytes;
  return count;
}

void warp_accesses::note(thread const& t, access_origin const& from, std::uintptr_t address,
                         unsigned size) {
  unsigned const lane = t.rank % 32;
  warp_lines& w = warps_[t.warp];
  line& l = w.lines[key_of(t, from, w.meeting[lane])];
  l.from = from;
  std::uint32_t const visit = l.visits[lane]++;
  if (l.accesses.size() <= visit) l.accesses.resize(visit + 1);
  warp_access& access = l.accesses[visit];
  access.lanes |= 1u << lane;
  access.size = std::max(access.size, size);
  access.address[lane] = address;
}

void warp_accesses::meet(std::span<thread* const> threads) {
  // One number for all that meet, so lanes that met apart stay apart.
  ++meetings_;
  std::unordered_map<warp_state*, std::uint32_t> came;
  for (thread const* t : threads) {
    unsigned const lane = t->rank % 32;
    warps_[t->warp].meeting[lane] = meetings_;
    came[t->warp] |= 1u << lane;
  }
  // No lane of a whole warp comes back to an earlier meeting.
  for (auto const& [warp, lanes] : came) {
    if (lanes == (warp->lanes & ~warp->ended)) close(warps_[warp]);
  }
}

void warp_accesses::end_block(block const& b) {
  for (auto w = warps_.begin(); w != warps_.end();) {
    unsigned const first = w->first->first_thread;
    bool const ends = first >= b.first_thread && first < b.first_thread + b.threads;
    if (ends) close(w->second);
    w = ends ? warps_.erase(w) : std::next(w);
  }
}

/// Counts all accesses so far.
void warp_accesses::close(warp_lines& w) {
  for (auto const& [key, l] : w.lines) {
    access_costs costs;
    for (warp_access const& access : l.accesses) {
      ++costs.accesses;
      if (l.from.is_shared) {
        costs.conflicts += bank_conflicts(access, l.from.effect);
      } else {
        sector_count const sectors = sectors_of(access);
        costs.sectors += sectors.touched;
        costs.ideal_sectors += sectors.ideal;
      }
    }
    add_to_report(l.from, costs);
  }
  w.lines.clear();
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
