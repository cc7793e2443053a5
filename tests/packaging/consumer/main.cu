// SPDX-License-Identifier: Apache-2.0
// The program of main.cpp for the GPU.
#include "main.cpp"
