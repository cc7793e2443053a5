# SPDX-License-Identifier: Apache-2.0
"""Tables as the documentation writes them."""
import re


def table(header, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *lines))


def origin(data):
    """Where the numbers come from."""
    context = data["context"]
    return f"one {context['device']} (CUDA {context['toolkit']}, commit {context['commit'][:12]})"


def titled(benchmark, data, tables):
    """Tables of which each has its own title; words are quoted where they stand for themselves."""
    parts = []
    for title, header, lines in tables:
        quoted = [["`" + text + "`" if re.match("[a-z]", text) else text for text in line] for line in lines]
        parts.append(f"`{benchmark}`, {title}, on {origin(data)}:\n\n{table(header, quoted)}")
    return "\n\n".join(parts)
