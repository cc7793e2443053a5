// SPDX-License-Identifier: Apache-2.0
// Tasks that are not only bytes.

#include <warden/task_queue.cuh>

#include <string>

void make() { warden::task_queue<std::string> queue{10}; }
