# SPDX-License-Identifier: Apache-2.0
"""The tables of allocation: places taken during a copy, items that put out elements, many counters, run-length decode, histograms."""
from known_figures import known_of
from markdown_tables import titled
from result_file import fail, rows_of
from result_names import ARMS, amount, is_simulated, rate, short

# Arms that take no places: what the others are measured by.
YARDSTICKS = {"memcpy", "copy"}
# From this share of the copy's rate on, what is done during it costs nothing.
FREE = 0.95
# operation -> (what it is, the columns that say which line it is, how a cell is written)
BY_BYTES, BY_ITEMS = "GB/s, read and written", "G items/s"
OPERATIONS = {"copy": ("a copy during which one of every so many elements takes places", ["elements", "one of every"], BY_BYTES),
              "emit": ("items that put out elements", ["elements of an item"], BY_BYTES),
              "decode": ("run-length decode", ["lengths"], BY_BYTES),
              "take": ("places of many counters", ["counts", "counters"], BY_ITEMS),
              "histogram": ("histograms", ["samples", "bins"], BY_ITEMS)}


def is_allocation(data):
    return bool(data["benchmarks"]) and all(row["name"].startswith("allocation/") for row in data["benchmarks"])


def gigabytes(row):
    return row["bytes"] / row["operations"] * row["items_per_second"] / 1e9


def yardstick(by_arm):
    """The rate of the fastest copy, in GB/s; None without any. By bytes: items of Zipf's law emit the more the more there are."""
    return max((gigabytes(row) for arm, row in by_arm.items() if arm in YARDSTICKS), default=None)


def share(arm, by_arm):
    """What part of the copy's rate the arm has; None for a copy itself, or without one."""
    best = yardstick(by_arm)
    return None if arm in YARDSTICKS or not best else gigabytes(by_arm[arm]) / best


def cell(arm, by_arm, what, simulated):
    if arm not in by_arm:
        return "-"
    if simulated:
        return amount(by_arm[arm]["global_atomics"])
    if what == BY_ITEMS:
        return rate(by_arm[arm])
    part = share(arm, by_arm)
    return amount(gigabytes(by_arm[arm])) + ("" if part is None else f" ({part:.2f})")


def points_of(data):
    """operation -> [(the names of a line, arm -> row)], in the order of the file."""
    points = {}
    for (operation, workload), by_keys in rows_of(data).items():
        if operation not in OPERATIONS:
            fail(f"{operation}: an operation that allocation_tables.py does not name")
        for keys, by_arm in by_keys.items():
            if unknown := by_arm.keys() - set(ARMS):
                fail(f"{min(unknown)}: an arm that result_names.py does not name")
            names = [workload, short(keys)][:len(OPERATIONS[operation][1])]
            points.setdefault(operation, []).append((names, by_arm))
    return points


def allocation_tables(data):
    """(title, header, lines) of each operation, then of what is known of other GPUs."""
    simulated, tables = is_simulated(data), []
    points = points_of(data)
    for operation in (o for o in OPERATIONS if o in points):
        title, names, what = OPERATIONS[operation]
        arms = [arm for arm in ARMS if any(arm in by_arm for _, by_arm in points[operation])]
        if simulated:
            what = "global atomics for each item"
        elif what == BY_BYTES and any(yardstick(by_arm) for _, by_arm in points[operation]):
            what += " (in parentheses: over the faster copy)"
        tables.append((f"{title}: {what}", [*names, *arms],
                       [[*line, *(cell(arm, by_arm, OPERATIONS[operation][2], simulated) for arm in arms)] for line, by_arm in points[operation]]))
    if not simulated and (lines := beside_known(data)):
        tables.append(("the same on other GPUs", ["GPU", "copy, GB/s", "global atomics, M/s", "slow-down by them", "free for one of every",
                                                  "shared atomics, M/s", "slow-down by them"], lines))
    return tables


def own_figures(data):
    """What known.json has of other GPUs, of this one: of the largest copy."""
    copies = [by_keys for (operation, _), by_keys in rows_of(data).items() if operation == "copy"]
    if not copies or not {"copy", "global_atomic", "shared_atomic"} <= copies[-1].get(1, {}).keys():
        return None
    by_keys = copies[-1]
    every = by_keys[1]
    free = [keys for keys, by_arm in sorted(by_keys.items()) if (share("global_atomic", by_arm) or 0) >= FREE]
    plain = every["copy"]
    figures = {"copy": gigabytes(plain) * 1e9, "free": min(free, default=None)}
    figures |= {arm: share(arm, every) for arm in ("block_scan", "unordered") if arm in every}
    for where in ("global", "shared"):
        own = every[f"{where}_atomic"]["items_per_second"]
        figures |= {f"{where}_atomic": own, f"{where}_slowdown": plain["items_per_second"] / own}
    return figures


def beside_known(data):
    own = own_figures(data)
    if own is None:
        return []
    lines = []
    for gpu, of in {data["context"]["device"]: own, **known_of(data)}.items():
        free = short(of["free"]) if of.get("free") else "-"
        lines.append([gpu, amount(of["copy"] / 1e9), amount(of["global_atomic"] / 1e6), amount(of["global_slowdown"]), free,
                      amount(of["shared_atomic"] / 1e6), amount(of["shared_slowdown"])])
    return lines


def copy_in_words(data):
    """What taking places costs a copy, beside what it cost on other GPUs; nothing without all that is compared."""
    own, known = own_figures(data), known_of(data)
    if own is None:
        return ""

    def beside(what):
        return ", ".join(f"{gpu}: {amount(figures[what])}" for gpu, figures in known.items() if what in figures)

    text = (f"An atomic for each element on one counter makes the copy {amount(own['global_slowdown'])} times as slow ({beside('global_slowdown')}); one for "
            f"each on a counter of its block {amount(own['shared_slowdown'])} times ({beside('shared_slowdown')}). ")
    if own["free"]:
        then = ", ".join(f"{gpu}: {short(figures['free'])}" for gpu, figures in known.items() if "free" in figures)
        # Both work at once: the atomics are hidden as soon as they take no longer than the copy does.
        text += (f"From one of every {short(own['free'])} elements on a global atomic costs less than {100 * (1 - FREE):.0f} % ({then}); by the two rates it "
                 f"should be free from one of every {amount(own['global_slowdown'])} on. ")
    for arm, what in (("block_scan", "A scan of the block's counts in its place"), ("unordered", "A scan and one atomic for the block")):
        if (part := own.get(arm)) is not None:
            text += f"{what} leaves {100 * part:.0f} % of the copy's rate. "
    return text.strip()


def fastest(data):
    """operation -> the fastest arm of each line that is no copy, and its share of one, in words"""
    found = {}
    for operation, lines in points_of(data).items():
        for names, by_arm in lines if operation != "copy" else []:
            arms = [arm for arm in by_arm if arm not in YARDSTICKS]
            if arms:
                best = max(arms, key=lambda arm: gigabytes(by_arm[arm]))
                part = share(best, by_arm)
                found.setdefault(operation, []).append(f"{' '.join(names)} {best}" + ("" if part is None else f" ({part:.2f} of a copy)"))
    return found


def fastest_in_words(data):
    return "; ".join(f"{operation}: {', '.join(parts)}" for operation, parts in fastest(data).items())


def counted_in_words(data):
    """How many global atomics an item takes, of the arms of each operation but those that take none."""
    parts = []
    for operation, lines in points_of(data).items():
        counts = {}  # arm -> [global atomics]
        for _, by_arm in lines:
            for arm, row in by_arm.items():
                counts.setdefault(arm, []).append(row["global_atomics"])
        of = [f"{arm} {amount(max(counts[arm]))}" for arm in ARMS if max(counts.get(arm, [0])) > 0]
        parts.append(f"{operation} {', '.join(of)}" if of else f"{operation} none")
    return "global atomics for each item, at most: " + "; ".join(parts) + "."


def allocation_markdown(data):
    best = "\n".join(f"- {operation}: {', '.join(parts)}" for operation, parts in fastest(data).items())
    parts = [copy_in_words(data), best and f"Fastest:\n{best}", titled("allocation", data, allocation_tables(data))]
    return "\n\n".join(part for part in parts if part)


def self_test():
    def row(operation, workload, arm, keys, items, size):
        return {"name": f"allocation/{operation}/{workload}/{arm}/keys:{keys}", "items_per_second": items, "operations": 1000.0, "bytes": 1000.0 * size}

    rows = [row("copy", size, arm, keys, items, 8)
            for size, factor in (("32M", 2), ("256M", 1))
            for keys in (1, 256)
            for arm, items in (("memcpy", 4e11), ("copy", 5e11 * factor), ("global_atomic", 5e9 if keys == 1 else 4.9e11 * factor), ("shared_atomic", 1e11))]
    rows += [row("emit", "uniform", "copy", 1, 1e11, 20), row("emit", "uniform", "unordered", 1, 9e10, 20),
             row("histogram", "zipf099", "atomics", 65536, 1.5e10, 4), row("histogram", "zipf099", "cub_histogram", 65536, 3e10, 4)]
    data = {"context": {"device": "a GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no"}, "benchmarks": rows}
    assert is_allocation(data) and not is_allocation({"benchmarks": []})
    copies, emits, histograms, gpus = allocation_tables(data)
    assert copies[1] == ["elements", "one of every", "memcpy", "copy", "global_atomic", "shared_atomic"], copies
    assert copies[2][2] == ["256M", "1", "3200", "4000", "40.0 (0.01)", "800 (0.20)"], copies
    assert emits == ("items that put out elements: GB/s, read and written (in parentheses: over the faster copy)",
                     ["elements of an item", "copy", "unordered"], [["uniform", "2000", "1800 (0.90)"]]), emits
    assert histograms[1:] == (["samples", "bins", "cub_histogram", "atomics"], [["zipf099", "64K", "30.0", "15.0"]]), histograms
    assert gpus[2][0] == ["a GPU", "4000", "5000", "100", "256", "100000", "5.00"], gpus
    assert gpus[2][1] == ["GTX 480, in 2011", "151", "82.0", "233", "256", "771", "24.0"] and gpus[2][2][4] == "-", gpus
    assert all(len(header) == len(line) for _, header, lines in allocation_tables(data) for line in lines)
    assert fastest_in_words(data) == "emit: uniform unordered (0.90 of a copy); histogram: zipf099 64K cub_histogram", fastest_in_words(data)
    lines = allocation_markdown(data).splitlines()
    assert lines[0] == (
        "An atomic for each element on one counter makes the copy 100 times as slow (GTX 480, in 2011: 233, GTX 280, in 2011: 3970); one for each on a "
        "counter of its block 5.00 times (GTX 480, in 2011: 24.0, GTX 280, in 2011: 24.0). From one of every 256 elements on a global atomic costs less "
        "than 5 % (GTX 480, in 2011: 256); by the two rates it should be free from one of every 100 on."), lines[0]
    assert lines[2:5] == ["Fastest:", "- emit: uniform unordered (0.90 of a copy)", "- histogram: zipf099 64K cub_histogram"], lines[:5]
    assert lines[6].startswith("`allocation`, a copy during which") and lines[6].endswith("on one a GPU (CUDA 13.0, commit 000000000000):"), lines[6]
    # Fewer items of Zipf's law, with fewer elements each, are as fast if they move as many bytes.
    few = [row("emit", "zipf", "copy", 1, 1e11, 80), row("emit", "zipf", "thread_atomic", 1, 2e11, 40)]
    assert fastest_in_words({**data, "benchmarks": few}) == "emit: zipf thread_atomic (1.00 of a copy)", fastest_in_words({**data, "benchmarks": few})
    scanned = {**data, "benchmarks": [*rows, row("copy", "256M", "block_scan", 1, 4.95e11, 8)]}
    assert copy_in_words(scanned).endswith("A scan of the block's counts in its place leaves 99 % of the copy's rate."), copy_in_words(scanned)
    never = {**data, "benchmarks": [r for r in rows if not r["name"].endswith("keys:256")]}
    assert "From one of" not in copy_in_words(never) and allocation_tables(never)[-1][2][0][4] == "-", copy_in_words(never)
    assert copy_in_words({**data, "benchmarks": rows[-4:]}) == ""
    # Without all that is compared there is no line for this GPU, and so none for others.
    assert len(allocation_tables({**data, "benchmarks": rows[-4:]})) == 2
    counted = {"context": {"simulated": "yes"}, "benchmarks": [
        {"name": f"allocation/{point}", "global_atomics": count, "operations": 8.0} for point, count in (
            ("copy/4K/copy/keys:1", 0.0), ("copy/4K/global_atomic/keys:1", 1.0), ("copy/4K/global_atomic/keys:4", 0.25), ("emit/one/ordered/keys:1", 0.0))]}
    assert allocation_tables(counted)[0] == ("a copy during which one of every so many elements takes places: global atomics for each item",
                                             ["elements", "one of every", "copy", "global_atomic"],
                                             [["4K", "1", "0.00", "1.00"], ["4K", "4", "-", "0.25"]]), allocation_tables(counted)
    assert counted_in_words(counted) == "global atomics for each item, at most: copy global_atomic 1.00; emit none.", counted_in_words(counted)
