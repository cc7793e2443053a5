// SPDX-License-Identifier: Apache-2.0
// A key is one text: the length of each field, and the field.

#include "apps/hash_table/aggregate/group_keys.hpp"

#include <algorithm>
#include <cstring>

namespace hash_table {

namespace {

using length = std::uint32_t;

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_plain_integer(std::string_view text) {
  bool const is_negative = text.starts_with('-');
  std::string_view const digits = text.substr(is_negative ? 1 : 0);
  return is_digits(digits) && (digits[0] != '0' || text.size() == 1);
}

std::strong_ordering compare_integers(std::string_view a, std::string_view b) {
  bool const is_negative = a.starts_with('-');
  if (is_negative != b.starts_with('-'))
    return is_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  if (is_negative) std::swap(a, b);
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

group_keys::group_keys(std::size_t columns, std::size_t bytes)
    : memory_{bytes}, numbers_{&memory_}, entries_{&memory_}, is_integer_(columns, true) {}

std::uint32_t group_keys::number_of(std::span<std::string_view const> fields) {
  key_.clear();
  for (std::string_view const field : fields) {
    auto const bytes = static_cast<length>(field.size());
    key_.append(reinterpret_cast<char const*>(&bytes), sizeof bytes).append(field);
  }
  if (auto const found = numbers_.find(std::string_view{key_}); found != numbers_.end())
    return found->second;
  if (entries_.size() == entries_.capacity())
    entries_.reserve(std::max<std::size_t>(64, 2 * entries_.size()));
  auto const added = numbers_.emplace(key_, size()).first;
  entries_.push_back(&*added);
  for (std::size_t c = 0; c < fields.size(); ++c)
    is_integer_[c] = is_integer_[c] && (fields[c].empty() || is_plain_integer(fields[c]));
  return added->second;
}

void group_keys::split(std::string_view key, std::vector<std::string_view>& fields) const {
  fields.clear();
  while (!key.empty()) {
    length bytes;
    std::memcpy(&bytes, key.data(), sizeof bytes);
    fields.push_back(key.substr(sizeof bytes, bytes));
    key.remove_prefix(sizeof bytes + bytes);
  }
}

void group_keys::sort() {
  std::vector<std::string_view> a, b;
  std::sort(entries_.begin(), entries_.end(), [&](entry const* x, entry const* y) {
    split(x->first, a);
    split(y->first, b);
    for (std::size_t c = 0; c < a.size(); ++c) {
      bool const as_numbers = is_integer_[c] && !a[c].empty() && !b[c].empty();
      auto const order = as_numbers ? compare_integers(a[c], b[c]) : a[c] <=> b[c];
      if (order != 0) return order < 0;
    }
    return false;
  });
}

}  // namespace hash_table
