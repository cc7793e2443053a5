// SPDX-License-Identifier: Apache-2.0
// A process as one rank of a job, as tests/nccl/processes.py starts them: processes of a job meet
// in a folder.
#pragma once

#include <warden/communicator.hpp>

#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace test {

class process_rank {
 public:
  /// This process's; null in a program that was started alone.
  static process_rank* of_job() {
    static std::optional<process_rank> mine =
        std::getenv("WARDEN_JOB_FOLDER") != nullptr ? std::optional{process_rank{}} : std::nullopt;
    return mine ? &*mine : nullptr;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Makes a new communicator of the job's first `count` ranks, including this one. All of them
  /// make it, and each waits for the others.
  ncclComm_t make(int count, bool blocks) {
    ncclUniqueId id = meet(std::to_string(count) + "_" + std::to_string(made_[count]++));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = blocks ? 1 : 0;
    ncclComm_t comm = nullptr;
    ncclResult_t const code = ncclCommInitRankConfig(&comm, count, id, rank_, &config);
    if (code != ncclSuccess && code != ncclInProgress)
      throw std::runtime_error{std::string{"ncclCommInitRankConfig: "} + ncclGetErrorString(code)};
    warden::communicator{comm, {.time_limit_seconds = limit_seconds}};
    return comm;
  }
  /// A communicator of them that is the same in each call, until the end of the process. Every
  /// other number of ranks has one that does not block.
  warden::communicator with_first(int count) {
    if (count == 1) return warden::communicator::alone();
    ncclComm_t& comm = kept_[count];
    if (comm == nullptr) comm = make(count, count % 2 != 0);
    return warden::communicator{comm, {.time_limit_seconds = limit_seconds}};
  }

 private:
  static constexpr int limit_seconds = 30;

  process_rank()
      : rank_{std::stoi(std::getenv("WARDEN_JOB_RANK"))},
        size_{std::stoi(std::getenv("WARDEN_JOB_SIZE"))},
        folder_{std::getenv("WARDEN_JOB_FOLDER")} {}

  /// The id that rank 0 has got for these ranks.
  ncclUniqueId meet(std::string const& of) const {
    ncclUniqueId id;
    std::filesystem::path const name = folder_ / of;
    if (rank_ == 0) {
      if (ncclGetUniqueId(&id) != ncclSuccess) throw std::runtime_error{"ncclGetUniqueId failed"};
      std::filesystem::path const part = name.string() + ".part";
      std::ofstream{part, std::ios::binary}.write(id.internal, sizeof id.internal);
      std::filesystem::rename(part, name);  // there at once, and whole
      return id;
    }
    auto const begin = std::chrono::steady_clock::now();
    while (!std::filesystem::exists(name)) {
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds{limit_seconds})
        throw std::runtime_error{"rank 0 has not come: there is no " + name.string()};
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::ifstream{name, std::ios::binary}.read(id.internal, sizeof id.internal);
    return id;
  }

  int rank_, size_;
  std::filesystem::path folder_;
  std::map<int, int> made_;         // [ranks] communicators so far
  std::map<int, ncclComm_t> kept_;  // [ranks]
};

}  // namespace test
