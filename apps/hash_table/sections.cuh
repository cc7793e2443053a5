// SPDX-License-Identifier: Apache-2.0
/// @file
/// The table's operations as critical sections on a bucket. Every arm runs these: as messages to a
/// bucket's owner, under a bucket's lock, or, where there is a member `atomic`, without any lock.
#pragma once

#include "apps/hash_table/context.cuh"
#include "apps/hash_table/without_exclusion.cuh"

#include <type_traits>

namespace hash_table {

/// Whether there is something to add to a value.
template <class Value>
inline constexpr bool can_add = requires(Value a, Value b) {
  a += b;
};

/// The sections of one table type, which tell their caller what became of them if `Answers`. None
/// reads what its sender wrote. Any other section with a member `key` and a call operator for
/// (bucket&, table_context) is an operation as well.
template <class Key, class Value, class Keys, bool Answers = false>
struct sections {
  using bucket_type = bucket<Key, Value>;
  using context = table_context<Key, Value, Keys>;
  using told = std::conditional_t<Answers, outcome, void>;

 private:
  /// Finds or inserts without excluding anybody. Null, and counted, if there is no room.
  __device__ static Value* find_or_insert(bucket_type* b, context const& c, Key const& key,
                                          bool& made) {
    Value* const value = without_exclusion{c, *b, key}.find_or_insert(made);
    if (value == nullptr) c.count(outcome::refused);
    return value;
  }
  __device__ static void count_made(context const& c, bool made, outcome otherwise) {
    c.count(made ? outcome::inserted : otherwise);
  }

 public:
  /// A new key; nothing if it is there.
  struct insert {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ told operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, value, made);
      return told(c.count(at == nullptr ? outcome::refused
                          : made        ? outcome::inserted
                                        : outcome::present));
    }
    /// Among other inserts.
    __device__ told atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key> && !Answers) {
      bool made;
      Value* const at = find_or_insert(b, c, key, made);
      if (at == nullptr) return;
      if (made) *at = value;
      count_made(c, made, outcome::present);
    }
  };

  /// A new key, or another value for one that is there.
  struct insert_or_assign {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value value;
    __device__ told operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, value, made);
      if (at != nullptr && !made) *at = value;
      return told(c.count(at == nullptr ? outcome::refused
                          : made        ? outcome::inserted
                                        : outcome::updated));
    }
    /// Among other assignments.
    __device__ told atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      bool made;
      Value* const at = find_or_insert(b, c, key, made);
      if (at == nullptr) return;
      simt::shared_store(*at, value);
      count_made(c, made, outcome::updated);
    }
  };

  /// A new key, or more of one that is there, by `+=`.
  struct add {
    static constexpr bool reads_other_memory = false;
    Key key;
    Value amount;
    __device__ told operator()(bucket_type& b, context const& c) const {
      bool made;
      Value* const at = c.find_or_insert(b, key, amount, made);
      // Tables whose values cannot be added have this section, but no way to send it.
      if constexpr (can_add<Value>) {
        if (at != nullptr && !made) *at += amount;
      }
      return told(c.count(at == nullptr ? outcome::refused
                          : made        ? outcome::inserted
                                        : outcome::updated));
    }
    /// Among other additions.
    __device__ told atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      bool made;
      Value* const at = find_or_insert(b, c, key, made);
      if (at == nullptr) return;
      simt::fetch_add(at, amount);
      count_made(c, made, outcome::updated);
    }
  };

  /// Adds one: `add{key, 1}` in a smaller message.
  struct count {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ told operator()(bucket_type& b, context const& c) const {
      return add{key, one()}(b, c);
    }
    __device__ told atomic(bucket_type* b, context const& c) const
        requires(is_word_key<Key>&& is_atomic_value<Value> && !Answers) {
      add{key, one()}.atomic(b, c);
    }

   private:
    __device__ static Value one() {
      if constexpr (can_add<Value>) {
        return Value{1};
      } else {
        return Value{};
      }
    }
  };

  /// The key no more.
  struct erase {
    static constexpr bool reads_other_memory = false;
    Key key;
    __device__ told operator()(bucket_type& b, context const& c) const {
      return told(c.count(c.erase(b, key) ? outcome::erased : outcome::absent));
    }
  };

  /// Looks for a key, between the other operations on its bucket. It is not counted.
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
