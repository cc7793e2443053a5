// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files that are read, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace apps {

/// An open file. Errors are std::runtime_error with its name.
class input_file {
 public:
  explicit input_file(std::string path);
  ~input_file();
  input_file(input_file const&) = delete;
  input_file& operator=(input_file const&) = delete;

  /// Size in bytes; 0 unless it is a regular file.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Time of the last change, in ns since 1970.
  [[nodiscard]] std::int64_t modified_ns() const;
  /// Reads up to `bytes` bytes from where the last call ended. Returns the number read, which is
  /// smaller only for a pipe, and 0 only at the end.
  std::size_t read(void* to, std::size_t bytes);
  /// Reads up to `bytes` bytes from `offset` on. Returns the number read, which is smaller only at
  /// the end.
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
  int file_;
};

}  // namespace apps
