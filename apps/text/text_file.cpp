// SPDX-License-Identifier: Apache-2.0
// Marks at the beginning of a file, and line ends.

#include "apps/text/text_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace apps {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// True if the file is of gzip, compress, xz, zstd, zip (with files, or without) or bzip2.
bool is_compressed(std::string_view beginning) {
  constexpr std::array magic{"\x1f\x8b"sv,         "\x1f\x9d"sv,   "\xfd\x37zXZ\0"sv,
                             "\x28\xb5\x2f\xfd"sv, "PK\x03\x04"sv, "PK\x05\x06"sv};
  auto const begins = [&](std::string_view text) { return beginning.starts_with(text); };
  if (std::any_of(magic.begin(), magic.end(), begins)) return true;
  // A word may begin with bzip2's magic number, BZh: the number of the first block follows it.
  return beginning.starts_with("BZh") && beginning.find("1AY&SY") == 4;
}

}  // namespace

text_file::text_file(std::string path, line_ends ends)
    : file_{std::move(path)}, ends_{ends}, bytes_{file_.bytes()} {
  std::array<char, 16> first{};
  std::size_t got = 0;
  while (beginning_.size() < first.size() &&
         (got = file_.read(first.data(), first.size() - beginning_.size())) != 0)
    beginning_.append(first.data(), got);
  if (is_compressed(beginning_))
    throw std::runtime_error{this->path() + ": is compressed; uncompress it first"};
  if (beginning_.starts_with(byte_order_mark)) {
    beginning_.erase(0, byte_order_mark.size());
    bytes_read_ = byte_order_mark.size();
  }
}

std::size_t text_file::read(char* to, std::size_t bytes) {
  for (;;) {
    std::size_t got = beginning_.copy(to, bytes);
    beginning_.erase(0, got);
    if (got < bytes) got += file_.read(to + got, bytes - got);
    if (got == 0) return 0;
    bytes_read_ += got;
    if (ends_ == line_ends::kept) return got;
    // Nothing is left if the only byte is the line feed of a carriage return that was read before.
    if (std::size_t const kept = unify_line_ends(to, got)) return kept;
  }
}

/// Replaces each carriage return without a line feed after it by a line feed, in `bytes` bytes, at
/// least 1. Returns the number of bytes left.
std::size_t text_file::unify_line_ends(char* text, std::size_t bytes) {
  if (after_return_ && *text == '\n') std::memmove(text, text + 1, --bytes);
  after_return_ = false;
  if (std::memchr(text, '\r', bytes) == nullptr) return bytes;
  for (std::size_t i = 0; i + 1 < bytes; ++i) {
    // & instead of &&, whose branch the compiler does not vectorize.
    bool const is_alone = bool(int{text[i] == '\r'} & int{text[i + 1] != '\n'});
    text[i] = is_alone ? '\n' : text[i];
  }
  // The last byte is a line end, whatever comes next.
  after_return_ = text[bytes - 1] == '\r';
  if (after_return_) text[bytes - 1] = '\n';
  return bytes;
}

}  // namespace apps
