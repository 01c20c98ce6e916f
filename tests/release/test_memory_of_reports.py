"""What reports take in memory: 9 bytes each while their ids are compared, up to a bound; nothing a report after."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.release.people import AGE, spec

from dpress.core.basics import rng
from dpress.core.reports.wire import ID_BYTES
from dpress.data.reports.report_batch import Batch
from dpress.data.reports.report_writer import write
from dpress.query.designs import collection_of, expected, save_design
from dpress.release.plan.plan import design_of

FILE, FEW, MANY = 1_000_000, 4, 20
RUNS = 2
"""Of each the lowest peak: a run beside much other work was 90 MiB higher, none is lower than what it holds."""
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}
"""The allocator keeps up to 64 MiB for a thread that ends late, by chance, for up to 8 threads a core: of no report."""
PROGRAM = """
import sys
import pyarrow.parquet as pq
from dpress import estimate, load_design
from dpress.data.reports import repeated_ids
design, folder, most = sys.argv[1:]
if most == "0":
    held = pq.read_table(folder)
else:
    repeated_ids.repeated.__kwdefaults__["most"] = int(most)
    estimate(load_design(design), folder)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this program alone
print(int(peak.split()[1]) * 1024)
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A design, a folder of few files of reports, and one of many."""
    place, design, source = tmp_path_factory.mktemp("reports"), design_of(spec(AGE, method="krr")), rng.seeded(8)
    save_design(design, place / "design.json")
    own = expected(design, collection_of(design))
    for name, files in (("few", FEW), ("many", MANY)):
        (place / name).mkdir()
        for number in range(files):
            payloads = (np.arange(FILE) % 10).astype(np.uint8)[:, None]
            ids = source.words(2 * FILE).view(np.dtype((np.void, ID_BYTES)))
            batches = iter([(Batch(report_type=0, payloads=payloads), ids)])
            write(place / name / f"{number:02}.parquet", batches, expected=own, private=False)
    return place


def bytes_a_report(place, most: int) -> float:
    """Return by how many bytes the peak of memory grows for every report more."""
    few, many = (min(peak(place, name, most) for _ in range(RUNS)) for name in ("few", "many"))
    return (many - few) / (FILE * (MANY - FEW))


def peak(place, name: str, most: int) -> int:
    """Return the peak of one run, in bytes."""
    words = [sys.executable, "-c", PROGRAM, str(place / "design.json"), str(place / name), str(most)]
    done = subprocess.run(words, env=os.environ | ONE_ARENA, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("most", "least", "largest"), [(100_000_000, 5, 14), (1_000_000, -4, 4), (0, 20, 1000)])
def test_bytes_a_report(folders, most, least, largest):
    """All ids at a time, a million at a time, and the control: a table that is read whole.

    Limits are 45 MiB off: what libraries keep for later differs by that from run to run.
    """
    assert least < bytes_a_report(folders, most) < largest
