// SPDX-License-Identifier: Apache-2.0
// Reports that a program built without NCCL cannot use several GPUs.

#include "apps/hash_table/counts.cuh"

#include <warden/error.hpp>

namespace hash_table {

counts_type count_over_gpus(int, std::string const&, std::vector<word> const&,
                            table_options const&) {
  throw warden::limit_error{
      "hash_table: --gpus: this program was built without NCCL (configure with WARDEN_NCCL=ON)"};
}

}  // namespace hash_table
