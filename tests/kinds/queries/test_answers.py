"""Answers of a release of predicates: listed ones, sums of their atoms, and refusals that say what is cut."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpress import load_release, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.document.design import fingerprint
from dpress.query.counted_rows import counted_of

METHODS = ["direct_queries", "identity", "p_identity"]
QUERIES = ["age >= 5 and sex = F", "sex = F or size < 4", "age < 5", "total"]


def truth(rows, text: str) -> int:
    age, sex, size = (np.array(rows[name].to_pylist()) for name in ("age", "sex", "size"))
    size = np.minimum(size, 7.999)
    found = {
        "age >= 5 and sex = F": (age >= 5) & (sex == "F"),
        "sex = F or size < 4": (sex == "F") | (size < 4),
        "age < 5": age < 5,
        "total": age >= 0,
        "age >= 5": age >= 5,
        "not (sex = F or size < 4)": (sex != "F") & (size >= 4),
    }
    return int(found[text].sum())


@pytest.fixture
def released(make_spec, rows):
    def made(method="auto", privacy=None, queries=QUERIES, **options):
        spec = make_spec("queries", None, privacy, parameters={"queries": queries}, method=method)
        return publish(spec, rows, **options)

    return made


@pytest.mark.parametrize("method", METHODS)
def test_without_noise_to_speak_of_answers_are_the_counts(released, rows, method) -> None:
    release = released(method, {"epsilon": 1000})
    for text in [*QUERIES, "age >= 5", "not (sex = F or size < 4)"]:
        found = release.query(text)
        assert found.value == pytest.approx(truth(rows, text), abs=0.5), text
        assert found.interval[0] <= truth(rows, text) <= found.interval[1]


@pytest.mark.parametrize("method", METHODS)
def test_answers_agree_with_one_another(released, method) -> None:
    release = released(method, {"epsilon": 0.1})
    age, rest, whole = (release.query(text).value for text in ("age < 5", "age >= 5", "total"))
    assert age + rest == pytest.approx(whole)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("privacy", [{"epsilon": 0.5}, {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}])
def test_the_table_has_the_listed_queries_with_the_answers_of_query(released, tmp_path, method, privacy) -> None:
    release = released(method, privacy, out=tmp_path / "release")
    stored = pq.read_table(tmp_path / "release" / "queries.parquet")
    table = stored.to_pydict()
    assert table["query"] == QUERIES
    for place, text in enumerate(QUERIES):
        found = release.query(text)
        assert table["count"][place] == pytest.approx(found.value)
        assert table["standard_error"][place] == pytest.approx(found.standard_error)
        assert (table["low"][place], table["high"][place]) == pytest.approx(found.interval)
    assert bool(counted_of(stored.schema)) is ("unit" in privacy)
    again = load_release(tmp_path / "release")
    assert [again.query(text) for text in QUERIES] == [release.query(text) for text in QUERIES]
    assert again.tables["age", "sex", "size"].to_arrow().num_rows == 4


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_errors_are_as_stated(make_spec, method) -> None:
    """1,500 releases: a mean of squares of Laplace sums has a standard deviation of 0.06; six of them, alarm 1e-8.

    The control: were it stated for 1.5 times the epsilon, it would be seen.
    """
    from dpress.release.plan.plan import plan

    planned = plan(make_spec("queries", None, {"epsilon": 0.5}, parameters={"queries": QUERIES}, method=method))
    mechanism, sums = planned.chosen.mechanism, planned.workload.sums
    counts, generator = np.arange(sums.cells) + 3, rng.seeded(8)
    drawn = (mechanism.measure(counts, rng=generator) for _ in range(1500))
    errors = np.array([sums.matrix @ (mechanism.decoder.estimate(one)[0] - counts) for one in drawn])
    stated = [mechanism.decoder.query_variance(mechanism.variance, [row]) for row in sums.matrix]
    ratio = (errors**2).mean(axis=0) / stated
    assert ratio == pytest.approx(1, abs=0.36)
    assert (np.abs(ratio * 1.5**2 - 1) > 0.36).all()
    assert (np.abs(errors.mean(axis=0)) < 6 * np.sqrt(np.array(stated) / 1500)).all()


def test_a_query_that_cuts_a_cell_is_refused_with_the_cell(released) -> None:
    release = released("identity", queries=["age >= 5 and sex = F", "age < 3"])
    with pytest.raises(ValueError, match=r"cuts the rows of which none holds$"):
        release.query("size < 4 and sex = M and age in 3..4")
    with pytest.raises(ValueError, match="'age >= 7' is no sum of the queries' cells: it cuts") as cut:
        release.query("age >= 7")
    assert "'age >= 5 and sex = F' holds, and 1 more" in str(cut.value)
    with pytest.raises(ValueError, match="cannot read 'ages = 3'"):
        release.query("ages = 3")


def test_of_measured_queries_only_combinations_are_answered(released) -> None:
    release = released("direct_queries", queries=["age >= 5", "sex = F"])
    assert release.query("age >= 5").standard_error > 0
    with pytest.raises(ValueError, match="'age >= 5 and sex = F' does not follow from the queries by adding"):
        release.query("age >= 5 and sex = F")
    atoms = released("identity", queries=["age >= 5", "sex = F"])
    assert atoms.query("age >= 5 and sex = F").standard_error > 0


@pytest.mark.parametrize("text", ["mean age", "median age"])
def test_a_statistic_of_numbers_is_refused_in_a_line(released, text) -> None:
    with pytest.raises(ValueError, match="this kind of release answers no "):
        released().query(text)


def test_a_share_is_the_ratio_of_two_queries(released) -> None:
    release = released(queries=["age < 5 and sex = F", "sex = F"])
    part, whole = (release.query(text) for text in ("age < 5 and sex = F", "sex = F"))
    assert release.query("share age < 5 where sex = F").value == pytest.approx(part.value / whole.value)


def edited(folder, edit) -> None:
    """Write other queries into a release's design, with the hash that somebody who wants to be read would compute."""
    place = folder / "release.json"
    manifest = json.loads(place.read_text())
    manifest["design"]["queries"] |= edit
    manifest["design_hash"] = fingerprint(manifest["design"])
    place.write_text(json.dumps(manifest))


def test_texts_that_are_not_the_measured_predicates_are_refused(released, tmp_path) -> None:
    release = released("identity", out=tmp_path / "release")
    sums = release.workload.sums
    mirrored = [sorted(sums.cells - 1 - atom for atom in own) for own in sums.sets]  # as many atoms, other ones
    assert mirrored != [list(own) for own in sums.sets]
    true = {"texts": QUERIES, "sets": sums.sets}
    for wrong in (
        {"texts": ["age >= 6 and sex = F", *QUERIES[1:]]},
        {"texts": [*QUERIES[1:], QUERIES[0]]},
        {"sets": mirrored},
    ):
        edited(tmp_path / "release", wrong)
        with pytest.raises(SchemaMismatch):
            load_release(tmp_path / "release")
        edited(tmp_path / "release", true)
    assert load_release(tmp_path / "release").query("total").value > 0


def test_a_text_may_be_another_for_the_same_rows(released, tmp_path) -> None:
    """So that a later reader of the language may make other boxes of it."""
    release = released("identity", out=tmp_path / "release")
    edited(tmp_path / "release", {"texts": ["not (age < 5 or sex = M)", *QUERIES[1:]]})
    assert load_release(tmp_path / "release").query(QUERIES[0]) == release.query(QUERIES[0])
