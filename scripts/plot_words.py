# SPDX-License-Identifier: Apache-2.0
"""How a page of the documentation shows a plot: the picture for light and for dark pages, and what is seen in it."""
import arm_choice
from plot_layout import PLOTS
from result_file import rows_of


def plot_named(name):
    return next(plot for plot in PLOTS if plot.name == name)


def plot_markdown(plot, data, folder):
    """`folder`: of the pictures, as seen from the page."""
    table, asked = rows_of(data), arm_choice.needs(plot.benchmark)
    picture = (f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{folder}/{plot.name}-dark.svg">\n'
               f'<img alt="{plot.title}: rate of each arm against the number of {plot.across.split(",")[0]}" '
               f'src="{folder}/{plot.name}-light.svg">\n</picture>')
    seen = []
    for panel in plot.panels:
        words = arm_choice.fastest_in_words(table[panel.operation, panel.workload], asked)
        # A panel that is not the only one is told by its title.
        seen.append(f"- {panel.title}: {words[0].lower()}{words[1:]}" if panel.title else words)
    return picture + "\n\n" + "\n".join(seen)


def self_test():
    from plot_layout import Panel, Plot

    data = {"benchmarks": [{"name": f"contention/{operation}/uniform/{arm}/keys:1", "items_per_second": rate}
                           for operation in ("push", "add") for arm, rate in (("sort", 2e9), ("warden_runs", 1e9))]}
    one = plot_markdown(Plot("p", "contention", "a title", "keys, alike", (Panel("push", "uniform"),)), data, "docs/plots")
    assert one.splitlines() == [
        "<picture>", '<source media="(prefers-color-scheme: dark)" srcset="docs/plots/p-dark.svg">',
        '<img alt="a title: rate of each arm against the number of keys" src="docs/plots/p-light.svg">', "</picture>", "",
        "Fastest by number of keys, or less than 5 % behind: `sort` at 1. Of the arms that run any section: `warden_runs` at 1."], one
    two = plot_markdown(Plot("p", "contention", "t", "keys", (Panel("push", "uniform", "x"), Panel("add", "uniform", "y"))), data, "plots")
    assert [line[:8] for line in two.splitlines()[-2:]] == ["- x: fas", "- y: fas"], two
    assert all(plot_named(plot.name) is plot for plot in PLOTS)
