#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test program as several processes, the ranks of one job.

    processes.py [--own-gpus] [--killed RANK] PROGRAM RANKS [ARGUMENT...]

By default the processes share a GPU. NCCL refuses two ranks of one host on one GPU; processes that say that they are on hosts of
their own are taken at their word, and what they send goes by way of the host's network to itself. So this says nothing about speed.

With --own-gpus each process has a GPU of its own. With --killed that rank has to end by SIGKILL.

Exits with 0 if all ranks do, with 77 if all are skipped, or if there are not as many GPUs.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_SECONDS = 240


def visible_gpus():
    """The names of the GPUs, as CUDA_VISIBLE_DEVICES has them."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [name for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name]
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [str(k) for k in range(len(listed.splitlines()))]


def main(chosen):
    gpus = visible_gpus()
    if chosen.own_gpus and len(gpus) < chosen.ranks:
        print(f"there are {len(gpus)} GPUs for {chosen.ranks} ranks")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(chosen.ranks):
            job = {"WARDEN_JOB_RANK": str(rank), "WARDEN_JOB_SIZE": str(chosen.ranks), "WARDEN_JOB_FOLDER": folder}
            if chosen.own_gpus:
                job |= {"CUDA_VISIBLE_DEVICES": gpus[rank]}
            else:
                job |= {"NCCL_HOSTID": f"rank{rank}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1",
                        "CUDA_VISIBLE_DEVICES": gpus[0] if gpus else "0"}
            log = open(os.path.join(folder, f"log_{rank}"), "w+", encoding="utf-8", errors="replace")
            started.append((subprocess.Popen([chosen.program, *chosen.arguments], stdout=log, stderr=log, env=os.environ | job), log))
        end = time.monotonic() + LIMIT_SECONDS
        codes = []
        for rank, (process, log) in enumerate(started):
            try:
                codes.append(process.wait(timeout=max(0, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                for other, _ in started:
                    other.kill()
                codes.append(f"no end within {LIMIT_SECONDS} s")
            if rank == chosen.killed:
                codes[-1] = 0 if codes[-1] == -signal.SIGKILL else f"{codes[-1]} instead of SIGKILL"
            if rank == 0 or codes[-1] != 0:
                log.seek(0)
                print(f"---- rank {rank} of {chosen.ranks}\n{log.read()}")
        print("exits by rank:", *codes)
        return codes[0] if len(set(codes)) == 1 and codes[0] in (0, 77) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage="processes.py [--own-gpus] [--killed RANK] PROGRAM RANKS [ARGUMENT...]")
    parser.add_argument("--own-gpus", action="store_true")
    parser.add_argument("--killed", type=int)
    parser.add_argument("program")
    parser.add_argument("ranks", type=int)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parsed = parser.parse_args()
    if parsed.ranks < 1:
        parser.error("RANKS is a number from 1 on")
    sys.exit(main(parsed))
