# SPDX-License-Identifier: Apache-2.0
"""Questions that the rows of result files answer, each with the numbers of one plot."""
import dataclasses

import plot
from choice import AS_GOOD
from families import points_of
from measures import measure_of
from names import LABELS, TIMED, amount, is_wardens, label, short

MOST_PANELS = 4
# Benchmark/kind -> title. Other kinds have their own name as title.
TITLES = {
    "contention/push": "A section that one atomic can do", "contention/add": "A section of several atomics",
    "contention/update": "A section that no single atomic can do", "hash_table/count": "Hash table: counting keys",
    "hash_table/assign": "Hash table: assigning values", "hash_table/churn": "Hash table: inserting and erasing",
    "hash_table/update": "Hash table: values of 24 bytes", "hash_table/build": "Building a table of fixed keys",
    "hash_table/find": "Finding keys of a built table", "bank_transfer/transfer": "Transfers between two accounts",
    "spanning_forest/find": "Minimum spanning forests", "max_flow/find": "Maximum flows and minimum cuts",
    "breadth_first/find": "Breadth-first search", "shortest_paths/find": "Shortest paths from one vertex",
    "matrix_factorization/descend": "Matrix factorization to one error", "allocation/copy": "Places taken during a copy",
    "allocation/take": "Places of many counters", "allocation/emit": "Outputs of different lengths",
    "allocation/histogram": "Histograms", "transport/transport": "Messages alone", "transport/latency": "From send to execution",
    "handover/nanoseconds": "From the end of a section to the next on its record",
    "handover/pairs": "From the end of a section on two records to the next"}


@dataclasses.dataclass
class Question:
    title: str
    rows: list

    def compares_arms(self):
        return all("arm" in row.fields for row in self.rows)

    def points(self):
        """[arm -> measure], one for each input and number of keys."""
        of_kind = points_of(self.rows) if self.compares_arms() else {}
        points = [{arm: one for arm, row in by_arm.items() if (one := measure_of(row))}
                  for points in of_kind.values() for _, by_arm in points]
        return [by_arm for by_arm in points if by_arm]

    def summary(self):
        """A line of the summary, or None: points, the arm that is fastest at most of them, and Warden's arms."""
        points = [by_arm for by_arm in self.points() if len(by_arm) > 1]
        if not points:
            return None
        fastest = [best_of(by_arm) for by_arm in points]
        often = max(dict.fromkeys(fastest), key=fastest.count)
        ratios, wins = [], 0
        for by_arm in points:
            own, others = ({arm: one for arm, one in by_arm.items() if is_wardens(arm) == wardens} for wardens in (True, False))
            if own and others:
                ratios.append(own[best_of(own)].over(others[best_of(others)]))
                wins += ratios[-1] >= AS_GOOD
        ratios.sort()
        of_warden = [f"{wins} of {len(ratios)}", *(amount(ratios[i]) for i in (0, len(ratios) // 2, -1))] if ratios else ["-"] * 4
        return [self.title, str(len(points)), f"{label(often)} ({fastest.count(often)})", *of_warden]

    def plot_data(self, origin):
        """Numbers of the plot, as plot.drawn takes them; None without measured values."""
        measured = [(row, one) for row in self.rows if (one := measure_of(row))]
        if not measured:
            return None
        panels, across = self.panels(measured)
        shown = dict(list(panels.items())[::-(-len(panels) // MOST_PANELS)])
        ordered = {title: {name: points if isinstance(points[0][0], str) else sorted(points) for name, points in sorted(
            series.items(), key=lambda one: [*LABELS, one[0]].index(one[0]))} for title, series in shown.items()}
        return {"title": self.title, "origin": origin, "across": across, "unit": measured[0][1].unit, "panels": ordered}

    def panels(self, measured):
        """(panel -> series -> [[x, y]], name of x). Texts as x are bars, numbers are lines."""
        panels = {}

        def add(panel, series, x, value):
            panels.setdefault(panel, {}).setdefault(series, []).append([x, plot.four_digits(value)])

        if not self.compares_arms():
            for row, one in measured:
                series, *rest = row.fields.values()
                add("", str(series), " ".join(map(str, rest)), one.value)
            return panels, ""
        arms = self.shown_arms()
        measured = [(row, one) for row, one in measured if row.fields["arm"] in arms]
        x = "sections" if len({row.fields.get("sections") for row, _ in measured}) > 1 else "keys"
        has_keys = x == "sections" and len({row.fields["keys"] for row, _ in measured}) > 1
        sizes = {}
        for row, _ in measured:
            sizes.setdefault(input_of(row), set()).add(row.fields[x])
        if self.rows[0].benchmark in TIMED or max(map(len, sizes.values())) == 1:
            for row, one in measured:
                add("", row.fields["arm"], input_of(row), one.value)
            return panels, "input"
        for row, one in measured:
            title = f"{input_of(row)}, {short(row.fields['keys'])} keys" if has_keys else input_of(row)
            add(title, row.fields["arm"], row.fields[x], one.value)
        return panels, x

    def shown_arms(self):
        """The arms that come nearest to the fastest arm of some point, at most one for each colour."""
        nearest = {}
        for by_arm in self.points():
            best = by_arm[best_of(by_arm)]
            for arm, one in by_arm.items():
                nearest[arm] = max(nearest.get(arm, 0), one.over(best))
        return sorted(nearest, key=nearest.get, reverse=True)[:len(plot.COLOURS)]


def kind_of(row):
    return f"{row.benchmark}/{row.kind}"


def input_of(row):
    return " ".join(str(value) for name, value in row.fields.items() if name not in ("operation", "arm", "keys", "sections"))


def best_of(by_arm):
    """The arm with the best measure."""
    best = next(iter(by_arm))
    for arm, one in by_arm.items():
        if one.over(by_arm[best]) > 1:
            best = arm
    return best


def questions(rows):
    """The questions of the rows, in the order of TITLES; those without a title come last."""
    order, found = [*TITLES], {}
    for row in sorted(rows, key=lambda row: [*order, kind_of(row)].index(kind_of(row))):
        title = TITLES.get(kind_of(row), f"{row.benchmark}: {row.kind.replace('_', ' ')}")
        # These numbers of sections are chosen, and have points of their own.
        if "sections" in row.fields and row.benchmark in ("contention", "bank_transfer"):
            title += ", by number of sections"
        found.setdefault(title, Question(title, [])).rows.append(row)
    return [*found.values()]
