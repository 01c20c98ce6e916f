"""A damaged file of any format is read or refused in one line and in bounded memory: nothing ends the process."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import xlsxwriter

pytestmark = pytest.mark.slow
ROWS = pd.DataFrame({"AGE": [float(row % 90) for row in range(60)], "SEX": ["f", "m"] * 30})
ABORTED = -6
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30,) * 2)
from dpress.core.basics.claim import ROW
from dpress.core.basics.refusal import one_line
from dpress.data.sources import sound
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.table import Table

{fault}
for path in sys.argv[1:]:
    try:
        rows = sum(batch.num_rows for batch in Table(open_source(path, FileFormat()), ("AGE", "SEX"), ROW).batches())
        print("read", rows)
    except Exception as error:
        print("refused", one_line(error))
"""


def workbook(path, *, stray=False):
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("people")
        for line, cells in enumerate([list(ROWS), *ROWS.to_numpy().tolist()]):
            sheet.write_row(line, 0, cells)
        if stray:
            sheet.write(1_048_575, 16_383, 1)


def arrow(path):
    table = pa.Table.from_pandas(ROWS)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def compressed(path):
    with pa.CompressedOutputStream(str(path), "gzip") as out:
        pyarrow.csv.write_csv(pa.Table.from_pandas(ROWS), out)


def survey(name):
    def write(path):
        getattr(pytest.importorskip("pyreadstat"), f"write_{name}")(ROWS, str(path))

    return write


WRITERS = {
    "parquet": (lambda path: pq.write_table(pa.Table.from_pandas(ROWS), path), 40),
    "arrow": (arrow, 40),
    "csv": (lambda path: ROWS.to_csv(path, index=False), 40),
    "csv.gz": (compressed, 40),
    "xlsx": (workbook, 8),  # another process reads these first, and the head of `sav`
    "dta": (survey("dta"), 40),
    "sav": (survey("sav"), 8),
    "por": (survey("por"), 40),
    "xpt": (survey("xport"), 40),
}


def damaged(whole, seed):
    """Return the bytes of a file with some changed, left out at its end, or made the largest number."""
    draw, changed = np.random.default_rng(seed), bytearray(whole)  # noqa: TID251  # made-up damage
    if seed % 4 == 0:
        for _ in range((1, 2, 8)[seed % 3]):
            changed[draw.integers(len(changed))] = draw.integers(256)
    elif seed % 4 == 1:
        del changed[draw.integers(len(changed)) :]
    elif seed % 4 == 2:
        place = draw.integers(len(changed) - 4)
        changed[place : place + 4] = (b"\xff\xff\xff\x7f", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff")[seed // 4 % 4]
    else:
        changed[draw.integers(min(len(changed), 400))] = draw.integers(256)
    return bytes(changed)


def read(*paths, fault=""):
    program = READ.format(fault=fault)
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, paths)], capture_output=True, text=True, check=False
    )


def test_a_damaged_file_of_any_format_is_read_or_refused(tmp_path):
    paths = []
    for ending, (write, number) in WRITERS.items():
        whole = tmp_path / f"whole.{ending}"
        write(whole)
        paths.append(whole)
        for seed in range(number):
            paths.append(tmp_path / f"damaged_{seed}.{ending}")
            paths[-1].write_bytes(damaged(whole.read_bytes(), seed))
    done = read(*paths)
    lines = dict(zip((path.name for path in paths), done.stdout.splitlines(), strict=True))
    assert done.returncode == 0, done.stderr[-500:]
    assert {lines[f"whole.{ending}"] for ending in WRITERS} == {"read 60"}
    assert {name for name, line in lines.items() if line.startswith("refused internal error")} == set()
    for ending in WRITERS:
        assert any(line.startswith("refused") for name, line in lines.items() if name.endswith(f".{ending}"))


def test_a_stray_cell_is_refused_before_the_sheet_is_read(tmp_path):
    path = tmp_path / "stray.xlsx"
    workbook(path, stray=True)
    done = read(path)
    assert done.stdout.startswith(f"refused {path} holds more cells than memory does")
    assert done.returncode == 0
    planted = read(path, fault="sound.check = lambda *_, **__: None")
    assert planted.returncode == ABORTED
