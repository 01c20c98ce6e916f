"""A map that was collected and written."""

import pytest
from tests.kinds.spatial.towns import places, spec, table

from dpress.core.basics import rng
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    perturb(spec(), table(places()), out=folder / "reports", rng=rng.seeded(2))
    return estimate(spec(), folder / "reports", out=folder / "out"), folder / "out"
