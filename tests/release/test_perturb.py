"""The device side over a file of people."""

import pyarrow as pa
import pytest
from tests.release.people import AGE, PEOPLE, SEX, spec

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.spec import from_dict
from dpress.release.devices.device import device, intake
from dpress.release.devices.perturb import perturb


def test_no_people_are_refused(tmp_path):
    with pytest.raises(SchemaMismatch, match="row"):
        perturb(spec(AGE), PEOPLE[:0], out=tmp_path / "r.parquet")
    assert not [*tmp_path.iterdir()]


def test_a_rejected_category_or_a_nan_stops_the_simulation_and_leaves_nothing(tmp_path):
    height = {"name": "height", "kind": "numeric", "bounds": [0.0, 2.0], "bins": 4}
    for attribute, people in ((SEX, {"sex": ["F", "X"]}), (height, {"height": [1.0, float("nan")]})):
        with pytest.raises(SchemaMismatch, match="say what to do in"):
            perturb(spec(attribute), pa.table(people), out=tmp_path / "r.parquet")
    assert not [*tmp_path.iterdir()]


def test_a_table_is_no_collection(tmp_path):
    own = from_dict({"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "marginals"}})
    for call in (lambda: perturb(own, PEOPLE, out=tmp_path / "r.parquet"), lambda: device(own), lambda: intake(own)):
        with pytest.raises(NotSupported, match='reports need model = "local"'):
            call()
