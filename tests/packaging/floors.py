#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants violations of each kind, and demands that scripts/check_floors.py finds them."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
from check_floors import NAMES, PAGE, check  # noqa: E402


def plant(files):
    """Errors in these files, with the tables of the real page except its exceptions."""
    page = (pathlib.Path(__file__).parents[2] / PAGE).read_text().partition("## Exceptions")[0]
    exceptions, has_readmes = files.pop("exceptions", ""), files.pop("readmes", True)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {PAGE: f"{page}## Exceptions\n\n{exceptions}", **files}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for name in files:
            readme = (root / name).parent / "README.md"
            if has_readmes and not readme.exists():
                readme.write_text("# Folder\n")
        return check(root)


def main():
    names = f"#include <{NAMES}>\n"
    library, begin, end = "include/warden/", "WARDEN_NAMESPACE_BEGIN\n", "WARDEN_NAMESPACE_END\n"
    fused = {library + "detail/fused/plan.cuh": "", library + "guarded.cuh": "#include <warden/detail/fused/plan.cuh>\n"}
    plants = [
        {library + "detail/deferred/log.cuh": "#include <warden/detail/fused/plan.cuh>\n"},
        {library + "detail/fused/plan.cuh": "#include <warden/detail/deferred/log.cuh>\n"},
        {library + "detail/block/scan.cuh": "#include <warden/detail/execute/locks.cuh>\n"},
        {library + "detail/fused/server.cuh": "#include <warden/detail/fused/paper/leader.cuh>\n"},
        {library + "simt/simt.cuh": "#include <warden/detail/block/scan.cuh>\n"},
        {library + "detail/deferred/log.cuh": "#include <warden/guarded.cuh>\n", **fused},
        {library + "detail/deferred/log.cuh": "#include <warden/b.hpp>\n", library + "b.hpp": "#include <warden/guarded.cuh>\n", **fused},
        {library + "a.cuh": "#include <warden/b.cuh>\n", library + "b.cuh": "#include <warden/c.cuh>\n",
         library + "c.cuh": "#include <warden/b.cuh>\n"},
        {library + "guarded.cuh": "#ifdef __CUDACC__\n#endif\n"},
        {library + "detail/new/new.cuh": "#include <warden/error.hpp>\n"},
        {library + "new/new.cuh": ""},
        {library + "detail/block/scan.cuh": f"{begin}struct scan {{}};\n{end}", "exceptions": "## Names\n"},
        {library + "detail/block/scan.cuh": f"{begin}namespace detail {{\nint f();\n}}  // namespace detail\nint g();\n{end}", "exceptions": "## Names\n"},
        {library + "detail/block/scan.cuh": "", "exceptions": "## Names\n\n| `detail/block/scan.cuh` | `scan` |\n"},
        {library + "guarded.cuh": "", "readmes": False},
        {library + "guarded.cuh": "", library + "README.md": "\n" * 11},
        {"tests/protocol/a.cu": "", "tests/protocol/README.md": "\n" * 11},
        {"apps/a.cu": "\n" * 401},
        {"scripts/results/a.py": "\n" * 401},
        {"warden": "\n" * 461},
        {"apps/a.cu": "#include <warden/detail/fused/plan.cuh>\n"},
        {"templates/lock/after.cu": "#include <warden/simt/simt.cuh>\n"},
        {"microbench/a.cu": "#include <warden/detail/fused/plan.cuh>\n"},
        {"apps/a.cu": "", "exceptions": "| `apps/a.cu` | `detail/fused/plan.cuh` | none |\n"},
        {"tests/b.cu": "void f() { __syncthreads(); }\n"},
        {library + "detail/baseline/sort.cuh": "#include <cub/device/device_radix_sort.cuh>\n"},
        {"templates/lock/after.cu": "void f(int* lock) { atomicCAS(lock, 0, 1); }\n"},
        {"templates/lock/after.cu": "__global__ void f() {}\n"},
        {"templates/before.cu": "int f() { return threadIdx.x; }\n"},
        {"apps/lock/before.cu": "int f() { return threadIdx.x; }\n"},
        {"templates/lock/after.cu": "#include <warden/fused.cuh>\nint f() { return threadIdx.x; }\n"},
        {"templates/lock/after.cu": names + "void f() { g<<<1, 1>>>(); }\n"},
        {"tests/a.cu": names + "unsigned f(unsigned v) { return __reduce_mul_sync(~0u, v); }\n"},
        {"tests/a.cu": names + "void f(int* p) { atomicAdd_cluster(p, 1); }\n"},
        {library + "guarded.cuh": names, "include/" + NAMES: ""},
        {"include/" + NAMES: "#ifdef __CUDACC__\n#endif\n"},
        {library + "guarded.cuh": names + "int f() { return threadIdx.x; }\n", "include/" + NAMES: ""},
        {"templates/lock/before.cu": "#include <warden/buffer.hpp>\n"},
        {"tests/check/programs/a.cu": "#include <warden/detail/fused/plan.cuh>\n"},
        {"apps/lock/sort.cu": "#include <cub/device/device_scan.cuh>\n"},
        {"apps/lock/cub/sort.cu": "void f() { cub::f(); __syncthreads(); }\n"},
        {"apps/cub/sort.cu": "void f() { thrust::f(); }\n"},
        {"tests/lock/cub/sort.cu": "void f() { thrust::f(); }\n"},
    ]
    for files in plants:
        if not plant(dict(files)):
            sys.exit(f"the violation planted in {', '.join(files)} was not found")
    fine = {"warden": "\n" * 460, "runtime/sim/a.cpp": "\n" * 400, "apps/data/edges.txt": "\n" * 401,
            "templates/lock/before.cu": "__global__ void f(int* lock) { atomicCAS(lock, 0, threadIdx.x); }\n",
            "tests/a.cu": names[:-1] + "  // for both\n__global__ void f(int* lock) { atomicCAS(lock, 0, threadIdx.x); __syncthreads_or(1); }\n",
            "tests/check/a.cu": "#include <warden/guarded.cuh>\n__global__ void f() {}\n",
            "tests/b.cu": "#include <warden/detail/fused/plan.cuh>\n", "microbench/transport/a.cu": "#include <warden/detail/fused/plan.cuh>\n",
            "apps/a.cu": "#include <warden/simt/simt.cuh>\n#include <warden/guarded.cuh>\n", "apps/README.md": "\n" * 8,
            "apps/lock/a.cu": "#include <warden/detail/fused/plan.cuh>\n", "apps/lock/README.md": "\n" * 80,
            "exceptions": "| `apps/lock/a.cu` | `detail/fused/plan.cuh` | a benchmark replaces it |\n"
                          "## Names\n\n| `detail/block/group.cuh` | `group` |\n",
            **{f"{tree}/lock/cub/sort.cu": "#include <cub/device/device_scan.cuh>\nvoid f() { cub::f(thrust::g()); }\n" for tree in ("apps", "microbench")},
            library + "detail/block/scan.cuh": f"{begin}namespace detail {{\n\nint f();\n\n}}  // namespace detail\n{end}",
            library + "detail/block/group.cuh": f"{begin}struct group {{}};\n{end}",
            library + "error.hpp": "", library + "detail/pairs/rounds.cuh": "#include <warden/error.hpp>\n#include <warden/detail/deferred/log.cuh>\n", **fused}
    if found := plant(dict(fine)):
        sys.exit(f"nothing is wrong, but found: {found}")


if __name__ == "__main__":
    main()
