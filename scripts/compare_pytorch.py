#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what PyTorch needs for work that the benchmark `workloads` measures, too.

    compare_pytorch.py [--rows LOG2] [--records LOG2] [--repetitions N] [--out FILE]

Prints a line for each operation, distribution of ids and number of floats of a row, in 10^9 rows per second: index_add_
with and without deterministic algorithms, the backward pass of an embedding, and a step of AdaGrad with sparse
gradients, which adds the gradients of a row first. --out writes the rates as a result file, which scripts/results reads.

Exit code 1 if a result is wrong, or if two deterministic runs differ in a bit; 3 without PyTorch or a GPU.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

try:
    import torch
except ImportError:
    print("compare_pytorch.py: no PyTorch; install it with: pip install torch", file=sys.stderr)
    sys.exit(3)

ERROR = 1e-4  # largest error of a sum, relative to the sum of absolute values
RATE = 0.05  # learning rate
EPSILON = 1e-10  # PyTorch's default
PERMUTING = 2654435761  # an odd factor, so that hot records lie anywhere


def draw_ids(rows, records, exponent, generator):
    """Ids of rows; by Zipf's law if there is an exponent."""
    if exponent is None:
        return torch.randint(records, (rows,), device="cuda", generator=generator)
    weights = torch.arange(1, records + 1, device="cuda", dtype=torch.float64) ** -exponent
    sums = torch.cumsum(weights, 0)
    drawn = torch.rand(rows, device="cuda", dtype=torch.float64, generator=generator) * sums[-1]
    return torch.searchsorted(sums, drawn).clamp_(max=records - 1) * PERMUTING % records


def seconds_of(prepare, run, repetitions):
    """Times of `run(prepare())` in ascending order, by events."""
    times = []
    for _ in range(repetitions + 1):
        arguments = prepare()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run(*arguments)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return sorted(times[1:])  # the first one warms up


class Point:
    """Rows of floats with ids, and the exact sums of each record."""

    def __init__(self, rows, records, floats, exponent, repetitions):
        generator = torch.Generator("cuda").manual_seed(1)
        self.ids = draw_ids(rows, records, exponent, generator)
        self.values = torch.rand(rows, floats, device="cuda", generator=generator) * 2 - 1
        self.records, self.floats, self.repetitions = records, floats, repetitions

    def out(self):
        return torch.zeros(self.records, self.floats, device="cuda")

    def sums(self):
        """For each column its number, its sums in double precision, and the sums of absolute values: column by column to
        save memory."""
        for k in range(self.floats):
            column = self.values[:, k].double()
            zeros = torch.zeros(self.records, device="cuda", dtype=torch.float64)
            yield k, zeros.index_add(0, self.ids, column), zeros.index_add(0, self.ids, column.abs())

    def is_right(self, found):
        return all(((found[:, k].double() - sums).abs() <= ERROR * sizes).all() for k, sums, sizes in self.sums())

    def index_add(self, deterministic):
        torch.use_deterministic_algorithms(deterministic)
        last_two = []

        def run(out):
            out.index_add_(0, self.ids, self.values)
            last_two[:] = [*last_two[-1:], out]
        times = seconds_of(lambda: (self.out(),), run, self.repetitions)
        torch.use_deterministic_algorithms(False)
        return times, self.is_right(last_two[-1]) and (not deterministic or torch.equal(*last_two))

    def embedding_backward(self):
        weight = self.out().requires_grad_()

        def prepare():
            weight.grad = None
            return (torch.nn.functional.embedding(self.ids, weight),)
        times = seconds_of(prepare, lambda rows: rows.backward(self.values), self.repetitions)
        return times, self.is_right(weight.grad)

    def sparse_adagrad(self):
        """The gradients are given; PyTorch keeps a state for each weight, not for each row."""
        weight = torch.nn.Parameter(self.out())
        optimizer = torch.optim.Adagrad([weight], lr=RATE, eps=EPSILON)

        def prepare():
            weight.grad = torch.sparse_coo_tensor(self.ids[None], self.values, weight.shape)
            return ()
        times = seconds_of(prepare, optimizer.step, self.repetitions)
        # Step k with the same gradient moves a weight by RATE / sqrt(k), whatever the gradient is.
        moved = RATE * sum(step ** -0.5 for step in range(1, self.repetitions + 2))
        return times, all(self.has_moved(weight[:, k], sums, sizes, moved) for k, sums, sizes in self.sums())

    @staticmethod
    def has_moved(weights, sums, sizes, distance):
        """True if weights have moved by `distance` against their gradients. Those of small gradients may have any sign, or
        move less, because the optimizer adds EPSILON to what it divides by."""
        is_large = sums.abs() > (ERROR * sizes).clamp(min=EPSILON / ERROR)
        is_near = (weights.double() + distance * sums.sign()).abs() < ERROR
        return bool((is_near | ~is_large).all() and (weights[sizes == 0] == 0).all())


def context():
    """Origin of the rates, as in files of the benchmarks."""
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--match=no-tag-is-called-so"]
    commit = os.environ.get("WARDEN_COMMIT") or subprocess.run(
        describe, cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "device": torch.cuda.get_device_name(), "toolkit": torch.version.cuda, "torch": torch.__version__,
            "commit": commit, "command": " ".join(["compare_pytorch.py", *sys.argv[1:]]), "simulated": "no"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=22, help="binary logarithm of the number of rows")
    parser.add_argument("--records", type=int, default=20, help="binary logarithm of the number of records")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", help="file of the rates")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("compare_pytorch.py: PyTorch finds no CUDA GPU", file=sys.stderr)
        return 3
    rows, results, all_right = 1 << options.rows, [], True
    for workload, exponent in (("uniform", None), ("zipf099", 0.99)):
        for floats in (1, 8, 64):
            point = Point(rows, 1 << options.records, floats, exponent, options.repetitions)
            for name, measure in (("index_add", lambda: point.index_add(False)),
                                  ("index_add_deterministic", lambda: point.index_add(True)),
                                  ("embedding_backward", point.embedding_backward),
                                  ("sparse_adagrad", point.sparse_adagrad)):
                times, right = measure()
                seconds = statistics.median(times)
                print(f"{name:24} {workload:8} {floats:3} floats {rows / seconds / 1e9:9.4f} G rows/s"
                      f"{'' if right else '  WRONG'}", flush=True)
                if right:
                    results.append({"name": f"pytorch/scatter{floats}/{workload}/{name}/keys:{1 << options.records}"
                                            f"/sections:{rows}",
                                    "real_time": seconds * 1e3, "time_unit": "ms", "items_per_second": rows / seconds,
                                    "operations": rows, "runs": len(times), "slowest_per_second": rows / times[-1],
                                    "fastest_per_second": rows / times[0]})
                all_right &= right
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"context": context(), "benchmarks": results}, file, indent=1)
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
