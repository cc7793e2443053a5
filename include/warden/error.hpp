// SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors of the host interface: facts about a launch that ended without progress, exceptions, and
/// counters of misuse. Constructors, launches and `wait` throw. Destructors never throw.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

// ---- a launch without progress

/// Thing that a device thread was waiting for when its time limit ran out.
enum class wait_kind : std::uint32_t {
  nothing,  ///< no wait has failed
  credit,   ///< a client waited for free slots of a channel
  message,  ///< a server waited for a reserved slot to be published
  lock,     ///< a server or a baseline waited for a lock
  answer,   ///< a caller waited for the answer of a section
  room,     ///< nothing: a ring was full of sections that sections had sent
  earlier,  ///< nothing: the launch did not run, because an earlier launch of one of its guarded
            ///< arrays had failed
  record_tile,  ///< a run in rounds waited for a tile that an earlier tile pair has
  tile,         ///< an allocation in order waited for an earlier tile
  task,         ///< a thread waited for a task, or for the end of all tasks
  task_slot,    ///< a thread waited for a slot of a task queue that another thread uses
  record_turn,  ///< a section on several records waited for earlier sections on one of them
};

/// The first wait that ran out of time. The thread that poisoned the launch wrote it.
struct failed_wait {
  wait_kind kind;         ///< kind of the thing waited for
  std::uint32_t block;    ///< block of the launch
  std::uint32_t thread;   ///< thread of that block
  std::uint32_t guarded;  ///< position of the guarded array among the launch's arguments
  std::uint32_t channel;  ///< server whose channel or lock table was waited for; or tile; or tasks
                          ///< in the ring of a task queue; or earlier sections on a record
  std::uint32_t launch;   ///< number of the launch among those of the first guarded array; all
                          ///< replays have one number
  std::uint64_t index;  ///< index of a slot, lock or tile; or number of tile pairs that come first;
                        ///< or of uncompleted tasks; or the section that waited
  std::uint32_t client_blocks;       ///< client blocks of the launch; all blocks, for a task queue
  std::uint32_t client_blocks_done;  ///< client blocks that had finished; threads that waited for a
                                     ///< task, for a task queue
  wait_kind cause;  ///< kind `earlier`: the failed wait of the earlier launch or run
};

/// State of one channel. All four indices only grow. `executed` and `released` never exceed
/// `reserved`.
struct channel_state {
  std::uint32_t guarded;    ///< position of the guarded array among the launch's arguments
  std::uint32_t server;     ///< the channel's server
  std::uint32_t capacity;   ///< slots
  bool started;             ///< true if its server block ever ran
  bool is_ring;             ///< true if servers send to it, instead of clients
  std::uint64_t reserved;   ///< slots handed to senders
  std::uint64_t published;  ///< first slot not yet published
  std::uint64_t executed;   ///< messages executed, counted from the channel's first index
  std::uint64_t released;   ///< slots returned to senders
};

/// Credits for sections on their way between servers, of a guarded array whose sections send
/// sections.
struct credits_state {
  std::uint32_t guarded;   ///< position of the guarded array among the launch's arguments
  std::uint64_t credits;   ///< number of credits
  std::int64_t available;  ///< credits that no thread holds; negative if sections sent more than
                           ///< they declare
};

/// Dump of a poisoned launch.
struct diagnosis {
  failed_wait wait{};                    ///< the wait that poisoned the launch
  double limit_seconds = 0;              ///< time limit without progress. Units: seconds
  std::uint32_t client_blocks = 0;       ///< client blocks of the launch
  std::uint32_t client_blocks_done = 0;  ///< client blocks that had finished
  std::vector<channel_state> channels;   ///< all channels of the launch, by guarded and server
  std::vector<credits_state> credits;    ///< credits of the guarded arrays that have any
};

/// Returns the name of the thing that a failed wait waited for.
char const* to_string(wait_kind kind);
/// Returns the dump as text: one line for the failed wait, and one for each channel that is not
/// empty.
std::string to_string(diagnosis const& d);

// ---- exceptions

/// Types of errors, the most severe first.
enum class error_type : unsigned char {
  device,        ///< cuda_error, or an error of no class below
  communicator,  ///< communicator_error
  timeout,       ///< timeout_error
  limit,         ///< limit_error
  other_rank,    ///< other_rank_error
};

/// One kind of error, as an exception reports it.
struct error_kind {
  error_type type;      ///< type of an exception that reports this kind alone
  std::uint64_t count;  ///< number of such errors; 1 if they are not counted
  std::string example;  ///< the first one: what is wrong, the value, the limit, the remedy
};

/// Base class of all errors. `what()` has one line for each kind, and ends with the place in
/// Warden's or the caller's code, "(file:line)".
class error : public std::runtime_error {
 public:
  /// Makes an error of one kind that has no class of its own.
  error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds. Precondition: `all` is not empty.
  error(std::vector<error_kind> all, std::source_location where);
  /// Returns all kinds, the most severe first.
  [[nodiscard]] std::vector<error_kind> const& all() const noexcept { return all_; }
  /// Returns the path of the source file, as the compiler saw it.
  [[nodiscard]] char const* file() const noexcept { return where_.file_name(); }
  /// Returns the line in that file.
  [[nodiscard]] unsigned line() const noexcept { return where_.line(); }

 private:
  std::source_location where_;
  std::vector<error_kind> all_;
};

/// A call of the CUDA runtime failed.
class cuda_error : public error {
 public:
  /// Makes an error of one kind. `code` is the `cudaError_t`.
  cuda_error(int code, std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  cuda_error(int code, std::vector<error_kind> all, std::source_location where);
  /// Returns the `cudaError_t` as a number.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A value is outside its limit. The message names both.
class limit_error : public error {
 public:
  /// Makes an error of one kind. `message` names the value and its limit.
  explicit limit_error(std::string const& message,
                       std::source_location where = std::source_location::current());
  /// Makes an error of several kinds.
  limit_error(std::vector<error_kind> all, std::source_location where);
};

/// Throws a limit_error whose message is `text`, with each "%" replaced by the next of `numbers`.
[[noreturn]] void throw_limit_error(char const* text, std::initializer_list<std::uint64_t> numbers,
                                    std::source_location where);
/// Throws a limit_error if `memory` is null, and `count`, the number of `what` that it should hold,
/// is not 0.
void demand_memory(char const* what, void const* memory, std::uint64_t count,
                   std::source_location where);
/// Throws a limit_error if a time limit is not above 0 and at most 1,000,000 seconds. `of` names
/// what has it.
void demand_time_limit(char const* of, double seconds, std::source_location where);

/// A communicator is in error, or a rank did not come within the time limit. Records of a
/// spread_guarded may be partly updated, and collective calls no longer work.
class communicator_error : public error {
 public:
  /// Makes an error of one kind. `message` names the rank that reports it, and what that rank
  /// waited for.
  communicator_error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  communicator_error(std::vector<error_kind> all, std::source_location where);
};

/// Other ranks of a spread_guarded had errors, which their own `wait` reports. This rank had none.
class other_rank_error : public error {
 public:
  /// Makes an error of one kind. `message` names the ranks.
  other_rank_error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  other_rank_error(std::vector<error_kind> all, std::source_location where);
};

/// A wait ran out of time without global progress. The launch is poisoned; its records may be
/// partly updated.
class timeout_error : public error {
 public:
  /// Makes an error of one kind, with the message `to_string(what)`.
  explicit timeout_error(diagnosis what,
                         std::source_location where = std::source_location::current());
  /// Makes an error of several kinds. `dump` is that of the first one.
  timeout_error(diagnosis dump, std::vector<error_kind> all, std::source_location where);
  /// Returns the dump: which thread waited for what, and the state of every channel.
  [[nodiscard]] diagnosis const& dump() const noexcept { return dump_; }

 private:
  diagnosis dump_;
};

/// Errors that a `wait` has found, to throw together as one exception.
class error_list {
 public:
  /// Adds a kind of error that occurred `count` times.
  void add(error_type type, std::string example, std::uint64_t count = 1);
  /// Adds a kind of timeout_error that occurred `count` times.
  void add(diagnosis dump, std::uint64_t count = 1);
  /// Adds all kinds that `e` reports.
  void add(error const& e);
  /// True if there are no errors.
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Throws all kinds, as an exception of the most severe type. Rethrows an exception that is
  /// alone, unchanged. Returns if there are no errors.
  void throw_all(std::source_location where);

  /// Calls `action`, and adds the error that it throws.
  template <class Action>
  void collect(Action const& action) {
    try {
      action();
    } catch (error const& e) {
      bool const is_alone = empty();
      add(e);
      if (is_alone) alone_ = std::current_exception();
    }
  }

 private:
  std::vector<error_kind> all_;
  std::exception_ptr alone_;       ///< the exception that reported all of these, if it was one
  int code_ = 0;                   ///< code of the first cuda_error
  std::optional<diagnosis> dump_;  ///< dump of the first timeout_error
};

// ---- misuse

/// Counters of one guarded array, in device memory until its `wait` takes them.
struct misuse_counts {
  std::uint64_t bad_ids;           ///< sends with an id outside the records
  std::uint64_t first_bad_id;      ///< the first such id, if there is one
  std::uint64_t bad_rows_from;     ///< bitwise complement of the lowest index of a loop with such
                                   ///< an id; 0 if no loop has one
  std::uint64_t apart;             ///< sends of a section whose two records have different owners
  std::uint64_t first_apart;       ///< ids of the two records of the first such send, 32 bits each
  std::uint64_t unflushed;         ///< messages that were staged and never flushed
  std::uint64_t unflushed_calls;   ///< calls that were staged and never flushed
  std::uint64_t calls_too_many;    ///< calls whose slot an earlier call still had
  std::uint64_t early_gets;        ///< answers requested before the block client had flushed
  std::uint64_t sends_too_many;    ///< sections sent by sections, beyond the declared number
  std::uint64_t refused;           ///< deferred sections whose log was full or being run
  std::uint64_t refused_by;        ///< number of sections that such a log holds
  std::uint64_t batches_at_most;   ///< batches that an ordered log holds, if it was out of batches
                                   ///< and not of space; otherwise 0
  std::uint64_t wrong_block_lost;  ///< sections sent by a deferred_block in blocks of another shape
  std::uint64_t wrong_block;       ///< shape of such a block; from bit 48 on, threads of its client
  std::uint64_t order_unknown;     ///< batches of two launches that got the same ref
  std::uint64_t not_whole;         ///< messages of a log that were not written yet
  std::uint64_t given_up;          ///< messages of logs whose run failed after it had begun
  std::uint64_t runs_put_off;      ///< runs of a log that found the guarded array in use
  std::uint64_t partner_at_work;  ///< runs of a deferred_between that found its second array in use
  std::uint64_t launches_amid;    ///< fused launches that found the guarded array in use
  std::uint64_t runs_skipped;     ///< runs of a log after a failure of the guarded array
  std::uint64_t partner_failed;   ///< runs of a deferred_between after its second array's failure
  std::uint64_t launches_skipped;   ///< launches after a failure of one of their guarded arrays
  std::uint64_t skip_cause;         ///< wait_kind of such a failure
  std::uint64_t accesses_too_many;  ///< sections on several records that named more than fit
  std::uint64_t accesses_at_most;   ///< number of records that such a section may name
  std::uint64_t accesses_unnamed;   ///< sections that used a record that they had not named, or
                                    ///< wrote one named for reading
  std::uint64_t rows_absent;        ///< ids of rows that sections have not appended yet
  std::uint64_t rows_refused;       ///< sections whose appended rows did not fit the array
  std::uint64_t rows_at_most;       ///< number of rows that such an array holds
  std::uint64_t rows_too_many;      ///< sections that appended more rows than any section may
  /// Largest request of a client for more shared memory than the launch has: the bytes requested in
  /// the high 32 bits, the bytes available in the low 32 bits.
  std::uint64_t shared_asked;
};

/// Adds the errors that the clients, launches and runs of a guarded array made. It has `size`
/// records, its policy says `calls_per_thread`, its destroyed logs held `never_run` sections, and
/// `failure` is the failure of its launches and runs, if there is one.
void add_misuse(error_list& found, misuse_counts const& report, std::size_t size,
                unsigned calls_per_thread, std::uint64_t never_run,
                std::optional<diagnosis> const& failure);

WARDEN_HOST_NAMESPACE_END
