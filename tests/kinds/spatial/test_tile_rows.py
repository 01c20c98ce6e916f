"""The files of a map for people: tiles as CSV in the folder and in the bundle, small on the page however many cells."""

import io
import zipfile

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from tests.kinds.spatial.towns import PLACE, places, table

from dpress.core.maps.grid import Grid
from dpress.data.specification.spec import from_dict
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.maps.supported_tiles import supported_tiles
from dpress.kinds.spatial.map_tables import all_tiles
from dpress.kinds.spatial.page import MOST_TILES
from dpress.query.load import load_release
from dpress.release.curator.publish import publish
from dpress.reporting.bundle import write_bundle
from dpress.reporting.page_lists import lists_data

MOST_BYTES = 700_000  # of a page's tiles


@pytest.mark.slow
def test_the_csv_of_a_map_has_its_tiles_and_the_parquet_its_cells(tmp_path):
    parameters = {"height": 7}
    spec = from_dict({"attribute": [PLACE], "privacy": {"epsilon": 1.0},
                      "release": {"kind": "spatial", "method": "quadtree", "parameters": parameters}})  # fmt: skip
    folder = tmp_path / "out"
    publish(spec, table(places()), out=folder, csv=True)
    release = load_release(folder)
    rows = pacsv.read_csv(folder / "lon-lat.csv")
    assert pq.read_metadata(folder / "lon-lat.parquet").num_rows == 128**2
    assert 10 < rows.num_rows < 1000
    assert rows.column_names == [
        *(f"{name}_{end}" for name in ("lon", "lat") for end in ("from", "below")),
        *("count", "standard_error", "low", "high", "significant"),
    ]
    first = rows.sort_by([("count", "descending")]).to_pylist()[0]
    query = " and ".join(f"{name} in {first[f'{name}_from']}..{first[f'{name}_below']}" for name in ("lon", "lat"))
    answer = release.query(query)
    assert (answer.value, *answer.interval) == pytest.approx((first["count"], first["low"], first["high"]))
    assert first["significant"]
    assert sum(rows["count"].to_pylist()) == pytest.approx(release.query("total").value)
    _same_in_bundle(publish(spec, table(places()), out=tmp_path / "plain"), tmp_path / "plain")


def _same_in_bundle(release, folder):
    with zipfile.ZipFile(write_bundle(release, folder, folder.with_suffix(".zip"))) as bundle:
        rows = pacsv.read_csv(io.BytesIO(bundle.read("lon-lat.csv")))
        assert b"as fine as the noise supports" in bundle.read("README.txt")
    assert rows.num_rows == release.answers.tiles(1 << 22).partition.rows


@pytest.mark.parametrize("people", [0.0, 5000.0])
def test_a_million_cells_are_few_bytes_in_a_page(people):
    grid = Grid(1024)
    counts = np.full((1024, 1024), people) + np.arange(1024) / 7
    density = Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(1e4,)))
    tiles = supported_tiles(density, "gaussian", MOST_TILES)
    box = ((-74.026, -73.751), (40.581, 40.902))
    data = lists_data([all_tiles(tiles, box, ("pickup_longitude", "pickup_latitude"), "people")])
    assert tiles.partition.rows <= MOST_TILES
    assert data is not None
    assert len(data) < MOST_BYTES
