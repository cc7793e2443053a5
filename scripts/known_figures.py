# SPDX-License-Identifier: Apache-2.0
"""Figures of other codes: results/known.json."""
import json
import pathlib

# benchmark -> code -> input -> figure; `source` says where they come from, and in which unit.
KNOWN = pathlib.Path(__file__).resolve().parent.parent / "results/known.json"


def known_of(data):
    """Of a result file's benchmark: code -> input -> figure."""
    return json.loads(KNOWN.read_text()).get(data["benchmarks"][0]["name"].split("/")[0], {})
