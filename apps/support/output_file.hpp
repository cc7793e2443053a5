// SPDX-License-Identifier: Apache-2.0
/// @file
/// The files that commands write.
#pragma once

#include <sys/stat.h>
#include <cstddef>
#include <string>

namespace apps {

/// A file that is being written. Construct it before the work whose result it takes: the
/// constructor refuses what cannot be written.
///
/// A regular file is written under a temporary name in its folder. `commit` gives it its own name
/// and the mode of the file that it replaces. Without `commit` it is gone: the destructor removes
/// it, and so do SIGHUP, SIGINT and SIGTERM, which then end the process. A link stays a link: the
/// file that it leads to is replaced.
///
/// A file that is open as one of the process's descriptors, such as /dev/stdout, is written
/// through that descriptor, so nothing in it is overwritten. If that is standard output, all that
/// the command prints after the construction goes to standard error. Other devices and pipes are
/// opened and written to at once.
///
/// Throws std::runtime_error with the file's name. Main thread only.
class output_file {
 public:
  explicit output_file(std::string path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(void const* from, std::size_t bytes);
  void commit();
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  friend struct open_outputs;
  void open_temporary(struct stat const* replaced);
  [[noreturn]] void refuse(int error) const;

  std::string path_;
  std::string target_;     // where the links of path_ lead
  std::string temporary_;  // empty if the file is written to at once
  // The file, or the folder of one that does not exist.
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string name_;  // in that folder; empty for a file that exists
  int file_ = -1;
  output_file* next_ = nullptr;  // in the list of those that are open
};

/// True if the process has the file open for writing, such as /dev/stdout: opening it anew would
/// overwrite what stands there. Always false for /dev/null and its like.
bool is_open_for_writing(std::string const& path);

/// Throws std::runtime_error if `path`, which is to be read, is one of the output files that are
/// open. Devices, such as the terminal, can be both.
void refuse_output_as_input(std::string const& path);

}  // namespace apps
