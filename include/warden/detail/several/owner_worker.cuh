// SPDX-License-Identifier: Apache-2.0
/// @file
/// A thread of a block that owns hot records: it runs sections on them.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/several/hot_records.cuh>
#include <warden/detail/several/section_worker.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Warps of a block that owns records.
inline constexpr unsigned owner_warps = several_threads / simt::warp_size;
/// Sections of the block that a warp has found and not yet taken, at most: less than a warp, and
/// its share of a tile.
inline constexpr unsigned owner_list_size = 128;

/// Shared memory of a block that owns records with copies of `RecordBytes` bytes.
template <std::size_t RecordBytes>
struct owner_memory {
  /// Records that fit.
  static constexpr std::uint32_t capacity =
      std::max(owner_bytes / (RecordBytes + sizeof(std::uint32_t)), std::size_t{1});

  arena_carver carver{};
  arena_piece<std::byte> records = carver.take<std::byte>(capacity * RecordBytes, 16);
  arena_piece<std::uint32_t> finished = carver.take<std::uint32_t>(capacity);
  arena_piece<std::uint32_t> next = carver.take<std::uint32_t>(owner_warps * owner_list_size);
};

/// One thread of a block that owns records. It has one section at a time.
///
/// The sections of the block are dealt to its warps in turn, so a record goes from warp to warp,
/// and several warps run sections at the same time. A warp takes its own in order. So the first
/// unfinished section, if it is one of the block, has been taken, or is the next one of a warp
/// without sections. Other blocks run the sections without an owner: all blocks are resident.
///
/// A hot record should go from section to section without waiting for global memory. So a section
/// waits for its other records first, and copies them; then it waits for those of the block. What
/// takes long is done while no lane of the warp has a section that can run.
template <unsigned Most, class Arguments, class Function>
class owner_worker : section_worker<Most, Arguments, Function> {
  using base = section_worker<Most, Arguments, Function>;
  static constexpr std::size_t record_bytes = base::held::copy_bytes;

 public:
  /// Shared memory of the block.
  using memory = owner_memory<record_bytes>;
  using typename base::held;

  /// Uses the block's shared memory, and `storage` for sections. Precondition: the arguments
  /// outlive this object.
  WARDEN_DEVICE owner_worker(Arguments const& a, Function const& function,
                             std::byte (&storage)[sizeof(typename held::memory)])
      : owner_worker{a, function, storage, memory{}} {}

  /// Runs the sections of the block until none is left, or the run is poisoned. Collective over the
  /// block.
  WARDEN_DEVICE void run() {
    for_own_records([&](auto* record, std::uint32_t place) {
      using type = std::remove_pointer_t<decltype(record)>;
      copy_record(reinterpret_cast<type*>(records_ + place * record_bytes), record);
      simt::shared_store(finished_[place], 0u);
    });
    simt::sync_block();
    run_all();
    this->add_counts();
    if (simt::lane_id() == 0) simt::add(&this->a_.control->counts.by_owners, ran_);
    simt::sync_block();
    for_own_records([&](auto* record, std::uint32_t place) {
      using type = std::remove_pointer_t<decltype(record)>;
      auto const* const from = reinterpret_cast<type const*>(records_ + place * record_bytes);
      copy_record(record, from);  // mutation: several-stored
      simt::note_written(record);
    });
  }

 private:
  /// Next step of a thread.
  enum class step : unsigned char {
    take,     ///< it takes a section
    load,     ///< its section waits for records that the block does not own
    run,      ///< its section waits for records of the block
    release,  ///< its section has run; records that the block does not own are to be written
  };
  /// Sections of a tile that a lane looks at.
  static constexpr unsigned lane_sections = owner_tile / simt::warp_size;
  static_assert(owner_tile / owner_warps + simt::warp_size <= owner_list_size);
  /// Tiles that a warp without a section looks at before it does something else.
  static constexpr unsigned tiles_at_once = 8;
  /// Polls for the records of the block before a warp looks at anything else.
  static constexpr unsigned polls_at_once = 4;

  WARDEN_DEVICE owner_worker(Arguments const& a, Function const& function, std::byte* storage,
                             memory const& at)
      : base{a, function, storage},
        records_{at.records.in(simt::dynamic_shared()).data()},
        finished_{at.finished.in(simt::dynamic_shared())},
        next_{at.next.in(simt::dynamic_shared())} {}

  /// Calls `f(record, place)` for the records of the block.
  template <class F>
  WARDEN_DEVICE void for_own_records(F const& f) const {
    std::uint32_t const n = this->a_.control->hot_records;
    for (std::uint32_t k = simt::thread_rank(); k < n; k += simt::block_threads()) {
      owned_record const& hot = this->a_.owned.records[k];
      if (hot.owner != simt::block_rank() + 1) continue;
      this->a_.arrays.with_record(hot.id,
                                  [&](auto const& array) { f(array.at(hot.id), hot.place); });
    }
  }
  WARDEN_DEVICE void run_all() {
    watchdog dog{this->a_.arrays.first.health, this->a_.limit};
    unsigned failures = 0;
    for (;;) {
      bool is_ready = false;
      unsigned ready = 0;
      for (unsigned poll = 0; ready == 0 && poll < polls_at_once; ++poll) {
        is_ready = step_ == step::run && records_have_come();
        ready = simt::ballot(simt::full_warp, is_ready);
      }
      if (ready != 0) {
        if (is_ready) run_section();
        simt::sync_warp(simt::full_warp);
        ran_ += static_cast<unsigned>(simt::count_bits(ready));
        failures = 0;
        continue;
      }
      if (go_on()) {
        failures = 0;
        dog = watchdog{this->a_.arrays.first.health, this->a_.limit};
        continue;
      }
      if (!simt::any(simt::full_warp, step_ != step::take)) return;
      bool const waits = step_ == step::load || step_ == step::run;
      if (step_ == step::run) note_waits();
      simt::back_off(this->pause(failures, waits));
      if (++failures % watchdog::polls_per_look == 0 &&
          simt::any(simt::full_warp, waits && !this->is_hopeful(dog)))
        return;
    }
  }
  /// Does what needs global memory. Returns false if there was nothing to do. Collective over the
  /// warp.
  WARDEN_DEVICE bool go_on() {
    if (ran_ != reported_) {
      if (simt::lane_id() == 0) this->note_progress(ran_ - reported_);
      reported_ = ran_;
    }
    bool goes_on = release();
    goes_on = take() || goes_on;
    goes_on = load() || goes_on;
    // Lists the next sections before the lanes have finished.
    if (listed_ - taken_ < simt::warp_size && are_left_) list_tile();
    return goes_on;
  }

  // ---- steps that take long. Collective over the warp. Each returns true if it has done anything.

  /// Writes and releases the records that the block does not own.
  WARDEN_DEVICE bool release() {
    bool const releases = step_ == step::release;
    if (!simt::any(simt::full_warp, releases)) return false;
    if (releases) {
      unsigned const others = this->all() & ~this->at_.owned;
      if (result_ == outcome::commit) this->commit(others);
      if (this->runs_) this->leave(others);
      this->note(result_);
      base::release();
      step_ = step::take;
    }
    simt::sync_warp(simt::full_warp);
    return true;
  }
  /// Gives the lanes sections, if none has one: the turn of a section would come while the warp
  /// takes others.
  WARDEN_DEVICE bool take() {
    if (simt::any(simt::full_warp, step_ != step::take)) return false;
    unsigned tiles = 0;
    for (; listed_ == taken_ && are_left_ && tiles < tiles_at_once; ++tiles) list_tile();
    bool const takes = simt::lane_id() < listed_ - taken_;
    if (takes) {
      this->section_ = simt::shared_load(listed(taken_ + simt::lane_id()));
      step_ = step::load;
      begin();
    }
    taken_ += static_cast<std::uint32_t>(simt::count_bits(simt::ballot(simt::full_warp, takes)));
    return taken_ != listed_ || are_left_ || simt::any(simt::full_warp, takes);
  }
  /// Lists the warp's share of the sections of the block in the next tile. Precondition: the list
  /// has room for it.
  WARDEN_DEVICE void list_tile() {
    std::uint32_t const first = tile_ + simt::lane_id() * lane_sections;
    std::uint64_t owners[lane_sections / 8];
    WARDEN_UNROLL
    for (unsigned w = 0; w < lane_sections / 8; ++w)
      owners[w] = first < this->count_ ? this->a_.owned.owners[first / 8 + w] : 0;
    unsigned own = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < lane_sections; ++k) {
      bool const is_own = (owners[k / 8] >> k % 8 * 8 & 0xff) == simt::block_rank() + 1;
      if (is_own && first + k < this->count_) own |= 1u << k;
    }
    auto const count = static_cast<std::uint32_t>(simt::count_bits(own));
    std::uint32_t const before = warp_sum_before(count);
    std::uint32_t number = found_ + before;
    for (; own != 0; own &= own - 1, ++number) {
      if (number % owner_warps != warp()) continue;  // mutation: several-dealt
      auto const k = static_cast<unsigned>(simt::first_bit(own));
      simt::shared_store(listed(number / owner_warps), first + k);
    }
    simt::sync_warp(simt::full_warp);
    found_ += simt::shuffle(simt::full_warp, before + count, simt::warp_size - 1);
    listed_ = (found_ + owner_warps - 1 - warp()) / owner_warps;
    tile_ += owner_tile;
    are_left_ = tile_ < this->count_;
  }
  /// Returns the place of the warp's section with this number among its own.
  WARDEN_DEVICE std::uint32_t& listed(std::uint32_t number) const {
    return next_[warp() * owner_list_size + number % owner_list_size];
  }
  static WARDEN_DEVICE unsigned warp() { return simt::thread_rank() / simt::warp_size; }
  /// Copies the records that the block does not own, of sections whose turn has come on all of
  /// them.
  WARDEN_DEVICE bool load() {
    bool const loads = step_ == step::load && this->has_come();
    if (!simt::any(simt::full_warp, loads)) return false;
    if (loads) {
      this->acquire();
      if (this->runs_) this->held_.copy(this->all() & ~this->at_.owned);
      step_ = step::run;
    }
    simt::sync_warp(simt::full_warp);
    return true;
  }
  /// Loads the lane's section, and makes a list of its accesses to records of the block.
  WARDEN_DEVICE void begin() {
    base::begin(records_);
    counts_in_ = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) {
      own_places_[k] = 0;
      own_turns_[k] = 0;
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((this->at_.owned >> s & 1) == 0) continue;
      // Constant indexes keep the list in registers.
      WARDEN_UNROLL
      for (unsigned k = Most - 1; k > 0; --k) {
        own_places_[k] = own_places_[k - 1];
        own_turns_[k] = own_turns_[k - 1];
      }
      access_turn const turn = this->at_.turns[s];
      own_places_[0] = turn.place();
      own_turns_[0] = turn.value();
      counts_in_ = counts_in_ << 1 | (turn.releases() ? 1 : 0);
    }
  }

  // ---- the way of a record of the block from section to section

  /// Loads how many accesses to the records of the list have finished. Also from places that the
  /// list does not use, which are in the memory, too: so the loads overlap.
  WARDEN_DEVICE void load_finished(std::uint32_t (&done)[Most]) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) done[k] = simt::shared_load(finished_[own_places_[k]]);
  }
  /// True once the turn of all accesses to records of the block has come.
  WARDEN_DEVICE bool records_have_come() const {
    std::uint32_t done[Most];
    load_finished(done);
    bool have_come = true;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) have_come = have_come && done[k] >= own_turns_[k];
    return have_come;
  }
  /// Notes what the section waits for.
  WARDEN_DEVICE void note_waits() {
    std::uint32_t done[Most];
    load_finished(done);
    this->distance_ = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) {
      if (done[k] < own_turns_[k]) this->note_wait(own_turns_[k], done[k]);
    }
  }
  /// Runs the section, and releases the records of the block.
  WARDEN_DEVICE void run_section() {
    // Acquire: pairs with the fence below of the threads of the block whose additions
    // `records_have_come` has read.
    simt::fence_block();  // mutation: several-owner-acquire
    result_ = outcome::refused;
    unsigned const owned = this->at_.owned;
    if (this->runs_) {
      this->enter();
      this->copy(owned);  // mutation: several-copied
      result_ = this->execute();
      // run() notes these records.
      if (result_ == outcome::commit) this->held_.commit(owned & this->named_.writes, [](void*) {});
      this->leave(owned);
    }
    // Release: pairs with the fence above of the threads that read these additions.
    simt::fence_block();  // mutation: several-owner-release
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) {
      // An addition of 0 costs less than a branch.
      std::uint32_t const counts = counts_in_ >> k & 1;
      simt::shared_fetch_add(finished_[own_places_[k]], counts);  // mutation: several-owner-lost
    }
    step_ = step::release;
  }

  std::byte* const records_;                   ///< [place][record_bytes] records of the block
  simt::shared_span<std::uint32_t> finished_;  ///< [place] accesses that have finished
  simt::shared_span<std::uint32_t> next_;      ///< [warp][number modulo size] sections found
  step step_ = step::take;
  outcome result_ = outcome::refused;  ///< result of the section, from `step::release` on
  std::uint32_t own_places_[Most];  ///< places of the section's records of the block; zeros follow
  std::uint32_t own_turns_[Most];   ///< turns of the accesses to them; zeros follow
  unsigned counts_in_ = 0;          ///< bit k: the access counts when it has finished
  std::uint32_t tile_ = 0;          ///< first section of the next tile
  std::uint32_t found_ = 0;         ///< sections of the block before the tile
  std::uint32_t listed_ = 0;        ///< those of the warp
  std::uint32_t taken_ = 0;         ///< sections that the warp has taken
  bool are_left_ = true;            ///< false once no tile is left
  std::uint32_t ran_ = 0;           ///< sections of the warp that have run
  std::uint32_t reported_ = 0;      ///< those that `note_progress` has counted
};

}  // namespace detail
WARDEN_NAMESPACE_END
