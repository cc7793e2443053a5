// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of bytes: read as a whole or in pieces, and written so that a name never stands for half a
/// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// A file being written under another name in the same folder: `commit` gives it its own. Without
/// that it is gone. What stands there already and is no file itself (a device, a pipe, a link to a
/// file) stays what it is, and is written to at once. Errors are std::runtime_error with the file's
/// name.
class output_file {
 public:
  explicit output_file(std::string path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(void const* from, std::size_t bytes);
  void commit();

 private:
  [[noreturn]] void refuse(int error) const;

  std::string path_, temporary_;  // the latter is empty where there is no other name
  int file_;
};

/// Throws as `output_file` does if there is no folder in which it could be made: before work that
/// takes long.
void check_folder_of(std::string const& path);

}  // namespace graph
