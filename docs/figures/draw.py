#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/design.md with Graphviz: the graphs of this folder, and the schedules of pairs.

    draw.py [FOLDER]   writes FOLDER/*.svg, by default to this folder
"""
import pathlib
import re
import shutil
import subprocess
import sys

FIGURES = pathlib.Path(__file__).resolve().parent
BLUE, YELLOW, GREEN, VIOLET = "#cfe3f7", "#f7e7c4", "#d3ecd3", "#ead6f0"
# Defaults of each graph. The background is opaque, so the figures look the same on a dark page.
STYLE = """
  bgcolor="#fbfbfb" pad=0.2 fontname="Helvetica,Arial,sans-serif" fontsize=12 fontcolor="#1c2430"
  node [shape=box style="filled,rounded" color="#4a5565" fontname="Helvetica,Arial,sans-serif"
        fontsize=12 fontcolor="#1c2430" margin="0.12,0.07"]
  edge [color="#4a5565" fontname="Helvetica,Arial,sans-serif" fontsize=11 fontcolor="#1c2430"]"""


def row(title, texts, colors=None):
    """A row of a table; `colors`: those of the cells after the title."""
    cells = zip([title, *texts], ["#fbfbfb", *(colors or ["#fbfbfb"] * len(texts))])
    return "<tr>" + "".join(f'<td bgcolor="{color}">{text}</td>' for text, color in cells) + "</tr>"


def all_pairs(tiles):
    """The partner of each tile in each round, as detail/pairs/all_pairs_schedule.cuh pairs them."""
    circle = tiles - 1
    for number in range(circle):
        partners = {number: circle, circle: number}
        for away in range(1, tiles // 2):
            a, b = (number + away) % circle, (number - away) % circle
            partners |= {a: b, b: a}
        yield [partners[tile] for tile in range(tiles)]


def two_arrays(tiles):
    """The second array's tile that each of the first meets: detail/pairs/two_array_schedule.cuh."""
    for number in range(tiles):
        shift = (pow(2 * number + 1, -1, 2 * tiles) - 1) // 2
        yield [(tile + shift) % tiles for tile in range(tiles)]


def pair_schedule(tiles=8):
    """The rounds of the tiles of one array, and of the tiles of each of two arrays."""
    one = [row("tile", range(tiles)), row("alone", range(tiles))]
    for number, partners in enumerate(all_pairs(tiles)):
        lower = [min(tile, partner) for tile, partner in enumerate(partners)]
        color_of = dict(zip(sorted(set(lower)), [BLUE, YELLOW, GREEN, VIOLET]))
        one.append(row(f"round {number}", partners, [color_of[tile] for tile in lower]))
    two = [row("tile of A", range(tiles))]
    for number, others in enumerate(two_arrays(tiles)):
        two.append(row(f"round {number}", others, [YELLOW if other == 0 else "#fbfbfb" for other in others]))
    table = '<<table border="0" cellborder="1" cellspacing="0" cellpadding="6" color="#4a5565">{}</table>>'
    return f"""digraph {{ nodesep=0.8 ranksep=0.1
      node [shape=plain style=""]
      one_name [label="one array, {tiles} tiles: the partner of each tile.\\nEqual colours in a round: one tile pair"]
      two_name [label="two arrays, {tiles} tiles each: the tile of B\\nof each tile of A. Tile 0 of B is coloured"]
      one [label={table.format("".join(one))}]
      two [label={table.format("".join(two))}]
      one_name -> one [style=invis]
      two_name -> two [style=invis]
    }}"""


def main(folder):
    if shutil.which("dot") is None:
        print("draw.py: Graphviz is missing; install it: apt-get install graphviz")
        return 3
    graphs = {path.stem: path.read_text() for path in FIGURES.glob("*.dot")} | {"pair_schedule": pair_schedule()}
    for name, graph in graphs.items():
        graph = graph.replace("digraph {", "digraph {" + STYLE, 1)
        svg = subprocess.run(["dot", "-Tsvg"], input=graph, text=True, check=True, capture_output=True).stdout
        # Comments hold the version of Graphviz.
        (folder / f"{name}.svg").write_text(re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL))
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES))
