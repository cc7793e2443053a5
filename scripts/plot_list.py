# SPDX-License-Identifier: Apache-2.0
"""The plots of the documentation: what each shows."""
import pathlib
import tempfile

from bar_layout import Bars
from plot_layout import Panel, Plot
from result_file import RESULTS, load, published

PLOTS = [
    Plot("update", "contention", "update: a section that no single atomic can do", "keys, all hit alike",
         (Panel("update", "uniform"),)),
    Plot("push", "contention", "push: a section that one atomic can do", "keys, all hit alike", (Panel("push", "uniform"),)),
    Plot("zipf", "contention", "Hot keys: hits by Zipf's law (0.99)", "keys",
         (Panel("update", "zipf099", "update"), Panel("push", "zipf099", "push"))),
    Plot("transfers", "bank_transfer", "Transfers between two accounts", "accounts",
         (Panel("transfer", "uniform", "all accounts alike"), Panel("transfer", "zipf099", "Zipf's law (0.99)"),
          Panel("transfer", "hot_side", "one account in 9 of 10"))),
    Plot("allocation", "allocation", "Places taken during a copy", "elements for each that takes places",
         (Panel("copy", "256M"),)),
    Plot("counters", "allocation", "Places of many counters", "counters, all hit alike", (Panel("take", "uniform"),)),
    Bars("spanning_forest", "spanning_forest", "Minimum spanning forests", "graph"),
    Bars("max_flow", "max_flow", "Maximum flows and minimum cuts", "network"),
    Bars("breadth_first", "breadth_first", "Breadth-first search", "graph"),
    Bars("matrix_factorization", "matrix_factorization", "Matrix factorization to the same error", "ratings"),
]


def plot_named(name):
    return next(plot for plot in PLOTS if plot.name == name)


def results_of(plot, results=RESULTS):
    """What the plot shows, as it is loaded; None while there is no such file."""
    path = published(plot.benchmark, results)
    return load(path) if path else None


def origin(plot, data):
    """What the picture says about where its numbers come from."""
    context = data["context"]
    return f"{plot.unit(data)}, one {context['device']}, CUDA {context['toolkit']}, commit {context['commit'][:12]}"


def self_test():
    assert all(plot_named(plot.name) is plot for plot in PLOTS)
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder)
        assert results_of(PLOTS[0], results) is None
        (results / "gpu").mkdir()
        (results / f"gpu/{PLOTS[0].benchmark}.json").write_text('{"context": {"date": "2026-01-01"}}')
        assert results_of(PLOTS[0], results) == {"context": {"date": "2026-01-01"}}
