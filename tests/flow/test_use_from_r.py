"""The page on R: its blocks run where R and its packages are found; the files that it names are there anyway."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

PAGE = (Path(__file__).parents[2] / "docs/how-to/use-from-r.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```r\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]
[privacy]
epsilon = 1.0
[release]
kind = "histogram"
"""


@pytest.fixture
def folder(dpress, tmp_path):
    """A folder with a specification, rows, and a release of them."""
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("age\n" + "30\n" * 50, encoding="utf-8")
    assert dpress("publish", "spec.toml", "--data", "rows.csv", "--out", "release").code == 0
    return tmp_path


def test_what_the_page_names_is_there(folder, dpress):
    release = json.loads((folder / "release/release.json").read_text(encoding="utf-8"))
    assert release["claim"]["proven"]["epsilon"] == 1
    assert {"count", "low", "high", "standard_error"} <= set(
        pq.read_table(folder / "release/table_1.parquet").column_names
    )
    assert dpress("query", "release", "age in 20..39", "--json").json
    assert dpress("plan", "spec.toml", "--json").json["chosen"]


def test_its_blocks_run_in_r(folder):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("needs R")
    needed = [program, "-e", "quit(status = !all(c('arrow', 'jsonlite') %in% rownames(installed.packages())))"]
    if subprocess.run(needed, check=False).returncode:
        pytest.skip("needs the packages arrow and jsonlite of R")
    first, query, publish = BLOCKS
    (folder / "blocks.R").write_text(
        f"{first}\n{query}\nunlink('release', recursive = TRUE)\n{publish}", encoding="utf-8"
    )
    assert subprocess.run([program, "blocks.R"], cwd=folder, check=False).returncode == 0
