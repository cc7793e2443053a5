// SPDX-License-Identifier: Apache-2.0
/// @file
/// Guarded arrays whose records are spread over several GPUs, and their logs.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/deferred.cuh>
#include <warden/detail/deferred/client_storage.cuh>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/execute/check_owner_map.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/spread/rank_channel.cuh>
#include <warden/detail/spread/run_timeline.cuh>
#include <warden/detail/spread/same_owner_map.cuh>
#include <warden/detail/spread/spread_log.cuh>
#include <warden/error.hpp>
#include <warden/guarded.cuh>
#include <warden/policy.cuh>
#include <warden/run_report.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN

namespace detail {
/// Policy of one rank's share of a spread_guarded. Only logs reach its records.
template <class Policy>
struct spread_policy : Policy {
  /// Map from a record of the rank to its owner block.
  using owner_map = interleaved_owner_map;
  /// Map from record to rank.
  using rank_map = typename Policy::rank_owner_map;
};
template <class Policy>
inline constexpr bool is_policy<spread_policy<Policy>> = is_policy<Policy>;
}  // namespace detail

/// Device view of one rank's share of the records.
template <class Record, class Map>
struct record_share {
  Record* records;       ///< [places], in global memory
  std::uint32_t places;  ///< places of this rank; a few may hold no record
  std::uint32_t rank;    ///< this rank
  std::uint32_t total;   ///< records of all ranks
  Map map;               ///< map from record id to rank and place

  /// Returns the id of the record at a place of this rank. A value of `total` or more means that
  /// the place holds no record.
  WARDEN_DEVICE std::uint32_t id(std::uint32_t place) const { return map.id({rank, place}); }
  /// True if this rank has record `id`.
  WARDEN_DEVICE bool has(std::uint32_t id) const { return map(id).server == rank; }
  /// Returns record `id`. Precondition: `has(id)`.
  WARDEN_DEVICE Record& at(std::uint32_t id) const { return records[map(id).local]; }
};

/// Runs critical sections of the given types on `total` records. Each rank holds a share of them.
///
///     warden::communicator world{nccl_comm};
///     warden::spread_guarded<account, deposit> bank{world, total};
///     warden::deferred later{bank, n};
///     payday<<<blocks, 256, 0, s>>>(later.ref(), n);  // ids are those of the whole
///     later.run(s);                                   // collective
///     bank.wait(s);                                   // collective
///
/// Collective: all ranks construct, run and wait, in the same order. Sections are on one record;
/// the rank that has the record runs them. Moves, does not copy. Lives on the device that is
/// current at construction.
template <class Policy, class Record, class... Sections>
class basic_spread_guarded : detail::policy_checks<Policy> {
  static_assert(!(pair_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections on two records are not spread over ranks: their records may be "
                "on two GPUs");
  static_assert(!(Policy::order::in_order &&
                  (sending_section_of<Sections, Record, typename Policy::context> || ...)),
                "warden: sections that send sections run in no order");
  static_assert(owner_map<typename Policy::rank_owner_map>,
                "warden: the Map of warden::rank_owners<Map> does not satisfy the concept "
                "warden::owner_map");

 public:
  /// Policy that the guarded array was tuned by.
  using policy = detail::spread_policy<Policy>;
  /// Type of one protected item.
  using record = Record;
  /// Type of the read-only object that every section gets in addition to its record. Each rank has
  /// its own object.
  using context = typename Policy::context;
  /// Map from record to rank.
  using map_type = typename Policy::rank_owner_map;
  /// Device view of this rank's share of the records.
  using share_type = record_share<Record, map_type>;
  /// Argument of a kernel that defers sections.
  using deferred_ref = warden::deferred_ref<policy, Record, Sections...>;
  /// Client of a log, for blocks of `Threads` threads. Its storage has up to `Bytes` bytes.
  template <unsigned Threads, std::size_t Bytes = static_storage_bytes>
  using deferred_block = warden::deferred_block<deferred_ref, Threads, Bytes>;

  /// Deals `total` records out to the ranks, one by one. Each rank allocates its share, all bytes
  /// zero. Throws limit_error for an impossible plan and cuda_error when memory is short.
  basic_spread_guarded(communicator world, std::uint64_t total, context sections_context = {},
                       guarded_options chosen = {},
                       std::source_location where = std::source_location::current())
      : basic_spread_guarded{world, total, interleaved(world), sections_context, chosen, where} {
    static_assert(
        std::is_same_v<map_type, interleaved_owner_map>,
        "warden: the policy names warden::rank_owners<Map>: give the guarded array a Map");
  }
  /// Deals the records out by a map of the user, whose servers are the ranks. Collective.
  /// Precondition: the map is equal on all ranks; the constructor checks this. Throws limit_error,
  /// cuda_error, and communicator_error if a rank does not come.
  basic_spread_guarded(communicator world, std::uint64_t total, map_type ranks,
                       context sections_context = {}, guarded_options chosen = {},
                       std::source_location where = std::source_location::current())
      : map_{checked(world, total, ranks, where)},
        total_{total},
        records_{
            std::make_shared<buffer<Record>>(static_cast<std::size_t>(ranks.locals(total)), where)},
        local_{*records_, sections_context, chosen, where},
        errors_{std::move(world), 1, where} {
    detail::guarded_access::shared(local_)->all_records = total;
    if constexpr (!std::is_same_v<map_type, interleaved_owner_map>) {
      // Comes before each rank checks its own map, so that no rank is left waiting.
      detail::demand_same_owner_map(this->world(), map_, total, where);
      std::string const error_text =
          detail::owner_map_error(map_, total, static_cast<std::uint32_t>(records_->size()), where);
      if (!error_text.empty()) throw limit_error{error_text, where};
    }
    records_->fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
  }

  /// Blocks the host until everything enqueued in `s` so far has run on this rank, and all runs of
  /// logs in all streams. Collective: the host waits for all ranks, and all ranks learn of all
  /// errors.
  ///
  /// Throws the errors of this rank, as guarded::wait does. Adds other_rank_error if other ranks
  /// had errors, and communicator_error if a rank does not come. If a rank does not come before the
  /// work of `s` is done, the call looks for no errors, and the errors of this rank stay for the
  /// next call.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device(), where};
    if (world().size() == 1 || runtime::capturing(s, where)) return local_.wait(s, where);
    // The last run may be in any stream, and may wait for a rank that never comes; the wait below
    // has a time limit.
    s.wait_for(detail::guarded_access::shared(local_)->last_work, where);
    world().transport().wait(s, where);
    error_list found;
    found.collect([&] { local_.wait(s, where); });
    bool const any_here = !found.empty();
    found.collect([&] {
      std::array<std::uint32_t, 1> const failed{any_here};
      auto const all = errors_.gather(failed, where);
      std::string ranks;
      std::uint64_t others = 0;
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (all[r] == 0 || r == static_cast<std::size_t>(world().rank())) continue;
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
        ++others;
      }
      if (others == 0) return;
      found.add(error_type::other_rank,
                "rank " + std::to_string(world().rank()) + " of " + std::to_string(world().size()) +
                    (any_here ? ": errors also on rank " : ": no error here, but on rank ") +
                    ranks + "; wait reports them there",
                others);
    });
    found.throw_all(where);
  }

  /// Returns the number of records of all ranks.
  [[nodiscard]] std::uint64_t size() const { return total_; }
  /// Returns this rank's share, in device memory.
  [[nodiscard]] buffer<Record> const& records() const { return *records_; }
  /// Returns the device view of this rank's share. Kernels may read and write it while no run
  /// executes.
  [[nodiscard]] share_type share() const {
    return {records_->data(), static_cast<std::uint32_t>(records_->size()),
            static_cast<std::uint32_t>(world().rank()), static_cast<std::uint32_t>(total_), map_};
  }
  /// Returns the ranks.
  [[nodiscard]] communicator const& world() const { return errors_.world(); }
  /// Returns the ordinal of the device that holds the share.
  [[nodiscard]] int device() const { return local_.device(); }
  /// Returns the device memory of records, reports and the exchange between ranks. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return records_->bytes() + local_.memory_bytes() + errors_.bytes();
  }

 private:
  friend struct detail::guarded_access;
  using local_type = basic_guarded<policy, Record, Sections...>;

  static map_type interleaved(communicator const& world) {
    return {static_cast<std::uint32_t>(world.size()), 1};
  }
  static map_type checked(communicator const& world, std::uint64_t total, map_type const& ranks,
                          std::source_location where) {
    if (total == 0 || total > 0xfffffffe) {
      throw_limit_error("spread_guarded: % records; the limits are 1 and %", {total, 0xfffffffe},
                        where);
    }
    if (ranks.servers() != static_cast<std::uint32_t>(world.size())) {
      throw_limit_error("spread_guarded: the owner map has % servers, and the communicator % ranks",
                        {ranks.servers(), static_cast<unsigned>(world.size())}, where);
    }
    return ranks;
  }

  map_type map_;
  std::uint64_t total_;
  std::shared_ptr<buffer<Record>> records_;  ///< shared with the logs
  local_type local_;
  detail::rank_channel errors_;
};

/// Spread guarded array with the default policy.
template <class Record, class... Sections>
using spread_guarded = basic_spread_guarded<policy<>, Record, Sections...>;

/// Log of one rank, for sections on the records of any rank. Kernels fill it as any other log; all
/// ranks run it together.
///
/// Memory: twice that of a log's messages, because messages are packed, and
/// `deferred_options::room` for messages that arrive. One rank alone needs neither. If sections
/// send sections there are two such logs: each holds the sections that the sections of the other
/// one send. Sections that find no place are refused and reported. Moves, does not copy.
template <class Policy, class Record, class... Sections>
requires detail::is_spread<Policy>
class deferred<Policy, Record, Sections...> {
  using log_type = detail::spread_log<Policy, Record, Sections...>;
  static constexpr bool sends =
      (sending_section_of<Sections, Record, typename Policy::context> || ...);

 public:
  /// Argument of a kernel, passed by value.
  using ref_type = typename log_type::ref_type;

  /// Makes a log for at most `sections` sections of this rank. Collective: all ranks make one, with
  /// the same number of partitions. Each rank chooses its number of sections and its room. The log
  /// keeps this rank's records alive. Throws limit_error for an impossible plan and cuda_error when
  /// memory is short.
  template <class Guarded>
  deferred(Guarded& of, std::size_t sections, deferred_options chosen = {},
           std::source_location where = std::source_location::current()) {
    logs_.reserve(2);
    for (int k = 0; k < (sends ? 2 : 1); ++k) logs_.emplace_back(of, sections, chosen, where);
    if constexpr (sends) {
      logs_[0].send_to(logs_[1]);
      logs_[1].send_to(logs_[0]);
    }
  }

  /// Returns the argument of kernels that send: trivially copyable, valid as long as the log lives.
  /// With order::sequential and order::deterministic each launch has its own. Its sections come
  /// after those of earlier ones, after the sections of lower ranks, and before those of higher
  /// ranks.
  [[nodiscard]] ref_type ref() { return logs_[0].ref(); }

  /// Runs all sections that the logs of all ranks have accepted, each on the rank that has its
  /// record, and the sections that these send, until no rank has any left. Collective.
  ///
  /// Blocks the host until all ranks have come and the counts of their messages are known, so until
  /// the work in `s` has run. Messages and sections are only enqueued. With one rank, and no
  /// sections that send sections, the call only enqueues. If the records of a rank are in another
  /// run, no rank runs anything, the logs stay as they were, and the guarded array's `wait` reports
  /// it.
  ///
  /// Throws limit_error on all ranks if more sections would come to a rank than its log has room
  /// for; the logs stay as they were. Sections that had sent these sections have run. Throws
  /// limit_error while the stream is being captured, communicator_error if a rank does not come,
  /// and cuda_error. If the call throws before sections have left for other ranks, the log holds
  /// its sections as before. Otherwise the log is emptied, and the guarded array's `wait` reports
  /// how many sections may not have run.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "run: the stream is being captured into a graph, but the ranks exchange counts during "
          "the run; run the log outside of the capture",
          {}, where);
    }
    logs_[0].run(s, where);
    if constexpr (sends) {
      for (unsigned turn = 1; logs_[turn].run(s, where); turn = 1 - turn) {
      }
    }
  }

  /// Makes each later run record when its phases end, by timers in its streams. For benchmarks: a
  /// run takes longer. Sections that sections send are not recorded. Throws cuda_error.
  void record_phases(std::source_location where = std::source_location::current()) {
    logs_[0].record_phases(where);
  }
  /// Returns the ends of the phases of the last run. Precondition: `record_phases` was called
  /// before that run. Blocks the host until the run has ended. Throws cuda_error.
  [[nodiscard]] run_phase_ends phase_ends(
      std::source_location where = std::source_location::current()) const {
    return logs_[0].phase_ends(where);
  }

  /// Returns facts about this rank's part of the last run; see run_report. If sections send
  /// sections, it is about those that kernels have sent. Precondition: `wait` of the guarded array
  /// has returned or thrown since the run. Blocks the host. Throws limit_error without such a wait,
  /// and cuda_error.
  [[nodiscard]] run_report explain(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    return logs_[0].explain(s, where);
  }
  /// Returns the largest number of sections that the log holds.
  [[nodiscard]] std::size_t capacity() const { return logs_[0].capacity(); }
  /// Returns the device memory of the log. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t sum = 0;
    for (log_type const& log : logs_) sum += log.memory_bytes();
    return sum;
  }

 private:
  std::vector<log_type> logs_;  ///< the log that kernels fill, and the one that sections fill
};

/// Deduces the type of the log of a spread guarded array.
template <class Policy, class Record, class... Sections>
deferred(basic_spread_guarded<Policy, Record, Sections...>&, std::size_t, deferred_options = {},
         std::source_location = {}) -> deferred<detail::spread_policy<Policy>, Record, Sections...>;

WARDEN_NAMESPACE_END
