"""Reports in pieces on Spark: the bits of threads, refusals of one line."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.release.people import AGE, PEOPLE, SEX, spec

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.reports.pieces import on_threads
from dpress.data.spark import spark_run
from dpress.data.spark.spark_run import on_spark
from dpress.data.specification.spec import from_dict
from dpress.data.stored.stored_reports import StoredReports
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

pytestmark = [pytest.mark.slow, pytest.mark.long]
JOINT = from_dict(
    {
        "attribute": [AGE, SEX],
        "privacy": {"model": "local", "epsilon": 6.0},
        "release": {"kind": "joint", "attributes": ["age", "sex"], "method": "em"},
    }
)


@pytest.mark.usefixtures("spark")
def test_results_come_in_order_job_after_job(monkeypatch):
    monkeypatch.setattr(spark_run, "TOGETHER", 4)
    items = [0.1 * number for number in range(10)]
    assert list(on_spark(lambda item: item * 3, iter(items))) == list(on_threads(lambda item: item * 3, items))
    assert list(on_spark(lambda item: item, [])) == []


@pytest.mark.usefixtures("spark")
def test_the_first_refusal_is_the_kernel_s_own_line():
    def kernel(item):
        if item > 1:
            raise SchemaMismatch(f"piece {item}: no")
        return item

    with pytest.raises(SchemaMismatch, match=r"^piece 2: no$"):
        list(on_spark(kernel, range(4)))


@pytest.mark.usefixtures("spark")
def test_a_failure_is_one_line_without_its_words():
    def kernel(item):
        raise RuntimeError(f"secret {item}")

    with pytest.raises(OSError, match=r"^Spark could not count the pieces: a task failed [^\n]+$") as failed:
        list(on_spark(kernel, range(2)))
    assert "secret" not in str(failed.value)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("own", [spec(method="oue"), JOINT], ids=["tallies", "fitted"])
def test_a_folder_of_reports_gives_the_release_of_threads_to_the_bit(own, tmp_path):
    perturb(own, PEOPLE, out=tmp_path / "drawn.parquet", rng=rng.seeded(5))
    table, folder = pq.read_table(tmp_path / "drawn.parquet"), tmp_path / "reports"
    folder.mkdir()
    for number, (start, end) in enumerate(((0, 150), (140, 400), (400, 500))):  # ten ids twice
        pq.write_table(table[start:end], folder / f"{number}.parquet", row_group_size=90)
    here, there = estimate(own, folder), estimate(own, folder, run=on_spark)
    assert dict(there.rejected) == dict(here.rejected)
    assert sum(here.rejected.values()) == 10
    assert np.array_equal(there.kept, here.kept)
    for name, one in here.answers.all_tables.items():
        assert one.equals(there.answers.all_tables[name])


def test_reports_of_a_store_are_not_sent(monkeypatch):
    given = StoredReports(store=None, place=0, keys=(), expected=None)
    monkeypatch.setattr("dpress.release.devices.estimate.source", lambda *_given: given)
    with pytest.raises(NotSupported, match=r"^reports of a store are added up by threads; `dpress export` writes"):
        estimate(spec(method="oue"), "sqlite:///store.sqlite", run=on_spark)
