"""Which rows of a person stay is uniform, and nobody else's business; samplers of which that is wrong are caught.

A sampler is a function from persons, contents and the cap to the rows that stay. The same tests judge ours and four
that are wrong, each of which one test at least must catch.
"""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.data.persons.row_sample import row_sample

FALSE_ALARM = 1e-6
PERSONS, OWN, CAP = 12_000, 4, 2
SUBSETS = {subset: place for place, subset in enumerate(itertools.combinations(range(OWN), CAP))}


def ours(persons, contents, cap, generator):
    """Several batches, and memory for a few hundred persons only: several passes."""
    table = pa.table({"uid": persons, "x": contents})
    unit = Unit(column="uid", rows=cap)
    sample = row_sample(lambda: table.to_batches(max_chunksize=5000), unit, rng=generator, held=1_500_000)
    return np.unpackbits(sample.bits, bitorder="little")[: len(persons)].astype(bool)


def by_draws(persons, draws, cap):
    """Keep every person's rows with the smallest draws; of equal ones the earlier."""
    order = np.lexsort((np.arange(len(persons)), draws, persons))
    sorted_persons = persons[order]
    firsts = np.flatnonzero(np.r_[True, sorted_persons[1:] != sorted_persons[:-1]])
    ranks = np.arange(len(persons)) - np.repeat(firsts, np.diff(np.r_[firsts, len(persons)]))
    kept = np.zeros(len(persons), dtype=bool)
    kept[order[ranks < cap]] = True
    return kept


def sorted_draws(persons, _contents, cap, generator):
    """Sort all rows by their draws: right, and as slow as it is simple."""
    return by_draws(persons, generator.words(len(persons)), cap)


def first_rows(persons, _contents, cap, _generator):
    """Keep the first rows: wrong."""
    return by_draws(persons, np.zeros(len(persons)), cap)


def draw_of_content(persons, contents, cap, generator):
    """Draw a word for every content, whoever has it: wrong, persons with equal rows keep the same ones."""
    return by_draws(persons, generator.words(int(contents.max()) + 1)[contents], cap)


def coarse_words(persons, _contents, cap, generator):
    """Draw words of two bits while the others have few rows: wrong, their number decides."""
    others = len(persons) - OWN * PERSONS
    words = generator.words(len(persons))
    return by_draws(persons, words if others > PERSONS else words // np.uint64(1 << 62), cap)


def last_batch(persons, _contents, cap, generator):
    """Draw words of 63 bits for the first half of the table: wrong, rows stay by where they stand."""
    words = generator.words(len(persons))
    words[: len(words) // 2] >>= np.uint64(1)
    return by_draws(persons, words, cap)


def subsets(sampler, seed, *, others):
    """Return which of the six sets of two rows each person keeps, among others with so many rows each.

    Two persons next to each other have rows of the same contents; the rows of a person lie apart.
    """
    generator = rng.seeded(seed)
    own = np.tile(np.arange(PERSONS), OWN)
    contents = np.repeat(np.arange(OWN), PERSONS) * PERSONS + own // 2
    more = np.repeat(np.arange(PERSONS, PERSONS + 3000), others)
    persons = np.concatenate([own[: len(own) // 2], more, own[len(own) // 2 :]])
    spread = np.concatenate([contents[: len(own) // 2], np.arange(len(more)), contents[len(own) // 2 :]])
    kept = sampler(persons, spread, CAP, generator)[persons < PERSONS].reshape(OWN, PERSONS)
    assert (kept.sum(axis=0) == CAP).all()
    return np.array([SUBSETS[tuple(np.flatnonzero(column))] for column in kept.T])


def uniform(found):
    """Test that all sets of rows are equally likely."""
    return bool(stats.chisquare(np.bincount(found, minlength=len(SUBSETS))).pvalue > FALSE_ALARM)


def independent(found):
    """Test that what a person keeps tells nothing of what the next one keeps."""
    joint = np.bincount(found[::2] * len(SUBSETS) + found[1::2], minlength=len(SUBSETS) ** 2)
    return bool(stats.chisquare(joint).pvalue > FALSE_ALARM)


def judged(sampler, seed=1):
    """Return what holds of a sampler: uniform among few others and many, and one person from the next."""
    few, many = (subsets(sampler, seed, others=others) for others in (1, 20))
    return uniform(few), uniform(many), independent(few)


@pytest.mark.parametrize("sampler", [ours, sorted_draws])
def test_a_person_keeps_every_set_of_rows_alike_whoever_else_is_there(sampler):
    assert judged(sampler) == (True, True, True)


@pytest.mark.parametrize(
    ("sampler", "holds"),
    [
        (first_rows, (False, False, False)),
        (draw_of_content, (True, True, False)),
        (coarse_words, (False, True, False)),
        (last_batch, (False, False, False)),
    ],
)
def test_samplers_that_are_wrong_are_caught(sampler, holds):
    assert judged(sampler) == holds


def test_where_all_rows_stand_says_nothing_in_larger_samples():
    """Forty of a hundred rows of 600 persons: every row is kept with a chance of two fifths."""
    persons = np.arange(60_000) % 600
    kept = ours(persons, persons, 40, rng.seeded(3)).reshape(100, 600)
    assert (kept.sum(axis=0) == 40).all()
    spread = math.sqrt(600 * 0.4 * 0.6) * stats.norm.isf(FALSE_ALARM / 200)
    assert (np.abs(kept.sum(axis=1) - 240) < spread).all()
    firsts = first_rows(persons, persons, 40, rng.seeded(3)).reshape(100, 600)
    assert (np.abs(firsts.sum(axis=1) - 240) > spread).any()
