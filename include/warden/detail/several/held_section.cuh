// SPDX-License-Identifier: Apache-2.0
/// @file
/// The section that a thread holds, with its copies of records.
#pragma once

#include <warden/detail/several/records.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Where the records of a section are.
template <unsigned Most>
struct record_places {
  std::uint32_t ids[Most];   ///< numbers among the records of all arrays
  unsigned owned = 0;        ///< bit s: the block owns the record of access s
  access_turn turns[Most];   ///< if the block owns a record, `place()` is its number there
  std::byte* own = nullptr;  ///< records of the block
};

/// Returns the result of a section that returned `wanted`, and used only records that it had named
/// unless `is_misused`.
WARDEN_DEVICE outcome result_of(outcome wanted, bool is_misused) {
  bool const commits = wanted == outcome::commit;  // mutation: several-abort
  if (is_misused) return outcome::refused;
  return commits ? outcome::commit : outcome::abort;
}

/// A section whose records may be large: it uses records that it only reads where they are.
/// Everything is in local memory.
template <unsigned Most, class Arguments, class Section>
class held_section {
  using records_type = records<typename Arguments::types, Most>;

 public:
  /// Bytes of each copy.
  static constexpr std::size_t copy_bytes = records_type::copy_bytes;
  /// True if `copy` must be called for all records, and not for those only that the section writes.
  static constexpr bool copies_all = false;
  /// Memory of the section.
  struct memory {
    records_type records;
    Section section;
  };

  WARDEN_DEVICE explicit held_section(std::byte* storage)
      : held_{reinterpret_cast<memory*>(storage)} {}

  /// Holds `section`, and notes where its records are. If the block owns any of them, `copy` must
  /// be called for all others.
  WARDEN_DEVICE void hold(Arguments const& a, Section const& section, std::uint32_t number,
                          named_accesses const& named, record_places<Most> const& at) {
    ::new (static_cast<void*>(held_)) memory{{a.arrays, at.ids, named, number}, section};
    unsigned const others = ((1u << named.count) - 1) & ~at.owned;
    held_->records.place_in_arrays(others);
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((at.owned >> s & 1) != 0)
        held_->records.place_at(s, at.own + at.turns[s].place() * copy_bytes);
    }
    held_->records.use_copies(at.owned != 0 ? others | named.writes : named.writes);
  }
  /// Copies the records of the accesses in a mask.
  WARDEN_DEVICE void copy(unsigned slots) { held_->records.copy(slots); }
  /// Calls the section. Returns `refused` if it used a record that it had not named.
  template <class Context>
  WARDEN_DEVICE outcome call(Context const& context) {
    outcome const wanted = call_on_several(held_->section, held_->records, context);
    return result_of(wanted, held_->records.is_misused());
  }
  /// Writes the copies of the accesses in a mask back. Calls `written(record)` after each.
  template <class Written>
  WARDEN_DEVICE void commit(unsigned slots, Written const& written) {
    held_->records.commit(slots, written);
  }

 private:
  memory* const held_;
};

/// A section with small records: it uses copies of all of them, in registers.
template <unsigned Most, class Arguments, class Section>
requires(has_small_records<typename Arguments::array_set, Most>) class held_section<Most, Arguments,
                                                                                    Section> {
  using record = typename decltype(Arguments::array_set::first)::record;
  using records_type = records<typename Arguments::types, Most>;

 public:
  static constexpr std::size_t copy_bytes = sizeof(record);
  static constexpr bool copies_all = true;
  struct memory {
    Section section;
  };

  WARDEN_DEVICE explicit held_section(std::byte* storage)
      : section_{reinterpret_cast<Section*>(storage)} {}

  WARDEN_DEVICE void hold(Arguments const& a, Section const& section, std::uint32_t,
                          named_accesses const& named, record_places<Most> const& at) {
    ::new (static_cast<void*>(section_)) Section{section};
    named_ = named;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      copies_[s] = {};
      if (s >= named.count) continue;
      bool const is_own = (at.owned >> s & 1) != 0;
      places_[s] = is_own ? reinterpret_cast<record*>(at.own + at.turns[s].place() * copy_bytes)
                          : a.arrays.first.at(at.ids[s]);
    }
  }
  /// Loads all before it stores any, because the copies are in registers: so the loads overlap.
  WARDEN_DEVICE void copy(unsigned slots) {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((slots >> s & 1) != 0) copy_record(&copies_[s].value, places_[s]);
    }
  }
  template <class Context>
  WARDEN_DEVICE outcome call(Context const& context) {
    if (named_.positions == named_.count) return call_on(*section_, named_, true, copies_, context);
    copies all;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) all[s] = copies_[s];
    outcome const result = call_repeated(*section_, named_, all, context);
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) copies_[s] = all[s];
    return result;
  }
  template <class Written>
  WARDEN_DEVICE void commit(unsigned slots, Written const& written) {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((slots >> s & 1) == 0) continue;
      copy_record(places_[s], &copies_[s].value);
      written(places_[s]);
    }
  }

 private:
  using copies = typename records_type::copies;

  /// Calls a section on `all`, and changes them as it does.
  template <class Context>
  WARDEN_DEVICE static outcome call_on(Section const& section, named_accesses const& named,
                                       bool is_plain, copies& all, Context const& context) {
    records_type mine{named, is_plain, all};
    outcome const wanted = call_on_several(section, mine, context);
    mine.give_to(all);
    return result_of(wanted, mine.is_misused());
  }
  /// Calls a section that names a record twice. Positions do not tell its copies, so they are in
  /// local memory, as are all variables whose address is taken. Hence this is a function of its
  /// own.
  template <class Context>
  WARDEN_COLD static outcome call_repeated(Section section, named_accesses named, copies& all,
                                           Context const& context) {
    return call_on(section, named, false, all, context);
  }

  Section* const section_;
  named_accesses named_{};
  record* places_[Most];  ///< [access]
  copies copies_;         ///< [access]
};

}  // namespace detail
WARDEN_NAMESPACE_END
