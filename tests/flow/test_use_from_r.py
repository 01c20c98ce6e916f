"""The page on R: its blocks run where R and its packages are found; the files that it names are there anyway."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

PAGE = (Path(__file__).parents[2] / "docs/how-to/use-from-r.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```r\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SAYS = """
chosen <- counts$age_from >= 30 & counts$age_below <= 50
cat(answer$value, unlist(answer$interval), release$claim$proven$epsilon, sum(counts$count[chosen]))
"""
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
    done = dpress("publish", "spec.toml", "--data", "rows.csv", "--out", "release", "--bundle", "bundle.zip")
    assert done.code == 0
    return tmp_path


def test_what_the_page_names_is_there(folder, dpress):
    release = json.loads((folder / "release/release.json").read_text(encoding="utf-8"))
    assert release["claim"]["proven"]["epsilon"] == 1
    assert {"count", "low", "high", "standard_error"} <= set(pq.read_table(folder / "release/age.parquet").column_names)
    assert dpress("query", "release", "age in 20..39", "--json").json
    assert dpress("plan", "spec.toml", "--json").json["chosen"]


def test_its_blocks_run_in_r(folder):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("needs R")
    if not found_in_r(program, "jsonlite"):
        pytest.skip("needs the package jsonlite of R")
    promised, *others = BLOCKS
    if not found_in_r(program, "arrow"):
        promised = "".join(line for line in promised.splitlines(keepends=True) if "table" not in line)
    script = "\n".join([promised, *others, SAYS])
    (folder / "blocks.R").write_text(script, encoding="utf-8")
    command_line = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [program, "blocks.R"], cwd=folder, env=command_line, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    value, low, high, epsilon, of_the_table = map(float, done.stdout.split()[-5:])
    assert low <= value <= high
    assert epsilon == 1
    assert abs(of_the_table - 50) < 60  # fifty rows, noise of some 6: wrong once in 10^20 runs
    assert (folder / "next/release.json").exists()


def found_in_r(program, package):
    asked = [program, "-e", f"quit(status = !('{package}' %in% rownames(installed.packages())))"]
    return subprocess.run(asked, check=False).returncode == 0
