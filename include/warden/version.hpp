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

/// For WARDEN_VERSIONED.
#define WARDEN_VERSIONED_(major, minor, name) v##major##_##minor##_##name
/// Joins the version and a name: v<major>_<minor>_<name>.
#define WARDEN_VERSIONED(...) WARDEN_VERSIONED_(__VA_ARGS__)
