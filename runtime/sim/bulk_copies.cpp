// SPDX-License-Identifier: Apache-2.0
// Bulk copies of the simulated device. A copy reads and writes 16 bytes at a time, in any order and
// at any time between its start and the end of its phase, as the seed chooses. Its reads return any
// value that the starting thread could have read at the start, or a later one.

#include "bulk_copies.hpp"

#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr unsigned piece_bytes = 16;
constexpr unsigned most_phase_bytes = (1u << 20) - 1;
constexpr unsigned most_arrivals = 1024;

bool is_aligned(void const* address, unsigned alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

// ---- barriers

/// Returns the state of a barrier that the current block has initialized.
phase_state& machine::demand_phases(void const* barrier, device::site const& where) {
  auto const found = copies_.barriers.find(barrier);
  if (found == copies_.barriers.end() || found->second.home != current_->home)
    misuse("the barrier of phases in " + name_of(barrier, 8) +
               " is used before its init, or after its end",
           where);
  auto const image = found->second.image();
  if (std::memcmp(barrier, image.data(), sizeof(image)) != 0)
    misuse("the barrier of phases in " + name_of(barrier, 8) +
               " has been overwritten; end it before its memory has another use",
           where);
  return found->second;
}

void machine::init_phases(void* barrier, unsigned arrivals, device::site const& where) {
  step(device::operation::shared, where);
  if (!is_shared(barrier, 8) || !is_aligned(barrier, 8))
    misuse("init of a barrier of phases in " + name_of(barrier, 8) +
               "; it takes 8 bytes of the block's shared memory, aligned to 8",
           where);
  if (arrivals == 0 || arrivals > most_arrivals)
    misuse("init of a barrier of phases for " + std::to_string(arrivals) +
               " arrivals; the limits are 1 and " + std::to_string(most_arrivals),
           where);
  thread const& t = *current_;
  if (!copies_.barriers.try_emplace(barrier, phase_state{t.home, t.number, arrivals, arrivals})
           .second)
    misuse("init of the barrier of phases in " + name_of(barrier, 8) +
               ", which is in use; end it before",
           where);
  note_phases(barrier);
}

/// Stores what the barrier holds now.
void machine::note_phases(void* barrier) {
  auto const image = copies_.barriers.at(barrier).image();
  std::memcpy(barrier, image.data(), sizeof(image));
  changed();
  written(barrier);
}

void machine::end_phases(void* barrier, device::site const& where) {
  step(device::operation::shared, where);
  phase_state const& p = demand_phases(barrier, where);
  if (p.missing_threads != p.arrivals || p.missing_bytes != 0 ||
      std::ranges::any_of(copies_.under_way,
                          [&](bulk_copy const& c) { return c.barrier == barrier; }))
    misuse("end of the barrier of phases in " + name_of(barrier, 8) + ", which waits for " +
               p.missing() + "; wait for the phase before",
           where);
  copies_.barriers.erase(barrier);
}

void machine::fence_copies(device::site const& where) {
  step(device::operation::fence, where);
  ++report_.counts.fences;
  for (auto& [barrier, p] : copies_.barriers)
    p.known_to_copies = p.known_to_copies || p.thread == current_->number;
}

void machine::arrive(void* barrier, unsigned bytes, device::site const& where) {
  step(device::operation::shared, where);
  phase_state& p = demand_phases(barrier, where);
  if (p.missing_threads == 0)
    misuse("more than the " + std::to_string(p.arrivals) + " arrivals of phase " +
               std::to_string(p.phase) + " of the barrier in " + name_of(barrier, 8),
           where);
  if (p.missing_bytes + bytes > most_phase_bytes)
    misuse("a phase of " + std::to_string(p.missing_bytes + bytes) + " bytes; the limit is " +
               std::to_string(most_phase_bytes) + ": use more phases",
           where);
  thread& t = *current_;
  p.released = join(p.released, t.order.here(), static_cast<unsigned>(threads_.size()));
  --p.missing_threads;
  p.missing_bytes += bytes;
  if (std::string const fault = end_phase_if_complete(p, barrier); !fault.empty())
    misuse(fault, where);
  note_phases(barrier);
}

/// Returns the fault of a phase that cannot end rightly; empty if there is none.
std::string machine::end_phase_if_complete(phase_state& p, void const* barrier) {
  if (p.missing_threads != 0 || p.missing_bytes > 0) return "";
  bool const has_copies = std::ranges::any_of(
      copies_.under_way, [&](bulk_copy const& c) { return c.barrier == barrier; });
  if (p.missing_bytes < 0 || has_copies)
    return "phase " + std::to_string(p.phase) + " of the barrier in " + name_of(barrier, 8) +
           " has copies of more bytes than its arrivals announced";
  ++p.phase;
  p.missing_threads = p.arrivals;
  p.completed = p.released;
  return "";
}

bool machine::phase_is_complete(void const* barrier, std::uint32_t phase,
                                device::site const& where) {
  step(device::operation::shared, where);
  phase_state const& p = demand_phases(barrier, where);
  thread& t = *current_;
  auto const ended = static_cast<std::int32_t>(p.phase - phase);
  if (ended < 0 || ended > 1)
    misuse("a wait for phase " + std::to_string(phase) + " of the barrier in " +
               name_of(barrier, 8) + ", whose phase " + std::to_string(p.phase) +
               " has not ended; a GPU tells only the current phase from the one before",
           where);
  if (ended == 1 && !wants_older(t)) {
    t.order.learn(p.completed);
    return true;
  }
  polled(barrier, 8, std::uint64_t{p.phase} << 32 | p.missing_threads);
  return false;
}

// ---- copies

void machine::check_copy(void const* to, void const* from, unsigned bytes,
                         device::site const& where) {
  if (bytes == 0 || bytes % piece_bytes != 0)
    misuse("a bulk copy of " + std::to_string(bytes) +
               " bytes; the size is a multiple of 16 and not 0: copy the rest by loads",
           where);
  if (bytes > most_phase_bytes)
    misuse("a bulk copy of " + std::to_string(bytes) + " bytes; the limit is " +
               std::to_string(most_phase_bytes) + ": use several copies",
           where);
  for (void const* const address : {to, from}) {
    if (!is_aligned(address, piece_bytes))
      misuse("a bulk copy " + std::string{address == to ? "to " : "from "} +
                 name_of(address, bytes) + ", " +
                 std::to_string(reinterpret_cast<std::uintptr_t>(address) % piece_bytes) +
                 " bytes past a multiple of 16; align it, or copy by loads",
             where);
  }
  if (!is_shared(to, bytes))
    misuse(
        "a bulk copy to " + name_of(to, bytes) + "; the destination is shared memory of the block",
        where);
  if (is_shared(from) || current_->stack.holds(from))
    misuse("a bulk copy from " + name_of(from, bytes) + "; the source is global memory", where);
  check_access("bulk copy", from, bytes, where);
  for (bulk_copy const& c : copies_.under_way) {
    if (to < c.to + c.bytes && c.to < static_cast<std::byte const*>(to) + bytes)
      misuse("a bulk copy to " + name_of(to, bytes) + ", where a copy started at " +
                 to_string(c.where) + " is under way; wait for its phase before",
             where);
  }
}

void machine::start_copy(void* to, void const* from, unsigned bytes, void* barrier,
                         device::site const& where) {
  step(device::operation::store, where);
  if (!demand_phases(barrier, where).known_to_copies)
    misuse("a bulk copy signals the barrier in " + name_of(barrier, 8) +
               ", whose init copies need not see; call fence_copies after init",
           where);
  check_copy(to, from, bytes, where);
  if (copies_.number == no_thread) {
    copies_.number = static_cast<unsigned>(threads_.size());
    thread& made = threads_.emplace_back();
    made.number = copies_.number;
    made.state = thread_state::ended;
    made.order.begin(made.number, static_cast<unsigned>(threads_.size()));
  }
  thread& t = *current_;
  bulk_copy made{static_cast<std::byte*>(to),
                 static_cast<std::byte const*>(from),
                 std::vector<std::uint16_t>(bytes / piece_bytes),
                 bytes,
                 barrier,
                 t.home,
                 t.home->number,
                 {},
                 1u << 2 * random_.below(5),
                 t.at,
                 where};
  std::iota(made.pieces.begin(), made.pieces.end(), std::uint16_t{0});
  made.order.begin(copies_.number, static_cast<unsigned>(threads_.size()));
  made.order.learn(t.order.here());
  copies_.under_way.push_back(std::move(made));
  changed();
}

/// Returns a value of a word of the source that the copy may read.
std::uint32_t machine::read_for(bulk_copy const& copy, std::uintptr_t word) {
  history* const h = settings_.weak_memory ? history_of(word) : nullptr;
  if (h != nullptr) {
    std::uint64_t const oldest = h->oldest_for(copy.order).number, newest = h->newest().number;
    return h->newest_up_to(oldest + random_.next() % (newest - oldest + 1)).value;
  }
  std::uint32_t value;
  std::memcpy(&value, reinterpret_cast<void const*>(word), sizeof(value));
  return value;
}

/// Reads and writes a piece. Fails if threads access it at the same time.
void machine::land_piece(bulk_copy const& copy, std::uint16_t piece) {
  std::byte const* const from = copy.from + std::size_t{piece} * piece_bytes;
  std::byte* const to = copy.to + std::size_t{piece} * piece_bytes;
  auto const note = [&](access_kind kind, void const* address) {
    if (shadow_ == nullptr || failed_) return;
    access const mine{copies_.number, threads_[copies_.number].order.event(), copy.block_number,
                      copy.place, kind};
    if (auto const race = shadow_->note(address, piece_bytes, mine, copy.order))
      fail(race_text(mine, *race, address, piece_bytes), copy.where, listing::all);
  };
  note(access_kind::plain_load, from);
  note(access_kind::plain_store, to);
  for (unsigned at = 0; at < piece_bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t const value = read_for(copy, reinterpret_cast<std::uintptr_t>(from) + at);
    std::memcpy(to + at, &value, sizeof(value));
    // Once the phase has ended all threads that wait for it see this value alone.
    if (history* const h = histories_.find(reinterpret_cast<std::uintptr_t>(to) + at)) h->end();
  }
  for (unsigned at = 0; at < piece_bytes; at += 8) written(to + at);
}

/// Lets some pieces of one copy come. Only between two turns of threads.
void machine::land_copies() {
  auto const chosen = random_.below(static_cast<std::uint32_t>(copies_.under_way.size()));
  bulk_copy& copy = copies_.under_way[chosen];
  // If no thread can run, the copy goes on until it has ended.
  bool const is_awaited = runnable_.empty();
  if (!is_awaited && random_.below(copy.pause) != 0) return;
  auto const left = static_cast<std::uint32_t>(copy.pieces.size());
  std::uint32_t const pieces = is_awaited ? left : 1 + random_.below(left);
  for (std::uint32_t n = 0; n < pieces; ++n) {
    std::swap(copy.pieces[random_.below(left - n)], copy.pieces.back());
    land_piece(copy, copy.pieces.back());
    copy.pieces.pop_back();
  }
  changed();
  void* const barrier = copy.barrier;
  device::site const where = copy.where;
  phase_state& p = copies_.barriers.at(barrier);
  p.missing_bytes -= std::int64_t{pieces} * piece_bytes;
  if (copy.pieces.empty()) {
    copies_.under_way.erase(copies_.under_way.begin() + chosen);
    p.released = join(p.released, threads_[copies_.number].order.here(),
                      static_cast<unsigned>(threads_.size()));
  }
  if (std::string const fault = end_phase_if_complete(p, barrier); !fault.empty())
    fail(fault, where, listing::all);
  note_phases(barrier);
}

/// The block has ended: so have its copies and its barriers.
void machine::check_copies(block const& b) {
  for (bulk_copy const& c : copies_.under_way) {
    if (c.home != &b) continue;
    fail("block " + std::to_string(b.rank) + " has ended while its bulk copy to " +
             name_of(c.to, c.bytes) + " is under way; wait for its phase before",
         c.where, listing::none);
  }
  std::erase_if(copies_.barriers, [&](auto const& one) { return one.second.home == &b; });
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
