// SPDX-License-Identifier: Apache-2.0
/// @file
/// The block's client of a log: gathers the sections that a block's threads defer, and writes them
/// sorted.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/deferred/batch_combiner.cuh>
#include <warden/detail/deferred/batch_writer.cuh>
#include <warden/detail/deferred/client_storage.cuh>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Batches of a client of `Ref` that do not combine.
template <class Ref, unsigned Threads>
struct plain_batches {
  /// Writer of up to `PerThread` messages of each thread.
  template <unsigned PerThread>
  using writer = batch_writer<typename Ref::message_type, Threads, PerThread, Ref::in_order>;
};
/// Batches of a client of `Ref` that combine.
template <class Ref, unsigned Threads>
struct combining_batches {
  /// Writer of up to `PerThread` messages of each thread.
  template <unsigned PerThread>
  using writer = batch_writer<typename Ref::message_type, Threads, PerThread, false,
                              batch_combiner<typename Ref::formats, Threads, PerThread>>;
};

}  // namespace detail

/// The client of a log for blocks of `Threads` threads. Blocks and grids may have any dimensions.
/// Sections sent by a block of another number of threads are lost; `wait` reports them. With
/// order::sequential a block makes one client of each ref, and x counts first in the order of
/// blocks and of a block's threads. In the kernel:
///
///     __shared__ bank::deferred_block<256>::storage storage;
///     bank::deferred_block<256> client{accounts, storage};
///     client.send(id, deposit{10}, valid);  // all threads of the block together
///     client.flush();
///
/// `for_each` is the whole loop over n elements, which the blocks of the grid share.
///
/// Precondition: one client at a time uses a storage. A batch takes one atomic, and is written
/// linearly and sorted. A thread's own `send` takes one atomic for the converged lanes, and leaves
/// the sorting to the run. If the log combines, the sections on a record that repeats become one
/// section of the batch. The batch continues if half of it became free. The storage takes at most
/// `Bytes`, unless one message of each thread takes more. Batches do not combine if those that do
/// need more.
template <class Ref, unsigned Threads, std::size_t Bytes>
class deferred_block {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  using message_type = typename Ref::message_type;
  /// True if the log stores numbers and payloads apart.
  static constexpr bool is_apart = detail::is_apart<message_type>;
  /// Largest number of bytes of the batch for each thread. A multiprocessor of 227 KB then holds
  /// 1,536 threads, and 1,024 if the storage has room for more messages that are stored apart.
  static constexpr std::size_t bytes_each =
      is_apart && Bytes > static_storage_bytes ? Bytes / Threads : 112;
  static constexpr unsigned most_per_thread = std::min<unsigned>(
      bytes_each / (sizeof(message_type) + sizeof(std::uint16_t)),
      detail::batch_writer<message_type, Threads, 1, Ref::in_order>::most_per_thread);
  using site = simt::site;

 public:
  /// True if batches combine: the log does, and a batch that combines fits the storage.
  static constexpr bool combines = [] {
    if constexpr (Ref::combines) {
      return detail::combining_batches<Ref, Threads>::template writer<1>::shared_bytes() <= Bytes;
    } else {
      return false;
    }
  }();

 private:
  using batches = std::conditional_t<combines, detail::combining_batches<Ref, Threads>,
                                     detail::plain_batches<Ref, Threads>>;

  /// Messages of a thread in the largest batch that fits.
  static constexpr unsigned that_fit =
      detail::per_thread_that_fits<batches::template writer, most_per_thread, Bytes>();

 public:
  /// Messages of a thread in one batch: a multiple of 4 if that makes a batch at most a fifth
  /// smaller, because batches then end where an unrolled loop of sends does (docs/tuning-notes.md).
  static constexpr unsigned per_thread =
      !combines && 5 * (that_fit % 4) <= that_fit ? that_fit - that_fit % 4 : that_fit;

 private:
  using writer = typename batches::template writer<per_thread>;

 public:
  /// The block's shared memory, uninitialized. Declare it static if it has at most 48 KB, otherwise
  /// dynamic. It has at most 48 KB for blocks of up to 256 threads; for larger ones with messages
  /// of up to 32 bytes that are not in order; and for blocks of up to 512 threads
  /// if they are in order.
  struct alignas(16) storage {
    std::byte bytes[writer::shared_bytes()];  ///< for the client
  };

  /// Constructs the block's client. Collective. Precondition: `ref` and `memory` outlive the
  /// client, and `memory` is the same for the whole block.
  WARDEN_DEVICE deferred_block(Ref const& ref, storage& memory)
      : ref_{ref},
        memory_{memory},
        writer_{ref.log, memory.bytes},
        fits_{simt::block_threads() == Threads} {}
  /// Counts sections that were never flushed; `wait` reports them.
  WARDEN_DEVICE ~deferred_block() {
    if (unsent_ != 0) simt::fetch_add(&ref_.report->unflushed, std::uint64_t{unsent_});
  }
  deferred_block(deferred_block const&) = delete;
  deferred_block& operator=(deferred_block const&) = delete;

  /// Sends one section of each thread. Collective: every thread of the block calls it, with `valid`
  /// false if it has nothing to send. Flushes when the batch is full. An id outside the records is
  /// not logged, and is reported by `wait`.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t id, Section const& section, bool valid = true) {
    stage(valid && ref_.check(id), [&] { return Ref::formats::pack(ref_.number(id), section); });
  }
  /// Sends a section on the records `first` and `second`, which may be the same. Collective, as the
  /// send above.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t first, std::uint64_t second, Section const& section,
                          bool valid = true) {
    stage(valid && ref_.check(first, second), [&] { return Ref::pair(first, second, section); });
  }
  /// Sends as the send on one record does, for the element `index` of a loop. With
  /// order::sequential the simulated device then checks the order: sections that the threads of a
  /// launch send to one record by `send_at` must run in the order of their indexes. The order does
  /// not depend on `index`, and a GPU ignores it. Collective.
  template <class Section>
  WARDEN_DEVICE void send_at(std::uint64_t index, std::uint64_t id, Section const& section,
                             bool valid = true, site where = site::current()) {
    bool const sends = valid && has(index, id);
    if constexpr (Ref::in_order) {
      if (sends && fits_) {
        simt::note_loop_order(ref_.log.control, ref_.log.order.launch, id, index,
                              std::uint64_t{turn_} << 32 | staged_, where);
      }
    }
    stage(sends, [&] { return Ref::formats::pack(ref_.number(id), section); });
  }

  /// Calls `f(i)` once for each i < n, shared among the blocks of the grid, and sends what it
  /// returns: a `warden::to`, or a `warden::nothing_or<warden::to<Section>>`. Then flushes.
  /// Collective: all threads of the grid call it, with the same `n`. Each block gets one contiguous
  /// range, so with order::sequential the sections run in the order of i. A second for_each of the
  /// same launch that sends to the same records needs a ref and a client of its own for that.
  /// Several calls of `f` come before the first send, so that their loads overlap. Returns what
  /// `flush` returns.
  template <class Function>
  WARDEN_DEVICE std::uint32_t for_each(std::uint64_t n, Function const& f,
                                       site where = site::current()) {
    return for_each(detail::index_range{0, n}, f, where);
  }
  /// As for_each(n, f), for each i of a range.
  template <class Function>
  WARDEN_DEVICE std::uint32_t for_each(detail::index_range of, Function const& f,
                                       site where = site::current()) {
    using value = std::remove_cvref_t<decltype(f(of.end))>;
    std::uint64_t const n = of.count(), share = share_of(n), before = simt::block_rank() * share;
    std::uint64_t const begin = before < n ? before : n;
    std::uint64_t const end = n - begin < share ? n : begin + share;
    std::uint64_t const first = of.begin;  // mutation: apply-piece
    detail::load_then_send<at_once<value>, false>(
        first + begin, Threads, first + end, simt::thread_rank(), f,
        [&](std::uint64_t i, value const& v, bool valid) {
          auto const send = [&](auto const&... what) {
            if constexpr (sizeof...(what) == 3) {
              send_at(i, what..., where);
            } else {
              send_pair_at(i, what...);
            }
          };
          if constexpr (detail::names_later<Function>) {
            using named = decltype(f.named(i, v));
            detail::send_returned(valid ? f.named(i, v) : named{}, true, send);
          } else {
            detail::send_returned(v, valid, send);
          }
        });
    return flush();
  }
  /// Sends one section of each thread whose `test(record)` is true now: see deferred_ref::send_if,
  /// which takes no place in a batch for the other threads. Collective, as the send above.
  template <class Section, class Test>
  WARDEN_DEVICE void send_if(std::uint64_t id, Section const& section, Test const& test,
                             bool valid = true) {
    send(id, section, valid && ref_.should_send(id, test));
  }
  /// Logs one section at once. Not collective: any thread may call it, in any control flow between
  /// collectives. Returns false as a thread's own `send` does.
  template <class Section>
  WARDEN_DEVICE bool append(std::uint64_t id, Section const& section) const {
    return ref_.send(id, section);
  }
  /// Logs one section on two records at once. Not collective.
  template <class Section>
  WARDEN_DEVICE bool append(std::uint64_t first, std::uint64_t second,
                            Section const& section) const {
    return ref_.send(first, second, section);
  }
  /// Logs everything sent so far. Collective. Returns, in every thread, the number of the block's
  /// sections that found no place since the last flush. Sections that were combined count as one.
  WARDEN_DEVICE std::uint32_t flush() {
    if (!fits_) {
      std::uint32_t const lost = lose(ref_.report, memory_, unsent_);
      unsent_ = 0;
      return lost;
    }
    if constexpr (combines) staged_ = writer_.combine(staged_, false);
    std::uint32_t const refused = refused_ + (combines || staged_ != 0 ? pass_on() : 0);
    refused_ = 0;
    return refused;
  }

 private:
  /// Elements of a loop that a thread loads at once. Blocks whose batches are large are few, so
  /// each thread has two loads in flight at least.
  template <class Value>
  static constexpr unsigned at_once = std::max(detail::loaded_at_once(detail::loaded_bytes<Value>),
                                               is_apart ? 2u : 1u);
  /// Returns the elements of a block in a loop over n: a multiple of the block's threads, and
  /// enough for one batch of the log.
  WARDEN_DEVICE std::uint64_t share_of(std::uint64_t n) const {
    std::uint32_t const blocks = simt::block_count();
    std::uint64_t const even = ((n + Threads - 1) / Threads + blocks - 1) / blocks * Threads;
    std::uint64_t const least = (ref_.log.least_batch + Threads - 1) / Threads * Threads;
    return even < least ? least : even;
  }
  /// True if these ids name records. Otherwise counts the bad ids, and notes the row.
  template <class... Ids>
  WARDEN_DEVICE bool has(std::uint64_t row, Ids... ids) const {
    if (ref_.check(ids...)) return true;
    ref_.note_bad_row(row);
    return false;
  }
  /// Sends a section on two records for the element `index` of a loop. Collective.
  template <class Section>
  WARDEN_DEVICE void send_pair_at(std::uint64_t index, std::uint64_t first, std::uint64_t second,
                                  Section const& section, bool valid) {
    stage(valid && has(index, first, second), [&] { return Ref::pair(first, second, section); });
  }
  /// Stages the message that `message` returns if this thread `sends`, and advances to the thread's
  /// next message.
  template <class Message>
  WARDEN_DEVICE void stage(bool sends, Message const& message) {
    if (sends) ++unsent_;
    if (!fits_) return;  // the storage has no slots for threads of other blocks
    if (sends) {
      writer_.stage(staged_, message());
    } else {
      writer_.stage_nothing(staged_);
    }
    if (++staged_ < per_thread) return;
    staged_ = writer_.combine(staged_, true);
    if (writer::is_full(staged_)) refused_ += pass_on();
  }
  /// Reports sections sent by a block of another size, `unsent` of each thread. Returns their
  /// number in every thread. Collective.
  WARDEN_COLD static std::uint32_t lose(detail::guarded_report* report, storage& memory,
                                        unsigned unsent) {
    bool const first = simt::thread_rank() == 0;
    auto& sum = *reinterpret_cast<std::uint32_t*>(memory.bytes);
    simt::sync_block();
    if (first) simt::shared_store(sum, 0u);
    simt::sync_block();
    simt::shared_fetch_add(sum, unsent);
    simt::sync_block();
    std::uint32_t const lost = simt::shared_load(sum);
    if (first && lost != 0) {
      simt::fetch_add(&report->wrong_block_lost, std::uint64_t{lost});
      simt::store_relaxed(&report->wrong_block, std::uint64_t{Threads} << 48 | simt::block_shape());
    }
    return lost;
  }
  WARDEN_DEVICE std::uint32_t pass_on() {
    std::uint32_t const refused = writer_.flush(staged_, turn_);
    turn_ += simt::block_count();
    if (refused != 0 && simt::thread_rank() == 0) ref_.refuse(refused);
    staged_ = 0;
    unsent_ = 0;
    return refused;
  }

  Ref const& ref_;
  storage& memory_;
  writer writer_;
  bool const fits_;  ///< true if the block has as many threads as the client
  unsigned staged_ = 0;
  unsigned unsent_ = 0;
  std::uint32_t refused_ = 0;
  std::uint32_t turn_ = simt::block_rank();  ///< first shard to try; differs by block
};

WARDEN_NAMESPACE_END
