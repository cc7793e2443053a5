#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what may stand where: only the seam knows the device, and floors include only floors below.

    check_floors.py [ROOT]      prints file:line: what, exit code 1 if there is anything
    check_floors.py --self-test plants a violation of each kind and demands that it is found

The floor of a header is its folder. A public header, at the top of include/warden, counts as all folders that it
needs: vocabulary such as errors and sections may be included from anywhere, guarded.cuh from nowhere below.
The folder cub/ of an application or a benchmark may name CUB and Thrust, and no other part of the device.
templates/*/before.cu and the sources of tests/check are users' programs: they name CUDA, and nothing of Warden's. A
user's source that includes warden/cuda_names.cuh has the names that this header gives on both devices; the library
itself does without.
"""
import pathlib
import re
import sys
import tempfile

SOURCES = {".cu", ".cuh", ".hpp", ".cpp"}
TREES = ("include", "runtime", "microbench", "apps", "templates", "tests")
NAMES = "warden/cuda_names.cuh"
SEAM = ("include/warden/simt/", "runtime/")
DEVICE = re.compile(
    r"__CUDACC__|__CUDA_ARCH__|WARDEN_SIMULATED|\basm\b|__(?:shfl|ballot|any|all|match|reduce)_\w+|"
    r"__activemask|__sync(?:threads|warp)\w*|__threadfence\w*|__nanosleep|\batomic[A-Z]\w*\(|"
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|\b(?:cub|thrust)(?:::|/)|__global__|<<<")
# Of these, what that header gives.
NAMED = re.compile(
    r"__(?:shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all|match_any|match_all|reduce_(?:add|min|max|and|or|xor))_sync\b|__activemask|__syncwarp\b|"
    r"__syncthreads(?:_or|_and|_count)?\b|__threadfence(?:_block|_system)?\b|__nanosleep|"
    r"\batomic(?:Add|Sub|Exch|CAS|Min|Max|Inc|Dec|And|Or|Xor)(?:_block|_system)?\(|"
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|__global__")
# Of the same, what CUB's device algorithms are called by.
ALGORITHMS = re.compile(r"\b(?:cub|thrust)(?:::|/)")
ALGORITHM_FOLDER = re.compile(r"(?:apps|microbench)/[^/]+/cub/")
PLAIN_CUDA = re.compile(r"templates/[^/]+/before\.cu|tests/check/.+\.cuh?")
COMMENT = re.compile(r"//.*$")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]warden/([^>"]+)')

# From the bottom up. A header may include its own folder and folders of lower floors.
FLOORS = [{"simt"}, {"block", "channel"}, {"launch"}, {"client", "server", "baseline", "allocate"}, {"executor"}, {"host"}]
FLOOR_OF = {folder: number for number, folders in enumerate(FLOORS) for folder in folders}
# The seam's own host side: launch.cuh wraps kernels for the runtime.
ALLOWED = {("simt/launch.cuh", "runtime.hpp")}


def folder_of(header):
    return header.rpartition("/")[0].split("/")[0]


class Headers:
    """The public part and the floors of one include/warden."""

    def __init__(self, root):
        self.includes = {}
        for path in (root / "include/warden").rglob("*"):
            if path.suffix in SOURCES:
                name = path.relative_to(root / "include/warden").as_posix()
                self.includes[name] = [m[1] for line in path.read_text().splitlines() if (m := INCLUDE.match(line))]

    def folders(self, header, above=()):
        """The folder of a header; of a public one, those of all headers that it needs."""
        folder = folder_of(header)
        if folder:
            return {folder}
        needed = (self.folders(h, (*above, header)) for h in self.includes.get(header, []) if h not in above)
        return set().union(*needed)

    def cycle(self, header):
        """A way from the header back to itself, or nothing."""
        ways, seen = [[header]], set()
        while ways:
            way = ways.pop()
            for target in self.includes.get(way[-1], []):
                if target == header:
                    return way + [header]
                if target not in seen:
                    seen.add(target)
                    ways.append(way + [target])
        return None

    def fault(self, header, target):
        """What is wrong with an include of one header in another, or nothing."""
        mine, theirs = folder_of(header), self.folders(target)
        for one in (f for f in (mine, *theirs) if f and f not in FLOOR_OF):
            return f"{one}/ is on no floor"
        if not mine or (header, target) in ALLOWED:
            return None
        if any(f != mine and FLOOR_OF[f] >= FLOOR_OF[mine] for f in theirs):
            return f"includes {target}, which is not on a floor below"
        return None


def check(root):
    found, headers = [], Headers(root)
    for path in sorted(p for top in TREES for p in (root / top).rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        header = name.removeprefix("include/warden/") if name.startswith("include/warden/") else None
        plain = PLAIN_CUDA.fullmatch(name)
        lines = path.read_text().splitlines()
        named = not header and any(line.startswith(f"#include <{NAMES}>") for line in lines)
        for number, line in enumerate(lines, 1):
            code = COMMENT.sub("", line)
            if ALGORITHM_FOLDER.match(name):
                code = ALGORITHMS.sub("", code)
            device = DEVICE.search(NAMED.sub("", code) if named else code)
            if device and not plain and not name.startswith(SEAM):
                found.append(f"{name}:{number}: {device.group()} outside the seam")
            included = INCLUDE.match(code)
            if not included:
                continue
            target = included[1]
            if plain:
                what = f"includes {target}, but it is plain CUDA"
            elif header and f"warden/{target}" == NAMES:
                what = f"includes {target}, which is for users"
            elif header:
                what = headers.fault(header, target)
            elif name.startswith(("apps/", "templates/")) and folder_of(target) not in ("", "simt", "baseline", "allocate"):
                what = f"includes {target}, which is not public"
            else:
                what = None
            if what:
                found.append(f"{name}:{number}: {what}")
        if header and (way := headers.cycle(header)):
            found.append(f"{name}:1: includes itself: {' -> '.join(way)}")
    return found


def self_test():
    names = f"#include <{NAMES}>\n"
    guarded = {"include/warden/host/plan.cuh": "", "include/warden/guarded.cuh": "#include <warden/host/plan.cuh>\n"}
    plants = [
        {"include/warden/channel/message.cuh": "#include <warden/launch/watchdog.cuh>\n"},
        {"include/warden/channel/message.cuh": "#include <warden/block/combine.cuh>\n"},
        {"include/warden/launch/ref.cuh": "#include <warden/guarded.cuh>\n", **guarded},
        {"include/warden/a.cuh": "#include <warden/b.cuh>\n", "include/warden/b.cuh": "#include <warden/c.cuh>\n",
         "include/warden/c.cuh": "#include <warden/b.cuh>\n"},
        {"include/warden/client/a.cuh": "#include <warden/b.hpp>\n", "include/warden/b.hpp": "#include <warden/server/c.cuh>\n",
         "include/warden/server/c.cuh": ""},
        {"include/warden/guarded.cuh": "#ifdef __CUDACC__\n#endif\n"},
        {"apps/a.cu": "#include <warden/host/x.cuh>\n"},
        {"tests/b.cu": "void f() { __syncthreads(); }\n"},
        {"include/warden/baseline/sort.cuh": "#include <cub/device/device_radix_sort.cuh>\n"},
        {"include/warden/new/new.cuh": "#include <warden/error.hpp>\n"},
        {"templates/lock/after.cu": "void f(int* lock) { atomicCAS(lock, 0, 1); }\n"},
        {"templates/lock/after.cu": "__global__ void f() {}\n"},
        {"templates/before.cu": "int f() { return threadIdx.x; }\n"},
        {"apps/lock/before.cu": "int f() { return threadIdx.x; }\n"},
        {"templates/lock/after.cu": "#include <warden/launch.cuh>\nint f() { return threadIdx.x; }\n"},
        {"templates/lock/after.cu": names + "void f() { g<<<1, 1>>>(); }\n"},
        {"tests/a.cu": names + "unsigned f(unsigned v) { return __reduce_mul_sync(~0u, v); }\n"},
        {"tests/a.cu": names + "void f(int* p) { atomicAdd_cluster(p, 1); }\n"},
        {"include/warden/guarded.cuh": names, "include/" + NAMES: ""},
        {"include/" + NAMES: "#ifdef __CUDACC__\n#endif\n"},
        {"include/warden/guarded.cuh": names + "int f() { return threadIdx.x; }\n", "include/" + NAMES: ""},
        {"templates/lock/before.cu": "#include <warden/buffer.hpp>\n"},
        {"apps/lock/sort.cu": "#include <cub/device/device_scan.cuh>\n"},
        {"apps/lock/cub/sort.cu": "void f() { cub::f(); __syncthreads(); }\n"},
        {"apps/cub/sort.cu": "void f() { thrust::f(); }\n"},
        {"tests/lock/cub/sort.cu": "void f() { thrust::f(); }\n"},
    ]
    for plant in plants:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in plant.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            if not check(pathlib.Path(folder)):
                sys.exit(f"self-test: the violation planted in {', '.join(plant)} was not found")
    fine = {"templates/lock/before.cu": "__global__ void f(int* lock) { atomicCAS(lock, 0, threadIdx.x); }\n",
            "tests/a.cu": names[:-1] + "  // for both\n__global__ void f(int* lock) { atomicCAS(lock, 0, threadIdx.x); __syncthreads_or(1); }\n",
            **{f"{tree}/lock/cub/sort.cu": "#include <cub/device/device_scan.cuh>\nvoid f() { cub::f(thrust::g()); }\n" for tree in ("apps", "microbench")},
            "include/warden/error.hpp": "", "include/warden/launch/ref.cuh": "#include <warden/error.hpp>\n", **guarded}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in fine.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if found := check(pathlib.Path(folder)):
            sys.exit(f"self-test: nothing is wrong, but found: {found}")
    print("self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        violations = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
        print("\n".join(violations) or "all floors are in order")
        sys.exit(1 if violations else 0)
