// SPDX-License-Identifier: Apache-2.0
/// @file
/// Inserts and finds in a bucket without exclusion, by compare-and-swap on keys of one word: in
/// shared memory by an owner's threads, or in global memory by all threads.
#pragma once

#include "apps/hash_table/context.cuh"

#include <cstdint>
#include <type_traits>

namespace hash_table {

/// True if one atomic can change a value.
template <class Value>
inline constexpr bool is_atomic_value = std::is_integral_v<Value> &&
                                        (sizeof(Value) == 4 || sizeof(Value) == 8);

/// `find_or_insert` finds the key's value, or inserts the key with a value of zero. Other threads
/// may do the same concurrently, in the same bucket, and none erases. From then on all threads may
/// use the value.
///
/// A key goes into the first free slot, counted from its own, and a slot that is not free stays so.
/// So all threads that insert one key meet at one slot: a thread that reaches a later slot has seen
/// all earlier ones taken by other keys, and there the compare-and-swap fails with the key. A load
/// may return an older value, a free slot, which the compare-and-swap then finds taken. Before all
/// threads have ended, or met at a barrier, they read only the key's own word of each other, so no
/// fence is needed. `used` has each bit added once, by the thread that took the slot. If slots were
/// freed before, the key may lie after a free one: then all slots are looked at first.
///
/// Only when every slot is taken a key goes into a node, in front of the others. A thread that
/// inserts the same key then finds that the first node has changed, and looks at the new nodes.
template <class Key, class Value, class Keys>
class without_exclusion {
  static_assert(is_word_key<Key>, "hash_table: keys of 4 or 8 bytes are inserted by atomics");
  using context = table_context<Key, Value, Keys>;
  using bucket_type = bucket<Key, Value>;
  using kept = kept_key<Key>;
  using word = typename kept::word;

 public:
  /// Result of looking for a key.
  struct entry {
    Value* value;  ///< null: there is no room
    bool made;     ///< it is new
  };

  /// Looks for `key` in its bucket `b`.
  __device__ without_exclusion(context const& c, bucket_type& b, Key const& key)
      : c_{c}, b_{b}, key_{key}, bits_{kept::of(key).bits} {}

  /// Finds the key in a slot, or inserts it if no slot was ever freed: enough for most operations.
  /// Null if that was not enough. Unrolled: the instructions of a loop cost more than its loads.
  __device__ entry find_or_insert_in_slots() const {
    unsigned s = bucket_type::first_slot(c_.keys.hash(key_));
    unsigned found = bits_ == 0 ? none : searching;
    word there = 1;
    WARDEN_UNROLL
    for (unsigned looked = 0; looked < bucket_type::slots; ++looked) {
      if (found != searching) break;
      there = simt::shared_load(b_.entries.key(s).bits);
      if (there == 0 || is_mine(there)) {
        found = s;
      } else {
        s = bucket_type::next_slot(s);
      }
    }
    // The lanes leave one after another; what follows they are to do together.
    found = simt::unknown(found);
    bool made = false;
    if (there == 0) {
      bool const has_gaps = (simt::shared_load(b_.used) & bucket_type::has_gaps) != 0;
      if (!has_gaps) there = take(found, made);  // mutation: slot-gaps
      if (!made && !is_mine(there)) found = none;
    }
    return {found >= none ? nullptr : &b_.entries.value(found), made};
  }
  /// The complete operation, out of line: an executor has many copies of a section's code.
  WARDEN_COLD static entry find_or_insert(context const c, bucket_type& b, Key const key) {
    without_exclusion const self{c, b, key};
    bool made = false;
    // Usually the bucket is full, and all of its slots have been looked at. (But a present key may
    // also lie after a free slot, or in a node that was there before a slot was freed.)
    Value* value = self.find_in_nodes(self.first_node(), 0);
    if (value == nullptr) value = self.find_in_slots();
    if (value == nullptr) value = self.take_slot(made);
    if (value == nullptr) value = self.take_node(made);
    return {value, made};
  }

 private:
  /// Stand for a slot: for none, and for one that is not known yet.
  static constexpr unsigned none = bucket_type::slots, searching = none + 1;

  /// Also after free slots.
  __device__ Value* find_in_slots() const {
    if (bits_ == 0) return nullptr;
    WARDEN_NO_UNROLL
    for (unsigned s = 0; s < bucket_type::slots; ++s) {
      if (is_mine(simt::shared_load(b_.entries.key(s).bits))) return &b_.entries.value(s);
    }
    return nullptr;
  }
  __device__ Value* take_slot(bool& made) const {
    if (bits_ == 0) return nullptr;
    unsigned s = bucket_type::first_slot(c_.keys.hash(key_));
    WARDEN_NO_UNROLL
    for (unsigned left = bucket_type::slots; left != 0; --left) {
      word there = simt::shared_load(b_.entries.key(s).bits);
      if (there == 0) there = take(s, made);
      if (made || is_mine(there)) return &b_.entries.value(s);
      s = bucket_type::next_slot(s);
    }
    return nullptr;
  }
  /// Writes the key to a slot that was free a moment ago. Returns the previous key.
  __device__ word take(unsigned s, bool& made) const {
    word const there =
        simt::compare_exchange(&b_.entries.key(s).bits, word{0}, bits_);  // mutation: slot-race
    made = there == 0;
    if (made) simt::fetch_add(&b_.used, 1u << s);  // mutation: slot-used
    return there;
  }
  /// Or finds it. Threads that insert one key at once take a node each, and all but one of them
  /// come back: where the pool is empty it is asked again before the key is refused.
  __device__ Value* take_node(bool& made) const {
    constexpr unsigned patience = 10;
    std::uint32_t mine = 0, searched_to = 0, first = first_node();
    for (unsigned failed = 0;;) {
      if (Value* const value = find_in_nodes(first, searched_to)) {
        if (mine != 0) c_.pool.give(mine);
        return value;
      }
      if (mine == 0) mine = c_.pool.take();
      if (mine == 0) {
        if (failed == patience) return nullptr;
        simt::back_off(3 + failed++);
        searched_to = first;
        first = first_node();
        continue;
      }
      c_.at(mine) = {{{bits_}, Value{}}, first};
      simt::note_written(&c_.at(mine));
      simt::fence_device();  // release: the node is filled before it is linked
      std::uint32_t const found = simt::compare_exchange(&b_.overflow, first, mine);
      if (found == first) {
        made = true;
        return &c_.at(mine).entry.value;
      }
      // Acquire: another thread filled the node `found`, fenced and linked it by its exchange.
      simt::fence_device();  // mutation: node-acquire
      searched_to = first;   // mutation: node-again
      first = found;
    }
  }

  __device__ std::uint32_t first_node() const {
    std::uint32_t const first = simt::shared_load(b_.overflow);
    if (first == 0) return first;  // nothing is read
    // Acquire: the thread that linked a node fenced between filling it and the exchange. Only this
    // block's threads use a bucket on chip, and so its nodes.
    if (simt::is_shared(&b_)) {
      simt::fence_block();
    } else {
      simt::fence_device();
    }
    return first;
  }
  __device__ Value* find_in_nodes(std::uint32_t n, std::uint32_t end) const {
    for (; n != end; n = c_.at(n).next) {
      // Here a key may be zero.
      node<Key, Value>& at = c_.at(n);
      simt::demand_visible(&at);
      if (c_.keys.equal(at.entry.key.key(), key_)) return &at.entry.value;
    }
    return nullptr;
  }
  /// True if `there`, the word of a slot, is of the key.
  __device__ bool is_mine(word there) const {
    return there != 0 && c_.keys.equal(kept::key_of(there), key_);
  }

  context const& c_;
  bucket_type& b_;
  Key const& key_;
  word bits_;
};

}  // namespace hash_table
