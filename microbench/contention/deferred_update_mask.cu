// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the operation `update_mask`, plain and observed.

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/contention/observed.cuh"

namespace contention {

template std::unique_ptr<warden_arm> make_deferred_arm<update_mask>(std::string const&,
                                                                    update_mask::record*,
                                                                    std::uint32_t,
                                                                    update_mask::context);
template std::unique_ptr<warden_arm> make_deferred_arm<observed<update_mask>>(
    std::string const&, update_mask::record*, std::uint32_t, observed<update_mask>::context);

}  // namespace contention
