"""`--titles` of `dpress publish --csv` and `dpress estimate --csv`, also of a period of a series."""

import pytest

SPEC = """
[[attribute]]
name = "sex"
title = "Sex"
kind = "categorical"
values = ["f", "m"]
labels = { f = "Women", m = "Men" }
[privacy]
epsilon = 1
[release]
kind = "histogram"
attributes = ["sex"]
"""
DAY = """
[[attribute]]
name = "day"
title = "Day"
kind = "date"
bounds = ["2024-01-01", "2024-02-29"]
cells = "month"
[periods]
attribute = "day"
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "rows.csv").write_text("sex,day\n" + "f,2024-01-05\nm,2024-01-06\n" * 20)
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "series.toml").write_text(SPEC.replace('["sex"]', '["sex", "day"]') + DAY)
    (tmp_path / "local.toml").write_text(SPEC.replace("[privacy]", '[privacy]\nmodel = "local"'))
    return tmp_path


def sheet(folder):
    (path,) = folder.rglob("*.csv")
    return [line.split(",")[:2] for line in path.read_text().replace('"', "").splitlines()]


@pytest.mark.parametrize(
    ("command", "spec", "options"),
    [
        ("publish", "spec.toml", ("--data", "rows.csv")),
        ("publish", "series.toml", ("--data", "rows.csv", "--period", "2024-01")),
        ("estimate", "local.toml", ("--reports", "reports.parquet")),
    ],
)
def test_the_csv_has_titles_and_labels_where_it_is_asked_to(here, written, command, spec, options):
    assert here("perturb", "local.toml", "--data", "rows.csv", "--out", "reports.parquet").code == 0
    for number, more in enumerate([(), ("--titles",)]):
        done = here(command, spec, *options, "--out", f"out{number}", "--csv", *more)
        assert done.code == 0, done.err
    named, titled = (sheet(written / f"out{number}") for number in (0, 1))
    assert (named[0], titled[0][:1]) == (["sex", "sex_label"], ["Sex"])
    assert [line[0] for line in titled[1:]] == [line[1] for line in named[1:]] == ["Women", "Men"]


@pytest.mark.parametrize("command", [("publish", "spec.toml"), ("estimate", "local.toml", "--reports", "no.parquet")])
def test_titles_without_csv_are_refused_before_anything_is_done(here, written, command):
    done = here(*command, "--out", "out", "--titles")
    assert (done.code, done.err.splitlines()[-1]) == (2, "Error: --titles is for the files of --csv; add it")
    assert not (written / "out").exists()
