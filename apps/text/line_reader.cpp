// SPDX-License-Identifier: Apache-2.0
// Reading files by chunks.

#include "apps/text/line_reader.hpp"

#include <cstring>
#include <utility>

namespace apps {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

}  // namespace

line_reader::line_reader(std::string path)
    : file_{std::move(path)},
      chunk_(chunk_bytes),
      begin_{chunk_.data()},
      end_{chunk_.data()},
      progress_{"reading " + this->path(), bytes()} {}

bool line_reader::refill() {
  auto const rest = static_cast<std::size_t>(end_ - begin_);
  if (rest == chunk_.size()) {
    text_place{path(), number_ + 1}.refuse("is longer than " + std::to_string(rest) +
                                           " bytes, the limit for a line");
  }
  std::memmove(chunk_.data(), begin_, rest);
  begin_ = chunk_.data();
  end_ = begin_ + rest;
  std::size_t const got = file_.read(chunk_.data() + rest, chunk_.size() - rest);
  end_ += got;
  progress_.advance_to(file_.bytes_read());
  return got != 0;
}

void line_fields::refuse_rest() {
  std::string_view const text{at_, static_cast<std::size_t>(end_ - at_)};
  refuse("\"" + shown(text) + "\" is more than belongs in this line");
}

}  // namespace apps
