// SPDX-License-Identifier: Apache-2.0
// The same program for the GPU.
#include "main.cpp"
