// SPDX-License-Identifier: Apache-2.0
// Finds the end of a row first, so that its fields can be unquoted where they are.

#include "apps/text/csv_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace apps {

namespace {

char* find(char* at, char* end, char c) {
  void* const found = std::memchr(at, c, static_cast<std::size_t>(end - at));
  return static_cast<char*>(found);
}

}  // namespace

csv_reader::csv_reader(std::string path, std::size_t chunk_bytes)
    : file_{std::move(path), line_ends::kept},
      chunk_(chunk_bytes),
      begin_{chunk_.data()},
      end_{chunk_.data()},
      progress_{"reading " + this->path(), file_.bytes()} {}

/// Moves the rest of the chunk, which has no complete row, to its begin, and reads more after it.
/// Returns false at the end of the file, and if the chunk is full.
bool csv_reader::refill(std::size_t rest) {
  if (rest == chunk_.size()) return false;
  std::memmove(chunk_.data(), begin_, rest);
  begin_ = chunk_.data();
  end_ = begin_ + rest;
  std::size_t const got = file_.read(end_, chunk_.size() - rest);
  end_ += got;
  progress_.advance_to(file_.bytes_read());
  return got != 0;
}

/// Returns the bytes of the next row without the line feed that ends it.
std::size_t csv_reader::row_bytes() {
  bool is_quoted = false;
  std::size_t i = 0;
  for (; begin_ + i != end_ || refill(i); ++i) {
    if (begin_[i] == '"') is_quoted = !is_quoted;
    if (begin_[i] == '\n' && !is_quoted) return i;
  }
  if (i < chunk_.size() && !is_quoted) return i;
  // A quote where none may be has taken the lines after it into the row: report the quote.
  std::vector<std::string_view> fields;
  split(begin_, end_, fields);
  here().refuse("is longer than " + std::to_string(i) + " bytes, the limit for a row");
}

bool csv_reader::next(std::vector<std::string_view>& fields) {
  for (;;) {
    row_line_ = next_line_;
    std::size_t const bytes = row_bytes();
    if (begin_ == end_) return false;
    char* const row = begin_;
    char* end = row + bytes;
    next_line_ += static_cast<std::size_t>(std::count(row, end, '\n')) + 1;
    begin_ = std::min(end + 1, end_);
    if (end != row && end[-1] == '\r') --end;
    if (end == row && columns_ != 1) continue;
    fields.clear();
    split(row, end, fields);
    if (columns_ == 0) columns_ = fields.size();
    if (fields.size() == columns_) return true;
    here().refuse("has " + std::to_string(fields.size()) +
                  (fields.size() == 1 ? " field" : " fields") + ", the first row has " +
                  std::to_string(columns_) +
                  "; add the missing fields, or quote fields that contain commas");
  }
}

/// Appends the fields of the row in [at, end), and removes their quotes.
void csv_reader::split(char* at, char* end, std::vector<std::string_view>& fields) const {
  auto const refuse = [&](char const* what) {
    here().refuse("field " + std::to_string(fields.size() + 1) + " " + what);
  };
  for (;; ++at) {
    bool const is_quoted = at != end && *at == '"';
    char* const first = is_quoted ? at + 1 : at;
    char* last = first;  // end of the field without its quotes
    if (is_quoted) {
      for (++at;;) {
        char* const quote = find(at, end, '"');
        if (quote == nullptr) refuse("begins with a quote that no quote closes; add one");
        bool const is_doubled = quote + 1 != end && quote[1] == '"';
        std::size_t const bytes = static_cast<std::size_t>(quote - at) + (is_doubled ? 1 : 0);
        std::memmove(last, at, bytes);
        last += bytes;
        at = quote + (is_doubled ? 2 : 1);
        if (!is_doubled) break;
      }
      if (at != end && *at != ',')
        refuse("has text after its closing quote; write a quote in a quoted field twice");
    } else {
      char* const comma = find(at, end, ',');
      at = last = comma != nullptr ? comma : end;
      if (find(first, last, '"') != nullptr)
        refuse(
            "contains a quote but does not begin with one; quote the field, and write its quotes "
            "twice");
    }
    fields.emplace_back(first, static_cast<std::size_t>(last - first));
    if (at == end) return;
  }
}

}  // namespace apps
