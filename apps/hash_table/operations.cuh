// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operations by name: on arrays of keys for all arms, and in kernels for all clients.
#pragma once

#include "apps/hash_table/sections.cuh"

#include <warden/stream.hpp>

#include <cstdint>

namespace hash_table {

/// Section i is for `keys[i]` with `values[i]`.
template <class Section, class Key, class Value>
struct with_values {
  Key const* keys;
  Value const* values;
  __device__ Section operator()(std::uint32_t i) const { return {keys[i], values[i]}; }
};
/// Section i is for `keys[i]` with one value for all.
template <class Section, class Key, class Value>
struct with_value {
  Key const* keys;
  Value value;
  __device__ Section operator()(std::uint32_t i) const { return {keys[i], value}; }
};
/// Section i is for `keys[i]` alone.
template <class Section, class Key>
struct without_value {
  Key const* keys;
  __device__ Section operator()(std::uint32_t i) const { return {keys[i]}; }
};

/// Operations on arrays. `Arm` has `run_async(make, n, stream)`, which runs the sections `make(0)`
/// to `make(n - 1)`; `Sections` are its sections. Arrays are device memory and must stay alive
/// until the stream has passed the call. All calls only enqueue. The arm's `wait` throws errors.
template <class Arm, class Key, class Value, class Sections>
class operations {
 public:
  /// Inserts new keys with their values; present keys keep their values.
  void insert_async(Key const* keys, Value const* values, std::uint32_t n,
                    warden::located_stream s = {}) {
    arm().run_async(with_values<typename Sections::insert, Key, Value>{keys, values}, n, s);
  }
  /// Inserts new keys, and replaces the values of present keys. If a call has several values for
  /// one key, any of them may be the result.
  void insert_or_assign_async(Key const* keys, Value const* values, std::uint32_t n,
                              warden::located_stream s = {}) {
    arm().run_async(with_values<typename Sections::insert_or_assign, Key, Value>{keys, values}, n,
                    s);
  }
  /// Adds `amount` to each key's value; a new key's value is `amount`.
  void add_async(Key const* keys, Value amount, std::uint32_t n, warden::located_stream s = {}) {
    static_assert(can_add<Value>, "hash_table: add needs values with +=");
    arm().run_async(with_value<typename Sections::add, Key, Value>{keys, amount}, n, s);
  }
  /// Adds 1 to each key's value; a new key's value is 1.
  void count_async(Key const* keys, std::uint32_t n, warden::located_stream s = {}) {
    static_assert(can_add<Value>, "hash_table: count needs values with +=");
    arm().run_async(without_value<typename Sections::count, Key>{keys}, n, s);
  }
  /// Removes the present keys.
  void erase_async(Key const* keys, std::uint32_t n, warden::located_stream s = {}) {
    arm().run_async(without_value<typename Sections::erase, Key>{keys}, n, s);
  }

 private:
  Arm& arm() { return static_cast<Arm&>(*this); }
};

/// Operations of a client, in addition to `send(section)`, or `send(section, valid)` for clients of
/// a whole block. Each returns the result of `send`.
template <class Client, class Key, class Value, class Sections>
class operations_in_kernel {
 public:
  /// Inserts a new key; a present key keeps its value.
  template <class... Valid>
  __device__ auto insert(Key const& key, Value const& value, Valid... valid) const {
    return client().send(typename Sections::insert{key, value}, valid...);
  }
  /// Inserts a new key, or replaces the value of a present key.
  template <class... Valid>
  __device__ auto insert_or_assign(Key const& key, Value const& value, Valid... valid) const {
    return client().send(typename Sections::insert_or_assign{key, value}, valid...);
  }
  /// Adds `amount` to a present key's value, or inserts the key with `amount`.
  template <class... Valid>
  __device__ auto add(Key const& key, Value const& amount, Valid... valid) const {
    static_assert(can_add<Value>, "hash_table: add needs values with +=");
    return client().send(typename Sections::add{key, amount}, valid...);
  }
  /// Removes the key.
  template <class... Valid>
  __device__ auto erase(Key const& key, Valid... valid) const {
    return client().send(typename Sections::erase{key}, valid...);
  }

 private:
  __device__ Client const& client() const { return static_cast<Client const&>(*this); }
};

}  // namespace hash_table
