# SPDX-License-Identifier: Apache-2.0
"""Tokens of preprocessed CUDA C++, with the file and line that each comes from."""
import dataclasses
import re

# Space includes comments, and ends after a newline, because a directive begins a line. Punctuation is
# one character, except `::` and `->`: the parts of `<<<` and `>>>` mean other things elsewhere.
SPACE = r"(?: [ \t\r\f\v] | \\\n | //(?:\\\n|[^\n])* | /\*[^*]*\*+(?:[^/*][^*]*\*+)*/ )"
TOKEN = re.compile(rf"(?P<space> {SPACE}*\n | {SPACE}+ )" + r"""
  | (?P<string>     (?:u8|[uUL])?R"(?P<end>[^(]*)\((?:.*?\)(?P=end)"|.*)
                  | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*["\n]? )
  | (?P<character>  (?:u8|[uUL])?'(?:\\.|[^'\\\n])*['\n]? )
  | (?P<word>       (?:[^\W\d]|\$)(?:\w|\$)* )
  | (?P<number>     \.?\d(?:[eEpP][+-]|'(?=\w)|[\w.$])* )
  | (?P<punctuation> :: | -> | . )""", re.S | re.X)
DIRECTIVE = re.compile(r"[ \t]*#(?:\\\n|[^\n])*\n?")
LINE_MARKER = re.compile(r'# (\d+) "(.*)"([ \d]*)\n?')
# The line marker that leaves a system header has no flag 3.
LEAVING = re.compile(r'^# \d+ ".*"(?! *(?:\d )*3)[ \d]*$', re.M)


@dataclasses.dataclass
class Token:
    kind: str  # word, number, string, character, punctuation, space, directive, foreign
    text: str
    file: str
    line: int


def tokens(text, file="<input>"):
    """Tokens whose texts add up to `text`. Line markers set file and line; a system header is foreign."""
    found, at, line, line_begins = [], 0, 1, True
    while at < len(text):
        if line_begins and (directive := DIRECTIVE.match(text, at)):
            found.append(Token("directive", directive[0], file, line))
            at, line = directive.end(), line + directive[0].count("\n")
            if marker := LINE_MARKER.fullmatch(directive[0]):
                line, file = int(marker[1]), marker[2]
                # Without flag 1 the line is the user's, with a macro of a system header.
                if {"1", "3"} <= set(marker[3].split()):
                    leaving = LEAVING.search(text, at)
                    end = leaving.start() if leaving else len(text)
                    if end > at:
                        found.append(Token("foreign", text[at:end], file, line))
                    at, line = end, line + text.count("\n", at, end)
            continue
        match = TOKEN.match(text, at)
        found.append(Token(match.lastgroup, match[0], file, line))
        line += match[0].count("\n")
        line_begins = match.lastgroup == "space" and (line_begins or match[0].endswith("\n"))
        at = match.end()
    return found
