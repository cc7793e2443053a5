// SPDX-License-Identifier: Apache-2.0
/// @file
/// State that the first fused launch of a guarded array creates: owners, channels, rings and slots
/// for answers.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/shared_state.cuh>
#include <warden/detail/fused/answer_memory.cuh>
#include <warden/detail/fused/check_fused.cuh>
#include <warden/detail/fused/forward_memory.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/launch_history.cuh>
#include <warden/detail/fused/launch_state.cuh>
#include <warden/detail/fused/plan.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Use of a block's shared memory by a fused launch.
struct memory_plan {
  unsigned halvings = 0;     ///< halvings of the servers' windows
  bool has_outboxes = true;  ///< if false, a client block sends each message at once
};

/// Marks a guarded array's records as in use, or as free, for runs of its logs. Enqueued in `s`. A
/// captured launch marks them even without logs, because logs may exist at its replay.
inline void mark_records(shared_state& state, bool in_use, stream_ref s,
                         std::source_location where) {
  if (state.has_logs || runtime::capturing(s, where))
    runtime::fill_async(state.at_work.data(), in_use ? 2 : 0, state.at_work.bytes(), s, where);
}

/// State of a guarded array for fused launches.
template <class Policy, class Record, class... Sections>
class fused_state : fused_checks<Policy, Record, Sections...>, public fused_part {
  using guarded = guarded_state<Policy, Record, Sections...>;

 public:
  /// Argument that `launch_fused` passes to a kernel.
  using ref = guarded_ref<Policy, Record, Sections...>;

  /// Constructs the state for launches of `array`, which was made at `where`. Blocks the host.
  /// Throws limit_error for an impossible plan, and cuda_error if memory is short.
  fused_state(guarded const& array, std::source_location where)
      : options_{array.options_}, report_{array.state_->report.data()} {
    ref_.records = array.records_;
    ref_.size = array.size_;
    ref_.sections_context = array.context_;
    ref_.report = report_;
    plan<ref> planned{ref_, options_, array.device_, where};
    if (array.has_owners_) {
      options_.servers = array.owners_.servers();
      ref_.owners = array.owners_;
    } else if constexpr (std::is_same_v<decltype(ref_.owners), interleaved_owner_map>) {
      planned.choose_owners(array.size_);
    }
    planned.make(array.size_);
    channels_ = std::make_shared<channel_memory>(
        channel_memory{{},
                       buffer<channel_indices>{options_.servers, where},
                       buffer<simt::flit_words>{
                           options_.servers * ref::channel::flits(ref_.capacity_log2), where}});
    answers_.make(ref_, where);
    rings_.make(ref_, options_.servers, options_.forward_capacity, where);
    ref_.indices = channels_->indices.data();
    ref_.slots = channels_->slots.data();
    empty_channels({}, where);
    history_ =
        std::make_unique<launch_history>(launch_state{channel_groups(), array.state_->control});
    if (array.has_owners_) planned.check_owners(array.size_);
  }

  /// Returns the options, with all defaults replaced by values.
  [[nodiscard]] guarded_options const& options() const { return options_; }
  /// Returns the bytes of shared memory that a client block needs.
  [[nodiscard]] std::size_t outbox_bytes() const {
    return ref::outbox::shared_bytes(options_.servers);
  }
  /// Returns the bytes of shared memory that a server needs if its window is halved `halvings`
  /// times.
  [[nodiscard]] std::size_t server_bytes(unsigned halvings) const {
    return ref::server::shared_bytes(options_.capacity, ref_.locals, halvings);
  }
  /// Returns the state of this guarded array that the other guarded arrays of a launch need.
  [[nodiscard]] std::shared_ptr<launch_state const> const& own() const { return history_->own(); }
  /// Begins a launch of the guarded arrays `all`. Returns the device's view, and adds this guarded
  /// array's entries to `launch`. The view receives `launch` when that is complete.
  ref begin(launch_history::states all, memory_plan const& memory, std::size_t outbox_offset,
            launch_ref& launch) {
    ref r = ref_;
    r.position = launch.member_count;
    r.outbox_offset = static_cast<std::uint32_t>(outbox_offset);
    r.has_outbox = memory.has_outboxes;
    // The windows of a forwarding_server have one size.
    r.window_halvings = ref::sends_sections ? 0 : memory.halvings;
    launch.members[launch.member_count++] = {own()->control->data(), report_, history_->begin(all)};
    for (auto const& group : own()->groups)
      launch.groups[launch.group_count++] = {group.memory->indices.data(),
                                             group.servers};  // mutation: progress-rings
    return r;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return channels_->bytes() + rings_.bytes() + answers_.bytes();
  }
  void describe(diagnosis& d, failed_launch const& failed, stream_ref s,
                std::source_location where) const override {
    history_->describe(d, failed, s, where);
  }
  void reported() override { history_->reported(); }
  void reset_channels(stream_ref s, std::source_location where) override {
    empty_channels(s, where);
    rings_.reset(ref_, s, where);  // mutation: rings-kept
  }
  void reset_answers(stream_ref s, std::source_location where) override {
    answers_.reset(s, where);
  }

 private:
  /// Returns the channels, and the rings if there are any.
  std::vector<launch_state::channels> channel_groups() const {
    std::vector<launch_state::channels> groups;
    auto const list = [&]<class Channel>(auto const& memory, std::uint32_t capacity_log2,
                                         std::uint64_t credits) {
      groups.push_back({memory, options_.servers, capacity_log2, Channel::flits(capacity_log2),
                        &Channel::is_published, credits});
    };
    list.template operator()<typename ref::channel>(channels_, ref_.capacity_log2, 0);
    if constexpr (ref::sends_sections) {
      list.template operator()<typename ref::ring>(rings_.memory(), ref_.rings.capacity_log2,
                                                   ref_.rings.credits);
    }
    return groups;
  }
  void empty_channels(stream_ref s, std::source_location where) {
    channels_->template reset<typename ref::channel>(options_.first_index, ref_.capacity_log2, s,
                                                     where);
  }

  guarded_options options_;
  ref ref_{};
  guarded_report* report_;
  std::shared_ptr<channel_memory> channels_;
  forward_memory<ref> rings_;
  answer_memory<ref> answers_;
  std::unique_ptr<launch_history> history_;
};

/// Returns the number of virtual blocks for n sections: enough to keep all client blocks busy, and
/// each with enough sections to fill its outbox.
template <class Ref>
unsigned virtual_blocks_for(std::size_t n) {
  std::size_t const batch = Ref::outbox::batch;
  return static_cast<unsigned>(std::min<std::size_t>((n + batch - 1) / batch, 8u * 1024));
}

}  // namespace detail
WARDEN_NAMESPACE_END
