"""Sampled audits: outputs of the running code for two neighbours, an event chosen on some, counted on the others.

Flow: draw from every value -> likelihood ratios of the outcomes -> draw again -> the pair and the event that promise
most -> draw again -> counts -> lower bound. The three draws are independent, so the last one's confidence holds
whatever the first two chose. Linear mechanisms: the ratio is that of the noise, so nothing needs to be learned of it.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress.audit import bounds
from dpress.audit.bounds import Event, Floats
from dpress.audit.outcomes import Outcomes, Scores
from dpress.core.basics import check

ALPHA = 0.01
"""The chance that an audit reports a correct method as violated; its sampled checks share it."""
FEWEST = 1000
SURPRISE = 1.1
"""How much more the ratios that were seen must promise than the stated ones, to be used instead: the code differs."""


def epsilon_of_outcomes(source: Outcomes, samples: int, *, alpha: float = ALPHA, delta: float = 0.0) -> float:
    """Return a lower bound on epsilon, beside delta, with confidence 1 - alpha, over all pairs of inputs."""
    sizes = _portions(samples)
    values = range(source.values)
    tables = [np.bincount(source.draw(value, sizes.ratios), minlength=source.labels) + 1.0 for value in values]
    again = [source.draw(value, sizes.choice) for value in values]

    def choose(ratios: Callable[[int, int], Floats]) -> _ChosenEvent:
        events = []
        for value, other in itertools.permutations(values, 2):
            ratio = ratios(value, other)
            event = bounds.best_event(ratio[again[value]], ratio[again[other]], sizes.counts, alpha, delta)
            events.append(_ChosenEvent(event=event, ratio=ratio, value=value, other=other))
        return max(events, key=lambda chosen: chosen.event.promise)

    if source.values == 1:
        return 0.0  # there is nothing to tell apart
    stated, seen = choose(source.stated), choose(lambda value, other: np.log(tables[value] / tables[other]))
    best = seen if seen.event.promise > SURPRISE * stated.event.promise else stated
    draws = (source.draw(value, sizes.counts) for value in (best.value, best.other))
    first, second = (best.event.hits(best.ratio[labels]) for labels in draws)
    return bounds.epsilon_low(first, second, sizes.counts, alpha, delta)


def rho_of_outcomes(source: Outcomes, samples: int, *, alpha: float = ALPHA) -> float:
    """Return a lower bound on rho with confidence 1 - alpha, for two inputs, by the stated or the seen ratio."""
    sizes = _portions(samples)
    tables = [np.bincount(source.draw(value, sizes.ratios), minlength=source.labels) + 1.0 for value in (0, 1)]
    again = [source.draw(value, sizes.choice) for value in (0, 1)]
    promised = []
    for ratio in (source.stated(1, 0), np.log(tables[1] / tables[0])):
        for sign, (side, other) in ((1, (1, 0)), (-1, (0, 1))):
            first, second = sign * ratio[again[side]], sign * ratio[again[other]]
            witness = bounds.best_witness(first, second, sizes.counts, alpha)
            promised.append((witness.rho_low(first, second, sizes.counts, alpha), witness, sign * ratio, side, other))
    _, witness, ratio, side, other = max(promised, key=lambda choice: choice[0])
    first, second = (ratio[source.draw(value, sizes.counts)] for value in (side, other))
    return witness.rho_low(first, second, sizes.counts, alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenEvent:
    """The event to count, and of which two inputs."""

    event: Event
    ratio: Floats
    value: int
    other: int


def epsilon_of_scores(source: Scores, samples: int, *, alpha: float = ALPHA) -> float:
    """Return a lower bound on epsilon with confidence 1 - alpha, from the better direction."""
    sizes = _portions(samples)
    zero, changed = source.draw(0, sizes.choice), source.draw(1, sizes.choice)
    up = bounds.best_event(changed, zero, sizes.counts, alpha)
    down = bounds.best_event(-zero, -changed, sizes.counts, alpha)
    sign, event, sides = (1, up, (1, 0)) if up.promise >= down.promise else (-1, down, (0, 1))
    first, second = (event.hits(sign * source.draw(side, sizes.counts)) for side in sides)
    return bounds.epsilon_low(first, second, sizes.counts, alpha)


def rho_of_scores(source: Scores, samples: int, *, alpha: float = ALPHA) -> float:
    """Return a lower bound on rho with confidence 1 - alpha."""
    sizes = _portions(samples)
    witness = bounds.best_witness(source.draw(1, sizes.choice), source.draw(0, sizes.choice), sizes.counts, alpha)
    return witness.rho_low(source.draw(1, sizes.counts), source.draw(0, sizes.counts), sizes.counts, alpha)


def mu2_of_outcomes(source: Outcomes, samples: int, *, alpha: float = ALPHA) -> float:
    """Return a lower bound on mu^2, twice that on the rho that follows from it."""
    return 2 * rho_of_outcomes(source, samples, alpha=alpha)


def mu2_of_scores(source: Scores, samples: int, *, alpha: float = ALPHA) -> float:
    """Return a lower bound on mu^2, twice that on the rho that follows from it."""
    return 2 * rho_of_scores(source, samples, alpha=alpha)


OUTCOMES = {"pure": epsilon_of_outcomes, "zcdp": rho_of_outcomes, "gaussian": mu2_of_outcomes}
SCORES = {"pure": epsilon_of_scores, "zcdp": rho_of_scores, "gaussian": mu2_of_scores}
"""What bounds the amount of a loss from below, by its form."""


@dataclass(frozen=True, slots=True)
class _Portions:
    """How many of the samples serve for the ratios, for the choice of the event, and for the counts."""

    ratios: int
    choice: int
    counts: int


def _portions(samples: int) -> _Portions:
    ratios, choice = check.count("samples", samples, least=FEWEST) // 20, samples // 8
    return _Portions(ratios, choice, samples - ratios - choice)
