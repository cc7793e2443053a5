# SPDX-License-Identifier: Apache-2.0
"""The tables of each benchmark."""
import re

import names
from load import fail, is_simulated, known, rows_of
from measures import measure_of
from names import COUNTS, LABELS, TIMED, amount, giga, is_wardens, short
from table import Table

COLD = "cold_items_per_second"
COPIES = ("memcpy", "copy")
FREE = 0.95  # share of the copy's rate from which on other work during a copy costs nothing


def number(counter, scale=1.0, digits=0):
    """Shows a counter with this number of digits; None for rows without it."""
    return plain(counter, lambda value: f"{scale * value:,.{digits}f}")


def plain(counter, written=amount):
    return lambda row, _=None: None if row.get(counter) is None else written(row.get(counter))


def share(counter, of_lock):
    def shown(row, _):
        text = plain(counter)(row)
        part = row.get(of_lock)
        return text if part in (None, 1) or text is None else f"{text} ({amount(100 * part)} %)"
    return shown


def pair(first, second, written=amount):
    return lambda row, _=None: None if row.get(first) is None else f"{written(row.get(first))} ({row.need(second):.0f})"


def marked(text):
    """The text of a rate or a time, with a mark if its repetitions differ widely."""
    def shown(row, by_arm=None):
        found, one = text(row, by_arm), measure_of(row)
        return found and found + (names.WIDE_MARK if one and one.is_wide() else "")
    return shown


def gigabytes(row):
    return row.need("bytes") / row.need("operations") * row.need("items_per_second") / 1e9


def of_copy(row, by_arm):
    """Share of the rate of the fastest copy; None for a copy, or without one."""
    copies = [gigabytes(other) for arm, other in by_arm.items() if arm in COPIES]
    return gigabytes(row) / max(copies) if copies and row.fields["arm"] not in COPIES else None


def bandwidth(row, by_arm):
    part = of_copy(row, by_arm)
    return amount(gigabytes(row)) + ("" if part is None else f" ({part:.2f})")


RATE = ("G {unit}s/s", marked(plain("items_per_second", giga)))
MILLISECONDS = marked(plain("real_time"))
BANDWIDTH = ("GB/s read and written (share of the fastest copy)", marked(bandwidth))
# Benchmark, or benchmark/operation -> (title, text of a row) of each table with a column per arm.
QUANTITIES = {
    "traffic": [("32-byte sectors at the L2 for each section (share of the lock as published)",
                 share("l2_sectors_per_operation", "l2_of_lock_as_written")),
                ("DRAM bytes for each section (share of the lock as published)",
                 share("dram_bytes_per_operation", "dram_of_lock_as_written")),
                ("sectors on the simulated device for each section", plain("simulated_sectors_per_operation")),
                ("atomics on the simulated device for each section", plain("simulated_atomics_per_operation"))],
    "handover": [("time from the end of a section to the next on its record, mean (shortest)",
                  pair("mean_gap", "minimum_gap")), RATE],
    "answers": [("time from a call to its answer, median (99th percentile)",
                 pair("median", "p99", lambda value: f"{value:.0f}")), RATE],
    "sparse_product": [RATE, ("bytes for each {unit}, if each array is moved once",
                              lambda row, _: amount(row.need("bytes") / row.need("operations")))],
    "transactions": [("M {unit}s/s", marked(number("items_per_second", 1e-6, 2))), ("milliseconds of a run", plain("real_time"))],
    "allocation/copy": [BANDWIDTH], "allocation/emit": [BANDWIDTH], "allocation/decode": [BANDWIDTH],
    **{benchmark: [("milliseconds", MILLISECONDS)] for benchmark in TIMED}}
COMPARED = [RATE, ("G {unit}s/s on the cold keys alone", plain(COLD, giga))]
COUNTED = [(f"{count.replace('_', ' ')} for each {{unit}}", plain(count)) for count in COUNTS]



def over_ceiling(row, ceiling):
    return ceiling and f"{100 * row.need('items_per_second') / ceiling.need('items_per_second'):.0f} %"


def over_messages(row, _):
    return f"{100 * (row.get('memory_bytes') / row.need('bytes') / row.get('sections') - 1):.1f} %"


BOUNDS = [*((f"{part} %", number(f"{part.lower()}_percent")) for part in ("L2", "DRAM", "issue", "LSU", "shared")),
          ("warps wait for", lambda row, _: stalls(row))]
LEVELS = [("G arcs/s", plain("items_per_second", giga)), ("levels", number("levels")),
          ("us a level", lambda row, _: amount(1e3 * row.need("real_time") / row.need("levels"))),
          ("levels by one block", number("levels_of_one_block")), ("levels bottom-up", number("levels_bottom_up")),
          ("found / reached", lambda row, _: f"{row.need('found') / row.need('vertices'):.3f}")]
PHASES = ["send", "count", "sort", "gather", "pack", "exchange", "home", "arrive", "join", "remote"]
# Meanings of the workload and the number of keys of a kind of rows; None if the number has none.
INPUTS = {"allocation/copy": ("elements", "one of every", None), "allocation/emit": ("elements of an item", None, None),
          "allocation/decode": ("lengths", None, None), "allocation/take": ("counts", "counters", None),
          "allocation/histogram": ("samples", "bins", None),
          **{f"producer_warp/{kind}": ("rows", "elements", None) for kind in ("copy", "axpy", "stencil", "gather")},
          **{f"transactions/ycsb{kind}": ("theta", "rows", None) for kind in ("", "_5_writes", "_100_bytes", "_5_writes_100_bytes")},
          **{f"transactions/{kind}": (None, "warehouses", None) for kind in ("new_order", "payment")},
          "sparse_product/multiply": ("matrix", "rows", None),
          "producer_warp/segments": (None, "messages", None)}
# Counters that a row must have -> slug, title, and (header, text of a row) of a table with a line
# per row. The first that fits counts.
FACTS = [
    (["first_lock_ns"], "pair_times", "mean microseconds of a section on two records", [
        ("first lock", number("first_lock_ns", 1e-3, 2)), ("to the other owner", number("request_ns", 1e-3, 2)),
        ("second lock", number("second_lock_ns", 1e-3, 2)), ("back", number("reply_ns", 1e-3, 2)),
        ("G/s, timed", plain("items_per_second", giga))]),
    (["pushes"], "work", "work of each arm", [(name.replace("_", " "), number(name)) for name in (
        "rounds", "rounds_back", "searches", "levels", "pushes", "relabels")]),
    (["levels_of_one_block"], "levels", "levels of each search", LEVELS),
    (["go_us", "ns_a_level"], "levels", "levels of each search", [
        ("levels", number("levels")), ("steps", number("steps")), ("us a level", number("ns_a_level", 1e-3, 1))]),
    (["epochs"], "epochs", "epochs of each arm", [
        ("epochs", number("epochs")), ("ms an epoch", lambda row, _: amount(row.need("real_time") / row.get("epochs"))),
        ("G ratings/s", plain("items_per_second", giga)), ("error", number("rmse", 1, 4)),
        ("s before the first", plain("preparing_seconds"))]),
    (["seconds_to_home"], "timeline", "milliseconds at which the phases of a run end", [
        (phase, number(f"seconds_to_{phase}", 1e3, 2)) for phase in PHASES]),
    (["l2_percent"], "bounds", "use of each part of the GPU, and what warps wait for", BOUNDS),
    (["bytes_per_second"], "rates", "rates", [
        ("G messages/s", plain("items_per_second", giga)), ("GB/s", number("bytes_per_second", 1e-9)),
        ("of ceiling_copy", over_ceiling)]),
    (["moved_bytes_per_second"], "moved", "bytes that are read and written", [
        ("GB/s", number("moved_bytes_per_second", 1e-9))]),
    (["median_ns"], "latency", "nanoseconds from send to execution", [
        ("median", number("median_ns")), ("99th percentile", number("p99_ns")), ("clock tick", number("tick_ns"))]),
    (["registers", "local_bytes"], "send", "sending alone", [
        ("G sections/s", plain("items_per_second", giga)),
        ("GB/s", lambda row, _: f"{row.need('bytes') * row.need('items_per_second') / 1e9:.0f}"),
        *((name.replace("_", " "), number(name)) for name in ("registers", "local_bytes", "shared_bytes")),
        ("resident threads", number("multiprocessor_threads"))]),
    (["back_to_back_us"], "small", "microseconds of a kernel and a run of few sections", [
        ("sections", plain("sections", lambda value: short(int(value)))), ("median", number("median_us", 1, 1)),
        ("99th percentile", number("p99_us", 1, 1)), ("back to back", number("back_to_back_us", 1, 1))]),
    (["memory_bytes", "sections"], "memory", "memory of a log", [
        ("sections", plain("sections", lambda value: short(int(value)))), ("MiB", number("memory_bytes", 2**-20, 1)),
        ("over the messages", over_messages)])]
# Facts that stand for themselves: the rows have no table with a column per arm.
ALONE = ("pair_times", "timeline", "bounds", "rates", "latency", "send", "small", "memory")


def stalls(row):
    shares = sorted(((value, match[1].replace("_", " ")) for name, value in row.values.items()
                     if (match := re.fullmatch("stall_(.+)_percent", name))), reverse=True)
    return ", ".join(f"{value:.0f} % {reason}" for value, reason in shares[:3]) or None


def fields_of(row):
    """Names of the columns that name a row -> their texts."""
    timed = row.benchmark in TIMED
    usual = TIMED.get(row.benchmark, ("workload", "keys", None))
    what, count, operations = INPUTS.get(f"{row.benchmark}/{row.kind}", usual)
    fields = {}
    for name, value in row.fields.items():
        name = {"workload": what, "keys": count}.get(name, name)
        if name is None or (timed and name == "operation"):
            continue
        is_count = isinstance(value, int) and name != "bytes"
        fields[name] = str(value) if not is_count else f"{value:,}" if timed else short(value)
        if name == count and operations and row.get("items_per_second"):
            fields[operations] = f"{round(row.get('items_per_second') * row.need('real_time') / 1e3):,}"
    return fields


def facts_of(row, simulated):
    """(slug, title, columns) of a row that has a line of its own; None for others."""
    if simulated and "arm" in row.fields:
        return None
    if simulated and row.get("global_atomics") is not None:
        return row.kind, f"{row.kind}: counts of the simulated device", [
            (count.replace("_", " "), plain(count)) for count in COUNTS]
    return next((facts for needed, *facts in FACTS if all(row.get(counter) is not None for counter in needed)), None)


def fact_tables(rows, simulated):
    """Tables with a line per row."""
    tables = {}
    ceilings = {tuple(row.fields.values())[1:]: row for row in rows if row.fields.get("send") == "ceiling_copy"}
    for row in rows:
        if facts := facts_of(row, simulated):
            slug, title, columns = facts
            slug = row.kind if slug == "bounds" else slug
            named = fields_of(row)
            texts = [text(row, ceilings.get(tuple(row.fields.values())[1:])) for _, text in columns]
            header = [*named, *(name for name, _ in columns)]
            table = tables.setdefault((slug, *named), Table(slug, title, header, [], len(named)))
            table.lines.append([*named.values(), *("-" if text is None else text for text in texts)])
    return [*tables.values()]


def points_of(rows):
    """kind -> [(the columns that name a line, arm -> row)], by workload and number of keys."""
    kinds = {}
    for row in rows:
        if "arm" in row.fields:
            if row.fields["arm"] not in LABELS:
                fail(f"{row.get('name')}: names.py has no label for {row.fields['arm']}")
            point = tuple((name, value) for name, value in row.fields.items() if name not in ("operation", "arm"))
            kinds.setdefault(row.kind, {}).setdefault(point, {})[row.fields["arm"]] = row
    result = {}
    for kind, points in kinds.items():
        order = [*dict.fromkeys(point[0] for point in points)]
        result[kind] = []
        for point in sorted(points, key=lambda one: (len(one), order.index(one[0]), [value for _, value in one[1:]])):
            by_arm = points[point]
            named = fields_of(next(iter(by_arm.values())))
            named = {name: text for name, text in named.items() if name not in ("operation", "arm")}
            result[kind].append((named, {arm: by_arm[arm] for arm in LABELS if arm in by_arm}))
    return result


def quantity_tables(rows, simulated):
    """Tables with a column per arm: one per kind and quantity."""
    tables = []
    for kind, points in points_of([row for row in rows if (facts_of(row, simulated) or [""])[0] not in ALONE]).items():
        benchmark = next(iter(points[0][1].values())).benchmark
        quantities = QUANTITIES.get(f"{benchmark}/{kind}", QUANTITIES.get(benchmark, COMPARED))
        timed = benchmark in TIMED
        codes = known(benchmark) if timed and not simulated else {}
        for what, text in COUNTED if simulated else quantities:
            lines = []
            # A count that an arm lacks compares nothing.
            if simulated and not all(text(row) for _, by_arm in points for row in by_arm.values()):
                continue
            for named, by_arm in points:
                texts = {arm: shown for arm, row in by_arm.items() if (shown := text(row, by_arm)) is not None}
                name = next(iter(named.values()))
                texts |= {code: amount(times[name]) for code, times in codes.items() if name in times}
                if texts:
                    lines.append((named, texts))
            # Rows with a number of sections have a table of their own.
            for header in dict.fromkeys(tuple(named) for named, _ in lines):
                there = [(named, texts) for named, texts in lines if tuple(named) == header]
                # Arms without a lock or a message are no lines of the tables of those counts.
                columns = [name for name in (*LABELS, *codes)
                           if {texts.get(name, "-") for _, texts in there} - ({"-", "0.00"} if simulated else {"-"})]
                if not columns:
                    continue
                cells = [[*named.values(), *(texts.get(name, "-") for name in columns)] for named, texts in there]
                title = what.format(unit=names.UNITS.get(benchmark, "section"))
                slug, subject = ("times", "") if timed else (kind, kind)
                tables.append(Table(slug, title, [*header, *columns], cells, len(header), subject))
    return tables


def gap_ratios(rows):
    """Shortest mean gap of a Warden arm over those of locks, for inputs with published ratios."""
    points = points_of([row for row in rows if row.benchmark == "handover"]).get("nanoseconds", [])
    codes, lines = known("handover") if points else {}, []
    for named, by_arm in points:
        gaps = {arm: row.get("mean_gap") for arm, row in by_arm.items() if row.get("mean_gap")}
        own = min((arm for arm in gaps if is_wardens(arm)), key=gaps.get, default=None)
        published = [figures.get(named["workload"]) for figures in codes.values()]
        if own and any(published):
            ratios = [f"{gaps[own] / gaps[lock]:.2g}" if lock in gaps else "-"
                      for lock in ("lock_as_written", "lock_tuned")]
            lines.append([*named.values(), own, *ratios, *(str(figure or "-") for figure in published)])
    header = ["workload", "keys", "arm", "gap / lock as published", "gap / tuned lock", *codes]
    title = "mean gap of the fused arm with the shortest one, over that of locks"
    return [Table("ratios", title, header, lines, 3)] if lines else []


def other_gpus(data, rows):
    """Atomics during a copy, next to the figures of earlier GPUs."""
    points = points_of([row for row in rows if row.benchmark == "allocation" and row.kind == "copy"]).get("copy", [])
    largest = [by_arm for named, by_arm in points if named["elements"] == points[-1][0]["elements"]]
    if not largest or not {"copy", "global_atomic", "shared_atomic"} <= largest[0].keys():
        return []
    rates = {arm: row.need("items_per_second") for arm, row in largest[0].items()}
    free = [by_arm["global_atomic"].fields["keys"] for by_arm in largest
            if "global_atomic" in by_arm and (of_copy(by_arm["global_atomic"], by_arm) or 0) >= FREE]
    own = {"copy": 1e9 * gigabytes(largest[0]["copy"]), "free": min(free, default=None)}
    for arm in ("global_atomic", "shared_atomic"):
        own |= {arm: rates[arm], arm.replace("atomic", "slowdown"): rates["copy"] / rates[arm]}
    lines = [[gpu, amount(of["copy"] / 1e9), amount(of["global_atomic"] / 1e6), amount(of["global_slowdown"]),
              short(of["free"]) if of.get("free") else "-", amount(of["shared_atomic"] / 1e6),
              amount(of["shared_slowdown"])]
             for gpu, of in {data["context"]["device"]: own, **known("allocation")}.items()]
    header = ["GPU", "copy, GB/s", "global atomics, M/s", "slower by", "free from one of", "shared atomics, M/s",
              "slower by"]
    return [Table("gpus", "one atomic per element of a copy, on several GPUs", header, lines, 1)]


def tables_of(data, rows=None):
    """All tables of a result file, or of some of its rows."""
    rows, simulated = rows_of(data) if rows is None else rows, is_simulated(data)
    tables = quantity_tables(rows, simulated) + fact_tables(rows, simulated)
    return tables if simulated else tables + gap_ratios(rows) + other_gpus(data, rows)
