// SPDX-License-Identifier: Apache-2.0
/// @file
/// Isolated sections on up to 16 records of a guarded array, from an array or from a log.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/to.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/shared_state.cuh>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/array_views.cuh>
#include <warden/detail/several/by_rounds.cuh>
#include <warden/detail/several/hot_records.cuh>
#include <warden/detail/several/order_kernels.cuh>
#include <warden/detail/several/owned_memory.cuh>
#include <warden/detail/several/records.cuh>
#include <warden/detail/several/run_several.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/detail/several/several_ref.cuh>
#include <warden/detail/several/turn_memory.cuh>
#include <warden/error.hpp>
#include <warden/guarded.cuh>
#include <warden/guarded_arrays.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

template <class Section, unsigned Most, class Types>
std::integral_constant<unsigned, Most> most_accesses_of(void (Section::*)(access_list<Most, Types>&)
                                                            const);
/// Largest number of records that a section names, from the access_list that `access` takes.
template <class Section>
inline constexpr unsigned most_accesses = decltype(most_accesses_of(&Section::access))::value;

}  // namespace detail

/// A section on several records: a trivially copyable object that names its records in `access`,
/// and is called, const, with these records and optionally the context.
template <class Section, class Record, class Context>
concept section_on_several = std::is_trivially_copyable_v<Section> && requires {
  detail::most_accesses<Section>;
} &&(std::is_invocable_r_v<outcome, Section const&,
                           records<Record, detail::most_accesses<Section>>&> ||
     std::is_invocable_r_v<outcome, Section const&,
                           records<Record, detail::most_accesses<Section>>&, Context const&>);

/// Options of a deferred_several.
struct several_options {
  /// A record with at least this many accesses in a run, and at least 3, may be hot: one block has
  /// it in shared memory, and runs the sections on it, unless other blocks would run them sooner.
  /// The kernel of a run then starts when all its blocks fit the device together. 0: no record is
  /// hot, as is needed if a kernel that runs at the same time waits for the run. It changes no
  /// results, and nothing in rounds.
  std::uint32_t hot_accesses = 16;
};

/// Runs sections that are each on up to 16 records of a guarded array, or of several
/// `guarded_arrays`, isolated and without locks:
///
///     struct transfer {
///       std::uint32_t from, to, tariff, amount;
///       __device__ void access(warden::access_list<3>& a) const {
///         a.write(from), a.write(to), a.read(tariff);  // positions 0, 1, 2
///       }
///       __device__ warden::outcome operator()(warden::records<account, 3>& r) const {
///         std::uint32_t const cost = amount + r.read(2).balance;
///         if (r.read(0).balance < cost) return warden::outcome::abort;
///         r.write(0).balance -= cost, r.write(1).balance += amount;
///         return warden::outcome::commit;
///       }
///     };
///     warden::deferred_several<accounts, transfer> transfers{bank, n};
///     transfers.apply_async(sections, n, outcomes, s);  // device memory
///     bank.wait(s);                                     // throws all errors
///
/// Alternatively, any kernels fill a log by `transfers.ref().send(transfer{...})`, and
/// `transfers.run` executes it.
///
/// The resulting records are those of a loop over the array that runs each section alone, bit for
/// bit. Two sections may run concurrently unless one of them writes a record that both name.
///
/// Sections with an `access_list<2>` on one guarded array run in rounds instead: as in a loop in
/// some order, and concurrently unless they name a common record. They do not if the policy has an
/// order, a section has more than 36 bytes, the policy's `block_threads` is no power of two, or the
/// record has no copy assignment. A section of 8 to 28 bytes should begin with the ids of its
/// records, in the order in which `access` names them: its message is smaller then.
///
/// A section that aborts leaves all records unchanged and is not retried. A section that names an
/// id outside the records, or too many records, does not run, and the `wait` of the guarded array
/// reports it. Runs cannot be captured into a graph. Moves, does not copy.
///
/// In rounds, the constructor allocates a log and the memory of its rounds. Otherwise it allocates
/// 24 bytes for each record that a section may name, 16 bytes for each section, the memory of a
/// sort, and that of hot records; see `memory_bytes`. The driver keeps local memory for the copies
/// of `most_accesses` records, for each thread that the device can hold, unless the records are
/// small. Work of other logs and launches on the guarded array during a run is put off or reported.
template <class Guarded, class Section>
class deferred_several {
  using record = typename Guarded::record;
  using context = typename Guarded::context;
  using arguments_type = detail::several_arguments<record, context>;
  static_assert(section_on_several<Section, record, context>,
                "warden: a section on several records is trivially copyable, has void "
                "access(access_list<n>&) const, and is called, const, as "
                "section(records<record, n>&[, context]), which returns an outcome");

 public:
  /// Largest number of records that a section names.
  static constexpr unsigned most_accesses = detail::most_accesses<Section>;
  /// Largest number of sections of a call.
  static constexpr std::size_t most = (std::size_t{1} << 31) / most_accesses - 1;

  /// Makes the memory for calls of at most `sections` sections. Precondition: the records of `on`
  /// outlive this object. Blocks the host, the first time until the launches of the guarded arrays
  /// have ended. Throws limit_error unless `sections` is from 1 to `most` and there are fewer than
  /// 2^32 records in all, in rounds at most 2^31, and cuda_error when memory is short.
  deferred_several(Guarded& on, std::size_t sections, several_options const& chosen = {},
                   std::source_location where = std::source_location::current())
      : device_{on.device()} {
    runtime::device_scope const scope{device_, where};
    if (sections == 0 || sections > most) {
      throw_limit_error("deferred_several: room for % sections; the limits are 1 and %",
                        {sections, most}, where);
    }
    if (on.size() > most_records) {
      throw_limit_error("deferred_several: a guarded array of % records; the limit is %",
                        {on.size(), most_records}, where);
    }
    capacity_ = sections;
    control_ = buffer<detail::several_control>{1, where};
    control_.fill_bytes(0, {}, where);
    detail::with_arrays(on, [&](auto&... all) { take_arrays(sections, where, all...); });
    arguments_.records = static_cast<std::uint32_t>(on.size());
    arguments_.control = control_.data();
    if constexpr (in_rounds) {
      rounds_.emplace(on, sections, where);
    } else {
      make_turns(chosen, where);
    }
    for (auto const& state : states_) state->begin_logs(where);
    stream_ref{}.synchronize(where);
  }

  /// Enqueues the sections `sections[0]` to `sections[n - 1]`, in the order above. Shape:
  /// `sections` and `outcomes` are [n] in device memory; `outcomes` may be null, and otherwise gets
  /// the result of each section, also if the run is put off or stopped. Precondition: both stay
  /// alive until the stream has executed the work. Allocates nothing. Throws limit_error if n
  /// exceeds the capacity or the stream is being captured, and cuda_error. No section runs then;
  /// in rounds, some may run, and `outcomes` tells which.
  void apply_async(Section const* sections, std::size_t n, outcome* outcomes = nullptr,
                   stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    demand_memory("apply_async: sections", sections, n, where);
    apply_async(n, detail::stored_sections<Section>{sections}, outcomes, s, where);
  }
  /// Enqueues the sections that `f(i)` returns for all i < n, in the order above. `f` is a function
  /// object or a `__device__` lambda. It may be called twice for each i. Precondition: both calls
  /// return the same section. Throws as the overload above.
  template <class Function>
  void apply_async(std::size_t n, Function const& f, outcome* outcomes = nullptr, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    static_assert(std::is_trivially_copyable_v<Function>,
                  "warden: the function of apply_async is copied to the device: it holds pointers "
                  "and values, and no host objects");
    if (n > capacity_) {
      throw_limit_error(
          "apply_async: % sections on several records; there is room for %: make "
          "the deferred_several larger",
          {n, capacity_}, where);
    }
    if (n != 0) enqueue(n, f, nullptr, outcomes, s, where);
  }

  /// Returns the argument of kernels that send sections to the log, at most `capacity()` until the
  /// next `run`. The first call makes the memory of the log, which is `sizeof(Section)` bytes for
  /// each section, and blocks the host. Throws cuda_error when memory is short.
  [[nodiscard]] several_ref<Section> ref(
      std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_, where};
    if (!log_) log_ = std::make_unique<log_memory>(states_.front(), capacity_, where);
    return {log_->sections.data(), log_->counter.data(), static_cast<std::uint32_t>(capacity_),
            arguments_.arrays.first.report};
  }
  /// Enqueues the sections that kernels have sent to the log, in the order of the numbers that
  /// `send` returned, unless they run in rounds. The log is empty again afterwards. Sections sent
  /// during the run are refused and reported. `outcomes` is [capacity()] in device memory, or null;
  /// places without a section get `outcome::not_run`. Precondition: the kernels that send are
  /// ordered before the run by a stream or an event. Allocates nothing. Throws as apply_async does.
  /// If the run is put off, and if this call throws, no section runs, and the log keeps them all.
  /// But if it throws after a round has begun, sections may run, and `outcomes` tells which. The
  /// log is empty then.
  void run(outcome* outcomes = nullptr, stream_ref s = {},
           std::source_location where = std::source_location::current()) {
    if (!log_) return note_not_run(outcomes, capacity_, s, where);
    enqueue(capacity_, detail::stored_sections<Section>{log_->sections.data()},
            log_->counter.data(), outcomes, s, where);
  }

  /// Returns the number of sections with each result in the last call; all are 0 if it was put off
  /// or threw. Commits in rounds are not counted if the time limit stops the run. A call of 0
  /// sections does not count. Blocks the host until the stream has executed its work. Throws
  /// cuda_error.
  [[nodiscard]] outcome_counts counts(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    runtime::device_scope const scope{device_, where};
    detail::several_control control{};
    copy(&control, control_.data(), 1, s, where);
    s.synchronize(where);
    if constexpr (in_rounds) return rounds_->counts(control);
    return control.counts;
  }
  /// Returns the largest number of sections of a call.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Returns the device memory of this object. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t bytes = turns_.bytes() + control_.bytes() + owned_.bytes();
    if (rounds_) bytes += rounds_->memory_bytes();
    for (detail::appended_memory const& rows : growing_)
      bytes += rows.sections.bytes() + rows.warps.bytes();
    return bytes + (log_ ? log_->sections.bytes() + log_->counter.bytes() : 0);
  }

 private:
  static constexpr std::uint64_t most_records = 0xffffffffu;
  using owner_memory = detail::owner_memory<records<record, most_accesses>::copy_bytes>;

  using rounds = typename detail::rounds_for<Guarded, Section, most_accesses>::type;
  static constexpr bool in_rounds = !std::is_same_v<rounds, detail::not_in_rounds>;

  /// Makes the memory in which turns are found, and that of hot records.
  void make_turns(several_options const& chosen, std::source_location where) {
    std::size_t const places = capacity_ * most_accesses;
    turns_ = {capacity_, places, arguments_.records, where};
    turns_.give_to(arguments_);
    // Owners wait for other blocks, so all blocks must be resident. They have records in shared
    // memory.
    runtime::device_facts const facts = runtime::facts(device_, where);
    if (chosen.hot_accesses != 0 && facts.cooperative_launch &&
        owner_memory{}.carver.bytes() <= facts.shared_bytes_per_block) {
      owned_ = {capacity_, places, chosen.hot_accesses, where};
      arguments_.owned = owned_.view(owner_memory::capacity);
    }
  }
  /// Takes what the kernels need of the arrays.
  template <class First, class... Others>
  void take_arrays(std::size_t sections, std::source_location where, First& first,
                   Others&... others) {
    using access = detail::guarded_access;
    auto& on = detail::array_source<First>::guarded_of(first);
    states_ = {access::shared(on),
               access::shared(detail::array_source<Others>::guarded_of(others))...};
    detail::view_arrays(arguments_.arrays, 0, sections, growing_, where, first, others...);
    arguments_.context = access::context(on);
    arguments_.limit = access::limit(on);
  }
  static unsigned blocks_of(std::size_t n, unsigned threads) {
    return static_cast<unsigned>((n + threads - 1) / threads);
  }
  /// Enqueues the sections that `f(i)` returns for all i < n, or those of a log with n places.
  template <class Function>
  void enqueue(std::size_t n, Function const& f, detail::log_shard* log, outcome* outcomes,
               stream_ref s, std::source_location where) {
    runtime::device_scope const scope{device_, where};
    // Runs in all streams share this object's memory, so they must not overlap. No event orders the
    // replays of a graph.
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "deferred_several: the stream is being captured into a graph, whose replays would share "
          "memory with other runs: call apply_async and run outside of the capture",
          {}, where);
    }
    for (auto const& state : states_) s.wait_for(state->last_work, where);
    arguments_type a = arguments_;
    a.sections = static_cast<std::uint32_t>(n);
    a.accesses = static_cast<std::uint32_t>(n * most_accesses);
    a.outcomes = outcomes;
    a.log = log;
    bool may_have_run = false;
    try {
      if constexpr (in_rounds) {
        note_not_run(outcomes, n, s, where);
        may_have_run = true;
        rounds_->run(a, f, s, where);
      } else {
        enqueue_turns(a, f, s, where);
      }
    } catch (...) {
      simt::launch(&detail::give_up_several<arguments_type>, 1, 1, 0, a, s, where);
      if (!may_have_run) note_not_run(outcomes, n, s, where);
      enqueued(s, where);
      throw;
    }
    enqueued(s, where);
  }
  /// Enqueues the kernels that order the accesses of all sections, and run them.
  template <class Function>
  void enqueue_turns(arguments_type& a, Function function, stream_ref s,
                     std::source_location where) const {
    void* arguments[] = {&a, &function};
    auto const name =
        simt::make_kernel(&detail::name_accesses<most_accesses, arguments_type, Function>);
    auto const run =
        simt::make_kernel(&detail::run_several<most_accesses, arguments_type, Function>);
    std::size_t const shared_bytes = a.owned.least != 0 ? owner_memory{}.carver.bytes() : 0;
    auto const resident = static_cast<unsigned>(
        runtime::resident_blocks(run, detail::several_threads, shared_bytes, where));
    unsigned blocks = std::min(blocks_of(a.sections, detail::several_threads), resident);
    if (a.owned.least != 0) {
      // Other blocks must run sections without an owner.
      a.owned.blocks = std::min({blocks, resident - (resident + 3) / 4, detail::most_owners});
      blocks = std::min(2 * blocks, resident);
      if (a.owned.blocks == 0) a.owned.least = 0;
    }
    if (a.log != nullptr)
      simt::launch(&detail::close_several<arguments_type>, 1, 1, 0, a, s, where);
    runtime::launch(name,
                    {blocks_of(a.sections, detail::order_threads), detail::order_threads, 0, false},
                    arguments, s, where);
    if constexpr (arguments_type::array_set::grows) {
      simt::launch(&detail::place_rows<arguments_type>, 1,
                   arguments_type::array_set::count * simt::warp_size, 0, a, s, where);
    }
    turns_.order(a, s, where);
    if (a.owned.least != 0) find_owners(a, s, where);
    runtime::launch(run, {blocks, detail::several_threads, shared_bytes, a.owned.least != 0},
                    arguments, s, where);
  }
  /// Sets `n` outcomes to `not_run`, if there are any.
  static void note_not_run(outcome* outcomes, std::size_t n, stream_ref s,
                           std::source_location where) {
    auto const not_run = static_cast<unsigned char>(outcome::not_run);
    if (outcomes != nullptr) runtime::fill_async(outcomes, not_run, n * sizeof(outcome), s, where);
  }
  void enqueued(stream_ref s, std::source_location where) {
    for (auto const& state : states_) state->enqueued(s, where);
  }
  /// Enqueues the kernels that give hot records and their sections to blocks.
  static void find_owners(arguments_type const& a, stream_ref s, std::source_location where) {
    constexpr unsigned threads = detail::order_threads;
    unsigned const blocks = blocks_of(a.sections, threads);
    simt::launch(&detail::join_hot_records<most_accesses, arguments_type>, blocks, threads, 0, a, s,
                 where);
    simt::launch(&detail::place_hot_records<arguments_type>, 1, 4 * threads, 0, a, s, where);
    simt::launch(&detail::own_sections<most_accesses, arguments_type>, blocks, threads, 0, a, s,
                 where);
  }

  /// Memory of a log. If it is destroyed with sections, `wait` reports them.
  struct log_memory {
    log_memory(std::shared_ptr<detail::shared_state> of, std::size_t size,
               std::source_location where)
        : state{std::move(of)}, sections{size, where}, counter{1, where} {
      counter.fill_bytes(0, {}, where);
      stream_ref{}.synchronize(where);
    }
    ~log_memory() {
      auto const size = static_cast<std::uint32_t>(sections.size());
      try {
        state->gone.push_back({std::move(counter), size, size});
      } catch (std::bad_alloc const&) {
        // Without memory for the record the sections cannot be reported.
      }
    }
    log_memory(log_memory const&) = delete;
    log_memory& operator=(log_memory const&) = delete;

    std::shared_ptr<detail::shared_state> state;
    buffer<Section> sections;           ///< [capacity]
    buffer<detail::log_shard> counter;  ///< sections sent
  };

  int device_;
  std::vector<std::shared_ptr<detail::shared_state>> states_;  ///< one of each guarded array
  std::size_t capacity_ = 0;
  std::unique_ptr<log_memory> log_;  ///< null before the first `ref`
  arguments_type arguments_{};
  detail::turn_memory turns_;
  buffer<detail::several_control> control_;
  detail::owned_memory owned_;
  std::vector<detail::appended_memory> growing_;  ///< one of each growing array
  /// If the sections run in rounds, which need no turns. Destroyed first: it may have work to
  /// finish that uses the other memory.
  std::optional<rounds> rounds_;
};

WARDEN_NAMESPACE_END
