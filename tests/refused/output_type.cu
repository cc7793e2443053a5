// SPDX-License-Identifier: Apache-2.0
// Elements that are not only bytes.

#include <warden/allocate.cuh>

#include <string>

void make(std::string* names) { warden::output<std::string> out{names, 10}; }
