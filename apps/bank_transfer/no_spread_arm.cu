// SPDX-License-Identifier: Apache-2.0
// Reports that a program built without NCCL cannot use several GPUs.

#include "apps/bank_transfer/arms.cuh"

#include <warden/error.hpp>

namespace bank_transfer {

std::unique_ptr<arm> make_spread_arm(bank&, int) {
  throw warden::limit_error{
      "bank_transfer: --gpus: this program was built without NCCL (configure with "
      "WARDEN_NCCL=ON)"};
}

}  // namespace bank_transfer
