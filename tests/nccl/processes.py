#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test program as several processes, the ranks of one job, which share a GPU.

NCCL refuses two ranks of one host on one GPU; processes that say that they are on hosts of their own
are taken at their word, and what they send goes by way of the host's network to itself. So this says
nothing about speed.

    processes.py PROGRAM RANKS [ARGUMENT...]

Exits with 0 if all ranks do, with 77 if all are skipped.
"""
import os
import subprocess
import sys
import tempfile


def main(program, ranks, *arguments):
    limit_seconds = 240
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(int(ranks)):
            job = {"WARDEN_JOB_RANK": str(rank), "WARDEN_JOB_SIZE": ranks, "WARDEN_JOB_FOLDER": folder,
                   "NCCL_HOSTID": f"rank{rank}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1",
                   "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}
            log = open(os.path.join(folder, f"log_{rank}"), "w+", encoding="utf-8", errors="replace")
            started.append((subprocess.Popen([program, *arguments], stdout=log, stderr=log, env=os.environ | job), log))
        codes = []
        for rank, (process, log) in enumerate(started):
            try:
                codes.append(process.wait(timeout=limit_seconds))
            except subprocess.TimeoutExpired:
                for other, _ in started:
                    other.kill()
                codes.append(f"no end within {limit_seconds} s")
            if rank == 0 or codes[-1] != 0:
                log.seek(0)
                print(f"---- rank {rank} of {ranks}\n{log.read()}")
        print("exits by rank:", *codes)
        return codes[0] if len(set(codes)) == 1 and codes[0] in (0, 77) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[2].isdigit() or int(sys.argv[2]) < 1:
        sys.exit("processes.py PROGRAM RANKS [ARGUMENT...]: RANKS is a number from 1 on")
    sys.exit(main(*sys.argv[1:]))
