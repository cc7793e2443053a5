// SPDX-License-Identifier: Apache-2.0
// The barrier of a cooperative launch's grid, as launches need it.
#pragma once

#include <functional>

namespace warden::check {

/// Gives the threads of one cooperative launch a barrier of their own.
std::function<void()> with_grid_barrier(std::function<void()> body);

}  // namespace warden::check
