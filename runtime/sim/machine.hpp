// SPDX-License-Identifier: Apache-2.0
// The machine that runs launches: its schedule, its memory and what its threads wait for.
#pragma once

#include "bulk_copies.hpp"
#include "call_stack.hpp"
#include "history.hpp"
#include "launch_state.hpp"
#include "occupancy.hpp"
#include "order.hpp"
#include "random_numbers.hpp"
#include "shadow_memory.hpp"
#include "stacks.hpp"
#include "warp_accesses.hpp"

#include <warden/runtime.hpp>
#include <warden/simt/sim_device.hpp>
#include <warden/simulation.hpp>

#include <boost/context/fiber.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// If not null, called with the text of each misuse_error when it is made. The program may catch
/// the error.
inline void (*on_misuse)(char const* text) = nullptr;

/// The launches that run at once, and all that they share. There is one machine at a time;
/// functions of the platform layer find it by `machine::now`.
class machine {
 public:
  machine(settings const& chosen, std::uint64_t seed);
  ~machine();
  machine(machine const&) = delete;
  machine& operator=(machine const&) = delete;

  /// True if enough of the launch fits next to what is resident: one block, or all blocks if they
  /// begin together.
  [[nodiscard]] bool fits(runtime::launch_shape const& shape) const;
  /// Begins a launch whose threads know `known`. Precondition: it fits, or no other launch runs.
  running_launch& begin(kernel_launch const& kernel, knowledge_ptr known, bool counts_sectors);

  /// Work that other streams hold while the launches run.
  struct other_streams {
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    std::uint64_t pause_at = never;  ///< `run` returns null after this number of steps
    bool may_begin = false;          ///< `run` returns null before it would name a deadlock
    std::string waiting;             ///< the launches that cannot begin, for that message
  };
  other_streams others;
  /// Runs until a launch has ended, and returns it. Returns null as `others` says. Throws
  /// misuse_error.
  running_launch* run();
  /// True if the last `run` returned because no thread can go on.
  [[nodiscard]] bool is_stuck() const { return stuck_; }
  /// Number of steps of all launches.
  [[nodiscard]] std::uint64_t steps() const { return steps_of_others_ + report_.steps; }
  /// Notes that the host has written `bytes` bytes. All threads see them at once.
  void written_by_host(void const* memory, std::size_t bytes);
  /// The report of the launch whose thread ran last.
  [[nodiscard]] report const& result() const { return report_; }

  static machine* now;
  /// Names the current thread and its last operation. Precondition: a thread runs or has run.
  [[nodiscard]] std::string describe_current() const { return describe(*current_); }
  /// The thread whose code the calling thread of the host runs, if races are looked for; null in
  /// the scheduler.
  static thread_local thread* running;

  struct address_range {
    std::uintptr_t begin = 0, end = 0;
  };

  // ---- what the platform layer asks; see sim_device.hpp
  [[nodiscard]] thread& current() { return *current_; }
  [[nodiscard]] settings const& chosen() const { return settings_; }
  [[nodiscard]] std::uint64_t nanoseconds() const { return 1 + steps() + lapse_; }
  /// Returns the time to the current thread.
  std::uint64_t read_clock() {
    current_->clock_read_at = changes_;
    return nanoseconds();
  }
  sim::counts& counts() { return report_.counts; }

  void step(device::operation what, device::site const& where);
  /// Stops the launch: it was early, and the thread did not wait for the kernel before.
  void refuse_early(thread& t);
  void yield(device::site const& where);
  /// A scheduling point in a section: another thread will run if one can, but under pct not all
  /// others do, as all that spin for the section's lock would.
  void yield_in_section(device::site const& where);
  [[noreturn]] void misuse(std::string const& what, device::site const& where);

  /// At most 16 bytes, as one access. `acquires`: what the stored value was released with is known
  /// at once, not only from the next fence on.
  void load(void const* address, void* value, unsigned size, bool acquires = false);
  void store(void* address, void const* value, unsigned size, device::storing how);
  /// Around an atomic, which reads and writes memory between the two.
  void begin_atomic(void* address, unsigned size);
  void end_atomic(void* address, unsigned size, bool wrote);
  void fence(scope reach);
  void fence_in_order(scope reach);
  void written(void const* address);
  void count_sector(void const* address, device::site const& where);
  /// Adds an access of the platform layer to the memory report.
  void report_access(access_effect effect, void const* address, unsigned size,
                     device::site const& where) {
    if (warp_accesses_ != nullptr) report_access({0, where, false, effect}, address, size);
  }
  /// Names an operation that the memory report does not count.
  void report_uncounted(char const* what, device::site const& where) {
    if (warp_accesses_ != nullptr) note_uncounted({0, where}, what);
  }
  /// Reports an access `what` to global memory that lies in no allocation, shared memory, local
  /// memory or static variable.
  void check_access(char const* what, void const* address, unsigned size,
                    device::site const& where);

  // ---- what compiled-in hooks tell; see race_hooks.cpp
  /// The next access is made by the code before `return_address`.
  void comes_from(void const* return_address);
  /// Called before an access of compiled code: a scheduling point, and a check for races if the
  /// memory is the device's.
  void plain_access(void* address, std::size_t size, bool stores, void const* return_address);
  void volatile_access(void* address, unsigned size, bool stores, void const* return_address);
  /// Notes an atomic of compiled code, which follows between begin_atomic and end_atomic. Returns
  /// false if the memory is not the device's.
  bool begins_atomic(void* address, unsigned size, void const* return_address);

  void* static_shared(void const* key, std::size_t bytes, std::size_t alignment,
                      device::site const& where);
  /// True if all of these bytes are in one piece of the block's shared memory.
  [[nodiscard]] bool is_shared(void const* address, std::size_t size = 1) const;

  // ---- see bulk_copies.cpp
  void fence_copies(device::site const& where);
  void init_phases(void* barrier, unsigned arrivals, device::site const& where);
  void end_phases(void* barrier, device::site const& where);
  void arrive(void* barrier, unsigned bytes, device::site const& where);
  bool phase_is_complete(void const* barrier, std::uint32_t phase, device::site const& where);
  void start_copy(void* to, void const* from, unsigned bytes, void* barrier,
                  device::site const& where);

  unsigned sync_block(device::barrier kind, bool value, device::coming from,
                      device::site const& where);
  void sync_cluster(device::site const& where);
  [[nodiscard]] unsigned cluster_blocks() const { return running_->kernel.shape.cluster; }
  void* of_cluster(void const* own, std::size_t bytes, unsigned rank, device::site const& where);
  std::uint64_t warp(device::collective kind, unsigned mask, std::uint64_t value, unsigned source,
                     device::lanes who, device::site const& where);
  unsigned active_mask(device::site const& where);

  void begin_wait();
  void watch(void const* address);
  bool sleep(device::site const& where);
  void end_wait();

  void section_enter(void const* record, bool in_order, unsigned group,
                     std::span<std::byte const> kept, device::site const& where);
  void section_leave(void const* record, bool in_order, unsigned group, device::site const& where);
  bool doubts() { return random_.below(4) == 0; }
  void note_loop_order(device::ordered_record const& to, std::uint64_t index, std::uint64_t call,
                       device::site const& where);
  void note_written(void const* object);
  void demand_visible(void const* object, device::site const& where);

  void begin_collective(void const* storage, device::site const& where);
  void end_collective(void const* storage);

 private:
  void place_blocks(running_launch& l);
  void begin_blocks(running_launch& l);
  void begin_block(block& b);
  void begin_thread(thread& t);
  void thread_main(thread& t);
  void end_thread(thread& t);
  void end_block(block& b);
  void end_launch(running_launch& l);
  void add_known(running_launch& l, unsigned first_thread, std::size_t threads);
  void turn_to(running_launch& l);
  void make_runnable(thread& t);
  void add_runnable(thread& t);
  void prioritize(thread const& t);
  void block_current(thread_state state);
  void switch_out();
  thread& choose();
  thread& choose_by_priority();
  std::int64_t draw_budget();
  void wake_by_time();
  void fall_below_all(thread& t);
  void fall_below_next(thread& t);
  thread* best_runnable();
  phase_state& demand_phases(void const* barrier, device::site const& where);
  void check_copy(void const* to, void const* from, unsigned bytes, device::site const& where);
  void land_copies();
  void land_piece(bulk_copy const& copy, std::uint16_t piece);
  [[nodiscard]] std::uint32_t read_for(bulk_copy const& copy, std::uintptr_t word);
  [[nodiscard]] std::string end_phase_if_complete(phase_state& p, void const* barrier);
  void note_phases(void* barrier);
  void check_copies(block const& b);
  void complete_barrier(block& b);
  void complete_cluster_barrier(std::span<block> blocks);
  [[nodiscard]] std::span<block> cluster_of(block const& b);
  bool complete_collective(thread& t);
  void collective_results(warp_state& w, unsigned lane, unsigned coming);
  void add_look(thread& t, std::uint64_t first, std::uint64_t second);
  void polled(void const* address, unsigned size, std::uint64_t value);
  void met(bool orders);
  void changed();
  void end_turn_if_spinning();
  void check_quiet();
  [[nodiscard]] std::uint64_t memory_hash() const;
  void end_of_store();
  void end_pending_access();
  void note_received(version const& seen, view const& released, scope from);
  void report_access(access_origin from, void const* address, std::size_t size);
  void report_end(block const& b);
  void note_access(access_kind kind, void const* address, std::size_t size);
  [[nodiscard]] std::string race_text(access const& mine, data_race const& race,
                                      void const* address, std::size_t size) const;
  [[nodiscard]] std::string remedy(access const& mine, access const& other) const;
  [[nodiscard]] std::string name_of(access const& a) const;
  bool is_device_memory(char const* what, void const* address, std::size_t size);
  address_range allocated(std::string const& what, void const* address, std::size_t size,
                          device::site const& where);
  void load_newest_or_older(void const* address, void* value, unsigned size, bool acquires);
  bool wants_older(thread& t);
  void receive(version& seen, bool acquires);
  address_range accessible(char const* what, void const* address, unsigned size,
                           device::site const& where);
  history* history_of(std::uintptr_t word);
  history& begun_history_of(std::uintptr_t word);
  version made_by(thread& t, std::uint32_t value, std::uint64_t number) const;
  std::uint64_t earlier_number(thread& t, void const* address, unsigned size);
  static void place_arenas(running_launch& l);
  void fill_arena(block& b);
  void check_shared(block& b);
  void check_memory();
  void forget(void const* memory, std::size_t bytes);
  [[nodiscard]] std::string memory_damage() const;
  void note_change(void const* address, unsigned size);
  [[nodiscard]] bool spins(thread const& t) const;
  // ---- messages
  /// Which threads a message lists.
  enum class listing : unsigned char { none, others, all, all_with_calls };
  [[nodiscard]] std::string name_of(thread const& t) const;
  [[nodiscard]] std::string name_of(unsigned number, unsigned block) const;
  [[nodiscard]] std::string name_of(void const* address, std::size_t size) const;
  [[nodiscard]] std::string place_of(thread const& t) const;
  [[nodiscard]] std::string describe(thread const& t) const;
  [[nodiscard]] std::string polled_word(thread const& t);
  std::vector<frame> calls_of(thread& t);
  std::string where_everyone_is(thread const* but, bool with_calls);
  void fail(std::string const& what, device::site const& where, listing lists);
  [[noreturn]] void deadlock(std::string const& what);
  [[noreturn]] void throw_failure();

  settings settings_;
  random_numbers random_;
  std::deque<running_launch>
      launches_;  ///< including those that have ended, so that addresses stay unique
  running_launch* running_ = nullptr;  ///< launch of the current thread; `report_` is its report
  running_launch* ended_ = nullptr;    ///< the launch that `run` returns
  bool stuck_ = false;
  device_room room_;
  std::deque<thread> threads_;    ///< by number; their addresses do not change
  unsigned blocks_ = 0;           ///< blocks of all launches
  std::vector<thread*> meeting_;  ///< threads at a barrier or a collective
  std::vector<thread_order*> meeting_orders_;
  /// Stored contiguously, so that a choice among many threads reads only these.
  struct candidate {
    std::uint32_t number;
    block* home;
  };
  std::vector<candidate> runnable_;
  /// A heap by priority, for pct: threads that became runnable. Entries may be out of date.
  struct prioritized {
    std::uint64_t priority;
    std::uint32_t number;
    bool operator<(prioritized const& other) const { return priority < other.priority; }
  };
  std::vector<prioritized> by_priority_;
  std::int64_t budget_ = 1;
  std::int64_t block_budget_ = 0;
  block* favourite_ = nullptr;
  /// Below every thread's priority at first; falls by one for each demotion.
  std::uint64_t lowest_priority_ = std::uint64_t{1} << 63;
  /// pct: threads below which the current one falls when its turn has ended.
  enum class falling : unsigned char { below_none, below_next, below_all };
  falling falls_ = falling::below_none;
  std::uint64_t changes_ = 0;           ///< changes of memory, and threads that began or ended
  std::uint64_t changed_at_ = 0;        ///< the step of the last change
  std::uint64_t quiet_check_at_ = 0;    ///< the step from which on a check for deadlocks is due
  std::uint64_t memory_hash_ = 0;       ///< at the last check that found all threads polling
  std::uint64_t hashed_at_change_ = 0;  ///< number of changes at that check
  std::vector<std::uint64_t> change_points_;
  thread* current_ = nullptr;
  boost::context::fiber scheduler_;
  stack_bounds scheduler_stack_;
  std::uint64_t steps_of_others_ = 0;  ///< steps of all launches but `running_`
  std::uint64_t lapse_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
  history_table histories_;   ///< by word; a word without one has its value in memory alone
  std::uint64_t stores_ = 0;  ///< number of stores so far
  /// [line of the source, modulo the size] the memory that was accessed there last.
  std::array<address_range, 64> accessed_{};
  std::unique_ptr<shadow_memory> shadow_;         ///< null unless races are looked for
  std::unique_ptr<warp_accesses> warp_accesses_;  ///< null unless the memory report is asked for
  /// The access of compiled code that the current thread makes next, or has made.
  struct pending_access {
    void* address = nullptr;
    std::size_t size = 0;  ///< 0: none
    bool stores = false, is_volatile = false;
    bool may_copy = false;  ///< a plain store, and there was no access after it
  };
  pending_access pending_;
  std::vector<std::byte> before_pending_;  ///< the newest value before that access
  /// [place, modulo the size] the memory that compiled code accessed there last.
  std::array<address_range, 256> plainly_accessed_{};
  copy_engine copies_;
  view fences_;                   ///< knowledge of the device's fences that have one total order
  std::vector<thread*> waiting_;  ///< in wait_until, asleep or asking
  std::vector<std::uint16_t> watch_counts_;
  /// Time at which a thread left a section, or filled an object.
  struct left_by {
    unsigned thread;
    event_time time;
  };
  /// Threads in a section: one, or a group of lanes.
  struct entered_by {
    unsigned thread;  ///< the first thread
    device::site where;
    unsigned group;                     ///< 0: one thread
    unsigned came = 0;                  ///< lanes of the group that came
    std::vector<left_by> left{};        ///< lanes of the group that left, in weak memory
    unsigned gone = 0;                  ///< lanes of the group that are gone
    std::span<std::byte const> kept{};  ///< bytes that they will not change
    std::vector<std::byte> kept_as{};   ///< those bytes when they came
  };
  std::unordered_map<void const*, entered_by> entered_;
  /// The end of the last section on a record.
  struct section_end {
    left_by last;
    std::vector<left_by> others{};  ///< others of its group
  };
  std::unordered_map<void const*, section_end> left_;
  std::unordered_map<void const*, left_by> written_;  ///< objects filled by plain stores
  /// The block's barriers when a collective last used a storage.
  std::unordered_map<void const*, unsigned> storage_used_;
  struct visit {
    std::uint64_t key;
    std::uint32_t lane_visits[32];
  };
  std::unordered_map<std::uint64_t, visit> visits_;
  std::unordered_set<std::uint64_t> sectors_seen_;
  std::string failure_;
  device::site failure_where_;
  bool failed_ = false;
  listing lists_ = listing::none;
  report report_;
};

/// "file:line".
std::string to_string(device::site const& where);
/// The place of number `rank`; x first, as CUDA numbers threads and blocks.
device::index index_of(unsigned rank, dimensions const& of);
/// "7" or "(7, 1)".
std::string to_string(device::index const& at, dimensions const& of);

/// Makes launches count sectors, whatever the settings say.
void count_sectors(bool on);

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
