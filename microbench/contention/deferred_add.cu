// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the operation `add`, plain and observed.

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/contention/observed.cuh"

namespace contention {

template std::unique_ptr<warden_arm> make_deferred_arm<add>(std::string const&, add::record*,
                                                            std::uint32_t, add::context);
template std::unique_ptr<warden_arm> make_deferred_arm<observed<add>>(std::string const&,
                                                                      add::record*, std::uint32_t,
                                                                      observed<add>::context);

}  // namespace contention
