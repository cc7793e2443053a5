# SPDX-License-Identifier: Apache-2.0
"""Tokens of preprocessed CUDA C++, with the file and line that each comes from."""
import dataclasses

# Prefixes of strings and characters. A raw string's prefix ends in R.
PREFIXES = ("u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L", "")
WORD_BEGIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$")
DIGITS = frozenset("0123456789")
WORD = WORD_BEGIN | DIGITS
SPACE = frozenset(" \t\r\n\f\v")


@dataclasses.dataclass
class Token:
    kind: str  # word, number, string, character, punctuation, space, directive, foreign
    text: str
    file: str
    line: int


class Lexer:
    """Cuts a text into tokens whose texts add up to it.

    - Space includes comments.
    - Punctuation is one character, because `<<<` and `>>>` have other parts in templates and shifts; except `::` and `->`.
    - A directive is a whole line. The line markers of the preprocessor set file and line.
    - A system header is one foreign token.
    """

    def __init__(self, text, file="<input>"):
        self.text = text
        self.file = file
        self.line = 1
        self.at = 0
        self.tokens = []

    def run(self):
        line_begins = True
        while self.at < len(self.text):
            if line_begins and self.begins_directive():
                self.directive()
                continue
            kind, end = self.next_token()
            token = self.take(kind, end)
            line_begins = kind == "space" and ("\n" in token.text or line_begins)
        return self.tokens

    def take(self, kind, end):
        token = Token(kind, self.text[self.at:end], self.file, self.line)
        self.tokens.append(token)
        self.line += token.text.count("\n")
        self.at = end
        return token

    def begins_directive(self):
        at = self.at
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        return self.text.startswith("#", at)

    def end_of_line(self, at):
        """After the line's end; a backslash before it continues the line."""
        while True:
            end = self.text.find("\n", at)
            if end < 0:
                return len(self.text)
            if self.text[end - 1] != "\\":
                return end + 1
            at = end + 1

    def directive(self):
        line = self.take("directive", self.end_of_line(self.at)).text.split(None, 2)
        if len(line) < 3 or line[0] != "#" or not line[1].isdigit() or not line[2].startswith('"'):
            return
        name, _, flags = line[2][1:].rpartition('"')
        self.file, self.line = name, int(line[1])
        # Without 1 it is a macro of a system header, in a line of the user.
        if {"1", "3"} <= set(flags.split()):
            self.foreign()

    def foreign(self):
        """Up to the line marker that leaves the system header."""
        at = self.at
        while at < len(self.text):
            if self.text.startswith('# ', at):
                line = self.text[at:self.end_of_line(at)].rstrip()
                if line[2:3].isdigit() and "3" not in line.rpartition('"')[2].split():
                    break
            at = self.end_of_line(at)
        if at != self.at:
            self.take("foreign", at)

    def next_token(self):
        text, at = self.text, self.at
        c = text[at]
        if c in SPACE or text.startswith(("//", "/*", "\\\n"), at):
            return "space", self.end_of_space(at)
        if c == '"' or c == "'" or c in "uULR":
            for prefix in PREFIXES:
                quote = text[at + len(prefix):at + len(prefix) + 1]
                if text.startswith(prefix, at) and quote and quote in "\"'":
                    begin = at + len(prefix)
                    if not prefix.endswith("R"):
                        return ("string" if quote == '"' else "character"), self.end_of_quoted(begin, quote)
                    if quote == '"':
                        return "string", self.end_of_raw(begin)
        if c in WORD_BEGIN or ord(c) > 127:
            while at < len(text) and (text[at] in WORD or ord(text[at]) > 127):
                at += 1
            return "word", at
        if c in DIGITS or (c == "." and text[at + 1:at + 2] in DIGITS and text[at + 1:at + 2]):
            return "number", self.end_of_number(at)
        return "punctuation", at + (2 if text.startswith(("::", "->"), at) else 1)

    def end_of_space(self, at):
        text = self.text
        while at < len(text):
            if text[at] in SPACE:
                at += 1
                # A directive begins a line.
                if text[at - 1] == "\n":
                    return at
            elif text.startswith("\\\n", at):
                at += 2
            elif text.startswith("//", at):
                at = self.end_of_line(at) - 1 if text.find("\n", at) >= 0 else len(text)
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                at = len(text) if end < 0 else end + 2
            else:
                break
        return at

    def end_of_quoted(self, at, quote):
        at += 1
        while at < len(self.text) and self.text[at] not in (quote, "\n"):
            at += 2 if self.text[at] == "\\" else 1
        return min(at + 1, len(self.text))

    def end_of_raw(self, at):
        open_at = self.text.find("(", at)
        close = ")" + self.text[at + 1:open_at] + '"'
        end = self.text.find(close, open_at)
        return len(self.text) if end < 0 else end + len(close)

    def end_of_number(self, at):
        text = self.text
        while at < len(text):
            c = text[at]
            if c in "eEpP" and text[at + 1:at + 2] in ("+", "-"):
                at += 2
            elif c in WORD or c == "." or (c == "'" and text[at + 1:at + 2] in WORD and text[at + 1:at + 2]):
                at += 1
            else:
                break
        return at


def tokens(text, file="<input>"):
    return Lexer(text, file).run()
