// SPDX-License-Identifier: Apache-2.0
// Latency of a message: from just before the send to the execution of the section, by the clock
// that all multiprocessors share.
#pragma once

#include "microbench/transport/null_executors.cuh"
#include "microbench/transport/senders.cuh"

#include <cstdint>

namespace transport {

struct latency_totals : run_totals {
  std::uint32_t* latencies;                ///< [probe] nanoseconds + 1; 0 until the probe has run
  alignas(128) std::uint32_t probes_done;  ///< 1 after the last probe, which ends the load
};

/// Section whose message is timed.
struct probe {
  static constexpr bool reads_other_memory = false;
  std::uint32_t sent;  ///< low half of the sender's clock, because probes take less than 4 s
  std::uint32_t number;
  __device__ void operator()(std::uint32_t&, latency_totals* t) const {
    auto const now = static_cast<std::uint32_t>(simt::nanoseconds());
    simt::store_relaxed(&t->latencies[number], now - sent + 1);
  }
};

/// Null executors that also run the sections, at the earliest place of an executor: after the block
/// or the warp has agreed on the messages that it received.
template <class Ref>
class probed_windows : public adding_windows<Ref> {
 public:
  using base = adding_windows<Ref>;
  using base::base;
  WARDEN_DEVICE void execute(typename base::message_type const (&m)[base::per_thread],
                             unsigned arrived) const {
    std::uint32_t record = 0;
    warden::record_id const no_id{};
    typename Ref::reply_type no_caller;
    WARDEN_UNROLL
    for (unsigned k = 0; k < base::per_thread; ++k) {
      if (arrived >> k & 1u)
        warden::detail::section_runner{base::ref_}.apply(m[k], record, no_id, no_caller);
    }
  }
};
template <class Ref>
class probed_slices : public adding_slices<Ref> {
 public:
  using base = adding_slices<Ref>;
  using base::base;
  WARDEN_DEVICE bool run(typename base::message_type const& m, bool arrived) {
    std::uint32_t record = 0;
    warden::record_id const no_id{};
    typename Ref::reply_type no_caller;
    if (arrived) warden::detail::section_runner{base::ref_}.apply(m, record, no_id, no_caller);
    return base::run(m, arrived);
  }
};
struct windows_with_probes {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr char const* name = windows::name;
  template <class Ref>
  using server = warden::detail::window_server<Ref, probed_windows<Ref>>;
};
struct slices_with_probes {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr char const* name = slices::name;
  template <class Ref>
  using server = warden::detail::slice_server<Ref, probed_slices<Ref>>;
};

/// Kernel whose first thread of virtual block 0 sends probes one by one, each after the previous
/// probe has run. The other virtual blocks load the servers concurrently, by block clients and at
/// full rate.
struct send_probes {
  std::uint32_t probes;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    partial_total sent;
    latency_totals& totals = *ref.sections_context;
    if (at.block_index() != 0) {
      send_load(at, ref, sent);
    } else if (at.thread_rank() == 0) {
      simt::store_relaxed(&totals.blocks, simt::block_count());
      for (std::uint32_t p = 0; p < probes && send_probe(at, ref, p, sent); ++p) {
      }
      simt::store_relaxed(&totals.probes_done, 1u);
    }
    sent.add_to(totals.sent);
  }

 private:
  /// Sends one probe and waits until it has run. Returns false if the launch is poisoned.
  template <class Ref>
  __device__ bool send_probe(warden::virtual_block const& at, Ref const& ref, std::uint32_t number,
                             partial_total& sent) const {
    std::uint32_t* const latency = &ref.sections_context->latencies[number];
    probe const p{static_cast<std::uint32_t>(simt::nanoseconds()), number};
    sent.add(null_section<1>{{p.sent, p.number}});
    if (!warden::thread_client<Ref>{ref, at}.send(mix(number) >> (32 - records_log2), p))
      return false;
    return ref.wait_until([&] { return simt::load_relaxed(latency) != 0; },
                          [&](auto watch) { watch(latency); }, warden::wait_kind::message, 0,
                          number);
  }

  template <class Ref>
  __device__ void send_load(warden::virtual_block const& at, Ref const& ref,
                            partial_total& sent) const {
    warden::block_client<Ref> client{ref, at};
    auto i = static_cast<std::uint32_t>(at.global_rank());
    bool alive = true;
    bool ends = false;
    while (alive && !ends) {
      // Sends one batch, then checks for the end of the probes.
      for (unsigned k = 0; k < Ref::outbox::per_thread; ++k) {
        std::uint32_t const mixed = mix(i);
        i += static_cast<std::uint32_t>(at.global_size());
        auto const section = null_section<1>::of(mixed);
        sent.add(section);
        alive = client.send(mixed >> (32 - records_log2), section);
      }
      ends = simt::sync_block_or(at.thread_rank() == 0 &&
                                 simt::load_relaxed(&ref.sections_context->probes_done) != 0);
    }
    client.flush();
  }
};

}  // namespace transport
