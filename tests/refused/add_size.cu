// SPDX-License-Identifier: Apache-2.0
// A number that does not fit a message.
#include <warden/sections.cuh>

struct matrix {
  double values[8];
  matrix& operator+=(matrix const& other);
};

static_assert(sizeof(warden::add<matrix>) != 0);
