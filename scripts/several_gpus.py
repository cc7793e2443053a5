#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost model of a run on several GPUs, as docs/several-gpus.md states it, and the tables there.

    several_gpus.py --write [RESULTS [PAGE]]   writes the tables between the marks of PAGE, by default docs/several-gpus.md
    several_gpus.py --check [RESULTS [PAGE]]   compares them

Reads two files of one build on two GPUs from a folder of RESULTS, by default results/: several_gpus.json has rates, and
several_gpus_timeline.json, rows of `several_gpus --timeline`, the constants of the model. Both commands end with exit code 1 if
the model is off by more than LIMIT in a row.
"""
import argparse
import dataclasses
import pathlib
import statistics
import sys

import result_file
from markdown_tables import table
from result_names import rate, short

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/several-gpus.md"
BEGIN, END = "<!-- several_gpus: begin -->", "<!-- several_gpus: end -->"
NAMES = "several_gpus", "several_gpus_timeline"
SEARCHES, SEARCH_ARMS = "breadth_first_gpus", ("one_gpu", "owner", "two_gpus")
MESSAGE = {"push": 8, "update": 16}  # bytes
KEYS = (1 << 20, 1 << 24)
ROWS = [(operation, keys) for operation in MESSAGE for keys in KEYS]  # of the workload uniform, which the model predicts
LIMIT = 0.1
HEADERS = 25 / 24  # bytes that travel for each byte of a message
NETWORK = 50e9  # bytes a second of a GPU, each way: one port of 400 Gbit/s, by its data sheet
# A run splits a log of records that the level-2 cache does not hold, and one with too few partitions of a GPU for its blocks: a log has
# PARTITIONS at most on the records of all ranks.
RECORD, CACHE = {"push": 4, "update": 32}, 50 << 20  # bytes
PARTITIONS, UNSPLIT = 512, 256
ENDS = ["send", "count", "sort", "gather", "pack", "exchange", "home", "arrive", "join", "remote"]
PHASES = ["send", "counts", "pack", "home", "exchange", "join", "remote"]


@dataclasses.dataclass
class Shared:
    """Constants of all rows: seconds, except `link`."""
    count: float  # until this rank's counts are known
    gather: float  # from there until the host knows those of all ranks, and what single threads sent is sorted
    pack_byte: float  # for each byte that leaves
    link: float  # bytes a second of a GPU, each way
    join: float  # until what came is one log


@dataclasses.dataclass
class Row:
    """Constants of one row: seconds of a section."""
    send_one: float  # of the kernel that sends, on one GPU
    send: float  # of that kernel on several GPUs
    run: float  # of a run on one GPU
    home: float  # of a rank on its own records, next to an exchange
    remote: float  # of another rank


def seconds_to(rows, operation, keys, arm):
    """Ends of the phases of a uniform row."""
    row = rows[operation, "uniform"][keys][arm]
    return {phase: row[f"seconds_to_{phase}"] for phase in ENDS if f"seconds_to_{phase}" in row}


def sections(rows, operation, keys):
    """Sections that each GPU sends."""
    return rows[operation, "uniform"][keys]["one_gpu"]["operations"]


def row_constants(timelines, operation, keys):
    one, two = (seconds_to(timelines, operation, keys, arm) for arm in ("one_gpu", "two_gpus"))
    n = sections(timelines, operation, keys)
    return Row(send_one=one["send"] / n, send=two["send"] / n, run=one["home"] / n, home=(two["home"] - two["pack"]) / (n / 2),
               remote=(two["remote"] - two["join"]) / (n / 2))


def shared_constants(timelines):
    """The medians of all rows on two GPUs, and the fastest link."""
    found = []
    for operation, keys in ROWS:
        two = seconds_to(timelines, operation, keys, "two_gpus")
        away = sections(timelines, operation, keys) / 2 * MESSAGE[operation]
        counts = max(two["gather"], two["sort"])
        found.append(Shared(count=two["count"], gather=counts - two["count"], pack_byte=(two["pack"] - counts) / away,
                            link=away * HEADERS / (two["exchange"] - two["pack"]), join=two["join"] - two["arrive"]))
    # The end of an exchange waits for a multiprocessor: the fastest one waited least.
    chosen = {"link": max}
    return Shared(**{field.name: chosen.get(field.name, statistics.median)(getattr(f, field.name) for f in found)
                     for field in dataclasses.fields(Shared)})


def is_split(operation, keys, gpus):
    return keys * RECORD[operation] / gpus > CACHE or PARTITIONS / gpus < UNSPLIT


def phases(shared, row, n, gpus, per_host, operation, keys):
    """[phase] seconds of a run with `n` sections on each GPU, less what is hidden by other phases."""
    message = MESSAGE[operation]
    if gpus == 1:
        return {"send": n * row.send_one, "home": n * row.run}
    away = (gpus - 1) / gpus
    far = (gpus - per_host) / gpus if gpus > per_host else 0
    # `home` and `remote` are measured on two GPUs. A split reads and writes each message, as packing does.
    split = message * shared.pack_byte if is_split(operation, keys, gpus) and not is_split(operation, keys, 2) else 0
    home = n * (row.home + split) / gpus
    exchange = n * message * HEADERS * max((away - far) / shared.link, far / NETWORK)
    return {"send": n * row.send, "counts": shared.count + shared.gather, "pack": n * away * message * shared.pack_byte,
            "home": home, "exchange": max(0, exchange - home), "join": shared.join, "remote": n * away * (row.remote + split)}


class Model:
    def __init__(self, timelines):
        self.timelines = timelines
        self.shared = shared_constants(timelines)
        self.rows = {row: row_constants(timelines, *row) for row in ROWS}

    def phases(self, row, gpus):
        operation, keys = row
        return phases(self.shared, self.rows[row], sections(self.timelines, *row), gpus, 8, operation, keys)

    def rate(self, row, gpus):
        return gpus * sections(self.timelines, *row) / sum(self.phases(row, gpus).values())

    def ratio(self, row, gpus):
        return self.rate(row, gpus) / self.rate(row, 1)


def label(operation, keys, workload="uniform"):
    return f"{operation}, {short(keys)} records" + ("" if workload == "uniform" else f", {workload}")


def measured(rates, row, arm):
    """Sections a second of a uniform row."""
    operation, keys = row
    return rates[operation, "uniform"][keys][arm]["items_per_second"]


def errors(model, rates):
    """[row, arm] how much more the model predicts than was measured, as a share."""
    return {(row, arm): model.rate(row, gpus) / measured(rates, row, arm) - 1 for row in ROWS for arm, gpus in (("one_gpu", 1), ("two_gpus", 2))}


def rates_table(rates):
    """The ratios are of two GPUs to one by the same policy, and of the best of two to the best of one."""
    names = ["one_gpu_best", "one_gpu", "two_gpus", "two_gpus_on_chip"]
    lines = []
    for (operation, workload), by_keys in rates.items():
        for keys, arms in by_keys.items():
            found = {arm: arms[arm]["items_per_second"] for arm in names if arm in arms}
            best = [max(found[arm] for arm in found if arm.startswith(gpus)) for gpus in ("one", "two")]
            ratios = found["two_gpus"] / found["one_gpu"], best[1] / best[0]
            lines.append([label(operation, keys, workload), *(rate(arms[arm]) if arm in arms else "" for arm in names), *(f"{r:.2f}" for r in ratios)])
    return table(["G sections/s", *(f"`{arm}`" for arm in names), "two / one", "best of two / best of one"], lines)


def timeline_table(timelines):
    lines = [[label(operation, keys, workload)] + [f"{1e3 * arms['two_gpus'][f'seconds_to_{end}']:.2f}" for end in ENDS]
             for (operation, workload), by_keys in timelines.items() for keys, arms in by_keys.items() if "seconds_to_home" in arms["two_gpus"]]
    return table(["sections", *ENDS], lines)


def shared_table(shared):
    values = [("count", f"{1e6 * shared.count:.0f} us"), ("gather", f"{1e6 * shared.gather:.0f} us"),
              ("pack", f"{1e-9 / shared.pack_byte:.0f} GB/s"), ("link", f"{shared.link / 1e9:.0f} GB/s"), ("join", f"{1e6 * shared.join:.0f} us")]
    return table([f"*{name}*" for name, _ in values] + ["*network*, assumed"], [[text for _, text in values] + [f"{NETWORK / 1e9:.0f} GB/s"]])


def row_table(model):
    lines = []
    for row, c in model.rows.items():
        lines.append([label(*row)] + [f"{1e12 * value:.1f}" for value in (c.send_one, c.send, c.run, c.home, c.remote)] + [f"{c.home / c.remote:.2f}"])
    return table(["ps of a section", "*send*, one GPU", "*send*", "*run*", "*home*", "*remote*", "*home* / *remote*"], lines)


def prediction_table(model, rates):
    off = errors(model, rates)
    lines = []
    for row in ROWS:
        longest = []
        for gpus in (8, 16):
            spent = model.phases(row, gpus)
            name = max(spent, key=spent.get)
            longest.append(f"{name}, {100 * spent[name] / sum(spent.values()):.0f} %")
        lines.append([label(*row), f"{model.rate(row, 2) / 1e9:.1f}", f"{measured(rates, row, 'two_gpus') / 1e9:.1f}",
                      f"{round(100 * off[row, 'two_gpus']):+d} %", *(f"{model.ratio(row, gpus):.2f}" for gpus in (2, 4, 8, 16)), *longest])
    return table(["sections", "two GPUs, G/s, predicted", "measured", "error", "times one GPU: 2 GPUs", "4", "8", "2 hosts of 8", "longest phase, 8 GPUs",
                  "2 hosts of 8"], lines)


def phases_table(model):
    lines = []
    for row in ROWS:
        for gpus in (2, 8, 16):
            spent = model.phases(row, gpus)
            lines.append([label(*row), str(gpus)] + [f"{1e3 * spent[name]:.2f}" for name in PHASES] + [f"{1e3 * sum(spent.values()):.2f}"])
    return table(["sections", "GPUs", *PHASES, "sum"], lines)


def tables(model, rates, context):
    parts = [(f"Rates on {origin(context)}", rates_table(rates)),
             ("Milliseconds at which the phases of a run end on two GPUs", timeline_table(model.timelines)),
             ("Constants of all rows, medians of the four uniform rows of `push` and `update`, of *link* the highest", shared_table(model.shared)),
             ("Constants of a row, each from that row of the timelines", row_table(model)),
             ("Predictions", prediction_table(model, rates)),
             ("Milliseconds of a run that are not hidden, as predicted", phases_table(model))]
    return "\n\n".join(f"{title}:\n\n{text}" for title, text in parts)


def origin(context):
    return f"two {context['device']} of one host (CUDA {context['toolkit']}, NCCL {context['nccl']}, commit {context['commit'][:12]})"


def search_table(data):
    """Searches by owner: milliseconds of an arm, and microseconds of a level of the one on two GPUs."""
    lines = []
    for by_keys in result_file.rows_of(data).values():
        for arms in by_keys.values():
            two, name = arms["two_gpus"], arms["two_gpus"]["name"].split("/")[2]
            shown = [f"{arms[arm]['real_time']:.3f}" if arm in arms else "" for arm in SEARCH_ARMS]
            lines.append([f"`{name}`", f"{two['levels']:.0f}", f"{two['runs']:.0f}", *shown,
                          f"{arms['one_gpu']['real_time'] / two['real_time']:.2f}", f"{two['ns_a_level'] / 1e3:.1f}"])
    return table(["graph", "levels", "runs", *(f"`{arm}`" for arm in SEARCH_ARMS), "one / two", "us a level, two GPUs"], lines)


def fail(text):
    print(f"several_gpus.py: {text}", file=sys.stderr)
    sys.exit(1)


def generated(results):
    """(text between the marks, complaints)"""
    paths = [result_file.published(name, results) for name in NAMES]
    missing = [name for name, path in zip(NAMES, paths) if path is None]
    if missing:
        text = f"No results of two GPUs are published: no file {' and no file '.join(f'`results/*/{name}.json`' for name in missing)}."
        print(f"several_gpus.py: {text}")
        return text, []
    rates, timelines = (result_file.load(path) for path in paths)
    for key in (*result_file.SAME_BUILD, "nccl"):
        values = [data["context"].get(key, "none") for data in (rates, timelines)]
        if values[0] != values[1] or values[0] == "none":
            fail(f"{paths[0].name} and {paths[1].name} say {values[0]} and {values[1]} for {key}; measure both with one build on one machine")
    model, by_arm = Model(result_file.rows_of(timelines)), result_file.rows_of(rates)
    wrong = [f"{label(*row)}, {arm}: the model is off by {100 * share:+.0f} %; the limit is {100 * LIMIT:.0f} %; measure again, or correct the model"
             for (row, arm), share in errors(model, by_arm).items() if abs(share) > LIMIT]
    text = tables(model, by_arm, rates["context"])
    searches = result_file.published(SEARCHES, results)
    if searches is not None:
        data = result_file.load(searches)
        text += f"\n\nMilliseconds of a breadth-first search on {origin(data['context'])}:\n\n{search_table(data)}"
    return text, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    command = parser.add_mutually_exclusive_group(required=True)
    command.add_argument("--write", action="store_true")
    command.add_argument("--check", action="store_true")
    parser.add_argument("results", nargs="?", type=pathlib.Path, default=result_file.RESULTS)
    parser.add_argument("page", nargs="?", type=pathlib.Path, default=PAGE)
    options = parser.parse_args()
    text = options.page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    inside, wrong = generated(options.results)
    wanted = f"{before}{BEGIN}\n{inside}\n{END}{after}"
    if options.write:
        options.page.write_text(wanted)
    elif wanted != text:
        wrong.append(f"{options.page.name} has other tables; run scripts/several_gpus.py --write")
    if wrong:
        fail("\nseveral_gpus.py: ".join(wrong))


if __name__ == "__main__":
    main()
