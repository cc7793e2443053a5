# SPDX-License-Identifier: Apache-2.0
"""Cost model of a run on several GPUs, as docs/several-gpus.md states it, and its tables.

The constants come from a file of `several_gpus --timeline` rows, the measured rates from one of the same build without.
"""
import dataclasses
import statistics

from load import SAME_BUILD, fail, rows_of
from names import giga, short
from table import Table

MESSAGE = {"push": 8, "update": 16, "add": 16}  # bytes
KEYS = (1 << 20, 1 << 24)
ROWS = [(operation, keys) for operation in MESSAGE for keys in KEYS]  # uniform rows, which the model predicts
LIMIT = 0.1
HEADERS = 25 / 24  # bytes that travel for each byte of a message
CELL = {"add": 16}  # bytes that travel for each record of other GPUs, if sections are combined before
NETWORK = 50e9  # bytes a second of a GPU, each way: one port of 400 Gbit/s, by its data sheet
# A run splits a log whose records exceed the level-2 cache, or with too few partitions of a GPU for
# its blocks. A log has at most PARTITIONS on the records of all ranks.
RECORD, CACHE = {"push": 4, "update": 32, "add": 8}, 50 << 20  # bytes
PARTITIONS, UNSPLIT = 512, 256
PHASES = ["send", "counts", "pack", "combine", "home", "exchange", "join", "remote"]


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
    send_one: float  # the kernel that sends, on one GPU
    send: float  # that kernel on several GPUs
    run: float  # a run on one GPU
    combine: float  # combined for another rank; 0 if messages travel
    home: float  # a rank on its own records, next to an exchange
    remote: float  # another rank


def by_point(data):
    """(operation, workload, keys) -> arm -> counters"""
    points = {}
    for row in rows_of(data):
        points.setdefault((row.kind, row.fields["workload"], row.fields["keys"]), {})[row.fields["arm"]] = row.values
    return points


def seconds_to(points, operation, keys, arm):
    """Ends of the phases of a uniform row."""
    counters = points[operation, "uniform", keys][arm].items()
    return {name.removeprefix("seconds_to_"): value for name, value in counters if name.startswith("seconds_to_")}


def sections(points, operation, keys):
    """Sections that each GPU sends."""
    return points[operation, "uniform", keys]["one_gpu"]["operations"]


def row_constants(timelines, operation, keys):
    one, two = (seconds_to(timelines, operation, keys, arm) for arm in ("one_gpu", "two_gpus"))
    n = sections(timelines, operation, keys)
    combined = two.get("combine", two["pack"])
    return Row(send_one=one["send"] / n, send=two["send"] / n, run=one["home"] / n,
               combine=(combined - two["pack"]) / (n / 2), home=(two["home"] - combined) / (n / 2),
               remote=(two["remote"] - two["join"]) / (n / 2))


def shared_constants(timelines):
    """The medians of all rows on two GPUs whose messages travel, and the fastest link."""
    found = []
    for operation, keys in ROWS:
        two = seconds_to(timelines, operation, keys, "two_gpus")
        if "combine" in two:
            continue
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
    """Phase -> seconds of a run with `n` sections on each GPU that no other phase hides."""
    message = MESSAGE[operation]
    if gpus == 1:
        return {"send": n * row.send_one, "home": n * row.run}
    away = (gpus - 1) / gpus
    far = (gpus - per_host) / gpus if gpus > per_host else 0
    # `combine`, `home` and `remote` are measured on two GPUs. A split moves each message, as packing does.
    split = message * shared.pack_byte if is_split(operation, keys, gpus) and not is_split(operation, keys, 2) else 0
    home = n * (row.home + split) / gpus
    combines = row.combine != 0
    # A table has a cell for each record of the GPU that gets it.
    moved = keys * CELL[operation] if combines else n * message * HEADERS
    exchange = moved * max((away - far) / shared.link, far / NETWORK)
    return {"send": n * row.send, "counts": shared.count + shared.gather,
            "pack": 0 if combines else n * away * message * shared.pack_byte,
            "combine": n * away * (row.combine + split) if combines else 0,
            "home": home, "exchange": max(0, exchange - home), "join": shared.join,
            "remote": n * away * (row.remote if combines else row.remote + split)}


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


def measured(rates, row, arm):
    """Sections a second in a uniform row."""
    operation, keys = row
    return rates[operation, "uniform", keys][arm]["items_per_second"]


def errors(model, rates):
    """[row, arm] how much more the model predicts than was measured, as a share."""
    return {(row, arm): model.rate(row, gpus) / measured(rates, row, arm) - 1
            for row in ROWS for arm, gpus in (("one_gpu", 1), ("two_gpus", 2))}


def rates_table(rates):
    """Ratios of two GPUs to one by the same policy, and of the best of two to the best of one, if that was measured."""
    arms, lines = ["one_gpu_best", "one_gpu", "two_gpus", "two_gpus_on_chip"], []
    for (operation, workload, keys), row in rates.items():
        found = {arm: row[arm]["items_per_second"] for arm in arms if arm in row}
        best = [max(found[arm] for arm in found if arm.startswith(gpus)) for gpus in ("one", "two")]
        lines.append([operation, workload, short(keys), *(giga(found[arm]) if arm in found else "-" for arm in arms),
                      f"{found['two_gpus'] / found['one_gpu']:.2f}",
                      f"{best[1] / best[0]:.2f}" if "one_gpu_best" in found else "-"])
    header = ["operation", "workload", "keys", *arms, "two / one", "best of two / best of one"]
    return Table("rates", "G sections/s", header, lines, 3)


def constants_table(shared):
    values = {"count": f"{1e6 * shared.count:.0f} us", "gather": f"{1e6 * shared.gather:.0f} us",
              "pack": f"{1e-9 / shared.pack_byte:.0f} GB/s", "link": f"{shared.link / 1e9:.0f} GB/s",
              "join": f"{1e6 * shared.join:.0f} us", "network, assumed": f"{NETWORK / 1e9:.0f} GB/s"}
    return Table("constants", "constants of all rows", [*values], [[*values.values()]], 0)


def row_constants_table(model):
    lines = [[operation, short(keys), *(f"{1e12 * value:.1f}" for value in dataclasses.astuple(c)),
              f"{c.home / c.remote:.2f}"] for (operation, keys), c in model.rows.items()]
    header = ["operation", "keys", "send, 1 GPU", "send", "run", "combine", "home", "remote", "home / remote"]
    return Table("row_constants", "picoseconds of a section", header, lines, 2)


def longest(spent):
    name = max(spent, key=spent.get)
    return f"{name}, {100 * spent[name] / sum(spent.values()):.0f} %"


def predictions_table(model, rates):
    off = errors(model, rates)
    lines = [[row[0], short(row[1]), f"{model.rate(row, 2) / 1e9:.1f}", f"{measured(rates, row, 'two_gpus') / 1e9:.1f}",
              f"{round(100 * off[row, 'two_gpus']):+d} %",
              *(f"{model.rate(row, gpus) / model.rate(row, 1):.2f}" for gpus in (2, 4, 8, 16)),
              *(longest(model.phases(row, gpus)) for gpus in (8, 16))] for row in ROWS]
    header = ["operation", "keys", "2 GPUs, G/s, predicted", "measured", "error", "2 GPUs, times 1 GPU", "4 GPUs",
              "8 GPUs", "2 hosts of 8", "longest phase, 8 GPUs", "longest phase, 2 hosts of 8"]
    return Table("predictions", "predictions of the model", header, lines, 2)


def phases_table(model):
    lines = []
    for operation, keys in ROWS:
        for gpus in (2, 8, 16):
            spent = model.phases((operation, keys), gpus)
            seconds = [*(spent[name] for name in PHASES), sum(spent.values())]
            lines.append([operation, short(keys), str(gpus), *(f"{1e3 * one:.2f}" for one in seconds)])
    title = "milliseconds of a run that are not hidden, as predicted"
    return Table("phases", title, ["operation", "keys", "GPUs", *PHASES, "sum"], lines, 3)


def model_tables(rates_data, timeline_data):
    """Tables of the model. Fails for files of two builds, and for errors above LIMIT."""
    for key in (*SAME_BUILD, "nccl"):
        values = [data["context"].get(key) for data in (rates_data, timeline_data)]
        if values[0] != values[1] or values[0] is None:
            fail(f"several_gpus: the files of rates and timelines have {key} {values[0]} and {values[1]}; "
                 "measure both with one build on one machine")
    try:
        return tables_of_points(by_point(rates_data), by_point(timeline_data))
    except (KeyError, ValueError, ZeroDivisionError) as error:
        fail(f"several_gpus: the files of rates and timelines lack a row or a counter, or a time is 0: {error}; "
             "measure both again")


def tables_of_points(rates, timelines):
    """Tables of the model, from points as `by_point` returns them."""
    model = Model(timelines)
    wrong = [f"{operation}, {short(keys)}, {arm}: {100 * share:+.0f} %"
             for ((operation, keys), arm), share in errors(model, rates).items() if abs(share) > LIMIT]
    if wrong:
        fail(f"several_gpus: the model is off by more than {100 * LIMIT:.0f} % for {'; '.join(wrong)}; "
             "measure again, or correct the model")
    return [rates_table(rates), constants_table(model.shared), row_constants_table(model),
            predictions_table(model, rates), phases_table(model)]
