// SPDX-License-Identifier: Apache-2.0
// Ranks of one process: host threads that take turns, and their messages.

#include "time_limit.hpp"

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace {

using bytes = std::vector<unsigned char>;

/// One collective call, as far as the ranks have come to it.
struct collective_call {
  std::string what;
  int arrived = 0;
  std::vector<bytes> gathered;                             ///< [rank]
  std::vector<std::shared_ptr<buffer<std::byte>>> shared;  ///< [rank]
  std::map<std::pair<int, int>, std::vector<bytes>> sent;  ///< [from, to] in its order
};

/// Ends a rank's thread as a signal ends a process: no error, which a body could catch.
struct killed {};

/// The ranks; one of them has the turn.
class rank_group {
 public:
  explicit rank_group(loopback_settings const& chosen)
      : chosen_{chosen}, choices_{chosen.seed}, ranks_(static_cast<std::size_t>(chosen.ranks)) {}

  [[nodiscard]] int size() const { return chosen_.ranks; }
  [[nodiscard]] bool can_share() const { return chosen_.can_share; }

  /// Makes the calling thread `rank`, and waits for its turn.
  void begin(int rank) {
    std::unique_lock lock{mutex_};
    await_turn(rank, lock);
  }
  /// Starts the first turn.
  void start() {
    std::lock_guard const lock{mutex_};
    pass_on();
  }
  /// Ends `rank`.
  void end(int rank) {
    std::lock_guard const lock{mutex_};
    ranks_[index(rank)].ended = true;
    pass_on();
  }

  /// Joins `rank`'s next call, with its own contribution. Returns all contributions when all ranks
  /// have come.
  std::shared_ptr<collective_call const> meet(int rank, std::string const& what,
                                              std::function<void(collective_call&)> const& add,
                                              std::source_location where) {
    std::unique_lock lock{mutex_};
    state& mine = ranks_[index(rank)];
    if (rank == chosen_.dying_rank && mine.calls == chosen_.dies_at) throw killed{};
    std::size_t const number = mine.calls++;
    if (calls_.size() <= number) calls_.push_back(std::make_shared<collective_call>());
    std::shared_ptr<collective_call> const call = calls_[number];
    if (chosen_.fails_at >= 0 && number >= static_cast<std::size_t>(chosen_.fails_at))
      fail("the communicator is in error");
    if (number >= chosen_.max_calls) {
      fail("no end after " + std::to_string(chosen_.max_calls) +
           " collective calls; the limit is loopback_settings::max_calls");
    }
    if (call->arrived == 0) {
      call->what = what;
      call->gathered.resize(ranks_.size());
      call->shared.resize(ranks_.size());
    } else if (call->what != what) {
      fail("another rank calls " + call->what + " here");
    }
    add(*call);
    ++call->arrived;
    mine.waits_for = call.get();
    pass_on();
    await_turn(rank, lock);
    mine.waits_for = nullptr;
    demand_no_failure(rank, what, where);
    return call;
  }
  /// Aborts the communicator for `rank`.
  void abort(int rank) {
    std::lock_guard const lock{mutex_};
    fail("rank " + std::to_string(rank) + " has aborted the communicator");
  }
  /// Throws if the communicator is in error.
  void check(int rank, std::source_location where) {
    std::lock_guard const lock{mutex_};
    demand_no_failure(rank, "waiting for other ranks", where);
  }
  /// Throws: a rank was sent other data than it expects.
  [[noreturn]] void mismatch(int rank, std::string const& what, std::source_location where) {
    std::lock_guard const lock{mutex_};
    fail(what);
    demand_no_failure(rank, "exchanging", where);
    std::terminate();
  }

 private:
  struct state {
    std::size_t calls = 0;
    collective_call const* waits_for = nullptr;
    bool ended = false;
  };
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  [[nodiscard]] bool can_go_on(state const& s) const {
    if (s.ended) return false;
    return s.waits_for == nullptr || s.waits_for->arrived == size() || !failure_.empty();
  }
  /// The first failure is the one that all later calls report.
  void fail(std::string const& why) {
    if (failure_.empty()) failure_ = why;
  }
  [[nodiscard]] std::vector<int> able_ranks() const {
    std::vector<int> able;
    for (int r = 0; r < size(); ++r) {
      if (can_go_on(ranks_[index(r)])) able.push_back(r);
    }
    return able;
  }
  /// Gives the turn to another rank, or to the same one again. If all waiting ranks would wait
  /// longer than the limit, their calls fail.
  void pass_on() {
    std::vector<int> able = able_ranks();
    bool const is_too_late =
        chosen_.late_seconds > chosen_.time_limit_seconds && able == std::vector{chosen_.late_rank};
    if (able.empty() || is_too_late) {
      std::string missing;
      for (int r = 0; r < size(); ++r) {
        if (ranks_[index(r)].waits_for == nullptr) missing.append(" ").append(std::to_string(r));
      }
      fail(no_end_within(chosen_.time_limit_seconds) + " of waiting for rank" + missing);
      able = able_ranks();
    }
    if (able.size() > 1) std::erase(able, chosen_.late_rank);
    turn_ = able.empty() ? -1 : able[choices_() % able.size()];
    turn_changed_.notify_all();
  }
  void await_turn(int rank, std::unique_lock<std::mutex>& lock) {
    turn_changed_.wait(lock, [&] { return turn_ == rank; });
  }
  void demand_no_failure(int rank, std::string const& what, std::source_location where) const {
    if (failure_.empty()) return;
    throw communicator_error{"rank " + std::to_string(rank) + " of " + std::to_string(size()) +
                                 ": " + what + ": " + failure_,
                             where};
  }

  loopback_settings chosen_;
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  std::mt19937_64 choices_;
  int turn_ = -1;
  std::vector<state> ranks_;
  std::vector<std::shared_ptr<collective_call>> calls_;
  std::string failure_;
};

/// Device memory shared by the ranks. It stays as long as any of them has it, like memory of a
/// process that others have mapped.
class common_memory final : public runtime::shared_memory {
 public:
  explicit common_memory(std::vector<std::shared_ptr<buffer<std::byte>>> of_ranks)
      : of_ranks_{std::move(of_ranks)} {}
  [[nodiscard]] std::byte* at(int rank) const override {
    return of_ranks_[static_cast<std::size_t>(rank)]->data();
  }

 private:
  std::vector<std::shared_ptr<buffer<std::byte>>> of_ranks_;  ///< [rank]
};

/// One rank's view. Sent data are read when the call is made, because the ranks wait for each other
/// as hosts, not in their streams. Received data are copied as work of the stream.
class loopback_transport final : public runtime::transport {
 public:
  loopback_transport(rank_group& all, int rank) : all_{all}, rank_{rank} {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return all_.size(); }

  void all_gather(void const* own, void* all, std::size_t count, stream_ref s,
                  std::source_location where) override {
    auto const mine = copied(own, count, s, where);
    auto const call = all_.meet(
        rank_, "a gathering of " + std::to_string(count) + " bytes",
        [&](collective_call& c) { c.gathered[static_cast<std::size_t>(rank_)] = mine; }, where);
    for (std::size_t r = 0; r < call->gathered.size(); ++r)
      arrive(static_cast<unsigned char*>(all) + r * count, call->gathered[r], s, where);
    kept_.push_back({s.handle(), call});
  }
  void exchange(std::span<runtime::outgoing const> sent,
                std::span<runtime::incoming const> received, stream_ref s,
                std::source_location where) override {
    std::vector<bytes> mine;
    for (auto const& m : sent) mine.push_back(copied(m.data, m.bytes, s, where));
    auto const call = all_.meet(
        rank_, "an exchange",
        [&](collective_call& c) {
          for (std::size_t i = 0; i < sent.size(); ++i)
            c.sent[{rank_, sent[i].rank}].push_back(std::move(mine[i]));
        },
        where);
    std::map<int, std::size_t> taken;
    for (auto const& m : received) {
      auto const found = call->sent.find({m.rank, rank_});
      std::size_t const number = taken[m.rank]++;
      if (found == call->sent.end() || found->second.size() <= number ||
          found->second[number].size() != m.bytes) {
        all_.mismatch(rank_,
                      std::to_string(m.bytes) + " bytes are expected of rank " +
                          std::to_string(m.rank) + ", which sends something else",
                      where);
      }
      arrive(m.data, found->second[number], s, where);
    }
    for (auto const& [way, messages] : call->sent) {
      if (way.second == rank_ && taken[way.first] != messages.size()) {
        all_.mismatch(rank_, "rank " + std::to_string(way.first) + " sends more than is expected",
                      where);
      }
    }
    kept_.push_back({s.handle(), call});
  }
  std::unique_ptr<runtime::shared_memory> share(std::size_t count,
                                                std::source_location where) override {
    if (!all_.can_share()) return nullptr;
    auto own = std::make_shared<buffer<std::byte>>(count, where);
    auto const call = all_.meet(
        rank_, "sharing " + std::to_string(count) + " bytes",
        [&](collective_call& c) { c.shared[static_cast<std::size_t>(rank_)] = std::move(own); },
        where);
    return std::make_unique<common_memory>(call->shared);
  }
  void abort() override { all_.abort(rank_); }
  void wait(stream_ref s, std::source_location where) override {
    all_.check(rank_, where);
    s.synchronize(where);
    std::erase_if(kept_, [&](kept const& k) { return k.stream == s.handle(); });
  }

 private:
  /// A call whose data work in a stream still reads.
  struct kept {
    CUstream_st* stream;
    std::shared_ptr<collective_call const> call;
  };

  static bytes copied(void const* from, std::size_t count, stream_ref s,
                      std::source_location where) {
    bytes all(count);
    runtime::copy_async(all.data(), from, count, s, where);
    s.synchronize(where);
    return all;
  }
  static void arrive(void* to, bytes const& from, stream_ref s, std::source_location where) {
    runtime::copy_async(to, from.data(), from.size(), s, where);
  }

  rank_group& all_;
  int rank_;
  std::vector<kept> kept_;
};

}  // namespace

std::vector<std::exception_ptr> run_ranks(loopback_settings const& chosen,
                                          std::function<void(communicator const&)> const& body) {
  rank_group all{chosen};
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(chosen.ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < chosen.ranks; ++r) {
    threads.emplace_back([&, r] {
      all.begin(r);
      try {
        body(communicator{std::make_shared<loopback_transport>(all, r)});
      } catch (killed const&) {  // a killed process reports nothing
      } catch (...) {
        thrown[static_cast<std::size_t>(r)] = std::current_exception();
      }
      all.end(r);
    });
  }
  all.start();
  for (std::thread& t : threads) t.join();
  return thrown;
}

WARDEN_HOST_NAMESPACE_END
