#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which file may include which header, by the tables of docs/layout.md, where the device is named, and how long
sources are.

    check_floors.py [ROOT]      prints file:line: message; exit code 1 if there is any

A public header, at the top of include/warden, counts as all folders that it needs. templates/*/before.cu and the
sources of tests/check are programs of users, which name CUDA. The former include nothing of Warden, the latter its
public headers alone. A user's source that includes warden/cuda_names.cuh has the names that this header gives on
both devices; the library itself does not include it.
"""
import graphlib
import pathlib
import re
import sys

PAGE = "docs/layout.md"
SOURCES = {".cu", ".cuh", ".hpp", ".cpp"}
TREES = ("include", "runtime", "microbench", "apps", "templates", "tests")
SCRIPTS = {".py", ".sh", ".cmake"}
LINES = 400
# Sources with a limit of their own: the driver is one file.
MORE_LINES = {"warden": 460}
README_LINES = 10
# Longer ones, with examples.
LONG_README = re.compile(r"apps/[^/]+")
NAMES = "warden/cuda_names.cuh"
PLATFORM = ("include/warden/simt/", "runtime/")
DEVICE = re.compile(
    r"__CUDACC__|WARDEN_GPU|__CUDA_ARCH__|WARDEN_SIMULATED|\basm\b|__(?:shfl|ballot|any|all|match|reduce)_\w+|"
    r"__activemask|__sync(?:threads|warp)\w*|__threadfence\w*|__nanosleep|\batomic[A-Z]\w*\(|"
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|\b(?:cub|thrust)(?:::|/)|__global__|<<<")
# Names among these that warden/cuda_names.cuh gives.
NAMED = re.compile(
    r"__(?:shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all|match_any|match_all)_sync\b|"
    r"__reduce_(?:add|min|max|and|or|xor)_sync\b|__activemask|__syncwarp\b|"
    r"__syncthreads(?:_or|_and|_count)?\b|__threadfence(?:_block|_system)?\b|__nanosleep|"
    r"\batomic(?:Add|Sub|Exch|CAS|Min|Max|Inc|Dec|And|Or|Xor)(?:_block|_system)?\(|"
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b|__global__")
# Names among these of CUB's device algorithms.
ALGORITHMS = re.compile(r"\b(?:cub|thrust)(?:::|/)")
ALGORITHM_FOLDER = re.compile(r"(?:apps|microbench)/[^/]+/cub/")
PLAIN_CUDA = re.compile(r"templates/[^/]+/before\.cu|tests/check/.+\.cuh?")
COMMENT = re.compile(r"//.*$")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]warden/([^>"]+)')
SECTION = re.compile(r"^## (\w+)$", re.M)
CODE = re.compile(r"`([^`]+)`")


def folder_of(header):
    return header.rpartition("/")[0]


class Layout:
    """The tables of docs/layout.md."""

    def __init__(self, page):
        tables = dict(zip(*[iter(SECTION.split(page)[1:])] * 2))
        rows = {name: [[CODE.findall(cell) for cell in line.strip("|").split("|")] for line in text.splitlines()
                       if line.startswith("| `")] for name, text in tables.items()}
        self.may = {"simt": {"simt"}}
        for (folder,), *_, included in rows["Library"]:
            name = folder.strip("./")
            self.may.setdefault(name, {"simt", name}).update(f"detail/{f}" for f in included)
        self.programs = {folder: {f.strip("/") for f in included} for (folder,), included in rows["Programs"]}
        self.exceptions = {(file, header) for (file,), (header,), *_ in rows.get("Exceptions", [])}
        self.offering = {header for (header,), *_ in rows.get("Names", [])}

    def program(self, name):
        """The folders that a program may include, by the longest row that fits; nothing if there is no such row."""
        fitting = [folder for folder in self.programs if name.startswith(folder)]
        return self.programs[max(fitting, key=len)] if fitting else None


class Headers:
    """All headers of include/warden and what they include."""

    def __init__(self, root, layout):
        self.layout, self.includes, self.needed = layout, {}, {}
        for path in (root / "include/warden").rglob("*"):
            if path.suffix in SOURCES:
                name = path.relative_to(root / "include/warden").as_posix()
                self.includes[name] = [m[1] for line in path.read_text().splitlines() if (m := INCLUDE.match(line))]

    def folders(self, header):
        """The folder of a header; of a public one, those of all headers that it needs."""
        if folder := folder_of(header):
            return {folder}
        if header not in self.needed:
            self.needed[header] = set()
            self.needed[header] = set().union(*map(self.folders, self.includes.get(header, [])))
        return self.needed[header]

    def fault(self, header, target):
        """The error in an include of one header in another, or nothing."""
        mine = folder_of(header)
        if not mine:
            return None
        others = sorted(self.folders(target) - self.layout.may[mine])
        by = "" if folder_of(target) else f", which needs {', '.join(others)}"
        return f"{mine}/ may not include {target}{by}" if others else None


def program_fault(layout, name, target):
    """The error in an include of a header of the library in a program, or nothing."""
    may, folder = layout.program(name), folder_of(target)
    if may is None or not folder or folder.split("/")[0] in may:
        return None
    return f"may not include {target}, see {PAGE}"


def readmes(root):
    """The errors in README.md files of folders with sources."""
    for folder in sorted({p.parent for top in TREES for p in (root / top).rglob("*") if p.suffix in SOURCES}):
        name, readme = folder.relative_to(root).as_posix(), folder / "README.md"
        if not readme.exists():
            yield f"{name}:1: no README.md"
        elif (lines := readme.read_text().count("\n")) > README_LINES and not LONG_README.fullmatch(name):
            yield f"{name}/README.md:1: {lines} lines; the limit is {README_LINES}"


def long_files(root):
    """The errors in sources with too many lines."""
    paths = [p for top in (*TREES, "scripts") for p in (root / top).rglob("*") if p.suffix in SOURCES | SCRIPTS]
    for path in sorted(paths + [root / name for name in MORE_LINES if (root / name).exists()]):
        name = path.relative_to(root).as_posix()
        lines, limit = path.read_text().count("\n"), MORE_LINES.get(name, LINES)
        if lines > limit:
            yield f"{name}:1: {lines} lines; the limit is {limit}: split the file by idea"


def outside_detail(path):
    """True if a header of detail/ declares anything in a namespace other than warden::detail."""
    body = re.search(r"^WARDEN_(?:HOST_)?NAMESPACE_BEGIN\n(.*)^WARDEN_(?:HOST_)?NAMESPACE_END", path.read_text(),
                     re.S | re.M)
    return body is not None and not re.fullmatch(
        r"\s*namespace detail \{\n(?:(?!\}  // namespace detail\n).*\n)*\}  // namespace detail\n\s*", body[1])


def check(root):
    layout = Layout((root / PAGE).read_text())
    found, headers, used = [*readmes(root), *long_files(root)], Headers(root, layout), set()
    there = {folder_of(h) for h in headers.includes}
    found += [f"{PAGE}:1: no row for include/warden/{folder}/" for folder in sorted(there - set(layout.may))]
    if found:
        return found
    for path in sorted(p for top in TREES for p in (root / top).rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        header = name.removeprefix("include/warden/") if name.startswith("include/warden/") else None
        plain = PLAIN_CUDA.fullmatch(name)
        lines = path.read_text().splitlines()
        named = not header and any(line.startswith(f"#include <{NAMES}>") for line in lines)
        for number, line in enumerate(lines, 1):
            code = COMMENT.sub("", line)
            if ALGORITHM_FOLDER.match(name):
                code = ALGORITHMS.sub("", code)
            device = DEVICE.search(NAMED.sub("", code) if named else code)
            if device and not plain and not name.startswith(PLATFORM):
                found.append(f"{name}:{number}: {device.group()} outside the platform layer")
            included = INCLUDE.match(code)
            if not included:
                continue
            target = included[1]
            if plain:
                public = name.startswith("tests/check/") and not folder_of(target)
                fault = None if public else f"includes {target}, but it is plain CUDA"
            elif header and f"warden/{target}" == NAMES:
                fault = f"includes {target}, which is for users"
            else:
                fault = headers.fault(header, target) if header else program_fault(layout, name, target)
            if fault and (exception := (header or name, target)) in layout.exceptions:
                used.add(exception)
            elif fault:
                found.append(f"{name}:{number}: {fault}")
        if header and header.startswith("detail/"):
            if outside_detail(path) == layout.offering.isdisjoint({header, folder_of(header) + "/"}):
                found.append(f"{name}:1: declares names outside of warden::detail, or no longer; see {PAGE}, Names")
    try:
        graphlib.TopologicalSorter(headers.includes).prepare()
    except graphlib.CycleError as error:
        found.append(f"include/warden/{error.args[1][0]}:1: includes itself: {' <- '.join(error.args[1])}")
    found += [f"{PAGE}:1: the exception of {file} for {target} is not needed"
              for file, target in sorted(layout.exceptions - used)]
    return found


if __name__ == "__main__":
    violations = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(violations) or "all includes are as docs/layout.md says")
    sys.exit(1 if violations else 0)
