"""Synthetic records: how many, of which values, and how often."""

import numpy as np
import pyarrow as pa
from scipy import stats

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.inference.joint.factors import dense
from dpress.query import record_files as module
from dpress.query.record_files import Records

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9], "bins": 3, "null": "unknown"}
SIZE = {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 2}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
FALSE_ALARM = 1e-6


def drawn(table: np.ndarray, size: int) -> pa.Table:
    spec = from_dict(
        {
            "attribute": [AGE, SIZE, SEX],
            "privacy": {"model": "local", "epsilon": 1.0},
            "release": {"kind": "joint"},
        }
    )
    axes = spec.schema.tabular
    assert tuple(axis.size for axis in axes) == table.shape
    return pa.Table.from_batches(Records(axes=axes, joint=dense(table), size=size, rng=rng.seeded(3)).batches())


def test_number_values_and_frequencies(monkeypatch) -> None:
    monkeypatch.setattr(module, "BATCH", 1000)
    table = np.arange(1.0, 17).reshape(4, 2, 2)
    table /= table.sum()
    rows = drawn(table, 20_500)
    assert rows.num_rows == 20_500
    ages = rows["age"].to_pylist()
    assert {age for age in ages if age is not None} == set(range(10))
    sizes = np.array(rows["size"].to_pylist())
    assert ((sizes >= 0) & (sizes < 8)).all()
    assert set(rows["sex"].to_pylist()) == {"F", "M"}
    missing = np.array([age is None for age in ages])
    found = np.zeros((2, 2, 2))
    np.add.at(found, (missing.astype(int), (sizes >= 4).astype(int), (np.array(rows["sex"].to_pylist()) == "M") + 0), 1)
    wanted = np.stack([table[:3].sum(axis=0), table[3]]) * 20_500
    assert stats.chisquare(found.ravel(), wanted.ravel()).pvalue > FALSE_ALARM
    assert stats.chisquare(found.ravel(), np.full(8, 20_500 / 8)).pvalue < FALSE_ALARM
