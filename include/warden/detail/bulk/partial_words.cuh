// SPDX-License-Identifier: Apache-2.0
/// @file
/// A partial as words, which warps shuffle and tables in shared memory hold.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The bytes of a `Partial` as words of 8 bytes, or of 4 if its size is no multiple of 8.
template <class Partial>
class partial_words {
 public:
  /// Type of a word.
  using word = std::conditional_t<sizeof(Partial) % 8 == 0, std::uint64_t, std::uint32_t>;
  /// Number of words.
  static constexpr unsigned count = (sizeof(Partial) + sizeof(word) - 1) / sizeof(word);

  word at[count];  ///< uninitialized words

  partial_words() = default;
  /// Copies a partial.
  WARDEN_DEVICE explicit partial_words(Partial const& partial) {
    if constexpr (sizeof(Partial) % sizeof(word) != 0) at[count - 1] = 0;
    memcpy(at, &partial, sizeof(Partial));
  }
  /// Loads a partial from memory. The constructor would load single bytes, by its `memcpy`.
  WARDEN_DEVICE static partial_words load(Partial const& partial) {
    if constexpr (sizeof(Partial) == sizeof(at)) {
      return __builtin_bit_cast(partial_words, partial);
    } else {
      return partial_words{partial};
    }
  }
  /// Returns the partial. Precondition: the words are those of one.
  [[nodiscard]] WARDEN_DEVICE Partial value() const {
    if constexpr (sizeof(Partial) == sizeof(at)) {
      return __builtin_bit_cast(Partial, *this);
    } else {
      struct {
        alignas(Partial) unsigned char at[sizeof(Partial)];
      } bytes;
      memcpy(bytes.at, at, sizeof(Partial));
      return __builtin_bit_cast(Partial, bytes);
    }
  }
};

/// True if a thread needs more registers for two partials than it has in blocks of 1,024 threads.
template <class Partial>
inline constexpr bool is_wide = sizeof(Partial) > 44;
/// Largest number of threads of a block that combines by warps.
template <class Partial>
inline constexpr unsigned most_table_threads = is_wide<Partial> ? 512 : 1024;

/// Combines `words` and another partial, in place.
template <class Partial>
WARDEN_DEVICE void combine_into(partial_words<Partial>& words,
                                partial_words<Partial> const& other) {
  words = partial_words<Partial>{Partial::combine(words.value(), other.value())};
}

}  // namespace detail
WARDEN_NAMESPACE_END
