"""`dpress records`: a file of any size, beside the number of rows that the release itself tells."""

import json

import pyarrow.parquet as pq
from click.testing import CliRunner

from dpress import publish
from dpress.cli.records import command
from dpress.core.basics import rng as generators


def test_the_number_of_rows_stands_beside_that_of_the_records(make_spec, rows, tmp_path):
    release = publish(make_spec("histogram", ["age", "sex"]), rows, out=tmp_path / "r", rng=generators.seeded(3))
    total = release.query("total")
    files = [str(tmp_path / name) for name in ("one.parquet", "two.parquet")]
    told = CliRunner().invoke(command, [str(tmp_path / "r"), "--count", "40", "--out", files[0]])
    value, error, interval = total.texts
    assert f"Rows:    {value}, standard error {error}, 95 % interval {interval}, by the release" in told.output
    plain = CliRunner().invoke(command, [str(tmp_path / "r"), "--count", "40", "--out", files[1], "--json"])
    said = json.loads(plain.output)
    assert said["count"] == pq.read_table(files[0]).num_rows == 40
    assert said["rows"]["count"] == total.value
    assert said["rows"]["standard_error"] == total.standard_error > 0
    assert (said["rows"]["low"], said["rows"]["high"]) == total.interval
