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

/// Shared memory of a block that owns records with copies of `RecordBytes` bytes.
template <std::size_t RecordBytes>
struct owner_memory {
  /// Records that fit.
  static constexpr std::uint32_t capacity =
      std::max(owner_bytes / (RecordBytes + sizeof(std::uint32_t)), std::size_t{1});

  arena_carver carver{};
  arena_piece<std::byte> records = carver.take<std::byte>(capacity * RecordBytes, 16);
  arena_piece<std::uint32_t> finished = carver.take<std::uint32_t>(capacity);
  arena_piece<std::uint32_t> next_row = carver.take<std::uint32_t>(1);
};

/// One thread of a block that owns records. It has one section at a time.
///
/// Warps take tiles of sections in order, and the sections of the block there in order. So the
/// first unfinished section, if it is one of the block, has been taken, or is the next one of a
/// warp whose lanes have finished theirs. Other blocks run the sections without an owner: all
/// blocks are resident.
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
    if (simt::thread_rank() == 0) simt::shared_store(next_row_[0], 0u);
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
  /// Rows of 32 sections of a tile, at most; a byte of a word for each.
  static constexpr unsigned most_rows = 8;
  /// Tiles that a warp looks at before it looks at its lanes again.
  static constexpr unsigned tiles_at_once = 8;
  /// Polls for the records of the block before a warp does what takes long.
  static constexpr unsigned patient_polls = 8;

  WARDEN_DEVICE owner_worker(Arguments const& a, Function const& function, std::byte* storage,
                             memory const& at)
      : base{a, function, storage},
        records_{at.records.in(simt::dynamic_shared()).data()},
        finished_{at.finished.in(simt::dynamic_shared())},
        next_row_{at.next_row.in(simt::dynamic_shared())} {}

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
      bool const is_ready = step_ == step::run && records_have_come();
      unsigned const ready = simt::ballot(simt::full_warp, is_ready);
      if (ready != 0) {
        if (is_ready) run_section();
        simt::sync_warp(simt::full_warp);
        auto const count = static_cast<unsigned>(simt::count_bits(ready));
        if (simt::lane_id() == 0) this->note_progress(count);
        ran_ += count;
        failures = 0;
        dog = watchdog{this->a_.arrays.first.health, this->a_.limit};
        continue;
      }
      if (!is_next_loaded(failures) && go_on()) {
        failures = 0;
        dog = watchdog{this->a_.arrays.first.health, this->a_.limit};
        continue;
      }
      bool const waits = step_ == step::load || step_ == step::run;
      if (!simt::any(simt::full_warp, step_ != step::take)) return;
      simt::back_off(this->pause(failures, waits));
      if (++failures % watchdog::polls_per_look == 0 &&
          simt::any(simt::full_warp, waits && !this->is_hopeful(dog)))
        return;
    }
  }
  /// True if the turn of the warp's next section may come at any time, so that the warp polls and
  /// does nothing else, but for one poll of `patient_polls`. Collective over the warp.
  WARDEN_DEVICE bool is_next_loaded(unsigned failures) const {
    unsigned const loaded = simt::ballot(simt::full_warp, step_ == step::run);
    unsigned const others = simt::ballot(simt::full_warp, step_ == step::load);
    if (failures % patient_polls == patient_polls - 1 || loaded == 0) return false;
    return others == 0 || simt::first_bit(loaded) < simt::first_bit(others);
  }
  /// Does what takes long. Returns false if there was nothing to do. Collective over the warp.
  WARDEN_DEVICE bool go_on() {
    bool goes_on = release();
    goes_on = take() || goes_on;
    return load() || goes_on;
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
    unsigned lanes = 0, tiles = 0;
    while (lanes < simt::warp_size && find(tiles)) {
      for (; found_ != 0 && lanes < simt::warp_size; ++lanes) {
        if (simt::lane_id() == lanes) {
          this->section_ = found_begin_ + static_cast<unsigned>(simt::first_bit(found_));
          step_ = step::load;
        }
        found_ &= found_ - 1;
      }
    }
    if (step_ == step::load) begin();
    simt::sync_warp(simt::full_warp);
    return lanes != 0 || tiles != 0;
  }
  /// Finds sections of the block, if none are left from before. Counts the tiles that it took for
  /// that. Returns false if it found none.
  WARDEN_DEVICE bool find(unsigned& tiles) {
    while (found_ == 0) {
      if (row_ == rows_) {
        if (!are_left_ || tiles == tiles_at_once) return false;
        if (!take_tile()) return false;
        ++tiles;
      }
      found_begin_ = tile_ + row_ * simt::warp_size;
      found_ =
          simt::ballot(simt::full_warp, (owners_ >> 8 * row_ & 0xff) == simt::block_rank() + 1);
      of_tile_ += static_cast<unsigned>(simt::count_bits(found_));
      ++row_;
    }
    return true;
  }
  /// Takes the next tile of sections, and loads their owners. Returns false if none is left. If the
  /// block runs most sections, a tile is one row: then another warp has the next sections ready
  /// while this one takes others. If it runs few, a tile is large.
  WARDEN_DEVICE bool take_tile() {
    rows_ = of_tile_ * most_rows > rows_ * (simt::warp_size / 2) ? 1 : most_rows;
    row_ = 0;
    of_tile_ = 0;
    std::uint32_t first = 0;
    if (simt::lane_id() == 0) first = simt::shared_fetch_add(next_row_[0], rows_);
    tile_ = simt::shuffle(simt::full_warp, first, 0) * simt::warp_size;
    are_left_ = tile_ < this->count_;
    owners_ = 0;
    WARDEN_UNROLL
    for (unsigned r = 0; r < most_rows; ++r) {
      std::uint32_t const section = tile_ + r * simt::warp_size + simt::lane_id();
      if (r < rows_ && section < this->count_)
        owners_ |= std::uint64_t{this->a_.owned.owners[section]} << 8 * r;
    }
    return are_left_;
  }
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
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) own_[k] = {};
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((this->at_.owned >> s & 1) == 0) continue;
      // Constant indexes keep the list in registers.
      WARDEN_UNROLL
      for (unsigned k = Most - 1; k > 0; --k) own_[k] = own_[k - 1];
      own_[0] = this->at_.turns[s];
    }
  }

  // ---- the way of a record of the block from section to section

  /// True once the turn of all accesses to records of the block has come.
  WARDEN_DEVICE bool records_have_come() {
    // All loads first, also of places that the list does not have, which are in the memory, too: so
    // they overlap. Their turns have come.
    std::uint32_t done[Most];
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) done[k] = simt::shared_load(finished_[own_[k].place()]);
    this->distance_ = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) {
      if (done[k] < own_[k].value()) this->note_wait(own_[k].value(), done[k]);
    }
    return this->distance_ == 0;
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
      if (result_ == outcome::commit)
        this->held_.commit(owned & this->named_.writes, [](void*) {});
      this->leave(owned);
    }
    // Release: pairs with the fence above of the threads that read these additions.
    simt::fence_block();  // mutation: several-owner-release
    WARDEN_UNROLL
    for (unsigned k = 0; k < Most; ++k) {
      // An addition of 0 costs less than a branch.
      std::uint32_t const counts = own_[k].releases() ? 1 : 0;
      simt::shared_fetch_add(finished_[own_[k].place()], counts);  // mutation: several-owner-lost
    }
    step_ = step::release;
  }

  std::byte* const records_;                   ///< [place][record_bytes] records of the block
  simt::shared_span<std::uint32_t> finished_;  ///< [place] accesses that have finished
  simt::shared_span<std::uint32_t> next_row_;  ///< next tile that a warp takes
  step step_ = step::take;
  outcome result_ = outcome::refused;   ///< result of the section, from `step::release` on
  access_turn own_[Most];               ///< accesses to records of the block; zeros follow
  std::uint32_t tile_ = 0;              ///< first section of the warp's tile
  std::uint64_t owners_ = 0;            ///< byte r: owner of the lane's section in row r, plus 1
  unsigned rows_ = 1;                   ///< rows of the tile
  unsigned row_ = 1;                    ///< next row of the tile
  unsigned of_tile_ = simt::warp_size;  ///< sections of the block found in the tile
  std::uint32_t found_begin_ = 0;       ///< first section of the row before
  unsigned found_ = 0;                  ///< sections of the block there that no lane has taken
  bool are_left_ = true;                ///< false once no tile is left
  std::uint32_t ran_ = 0;               ///< sections of the warp that have run
};

}  // namespace detail
WARDEN_NAMESPACE_END
