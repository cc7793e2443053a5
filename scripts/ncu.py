# SPDX-License-Identifier: Apache-2.0
"""What Nsight Compute's `ncu --csv` writes: launches, their metrics in base units, and complaints."""
import csv
import re

PREFIXES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BASE_UNITS = {"byte": 1, "sector": 1, "inst": 1, "": 1}


class Trouble(Exception):
    """Ends a script with one line and an exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def number(text):
    """A number as ncu prints it: 1,234,567.5."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise Trouble(1, f"ncu printed no number: {text}") from None


def in_base_units(value, unit):
    for prefix, factor in PREFIXES.items():
        if unit.removeprefix(prefix) in BASE_UNITS and unit.startswith(prefix):
            return value * factor
    raise Trouble(1, f"ncu printed a unit that is not known: {unit}")


def launches_in(output, wanted):
    """[(kernel's base name, {metric: sum})] of the wanted metrics, in the order of the launches; other lines may stand around ncu's."""
    lines = output.splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if header is None:
        return []
    launches = {}
    for row in csv.DictReader(lines[header:]):
        if row.get("Metric Name") not in wanted:
            continue
        _, metrics = launches.setdefault(int(row["ID"]), (base_name(row["Kernel Name"]), {}))
        metrics[row["Metric Name"]] = in_base_units(number(row["Metric Value"]), row["Metric Unit"])
    return [launches[i] for i in sorted(launches)]


def base_name(kernel):
    """Without return type, namespaces, template arguments and parameters."""
    depth, plain = 0, ""
    for character in kernel.replace("(anonymous namespace)::", ""):
        if character == "(" and depth == 0:
            break
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0 and character != ">":
            plain += character
    return re.split(r"::|\s", plain.strip())[-1]


def complaint_of(output):
    """What ncu's output says went wrong, as Trouble; None if nothing did."""
    if "ERR_NVGPUCTRPERM" in output:
        return Trouble(3, "ncu may not read the GPU's counters here (ERR_NVGPUCTRPERM): run as root, or allow it in the driver's settings")
    found = re.search(r"==ERROR== *(.+)", output)
    return Trouble(1, f"ncu: {found[1]}") if found else None


# ---- self-tests


# What ncu writes, shortened to what matters here.
HEADER = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
          '"Section Name","Metric Name","Metric Unit","Metric Value"')
# Kernels as ncu names them.
TUNED = ("void warden::v0_1_sm_900::baseline::lock_tuned_kernel<warden::baseline::lock_settings<(warden::baseline::lanes)2, 1>, "
         "warden::baseline::work<unsigned int, contention::push::make> >(warden::lock_as_written_arguments<T2>)")
CHECKS = "void contention::first_check<contention::push>(contention::push::check_arguments)"
FUSED = "void warden::fused_kernel<512u, 3u, (anonymous namespace)::delegate<push>, warden::guarded_ref<policy> >(warden::fused_arguments<T3>)"


def csv_lines(launch, kernel, values):
    return [f'"{launch}","7","contention","127.0.0.1","{kernel}","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0",'
            f'"Command line profiler metrics","{metric}","{unit}","{value}"' for metric, unit, value in values]


def written(*launches):
    """For self-tests: what ncu writes about launches, each (kernel, [(metric, unit, value)])."""
    lines = ["==PROF== Connected to process 7 (/x/contention)", '==PROF== Profiling "lock_tuned_kernel" - 0: 0%....100% - 1 pass',
             "==PROF== Disconnected from process 7", HEADER]
    for i, (kernel, values) in enumerate(launches):
        lines += csv_lines(i, kernel, values)
    return "\n".join(lines) + "\n"


def trouble_of(action, *arguments):
    """For self-tests: the code and the text of the action's Trouble; None if it has none."""
    try:
        action(*arguments)
    except Trouble as e:
        return e.code, str(e)
    return None


def self_test():
    for kernel, name in ((TUNED, "lock_tuned_kernel"), (CHECKS, "first_check"), (FUSED, "fused_kernel"), ("fused_kernel", "fused_kernel"),
                         ("void (anonymous namespace)::k(int)", "k"), ("void a<(b)2>::k(int)", "k"), ("draw_ids(bench::draw_arguments)", "draw_ids")):
        assert base_name(kernel) == name, (kernel, base_name(kernel))
    # Several launches of several kernels.
    output = written((TUNED, [("a", "byte", "1")]), (TUNED, [("a", "byte", "12,345,678"), ("b", "inst", "4,096")]), (CHECKS, [("a", "byte", "9")]))
    assert launches_in(output, {"a", "b"}) == [("lock_tuned_kernel", {"a": 1}), ("lock_tuned_kernel", {"a": 12345678, "b": 4096}),
                                               ("first_check", {"a": 9})], launches_in(output, {"a", "b"})
    # A number of launches of ten or more, whose ids sort differently as text.
    many = written(*[(FUSED, [("a", "byte", str(i))]) for i in range(11)])
    assert launches_in(many, {"a"})[-1] == ("fused_kernel", {"a": 10})
    # Units that ncu scales on its own, fractions, metrics of other sections, and lines between the rows.
    scaled = written((FUSED, [("gpu__time_duration.sum", "nsecond", "5"), ("a", "Mbyte", "1.5"), ("b", "Ksector", "2"), ("c", "", "1,000")]))
    scaled = scaled.replace('"0","7"', '==WARNING== Note that\n"0","7"', 1)
    assert launches_in(scaled, {"a", "b", "c"}) == [("fused_kernel", {"a": 1.5e6, "b": 2000, "c": 1000})]
    assert in_base_units(3, "Gbyte") == 3e9 and in_base_units(3, "byte") == 3
    assert trouble_of(in_base_units, 3, "%")[0] == 1 and trouble_of(in_base_units, 3, "Mega")[0] == 1
    # What is missing is said, not taken for zero.
    assert trouble_of(launches_in, written((FUSED, [("a", "byte", "n/a")])), {"a"}) == (1, "ncu printed no number: n/a")
    assert launches_in("==WARNING== No kernels were profiled.\n", {"a"}) == []
    # Complaints.
    refused = complaint_of("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.")
    assert refused.code == 3 and "\n" not in str(refused)
    assert complaint_of("==ERROR== Failed to find metric x\n").code == 1 and complaint_of(output) is None
