"""How much five common tasks take in dpress and in others: statements and calls, counted, and all of it run.

    python bench/five_tasks.py dpress                     # in the environment of dpress
    peers/bin/python bench/five_tasks.py opendp           # in an environment with the peer
    python bench/five_tasks.py --count                    # the sizes, without running anything

The tasks: the counts of a category; a mean within public bounds; both under one budget, which refuses a third; the
smallest epsilon at which a count has a standard error of 10; the counts explained to a reader. They are of the sort
that Ngong, Stenger, Near and Feng (SOUPS 2024) gave to 24 practitioners.
"""

import ast
import csv
import importlib
import json
import sys
import tempfile
from pathlib import Path

TASKS = ("histogram", "mean", "budget", "choose", "explain")
TOOLS = ("dpress", "opendp", "diffprivlib", "pipelinedp", "tumult")
HERE = Path(__file__).parent
LEVELS = ("Primary", "Secondary", "Vocational", "Bachelor", "Master")
ROWS = 20_000


def sizes(tool: str) -> dict[str, dict[str, int]]:
    """Return the statements and calls of every task, with those of the functions beside it that it uses."""
    tree = ast.parse((HERE / f"five_tasks_{tool}.py").read_text(encoding="utf-8"))
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    return {task: _size(task, functions) for task in TASKS}


def _size(name: str, functions: dict[str, ast.FunctionDef]) -> dict[str, int]:
    used, waiting = set(), [name]
    while waiting:
        used.add(own := waiting.pop())
        named = {
            node.func.id
            for node in ast.walk(functions[own])
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        waiting += sorted(named & functions.keys() - used)
    nodes = [node for one in used for line in functions[one].body for node in ast.walk(line)]
    statements = sum(isinstance(node, ast.stmt) for node in nodes)
    calls = sum(isinstance(node, ast.Call) for node in nodes)
    return {"statements": statements, "calls": calls}


def table(path: Path) -> None:
    """Write a table of made-up people."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["age", "education"])
        out.writerows([one * 7919 % 85, LEVELS[one * one % 11 % 5]] for one in range(ROWS))


def run(tool: str) -> dict[str, str]:
    """Run every task; return what each gives, as text. The third release under the budget must be refused."""
    module, found = importlib.import_module(f"five_tasks_{tool}"), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder / "people.csv")
        for task in TASKS:
            try:
                found[task] = str(getattr(module, task)(folder / "people.csv", folder))
            except Exception as refused:
                if task != "budget":
                    raise
                found[task] = f"refused: {type(refused).__name__}"
    if not found["budget"].startswith("refused"):
        raise AssertionError(f"{tool}: a third release under the budget was not refused")
    return found


def main() -> None:
    """Print the sizes of all tools, or what one of them gives."""
    sys.path.insert(0, str(HERE))
    if sys.argv[1] == "--count":
        print(json.dumps({tool: sizes(tool) for tool in TOOLS}, indent=1))
        return
    print(json.dumps({"sizes": sizes(sys.argv[1]), "given": run(sys.argv[1])}, indent=1))


if __name__ == "__main__":
    main()
