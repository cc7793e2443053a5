// SPDX-License-Identifier: Apache-2.0
/// @file
/// A section on at most two records as a run in rounds executes it, and its message, which has each
/// id once.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/execute/record_copy.cuh>
#include <warden/detail/execute/section_words.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/records.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN

namespace detail {

/// Arguments of a run in rounds.
template <class Record, class Context>
struct rounds_arguments : several_arguments<Record, Context> {
  std::uint32_t* aside;  ///< [section][2] first words of sections that do not begin with their ids
};

/// Layout of sections in messages. A message begins with the ids of both records. So the first two
/// words of a section, which are these ids in most programs, are left out if that makes the message
/// smaller.
template <class Section>
class rounds_layout {
  /// Bytes of a message with two ids, a number, and this many words of a section, at most 9.
  template <unsigned Words>
  static constexpr std::size_t bytes_with =
      sizeof(typename log_message_of<std::uint32_t[2 + std::min(Words, 9u)]>::type);

 public:
  /// 32-bit words of a section.
  static constexpr unsigned words = (payload_bytes<Section> + 3) / 4;
  /// Words that are left out.
  static constexpr unsigned omitted = bytes_with<words - 2> < bytes_with<words> ? 2 : 0;
  /// Bytes of a message.
  static constexpr std::size_t message_bytes = bytes_with<words - omitted>;
};

/// A section with its number among those of the run. Its context is the arguments of the run.
template <class Section, class Record, class Context>
class section_in_rounds {
  using arguments = rounds_arguments<Record, Context>;
  using layout = rounds_layout<Section>;

 public:
  /// Returns the section with this number, to be sent to these records. If its first words are not
  /// these ids, and the message has no room for them, they are stored aside.
  WARDEN_DEVICE static section_in_rounds of(Section const& section, std::uint32_t number,
                                            std::uint32_t first, std::uint32_t second,
                                            arguments const& a) {
    section_in_rounds s{};
    s.number_ = number;
    if constexpr (layout::words != 0) memcpy(s.words_, &section, sizeof(Section));
    if constexpr (layout::omitted != 0) {
      if (s.words_[0] != first || s.words_[1] != second) {  // mutation: by-rounds-aside
        s.number_ |= is_aside;
        WARDEN_UNROLL
        for (unsigned w = 0; w < layout::omitted; ++w)
          a.aside[std::size_t{number} * layout::omitted + w] = s.words_[w];
      }
    }
    return s;
  }

  /// Runs the section on its records, which are one record if it names only one.
  WARDEN_DEVICE void operator()(Record& first, Record& second, arguments const& a) const {
    Section const section = whole(a);
    if (differ_) {  // mutation: by-rounds-alike
      known_names<2> list{same_record::never};
      section.access(list);
      named_accesses const named = list.named();
      record_copy<Record> zeros;
      Record x = first, y = second;
      records<Record, 2> mine{named, zeros.value, x, y};
      if (!commits(section, mine, a)) return;
      if (named.writes_to(0)) first = x;
      if (named.writes_to(1)) second = y;
    } else {
      run_on_one(section, first, a);
    }
  }
  /// Runs a section that names no record, of an array without records.
  WARDEN_DEVICE static void run_without_records(Section const& section, std::uint32_t number,
                                                arguments const& a) {
    section_in_rounds s{};
    s.number_ = number;
    record_copy<Record> nothing;
    s.run_on_one(section, nothing.value, a);
  }

 private:
  friend struct prefixed<section_in_rounds>;

  /// Set in the number of a section with words aside. A run has fewer than 2^30 sections.
  static constexpr std::uint32_t is_aside = 1u << 31;

  /// Returns the section. Nothing is loaded if it does not read the words aside.
  WARDEN_DEVICE Section whole(arguments const& a) const {
    section_in_rounds all = *this;
    if constexpr (layout::omitted != 0) {
      if ((number_ & is_aside) != 0) {  // mutation: by-rounds-stored
        WARDEN_UNROLL
        for (unsigned w = 0; w < layout::omitted; ++w)
          all.words_[w] = a.aside[std::size_t{number()} * layout::omitted + w];
      }
    }
    return read_from<Section>(all.words_);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t number() const { return number_ & ~is_aside; }
  /// Runs a section that names no record but this one.
  WARDEN_DEVICE void run_on_one(Section const& section, Record& own, arguments const& a) const {
    known_names<2> list{same_record::always};
    section.access(list);
    named_accesses const named = list.named();
    record_copy<Record> zeros;
    Record x = own;
    records<Record, 2> mine{named, zeros.value, x};
    if (commits(section, mine, a) && named.writes_to(0)) own = x;
  }
  /// Calls the section, and notes its result. Returns true if it commits.
  WARDEN_DEVICE bool commits(Section const& section, records<Record, 2>& mine,
                             arguments const& a) const {
    outcome const wanted = call_on_several(section, mine, a.context);
    outcome result = wanted == outcome::commit ? outcome::commit : outcome::abort;
    if (mine.is_misused()) {
      simt::fetch_add(&a.arrays.first.report->accesses_unnamed, std::uint64_t{1});
      result = outcome::refused;
    }
    a.note(number(), result);
    return result == outcome::commit;  // mutation: by-rounds-abort
  }

  bool differ_;           ///< true if the section is on two records; set in a run
  std::uint32_t number_;  ///< bit 31: is_aside
  std::uint32_t words_[layout::words != 0 ? layout::words : 1];
};

/// Such a section in a message, after the id of its second record.
template <class Section, class Record, class Context>
struct prefixed<section_in_rounds<Section, Record, Context>> {
  using section_type = section_in_rounds<Section, Record, Context>;
  using layout = rounds_layout<Section>;

  std::uint32_t data[2 + layout::words - layout::omitted];  ///< the id, the number, the section

  /// Returns the section, preceded by the id.
  WARDEN_DEVICE static prefixed of(section_type const& sent, std::uint32_t id) {
    prefixed p;
    p.data[0] = id;
    p.data[1] = sent.number_;
    WARDEN_UNROLL
    for (unsigned w = layout::omitted; w < layout::words; ++w)
      p.data[2 + w - layout::omitted] = sent.words_[w];
    return p;
  }
  /// Returns the section that was sent to these records. `differ` says that they are two.
  WARDEN_DEVICE section_type section(record_id first, record_id second, bool differ) const {
    section_type s;
    s.differ_ = differ;
    s.number_ = data[1];
    if constexpr (layout::omitted != 0) {
      s.words_[0] = static_cast<std::uint32_t>(first);
      s.words_[1] = static_cast<std::uint32_t>(second);
    }
    WARDEN_UNROLL
    for (unsigned w = layout::omitted; w < layout::words; ++w)
      s.words_[w] = data[2 + w - layout::omitted];
    return s;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
