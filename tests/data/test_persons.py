"""Persons are told apart by value, in a column of any type."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from nasty_values import ATTRIBUTES, NASTY, SPECS, as_objects, coded

from dpress.attributes.domain import Schema
from dpress.attributes.value import read, written
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.data.codec import codec
from dpress.data.specification.spec import from_dict
from dpress.data.table import Table
from dpress.ledger.ledger import Ledger
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan

PEOPLE = [
    1,
    1.0,
    Decimal("1.00"),
    "1",
    True,
    0,
    -0.0,
    0.5,
    Decimal("0.50"),
    np.float32(0.1),
    0.1,
    2**70,
    "\ud800",
    b"a",
    "a",
]


def test_persons_are_told_apart_by_value():
    names = [written(read(one)) for one in PEOPLE]
    frame = pd.DataFrame({"uid": pd.Series(PEOPLE, dtype=object), "x": range(len(PEOPLE))})
    kept = list(Table(frame, ("x",), Unit(column="uid", rows=1)).batches())
    assert sum(batch.num_rows for batch in kept) == len(set(names))
    assert names[0] == names[1] == names[2] == names[3] == "1"


@pytest.mark.parametrize(
    "uids",
    [
        pa.array([1, 1, 2]),
        pa.array([1.0, 1.0, 2.5]),
        pa.array([-0.0, 0.0, 2.5], pa.float32()),
        pa.array([0.5, 0.5, 2.0], pa.float16()),
        pa.array([Decimal("1.5"), Decimal("1.50"), Decimal(10)]),
        pa.array([Decimal("1.5"), Decimal("1.50"), Decimal(10)], pa.decimal256(60, 2)),
        pa.array(["a", "a", "b"]).dictionary_encode(),
        pa.array([dt.date(2020, 1, 1)] * 2 + [dt.date(2020, 1, 2)]),
    ],
)
def test_a_person_of_any_type_keeps_one_row(uids):
    table = pa.table({"uid": uids, "x": [0, 1, 2]})
    kept = [
        row
        for batch in Table(table, ("uid", "x"), Unit(column="uid", rows=1)).batches()
        for row in batch["x"].to_pylist()
    ]
    assert len(kept) == 2
    assert 2 in kept


@pytest.mark.parametrize("uids", [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([dt.timedelta(1)])])
def test_a_column_that_names_no_persons_is_refused_by_its_type(uids):
    with pytest.raises(SchemaMismatch, match=r"the column 'uid' of type .* names no persons"):
        list(Table(pa.table({"uid": uids, "x": [1]}), ("x",), Unit(column="uid", rows=1)).batches())


@pytest.mark.parametrize("uids", [[1.0, float("nan")], ["a", None], pd.Series([1, None], dtype=object)])
def test_a_row_whose_person_is_missing_is_refused(uids):
    with pytest.raises(SchemaMismatch, match="a row has no 'uid'"):
        list(Table(pd.DataFrame({"uid": uids, "x": [1, 2]}), ("x",), Unit(column="uid", rows=1)).batches())


LARGE = [2**60 + one for one in range(1000)]
MERGED = {
    "a fraction": pd.Series([*LARGE, 0.5]),
    "infinity": pd.Series([*LARGE, float("inf")]),
    "a complex number": pd.Series([*LARGE, 1j]),
    "small ones and infinity": pd.Series([1, 2, float("-inf")]),
    "objects of floats": pd.Series([*LARGE, 0.5]).astype(object),
    "categories": pd.Series([*LARGE, 0.5]).astype("category"),
    "a nullable type": pd.Series([*LARGE, 0.5]).convert_dtypes(),
    "a float beside text": pd.Series([1e300, "x"]),
}


@pytest.mark.parametrize("uids", MERGED.values(), ids=MERGED)
def test_persons_that_pandas_may_have_merged_are_refused_before_the_charge(uids, tmp_path):
    plain = {
        "attribute": [{"name": "x", "kind": "integer", "bounds": [0, 1]}],
        "privacy": {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1},
        "release": {"kind": "histogram"},
    }
    path = tmp_path / "ledger.db"
    ledger = Ledger.create(path, limit=PureDP(epsilon=2), unit=Unit(column="uid", rows=1))
    with pytest.raises(SchemaMismatch, match=r"^'uid' has a float of 2\^53 or more, .* several persons; .*texts$"):
        publish(plan(from_dict(plain)), pd.DataFrame({"uid": uids, "x": 1}), out=tmp_path / "out", ledger=ledger)
    assert ledger.summary().spent["epsilon"] == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [[], ["x"], [-3], [True], [10**30]])
def test_large_integers_are_as_many_persons_beside_any_that_keeps_their_digits(more):
    frame = pd.DataFrame({"uid": pd.Series([*LARGE, *more]), "x": 1})
    assert Table(frame, ("x",), Unit(column="uid", rows=1)).contributions([1]).persons == len(LARGE) + len(more)


def test_small_integers_in_floats_are_the_persons_that_they_are_as_integers():
    whole = [1, 1, 2, 2**53 - 1, 2**53 - 2]
    for uids in (whole, [*whole, 0.5]):
        frame = pd.DataFrame({"uid": pd.Series(uids), "x": 1})
        assert Table(frame, ("x",), Unit(column="uid", rows=1)).contributions([1]).persons == len(uids) - 1


def test_floats_of_a_declared_type_are_persons_of_any_size():
    table = pa.table({"uid": [1e300, 2.0**60, float("inf")], "x": [1, 1, 1]})
    assert Table(table, ("x",), Unit(column="uid", rows=1)).contributions([1]).persons == 3


@pytest.mark.parametrize("name", SPECS)
def test_bounding_persons_changes_no_code(name):
    """Rows that pass through the engine that sorts persons have the codes of those that do not."""
    attribute = ATTRIBUTES[name]
    values = [one for one in NASTY if not isinstance(one, (list, dict, tuple))]
    frame = as_objects(values).assign(uid=range(len(values)))
    batches = Table(frame, ("x",), Unit(column="uid", rows=1)).batches()
    found = np.concatenate([codec.encode(Schema((attribute,)), batch) for batch in batches], axis=1)[0]
    assert sorted(found.tolist()) == sorted(coded(frame, attribute))
