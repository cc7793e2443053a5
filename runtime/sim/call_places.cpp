// SPDX-License-Identifier: Apache-2.0
// Numbers of places, and their names in messages.

#include "call_places.hpp"

#include "call_stack.hpp"

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

call_places& places() {
  static call_places all;
  return all;
}

place_id call_places::insert(place const& p) {
  auto const [entry, is_new] = numbers_.try_emplace(p, static_cast<place_id>(places_.size()));
  if (is_new) places_.push_back(p);
  return entry->second;
}

std::vector<void const*> call_places::addresses(place_id place) const {
  std::vector<void const*> all;
  for (; place != 0; place = places_[place].from)
    all.push_back(reinterpret_cast<void const*>(places_[place].return_address));
  return all;
}

std::string call_places::text(place_id place) const {
  return to_string(frames_of(addresses(place)));
}

std::string call_places::line(place_id place) const {
  std::vector<frame> const frames = frames_of(addresses(place));
  if (frames.empty()) return "??";
  frame const& f = frames.front();
  if (f.file.empty()) return f.function;
  return f.file.substr(f.file.rfind('/') + 1) + ":" + std::to_string(f.line);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
