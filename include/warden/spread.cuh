// SPDX-License-Identifier: Apache-2.0
/// @file
/// Guarded arrays whose records are spread over several GPUs, and their logs.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/deferred.cuh>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/execute/check_owner_map.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/spread/rank_channel.cuh>
#include <warden/detail/spread/run_timeline.cuh>
#include <warden/detail/spread/same_owner_map.cuh>
#include <warden/detail/spread/spread_log.cuh>
#include <warden/error.hpp>
#include <warden/guarded.cuh>
#include <warden/owner_map.cuh>
#include <warden/policy.cuh>
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

/// A policy as one rank's share of a spread_guarded has it: its records are reached by logs alone.
template <class Policy>
struct spread_policy : Policy {
  /// Who of the rank's blocks has which record is the library's.
  using owner_map = interleaved_owner_map;
  /// Which rank has which record.
  using rank_map = typename Policy::rank_owner_map;
};

/// One rank's share of the records, as kernels see it.
template <class Record, class Map>
struct record_share {
  Record* records;       ///< `places` in global memory
  std::uint32_t places;  ///< of this rank; a few may have no record
  std::uint32_t rank;    ///< this one
  std::uint32_t total;   ///< records of all ranks
  Map map;               ///< record id to rank and place

  /// The id of the record at a place of this rank; not below `total` where there is none.
  WARDEN_DEVICE std::uint32_t id(std::uint32_t place) const { return map.id({rank, place}); }
  /// Whether record `id` is this rank's.
  WARDEN_DEVICE bool has(std::uint32_t id) const { return map(id).server == rank; }
  /// The record of that id, which is this rank's.
  WARDEN_DEVICE Record& at(std::uint32_t id) const { return records[map(id).local]; }
};

/// Critical sections of the given types on `total` records of which each rank holds a share.
///
///     warden::communicator world{nccl_comm};
///     warden::spread_guarded<account, deposit> bank{world, total};
///     warden::deferred later{bank, n};
///     payday<<<blocks, 256, 0, s>>>(later.ref(), n);  // ids are those of the whole
///     later.run(s);                                   // collective
///     bank.wait(s);                                   // collective
///
/// To be made, run and waited for by all ranks, in the same order. Sections are on one record, and
/// run by the rank that has it. Moves, does not copy; lives on the device current at construction.
template <class Policy, class Record, class... Sections>
class basic_spread_guarded {
  static_assert(!(pair_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections on two records are not spread over ranks: their records may be "
                "on two GPUs");
  static_assert(!(Policy::order::in_order &&
                  (sending_section_of<Sections, Record, typename Policy::context> || ...)),
                "warden: sections that send sections run in no order");
  static_assert(owner_map<typename Policy::rank_owner_map>,
                "warden: the policy's rank_owner_map lacks something: see the concept owner_map");

 public:
  /// What it was tuned by.
  using policy = spread_policy<Policy>;
  /// The type of one protected item.
  using record = Record;
  /// What every section is handed beside its record: this rank's.
  using context = typename Policy::context;
  /// Which rank has which record.
  using map_type = typename Policy::rank_owner_map;
  /// This rank's share of the records, as kernels see it.
  using share_type = record_share<Record, map_type>;
  /// What a kernel that defers sections is handed.
  using deferred_ref = warden::deferred_ref<policy, Record, Sections...>;
  /// The client of a log for blocks of `Threads` threads.
  template <unsigned Threads>
  using deferred_block = warden::deferred_block<deferred_ref, Threads>;

  /// `total` records, dealt out to the ranks one by one. Each rank makes its share, all bytes zero.
  /// Throws limit_error for an impossible plan and cuda_error when memory is short.
  basic_spread_guarded(communicator world, std::uint64_t total, context sections_context = {},
                       guarded_options chosen = {},
                       std::source_location where = std::source_location::current())
      : basic_spread_guarded{world, total, interleaved(world), sections_context, chosen, where} {
    static_assert(std::is_same_v<map_type, interleaved_owner_map>,
                  "warden: the policy has a rank_owner_map of its own: give the guarded array one");
  }
  /// The same with a map of one's own, whose servers are the ranks: equal on all of them, which is
  /// asked. Collective: throws communicator_error where a rank does not come.
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
      // Before each rank looks at its own, so that none is left waiting.
      detail::demand_same_owner_map(this->world(), map_, total, where);
      std::string const complaint =
          detail::complaint_about(map_, total, static_cast<std::uint32_t>(records_->size()), where);
      if (!complaint.empty()) throw limit_error{complaint, where};
    }
    records_->fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
  }

  /// Blocks the host until everything enqueued in `s` so far has run on this rank, and all runs of
  /// logs in whatever streams, and throws what was wrong here, as guarded::wait does, together
  /// with a kind of other_rank_error if there were errors on other ranks, and a kind of
  /// communicator_error if one does not come. Collective: all ranks are told of all errors, and the
  /// host waits for all ranks. If a rank does not come before the work of `s` is done, nothing is
  /// looked for, and what went wrong here stays for the next call.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device(), where};
    if (world().size() == 1 || runtime::capturing(s, where)) return local_.wait(s, where);
    // In whatever stream it was: it may wait for a rank that never comes, and this gives up.
    s.wait_for(detail::guarded_access::shared(local_)->last_work, where);
    world().by().wait(s, where);
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
                    ranks + ", whose wait tells it",
                others);
    });
    found.throw_all(where);
  }

  /// Records of all ranks.
  [[nodiscard]] std::uint64_t size() const { return total_; }
  /// This rank's share, in device memory.
  [[nodiscard]] buffer<Record> const& records() const { return *records_; }
  /// The same as kernels see it, which may read and write it where no run is under way.
  [[nodiscard]] share_type share() const {
    return {records_->data(), static_cast<std::uint32_t>(records_->size()),
            static_cast<std::uint32_t>(world().rank()), static_cast<std::uint32_t>(total_), map_};
  }
  /// The ranks.
  [[nodiscard]] communicator const& world() const { return errors_.world(); }
  /// Ordinal of the device it lives on.
  [[nodiscard]] int device() const { return local_.device(); }
  /// Device memory of the records, of reports and of what ranks tell one another, in bytes.
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
      throw limit_error{"spread_guarded: " + std::to_string(total) +
                            " records; the limits are 1 and " + std::to_string(0xfffffffe),
                        where};
    }
    if (ranks.servers() != static_cast<std::uint32_t>(world.size())) {
      throw limit_error{"spread_guarded: the owner map has " + std::to_string(ranks.servers()) +
                            " servers, and the communicator " + std::to_string(world.size()) +
                            " ranks",
                        where};
    }
    return ranks;
  }

  map_type map_;
  std::uint64_t total_;
  std::shared_ptr<buffer<Record>> records_;  ///< shared with the logs
  local_type local_;
  detail::rank_channel errors_;
};

/// With the defaults of `default_policy`.
template <class Record, class... Sections>
using spread_guarded = basic_spread_guarded<default_policy, Record, Sections...>;

/// A log of one rank, for sections on any rank's records: filled as any other log, and run by all
/// ranks together.
///
/// Takes, beside a log's memory, that of its messages once more, for what is packed, and
/// `deferred_options::room` for what comes; neither where there is one rank. Where sections send
/// sections there are two of all that: each holds what the sections of the other one send, and what
/// finds no place is refused and reported. Moves, does not copy.
template <class Policy, class Record, class... Sections>
requires detail::is_spread<Policy>
class deferred<Policy, Record, Sections...> {
  using log_type = detail::spread_log<Policy, Record, Sections...>;
  static constexpr bool sends =
      (sending_section_of<Sections, Record, typename Policy::context> || ...);
  static_assert(!(Policy::order::in_order && Policy::combines),
                "warden: order::sequential runs each section by itself: let the policy not say "
                "combines");

 public:
  /// What a kernel is handed, by value.
  using ref_type = typename log_type::ref_type;

  /// A log for `sections` sections of this rank at most. Collective: all ranks make one, with the
  /// same partitions; how many sections each holds, and has room for, is its own. The log
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

  /// What kernels that send are handed: trivially copyable, valid as long as the log lives. With
  /// order::sequential each launch has one of its own, and their sections run in the order of
  /// those, behind the sections of lower ranks, and before those of higher ones.
  [[nodiscard]] ref_type ref() { return logs_[0].ref(); }

  /// Runs everything that all ranks' logs accepted by then, each section on the rank that has its
  /// record; and what these sections send, until no rank has any. Collective. Blocks the host until
  /// all ranks have come and the counts of their messages are known, so until what `s` holds has
  /// run; the messages themselves, and the sections, are only enqueued. With one rank, and no
  /// sections that send any, it only enqueues. Where a rank's records are in another run nobody
  /// runs anything, which the guarded array's `wait` tells, and the logs stay as they were. Throws
  /// limit_error on all ranks, and leaves the logs as they are, if more would come to a rank than
  /// its log has room for (what sent that, if sections did, has run); limit_error while the stream
  /// is being captured; communicator_error when a rank does not come; cuda_error. If it throws
  /// before sections have left for other ranks, the log holds its sections as before; otherwise it
  /// is emptied, and the guarded array's `wait` reports how many may not have run.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    if (runtime::capturing(s, where)) {
      throw limit_error{
          "run: the stream is being captured into a graph, but the ranks have to tell one another "
          "how much they have for each when it runs",
          where};
    }
    logs_[0].run(s, where);
    if constexpr (sends) {
      for (unsigned turn = 1; logs_[turn].run(s, where); turn = 1 - turn) {
      }
    }
  }

  /// From here on each run records when its phases end, by timers in its streams. For benchmarks: a
  /// run takes longer. Sections that sections send are not recorded. Throws cuda_error.
  void record_phases(std::source_location where = std::source_location::current()) {
    logs_[0].record_phases(where);
  }
  /// Ends of the phases of the last run. Precondition: `record_phases` was called before that run.
  /// Blocks the host until the run has ended. Throws cuda_error.
  [[nodiscard]] run_phase_ends phase_ends(
      std::source_location where = std::source_location::current()) const {
    return logs_[0].phase_ends(where);
  }

  /// Sections that it holds.
  [[nodiscard]] std::size_t capacity() const { return logs_[0].capacity(); }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t sum = 0;
    for (log_type const& log : logs_) sum += log.memory_bytes();
    return sum;
  }

 private:
  std::vector<log_type> logs_;  ///< the one that kernels fill, and that which sections do
};

/// Which log is made of a spread_guarded.
template <class Policy, class Record, class... Sections>
deferred(basic_spread_guarded<Policy, Record, Sections...>&, std::size_t, deferred_options = {},
         std::source_location = {}) -> deferred<spread_policy<Policy>, Record, Sections...>;

WARDEN_NAMESPACE_END
