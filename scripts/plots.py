#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of the documentation, docs/plots/*.svg, from the result files.

    plots.py --write       draws those that are missing or do not show it; needs matplotlib (Debian: python3-matplotlib)
    plots.py --check       exit code 1 if one does not show what the result files hold
    plots.py --self-test

A plot of a benchmark without a result file has no picture. The check reads the points of every line and bar, the names and the origin
back from the file, so it needs no matplotlib. Where the version that drew the file is there, it draws again and compares all of it.
"""
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

import plot_list
from bar_layout import Bars
from plot_layout import THEMES, Panel, Plot
from plot_page import STYLES
from result_file import refused
from result_names import ARMS

ROOT = pathlib.Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"
# The file has six digits behind the point.
CLOSE = 1e-5


def fail(text):
    sys.exit(f"plots.py: {text}")


def drawing():
    """The module that draws; None without matplotlib."""
    try:
        import plot_drawing
    except ImportError:
        return None
    return plot_drawing


def files(folder, results):
    """(path, plot, its data, theme) of each file."""
    return [(folder / f"{plot.name}-{theme}.svg", plot, data, theme)
            for plot in plot_list.PLOTS if (data := plot_list.results_of(plot, results)) for theme in THEMES]


def drawn_lines(picture):
    """name -> [(x, y)] of the lines and bars that an arm's name tells from those of the axes."""
    lines = {}
    for group in picture.iter(f"{SVG}g"):
        if (name := group.get("id", "")).count("/") == 2:
            # The line itself is the group's own path; its markers lie deeper.
            numbers = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", group.find(f"{SVG}path").get("d"))
            lines[name] = [(float(x), float(y)) for x, y in numbers]
    return lines


def same(drawn, wanted):
    return len(drawn) == len(wanted) and all(abs(a - b) < CLOSE for point, other in zip(drawn, wanted) for a, b in zip(point, other))


def problem_of(text, plot, data):
    """What the picture shows and the results do not hold, or the other way round; None if they agree."""
    picture = xml.etree.ElementTree.fromstring(text)
    layout = plot.layout(data)
    drawn, wanted = drawn_lines(picture), dict(layout.lines())
    for name in sorted(drawn.keys() | wanted.keys()):
        if not same(drawn.get(name, []), wanted.get(name, [])):
            return f"{name} is not where the results are"
    words = [text.text for text in picture.iter(f"{SVG}text")]
    missing = {plot_list.origin(plot, data), plot.title, *layout.names()} - set(words)
    return f"it does not say {', '.join(sorted(missing))}" if missing else None


def problem_with(path, plot, data, theme):
    """What is wrong with a file; None if nothing is."""
    if not path.exists():
        return "it is missing"
    text, drawer = path.read_text(), drawing()
    if problem := problem_of(text, plot, data):
        return problem
    if drawer and drawer.VERSION in text and drawer.draw(plot, data, theme) != text:
        return "it is not as it is drawn now"
    return None


def check(folder, results):
    wanted = files(folder, results)
    problems = [f"{file[0].name}: {problem}" for file in wanted if (problem := problem_with(*file))]
    problems += [f"{path.name}: there are no results that it shows" for path in sorted({*folder.glob("*.svg")} - {path for path, *_ in wanted})]
    if problems:
        fail("\n".join([*problems, "run scripts/plots.py --write"]))
    print("plots are up to date")


def write(folder, results):
    drawer = drawing() or fail("--write needs matplotlib (Debian: apt-get install python3-matplotlib)")
    folder.mkdir(exist_ok=True)
    stale = [file for file in files(folder, results) if problem_with(*file)]
    for path, plot, data, theme in stale:
        path.write_text(drawer.draw(plot, data, theme))
    print("plots written: " + ", ".join(path.name for path, *_ in stale) if stale else "plots are up to date")


def self_test():
    plot = Plot("p", "contention", "a title", "keys", (Panel("push", "uniform"),))
    context = {"device": "GPU", "toolkit": "13.0", "commit": "0123456789abcdef"}

    def results(rate=2e9, arm="atomics", **others):
        return {"context": {**context, **others}, "benchmarks": [
            {"name": f"contention/push/uniform/{name}/keys:{keys}", "items_per_second": value}
            for name, keys, value in (("sort", 1, 1e9), ("sort", 1024, 4e9), (arm, 1, rate), (arm, 1024, 8e9))]}

    def picture(lines, words):
        """As matplotlib writes it: a line's group holds its path, and its markers in a group of their own."""
        groups = "".join(f'<g id="{name}"><path d="{" ".join(f"{step} {x:.6f} {y:.6f} " for step, (x, y) in zip("MLLL", points))}"/>'
                         '<defs><path d="M 0 2 L 3 4"/></defs></g>' for name, points in lines.items())
        return (f'<svg xmlns="{SVG.strip("{}")}"><g id="axes_1"><g id="line2d_1"><path d="M 1 2 L 3 4"/></g>{groups}</g>'
                + "".join(f"<text>{word}</text>" for word in words) + "</svg>")

    layout = plot.layout(results())
    lines, words = dict(layout.lines()), [plot_list.origin(plot, results()), plot.title, "sort", "atomics", "1K"]
    good = picture(lines, words)
    assert problem_of(good, plot, results()) is None
    assert problem_of(good, plot, results(rate=2.001e9)) == "push/uniform/atomics is not where the results are"
    assert "is not where" in problem_of(good, plot, results(arm="warden_runs")), "an arm's name is looked at, too"
    assert problem_of(good, plot, results(commit="fedcba9876543210")).endswith("commit fedcba987654"), "so is the origin"
    assert "is not where" in problem_of(picture({**lines, "push/uniform/warden_runs": [(1, 2)]}, words), plot, results()), "one too many"
    assert "is not where" in problem_of(picture({**lines, "push/uniform/sort": lines["push/uniform/sort"][:1]}, words), plot, results())
    assert problem_of(picture(lines, words[:2] + words[3:]), plot, results()) == "it does not say sort"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        assert refused(check, folder, plot_list.RESULTS), "missing files must be refused"
        check(folder, folder)  # no results, no pictures
        (folder / "p.svg").write_text(good)
        assert refused(check, folder, folder), "and none is left of results that are gone"
    # Every arm that has results has a look.
    assert set(STYLES) == set(ARMS), set(STYLES) ^ set(ARMS)
    bars = Bars("b", "spanning_forest", "a title", "graph")
    times = {"context": context, "benchmarks": [
        {"name": f"spanning_forest/find/rmat22/{arm}/keys:1", "items_per_second": 1e9, "real_time": time, "time_unit": "ms"}
        for arm, time in (("atomics", 1.0), ("warden_deferred", 2.0))]}
    longer = {**times, "benchmarks": [{**row, "real_time": 1.01 * row["real_time"]} for row in times["benchmarks"]]}
    if drawer := drawing():
        # What is drawn is what the check reads.
        assert drawer.VERSION in drawer.draw(plot, results(), "dark")
        assert problem_of(drawer.draw(plot, results(), "dark"), plot, results()) is None
        text = drawer.draw(bars, times, "light")
        assert problem_of(text, bars, times) is None, problem_of(text, bars, times)
        assert "is not where" in problem_of(text, bars, longer)
        assert problem_of(text.replace(">best known GPU code<", "><"), bars, times) == "it does not say best known GPU code"
    print("self-test passed")


if __name__ == "__main__":
    try:
        match sys.argv[1:]:
            case ["--write"]: write(ROOT / "docs/plots", plot_list.RESULTS)
            case ["--check"]: check(ROOT / "docs/plots", plot_list.RESULTS)
            case ["--self-test"]: self_test()
            case _:
                print(__doc__, file=sys.stderr)
                sys.exit(2)
    except (OSError, KeyError) as e:
        fail(f"{type(e).__name__}: {e}")
