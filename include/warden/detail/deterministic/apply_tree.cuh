// SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory that a guarded array whose sections are combined in trees keeps for `apply_async`.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/deferred/apply_log.cuh>
#include <warden/detail/deferred/runs_in_trees.cuh>
#include <warden/detail/deterministic/tree_checks.cuh>
#include <warden/detail/deterministic/tree_memory.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Memory of a guarded array's `apply_async`. The first call makes some, and a call with more
/// sections makes more. The smaller memory stays, because captured graphs may need it.
template <class Policy, class Record, class Section>
class apply_tree : public apply_log_base {
 public:
  [[nodiscard]] std::size_t bytes() const override {
    std::size_t sum = 0;
    for (auto const& m : memory_) sum += m.bytes();
    return sum;
  }

  /// Makes room for `n` sections in one run, at most `most`. Throws limit_error while the stream
  /// `s` is being captured, and for too many records; cuda_error if memory is short.
  template <class Guarded>
  void reserve(Guarded const& of, std::size_t n, stream_ref s, std::source_location where) {
    auto const wanted =
        static_cast<std::uint32_t>(std::min(std::bit_ceil(std::max(n, least)), most));
    if (!memory_.empty() && memory_.back().most() >= wanted) return;
    if (of.size() > most_records) {
      throw_limit_error("apply_async: % records; the limit for sections that a tree combines is %",
                        {of.size(), most_records}, where);
    }
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "apply_async: the stream is being captured into a graph, and there is no memory for % "
          "sections yet: call reserve(%) before",
          {wanted, n}, where);
    }
    memory_.emplace_back(wanted, static_cast<std::uint32_t>(of.size()), where);
  }
  /// Enqueues the section that `f(i)` returns, with its record, for all i of a range.
  template <class Guarded, class Function>
  void apply(Guarded const& on, index_range of, Function const& f, stream_ref s,
             std::source_location where) {
    static_assert(std::is_trivially_copyable_v<Function>,
                  "warden: the function of apply_async is copied to the device: it holds pointers "
                  "and values, and no host objects");
    if (of.count() == 0) return;
    reserve(on, of.count(), s, where);
    auto const all = guarded_access::array<Record>(on, false);
    tree_records<Record, typename Policy::context> const records{
        all.records, all.size, guarded_access::context(on), all.report};
    std::uint64_t first = of.begin;
    // Pieces of a fixed size, so that the bits do not depend on the memory.
    try {
      for (; first < of.end; first += most) {
        memory_.back().run(
            records, bulk_sections<Section, Function>{f}, first,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(of.end - first, most)), s, where);
      }
    } catch (...) {
      if (first != of.begin || memory_.back().has_begun())
        launch(&count_given_up<guarded_report>, 1, 1, {s, where}, all.report, of.count());
      guarded_access::shared(on)->enqueued(s, where);
      throw;
    }
    guarded_access::shared(on)->enqueued(s, where);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 30, least = 4096;
  static constexpr std::size_t most_records = 0xfffffffe;

  std::vector<tree_memory<Section>> memory_;
};

template <class Policy, class Record, class... Sections>
struct kept_for_apply {
  using type = apply_log<Policy, Record, Sections...>;
};
template <class Policy, class Record, class Section>
requires runs_in_trees<Policy, Record, Section>
struct kept_for_apply<Policy, Record, Section> {
  using type = apply_tree<Policy, Record, Section>;
};
/// Type of what a guarded array keeps for `apply_async`.
template <class Policy, class Record, class... Sections>
using apply_log_of = typename kept_for_apply<Policy, Record, Sections...>::type;

}  // namespace detail
WARDEN_NAMESPACE_END
