#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cuda_rewriter.py: launches and shared variables in odd places, and what is refused."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime/check"))
from cuda_lexer import tokens
from cuda_rewriter import Refusal, rewrite


def launch(configuration, kernel, arguments):
    return (f"::warden::check::launch({configuration}).kernel([=](auto... warden_arguments) "
            f"{{ {kernel}(warden_arguments...); }})({arguments})")


def squeezed(text):
    return "".join(text.split())


class Launches(unittest.TestCase):
    def check(self, source, configuration, kernel, arguments, before="", after=";"):
        expected = before + launch(configuration, kernel, arguments) + after
        self.assertEqual(squeezed(rewrite(source)), squeezed(expected))

    def test_of_a_name(self):
        self.check("k<<<1, 2>>>(a, b);", "1,2", "k", "a,b")
        self.check("a::b::k<<<1, 2>>>();", "1,2", "a::b::k", "")
        self.check("::k<<<1, 2>>>();", "1,2", "::k", "")
        self.check("{ ::k<<<1, 2>>>();", "1,2", "::k", "", before="{")

    def test_after_a_keyword(self):
        self.check("return k<<<1, 2>>>();", "1,2", "k", "", before="return")
        self.check("return ::k<<<1, 2>>>();", "1,2", "::k", "", before="return")
        self.check("else (k)<<<1, 2>>>();", "1,2", "(k)", "", before="else")

    def test_of_templates(self):
        self.check("k<int><<<1, 2>>>();", "1,2", "k<int>", "")
        self.check("k<f<g<int>>><<<1, 2>>>();", "1,2", "k<f<g<int>>>", "")
        self.check("k<(a > b), c[1 << 2]><<<1, 2>>>();", "1,2", "k<(a>b),c[1<<2]>", "")
        self.check("n<int>::k<T><<<1, 2>>>();", "1,2", "n<int>::k<T>", "")
        self.check("T::template k<N><<<1, 2>>>(x);", "1,2", "T::template k<N>", "x")

    def test_of_expressions(self):
        self.check("s.kernels[i]<<<1, 2>>>();", "1,2", "s.kernels[i]", "")
        self.check("s->get(3)<<<1, 2>>>();", "1,2", "s->get(3)", "")
        self.check("(*pointer)<<<1, 2>>>();", "1,2", "(*pointer)", "")

    def test_with_any_configuration(self):
        self.check("k<<<dim3(a >> 2, b), {1, 2}, sizeof(f<int>), s>>>(x);", "dim3(a>>2,b),{1,2},sizeof(f<int>),s", "k", "x")
        self.check("k<<<f<g<h<int>>>::value, 2>>>(x);", "f<g<h<int>>>::value,2", "k", "x")
        self.check("k<<<f<g<h<int>>>(3), 2>>>(x);", "f<g<h<int>>>(3),2", "k", "x")
        self.check("k<<<n < 3 ? 1 : 2, 4>>>(x);", "n<3?1:2,4", "k", "x")
        self.check("k<<<(n >>> 1), 4>>>(x);", "(n>>>1),4", "k", "x")
        self.check("k<<<a << 1, b >> 1>>>(x);", "a<<1,b>>1", "k", "x")

    def test_with_any_argument(self):
        self.check('k<<<1, 2>>>(x << 3, "<<<", f<int>(y), {1, 2});', "1,2", "k", 'x<<3,"<<<",f<int>(y),{1,2}')
        self.check("k<<<1, 2>>>([=](int i) { return i >> 1; });", "1,2", "k", "[=](int i){return i>>1;}")
        self.check("k<<<1, 2>>>(NULL, x, __null);", "1,2", "k", "nullptr,x,nullptr")

    def test_across_lines_and_comments(self):
        self.check("k /* <<< */ <<< 1, // >>>(\n 2 >>>\n (x);", "/*<<<*/ 1, // >>>(\n 2", "k", "x")
        self.assertEqual(rewrite("k<T,\n1>\n<<<1,\n2>>>(\nx);\n").count("\n"), 5)

    def test_several(self):
        self.assertEqual(rewrite("a<<<1, 2>>>(); b<<<3, 4>>>();").count("warden::check::launch"), 2)

    def test_what_is_none(self):
        for source in ('f("k<<<1, 2>>>(x)");', "// k<<<1, 2>>>(x)\n", 'R"x(k<<<1, 2>>>(")x" "x)x"', "a << b << c;", "f<g<h<int>>>(x);",
                       "std::ostream& operator<< <int>(std::ostream&, int);", "a << '\"' << \"<<<\";", "f<g<h<int>>> x;",
                       "#pragma k<<<1, 2>>>(x)\n"):
            self.assertEqual(rewrite(source), source)

    def test_of_the_runtime_lose_their_casts(self):
        for cast in ("(void*)k", "(const void*)k", "reinterpret_cast<void*>(k)", "(void const*)k"):
            self.assertIn(squeezed(rewrite(f"cudaLaunchKernel({cast}, 1, 2);")),
                          ("cudaLaunchKernel(k,1,2);", "cudaLaunchKernel((k),1,2);"))
        self.assertEqual(rewrite("cudaLaunchKernel((f)(x), 1);"), "cudaLaunchKernel((f)(x), 1);")


class SharedVariables(unittest.TestCase):
    def names(self, source):
        """Struct members, and the names that are declared."""
        text = rewrite(source)
        struct = text.partition("struct warden_shared_1 {")[2].partition("};")[0]
        return squeezed(struct), [part.partition(" = ")[0] for part in text.split("auto& ")[1:]]

    def test_of_any_type(self):
        for source, members, names in (
                ("__shared__ int a;", "inta;", ["a"]),
                ("__shared__ float a[N][N + 1], b, c[2];", "floata[N][N+1],b,c[2];", ["a", "b", "c"]),
                ("static __shared__ unsigned long long a;", "unsignedlonglonga;", ["a"]),
                ("int volatile __shared__ a;", "intvolatilea;", ["a"]),
                ("__shared__ std::pair<int, f<int>> a[f<1, 2>::value], *b;", "std::pair<int,f<int>>a[f<1,2>::value],*b;", ["a", "b"]),
                ("__shared__ __attribute__((aligned(16))) float a[4];", "__attribute__((aligned(16)))floata[4];", ["a"]),
                ("__shared__ alignas(16) char a[sizeof(T)] __attribute__((unused));",
                 "alignas(16)chara[sizeof(T)]__attribute__((unused));", ["a"]),
                ("__shared__ struct { int x, y; } a, b;", "struct{intx,y;}a,b;", ["a", "b"]),
                ("__shared__ typename R::template S<T>::storage a;", "typenameR::templateS<T>::storagea;", ["a"]),
                ("__shared__ decltype(f(1)) a;", "decltype(f(1))a;", ["a"])):
            self.assertEqual(self.names(f"void f() {{ {source} }}"), (members, names), source)

    def test_dynamic(self):
        members, names = self.names("void f() { extern __shared__ T a[]; }")
        self.assertEqual((members, names), ("charwarden_first;Ta[];", ["a"]))
        for scope in ("", "namespace n {", 'extern "C" {', "namespace {"):
            text = rewrite(f"{scope}\nextern __shared__ int a[];")
            self.assertIn("inline constexpr ::warden::check::dynamic_shared<decltype(warden_shared_1::a)> a{};", text)

    def test_keeps_lines(self):
        source = "void f() {\n __shared__ int\n a,\n b;\n g();\n}"
        text = rewrite(source)
        self.assertEqual(text.splitlines()[4].strip(), "g();")
        self.assertEqual(text.count("\n"), source.count("\n"))

    def test_in_blocks_of_functions(self):
        for head in ("void f() {", "struct s { void f() const {", "template <class T> struct s { void f() { if (x) {",
                     "namespace n { auto f = [](int) {", "void f() { for (int i = 0; i < 1; ++i) {", "void f() { do {",
                     "void f() noexcept -> int {", "void f() { struct { int x; } y;"):
            self.assertIn("auto& a = ", rewrite(f"{head} __shared__ int a; "), head)


class Refusals(unittest.TestCase):
    def check(self, source, what, line=1):
        with self.assertRaises(Refusal) as caught:
            rewrite(source, "f.cu")
        self.assertEqual(str(caught.exception), f"f.cu:{line}: {what}")

    def test_each(self):
        self.check("\nasm volatile(\"membar.gl;\" ::: \"memory\");", "inline assembly; use CUDA's functions instead", 2)
        self.check("k<<<1, 2>>>;", "a launch without '>>>(', or '<<<' that is none")
        self.check("(1 + 2) + <<<1, 2>>>();", "a launch of something that is no kernel's name")
        self.check("x > <<<1, 2>>>();", "template arguments of a launch that never begin")
        self.check("k<<<1, 2>>>(x;", "'(' is never closed")
        self.check("int f();\n__shared__ int a;", "a shared variable outside of functions; declare it in the kernel", 2)
        self.check("struct s { static __shared__ int a; };", "a shared variable outside of functions; declare it in the kernel")
        self.check("void f() { __shared__ int a = 1; }", "a shared variable with an initializer; assign to it in the kernel")
        self.check("void f() { __shared__ int (*a)[2]; }",
                   "a shared variable whose declarator has parentheses; name its type by 'using'")
        self.check("void f() { __shared__ ; }", "__shared__ that declares no variable")
        self.check("void f() { __shared__", "__shared__ that declares no variable")

    def test_assembly_without_instructions_is_none(self):
        source = 'asm volatile("" ::: "memory");'
        self.assertEqual(rewrite(source), source)


class Tokens(unittest.TestCase):
    def test_add_up_to_the_source(self):
        for source in ('u8R"x(a)"b)x" L"\\"" 1\'000.5e-3f .5 0x1p+3 \'\\\'\' a->b::c // x \\\n y\n/* a\n*/ #\n # pragma x \\\n y\nä',
                       '"unclosed\nnext', "/* unclosed", 'R"(unclosed', "'"):
            self.assertEqual("".join(t.text for t in tokens(source)), source)

    def test_know_file_and_line(self):
        source = '# 1 "a.cu"\nx\n# 7 "b.h" 1\ny /*\n*/ z\n# 1 "/usr/s.h" 1 3\nk<<<1>>>(2);\n# 3 "a.cu" 2\nw\n'
        found = {t.text: (t.file, t.line) for t in tokens(source) if t.kind == "word"}
        self.assertEqual(found, {"x": ("a.cu", 1), "y": ("b.h", 7), "z": ("b.h", 8), "w": ("a.cu", 3)})
        self.assertEqual(rewrite(source), source)


if __name__ == "__main__":
    unittest.main()
