// SPDX-License-Identifier: Apache-2.0
// A model's file: a header of 64-bit words, then the arrays.

#include "apps/matrix_factorization/model.hpp"

#include "apps/graph/checksum.hpp"
#include "apps/text/input_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace factorization {

namespace {

constexpr std::string_view magic = "wardenmf";
/// Version of the format.
constexpr std::uint64_t version = 1;

struct header {
  std::array<char, 8> magic;
  std::uint64_t version;
  std::uint64_t rank, users, items, mean;
  std::uint64_t user_names, item_names;
  std::uint64_t arrays;  // checksum of the arrays
  std::uint64_t check;   // checksum of the words above

  [[nodiscard]] std::uint64_t sum() const { return graph::checksum(this, offsetof(header, check)); }
  [[nodiscard]] std::uint64_t bytes() const {
    return sizeof(header) + 4 * ((users + items) * rank + user_names + item_names);
  }
};
static_assert(sizeof(header) == 10 * 8, "no padding: it is written and summed as it is");

/// Calls `f(data, bytes)` for each array.
template <class Model, class F>
void for_arrays(Model& m, F f) {
  f(m.user_rows.data(), m.user_rows.size() * 4);
  f(m.item_rows.data(), m.item_rows.size() * 4);
  f(m.user_names.data(), m.user_names.size() * 4);
  f(m.item_names.data(), m.item_names.size() * 4);
}

}  // namespace

void save(model const& m, apps::output_file& file) {
  header h{};
  std::copy(magic.begin(), magic.end(), h.magic.begin());
  h.version = version;
  h.rank = m.rank;
  h.users = m.users;
  h.items = m.items;
  h.mean = std::bit_cast<std::uint32_t>(m.mean);
  h.user_names = m.user_names.size();
  h.item_names = m.item_names.size();
  for_arrays(m, [&](void const* from, std::size_t bytes) {
    h.arrays = graph::checksum(from, bytes, h.arrays);
  });
  h.check = h.sum();
  file.write(&h, sizeof h);
  for_arrays(m, [&](void const* from, std::size_t bytes) { file.write(from, bytes); });
  file.commit();
}

model load_model(std::string const& path) {
  apps::input_file const file{path};
  auto const refuse = [&](char const* why) { throw std::runtime_error{path + ": " + why}; };
  header h{};
  std::size_t const got = file.read_at(0, &h, sizeof h);
  if (std::string_view{h.magic.data(), std::min(got, magic.size())} != magic)
    refuse("is no file of factors");
  if (got < sizeof h) refuse("is cut off");
  if (h.version != version) refuse("is of another version");
  if (h.check != h.sum()) refuse("is damaged");
  if (h.bytes() != file.bytes()) refuse("is cut off");
  model m;
  m.rank = static_cast<unsigned>(h.rank);
  m.mean = std::bit_cast<float>(static_cast<std::uint32_t>(h.mean));
  m.users = static_cast<std::uint32_t>(h.users);
  m.items = static_cast<std::uint32_t>(h.items);
  m.user_rows.resize(h.users * h.rank);
  m.item_rows.resize(h.items * h.rank);
  m.user_names.resize(h.user_names);
  m.item_names.resize(h.item_names);
  std::uint64_t offset = sizeof h, sum = 0;
  for_arrays(m, [&](void* to, std::size_t bytes) {
    if (file.read_at(offset, to, bytes) != bytes) refuse("is cut off");
    offset += bytes;
    sum = graph::checksum(to, bytes, sum);
  });
  if (sum != h.arrays) refuse("is damaged");
  return m;
}

}  // namespace factorization
