// SPDX-License-Identifier: Apache-2.0
// Must not compile: a value of the tuning is misspelt.

#include <warden/guarded.cuh>

using policy = warden::policy<warden::options{.tuning = {.channel_byte = 4096}}>;
