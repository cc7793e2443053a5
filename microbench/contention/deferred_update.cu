// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the operation `update`, plain and observed.

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/contention/observed.cuh"

namespace contention {

template std::unique_ptr<warden_arm> make_deferred_arm<update>(std::string const&, update::record*,
                                                               std::uint32_t, update::context);
template std::unique_ptr<warden_arm> make_deferred_arm<observed<update>>(std::string const&,
                                                                         update::record*,
                                                                         std::uint32_t,
                                                                         observed<update>::context);

}  // namespace contention
