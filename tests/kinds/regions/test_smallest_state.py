"""Wyoming, the state of the fewest block groups, with made-up people: it adds up, and every county is near."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.core.basics import rng

PLACES = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / "us_spine" / "us_block_groups_2010.parquet"
LEVELS = ("state", "county", "tract", "block_group")
STATE = "56"
FAR = 6.0  # standard errors: normal noise of one answer is beyond in two of 10^9
PEOPLE = 1 / 8  # of the population

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PLACES.is_file(), reason="the reference data are not here")]


@pytest.fixture(scope="module")
def state() -> pa.Table:
    table = pq.read_table(PLACES)
    return table.filter(pc.equal(table["state"], STATE))


def people(state: pa.Table) -> pa.Table:
    """Return made-up people, an eighth of each block group's."""
    counts = np.ceil(state["population"].to_numpy() * PEOPLE).astype(int)
    women = (rng.seeded(3).words(int(counts.sum())) % np.uint64(2)).astype(int)
    places = pa.array(np.repeat(np.arange(len(counts)), counts))
    return pa.table({"block_group": state["block_group"].take(places), "sex": pa.array(["f", "m"]).take(women)})


def test_a_state_adds_up_and_every_county_is_near(state: pa.Table, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(state, "places.parquet")
    place = {"name": "place", "kind": "hierarchy", "column": "block_group", "levels": LEVELS, "file": "places.parquet"}
    sex = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
    release = {"kind": "regions", "parameters": {"tables": [["sex"]], "records": True}}
    spec = dpress.load_spec({"attribute": [place, sex], "privacy": {"rho": 0.5}, "release": release})
    rows = people(state)
    published = dpress.publish(spec, rows, out=tmp_path / "out", rng=rng.seeded(4))

    tables = [pq.read_table(tmp_path / "out" / f"{level}.parquet", columns=["count", "adjusted"]) for level in LEVELS]
    sums = [tuple(pc.sum(table[name]).as_py() for name in ("count", "adjusted")) for table in tables]
    assert all(count == pytest.approx(sums[0][0], abs=1e-6) for count, _ in sums)
    assert all(whole == sums[0][1] for _, whole in sums)
    assert all(pc.min(table["adjusted"]).as_py() >= 0 for table in tables)
    assert pq.read_metadata(tmp_path / "out" / "records.parquet").num_rows == sums[0][1]

    counties = pc.utf8_slice_codeunits(rows["block_group"], 0, 5).combine_chunks()
    for county in pc.unique(counties).to_pylist():
        truth = pc.sum(pc.and_(pc.equal(counties, county), pc.equal(rows["sex"], "f"))).as_py()
        answer = published.query(f"county = {county} and sex = f")
        assert abs(answer.value - truth) < FAR * answer.standard_error
        assert answer.standard_error < 8
