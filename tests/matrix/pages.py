"""What must hold of pages and bundles: they are written, hold values as text alone, and say the tables' numbers."""

import base64
import csv
import html.parser
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tests.matrix.runs import Run, command, in_process_of_its_own

import dpress
from dpress.reporting.bundle import write_bundle
from dpress.reporting.page import write_report
from dpress.reporting.registry import write_registry

MARKUP = ("<script>alert", "<b>title")


def refuse(name: str) -> None:
    """Refuse what is no number of JSON."""
    raise ValueError(f"{name} is no JSON")


class _Data(html.parser.HTMLParser):
    """Finds the data of a page, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.data, self.scripts = False, "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "script" and ("id", "data") in attrs
        self.scripts += tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.data += data


def pages_agree(run: Run) -> Iterator[str]:
    """The page is written, holds values as text alone, and the numbers of its data are those of the tables."""
    if run.case["read"] not in ("page", "command"):
        return
    path = run.folder / "report.html"
    if run.case["column"] == "nul":  # a byte of zero may end the process
        if wrong := in_process_of_its_own("report", str(run.out), "--out", str(path)):
            yield wrong
            return
    elif run.case["read"] == "command" or isinstance(run.loaded, dpress.Series):
        command("report", str(run.out), "--out", str(path))
    else:
        write_report(run.loaded, path)
        write_registry(run.loaded, run.folder / "registry.yaml")
    yield from _page(run, path.read_text(encoding="utf-8"))


def _page(run: Run, text: str) -> Iterator[str]:
    yield from (f"the page holds {one!r} as markup" for one in MARKUP if one in text)
    found = _Data()
    found.feed(text)
    data = json.loads(found.data, parse_constant=refuse) if found.data.strip() else {}
    for own in data.get("tables", []) if isinstance(run.loaded, dpress.Release) else []:
        counts = unpacked(own["counts"])
        table = pq.read_table(run.out / own["file"])
        name = "count" if "count" in table.column_names else "value"
        if len(counts) == table.num_rows and not np.allclose(counts, table[name].to_numpy(), rtol=1e-9, atol=1e-6):
            yield f"the page's data have other counts than {own['file']}"


def unpacked(numbers: str | list[int]) -> Any:
    """Return numbers as a page's script reads them."""
    return np.frombuffer(base64.b64decode(numbers), "<f8") if isinstance(numbers, str) else np.array(numbers, float)


def bundles_agree(run: Run) -> Iterator[str]:
    """A bundle holds the folder's files, and every table as CSV with the same counts."""
    if run.case["read"] != "bundle" or run.case["column"] == "nul" or not isinstance(run.loaded, dpress.Release):
        return
    path = write_bundle(run.loaded, run.out, run.folder / "bundle.zip")
    with zipfile.ZipFile(path) as bundle:
        names = bundle.namelist()
        for name in run.loaded.files:
            if bundle.read(name) != (run.out / name).read_bytes():
                yield f"{name} is another file in the bundle"
            rows = list(csv.reader(io.StringIO(bundle.read(name.replace(".parquet", ".csv")).decode())))
            tiles = run.loaded.answers.sheets.get(name)
            wanted = pq.read_metadata(run.out / name).num_rows if tiles is None else tiles.tiles.partition.rows
            if len(rows) != wanted + 1:
                yield f"{name} has {len(rows) - 1} rows as CSV in the bundle"
        if not {"report.html", "design.json", "release.json"} <= set(names):
            yield f"the bundle has only {names}"
        yield from (f"{name}: {one!r} is markup" for one in MARKUP if one in bundle.read("report.html").decode())
