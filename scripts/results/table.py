# SPDX-License-Identifier: Apache-2.0
"""Tables: for Markdown, and for a terminal of 100 columns."""
import dataclasses
import textwrap

from load import fail
from names import LABELS, label

WIDTH, GAP = 100, "  "


@dataclasses.dataclass
class Table:
    slug: str  # name in a mark
    title: str
    header: list[str]  # arms by their names in result files
    lines: list[list[str]]
    names: int  # number of leading columns that name a line
    subject: str = ""  # stated before the title

    def __post_init__(self):
        assert all(len(line) == len(self.header) for line in self.lines), (self.title, self.header, self.lines)

    def with_columns(self, wanted):
        """The same table with these columns; "_" stands for a space."""
        names = [name.replace(" ", "_") for name in self.header]
        if missing := set(wanted) - set(names):
            fail(f"columns: no column {min(missing)}; there are {', '.join(names)}")
        return self.of_columns([names.index(name) for name in wanted])

    def of_columns(self, chosen):
        """The same table with the columns of these numbers."""
        header, *lines = [[line[i] for i in chosen] for line in (self.header, *self.lines)]
        return dataclasses.replace(self, header=header, lines=lines, names=sum(i < self.names for i in chosen))

    def without_constants(self):
        """The same table without naming columns of one value, which the subject then states."""
        constant = [i for i in range(self.names - 1) if len({line[i] for line in self.lines}) == 1 and self.subject]
        subject = ", ".join([self.subject, *(self.lines[0][i] for i in constant)])
        rest = self.of_columns([i for i in range(len(self.header)) if i not in constant])
        return dataclasses.replace(rest, subject=subject)

    def caption(self):
        return f"{self.subject}: {self.title}" if self.subject else self.title

    def markdown(self):
        rows = [[*map(label, self.header)], ["---"] * self.names + ["---:"] * (len(self.header) - self.names),
                *([*map(label, line)] for line in self.lines)]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def print(self):
        """Prints the table with arms as lines, and in parts if it is wider than the terminal."""
        lines, names = [self.header, *self.lines], self.names
        if any(name in LABELS for name in self.header):
            lines, names = [list(line) for line in zip(*lines)], 1
            lines = [line for i, line in enumerate(lines) if i < self.names or set(line[1:]) != {"-"}]
        print("\n" + textwrap.fill(self.caption(), WIDTH))
        columns = []
        for i, column in enumerate(zip(*lines)):
            width = max(map(len, column))
            columns.append([cell.ljust(width) if i < names else cell.rjust(width) for cell in column])
        fixed, rest = columns[:names], columns[names:]
        while rest:
            part = fixed + [rest.pop(0)]
            while rest and sum(len(column[0]) + len(GAP) for column in part + rest[:1]) <= WIDTH + len(GAP):
                part.append(rest.pop(0))
            print("\n".join(GAP.join(cells).rstrip() for cells in zip(*part)) + ("\n" if rest else ""))
