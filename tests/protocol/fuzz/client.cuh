// SPDX-License-Identifier: Apache-2.0
// The kernel of the random programs: sends operations in every way that there is, keeps or drops
// the futures, and looks at the answers.
#pragma once

#include "program.hpp"
#include "sections.cuh"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace fuzz {

/// The clients of one virtual block, of one guarded array. `Setup` is a configuration (fuzz.cuh).
template <class Setup>
class client {
  using guarded = typename Setup::guarded;
  using ref = typename guarded::ref;
  using policy = typename guarded::policy;

 public:
  WARDEN_DEVICE client(ref const& r, warden::virtual_block const& at)
      : ref_{r}, block_{r, at}, thread_{r, at} {}

  /// Sends operation `number` of this thread, if it is valid. Collective; `chance` is the same for
  /// the whole block.
  WARDEN_DEVICE void round(way how, std::uint32_t number, bool valid, std::uint64_t chance) {
    operation const o = there().operation_of(number);
    if (Setup::reach.letters && valid) there().write(number, 0);
    if (valid && o.what == chain) begun_ = number;
    switch (how) {
      case way::block:
        send_by_block(number, o, valid);
        break;
      case way::append:
        if (valid) append(number, o);
        break;
      case way::block_call:
        call_by_block(number, o, valid);
        break;
      default:
        if (valid) send_or_call(number, o);
    }
    // A thread has called once at most. Its next call but `calls_per_thread` needs this one
    // flushed.
    ++rounds_since_flush_;
    if (rounds_since_flush_ == policy::calls_per_thread || chance % 2 == 0) flush(number);
  }
  /// Collective.
  WARDEN_DEVICE void finish(bool lingers) {
    static_cast<void>(block_.flush());
    settle();
    if (Setup::reach.letters && lingers && begun_ != no_chain) wait_for_chain();
  }

 private:
  using future = warden::future<ref, told>;
  template <class Section>
  static constexpr bool answers = warden::answer_bytes<Section, record, world> != 0;

  WARDEN_DEVICE world const& there() const { return ref_.sections_context; }

  /// Calls `f` with the section of each type that the operation would be, and the type's records.
  template <class F>
  WARDEN_DEVICE static void for_each(std::uint32_t number, operation const& o, F f) {
    Setup::for_each_section([&](auto type) {
      using section = typename decltype(type)::type;
      if constexpr (section::what == pair) {
        f(section::of(number, o), o.first, o.second);
      } else {
        f(section::of(number, o), o.first);
      }
    });
  }

  WARDEN_DEVICE void send_by_block(std::uint32_t number, operation const& o, bool valid) {
    for_each(number, o, [&](auto const& section, auto... ids) {
      block_.send(ids..., section, valid && o.what == section.what);
    });
  }
  WARDEN_DEVICE void append(std::uint32_t number, operation const& o) {
    for_each(number, o, [&](auto const& section, auto... ids) {
      if (o.what != section.what) return;
      if constexpr (sizeof...(ids) == 1) {
        block_.append(ids..., section);
      } else {
        thread_.send(ids..., section);
      }
    });
  }
  WARDEN_DEVICE void call_by_block(std::uint32_t number, operation const& o, bool valid) {
    make_room(number);
    for_each(number, o, [&](auto const& section, auto... ids) {
      bool const is_this = valid && o.what == section.what;
      if constexpr (answers<std::remove_cvref_t<decltype(section)>>) {
        auto f = block_.call(ids..., section, is_this);
        if (is_this) keep(std::move(f), number);
      } else {
        block_.send(ids..., section, is_this);
      }
    });
  }
  WARDEN_DEVICE void send_or_call(std::uint32_t number, operation const& o) {
    make_room(number);
    for_each(number, o, [&](auto const& section, auto... ids) {
      if (o.what != section.what) return;
      if constexpr (answers<std::remove_cvref_t<decltype(section)>>) {
        if (mix(number) % 4 != 0) {
          keep(thread_.call(ids..., section), number);
          if (mix(number) % 4 == 1) settle();
          return;
        }
      }
      thread_.send(ids..., section);
    });
  }

  WARDEN_DEVICE void flush(std::uint32_t number) {
    static_cast<void>(block_.flush());
    rounds_since_flush_ = 0;
    if (mix(number) / 4 % 2 == 0) settle();
  }
  /// One call must be over before the next one where a thread has only one at a time: its answer
  /// taken, or its future gone.
  WARDEN_DEVICE void make_room(std::uint32_t number) {
    if constexpr (policy::calls_per_thread == 1) {
      if (mix(number) / 8 % 2 == 0) settle();
      kept_ = future{};
      is_kept_ = false;
    }
  }
  /// The future that was kept before is dropped, if it was not taken.
  WARDEN_DEVICE void keep(future&& f, std::uint32_t number) {
    kept_ = std::move(f);
    number_ = number;
    is_kept_ = true;
  }
  /// Takes the answer of the last call, which has left the block.
  WARDEN_DEVICE void settle() {
    if constexpr (ref::has_answers) {
      if (!is_kept_) return;
      is_kept_ = false;
      operation const o = there().operation_of(number_);
      auto const a = kept_.get();
      if (!a || a->echo != echo_of(o.what, number_)) {
        there().note(wrong_answer);
        return;
      }
      warden::simt::store_relaxed(there().turns + number_, a->turn);
      if constexpr (Setup::reach.letters) {
        if (!sees_section(o, *a)) there().note(stale_letter);
      }
    }
  }
  /// Servers fence when they look whether their clients are done. Until then they have none to do.
  WARDEN_DEVICE void wait_for_chain() const {
    operation const o = there().operation_of(begun_);
    std::uint32_t const* const word = there().letter(begun_, 0);
    for (unsigned polls = 0;
         polls < 300 && warden::simt::load_relaxed(word) != o.value + o.links + 1; ++polls)
      warden::simt::back_off(10);
  }
  /// After the answer the caller sees the writes of the section, and maybe later ones.
  WARDEN_DEVICE bool sees_section(operation const& o, told const& a) const {
    std::uint32_t const steps = warden::simt::load_relaxed(there().letter(number_, 0)) - o.value;
    bool sees = steps >= 1 && steps <= (o.what == chain ? o.links + 1 : 1);
    // One of two records may still be on its way back.
    if (policy::records == warden::placement::in_memory && o.what != pair)
      sees = sees && warden::simt::load_relaxed(&ref_.records[o.first].count) >= a.turn;
    return sees;
  }

  static constexpr std::uint32_t no_chain = ~0u;

  ref const& ref_;
  typename guarded::block_client block_;
  typename guarded::thread_client thread_;
  std::conditional_t<ref::has_answers, future, char> kept_{};
  std::uint32_t number_ = 0;  ///< whose future is kept
  bool is_kept_ = false;
  unsigned rounds_since_flush_ = 0;
  std::uint32_t begun_ = no_chain;  ///< the last chain
};

/// Runs one launch's operations, on `Setup`'s guarded and maybe on `Partner`'s as well.
template <class Setup, class Partner>
struct kernel {
  launch what;

  using ref = typename Setup::guarded::ref;
  using partner_ref = typename Partner::guarded::ref;

  __device__ void operator()(warden::virtual_block const& at, ref const& r) const {
    client<Setup> mine{r, at};
    in_rounds(at, [&](auto... round) { mine.round(round...); });
    mine.finish(what.lingers);
  }
  __device__ void operator()(warden::virtual_block const& at, ref const& r,
                             partner_ref const& p) const {
    client<Setup> mine{r, at};
    client<Partner> partner{p, at};
    in_rounds(at, [&](auto... round) {
      mine.round(round...);
      partner.round(round...);
    });
    mine.finish(what.lingers);
    partner.finish(what.lingers);
  }
  __device__ void operator()(warden::virtual_block const& at, partner_ref const& p,
                             ref const& r) const {
    (*this)(at, r, p);
  }

 private:
  template <class Round>
  WARDEN_DEVICE void in_rounds(warden::virtual_block const& at, Round round) const {
    test::in_rounds(at, what.operations, [&](std::uint64_t i) {
      std::uint64_t const chance = mix(what.begin + i - at.thread_rank() + 77);
      way const how = what.how == way::any ? static_cast<way>((chance >> 32) % 4) : what.how;
      round(how, what.begin + static_cast<std::uint32_t>(i), i < what.operations, chance);
    });
  }
};

}  // namespace fuzz
