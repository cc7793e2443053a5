// SPDX-License-Identifier: Apache-2.0
// Rows come to shared memory as they are in global memory, by the hardware or by threads.

#include "tests/conformance/bulk_copies.cuh"

namespace {

using namespace copied_rows;

TEST(bulk_copies, rows_of_stages_come) {
  run(&by_a_producer<2, 32, 16>, 64);
  run(&by_a_producer<3, 8, 64>, 96);
  run(&by_a_producer<6, 1, 1024>, 128);
  run(&by_a_producer<4, 7, 208, 3>, 96);
}
TEST(bulk_copies, parts_come) { run(&by_parts, 64); }
TEST(bulk_copies, rows_of_groups_come) {
  run(&by_groups<8, 256>, 64);
  run(&by_groups<32, 16>, 64);
  run(&by_groups<1, 48>, 64);
}
TEST(bulk_copies, waits_without_hope_end) { run(&by_nothing, 64); }
TEST(bulk_copies, halves_of_rows_come) { run(&by_two_threads<4096>, 64); }

}  // namespace
