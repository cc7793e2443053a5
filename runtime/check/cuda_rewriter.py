# SPDX-License-Identifier: Apache-2.0
"""Turns preprocessed CUDA C++ into C++ for the simulated device, line for line.

    k<<<grid, block, shared, stream>>>(a, b)   becomes a call of warden::check::launch with the kernel in a lambda
    __shared__ float tile[16][17], sum;        becomes a struct of these members, and a reference for each of them
    extern __shared__ float values[];          to the block's object of the member's type

What has no such form raises Refusal, with file and line.
"""
from cuda_lexer import tokens

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: open_ for open_, close in OPENING.items()}
SPECIFIERS = {"__shared__", "static", "extern", "inline", "const", "volatile"}
LAUNCH = "::warden::check::launch"
SIMULATED = "::warden::sim::device"


class Refusal(Exception):
    """`what` in a file of the user cannot be translated."""

    def __init__(self, token, what):
        super().__init__(f"{token.file}:{token.line}: {what}")


class Rewriter:
    def __init__(self, text, file="<input>"):
        self.all = tokens(text, file)
        # Indices of the tokens that mean something, and what replaces the text of any.
        self.real = [i for i, t in enumerate(self.all) if t.kind not in ("space", "directive")]
        self.replaced = {}
        self.before = {}
        self.after = {}
        self.shared_variables = 0

    # ---- tokens, by their position among the real ones

    def token(self, at):
        return self.all[self.real[at]]

    def text(self, at):
        if not 0 <= at < len(self.real):
            return ""
        token = self.token(at)
        return token.text if token.kind in ("word", "punctuation", "number") else "\0"

    def kind(self, at):
        return self.token(at).kind if 0 <= at < len(self.real) else ""

    def replace(self, at, text):
        self.replaced[self.real[at]] = text

    def add_after(self, at, text):
        index = self.real[at]
        self.after[index] = self.after.get(index, "") + text

    def add_before(self, at, text):
        index = self.real[at]
        # A later part of the source encloses less.
        self.before[index] = self.before.get(index, "") + text

    def between(self, begin, end):
        """The source of [begin, end), as rewritten so far, on one line."""
        if begin >= end:
            return ""
        return " ".join(self.output(i) for i in range(self.real[begin], self.real[end - 1] + 1)
                        if self.all[i].kind not in ("space", "directive"))

    def output(self, index):
        text = self.replaced.get(index, self.all[index].text)
        return self.before.get(index, "") + text + self.after.get(index, "")

    def same(self, at, text):
        """True if the characters of `text` are the tokens from `at` on."""
        return all(self.text(at + i) == c for i, c in enumerate(text))

    def end_of_group(self, at):
        """Position of the bracket that closes the one at `at`."""
        depth = 0
        for i in range(at, len(self.real)):
            text = self.text(i)
            depth += (text in OPENING) - (text in CLOSING)
            if depth == 0:
                return i
        raise Refusal(self.token(at), f"'{self.text(at)}' is never closed")

    def begin_of_group(self, at):
        depth = 0
        for i in range(at, -1, -1):
            text = self.text(i)
            depth += (text in CLOSING) - (text in OPENING)
            if depth == 0:
                return i
        raise Refusal(self.token(at), f"'{self.text(at)}' was never opened")

    # ---- all

    def run(self):
        at = 0
        while at < len(self.real):
            if self.text(at) == "__shared__":
                self.shared(at)
            elif self.text(at) in ("asm", "__asm__", "__asm"):
                self.assembly(at)
            elif self.text(at) in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel") and self.text(at + 1) == "(":
                self.keep_type_of_kernel(at + 2)
            elif self.same(at, "<<<") and self.text(at - 1) != "operator":
                self.launch(at)
                at += 2
            at += 1
        return "".join(self.output(i) for i in range(len(self.all)))

    def assembly(self, at):
        """Without instructions it is a barrier for the compiler, which g++ has, too."""
        code = at + 1
        while self.kind(code) == "word":
            code += 1
        if self.kind(code + 1) != "string" or self.token(code + 1).text != '""':
            raise Refusal(self.token(at), "inline assembly; use CUDA's functions instead")

    # ---- launches

    def keep_type_of_kernel(self, at):
        """Removes a cast to a pointer to void."""
        is_named = self.text(at) in ("reinterpret_cast", "static_cast")
        begin = at + 1 if is_named else at
        if self.text(begin) not in ("<", "("):
            return
        words, i = [], begin + 1
        while self.text(i) in ("void", "const", "*"):
            words.append(self.text(i))
            i += 1
        if sorted(set(words)) in (["*", "void"], ["*", "const", "void"]) and self.text(i) == (">" if is_named else ")"):
            for k in range(at, i + 1):
                self.replace(k, "")

    def launch(self, at):
        begin, close = self.begin_of_kernel(at), self.end_of_configuration(at)
        end = self.end_of_group(close + 3)
        kernel = self.between(begin, at)
        # The kernel is called in a lambda, so overloads, template arguments and conversions are
        # found as in any call.
        self.add_before(begin, f"{LAUNCH}(")
        for i in range(begin, at):
            self.replace(i, "")
        self.replace(at, "")
        self.replace(at + 1, "")
        self.replace(at + 2, "")
        self.replace(close, ")")
        self.replace(close + 1, f".kernel([=](auto... warden_arguments) {{ {kernel}(warden_arguments...); }})")
        self.replace(close + 2, "")
        for i in range(close + 4, end):
            # A null pointer keeps its type on the way through the lambda.
            if self.text(i) in ("__null", "NULL") and self.text(i - 1) in "(," and self.text(i + 1) in "),":
                self.replace(i, "nullptr")

    def begin_of_kernel(self, at):
        """Position of the first token of the expression that is launched at `at`."""
        i = at - 1
        while True:
            # One name, call, index or expression in parentheses, with template arguments.
            if self.text(i) == ">":
                i = self.begin_of_template(i) - 1
            while self.text(i) in (")", "]") and self.text(self.begin_of_group(i) - 1) in (")", "]", ">"):
                i = self.begin_of_group(i) - 1
                if self.text(i) == ">":
                    i = self.begin_of_template(i) - 1
            if self.text(i) in (")", "]"):
                i = self.begin_of_group(i)
                if self.kind(i - 1) == "word" and self.text(i - 1) not in ("return", "else", "do"):
                    i -= 1
            elif self.kind(i) != "word":
                raise Refusal(self.token(at), "a launch of something that is no kernel's name")
            if self.text(i - 1) == "template":
                i -= 1
            if self.text(i - 1) in ("::", ".", "->"):
                i -= 1
                if self.text(i) == "::" and self.kind(i - 1) != "word" and self.text(i - 1) != ">":
                    return i  # the global namespace
                if self.text(i) == "::" and self.text(i - 1) in ("return", "else", "do"):
                    return i
                i -= 1
                continue
            return i

    def begin_of_template(self, at):
        """Position of the name before the template arguments that end at `at`."""
        depth, i = 0, at
        while i >= 0:
            text = self.text(i)
            if text in CLOSING:
                i = self.begin_of_group(i)
            elif text == ">":
                depth += 1
            elif text == "<":
                depth -= 1
                if depth == 0:
                    return i
            elif text in (";", "{", "}", ""):
                break
            i -= 1
        raise Refusal(self.token(at), "template arguments of a launch that never begin")

    def end_of_configuration(self, at):
        """Position of the '>>>' that belongs to the '<<<' at `at`."""
        open_templates, last, i = 0, None, at + 3
        while i < len(self.real):
            text = self.text(i)
            if text in OPENING:
                i = self.end_of_group(i)
            elif text in CLOSING or text == ";":
                break
            elif text == "<" and self.kind(i - 1) == "word" and self.text(i + 1) not in ("<", "="):
                open_templates += 1
            elif text == ">":
                run = 1
                while self.text(i + run) == ">":
                    run += 1
                closed = min(run, open_templates)
                if run >= 3 and self.text(i + run) == "(":
                    last = i + run - 3
                    # Otherwise these close templates, or a '<' before was no template's.
                    if run - closed >= 3:
                        return last
                open_templates -= closed
                i += run - 1
            i += 1
        if last is None:
            raise Refusal(self.token(at), "a launch without '>>>(', or '<<<' that is none")
        return last

    # ---- shared memory

    def shared(self, at):
        begin = self.begin_of_declaration(at)
        end = at
        while self.text(end) not in (";", ""):
            end = self.end_of_group(end) + 1 if self.text(end) in OPENING else end + 1
        if self.text(end) != ";":
            raise Refusal(self.token(at), "__shared__ that declares no variable")
        is_dynamic = any(self.text(i) == "extern" for i in range(begin, end))
        names = self.declared_names(begin, end, at)
        scope = self.scope_of(begin)
        if scope != "function" and not is_dynamic:
            raise Refusal(self.token(at), "a shared variable outside of functions; declare it in the kernel")
        self.shared_variables += 1
        struct = f"warden_shared_{self.shared_variables}"
        for i in range(begin, end):
            if self.text(i) in ("__shared__", "static", "extern", "inline"):
                self.replace(i, "")
        # A flexible array is not alone in a struct.
        self.add_before(begin, f"struct {struct} {{ {'char warden_first; ' if is_dynamic else ''}")
        code = " };"
        for number, name in enumerate(names):
            member = f"decltype({struct}::{name})"
            if scope != "function":
                code += f" inline constexpr ::warden::check::dynamic_shared<{member}> {name}{{}};"
                continue
            if is_dynamic:
                memory = f"static_cast<void*>({SIMULATED}::dynamic_shared())"
            else:
                key = f"warden_key_{self.shared_variables}_{number}"
                code += f" static constexpr char {key}{{}};"
                memory = f"::warden::check::static_shared(&{key}, sizeof({member}), alignof({struct}))"
            code += f" [[maybe_unused]] auto& {name} = *static_cast<{member}*>({memory});"
        self.add_after(end, code)

    def begin_of_declaration(self, at):
        i = at
        while True:
            before = self.text(i - 1)
            if before == ")":
                open_ = self.begin_of_group(i - 1)
                # An attribute, or the head of a statement.
                if self.text(open_ - 1) not in ("alignas", "__attribute__", "__declspec"):
                    return i
                i = open_ - 1
            elif before in ("", ";", "{", "}", ":") or self.kind(i - 1) in ("foreign", "string"):
                return i
            else:
                i -= 1

    def declared_names(self, begin, end, at):
        names, name, i = [], None, begin
        is_open = True  # the name of this declarator can still come
        while i <= end:
            text = self.text(i)
            if text in ("alignas", "__attribute__") and self.text(i + 1) == "(":
                i = self.end_of_group(i + 1)
            elif text in (",", ";"):
                if name is None:
                    raise Refusal(self.token(at), "__shared__ that declares no variable")
                names.append(name)
                name, is_open = None, True
            elif text == "<":
                i = self.end_of_template(i)
            elif text in ("=", ":"):
                raise Refusal(self.token(at), "a shared variable with an initializer; assign to it in the kernel")
            elif text == "(" and self.text(i - 1) != "decltype":
                raise Refusal(self.token(at), "a shared variable whose declarator has parentheses; name its type by "
                                              "'using'")
            elif text in OPENING:
                # The extents come after the name.
                is_open = is_open and text != "["
                i = self.end_of_group(i)
            elif self.kind(i) == "word" and is_open and text not in SPECIFIERS:
                name = text
            i += 1
        return names

    def end_of_template(self, at):
        depth, i = 0, at
        while i < len(self.real):
            text = self.text(i)
            if text in OPENING:
                i = self.end_of_group(i)
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return i
            i += 1
        raise Refusal(self.token(at), "'<' is never closed")

    def scope_of(self, at):
        """namespace, class or function."""
        i = at - 1
        while i >= 0 and self.text(i) != "{":
            i = self.begin_of_group(i) - 1 if self.text(i) in CLOSING else i - 1
        if i < 0:
            return "namespace"
        words, at = [], i - 1
        while at >= 0 and self.text(at) not in (";", "{", "}") and self.kind(at) != "foreign":
            if self.text(at) == ")":
                at = self.begin_of_group(at)
            words.append('""' if self.kind(at) == "string" else self.text(at))
            at -= 1
        if "(" in words or not words:
            return "function"
        if "namespace" in words or words[-1] == "extern":
            return "namespace"
        return "class" if {"struct", "class", "union"} & set(words) else "function"


def rewrite(text, file="<input>"):
    return Rewriter(text, file).run()
