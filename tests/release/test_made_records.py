"""`dpress records`: a file of any size, beside the number of rows that the release itself tells."""

import json

import pyarrow.parquet as pq
import pytest
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


def test_records_of_a_condition_all_fulfil_it(make_spec, rows, tmp_path):
    publish(make_spec("histogram", ["age", "sex"]), rows, out=tmp_path / "r", rng=generators.seeded(3))

    def drawn(where, name):
        arguments = [str(tmp_path / "r"), "--count", "300", "--where", where, "--out", str(tmp_path / name)]
        return CliRunner().invoke(command, arguments)

    attribute = publish(make_spec("histogram", ["sex"]), rows, out=tmp_path / "s", rng=generators.seeded(3)).schema
    value, other = attribute.tabular[0].labels[:2]
    told = drawn(f"sex = {value}", "one.parquet")
    assert f"(300, all with sex = {value})" in told.output
    assert {*pq.read_table(tmp_path / "one.parquet")["sex"].to_pylist()} == {value}
    drawn(f"sex = {value} or sex = {other}", "two.parquet")
    assert {*pq.read_table(tmp_path / "two.parquet")["sex"].to_pylist()} == {value, other}
    with pytest.raises(ValueError, match="holds of no record of what the release publishes"):
        raise drawn(f"sex = {value} and sex = {other}", "none.parquet").exception
    assert not (tmp_path / "none.parquet").exists()
