"""How much memory a release takes is computed from its plan, and one that takes more than is free is not paid for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW
from tests.release.large_releases import KINDS, rows

from dpress import catalog
from dpress.core.basics import free_memory
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.reports.pieces import THREADS
from dpress.data.sources.source import BATCH_ROWS
from dpress.data.specification.spec import load_spec
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.linear.matrix_mechanism import COPIES
from dpress.mechanisms.microdata.record_maker import COPIES as RECORD_COPIES
from dpress.mechanisms.selection.above_threshold import PER_NAME
from dpress.query.designs import mechanism_of
from dpress.query.published_tables import BATCH_CELLS
from dpress.release.curator.memory_needed import (
    LABELS,
    PER_LABEL,
    PER_LINE,
    PER_PERSON_ROW,
    PER_VALUE,
    START,
    bytes_needed,
)
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan

OF_DEVICES = {"sets", "strings"}  # kinds of which no table is published
HANGS = 1200  # seconds after which a program is taken to hang, on a machine however loaded
FACTOR = 4  # between the bound and what a release takes, at most, where it takes more than what all take
PERSON = {"epsilon": 1, "unit": "uid", "rows_per_unit": 2}
PROGRAM = """
import json, re, sys
import dpress
from dpress.query.designs import mechanism_of
from dpress.release.curator.memory_needed import bytes_needed
from dpress.release.source_rows import rows_of
from pathlib import Path

def memory(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

folder, count, data = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
design = dpress.plan(json.loads(Path(folder, "spec.json").read_text())).design
joined = rows_of(design, data).source.rows_held()
bound = bytes_needed(design, mechanism_of(design), count or design.prediction.users, joined=joined)
Path("/proc/self/clear_refs").write_text("5")  # the peak is from here on
before = memory("VmRSS")
dpress.publish(design, data, out=f"{folder}/out")
print(json.dumps([bound, memory("VmHWM") - before]))
"""


def test_there_is_a_release_of_every_kind_that_a_curator_makes():
    assert {*KINDS} == {*catalog.kinds()} - OF_DEVICES


@pytest.fixture
def small(monkeypatch):
    """Let so many bytes be free at every look, one after the other."""

    def make(*bytes_free):
        looks = iter(bytes_free)
        monkeypatch.setattr(free_memory, "bytes_there", lambda: next(looks))

    return make


def refused(kind, folder):
    """Publish a small table that memory is refused for; return the message. Nothing is charged or written."""
    asked = plan(load_spec(KINDS[kind][0](100, folder)))
    unit = asked.chosen.mechanism.claim.unit
    ledger = Ledger.create(folder / "b.db", limit=ApproxDP(epsilon=3, delta=0.1), unit=unit)
    with pytest.raises(NotSupported) as caught:
        publish(asked, rows(kind, 100), out=folder / "out", ledger=ledger)
    assert ledger.summary().entries == ()
    assert not (folder / "out").exists()
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_takes_more_than_is_free_is_refused_before_anything_is_read_or_charged(tmp_path, small, kind):
    small(10**6)
    line = refused(kind, tmp_path)
    assert re.fullmatch(r".* takes about \d+ MB of memory, and 1 MB are free; .* \(nothing was read or charged\)", line)
    assert catalog.kinds()[kind].smaller in line
    assert "\n" not in line


def test_names_that_do_not_fit_are_refused_once_they_are_counted_by_a_figure_that_does_not_count_them(tmp_path, small):
    small(10**12, 0)
    line = refused("names", tmp_path)
    assert line.startswith("what is made of the names in the rows takes about 0 MB of memory, and 0 MB are free")
    assert line.endswith("(nothing was charged)")


def test_what_fits_is_published_and_so_is_everything_where_the_system_does_not_say(tmp_path, small):
    small(10**12, None)
    asked = load_spec(KINDS["tables"][0](100, tmp_path))
    for _ in range(2):
        assert publish(asked, rows("tables", 100)).kept.size == 100


def test_more_cells_records_rows_of_persons_and_copies_take_more():
    def needed(kind, size, count, **options):
        design = plan(load_spec(KINDS[kind][0](size, None))).design
        if options.pop("person", False):
            design = plan(load_spec(KINDS[kind][0](size, None) | {"privacy": PERSON})).design
        return bytes_needed(design, mechanism_of(design), count, **options)

    assert needed("tables", 10**5, 10**6) < needed("tables", 10**6, 10**6) < needed("tables", 10**6, 10**6, csv=True)
    assert needed("microdata", 1000, 10**5) < needed("microdata", 1000, 10**6)
    assert needed("tables", 100, 10**6) < needed("tables", 100, 10**6, person=True)


def test_the_reference_states_the_figures_that_are_computed_with():
    page = Path(__file__).parents[2].joinpath("docs", "reference", "memory-and-time.md").read_text()
    answers = 8 * COPIES
    stated = [f"{START:,}", f"| {answers} |", f"| {2 * answers} |", f"| {8 * RECORD_COPIES} |", f"| {PER_VALUE} |"]
    stated += [f"| {PER_PERSON_ROW} |", f"| {PER_NAME}, ", f"{BATCH_CELLS:,}", f"{THREADS * BATCH_ROWS:,}"]
    stated += [f"| {PER_LINE}, and {PER_LABEL} for each of up to {LABELS} "]
    assert [figure for figure in stated if figure not in page] == []


def test_the_limit_of_a_control_group_and_of_an_address_space_count(tmp_path):
    group = tmp_path / "memory" / "outer" / "inner"
    group.mkdir(parents=True)
    for folder, limit in ((group, 1 << 62), (group.parent, 5000)):
        (folder / "memory.limit_in_bytes").write_text(str(limit))
        (folder / "memory.usage_in_bytes").write_text("4500")
        (folder / "memory.stat").write_text("cache 1000\ntotal_inactive_file 300\n")
    names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    assert [*free_memory._left(tmp_path / "memory", "/outer/inner", *names)] == [800]
    program = "from dpress.core.basics.free_memory import bytes_there; print(bytes_there())"
    limit = f"ulimit -v 1000000; exec {sys.executable} -c '{program}'"
    done = subprocess.run(["sh", "-c", limit], capture_output=True, text=True, check=True, timeout=HANGS)
    assert 0 < int(done.stdout) < 1_024_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_above_the_peak_and_not_far_above_it(tmp_path, kind):
    make, size = KINDS[kind]
    (tmp_path / "spec.json").write_text(json.dumps(make(size, tmp_path)))
    table = rows(kind, size)
    pq.write_table(table, tmp_path / "rows.parquet")
    bound, peak = measured(tmp_path, len(table), str(tmp_path / "rows.parquet"))
    assert peak <= bound <= FACTOR * max(peak, START)


def measured(folder, count, data):
    """Return the bound of a release, and its peak; see `PROGRAM`."""
    words = [sys.executable, "-c", PROGRAM, str(folder), str(count), json.dumps(data)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=HANGS)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")
def test_the_bound_of_two_tables_of_text_is_above_the_peak(tmp_path):
    keys = [f"household number {number:020d}" for number in range(300_000)]
    regions, roles = ["north", "south"] * 150_000, ["head", "other", "other"] * 300_000
    persons = {"hhid": [key for key in keys for _ in range(3)], "role": roles, "age": [40] * 900_000}
    tables = {"households": pa.table({"hhid": keys, "region": regions}), "persons": pa.table(persons)}
    files = {name: str(tmp_path / f"{name}.csv") for name in tables}
    for name, table in tables.items():
        pyarrow.csv.write_csv(table, files[name])
    above, below = {**ABOVE, "derived": {"eldest": "first age", "size": "count"}}, BELOW
    attributes = [each for each in ATTRIBUTES if each["name"] in ("region", "eldest", "size")]
    release = {"data": {"rows": "households"}, "release": {"kind": "marginals"}}
    spec = {"table": [above, below], "attribute": attributes, "privacy": {"unit": "hhid", "epsilon": 1.0}, **release}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    bound, peak = measured(tmp_path, 0, files)
    assert START < peak <= bound <= FACTOR * peak
