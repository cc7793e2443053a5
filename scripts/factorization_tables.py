# SPDX-License-Identifier: Apache-2.0
"""The tables of matrix factorization: how long each arm takes to come to the same error, and in how many epochs."""
import json
import pathlib

from arm_times import beside_in_words, inputs_of
from markdown_tables import origin, table
from result_names import amount, rate

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sequential():
    """What one thread comes to: it takes long, and has no part in how fast the arms are."""
    return json.loads((ROOT / "results/sequential_descent.json").read_text())


def sequential_words(inputs):
    known = sequential()
    parts = [f"{errors[-1]:.4f} for `{name}` in {len(errors)} epochs" for name, errors in known["errors"].items() if name in inputs]
    return f"- One thread comes to {' and '.join(parts)} (`{known['command']}`)." if parts else ""


def factorization_lines(data):
    """A line for each arm, input and rank."""
    lines = []
    for one in inputs_of(data):
        for arm, row in one.rows.items():
            epochs = round(row["epochs"])
            lines.append([f"`{one.name}`", str(one.vertices), f"`{arm}`", amount(row["real_time"]), str(epochs),
                          amount(row["real_time"] / epochs), rate(row), f"{row['rmse']:.4f}",
                          amount(row["preparing_seconds"]) if "preparing_seconds" in row else "-"])
    return lines


def factorization_markdown(data):
    header = ["ratings", "rank", "arm", "ms to the error", "epochs", "ms an epoch", "G ratings/s", "error", "s before the first"]
    words = []
    for one in inputs_of(data):
        text = f"- `{one.name}`, rank {one.vertices}: `{min(one.rows, key=one.times().get)}` is fastest."
        if (beside := one.beside_warden({})) and beside[1]:
            text += f" Beside `{beside[0]}`, Warden's fastest arm: {beside_in_words({name: amount(ratio) for name, ratio in beside[1].items()})}"
        words.append(text)
    words.append(sequential_words({one.name for one in inputs_of(data)}))
    return f"On {origin(data)}, verified:\n\n{table(header, factorization_lines(data))}\n\n" + "\n".join(words)


def self_test():
    # What the benchmark wants of all arms.
    program = (ROOT / "microbench/matrix_factorization/main.cu").read_text()
    for name, errors in sequential()["errors"].items():
        assert f'planted_named("{name}"), {len(errors)}, {1.01 * errors[-1]:.4f}}}' in program, name

    def row(arm, time, epochs, **counters):
        return {"name": f"matrix_factorization/descend/netflix/{arm}/keys:128", "items_per_second": 4e9, "real_time": time, "time_unit": "ms",
                "epochs": float(epochs), "rmse": 0.48, **counters}

    context = {"device": "GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no"}
    rows = [row("hogwild", 90.0, 3, preparing_seconds=4.0), row("warden_rounds_on_chip", 60.0, 3, preparing_seconds=5.5),
            row("sequential", 6e5, 10)]
    lines = factorization_markdown({"context": context, "benchmarks": rows}).splitlines()
    assert lines[4] == "| `netflix` | 128 | `warden_rounds_on_chip` | 60.0 | 3 | 20.0 | 4.00 | 0.4800 | 5.50 |", lines[4]
    assert lines[5] == "| `netflix` | 128 | `hogwild` | 90.0 | 3 | 30.0 | 4.00 | 0.4800 | 4.00 |", lines[5]
    assert lines[6].endswith("| 0.4800 | - |"), lines[6]
    assert lines[-1].startswith("- One thread comes to 0.4662 for `netflix` in 10 epochs (`matrix_factorization_bench "), lines[-1]
    assert lines[-2] == ("- `netflix`, rank 128: `warden_rounds_on_chip` is fastest. Beside `warden_rounds_on_chip`, Warden's fastest arm: "
                         "`hogwild` takes 1.50 times as long, `sequential` 10000."), lines[-2]
