// SPDX-License-Identifier: Apache-2.0
// The version of Warden, once, for the build, the namespace and the programs.
#pragma once

#define WARDEN_VERSION_MAJOR 0
#define WARDEN_VERSION_MINOR 1
#define WARDEN_VERSION_PATCH 0
