// SPDX-License-Identifier: Apache-2.0
// Copies to shared memory under many schedules, and what is wrong with them on a GPU.

#include "tests/conformance/bulk_copies.cuh"
#include "tests/support/many_schedules.cuh"

#include <gmock/gmock.h>

#include <string>

namespace {

using namespace copied_rows;
using testing::HasSubstr;

/// Calls `run` under many schedules of a device with or without bulk copies.
template <class Run>
void on_devices(bool bulk_copies, Run runs) {
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    warden::sim::settings s = warden::sim::current_settings();
    s.bulk_copies = bulk_copies;
    warden::sim::configure(s);
    runs(seed);
  });
}
void run_stages(std::uint64_t seed) {
  run(seed % 4 < 2 ? &by_a_producer<2, 8, 32> : &by_a_producer<3, 3, 48>, seed % 3 == 0 ? 64 : 96);
}
void run_parts(std::uint64_t) { run(&by_parts, 64); }
void run_groups(std::uint64_t) { run(&by_groups<8, 144>, 32); }

TEST(bulk_copies_seeds, rows_of_stages_come_by_copies) { on_devices(true, run_stages); }
TEST(bulk_copies_seeds, rows_of_stages_come_by_threads) { on_devices(false, run_stages); }
TEST(bulk_copies_seeds, parts_come_by_copies) { on_devices(true, run_parts); }
TEST(bulk_copies_seeds, parts_come_by_threads) { on_devices(false, run_parts); }
TEST(bulk_copies_seeds, rows_of_groups_come_by_copies) { on_devices(true, run_groups); }
TEST(bulk_copies_seeds, rows_of_groups_come_by_threads) { on_devices(false, run_groups); }
TEST(bulk_copies_seeds, halves_of_rows_come) {
  for (bool const bulk_copies : {true, false})
    on_devices(bulk_copies, [](std::uint64_t) { run(&by_two_threads<256>, 64); });
}

// ---- errors

constexpr unsigned row_bytes = 64;

/// A barrier in its phase 0 and memory for two rows, of the only thread of a kernel.
struct bench {
  simt::phase_barrier& barrier =
      *reinterpret_cast<simt::phase_barrier*>(simt::dynamic_shared() + 2 * row_bytes);
  std::byte* to = simt::dynamic_shared();

  explicit bench(unsigned arrivals = 1) {
    barrier.init(arrivals);
    simt::fence_copies();
  }
  void wait(std::uint32_t phase = 0) {
    barrier.wait(phase, [] { return true; });
  }
};

struct fault {
  char const* name;
  void (*kernel)(arguments);
  char const* text;
};
std::string error_of(void (*kernel)(arguments)) {
  warden::sim::settings s;
  s.deadlock_is_error = true;
  s.bulk_copies = true;
  warden::sim::configure(s);
  warden::buffer<std::uint32_t> const table{16};
  try {
    simt::launch(kernel, 1, 1, 256, {table.data(), nullptr}, {});
    warden::stream_ref{}.synchronize();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}

class bulk_copy_errors : public testing::TestWithParam<fault> {
 protected:
  void TearDown() override { warden::sim::configure({}); }
};
TEST_P(bulk_copy_errors, name_the_fault_and_its_place) {
  auto const error = error_of(GetParam().kernel);
  EXPECT_THAT(error, HasSubstr(GetParam().text));
  EXPECT_THAT(error, HasSubstr("bulk_copies.cu:"));
}

fault const faults[] = {
    {"odd_size",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to, a.table, 20, b.barrier);
     },
     "a bulk copy of 20 bytes; the size is a multiple of 16 and not 0"},
    {"large_size",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to, a.table, 1 << 20, b.barrier);
     },
     "a bulk copy of 1048576 bytes; the limit is 1048575"},
    {"odd_source",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to, a.table + 1, 16, b.barrier);
     },
     "a bulk copy from bytes 4 to 19 of an allocation of 64 bytes"},
    {"odd_destination",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to + 8, a.table, 16, b.barrier);
     },
     "a bulk copy to bytes 8 to 23 of the 256 bytes of block 0 in dynamic shared memory, 8 bytes "
     "past a multiple of 16"},
    {"far_source",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to, a.table, 80, b.barrier);
     },
     "bulk copy outside device memory: bytes 0 to 79 of an allocation of 64 bytes"},
    {"shared_source",
     [](arguments) {
       bench b;
       simt::copy_bulk(b.to, b.to + 64, 64, b.barrier);
     },
     "the source is global memory"},
    {"far_destination",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to + 224, a.table, 64, b.barrier);
     },
     "a bulk copy to bytes 224 to 287 of the 256 bytes of block 0 in dynamic shared memory; the "
     "destination is shared memory of the block"},
    {"no_init",
     [](arguments a) {
       auto& barrier = *reinterpret_cast<simt::phase_barrier*>(simt::dynamic_shared() + 64);
       simt::copy_bulk(simt::dynamic_shared(), a.table, 64, barrier);
     },
     "the barrier of phases in bytes 64 to 71 of the 256 bytes of block 0 in dynamic shared memory "
     "is used before its init"},
    {"no_fence",
     [](arguments a) {
       auto& barrier = *reinterpret_cast<simt::phase_barrier*>(simt::dynamic_shared() + 64);
       barrier.init(1);
       simt::copy_bulk(simt::dynamic_shared(), a.table, 64, barrier);
     },
     "call fence_copies after init"},
    {"second_init",
     [](arguments) {
       bench b;
       b.barrier.init(1);
     },
     "which is in use; end it before"},
    {"no_arrivals", [](arguments) { bench b{0}; }, "for 0 arrivals; the limits are 1 and 1024"},
    {"overwritten",
     [](arguments) {
       bench b;
       reinterpret_cast<std::uint32_t&>(b.barrier) = 7;
       b.barrier.arrive();
     },
     "has been overwritten; end it before its memory has another use"},
    {"no_arrival",
     [](arguments) {
       bench b;
       b.wait();
     },
     "waits for 1 of 1 arrivals and 0 bytes in phase 0 of the barrier in bytes 128 to 135"},
    {"no_copy",
     [](arguments) {
       bench b;
       b.barrier.arrive_with_bytes(64);
       b.wait();
     },
     "waits for 0 of 1 arrivals and 64 bytes in phase 0"},
    {"too_few_announced",
     [](arguments a) {
       bench b;
       simt::copy_bulk(b.to, a.table, 64, b.barrier);
       b.barrier.arrive_with_bytes(48);
       b.wait();
     },
     "has copies of more bytes than its arrivals announced"},
    {"too_many_announced",
     [](arguments) {
       bench b{2};
       b.barrier.arrive_with_bytes(1'000'000);
       b.barrier.arrive_with_bytes(1'000'000);
     },
     "a phase of 2000000 bytes; the limit is 1048575"},
    {"too_many_arrivals",
     [](arguments) {
       bench b;
       b.barrier.arrive_with_bytes(64);
       b.barrier.arrive();
     },
     "more than the 1 arrivals of phase 0"},
    {"no_wait",
     [](arguments a) {
       bench b;
       simt::copy_row(1, b.to, a.table, 64, b.barrier);
     },
     "block 0 has ended while its bulk copy to bytes 0 to 63 of the 256 bytes of block 0 in "
     "dynamic "
     "shared memory is under way"},
    {"early_reuse",
     [](arguments a) {
       bench b{2};
       simt::copy_bulk(b.to, a.table, 64, b.barrier);
       simt::copy_bulk(b.to + 32, a.table, 32, b.barrier);
     },
     "is under way; wait for its phase before"},
    {"late_wait",
     [](arguments) {
       bench b;
       b.barrier.arrive();
       b.barrier.arrive();
       b.wait(0);
     },
     "a wait for phase 0 of the barrier in"},
    {"early_wait",
     [](arguments) {
       bench b;
       b.wait(1);
     },
     "whose phase 0 has not ended; a GPU tells only the current phase from the one before"},
    {"early_end",
     [](arguments) {
       bench b;
       b.barrier.arrive_with_bytes(64);
       b.barrier.end();
     },
     "which waits for 0 of 1 arrivals and 64 bytes in phase 0; wait for the phase before"},
    {"global_barrier",
     [](arguments a) {
       reinterpret_cast<simt::phase_barrier&>(const_cast<std::uint32_t&>(*a.table)).init(1);
     },
     "it takes 8 bytes of the block's shared memory"},
};
INSTANTIATE_TEST_SUITE_P(, bulk_copy_errors, testing::ValuesIn(faults),
                         [](auto const& info) { return std::string{info.param.name}; });

/// A copy that begins may come at once, late, or one half before the other.
WARDEN_KERNEL void looks_early(arguments a) {
  bench b;
  b.to[0] = b.to[48] = std::byte{0};
  simt::copy_row(1, b.to, a.table, row_bytes, b.barrier);
  simt::back_off(0);
  unsigned const seen = (b.to[0] != std::byte{0} ? 1 : 0) + (b.to[48] != std::byte{0} ? 2 : 0);
  b.wait();
  simt::fetch_or(a.errors, std::uint64_t{1} << seen);
}
TEST(bulk_copies_seeds, rows_come_in_pieces_at_any_time) {
  warden::buffer<std::uint32_t> const table{std::vector<std::uint32_t>(16, ~0u)};
  warden::buffer<std::uint64_t> seen{1};
  seen.fill_bytes(0);
  test::under_many_schedules(1, [&](std::uint64_t) {
    simt::launch(&looks_early, 1, 1, 256, {table.data(), seen.data()}, {});
    warden::stream_ref{}.synchronize();
  });
  EXPECT_EQ(seen.to_host()[0], 0xfu);
}

}  // namespace
