"""What releases of a session say together: one dense least squares, by simulation what it says, and it only falls."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.release.statements.wards import BY_WARD, SPEC, TRUE, rows

from dpress import load_spec
from dpress.core.basics import rng
from dpress.inference.generalised_least_squares import Answers
from dpress.release.curator.publish import publish
from dpress.release.statements import session_squares
from dpress.release.statements.plan_statements import ANY, plan_statements
from dpress.release.statements.same_rows import rows_of
from dpress.release.statements.session_squares import Reading
from dpress.release.statements.together import Together

FALSE_ALARM = 1e-6
AGAIN = 200  # times that all is drawn
A, A_AND_B, A_WITHOUT_B = "ward = 'eyes'", "ward = 'eyes' and size > 1", "ward = 'eyes' and size = 1"


def counting(rows: str) -> str:
    return f"select count(*) from v where {rows}"


def planned(sql: str, **privacy: float):
    return plan_statements({**SPEC, "privacy": privacy or {"epsilon": 0.5}}, sql).parts[0].planned


def released(number: int, sql: str, plan, seed: int = 1) -> Reading:
    return Reading(number=number, release=publish(plan, rows(), rng=rng.seeded(seed)), sql=sql)


def together(sql: str, readings: Sequence[Reading], spec=SPEC) -> Together:
    return Together(spec=load_spec(spec, release=ANY), sql=sql, readings=readings, confidence=0.95)


def row(answer) -> dict:
    (only,) = answer.table.table.to_pylist()
    return only


WHERE = (
    "ward = eyes",
    "ward in (eyes, ear)",
    "size = 1",
    "size in 2..3",
    "ward = eyes and size = 1",
    "ward = skin or size = 3",
    "not (ward = ear)",
    "total",
)
CELLS = list(itertools.product(("eyes", "ear", "skin"), (1, 2, 3)))
HOLDS = {
    "ward = eyes": lambda ward, _: ward == "eyes",
    "ward in (eyes, ear)": lambda ward, _: ward != "skin",
    "size = 1": lambda _, size: size == 1,
    "size in 2..3": lambda _, size: size > 1,
    "ward = eyes and size = 1": lambda ward, size: ward == "eyes" and size == 1,
    "ward = skin or size = 3": lambda ward, size: ward == "skin" or size == 3,
    "not (ward = ear)": lambda ward, _: ward != "ear",
    "total": lambda *_: True,
}
IN_SQL = {
    "ward = eyes": "ward = 'eyes'",
    "ward in (eyes, ear)": "ward in ('eyes', 'ear')",
    "ward = eyes and size = 1": "ward = 'eyes' and size = 1",
    "ward = skin or size = 3": "ward = 'skin' or size = 3",
    "not (ward = ear)": "not ward = 'ear'",
    "size in 2..3": "size between 2 and 3",
}


def column(text: str) -> str:
    """One count of a statement."""
    return "count(*)" if text == "total" else f"count(*) filter (where {IN_SQL.get(text, text)})"


def follows(reading: Reading, text: str) -> bool:
    try:
        return reading.release.query(text).standard_error > 0
    except ValueError:
        return False


def dense(readings: Sequence[tuple[Reading, Sequence[str]]], text: str) -> tuple[float, float]:
    """One count by least squares over the nine cells, with covariances from the errors of differences alone."""
    matrix, values, inverse = [], [], []
    every = dict.fromkeys(each for _, texts in readings for each in texts)
    for reading, _ in readings:
        texts = [each for each in every if follows(reading, each)]
        counts = [reading.release.query(each) for each in texts]
        covariance = np.diag([count.standard_error**2 for count in counts])
        for left, right in itertools.combinations(range(len(texts)), 2):
            of_difference = reading.release.difference(texts[left], texts[right]).standard_error ** 2
            shared = (covariance[left, left] + covariance[right, right] - of_difference) / 2
            covariance[left, right] = covariance[right, left] = shared
        matrix.append(np.array([[HOLDS[each](*cell) for cell in CELLS] for each in texts], dtype=float))
        values.append(np.array([count.value for count in counts]))
        inverse.append(np.linalg.pinv(covariance, rcond=1e-9, hermitian=True))
    whole = sum(a.T @ v @ a for a, v in zip(matrix, inverse, strict=True))
    right = sum(a.T @ v @ y for a, v, y in zip(matrix, inverse, values, strict=True))
    wanted = np.array([HOLDS[text](*cell) for cell in CELLS], dtype=float)
    back = np.linalg.pinv(whole, rcond=1e-9, hermitian=True)
    assert back @ whole @ wanted == pytest.approx(wanted, abs=1e-6)
    return float(wanted @ back @ right), float(wanted @ back @ wanted)


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from(WHERE), min_size=1, max_size=4, unique=True), min_size=2, max_size=4))
@settings(max_examples=20, deadline=None)
def test_it_is_one_dense_least_squares_and_never_errs_more(lists) -> None:
    readings = []
    for number, texts in enumerate(lists, 1):
        sql = f"select {', '.join(map(column, texts))} from v"
        readings.append((released(number, sql, planned(sql, epsilon=0.1 * number), seed=number), texts))
    made = [reading for reading, _ in readings]
    for text in lists[0]:
        sql = f"select {column(text)} from v"
        answer = row(together(sql, made).answer(made[0]))
        value, variance = dense(readings, text)
        assert answer["count"] == pytest.approx(value, abs=1e-5)
        assert answer["count_error"] == pytest.approx(math.sqrt(variance), rel=1e-6)
        alone = [reading.release.query(text).standard_error for reading, texts in readings if text in texts]
        assert answer["count_error"] <= min(alone) * (1 + 1e-9)


@pytest.fixture(scope="module")
def parts():
    """Counts of some rows, of part of them and of the rest: three releases, none of which has another's number."""
    return [(sql, planned(sql, rho=0.02)) for sql in map(counting, (A, A_AND_B, A_WITHOUT_B))]


def test_a_union_and_its_parts_are_used_together(parts) -> None:
    """With one variance v: a from a and from b + c, which errs 2 v, has 2/3 v, and so has each by the others."""
    readings = [released(number, sql, plan, seed=number) for number, (sql, plan) in enumerate(parts, 1)]
    alone = row(together(parts[0][0], readings[:1]).answer(readings[0]))["count_error"]
    for reading, (sql, _) in zip(readings, parts, strict=True):
        answer = together(sql, readings).answer(reading)
        assert answer.numbers == (1, 2, 3)
        assert row(answer)["count_error"] == pytest.approx(alone * math.sqrt(2 / 3))
    free = together(parts[2][0], readings[:2]).for_nothing()
    assert free.numbers == (1, 2)
    assert free.error == pytest.approx(alone * math.sqrt(2))
    pairs = zip(readings[:2], parts[:2], strict=True)
    whole, part = (row(together(sql, [each]).answer(each))["count"] for each, (sql, _) in pairs)
    assert row(free)["count"] == pytest.approx(whole - part)
    assert together(counting("ward = 'ear'"), readings).for_nothing() is None


def simulated(pairs, sql: str, true: float) -> None:
    """Check the error and the interval of a count by drawing all releases again and again; noise is Gaussian."""
    squares, covered = [], 0
    for draw in range(AGAIN):
        readings = [released(number, text, plan, seed=10 * draw + number) for number, (text, plan) in enumerate(pairs)]
        answer = row(together(sql, readings).answer(readings[0]))
        squares.append(((answer["count"] - true) / answer["count_error"]) ** 2)
        covered += answer["count_low"] <= true <= answer["count_high"]
    assert stats.chi2.sf(sum(squares), AGAIN) > FALSE_ALARM / 3, "it errs more than it says"
    assert stats.chi2.cdf(sum(squares), AGAIN) > FALSE_ALARM / 3, "it errs less than it says"
    assert stats.binom.cdf(covered, AGAIN, 0.95) > FALSE_ALARM / 3, "intervals miss too often"


@pytest.mark.slow
def test_the_error_is_that_of_a_simulation(parts) -> None:
    simulated(parts, parts[0][0], TRUE["eyes"])


@pytest.fixture(scope="module")
def correlated():
    """Wards and their total, which is the sum of what was measured, and the total once more."""
    total, finer = "select count(*) from v", "select ward, size, count(*) from v group by rollup (ward, size)"
    return [(sql, planned(sql, rho=0.02)) for sql in (total, finer)]


@pytest.mark.slow
def test_so_is_that_of_answers_that_depend_on_each_other(correlated) -> None:
    simulated(correlated, correlated[0][0], sum(TRUE.values()))


@pytest.mark.slow
def test_a_planted_neglect_of_covariances_is_caught(correlated, monkeypatch) -> None:
    def alone(matrix, values, covariance):
        return Answers(matrix=matrix, values=values, covariance=np.diag(np.diagonal(covariance)))

    monkeypatch.setattr(session_squares, "Answers", alone)
    with pytest.raises(AssertionError, match="it errs more than it says"):
        test_so_is_that_of_answers_that_depend_on_each_other(correlated)


@pytest.mark.slow
def test_a_planted_dependence_of_the_noise_is_caught(parts, monkeypatch) -> None:
    """Were one release asked three times, the stated error would be too small."""
    seeded = rng.seeded
    monkeypatch.setattr(rng, "seeded", lambda number: seeded(number // 10))
    with pytest.raises(AssertionError, match="it errs more than it says"):
        simulated([parts[0]] * 3, parts[0][0], TRUE["eyes"])


def test_sums_of_a_number_are_combined_and_means_follow() -> None:
    """The sum of all from that of two groups, of one variance each; its mean is that over the combined count."""
    by_group = "select ward in ('eyes', 'ear') as a, sum(size), count(*) from v group by a"
    whole = "select sum(size), count(*), avg(size) from v"
    plans = [(sql, planned(sql, epsilon=0.5)) for sql in (whole, by_group)]
    readings = [released(number, sql, plan, seed=number) for number, (sql, plan) in enumerate(plans)]
    both, alone = (row(together(whole, each).answer(readings[0])) for each in (readings, readings[:1]))
    parts = together(by_group, readings[1:]).answer(readings[1]).table.table.to_pylist()
    for name in ("sum", "count"):
        other = math.fsum(part[f"{name}_error"] ** 2 for part in parts)
        assert both[f"{name}_error"] < alone[f"{name}_error"]
        assert both[f"{name}_error"] == pytest.approx((alone[f"{name}_error"] ** -2 + 1 / other) ** -0.5, rel=1e-3)
    assert both["avg"] == pytest.approx(both["sum"] / both["count"])
    assert both["avg_error"] < alone["avg_error"]
    assert both["avg_low"] < 2 < both["avg_high"]


@pytest.mark.slow
def test_the_covariance_of_sums_and_counts_is_that_of_a_simulation() -> None:
    """Of the sums and the count of a group, of which each has the middle of its bounds times the noise of the count."""
    sql = "select avg(size), avg(age), count(*) from v"
    plan, numbers = planned(sql, rho=0.5), ("count", "sum size", "sum age")
    drawn = []
    for seed in range(4 * AGAIN):
        estimates = released(1, sql, plan, seed).release.answers.estimates(None, 0.95)
        values, covariance = estimates.linear(numbers)
        drawn.append(values[:, 0])
    errors = np.linalg.solve(np.linalg.cholesky(covariance), np.array(drawn).T - np.mean(drawn, axis=0)[:, None])
    seen = errors @ errors.T
    limit = stats.norm.isf(FALSE_ALARM / 12) * math.sqrt(2 * len(drawn))  # of a sum of squares; of products it is less
    assert np.abs(seen - len(drawn) * np.eye(3)).max() < limit
    assert abs(covariance[0, 1]) > 0.5 * math.sqrt(covariance[0, 0] * covariance[1, 1])


def test_cells_of_a_table_are_combined_by_their_covariance() -> None:
    """Of independent cells a sum has the sum of their variances; with the same rows counted directly it has less."""
    finer, direct = "select size, avg(size), count(*) from v group by size", counting("size > 1")
    plans = [(sql, planned(sql, epsilon=epsilon)) for sql, epsilon in ((finer, 0.5), (direct, 0.3))]
    table, count = (released(number, sql, plan, seed=number) for number, (sql, plan) in enumerate(plans))
    assert table.release.kind == "marginals"
    cell, alone = (reading.release.query("size in 2..3").standard_error for reading in (table, count))
    assert cell == pytest.approx(math.sqrt(2) * table.release.query("size = 2").standard_error)
    assert row(together(direct, [table, count]).answer(count))["count_error"] == pytest.approx(
        (cell**-2 + alone**-2) ** -0.5
    )
    one = together(finer, [table, count]).answer(table).table.table["count_error"].to_pylist()
    variance = cell**2 / 2
    assert one[1] == pytest.approx(math.sqrt(variance - variance**2 / (2 * variance + alone**2)))
    assert one[0] == pytest.approx(math.sqrt(variance))


def test_other_numbers_stay_those_of_one_release() -> None:
    sql = "select median(size), count(*) from v"
    first = released(1, sql, planned(sql))
    finer = "select ward, size, count(*) from v group by ward, size"
    other = released(2, finer, planned(finer, epsilon=0.8), seed=2)
    both, alone = (row(together(sql, each).answer(first)) for each in ([first, other], [first]))
    assert both["median"] == alone["median"]
    assert both["count_error"] < alone["count_error"]


def test_beyond_the_bound_every_number_is_combined_by_itself(monkeypatch) -> None:
    """Then a union is no more than its own counts: 1 / variance adds up over the releases that have it."""
    pairs = [(BY_WARD, planned(BY_WARD, epsilon=epsilon)) for epsilon in (0.3, 0.5)]
    readings = [released(number, sql, plan, seed=number) for number, (sql, plan) in enumerate(pairs)]
    part = released(3, counting(A_AND_B), planned(counting(A_AND_B)), seed=3)
    rest = released(4, counting(A_WITHOUT_B), planned(counting(A_WITHOUT_B)), seed=4)
    alone = [each.release.query("ward = eyes").standard_error for each in readings]

    def error() -> float:
        return together(BY_WARD, [*readings, part, rest]).answer(readings[0]).table.table["count_error"][0].as_py()

    with_parts = error()
    monkeypatch.setattr(session_squares, "MOST", 4)  # three wards and one part: the other part is left out
    assert error() == pytest.approx((alone[0] ** -2 + alone[1] ** -2) ** -0.5)
    monkeypatch.setattr(session_squares, "MOST", 2)
    assert error() == pytest.approx((alone[0] ** -2 + alone[1] ** -2) ** -0.5)
    assert with_parts < error()


@pytest.mark.slow
def test_where_persons_keep_some_rows_only_releases_stay_apart() -> None:
    """Each release draws anew which rows of a person it counts: their counts are not of the same rows."""
    spec = {**SPEC, "privacy": {"epsilon": 1.0, "unit": "age", "rows_per_unit": 3}}
    spec["attribute"] = [each for each in SPEC["attribute"] if each["name"] != "age"]
    plan = plan_statements(spec, BY_WARD).parts[0].planned
    readings = [released(number, BY_WARD, plan, seed=number) for number in (1, 2)]
    apart = together(BY_WARD, readings, spec)
    assert apart.answer(readings[0]).numbers == (1,)
    assert apart.for_nothing().numbers == (1,)
    assert together(BY_WARD, readings).answer(readings[0]).numbers == (1, 2)


def test_only_releases_of_the_same_rows_are_used() -> None:
    """A release of those of an age, and one of an attribute that leaves rows out, count others."""
    spec = load_spec(SPEC, release=ANY)
    every = [
        rows_of(spec, sql)
        for sql in (
            BY_WARD,
            "select count(*) from v",
            "select avg(size) from v where age between 18 and 64",
            "select avg(size), count(*) from v where age between 65 and 80",
            "select stay, count(*) from v group by stay",
        )
    ]
    assert every[0] == every[1]
    assert len({*every[1:]}) == 4
