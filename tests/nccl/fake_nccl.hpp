// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of fakes that replace NCCL, CUDA and the runtime under the communicator, so that calls can
/// be slow and fail without a GPU.
#pragma once

#include <nccl.h>

#include <atomic>
#include <memory>
#include <vector>

/// A fake communicator, and its settings.
struct ncclComm {
  int rank = 0, size = 1;
  /// Number of polls until the operation in progress ends, and its result then.
  std::atomic<int> polls_left = 0;
  std::atomic<ncclResult_t> state = ncclSuccess;
  std::atomic<bool> made = true;
  int aborted = 0, destroyed = 0;
};

/// Results that the fakes return, and the calls that were made.
struct calls {
  std::atomic<bool> stream_ends = true;         ///< true if enqueued work ends
  ncclResult_t sent = ncclSuccess;              ///< result of ncclSend and ncclAllGather
  ncclResult_t group = ncclSuccess;             ///< result of ncclGroupEnd
  std::atomic<int> groups = 0;                  ///< begun and not ended
  bool has_windows = true;                      ///< true if ranks can share memory
  ncclResult_t registered = ncclSuccess;        ///< result of registering a window
  bool makes_window = true;                     ///< if that is a success
  bool reaches_all = true;                      ///< true if ranks reach the window's memory
  int polls_of_window = 0;                      ///< until one is registered
  int memories = 0, windows = 0;                ///< that are there
  int lost_device = -1;                         ///< device that cannot be made current
  int full_device = -1;                         ///< device without pinned memory
  std::vector<std::unique_ptr<ncclComm>> made;  ///< by ncclCommInitAll
  std::atomic<int> sleeps = 0;                  ///< calls of `sleep_for`
};
extern calls now;
