"""Unions: the sum of disjoint boxes, whose value and variance are those of one dense linear form, for every kind."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.kinds.conftest import KINDS, make, mapped_table

from dpress.attributes.domain import Schema
from dpress.query import boxes
from dpress.query.boxes import predicate, products
from dpress.query.grammar import read
from dpress.query.query_tree import TOTAL, Condition
from dpress.query.release import Release
from dpress.query.statistics import two_counts

Array = npt.NDArray[np.float64]
AGE = {"kind": "integer", "name": "age", "bounds": [0, 5]}
SEX = {"kind": "categorical", "name": "sex", "values": ["Female", "Male"]}
PAY = {"kind": "numeric", "name": "pay", "bounds": [0, 4000], "bins": 4}
REGION = {"kind": "categorical", "name": "region", "values": ["North", "South", "East"], "other": "X", "null": "none"}
DENSE: dict[str, Callable[[], Release]] = {
    "histogram": lambda: make("histogram", [AGE, SEX, REGION]),
    "marginals": lambda: make("marginals", [AGE, SEX, REGION], method="marginals"),
    "identity": lambda: make("marginals", [AGE, SEX, REGION], method="identity"),
    "ranges": lambda: make("ranges", [AGE, PAY]),
    "boxes": lambda: make("ranges", [AGE, PAY], method="hierarchy"),
    "zcdp": lambda: make("histogram", [SEX, REGION], {"rho": 0.5}),
}


def conditions(schema: Schema) -> st.SearchStrategy[Condition]:
    """Return conditions on the cells of a schema, joined by any words."""

    def of(column: Any) -> st.SearchStrategy[Condition]:
        label = st.sampled_from(list(column.labels))
        one = st.builds(
            lambda word, value: Condition(word=word, attribute=column.name, values=(value,)),
            st.sampled_from(["=", "!="]),
            label,
        )
        listed = st.lists(label, min_size=1, max_size=3).map(
            lambda values: Condition(word="in", attribute=column.name, values=tuple(values))
        )
        return one | listed

    tests = st.one_of([of(column) for column in schema.tabular]) | st.just(TOTAL)
    return st.recursive(
        tests,
        lambda parts: (
            st.lists(parts, min_size=2, max_size=3).flatmap(
                lambda own: st.sampled_from(["and", "or"]).map(lambda word: Condition(word=word, parts=tuple(own)))
            )
            | parts.map(lambda own: Condition(word="not", parts=(own,)))
        ),
        max_leaves=6,
    )


def holds(schema: Schema, condition: Condition) -> Array:
    """Return of every cell whether a condition holds, test by test: 0 or 1, shape (cells,)."""
    codes = np.indices(schema.shape).reshape(len(schema.shape), -1)

    def of(tree: Condition) -> npt.NDArray[np.bool_]:
        if tree.word == "total":
            return np.ones(codes.shape[1], dtype=bool)
        if tree.word == "not":
            return ~of(tree.parts[0])
        if tree.parts:
            return {"and": np.logical_and, "or": np.logical_or}[tree.word].reduce([of(part) for part in tree.parts])
        axis = schema.names.index(tree.attribute)
        labels = list(schema.tabular[axis].labels)
        inside = np.isin(codes[axis], [labels.index(value) for value in tree.values])
        return ~inside if tree.word == "!=" else inside

    return of(condition).astype(np.float64)


def dense(release: Release) -> tuple[Array, Array]:
    """Return the least squares estimate of all cells and its covariance, from the dense matrix of what was measured."""
    mechanism: Any = release.mechanism
    measured = release.answers.measurement
    matrix = np.array([mechanism.strategy.map.apply(cell) for cell in np.eye(math.prod(release.schema.shape))]).T
    weight = 1 / np.broadcast_to(np.asarray(measured.variance, dtype=float), (len(matrix),))
    covariance = np.linalg.pinv(matrix.T @ (weight[:, None] * matrix))
    return covariance @ (matrix.T @ (weight * measured.answers)), covariance


def check(release: Release, linear: tuple[Array, Array], condition: Condition) -> None:
    """Compare a count with the dense linear form."""
    cells, covariance = linear
    weights = holds(release.schema, condition)
    found = release.query(f"count {condition.text}")
    unbiased = found.value if found.unbiased is None else found.unbiased
    assert unbiased == pytest.approx(float(weights @ cells), abs=1e-6)
    assert found.standard_error**2 == pytest.approx(float(weights @ covariance @ weights), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", DENSE)
def test_a_count_is_the_dense_linear_form(name: str) -> None:
    release = DENSE[name]()
    linear = dense(release)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(conditions(release.schema))
    def each(condition: Condition) -> None:
        asked = {
            axis for weights in products(release.schema, condition) for axis, one in enumerate(weights) if 0 in one
        }
        assume(any(asked <= set(axes) for axes in release.answers.decoder.tables))
        check(release, linear, condition)

    each()


def test_a_union_that_is_counted_twice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that overlap add their common rows twice."""
    release = DENSE["histogram"]()
    either = release.schema.names
    condition = Condition(
        word="or",
        parts=(
            Condition(word="in", attribute=either[0], values=("0", "1")),
            Condition(word="=", attribute=either[1], values=("Male",)),
        ),
    )
    check(release, dense(release), condition)
    monkeypatch.setattr(boxes, "_apart", lambda own, _: tuple(own))
    with pytest.raises(AssertionError):
        check(release, dense(release), condition)


@given(st.data())
def test_disjoint_boxes_hold_every_row_once(data: st.DataObject) -> None:
    schema = DENSE["histogram"]().schema
    condition = data.draw(conditions(schema))
    parts = products(schema, condition)
    counted = np.sum([math.prod(np.ix_(*weights)).ravel() for weights in parts], axis=0)
    assert np.array_equal(counted, holds(schema, condition))


@given(st.data())
def test_a_condition_that_is_one_box_is_answered_as_one(data: st.DataObject) -> None:
    """However it is written: the same rows make the same boxes."""
    schema = DENSE["histogram"]().schema
    condition = data.draw(conditions(schema))
    twice = Condition(word="or", parts=(condition, Condition(word="and", parts=(condition, condition))))
    own, other = products(schema, Condition(word="or", parts=(condition, condition))), products(schema, twice)
    assert len(own) == len(other)
    if holds(schema, condition).any():
        assert predicate(schema, condition)


SHARES = (
    "share age in (0, 1, 2) or sex = Male",
    "share sex = Male where age = 2 or region = X",
    "ratio not sex = Male / age in (3, 4) or sex = Male",
    "count age = 2 or sex = Male - count region = X",
)


@pytest.mark.parametrize("text", SHARES)
def test_shares_ratios_and_differences_of_unions_are_exact(text: str) -> None:
    release = DENSE["histogram"]()
    cells, covariance = dense(release)
    first, second = (holds(release.schema, own) for own in two_counts(read(release.schema.names, text)))
    found, (a, b) = release.query(text), (float(first @ cells), float(second @ cells))
    if text.startswith("count"):
        form, value, scale = first - second, a - b, 1.0
    else:
        form, value, scale = first - a / b * second, a / b, b
    assert found.value == pytest.approx(value)
    assert found.standard_error == pytest.approx(math.sqrt(form @ covariance @ form) / scale, rel=1e-6)


def test_means_and_quantiles_of_unions_are_exact() -> None:
    release = DENSE["histogram"]()
    cells, covariance = dense(release)
    inside = holds(release.schema, boxes.read(release.schema, "sex = Male or region = X"))
    ages = np.indices(release.schema.shape)[0].ravel()
    total, count = inside * ages, inside
    mean = float(total @ cells) / float(count @ cells)
    found = release.query("mean age where sex = Male or region = X")
    form = total - mean * count
    assert found.value == pytest.approx(mean)
    assert found.standard_error == pytest.approx(math.sqrt(form @ covariance @ form) / float(count @ cells), rel=1e-6)
    assert release.query("sum age where sex = Male or region = X").value == pytest.approx(float(total @ cells))
    assert 0 <= release.query("median age where sex = Male or region = X").value <= 5


def test_other_kinds_answer_unions_or_say_so() -> None:
    joint = KINDS["local joint"]()
    union = joint.query("age = 0 and score = 1 and sex = Male or age = 1")
    parts = joint.query("age = 0 and score = 1 and sex = Male"), joint.query("age = 1")
    assert union.value == pytest.approx(sum(one.value for one in parts), rel=0.2)
    assert 0 < union.standard_error < sum(one.standard_error for one in parts) * 2
    found = joint.query("age = 0 or score = 1")
    assert "the parts of this union" in str(found.note)
    assert found.standard_error >= joint.query("age = 0").standard_error


def test_maps_count_unions_of_rectangles() -> None:
    release = mapped_table("uniform_grid")
    whole, left, right = (release.query(text) for text in ("total", "lon < -74", "lon > -74"))
    assert release.query("lon < -74 or lon > -74").value == pytest.approx(whole.value)
    assert release.query("lon < -74 or not lon < -74").standard_error == pytest.approx(whole.standard_error)
    apart = release.query("lon < -74.1 or lon > -73.9")
    assert apart.value == pytest.approx(release.query("lon < -74.1").value + release.query("lon > -73.9").value)
    both = release.query("lon < -74 and lat < 40.7 or lon > -74 and lat > 40.7")
    assert both.value <= left.value + right.value + 1e-6
    assert "the parts of this union" in str(both.note)
    with pytest.raises(ValueError, match="is a union of rectangles, which are counted and nothing else"):
        release.query("share lon < -74.1 or lon > -73.9")


def test_records_count_unions() -> None:
    release = make("microdata", [AGE, SEX], {"epsilon": 20})
    frame = release.tables["age", "sex"].to_pandas()
    found = release.query("age < 2 or sex = Male")
    assert found.value == ((frame["age"].astype(int) < 2) | (frame["sex"] == "Male")).sum()
    assert math.isnan(found.standard_error)
