// SPDX-License-Identifier: Apache-2.0
// Several GPUs, if the program was built without NCCL.

#include "apps/breadth_first/owner_gpus.cuh"

#include <warden/error.hpp>

namespace breadth_first {

search_on_gpus find_on_gpus(int, graph::csr const&, graph::csr const&, graph::vertex) {
  throw warden::limit_error{
      "breadth_first: --gpus: this program was built without NCCL (configure with "
      "WARDEN_NCCL=ON)"};
}

}  // namespace breadth_first
