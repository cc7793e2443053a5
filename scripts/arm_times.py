# SPDX-License-Identifier: Apache-2.0
"""How long arms take for each input of an application on graphs, beside what is known of other codes."""
import dataclasses

from known_figures import known_of
from markdown_tables import origin, table
from result_file import fail, rows_of
from result_names import ARMS, amount, is_wardens, unit_of


@dataclasses.dataclass(frozen=True)
class Input:
    """A graph, and what was measured with it."""
    name: str
    vertices: int
    rows: dict[str, dict]  # arm -> row; arms in the order of all tables

    def times(self):
        """arm -> milliseconds"""
        return {arm: milliseconds(row) for arm, row in self.rows.items()}

    def operations(self):
        arm, row = next(iter(self.rows.items()))
        return round(row["items_per_second"] * milliseconds(row) / 1000)

    def beside_warden(self, known):
        """Warden's fastest arm, and how many times as long each baseline and known code takes; None without an arm of Warden's."""
        own = min(((time, arm) for arm, time in self.times().items() if is_wardens(arm)), default=None)
        if own is None:
            return None
        others = {name: time for name, time in self.named_times(known).items() if not is_wardens(name.strip("`"))}
        return own[1], {name: time / own[0] for name, time in others.items()}

    def named_times(self, known):
        """What arms and known codes are called -> milliseconds"""
        return {f"`{arm}`": time for arm, time in self.times().items()} | {code: times[self.name] for code, times in known.items() if self.name in times}

    def fastest(self, known):
        times = self.named_times(known)
        return min(times, key=times.get)


def milliseconds(row):
    assert row["time_unit"] == "ms", row
    return row["real_time"]


def is_of(data, benchmark):
    """Whether it is a file of such rows alone, with times."""
    return bool(data["benchmarks"]) and data["context"].get("simulated") != "yes" and all(
        row["name"].startswith(f"{benchmark}/") for row in data["benchmarks"])


def inputs_of(data):
    """In the order of the file."""
    inputs = []
    for (_, name), by_keys in rows_of(data).items():
        for vertices, by_arm in by_keys.items():
            if unknown := by_arm.keys() - set(ARMS):
                fail(f"{min(unknown)}: an arm that result_names.py does not name")
            inputs.append(Input(name, vertices, {arm: by_arm[arm] for arm in ARMS if arm in by_arm}))
    return inputs


def arms_of(inputs):
    return [arm for arm in ARMS if any(arm in one.rows for one in inputs)]


def listed(parts):
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def times_markdown(data, what):
    """A line for each input, then what each shows. `what`: an input, in a word."""
    inputs, known = inputs_of(data), known_of(data)
    arms = arms_of(inputs)
    codes = [code for code, by_input in known.items() if any(one.name in by_input for one in inputs)]
    lines, words = [], []
    for one in inputs:
        lines.append([f"`{one.name}`", f"{one.vertices:,}", f"{one.operations():,}",
                      *(amount(one.times()[arm]) if arm in one.rows else "-" for arm in arms),
                      *(amount(known[code][one.name]) if one.name in known[code] else "-" for code in codes)])
        text = f"- `{one.name}`: {one.fastest(known)} is fastest."
        if (beside := one.beside_warden(known)) and beside[1]:
            text += f" Beside `{beside[0]}`, Warden's fastest arm: {beside_in_words({name: amount(ratio) for name, ratio in beside[1].items()})}"
        words.append(text)
    header = [what, "vertices", f"{unit_of(data)}s", *(f"`{arm}`" for arm in arms), *codes]
    return f"Milliseconds on {origin(data)}, verified:\n\n{table(header, lines)}\n\n" + "\n".join(words)


# A graph is large from so many vertices on: below, the launches of rounds are what counts.
LARGE = 1_000_000


def in_words(data):
    """The fastest arms, and Warden's beside the others, over all inputs: of large ones and of others, if there are both."""
    inputs, known = inputs_of(data), known_of(data)
    fastest = {}  # what it is called -> inputs
    for one in inputs:
        fastest.setdefault(one.fastest(known), []).append(f"`{one.name}`")
    text = "Fastest: " + "; ".join(f"{name} for {listed(names)}" for name, names in fastest.items()) + "."
    large, small = ([one for one in inputs if (one.vertices >= LARGE) == is_large] for is_large in (True, False))
    for some, which in ((large, ", inputs of a million vertices or more" if small else ""), (small, ", smaller inputs" if large else "")):
        if ratios := ratios_of(some, known):
            text += f" Beside Warden's fastest arm{which}: {beside_in_words(ratios)}"
    return text


def ratios_of(inputs, known):
    """What others are called, arms in the order of all tables -> how many times as long they take, in words."""
    ratios = {}  # name -> [(how many times as long, input)]
    for one in inputs:
        for name, ratio in (one.beside_warden(known) or ("", {}))[1].items():
            ratios.setdefault(name, []).append((ratio, one.name))
    names = [*(f"`{arm}`" for arm in arms_of(inputs)), *known]
    return {name: span(ratios[name]) for name in names if name in ratios}


def beside_in_words(ratios):
    """`ratios`: what others are called -> how many times as long they take, in words."""
    return ", ".join(f"{name} takes {ratio} times as long" if i == 0 else f"{name} {ratio}" for i, (name, ratio) in enumerate(ratios.items())) + "."


def span(ratios):
    (least, at_least), (most, at_most) = min(ratios), max(ratios)
    return f"{amount(least)} (`{at_least}`)" + (f" to {amount(most)} (`{at_most}`)" if len(ratios) > 1 else "")


def self_test():
    def row(graph, arm, time, benchmark="spanning_forest"):
        return {"name": f"{benchmark}/find/{graph}/{arm}/keys:10", "items_per_second": 40 / time * 1000, "real_time": time, "time_unit": "ms"}

    rows = [row("rmat22", arm, time) for arm, time in (("warden_deferred", 2.0), ("lock_tuned", 8.0), ("atomics", 1.0))]
    rows += [row("grid", arm, time) for arm, time in (("lock_tuned", 3.0), ("warden_deferred", 4.0))]
    data = {"context": {"device": "GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no"}, "benchmarks": rows}
    assert is_of(data, "spanning_forest") and not is_of(data, "max_flow")
    assert not is_of({**data, "context": {"simulated": "yes"}}, "spanning_forest"), "counts"
    lines = times_markdown(data, "graph").splitlines()
    assert lines[2] == "| graph | vertices | edges | `lock_tuned` | `atomics` | `warden_deferred` | best known GPU code |", lines[2]
    assert lines[4:6] == ["| `rmat22` | 10 | 40 | 8.00 | 1.00 | 2.00 | 12.8 |", "| `grid` | 10 | 40 | 3.00 | - | 4.00 | - |"], lines
    assert Input("rmat22", 10, {"atomics": row("rmat22", "atomics", 13.0)}).fastest({"a code": {"rmat22": 12.8}, "another": {"grid": 1}}) == "a code"
    assert lines[7] == ("- `rmat22`: `atomics` is fastest. Beside `warden_deferred`, Warden's fastest arm: `lock_tuned` takes 4.00 times as long, "
                        "`atomics` 0.50, best known GPU code 6.40."), lines[7]
    assert in_words(data) == (
        "Fastest: `atomics` for `rmat22`; `lock_tuned` for `grid`. Beside Warden's fastest arm: `lock_tuned` takes 0.75 (`grid`) to 4.00 (`rmat22`) times as "
        "long, `atomics` 0.50 (`rmat22`), best known GPU code 6.40 (`rmat22`)."), in_words(data)
    large = {**data, "benchmarks": [{**one, "name": one["name"].replace("keys:10", "keys:1000000")} if "/rmat22/" in one["name"] else one for one in rows]}
    assert in_words(large).endswith(
        ". Beside Warden's fastest arm, inputs of a million vertices or more: `lock_tuned` takes 4.00 (`rmat22`) times as long, `atomics` 0.50 (`rmat22`), best known "
        "GPU code 6.40 (`rmat22`). Beside Warden's fastest arm, smaller inputs: `lock_tuned` takes 0.75 (`grid`) times as long."), in_words(large)
    only = {**data, "benchmarks": rows[1:3]}
    assert times_markdown(only, "graph").endswith("- `rmat22`: `atomics` is fastest.") and in_words(only) == "Fastest: `atomics` for `rmat22`."
