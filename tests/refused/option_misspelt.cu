// SPDX-License-Identifier: Apache-2.0
// Must not compile: an option is misspelt.

#include <warden/guarded.cuh>

using policy = warden::policy<warden::options{.block_thread = 512}>;
