"""Noise for every record around its group: the published scales, candidates and probabilities."""

from fractions import Fraction

import numpy as np

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.mechanisms.microdata.documents.group_records import records
from dpress.noise.choose import exponential_probabilities

COLUMNS = columns([Integer(name="age", bounds=(0, 1000)), Categorical(name="work", values=("a", "b", "c", "d"))])
ROWS = 20_000
FALSE_ALARM = 1e-6
LIMIT = 5.0  # standard errors of a mean: passed by chance 6e-7


def made(epsilon: Fraction, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of these sizes at 300, 400, ...; of each four records, three have category 0 and one 2."""
    groups = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    codes = np.stack([300 + 100 * groups, np.where(np.arange(groups.size) % 4 == 3, 2, 0)]).astype(np.int32)
    return codes, groups, records(COLUMNS, codes, groups, epsilon=epsilon, rng=rng.seeded(1))


def spread_fits(noise: np.ndarray, scale: float) -> bool:
    """Whether independent draws have the variance 2 scale^2 of Laplace noise, rounded to cells (1/12 more)."""
    variance = 2 * scale**2 + 1 / 12
    return abs(float((noise.astype(float) ** 2).mean()) - variance) < LIMIT * variance * (5 / noise.size) ** 0.5


def test_a_number_has_noise_of_the_range_over_size_and_epsilon_for_every_record():
    epsilon = Fraction(1, 200)
    codes, groups, out = made(epsilon, (ROWS, ROWS // 2))
    for group, size in enumerate((ROWS, ROWS // 2)):
        noise = (out[0] - codes[0])[groups == group]
        assert spread_fits(noise, 1000 / (size * float(epsilon)))
        assert not spread_fits(noise, 1.25 * 1000 / (size * float(epsilon)))
        assert len(set(noise.tolist())) > 20


def test_a_category_occurs_in_the_group_and_has_the_probability_of_the_exponential_mechanism():
    _, _, out = made(Fraction(1, 2000), (ROWS // 10,))
    scores = np.array([1500, 500])
    wanted = exponential_probabilities(scores, epsilon="0.0005", sensitivity=1)
    assert set(out[1].tolist()) == {0, 2}
    share, error = (out[1] == 0).mean(), (wanted[0] * wanted[1] / out[1].size) ** 0.5
    assert abs(share - wanted[0]) < LIMIT * error
    assert abs(share - exponential_probabilities(scores, epsilon="0.0015", sensitivity=1)[0]) > LIMIT * error


def test_at_usual_epsilons_the_release_is_the_exact_clustering():
    codes, _, out = made(Fraction(1), (ROWS,))
    assert (out[0] == 300).mean() > 0.999
    assert (out[1] == 0).all()
    assert codes[1].max() == 2


def test_an_attribute_with_one_value_and_a_group_of_one_work():
    single = columns([Integer(name="x", bounds=(3, 3)), Categorical(name="y", values=("only",))])
    codes = np.zeros((2, 3), dtype=np.int32)
    groups = np.array([0, 1, 1], dtype=np.int32)
    assert not records(single, codes, groups, epsilon=Fraction(1), rng=rng.seeded(1)).any()
