// SPDX-License-Identifier: Apache-2.0
/// @file
/// The version of Warden, once, for the build, the namespace and the programs.
#pragma once

/// Raised by changes that break users.
#define WARDEN_VERSION_MAJOR 0
/// Raised by additions.
#define WARDEN_VERSION_MINOR 2
/// Raised by corrections.
#define WARDEN_VERSION_PATCH 0
