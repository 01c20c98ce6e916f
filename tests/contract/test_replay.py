"""Replay: the same words of noise on neighbouring tables leave nothing but the change of the exact answers."""

from types import ModuleType
from typing import Any

import numpy as np

from dpress.core.basics import rng

RANDOM_NEIGHBOURS = 20


def test_neighbours_differ_by_their_exact_answers_and_no_more_than_claimed(
    checks: ModuleType, linear_cases: Any
) -> None:
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        assert checks.replay_keeps_promise(one, checks.neighbours_of(one, RANDOM_NEIGHBOURS)), case


def test_the_number_of_noise_words_does_not_depend_on_the_data(checks: ModuleType, linear_cases: Any) -> None:
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        after = []
        for fill in (0, 1000):
            generator = rng.seeded(3)
            one.measure(checks.counts_for(one, np.full(one.map.cells, fill)), rng=generator)
            after.append(generator.words(2).tolist())
        assert after[0] == after[1], case


def test_a_mechanism_draws_fresh_noise_each_time_and_the_same_from_the_same_seed(
    checks: ModuleType, linear_cases: Any
) -> None:
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        counts = checks.counts_for(one, np.arange(one.map.cells))
        generator = rng.seeded(1)
        first, second = (one.measure(counts, rng=generator).answers for _ in range(2))
        again = one.measure(counts, rng=rng.seeded(1)).answers
        assert np.array_equal(first, again), case
        assert not np.array_equal(first, second), case


def test_a_measurement_is_integers_and_the_input_is_left_alone(checks: ModuleType, linear_cases: Any) -> None:
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        counts = checks.counts_for(one, np.arange(one.map.cells))
        before = counts.copy()
        measured = one.measure(counts, rng=rng.seeded(1))
        assert measured.answers.dtype == np.int64, case
        assert measured.map == one.map, case
        assert np.array_equal(counts, before), case


def test_a_choice_repeats_itself_with_the_same_seed(choice_cases: Any) -> None:
    for case, mechanism in choice_cases:
        scores = np.array([1, 0, 2, 2])
        picks = [[mechanism.choose(scores, rng=rng.seeded(seed)) for seed in range(40)] for _ in range(2)]
        assert picks[0] == picks[1], case
        assert len(set(picks[0])) > 1, case
