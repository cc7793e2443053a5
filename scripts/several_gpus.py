#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost model of a run on several GPUs, as docs/several-gpus.md states it, and the table there.

    several_gpus.py          writes the table between the marks of docs/several-gpus.md
    several_gpus.py --check  exit code 1 if it is not what it would write

What one GPU does is read from results/; what links do is LINKS below, until two GPUs are measured here.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/several-gpus.md"
BEGIN, END = "<!-- several_gpus: begin -->", "<!-- several_gpus: end -->"
# Bytes a second of a GPU, each way, and seconds until the counts are known. NVLink: an all-to-all by NCCL 2.28 of two H200 of one
# host, half of which crosses, and its shortest exchange. The network: one port of 400 Gbit/s for each GPU, by its data sheet.
LINKS = {"NVLink": 330e9, "network": 50e9}
COUNTS = 60e-6
MEMORY = 3.5e12  # bytes a second that packing reads and writes
HEADERS = 25 / 24  # bytes that travel for each of a message
SECTIONS = 1 << 26  # of a GPU in one run


def rate(file, name):
    """Median of a row of results/h200, a second."""
    rows = json.loads((ROOT / "results/h200" / file).read_text())["benchmarks"]
    return next(r["items_per_second"] for r in rows if r["run_name"] == name and r.get("aggregate_name", "median") == "median")


def seconds(gpus, per_host, message, whole, sent):
    """Of sending and running SECTIONS sections on each GPU; `whole` and `sent` a second on one alone."""
    send, run = 1 / sent, 1 / whole - 1 / sent
    if gpus == 1:
        return SECTIONS * (send + run)
    away = (gpus - 1) / gpus
    far = (gpus - per_host) / gpus if gpus > per_host else 0
    pack = 2 * message * away / MEMORY
    link = message * HEADERS * max((away - far) / LINKS["NVLink"], far / LINKS["network"])
    return COUNTS + SECTIONS * (send + pack + max(run / gpus, link) + run * away)


def table():
    lines = ["| sections | bytes of a message | 1 GPU, G/s | 2 GPUs | 4 GPUs | 8 GPUs | 2 hosts of 8 |", "|---|---|---|---|---|---|---|"]
    for operation, message in (("push", 8), ("update", 16)):
        for keys in (1 << 20, 1 << 24):
            whole = rate("contention.json", f"contention/{operation}/uniform/warden_deferred/keys:{keys}")
            sent = rate("deferred.json", f"deferred/send/block/bytes:{message}")
            one = seconds(1, 8, message, whole, sent)
            ratios = [f"{g * one / seconds(g, 8, message, whole, sent):.1f}" for g in (2, 4, 8, 16)]
            lines.append(f"| {operation}, {keys >> 20}M records | {message} | {whole / 1e9:.0f} | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


def main():
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if wanted == text else "docs/several-gpus.md: run scripts/several_gpus.py")
    PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
