#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/design.md with Graphviz, from the descriptions in this file.

    figures.py [FOLDER]   writes FOLDER/*.svg, by default docs/figures/
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, CLIENT, STORAGE = "#fbfbfb", "#cfe3f7", "#f7e7c4"
OWNER, RECORD = "#d3ecd3", "#ead6f0"
# An opaque background: the figures look the same on a white and on a dark page.
STYLE = f"""
  bgcolor="{PAGE}" pad=0.2 fontname="Helvetica,Arial,sans-serif" fontsize=12 fontcolor="#1c2430"
  node [shape=box style="filled,rounded" color="#4a5565" fontname="Helvetica,Arial,sans-serif"
        fontsize=12 fontcolor="#1c2430" margin="0.12,0.07"]
  edge [color="#4a5565" fontname="Helvetica,Arial,sans-serif" fontsize=11 fontcolor="#1c2430"]
"""


def message_path():
    """A section's way from `send` to its record, deferred and in a fused launch."""
    return f"""digraph {{ rankdir=LR nodesep=0.25 ranksep=0.45 {STYLE}
      subgraph cluster_deferred {{ label="deferred: any kernel sends, log.run executes"
        color="#9aa5b5" style=rounded
        kernel [label="sending block\\nstages, sorts by partition" fillcolor="{CLIENT}"]
        thread [label="sending thread\\none flat message" fillcolor="{CLIENT}"]
        log [label="log\\nshards of batches\\nand flat messages" fillcolor="{STORAGE}"]
        order [label="run\\nclose, sort, split" fillcolor="{OWNER}"]
        worker [fillcolor="{OWNER}"
                label="owner block of a partition\\nwindow, sort by owner thread"]
        kernel -> log [label="batch, row of offsets"]
        thread -> log [label="message"]
        log -> order -> worker
      }}
      subgraph cluster_fused {{ label="fused: clients and servers in one cooperative launch"
        color="#9aa5b5" style=rounded
        client [label="client block\\nstages, sorts by server" fillcolor="{CLIENT}"]
        channel [label="channel\\nring of slots, one a server" fillcolor="{STORAGE}"]
        server [label="server\\nreceives a window,\\nfrees the slots" fillcolor="{OWNER}"]
        sort [label="executor\\nsort by owner thread" fillcolor="{OWNER}"]
        client -> channel [label="reserve, publish"]
        channel -> server [label="receive"]
        server -> sort
        sort -> client [label="answer of a call, in a slot of the calling thread" constraint=false]
      }}
      records [label="records" fillcolor="{RECORD}"]
      worker -> records [label="sections"]
      sort -> records [label="sections"]
    }}"""


def cell(text, color=PAGE, **attributes):
    """A cell of a table."""
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<td bgcolor="{color}"{more}>{text}</td>'


def row(*cells):
    """A row of a table."""
    return f"<tr>{''.join(cells)}</tr>"


def table(*rows):
    """A table as the label of a node."""
    return (f'<<table border="0" cellborder="1" cellspacing="0" cellpadding="6" color="#4a5565">'
            f'{"".join(rows)}</table>>')


def log_layout():
    """One shard of a log, its word, and the rows of offsets of its batches."""
    partitions = [f"p{p}" for p in range(4)]
    places = table(
        row(cell("batch 0", CLIENT, colspan=4), cell("batch 1", STORAGE, colspan=4),
            cell("free places", rowspan=2), *[cell("flat", RECORD, rowspan=2)] * 4),
        row(*[cell(p, CLIENT) for p in partitions], *[cell(p, STORAGE) for p in partitions]))
    word = table(row(cell("flat messages: 4", RECORD),
                     cell("messages of batches: 70", CLIENT)))
    offsets = table(
        row(cell("row"), cell("first place"), *[cell(p) for p in partitions], cell("end")),
        row(cell("0", CLIENT), cell("0", CLIENT),
            *[cell(at, CLIENT) for at in (0, 9, 17, 30)], cell("38", CLIENT)),
        row(cell("1", STORAGE), cell("38", STORAGE),
            *[cell(at, STORAGE) for at in (0, 11, 15, 24)], cell("32", STORAGE)))
    return f"""digraph {{ rankdir=TB nodesep=0.5 ranksep=0.55 {STYLE}
      node [shape=plain style=""]
      word [label={word}]
      places [label={places}]
      offsets [label={offsets}]
      word_name [label="word of the shard, 64 bits"]
      places_name [
        label="places of the shard:\\nbatches from the front, flat messages from the back"]
      row_name [
        label="rows of 16-bit offsets, one a batch:\\nwhere each partition's segment begins"]
      {{ rank=same word_name -> word [style=invis] }}
      {{ rank=same places_name -> places [style=invis] }}
      {{ rank=same row_name -> offsets [style=invis] }}
      word_name -> places_name -> row_name [style=invis]
      word -> places [style=invis]
      places -> offsets [style=invis]
    }}"""


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


def pair_schedule():
    """The rounds of 8 tiles of one array, and of 8 tiles of each of two arrays."""
    tiles = 8
    header = [cell(tile) for tile in range(tiles)]
    colors = [CLIENT, STORAGE, OWNER, RECORD]
    rounds = [row(cell("tile"), *header), row(cell("alone"), *header)]
    for number, partners in enumerate(all_pairs(tiles)):
        lower = [min(tile, partner) for tile, partner in enumerate(partners)]
        color_of = dict(zip(sorted(set(lower)), colors))
        rounds.append(row(cell(f"round {number}"), *[cell(partner, color_of[tile])
                                                     for tile, partner in zip(lower, partners)]))
    one = table(*rounds)
    two = table(row(cell("tile of A"), *header), *[
        row(cell(f"round {number}"),
            *[cell(other, STORAGE if other == 0 else PAGE) for other in others])
        for number, others in enumerate(two_arrays(tiles))])
    return f"""digraph {{ nodesep=0.8 ranksep=0.1 {STYLE}
      node [shape=plain style=""]
      one_name [
        label="one array, 8 tiles: the partner of each tile.\\nEqual colours in a round: one tile pair"]
      two_name [
        label="two arrays, 8 tiles each: the tile of B\\nof each tile of A. Tile 0 of B is coloured"]
      one [label={one}]
      two [label={two}]
      one_name -> one [style=invis]
      two_name -> two [style=invis]
    }}"""


def main(folder):
    """Writes all figures."""
    if shutil.which("dot") is None:
        print("figures.py: Graphviz is missing; install it: apt-get install graphviz")
        return 3
    for figure in (message_path, log_layout, pair_schedule):
        svg = subprocess.run(["dot", "-Tsvg"], input=figure(), text=True, check=True,
                             capture_output=True).stdout
        # Comments hold the version of Graphviz.
        svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
        (folder / f"{figure.__name__}.svg").write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/figures"))
