// SPDX-License-Identifier: Apache-2.0
// A user of several GPUs: an invalid communicator is refused by NCCL before anything needs a GPU.

#include <warden/communicator.hpp>
#include <warden/error.hpp>

#include <cstdio>

int main() {
  try {
    warden::communicator world{static_cast<ncclComm*>(nullptr)};
  } catch (warden::communicator_error const& error) {
    std::printf("refused: %s\n", error.what());
  }
}
