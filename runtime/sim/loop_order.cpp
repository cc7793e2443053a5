// SPDX-License-Identifier: Apache-2.0
// Check of sections that a loop sends in order: two elements for one record have the order of their
// indexes.

#include "machine.hpp"

#include <iterator>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

void machine::note_loop_order(device::ordered_record const& to, std::uint64_t index,
                              std::uint64_t call, device::site const& where) {
  auto& sends = running_->loops[to];
  auto const own =
      sends.insert_or_assign({current_->home->rank, call, current_->rank}, loop_send{index, where})
          .first;
  auto const demand = [&](loop_send const& first, loop_send const& second) {
    if (first.index <= second.index) return;
    auto const name = [](loop_send const& s) {
      return "index " + std::to_string(s.index) + " (sent at " + to_string(s.where) + ")";
    };
    misuse("order::sequential: on record " + std::to_string(to.record) + ", " + name(first) +
               " would run before " + name(second) +
               ", because sections run in the order of blocks and of their calls: give each block "
               "one contiguous range of indexes, as for_each does",
           where);
  };
  // The sends noted before are in order, so both neighbours tell.
  if (own != sends.begin()) demand(std::prev(own)->second, own->second);
  if (std::next(own) != sends.end()) demand(own->second, std::next(own)->second);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
