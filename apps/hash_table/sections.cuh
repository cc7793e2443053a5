// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operations of the table as critical sections on a bucket. Every arm runs these sections: as
/// messages to a bucket's owner, under a bucket's lock, or without a lock if the section has a
/// member `atomic`.
#pragma once

#include "apps/hash_table/context.cuh"
#include "apps/hash_table/without_exclusion.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hash_table {

/// True if values can be added to.
template <class Value>
inline constexpr bool can_add = requires(Value a, Value b) {
  a += b;
};

/// Sections of one table type. They return their outcome to the caller if `Answers`. None reads
/// memory that its sender wrote. Any other section with a member `key` and a call operator for
/// (bucket&, table_context) is an operation as well.
///
/// Sections for one key of 4 bytes become one before they are sent, if they are alone in their log
/// and have no order; combine keys have 32 bits. Of inserts and assignments one remains.
template <class Key, class Value, class Keys, bool Answers = false>
struct sections {
  using bucket_type = bucket<Key, Value>;
  using context = table_context<Key, Value, Keys>;
  using answer = std::conditional_t<Answers, outcome, void>;

 private:
  static constexpr bool combine_keys = sizeof(Key) == 4 && !Answers;
  __device__ static std::uint32_t bits_of(Key const& key) {
    std::uint32_t bits;
    memcpy(&bits, &key, sizeof(bits));
    return bits;
  }

  using without = without_exclusion<Key, Value, Keys>;
  /// Finds the key or inserts it without exclusion, then calls `change(value, made)`. Counts and
  /// returns the outcome, which is `otherwise` if the key was present.
  template <class Change>
  __device__ static void atomically(bucket_type* b, context const& c, Key const& key,
                                    outcome otherwise, Change change) {
    auto [value, made] = without{c, *b, key}.find_or_insert_in_slots();
    // For a slot in shared memory the compiler makes this a shared atomic. The value below may be
    // in any memory.
    if (value != nullptr) {
      change(value, made);
    } else {
      auto const elsewhere = without::find_or_insert(c, *b, key);
      if (elsewhere.value == nullptr) {
        c.count(outcome::refused);
        return;
      }
      made = elsewhere.made;
      change(elsewhere.value, made);
    }
    c.count(made ? outcome::inserted : otherwise);
  }

 public:
  /// Inserts a new key; does nothing if the key is present.
  struct insert {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ answer operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, value, made);
      return answer(c.count(at == nullptr ? outcome::refused
                            : made        ? outcome::inserted
                                          : outcome::present));
    }
    /// Runs concurrently with other inserts.
    __device__ answer atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key> && !Answers) {
      atomically(b, c, key, outcome::present, [&](Value* at, bool made) {
        if (made) *at = value;
      });
    }
    __device__ std::uint32_t combine_key() const requires(combine_keys) { return bits_of(key); }
    __device__ static insert combine(insert a, insert) requires(combine_keys) { return a; }
  };

  /// Inserts a new key, or replaces the value of a present key.
  struct insert_or_assign {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ answer operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, value, made);
      if (at != nullptr && !made) *at = value;
      return answer(c.count(at == nullptr ? outcome::refused
                            : made        ? outcome::inserted
                                          : outcome::updated));
    }
    /// Runs concurrently with other assignments.
    __device__ answer atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      atomically(b, c, key, outcome::updated,
                 [&](Value* at, bool) { simt::shared_store(*at, value); });
    }
    __device__ std::uint32_t combine_key() const requires(combine_keys) { return bits_of(key); }
    __device__ static insert_or_assign combine(insert_or_assign,
                                               insert_or_assign b) requires(combine_keys) {
      return b;
    }
  };

  /// Inserts a new key, or adds to the value of a present key by `+=`.
  struct add {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value amount;
    __device__ answer operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, amount, made);
      // Tables whose values cannot be added have this section, but do not offer it.
      if constexpr (can_add<Value>) {
        if (at != nullptr && !made) *at += amount;
      }
      return answer(c.count(at == nullptr ? outcome::refused
                            : made        ? outcome::inserted
                                          : outcome::updated));
    }
    /// Runs concurrently with other additions.
    __device__ answer atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      atomically(b, c, key, outcome::updated,
                 [&](Value* at, bool) { simt::fetch_add(at, amount); });
    }
    __device__ std::uint32_t combine_key() const requires(combine_keys) { return bits_of(key); }
    __device__ static add combine(add a, add b) requires(combine_keys&& can_add<Value>) {
      a.amount += b.amount;
      return a;
    }
  };

  /// Adds one: `add{key, 1}` in a smaller message.
  struct count {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ answer operator()(bucket_type& b, context const& c) const {
      return add{key, one()}(b, c);
    }
    __device__ answer atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      add{key, one()}.atomic(b, c);
    }
    /// Section that several of these combine to.
    using partial = add;
    __device__ operator add() const { return {key, one()}; }
    __device__ std::uint32_t combine_key() const requires(combine_keys) { return bits_of(key); }

   private:
    __device__ static Value one() {
      if constexpr (can_add<Value>) {
        return Value{1};
      } else {
        return Value{};
      }
    }
  };

  /// Removes the key.
  struct erase {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ answer operator()(bucket_type& b, context const& c) const {
      return answer(c.count(c.erase(b, key) ? outcome::erased : outcome::absent));
    }
    __device__ std::uint32_t combine_key() const requires(combine_keys) { return bits_of(key); }
    __device__ static erase combine(erase a, erase) requires(combine_keys) { return a; }
  };

  /// Finds a key, in order with the other operations on its bucket. Not counted in the totals.
  struct find {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ finding<Value> operator()(bucket_type& b, context const& c) const {
      Value const* const value = c.find(b, key);
      if (value == nullptr) return {};
      return {*value, true};
    }
  };
};

}  // namespace hash_table
