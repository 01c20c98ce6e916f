"""What dpress and peers answer of the statements in tests/release/statements, how wrong at equal budget, and how fast.

    python bench/sql.py write FOLDER                    # tables, statements, true answers; in dpress's environment
    python bench/sql.py dpress FOLDER                   # there, too
    peers/bin/python bench/sql.py smartnoise FOLDER     # in an environment with `smartnoise-sql`; so `qrlew`, `tumult`
    peers/bin/python bench/sql.py tumult FOLDER 2       # fewer runs than 5
    python bench/sql.py table FOLDER                    # what each accepts, ratios of errors, seconds, as JSON

Every statement is asked by itself under epsilon = 1 for a person with all rows, delta = 1e-6 where a peer needs one.
The error of a number is the mean absolute one over its groups, its figure the median of the runs; that of a peer is
divided by that of dpress. Peers get what the specification says: bounds, the cap on rows of a person, public groups.
"""

import importlib
import json
import statistics
import sys
import time
from decimal import Decimal
from pathlib import Path

SUBJECTS = ("lineitem", "people", "schools", "hospitals", "traffic")
PEERS = ("smartnoise", "qrlew", "tumult")
EPSILON, DELTA, RUNS = 1.0, 1e-6, 5
MISREAD = 100  # times the error of dpress: the answer is to another question, as where `filter` is ignored


def write(folder: Path) -> None:
    """Write the tables and a list of all statements with their true answers."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import pyarrow.parquet as pq
    import sqlglot
    from tests.release.statements import subjects

    from dpress.data.specification.spec import as_dict, load_spec

    folder.mkdir(parents=True, exist_ok=True)
    listed, numbers = [], (sqlglot.exp.AggFunc, sqlglot.exp.WithinGroup)
    for subject in SUBJECTS:
        rows, text = subjects.rows(subject), (subjects.HERE / f"{subject}.toml").read_text()
        spec = as_dict(load_spec(text, release={"kind": "queries"}))
        if (unit := spec["privacy"].get("unit", "row")) == "row":  # a row is a person of its own
            unit, rows = "person", rows.append_column("person", [list(range(rows.num_rows))])
        pq.write_table(rows, folder / f"{subject}.parquet")
        lines = (line for line in subjects.sql(subject).splitlines() if not line.startswith("--"))
        for number, statement in enumerate(filter(str.strip, "\n".join(lines).split(";")), 1):
            tree = sqlglot.parse_one(statement, read="duckdb")
            true = [{name: _plain(value) for name, value in row.items()} for row in subjects.truth(subject, statement)]
            listed.append({
                "subject": subject, "number": number, "sql": statement.strip(), "true": true, "unit": unit,
                "numbers": [each.alias for each in tree.expressions if each.find(*numbers)],
                "most": spec["privacy"].get("rows_per_unit", 1), "attributes": spec["attribute"], "spec": text,
            })  # fmt: skip
    (folder / "statements.json").write_text(json.dumps(listed, indent=1))


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, int | float | str | None) else str(value)[:10]


def run(tool: str, folder: Path, times: int) -> None:
    """Ask a tool for every statement, and write its errors and seconds, or what it says instead."""
    sys.path.insert(0, str(Path(__file__).parent))
    module = importlib.import_module(f"sql_{tool}")
    results = []
    for each in json.loads((folder / "statements.json").read_text()):
        result = {"subject": each["subject"], "number": each["number"]}
        try:
            began = time.perf_counter()
            answered = module.runs(each, folder / f"{each['subject']}.parquet", EPSILON, DELTA, times)
            result |= {"seconds": (time.perf_counter() - began) / times, "errors": errors(each, answered)}
        except BaseException as refused:  # noqa: BLE001  # what a peer says of a statement, or its panic, is its answer
            result["refused"] = " ".join(f"{type(refused).__name__}: {refused}".split())[:200]
        results.append(result)
        print(json.dumps(result), file=sys.stderr)
        (folder / f"{tool}.json").write_text(json.dumps(results, indent=1))


def errors(each: dict, answered: list[list[dict]]) -> dict[str, float]:
    """Return the error of every number, the median of the runs; a group that is missing is answered with 0."""
    return {name: statistics.median(_error(each, rows, name) for rows in answered) for name in each["numbers"]}


def _error(each: dict, rows: list[dict], name: str) -> float:
    """Return the mean absolute error of a number over the true groups."""
    keys = [key for key in each["true"][0] if key not in each["numbers"]]
    found = {tuple(_key(row[key]) for key in keys): row[name] for row in rows}
    answers = [(true[name], found.get(tuple(_key(true[key]) for key in keys))) for true in each["true"]]
    return statistics.fmean(abs(true - (0.0 if answer is None else float(answer))) for true, answer in answers)


def _key(value: object) -> str:
    return str(value)[:10].removesuffix(".0").lower()


def table(folder: Path) -> None:
    """Print what each tool accepts, its errors as multiples of those of dpress, and the median of its seconds."""
    sys.path.insert(0, str(Path(__file__).parent))
    from machine import facts

    tools = [tool for tool in ("dpress", *PEERS) if (folder / f"{tool}.json").is_file()]
    read = {tool: json.loads((folder / f"{tool}.json").read_text()) for tool in tools}
    figures = {tool: compared(results, read["dpress"]) for tool, results in read.items()}
    absent = {tool: {"answered": "not run"} for tool in PEERS if tool not in tools}
    print(json.dumps({"machine": facts(), "tools": figures | absent}, indent=1))


def compared(results: list[dict], of_dpress: list[dict]) -> dict[str, float | int]:
    """Return what a tool answers, and its errors as multiples of those of dpress."""
    answered = [pair for pair in zip(results, of_dpress, strict=False) if "errors" in pair[0]]
    figures: dict[str, float | int] = {"answered": len(answered), "statements": len(results)}
    errors = [
        (own["errors"][name], other["errors"][name])
        for own, other in answered
        if "errors" in other
        for name in own["errors"]
    ]
    ratios = [error / other for error, other in errors if error and other]  # a median of whole numbers may be exact
    if not ratios:
        return figures
    return figures | {
        "numbers": len(errors),
        "error / dpress's, median": statistics.median(ratios),
        "least": min(ratios),
        "largest": max(ratios),
        "misread": sum(ratio > MISREAD for ratio in ratios),
        "seconds, median": statistics.median(own["seconds"] for own, _ in answered),
    }


if __name__ == "__main__":
    word, place, times = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else RUNS
    {"write": write, "table": table}.get(word, lambda folder: run(word, folder, times))(place)
