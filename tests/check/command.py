#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of ./warden check: its exit codes, what it prints, and the programs of the folder programs.

    command.py BUILD [TEST...]     BUILD is the folder with the target warden_check
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Command(unittest.TestCase):
    build = ""

    def check(self, source, code, *options, before="--seeds=4", environment={}):
        """Runs a program of the folder programs, or a source text, in a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            directory, name = HERE / "programs", source
            if "\n" in source:
                directory, name = pathlib.Path(folder), "f.cu"
                (directory / name).write_text(source)
            command = [str(ROOT / "warden"), "check", "--prebuilt", self.build, before, name, *options]
            done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, **environment))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code in (0, 1) else done.stderr

    def test_programs(self):
        for name in ("launches.cu", "device_code.cu"):
            self.assertEqual(self.check(name, 0), f"{name}: no finding under 4 schedules\n")
        self.check("runtime_api.cu", 0, "--", "--seeds", "a b")
        self.assertIn("exit code 1 under all 4 schedules", self.check("runtime_api.cu", 1))

    def test_programs_of_warden(self):
        self.assertEqual(self.check("deferred.cu", 0), "deferred.cu: no finding under 4 schedules\n")
        text = self.check("deferred.cu", 1, "--define", "RACE")
        self.assertIn("deferred.cu:22: data race", text)
        text = self.check("deferred.cu", 1, "--define", "THROW")
        self.assertIn("deferred.cu:40: the program ended by SIGABRT: deferred: a log of 1099511627776 sections", text)

    def test_a_race_without_a_call_of_cudas_runtime(self):
        """Nothing in the program refers to the check, which reports the race when the program ends."""
        text = self.check("""#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
__global__ void add(int* sum) { *sum += 1; }
int main() {
  warden::buffer<int> sum{1};
  sum.fill_bytes(0);
  warden::launch(add, 4, 64, {}, sum.data());
}
""", 1)
        self.assertIn("f.cu:3 and f.cu:7: data race", text)

    def test_a_finding_that_the_program_catches(self):
        text = self.check("""#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/error.hpp>
__global__ void add(int* sum) { *sum += 1; }
int main() {
  warden::buffer<int> sum{1};
  sum.fill_bytes(0);
  try {
    warden::launch(add, 4, 64, {}, sum.data());
    (void)sum.to_host();
  } catch (warden::error const&) {
  }
}
""", 1)
        self.assertIn("f.cu:4 and f.cu:9: data race", text)

    def test_usage(self):
        self.assertIn("no such file", self.check("none.cu", 2))
        self.assertIn(".: not a file", self.check(".", 2))
        for value in ("0", "-1", "1000001", "1.5", "x", "9" * 5000):
            self.assertIn(f"--seeds: {value}: not a number from 1 to 1000000", self.check("launches.cu", 2, f"--seeds={value}"))
        self.assertIn("--timeout: 86401: not a number from 1 to 86400", self.check("launches.cu", 2, "--timeout=86401"))
        self.assertIn("unrecognized arguments: --seed", self.check("launches.cu", 2, "--seed", "3"))

    def test_what_cannot_be_translated(self):
        refused = self.check("\nint main() {\n  asm(\"nop\");\n}\n", 3)
        self.assertEqual(refused, "warden: f.cu:3: inline assembly; use CUDA's functions instead\n")
        refused = self.check("__global__ void k(int) {}\n\nint main() { k<<<1, 2>>>(undefined); }\n", 3)
        self.assertIn("warden: f.cu cannot be compiled for the simulated device:", refused)
        self.assertIn("f.cu:3:", refused)
        refused = self.check("""#include <warden/deferred.cuh>
struct deposit {
  long long& amount;
  __device__ void operator()(long long& balance) const { balance += amount; }
};
int main() {
  warden::guarded<long long, deposit> on{static_cast<long long*>(nullptr), 0};
  warden::deferred{on, 10}.run();
}
""", 3)
        self.assertRegex(refused, r"simulated device:\n.*error: ")
        self.assertIn("f.cu cannot be preprocessed", self.check("#include <none.cuh>\n", 3))
        self.assertIn("f.cu cannot be linked", self.check("void f();\nint main() { f(); }\n", 3))

    def test_findings_have_a_line_each(self):
        text = self.check("""#include <cassert>
#include <cooperative_groups.h>
__global__ void k(int* p, int i) {
  if (i == 0) cooperative_groups::this_grid().sync();
  if (i == 1) assert(p == nullptr);
  if (i == 2) __trap();
  if (i == 3) atomicAdd(p + 1000000, 1);
  if (i == 4 && threadIdx.x == 0) __syncthreads();
}
int main() {
  int* p;
  cudaMalloc(&p, 4);
  for (int i = 0; i < 5; ++i) {
    int seed;
    if (std::sscanf(std::getenv("WARDEN_SEED"), "%d", &seed) == 1 && seed % 5 == i) k<<<1, 2>>>(p, i);
  }
}
""", 1, before="--seeds=10")
        findings = text.partition("\n\n")[0].splitlines()
        self.assertGreaterEqual(len(findings), 5, text)
        self.assertEqual(len(set(findings)), len(findings))
        for line in findings:
            self.assertRegex(line, r"under [12] of 10 schedules, first with seed [1-9]\)$")
        self.assertRegex(text, r"f\.cu:4: the grid synchronizes in a launch that is not cooperative")
        self.assertRegex(text, r"f\.cu:5: void k\(int\*, int\): assertion 'p == nullptr' failed")
        self.assertRegex(text, r"f\.cu:6: the kernel trapped")
        self.assertRegex(text, r"f\.cu:7: atomic of 4 bytes outside device memory")
        self.assertRegex(text, r"f\.cu:8: barrier reached after 1 threads of the block have ended")

    def test_copies_of_objects(self):
        """Compiled code tells of the store of a copy before its load."""
        for members in ("int a", "long long a, b", "float a[9]"):
            text = self.check(f"""struct item {{ {members}; }};
__global__ void shift(item* all) {{ if (threadIdx.x < 63) all[threadIdx.x] = all[threadIdx.x + 1]; }}
int main() {{
  item* all;
  cudaMalloc(&all, 64 * sizeof(item));
  char bytes[64 * sizeof(item)];
  for (int i = 0; i < sizeof(bytes); ++i) bytes[i] = i % 3 + 5 * (i / sizeof(item) % 7);
  cudaMemcpy(all, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
  shift<<<1, 64>>>(all);
  return cudaDeviceSynchronize();
}}
""", 1)
            self.assertRegex(text, r"^f\.cu:2: data race: a plain (load|store) after a plain (load|store)")

    def test_a_grid_synchronizes_in_its_own_launch(self):
        source = """#include <cooperative_groups.h>
__global__ void k(int* p) {
  if (threadIdx.x == 0) atomicAdd(p, 1);
  cooperative_groups::this_grid().sync();
  if (*p %% gridDim.x != 0) __trap();
}
int main() {
  int *p, *q;
  cudaMalloc(&p, 4);
  cudaMalloc(&q, 4);
  cudaMemset(p, 0, 4);
  cudaMemset(q, 0, 4);
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  void *of_p[] = {&p}, *of_q[] = {&q};
  cudaLaunchCooperativeKernel(k, 2, 32, of_p, 0, s);
  cudaLaunchCooperativeKernel(k, 3, 32, of_q, 0, nullptr);
  cudaDeviceSynchronize();
  %s
  return cudaDeviceSynchronize();
}
"""
        self.check(source % "", 0, before="--seeds=20")
        text = self.check(source % "k<<<1, 32>>>(p);", 1)
        self.assertIn("f.cu:4: the grid synchronizes in a launch that is not cooperative", text)

    def test_ends_without_the_simulated_device(self):
        self.assertIn("SIGABRT", self.check("int main() {\n abort(); }\n", 1))
        text = self.check("__global__ void k() {\n  for (int volatile i = 0;; ++i) {\n  }\n}\nint main() {\n  k<<<1, 1>>>();\n}\n", 1,
                          before="--seeds=1", environment={"WARDEN_WATCHDOG_SECONDS": "1"})
        self.assertIn("no scheduling point for 1 s: block 0, thread 0", text)
        self.assertIn("no end within 1 s", self.check("int main() {\n for (int volatile i = 0;; ++i) {} }\n", 1, "--timeout", "1"))

    def test_results_that_differ(self):
        text = self.check("""#include <cstdio>
__global__ void k(int* p) { atomicExch(p, blockIdx.x); }
int main() {
  int *p, result;
  cudaMalloc(&p, 4);
  k<<<2, 1>>>(p);
  cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost);
  std::printf("same\\nlast %d\\n", result);
}
""", 1, before="--seeds=20")
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^no race found; results differ between seeds 1 and \d+$")
        self.assertEqual(sorted(line.partition(": ")[2] for line in lines[1:]), ["last 0", "last 1"])

    def test_plain_polling_looks_again(self):
        text = self.check("""__global__ void k(int* flag, int* out) {
  if (blockIdx.x == 1) {
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = 1;
  }
}
int main() {
  int* p;
  cudaMalloc(&p, 8);
  cudaMemset(p, 0, 8);
  k<<<2, 1>>>(p, p + 1);
  return cudaDeviceSynchronize();
}
""", 1)
        self.assertRegex(text, r"^f\.cu:[35] and f\.cu:[35]: data race: a plain (load|store) .* \(under all 4 schedules\)\n")

    def test_order_of_output_does_not_matter(self):
        self.check("""#include <cstdio>
__global__ void k() { std::printf("%d\\n", blockIdx.x); }
int main() { k<<<8, 1>>>(); cudaDeviceSynchronize(); }
""", 0)

    def test_errors_that_the_program_never_asked_for(self):
        text = self.check("__global__ void k() {}\nint main() {\n k<<<1, 2000>>>();\n}\n", 1)
        self.assertIn("the program never asked for an error of the CUDA runtime: invalid configuration argument", text)


if __name__ == "__main__":
    Command.build = sys.argv.pop(1)
    unittest.main()
