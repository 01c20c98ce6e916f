"""Stores one small case of every kind and method in `stored`: a design, reports, a release, and what they answer.

specification -> design, reports (local), release -> answers.json. It only adds: a stored case is never written again.

    python tests/formats/make_formats.py            adds the cases that are not stored yet
    python tests/formats/make_formats.py NAME ...   adds these, and refuses one that is there
"""

import itertools
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

import dpress
from dpress.core.basics import rng
from dpress.data.example_people import pickups

sys.path.insert(0, str(Path(__file__).parents[2]))  # where it runs as a program

from tests.formats.stored_case import PLACE, QUERIES, USERS, Case  # found there
from tests.formats.stored_cases import CASES, visitors

STORED = Path(__file__).with_name("stored")
SEED = 7


def store(name: str, case: Case, into: Path) -> None:
    """Write one case into a folder; of a collection in rounds one case a round."""
    data = pickups(USERS) if PLACE["name"] in {one["name"] for one in case.attributes} else visitors()
    data = homes() if case.table else data
    plain = {"attribute": case.attributes, "privacy": case.privacy, "release": case.release}
    asked: Any = dpress.load_spec(
        {**plain, **{part: of for part in ("constraint", "table") if (of := getattr(case, part))}}
    )
    design = dpress.plan(asked).design
    for number in range(case.rounds):
        place = into / (name if case.rounds == 1 else f"{name}_{number}")
        place.mkdir()
        dpress.save_design(design, place / "design.json")
        folder, options = place / "release", {"allow_unproven": case.unproven}
        if design.local:
            dpress.perturb(design, data, out=place / "reports.parquet", rng=rng.seeded(SEED + number), **options)
            if case.spoiled:
                spoil(place / "reports.parquet")
            release = dpress.estimate(design, place / "reports.parquet", out=folder, **options)
        else:
            release = dpress.publish(design, data, out=folder, rng=rng.seeded(SEED), **options)
        (place / "answers.json").write_text(json.dumps(answers(release, case), indent=1) + "\n")
        if number + 1 < case.rounds:
            design = dpress.load_design(folder / "next.json")


def homes() -> dict[str, pa.Table]:
    """Return two tables that belong together: people, and the region of their homes."""
    rows = visitors()
    number = pa.array([place * place // 9 % 80 for place in range(USERS)])
    return {
        "homes": pa.table({"house": pa.array(range(80)), "region": rows["region"].slice(0, 80)}),
        "people": pa.table({"house": number, "sex": rows["sex"], "age": rows["age"]}),
    }


def spoil(path: Path) -> None:
    """Add reports that do not count: one for every reason."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    wrong = [
        {"version": 1}, {"ask": bytes(16)}, {"round": 4}, {"report_type": 1}, {"payload": b"\0\0"}, {"payload": None},
        {"payload": b"\x80"}, {"payload": b"\x1f"}, {},
    ]  # fmt: skip
    added = [{**rows[0], "id": bytes([place]) * 16, **own} for place, own in enumerate(wrong)]
    added[-1]["id"] = rows[0]["id"]
    spoiled = pa.Table.from_pylist([*rows, *added], schema=table.schema)
    pq.write_table(spoiled, path)


def answers(release: dpress.Release, case: Case) -> dict[str, Any]:
    """Return what a reader must find."""
    design = release.design
    found: dict[str, Any] = {
        "design_id": design.id,
        "claim": msgspec.to_builtins(design.claim),
        "exact": case.exact,
        "unproven": case.unproven,
        "kept": len(release.kept),
    }
    if design.local:
        found["users"] = release.users
        found["rejected"] = dict(release.rejected)
        found["tallies"] = [tally.tolist() for tally in release.mechanism.split_tally(release.kept)]
    by = case.release.get("parameters", {}).get("by", [one["name"] for one in case.attributes])
    own = [query_of(one) for one in case.attributes if one["name"] in by and one["name"] in release.schema.names]
    found["answers"] = [_answer(release, text) for text in (*own, *case.queries)]
    return found


def query_of(attribute: dict[str, Any]) -> str:
    """Return a query on an attribute; of one whose values are discovered, on the rest."""
    if attribute.get("values") == "discover":
        return f"{attribute['name']} = {attribute.get('other', 'other')}"
    return QUERIES["edges" if "edges" in attribute else attribute["name"]]


def _answer(release: dpress.Release, text: str) -> dict[str, Any]:
    own = release.query(text)
    figures = (own.value, own.standard_error, *own.interval)
    known = [figure if figure == figure else None for figure in figures]  # noqa: PLR0124  # NaN
    return {"query": text, "value": known[0], "standard_error": known[1], "interval": known[2:], "note": own.note}


def main(names: list[str]) -> int:
    """Store the named cases, or all that are not there."""
    there = {name: any(STORED.glob(f"{name}/*")) or any(STORED.glob(f"{name}_0/*")) for name in CASES}
    if taken := [name for name in names if there[name]]:
        sys.stderr.write(f"stored already, and never written again: {', '.join(taken)}\n")
        return 1
    for name in names or itertools.compress(there, [not known for known in there.values()]):
        with tempfile.TemporaryDirectory() as folder:
            store(name, CASES[name], Path(folder))
            shutil.copytree(folder, STORED, dirs_exist_ok=True)
        sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
