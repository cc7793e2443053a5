#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost model of a run on several GPUs, as docs/several-gpus.md states it, and the tables there.

    several_gpus.py          writes the tables between the marks of docs/several-gpus.md
    several_gpus.py --check  exit code 1 if they are not what it would write
    several_gpus.py --self-test

Constants come from TIMELINES, the rows of `several_gpus --timeline` on two GPUs, once that file exists. Until then they come from
FIRST, the rates of the first measurement, and from ASSUMED. Measured ratios come from RATES, the rows without --timeline, or FIRST.
"""
import dataclasses
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/several-gpus.md"
RATES = ROOT / "results/h100x2/several_gpus.json"
TIMELINES = ROOT / "results/h100x2/several_gpus_timeline.json"
BEGIN, END = "<!-- several_gpus: begin -->", "<!-- several_gpus: end -->"
MESSAGE = {"push": 8, "update": 16}  # bytes
KEYS = (1 << 20, 1 << 24)
SECTIONS = 1 << 26  # of a GPU in one run
HEADERS = 25 / 24  # bytes that travel for each of a message
NETWORK = 50e9  # bytes a second of a GPU, each way: one port of 400 Gbit/s, by its data sheet
MEMORY = 3.35e12  # bytes a second of an H100, by its data sheet
# Partitions of a log on the records of all ranks, and those of a GPU with which a run needs no split.
PARTITIONS, UNSPLIT = 512, 256
# Two H100, commit 69218ce: sections a second of one GPU, and of two GPUs together.
FIRST = {("push", 1 << 20): (17.0e9, 21.9e9), ("update", 1 << 20): (10.1e9, 15.6e9),
         ("push", 1 << 24): (10.1e9, 16.1e9), ("update", 1 << 24): (8.8e9, 14.6e9)}


@dataclasses.dataclass
class Constants:
    """Of one row: seconds of a run, or of a section where the name says so."""
    send_section: float  # the kernel that sends
    run_section: float  # a run on one GPU
    several_section: float  # what a section takes in addition on several GPUs, where segments are half as long
    count: float  # until this rank's counts are known
    gather: float  # until the host knows those of all ranks
    sort: float  # the launches that sort what single threads sent: nothing in these rows
    pack_byte: float  # of what leaves
    link: float  # bytes a second of a GPU, each way
    join_section: float  # of what came


# Rates of sending and of NVLink are those of H200: results/h200/deferred.json, and an all-to-all by NCCL 2.28 on two GPUs. Packing
# reads and writes what leaves once. `several_section` is fitted to FIRST: it has all that the other constants leave out.
ASSUMED = {"several_section": 23e-12, "count": 20e-6, "gather": 40e-6, "sort": 0, "pack_byte": 2 / MEMORY, "link": 330e9,
           "join_section": 0}


def send_rate(message):
    rows = json.loads((ROOT / "results/h200/deferred.json").read_text())["benchmarks"]
    return next(r["items_per_second"] for r in rows if r["run_name"] == f"deferred/send/block/bytes:{message}")


def assumed(operation, keys):
    send = 1 / send_rate(MESSAGE[operation])
    return Constants(send, 1 / FIRST[operation, keys][0] - send, **ASSUMED)


def row_of(rows, operation, keys, arm):
    """Of some rows of one arm the median, if they have aggregates."""
    name = f"several_gpus/{operation}/uniform/{arm}/keys:{keys}"
    return next(r for r in rows if r["run_name"] == name and r.get("aggregate_name", "median") == "median")


def measured(rows, operation, keys):
    """The constants of a row from its timelines on one and on two GPUs."""
    arms = row_of(rows, operation, keys, "one_gpu"), row_of(rows, operation, keys, "two_gpus")
    one, two = ({key.removeprefix("seconds_to_"): value for key, value in row.items() if key.startswith("seconds_to_")} for row in arms)
    sections = arms[0]["operations"]
    away = sections / 2
    run = one["home"] - one["sort"]
    parts = two["home"] - two["pack"] + two["remote"] - two["join"]
    return Constants(
        send_section=two["send"] / sections, run_section=run / sections, several_section=(parts - run) / sections,
        count=two["count"], gather=two["gather"] - two["count"], sort=two["sort"] - two["gather"],
        pack_byte=(two["pack"] - two["sort"]) / (away * MESSAGE[operation]),
        link=away * MESSAGE[operation] * HEADERS / (two["exchange"] - two["pack"]),
        join_section=(two["join"] - two["arrive"]) / away)


def phases(c, gpus, per_host, message, keys, sections=SECTIONS):
    """[phase] seconds that are not hidden by others, for as many sections on each GPU."""
    if gpus == 1:
        return {"send": sections * c.send_section, "home": sections * c.run_section}
    away = (gpus - 1) / gpus
    far = (gpus - per_host) / gpus if gpus > per_host else 0
    # Records that are not split on one GPU are, once a GPU has fewer partitions; a split reads and writes each message.
    split = 2 * message / MEMORY if keys < KEYS[1] and PARTITIONS / gpus < UNSPLIT else 0
    run = c.run_section + c.several_section + split
    home = sections * run / gpus
    exchange = sections * message * HEADERS * max((away - far) / c.link, far / NETWORK)
    return {"send": sections * c.send_section, "counts": c.count + c.gather + c.sort,
            "pack": sections * away * message * c.pack_byte, "home": home, "exchange": max(0, exchange - home),
            "join": sections * away * c.join_section, "remote": sections * away * run}


def tables(constants, ratios_on_2):
    ratios = ["| sections | bytes of a message | 1 GPU, G/s | 2 GPUs | 4 GPUs | 8 GPUs | 2 hosts of 8 | measured on 2 |", "|---|---|---|---|---|---|---|---|"]
    names = ["send", "counts", "pack", "home", "exchange", "join", "remote"]
    spent = ["| sections | GPUs | " + " | ".join(names) + " | sum |", "|" + "---|" * (len(names) + 3)]
    for (operation, keys), c in constants.items():
        message, label = MESSAGE[operation], f"{operation}, {keys >> 20}M records"
        seconds = {g: phases(c, g, 8, message, keys) for g in (1, 2, 4, 8, 16)}
        sums = {g: sum(s.values()) for g, s in seconds.items()}
        predicted = [f"{g * sums[1] / sums[g]:.2f}" for g in (2, 4, 8, 16)]
        ratios.append(f"| {label} | {message} | {SECTIONS / sums[1] / 1e9:.1f} | " + " | ".join(predicted) + f" | {ratios_on_2[operation, keys]:.2f} |")
        for g in (2, 8, 16):
            spent.append(f"| {label} | {g} | " + " | ".join(f"{1e3 * seconds[g].get(n, 0):.2f}" for n in names) + f" | {1e3 * sums[g]:.2f} |")
    return "\n".join(ratios) + "\n\n" + "\n".join(spent)


def rows_of(file):
    """None if there is no such file yet."""
    return json.loads(file.read_text())["benchmarks"] if file.exists() else None


def all_tables():
    timelines, rates = rows_of(TIMELINES), rows_of(RATES)
    rows = [(o, k) for o in MESSAGE for k in KEYS]

    def ratio(operation, keys):
        one, two = FIRST[operation, keys] if rates is None else (
            row_of(rates, operation, keys, arm)["items_per_second"] for arm in ("one_gpu", "two_gpus"))
        return two / one
    return tables({r: assumed(*r) if timelines is None else measured(timelines, *r) for r in rows}, {r: ratio(*r) for r in rows})


def self_test():
    """Timelines made of known constants give these constants, and the sum of their phases."""
    known = Constants(2e-12, 50e-12, 20e-12, 1e-5, 3e-5, 2e-6, 1e-12, 250e9, 1e-12)
    n, m = 1 << 20, MESSAGE["push"]
    pack = known.count + known.gather + known.sort + n / 2 * m * known.pack_byte
    exchange, home = pack + n / 2 * m * HEADERS / known.link, pack + n / 2 * (known.run_section + known.several_section)
    join = max(exchange, home) + n / 2 * known.join_section
    two = {"send": n * known.send_section, "count": known.count, "gather": known.count + known.gather,
           "sort": known.count + known.gather + known.sort, "pack": pack, "exchange": exchange, "home": home,
           "arrive": max(exchange, home), "join": join, "remote": join + home - pack}
    one = {"send": n * known.send_section, "sort": 1e-6, "home": 1e-6 + n * known.run_section}
    rows = [{"run_name": f"several_gpus/push/uniform/{arm}/keys:1024", "operations": count} | {f"seconds_to_{p}": t for p, t in ends.items()}
            for arm, count, ends in (("one_gpu", n, one), ("two_gpus", 2 * n, two))]
    found = measured(rows, "push", 1024)
    for name, value in dataclasses.asdict(known).items():
        assert abs(getattr(found, name) / value - 1) < 1e-6, (name, getattr(found, name), value)
    total = sum(phases(found, 2, 8, m, 1024, n).values())
    assert abs(total / (two["send"] + two["remote"]) - 1) < 1e-6, (total, two)
    slow = dataclasses.replace(known, link=1e9)
    assert phases(slow, 2, 8, m, 1024, n)["exchange"] > 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = f"{before}{BEGIN}\n{all_tables()}\n{END}{after}"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if wanted == text else "docs/several-gpus.md: run scripts/several_gpus.py")
    PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
