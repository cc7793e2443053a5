// SPDX-License-Identifier: Apache-2.0
// Members of two record types.
#include <warden/sections.cuh>

struct total {
  int sum;
};
struct rows {
  int count;
};

static_assert(
    sizeof(warden::aggregate<int, warden::sum<&total::sum>, warden::count<&rows::count>>) != 0);
