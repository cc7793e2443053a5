// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the sections that messages carry, and answers their callers.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/execute/section_client.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs sections of the guarded array of `ref`, on records that the caller has exclusively. The
/// caller is one thread, or all `Ref::group_size` lanes of a group with the same message and
/// record. The first lanes of the group run sections of fewer lanes.
template <class Ref>
class section_runner {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using context = typename Ref::context;
  using format = typename Ref::format;
  using answers = typename Ref::answers;
  using reply_type = typename Ref::reply_type;

 public:
  /// Precondition: `ref` outlives this object.
  WARDEN_DEVICE explicit section_runner(Ref const& ref) : ref_{ref} {}

  /// Runs the section that a message carries on `r`, the record or the copy that its owner holds.
  /// `id` converts to its record_id. Leaves its answer in `to_caller`. The ref sends the sections
  /// that it sends.
  template <class Id>
  WARDEN_DEVICE void apply(message_type const& m, record& r, Id const& id,
                           reply_type& to_caller) const {
    run(m, to_caller, [&](auto const& section) {
      if constexpr (sending_section_of<std::remove_cvref_t<decltype(section)>, record, context>) {
        return run_sending(ref_, section, r, id);
      } else {
        return run_with_id(section, r, ref_.sections_context, id);
      }
    });
  }
  /// Runs a section of one type. `to_send` sends the sections that it sends.
  template <class Sent, class Id, class Run>
  WARDEN_DEVICE void apply_one(Sent const& sent, record& r, Id const& id, reply_type& to_caller,
                               Run& to_send) const {
    run_one(sent, to_caller, [&](auto const& section) {
      if constexpr (sending_section_of<std::remove_cvref_t<decltype(section)>, record, context>) {
        return run_sending(to_send, section, r, id);
      } else {
        return run_with_id(section, r, ref_.sections_context, id);
      }
    });
  }
  /// Runs a section of one type on one or two records. `own` is the record whose owner has the
  /// message, and `id` converts to its record_id. `other` is the other record of a pair, and
  /// otherwise any.
  template <class Sent, class Id>
  WARDEN_DEVICE void apply(Sent const& sent, record& own, Id const& id, record& other,
                           reply_type& to_caller) const {
    run_one(sent, to_caller, [&](auto const& section) {
      if constexpr (is_paired<std::remove_cvref_t<decltype(section)>>) {
        // Not through a reference to either: a record in registers would then need an address.
        if (partner_of(section).is_first)
          return run_section_together(section.section(), other, own, ref_.sections_context);
        return run_section_together(section.section(), own, other, ref_.sections_context);
      } else {
        return run_with_id(section, own, ref_.sections_context, id);
      }
    });
  }
  /// Runs the section that a message carries, on two records if it is on two.
  template <class Id>
  WARDEN_DEVICE void apply(message_type const& m, record& own, Id const& id, record& other,
                           reply_type& to_caller) const {
    format::visit(m, [&](auto const& sent) { apply(sent, own, id, other, to_caller); });
  }
  /// Returns true if the message's section is on two records, and sets `local` to the place of the
  /// other record, which has the same owner.
  WARDEN_DEVICE bool second_of(message_type const& m, std::uint32_t& local) const {
    bool pair = false;
    if constexpr (Ref::has_pairs) {
      format::visit(m, [&](auto const& sent) {
        if constexpr (is_paired<std::remove_cvref_t<decltype(without_address(sent))>>) {
          pair = true;
          local = ref_.owners(partner_of(sent).id).local;
        }
      });
    }
    return pair;
  }
  /// True if the section of a message is a no-op on `r`. Precondition: no thread changes `r` at
  /// that time. Never true for a called section, because it has an answer to give.
  WARDEN_DEVICE bool is_noop(message_type const& m, record const& r) const {
    bool nothing = false;
    format::visit(
        m, [&](auto const& sent) { nothing = detail::is_noop(sent, r, ref_.sections_context); });
    return nothing;
  }
  /// True if the section of a message is a no-op that counts as run; the simulated device runs some
  /// of them nevertheless.
  WARDEN_DEVICE bool is_done(message_type const& m, record const& r) const {
    return is_noop(m, r) && !simt::doubts();
  }
  /// Runs a message's section on `r` by `run()`, by one thread. The simulated device reports a
  /// no-op section that changes `r`.
  template <class Run>
  WARDEN_DEVICE void run_checked(message_type const& m, record const& r, Run run) const {
    simt::run_checked(
        &r, [&] { return is_noop(m, r); }, run);
  }
  /// Notes that a lane of a group is about to run the message's section on the record at `place`,
  /// whose identity is `identity`.
  WARDEN_DEVICE void enter(lane_group<Ref::group_size> const& lanes, message_type const& m,
                           record const* identity, record const* place) const {
    simt::group_enter(lanes.mask(), identity, place, [&] { return is_noop(m, *place); });
  }
  /// Runs the section that a message carries as one atomic on `r`.
  WARDEN_DEVICE void apply_atomic(message_type const& m, record* r, reply_type& to_caller) const {
    static_assert(Ref::all_atomic,
                  "warden: a section has no member atomic(Record*, Context) const: it cannot be "
                  "run by the executor atomics");
    run(m, to_caller, [&](auto const& section) {
      using type = std::remove_cvref_t<decltype(section)>;
      using answer = answer_of<type, record, context>;
      static_assert(
          std::is_void_v<answer> ||
              std::is_same_v<
                  answer, std::remove_cvref_t<decltype(section.atomic(r, ref_.sections_context))>>,
          "warden: a section's member atomic returns what its operator() returns");
      return section.atomic(r, ref_.sections_context);
    });
  }
  /// Sends the answers of sections to their callers. The thread that ran them, and has written
  /// their records, calls it, or the first lane of a group after the group's `sync`.
  template <unsigned Count>
  WARDEN_DEVICE void reply(reply_type const (&replies)[Count]) const {
    if constexpr (Ref::has_answers) {
      bool any = false;
      WARDEN_UNROLL
      for (unsigned k = 0; k < Count; ++k) any = any || replies[k].is_called();
      if (!any) return;
      // Release: this thread ran the sections. The thread that gets an answer fences after it has
      // seen it.
      if constexpr (Ref::fences) simt::fence_device();  // mutation: answer-release
      WARDEN_UNROLL
      for (unsigned k = 0; k < Count; ++k) {
        if (replies[k].is_called()) ref_.answers_to.answer(replies[k].to, replies[k].message);
      }
    }
  }

 private:
  /// Runs a section that sends sections, by `to_send`.
  template <class Run, class Section, class Id>
  WARDEN_DEVICE typename answer_type<Section, record, context>::type run_sending(
      Run& to_send, Section const& section, record& r, Id const& id) const {
    section_client<Run> next{to_send, sends_sections_of<Section, record, context>};
    if constexpr (takes_id_and_client<Section, record, context>) {
      return section(r, ref_.sections_context, static_cast<record_id>(id), next);
    } else {
      return section(r, ref_.sections_context, next);
    }
  }
  /// Runs a message's section by `by(section)`.
  template <class By>
  WARDEN_DEVICE static void run(message_type const& m, reply_type& to_caller, By by) {
    format::visit(m, [&](auto const& sent) { run_one(sent, to_caller, by); });
  }
  template <class Sent, class By>
  WARDEN_DEVICE static void run_one(Sent const& sent, reply_type& to_caller, By by) {
    if (!takes_part<section_in<Sent>, Ref::group_size>()) return;
    if constexpr (is_called<Sent>) {
      to_caller = {{sent.word()}, answers::pack(by(without_address(sent)))};
    } else {
      static_cast<void>(by(sent));
    }
  }
  template <class Sent>
  WARDEN_DEVICE static auto without_address(Sent const& sent) {
    if constexpr (is_called<Sent>) {
      return sent.section();
    } else {
      return sent;
    }
  }

  Ref const& ref_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
