// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of bytes that are read as a whole or in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace graph {

/// An open file. Errors are std::runtime_error with its name.
class input_file {
 public:
  explicit input_file(std::string path);
  ~input_file();
  input_file(input_file const&) = delete;
  input_file& operator=(input_file const&) = delete;

  /// Bytes; 0 of what is no regular file.
  [[nodiscard]] std::uint64_t bytes() const;
  /// When it was last changed, in ns since 1970.
  [[nodiscard]] std::int64_t modified_ns() const;
  /// Up to `bytes` bytes from where the last call ended: fewer only for a pipe, none at the end.
  std::size_t read(void* to, std::size_t bytes);
  /// Up to `bytes` bytes from `offset` on: fewer only at the end.
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
  int file_;
};

}  // namespace graph
