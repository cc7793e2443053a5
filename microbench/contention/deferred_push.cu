// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the operation `push`, plain and observed.

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/contention/observed.cuh"

namespace contention {

template std::unique_ptr<warden_arm> make_deferred_arm<push>(std::string const&, push::record*,
                                                             std::uint32_t, push::context);
template std::unique_ptr<warden_arm> make_deferred_arm<observed<push>>(std::string const&,
                                                                       push::record*, std::uint32_t,
                                                                       observed<push>::context);

}  // namespace contention
