#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what may stand where: only the seam knows the device, and floors include only floors below.

    check_floors.py [ROOT]      prints file:line: what, exit code 1 if there is anything
    check_floors.py --self-test plants a violation of each kind and demands that it is found
"""
import pathlib
import re
import sys
import tempfile

SOURCES = {".cu", ".cuh", ".hpp", ".cpp"}
SEAM = ("include/warden/simt/", "runtime/")
DEVICE = re.compile(
    r"__CUDACC__|__CUDA_ARCH__|WARDEN_SIMULATED|\basm\b|__(?:shfl|ballot|any|all|match|reduce)_\w+|"
    r"__activemask|__sync(?:threads|warp)\w*|__threadfence\w*|__nanosleep|\batomic[A-Z]\w*\(|"
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|\b(?:cub|thrust)(?:::|/)")
COMMENT = re.compile(r"//.*$")

# From the bottom up. A header may include headers of its own floor and of floors below it.
FLOORS = [
    ["version.hpp"],
    ["simt/"],
    ["diagnosis.hpp", "error.hpp", "stream.hpp", "graph.hpp", "runtime.hpp", "buffer.hpp", "simulation.hpp", "timer.hpp", "guarded_options.hpp"],
    ["watchdog.cuh", "critical_section.cuh", "owner_map.cuh", "lock_table.cuh", "message.cuh", "statistics.cuh",
     "answer.cuh", "answer_slots.cuh", "traveling.cuh", "section_client.cuh", "place_pool.cuh", "set_aside.cuh", "token_purse.cuh", "pair_times.cuh", "combine.cuh", "message_combiner.cuh", "baseline/"],
    ["channel.cuh", "forward_rings.cuh", "token_stock.cuh", "window_reader.cuh", "forward_window.cuh", "drain.cuh", "forwarding_server.cuh", "lane_sender.cuh", "nested_run.cuh", "nested_server.cuh", "whole_lanes.cuh", "bitmask_channel.cuh", "launch_control.cuh", "guarded_ref.cuh", "record_store.cuh", "owner_run.cuh", "inbox.cuh", "slice_reader.cuh",
     "client_block.cuh", "outbox.cuh", "buffered_outbox.cuh", "slice_server.cuh", "leader_server.cuh",
     "window_server.cuh"],
    ["executor/", "policy.cuh", "paper_policy.cuh"],
    ["detail/launch_record.cuh", "detail/check_owner_map.cuh", "detail/answer_memory.cuh", "detail/forward_memory.cuh", "detail/misuse.cuh", "detail/minimum_blocks.cuh"],
    ["detail/plan.cuh"],
    ["detail/launch_history.cuh"],
    ["future.cuh", "thread_client.cuh", "warp_client.cuh", "block_client.cuh"],
    ["guarded.cuh", "launch.cuh"],
]
# The seam's own host side: launch.cuh wraps kernels for the runtime, sim_device.hpp is its lower face.
ALLOWED = {("simt/launch.cuh", "runtime.hpp")}


def floor_of(header):
    for number, names in enumerate(FLOORS):
        if any(header == n or (n.endswith("/") and header.startswith(n)) for n in names):
            return number
    return None


def check(root):
    found = []
    for path in sorted(p for top in ("include", "runtime", "microbench", "apps", "templates", "tests")
                       for p in (root / top).rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        header = name.removeprefix("include/warden/")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = COMMENT.sub("", line)
            device = DEVICE.search(code)
            if device and not name.startswith(SEAM):
                found.append(f"{name}:{number}: {device.group()} outside the seam")
            included = re.match(r'\s*#\s*include\s*[<"](?:warden/)([^>"]+)', code)
            if not included:
                continue
            target = included.group(1)
            if not name.startswith("include/"):
                if "detail/" in target and not name.startswith("runtime/"):
                    found.append(f"{name}:{number}: includes {target}, which is not public")
                continue
            mine, other = floor_of(header), floor_of(target)
            if mine is None or other is None:
                found.append(f"{name}:{number}: {header if mine is None else target} is on no floor")
            elif other > mine and (header, target) not in ALLOWED:
                found.append(f"{name}:{number}: includes {target}, a floor above")
    return found


def self_test():
    plants = {
        "include/warden/message.cuh": "#include <warden/guarded.cuh>\n",
        "include/warden/guarded.cuh": "#ifdef __CUDACC__\n#endif\n",
        "apps/a.cu": "#include <warden/detail/x.cuh>\n",
        "tests/b.cu": "void f() { __syncthreads(); }\n",
        "include/warden/baseline/sort.cuh": "#include <cub/device/device_radix_sort.cuh>\n",
        "include/warden/new.cuh": "#include <warden/message.cuh>\n",
    }
    for name, text in plants.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            if len(check(pathlib.Path(folder))) != 1:
                sys.exit(f"self-test: the violation planted in {name} was not found")
    print("self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        violations = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
        print("\n".join(violations) or "all floors are in order")
        sys.exit(1 if violations else 0)
