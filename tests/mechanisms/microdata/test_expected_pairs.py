"""The error of pairs that is likely of records, before a row is read: near what records of made-up people have."""

import numpy as np
import pytest
from tests.mechanisms.microdata.test_graphical import category, number

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import Codes, in_memory
from dpress.inference.normal import normal
from dpress.mechanisms.microdata.expected_pairs import _in_bins, _shares, equivalent_sample, expected_error
from dpress.mechanisms.microdata.graphical import Graphical, graphical

COLUMNS = (category("a", 3), category("b", 5), number("c", 16), category("d", 9), category("e", 4))


def method(loss: PureDP | ZCDP = ZCDP(rho="0.02")) -> Graphical:  # noqa: B008 - it is never changed
    made = graphical(COLUMNS, loss, ROW)
    assert made is not None
    return made


def people(rows: int) -> Codes:
    """Return rows whose attributes have common shares, and follow a little from one hidden trait."""
    source = rng.seeded(3)
    trait = normal(rows, rng=source)
    codes = []
    for column in COLUMNS:
        order = np.argsort(np.argsort(0.5 * trait + normal(rows, rng=source)))
        codes.append(np.searchsorted(np.cumsum(_shares(column)), (order + 0.5) / rows))
    return np.minimum(np.stack(codes), np.array([[column.size - 1] for column in COLUMNS])).astype(np.int32)


def distance(codes: Codes, others: Codes) -> float:
    """Return the mean distance of the tables of all pairs."""
    off = []
    for first, second in method().pairs:
        shape = COLUMNS[first].size, COLUMNS[second].size
        tables = []
        for each in (codes, others):
            places = np.ravel_multi_index((each[first], each[second]), shape)
            tables.append(np.bincount(places, minlength=shape[0] * shape[1]) / each.shape[1])
        off.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(off))


@pytest.mark.slow
@pytest.mark.parametrize("loss", [PureDP(epsilon="1"), ZCDP(rho="0.02")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("rows", [1_000, 20_000])
def test_records_are_about_as_far_off_and_not_as_those_of_ten_times_the_rows(loss: PureDP | ZCDP, rows: int) -> None:
    codes, made = people(rows), method(loss)
    measured = distance(codes, made.release(in_memory(codes), rng=rng.seeded(1)).codes)
    assert measured / 2 < expected_error(made, rows) < 2 * measured
    assert expected_error(made, 10 * rows) < measured / 2


def test_a_sample_of_so_many_rows_is_as_far_off() -> None:
    """Of 20 samples, whose mean distance is known to about 3 %."""
    rows = 100_000
    source, made = rng.seeded(5), method()
    codes = np.stack([row[np.argsort(source.words(rows))] for row in people(rows)])
    size = round(equivalent_sample(made, expected_error(made, 5_000)))
    parts = [np.argsort(source.words(rows))[:size] for _ in range(20)]
    off = np.mean([distance(codes, codes[:, part]) for part in parts])
    assert off == pytest.approx(expected_error(made, 5_000), rel=0.15)


def test_fewer_rows_are_farther_off() -> None:
    errors = [expected_error(method(), rows) for rows in (1, 100, 1_000, 10_000, 100_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] <= 1


def test_some_pairs_have_no_such_figure() -> None:
    some = graphical(COLUMNS, ZCDP(rho="0.05"), ROW, rounds=2)
    assert some is not None
    with pytest.raises(ValueError, match="all pairs"):
        expected_error(some, 1_000)


@pytest.mark.parametrize("size", [2, 5, 15, 16, 20, 33])
def test_numbers_of_few_cells_keep_them_and_others_have_sixteen_bins(size: int) -> None:
    shares = _shares(number("n", size))
    binned = _in_bins(shares)
    assert binned.size == min(size, 16)
    assert binned.sum() == pytest.approx(1)
    assert (binned > 0).all()


def test_yes_and_no_as_numbers_are_worth_a_sample_too() -> None:
    made = graphical(tuple(number(name, 2) for name in "abcde"), ZCDP(rho="0.02"), ROW)
    assert made is not None
    assert equivalent_sample(made, expected_error(made, 20_000)) > 1_000
