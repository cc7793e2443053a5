// SPDX-License-Identifier: Apache-2.0
/// @file
/// Records that are spread over the GPUs of a job, and critical sections on them from any.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/guarded.cuh>
#include <warden/guarded_options.hpp>
#include <warden/host/check_owner_map.cuh>
#include <warden/host/launch_access.cuh>
#include <warden/host/rank_channel.cuh>
#include <warden/host/same_owner_map.cuh>
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
                  (forwarding_section_of<Sections, Record, typename Policy::context> || ...)),
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
                  "warden: the policy has a rank_owner_map of its own: give the guarded one");
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
    detail::launch_access::shared(local_)->all_records = total;
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
    s.wait_for(detail::launch_access::shared(local_)->last_work, where);
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
  friend struct detail::launch_access;
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

WARDEN_NAMESPACE_END
