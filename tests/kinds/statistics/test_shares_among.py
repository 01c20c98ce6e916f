"""Shares of some of the rows, such as a rate of unemployment: measured, answered by group, with both errors."""

import functools
import math
from html import unescape

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import html_of_page, text
from tests.kinds.statistics.test_replicates import FACTORS, parameters, survey
from tests.kinds.statistics.weighted_rows import REGION, WAGE, WEIGHT, spec, table

import dpress
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics import plan_text
from dpress.query.explained import explanations

STATUS = {"name": "status", "kind": "categorical", "values": ["employed", "unemployed", "neither"], "title": "Status"}
RATE = "status = unemployed where status in (employed, unemployed)"
STATUSES = np.array(["employed", "unemployed", "neither"])[[0, 0, 1, 0, 2, 0, 2]]


def statuses(rows):
    return np.resize(STATUSES, rows)


@pytest.mark.parametrize("more", [{}, {"mean": ["wage"]}, {"share": [RATE, "status = neither"]}])
def test_a_rate_is_of_the_rows_there_in_every_group(more):
    rows, status = table(), statuses(4000)
    attributes = [REGION, STATUS, *([WAGE] if "mean" in more else [])]
    release = {"kind": "statistics", "parameters": {"by": ["region"], "share": [RATE]} | more}
    plain = {"attribute": attributes, "privacy": {"epsilon": 500}, "release": release}
    made = dpress.publish(from_dict(plain), rows.append_column("status", pa.array(status)), rng=rng.seeded(3))
    south = np.array(rows["region"]) == "south"
    for name, inside in (("", np.ones(4000, dtype=bool)), (" and region = south", south)):
        unemployed, active = ((status == "unemployed") & inside).sum(), ((status != "neither") & inside).sum()
        assert made[f"share {RATE}{name}"].value == pytest.approx(unemployed / active, abs=1e-4)
    assert made["region = south"].value == pytest.approx(south.sum(), abs=0.5)
    assert made[f"share {RATE} and region = east"].interval == (0.0, 1.0)
    if "share" in more:
        neither = (status[south] == "neither").mean()
        assert made["share status = neither where region = south"].value == pytest.approx(neither, abs=1e-4)
    apart = made[f"share {RATE} and region = south - share {RATE} and region = north"]
    assert apart.sampling == pytest.approx(math.sqrt(2 * 0.2 * 0.8 / (2000 * 5 / 7)), rel=0.05)


@functools.cache
def surveyed(budget, amount):
    rows, _ = survey("brr")
    rows = rows.append_column("status", pa.array(statuses(len(rows))))
    wished = spec({budget: amount}, [REGION, STATUS, WAGE, WEIGHT], share=[RATE], **parameters("brr"))
    return dpress.publish(wished, rows, rng=rng.seeded(3))


def test_with_weights_and_replicates_it_has_both_errors_of_the_textbook():
    rows, replicates = survey("brr")
    status, weights = statuses(len(rows)), rows["pw"].to_numpy()

    def rate(of):
        return (of * (status == "unemployed")).sum() / (of * (status != "neither")).sum()

    value = rate(weights)
    error = math.sqrt(FACTORS["brr"] * sum((rate(column) - value) ** 2 for column in replicates.T))
    answer = surveyed("epsilon", 900)[f"share {RATE}"]
    assert answer.value == pytest.approx(value, rel=0.01)
    assert answer.sampling == pytest.approx(error, rel=0.05)
    low, high = surveyed("rho", 0.5)[f"share {RATE}"].population
    assert low < value < high


def test_an_answer_is_explained_and_the_page_asks_for_one_of_a_group():
    wished = {"by": ["region"], "share": [RATE]}
    plain = {
        "attribute": [REGION, STATUS], "privacy": {"epsilon": 1},
        "release": {"kind": "statistics", "parameters": wished},
    }  # fmt: skip
    rows = table().append_column("status", pa.array(statuses(4000)))
    release = dpress.publish(from_dict(plain), rows, rng=rng.seeded(3))
    for query, groups in ((f"share {RATE}", 3), (f"share {RATE} and region = north", 1)):
        (source,) = explanations(release, query)[0].sources
        assert (source.parts, source.unit) == (groups, "groups")
    assert f"dpress query FOLDER 'share {RATE} and region = north'" in unescape(html_of_page(release))


def test_file_page_and_plan_name_it(tmp_path):
    release = surveyed("rho", 0.5)
    release.write(tmp_path / "out")
    names = set(pq.read_table(tmp_path / "out" / "statistics.parquet")["statistic"].to_pylist())
    assert f"share {RATE}" in names
    again = dpress.load_release(tmp_path / "out")
    assert again[f"share {RATE}"].interval == release[f"share {RATE}"].interval
    words = text(html_of_page(release))
    assert "share of Status = unemployed among Status in (employed, unemployed)" in words
    assert "whether Status = unemployed, among Status in (employed, unemployed)" in words
    planned = dpress.plan(spec(attributes=[REGION, STATUS, WAGE, WEIGHT], share=[RATE], median=None))
    remarks = str(plan_text.text(planned).remarks)
    assert "A share with `where` errs as stated where it is of all rows of a group" in remarks


def test_a_condition_that_holds_for_all_or_none_of_the_rows_there_is_refused():
    for share, message in (
        ("status = neither where status in (employed, unemployed)", "expected a condition that holds for some rows"),
        ("status != neither where status = employed", "expected a condition that holds for some rows and not for all"),
        ("status = employed where region = north", "region is in `by`"),
    ):
        with pytest.raises(ValueError, match=rf"share\[#1\]: {message}"):
            dpress.plan(spec(attributes=[REGION, STATUS, WAGE, WEIGHT], share=[share]))


def test_a_share_of_other_rows_than_were_measured_is_not_answered():
    release = surveyed("rho", 0.5)
    for query in ("share status = unemployed", "share status = unemployed where status in (neither, unemployed)"):
        with pytest.raises(ValueError, match="makes no groups"):
            release.query(query)
