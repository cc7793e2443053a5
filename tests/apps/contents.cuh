// SPDX-License-Identifier: Apache-2.0
// What a hash table holds, as a map on the host.
#pragma once

#include <warden/buffer.hpp>
#include <warden/simt/simt.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace test {

template <class Key, class Value>
struct copy_out {
  Key* keys;
  Value* values;
  std::uint32_t* n;
  __device__ void operator()(Key const& key, Value const& value) const {
    std::uint32_t const i = warden::simt::fetch_add(n, 1u);
    keys[i] = key;
    values[i] = value;
  }
};

/// All entries by for_each; a key that comes twice is an error.
template <class Key, class Value, class Table>
std::map<Key, Value> contents(Table const& t, std::uint32_t capacity) {
  warden::buffer<Key> keys{capacity};
  warden::buffer<Value> values{capacity};
  warden::buffer<std::uint32_t> n{1};
  n.fill_bytes(0);
  t.for_each_async(copy_out<Key, Value>{keys.data(), values.data(), n.data()});
  std::map<Key, Value> result;
  auto const host_keys = keys.to_host();
  auto const host_values = values.to_host();
  for (std::uint32_t i = 0; i < n.to_host()[0]; ++i) {
    EXPECT_TRUE(result.emplace(host_keys[i], host_values[i]).second)
        << "key " << host_keys[i] << " stands in the table twice";
  }
  return result;
}

}  // namespace test
