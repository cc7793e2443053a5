// SPDX-License-Identifier: Apache-2.0
// Part of cooperative_groups.h.
#pragma once

#include "../cooperative_groups.h"
