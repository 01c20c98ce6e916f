"""The page of benchmarks from the JSON of their runs: every figure that was measured, and what was not run.

python bench/page.py out > docs/explanations/benchmarks.md
"""

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MOST_ROWS = 5
ABOUT = """\
# Benchmarks

<!-- written by bench/page.py -->

Figures of the runs that there are, as their scripts in `bench/` wrote them; `make bench` runs all and writes this \
page anew. Where a peer stands beside dpress, both ran on the same machine in the same run, at equal privacy where \
errors are compared. Nothing is left out because it is slower or worse; ratios that favour a peer stand as they are. \
A long list shows its first rows; the JSON has the others.
"""

Rows = list[dict[str, Any]]


def listed() -> list[tuple[str, str]]:
    """Return the script and the result's file name of every run of `make bench`."""
    text = (HERE.parent / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"bench/(\w+)\.py[^>\n]*> out/(bench-[\w-]+\.json)", text)


def summary(script: str) -> str:
    """Return the first line of a script's docstring."""
    tree = ast.parse((HERE / f"{script}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").splitlines()[0]


def cell(value: Any) -> str:
    """Return a figure to three digits, or a word."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(cell(one) for one in value) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose nested objects are columns of their own."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        out |= {f"{key}: {name}": one for name, one in flat(value).items()} if isinstance(value, dict) else {key: value}
    return out


def table(rows: Rows) -> str:
    """Return rows as Markdown."""
    own = [flat(row) for row in rows]
    columns = list(dict.fromkeys(key for row in own for key in row))
    lines = ["| " + " | ".join(column.replace("_", " ") for column in columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in columns) + " |" for row in own[:MOST_ROWS]]
    more = len(own) - MOST_ROWS
    return "\n".join(lines) + (f"\n\n{more} more rows are in the JSON." if more > 0 else "") + "\n"


def parts(figures: dict[str, Any], title: str = "") -> list[str]:
    """Return the tables of a result: lists of objects, objects of objects, and single figures."""
    out, single = [], {}
    for key, value in figures.items():
        name = f"{title}, {key}" if title else key
        if isinstance(value, list) and value and isinstance(value[0], dict):
            out.append(f"*{name}*\n\n{table(value)}")
        elif isinstance(value, dict) and value and all(isinstance(one, dict) for one in value.values()):
            out.append(f"*{name}*\n\n{table([{'of': one, **row} for one, row in value.items()])}")
        elif isinstance(value, dict):
            out += parts(value, name)
        else:
            single[key] = value
    return ([(f"*{title}*\n\n" if title else "") + table([single])] if single else []) + out


def machine(facts: dict[str, Any]) -> str:
    """Return where and with what a run was made, in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items() if number)
    return (
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f} (where it is above the cores, "
        f"wall seconds are too long); Python {facts['python']}; {versions}."
    )


def page(folder: Path) -> str:
    """Return the whole page from the results in a folder."""
    out, absent = [ABOUT], []
    for script, result in listed():
        path = folder / result
        if not path.is_file() or not path.stat().st_size:
            absent.append(f"`bench/{script}.py`")
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        told = machine(found.pop("machine"))
        out += [
            f"## {script.replace('_', ' ')}\n",
            f"{summary(script)} `bench/{script}.py`\n",
            *parts(found),
            f"{told}\n",
        ]
    if absent:
        out += ["## Not run\n", f"{', '.join(absent)}. The first line of each says what it measures.\n"]
    return "\n".join(out)


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
