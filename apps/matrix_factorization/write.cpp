// SPDX-License-Identifier: Apache-2.0
// Ratings as lines of text.

#include "apps/matrix_factorization/write.hpp"

#include "apps/graph/file.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace factorization {

void write_ratings(rating_list const& list, std::string const& path) {
  graph::output_file file{path};
  std::string text;
  auto const put = [&](auto number, char behind) {
    std::array<char, 32> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text.append(digits.data(), end);
    text += behind;
  };
  auto const flush = [&] {
    file.write(text.data(), text.size());
    text.clear();
  };
  for (std::size_t k = 0; k < list.size(); ++k) {
    put(list.user_name(list.user[k]), '\t');
    put(list.item_name(list.item[k]), '\t');
    put(list.value[k], '\n');
    constexpr std::size_t much = 1 << 20;
    if (text.size() > much) flush();
  }
  flush();
  file.commit();
}

}  // namespace factorization
