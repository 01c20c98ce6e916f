"""How wrong every statistic will be, before a row is read, and the shares of the budget that suit them best.

All figures are for one group of `users` / groups rows, as many a person as may be, whose values are spread evenly over
their bounds or as `assume` says: the same formulas as after the release, at these sums. They are approximations, but
for the error of counts and persons, which is exact.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.losses.any_loss import part_of, power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.inference.interval import critical
from dpress.kinds.statistics.assumed_shape import Assumed, distribution, moments
from dpress.kinds.statistics.curator.chosen_quantiles import quantile_names
from dpress.kinds.statistics.curator.estimates import COUNT, GroupEstimates, mean_form_variance
from dpress.kinds.statistics.curator.parts_of_budget import GroupMechanism, chosen_of, sums_of
from dpress.kinds.statistics.curator.quantile_parts import value_errors
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels
from dpress.noise.distribution import Noise
from dpress.noise.laplace import DiscreteLaplace

CONFIDENCE = 0.95
GRAIN = 1 << 20  # shares are whole multiples of its inverse


def best_shares(
    even: GroupMechanism, schema: Schema, *, users: int, precision: Mapping[str, float], assumed: Assumed
) -> tuple[tuple[Fraction, ...], Loss]:
    """Return the shares of the loss, and the loss that is needed: less where all parts' precision is stated.

    An error falls as the share s does: c / s under epsilon, c / sqrt(s) under rho. Shares that the precision asks for
    come first. The others minimise the sum of squared errors, in widths of the bounds or shares of the rows: they are
    in proportion to c^(2/3) under epsilon, and to c under rho.

    Args:
        even: the parts, under equal shares of the whole loss.
        schema: of the attributes.
        users: how many rows are expected.
        precision: the standard error that is asked for, by statistic.
        assumed: of the values, by attribute.

    Raises:
        ValueError: no statistic has such a name, or the budget does not give the precision.
    """
    loss = even.loss
    typical = standard_errors(even, schema, users, assumed) if precision else {}
    scaled = scaled_errors(even, users)
    parts = len(scaled)
    places = {name: place for name, place in _parts_of(even, schema).items() if name in typical}
    stated: dict[int, float] = {}
    for name, target in precision.items():
        if name not in places:
            raise ValueError(
                f"{PLACE}.precision: there is no statistic {name!r}; there are {', '.join(places)}{meant(name, places)}"
            )
        needed = (typical[name] / target) ** loss.order / parts
        stated[places[name]] = max(needed, stated.get(places[name], 0.0))
    taken = sum(stated.values())
    if taken > 1 or (taken == 1 and len(stated) < parts):
        name, amount = loss.names[0], float(loss.amount)
        raise ValueError(
            f"{PLACE}.precision: these statistics alone need {name} = {amount * taken:.4g}, and the budget is "
            f"{name} = {amount:.4g}"
        )
    weights = np.array(scaled) ** (2 / (power_of(loss) + 1))
    weights[list(stated)] = 0
    if len(stated) < parts:
        weights *= (1 - taken) / weights.sum()
    weights[list(stated)] = list(stated.values())
    return _exact(weights / weights.sum()), _less(loss, taken) if len(stated) == parts else loss


def standard_errors(mechanism: GroupMechanism, schema: Schema, users: int, assumed: Assumed) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size.

    Infinite where a group is too small to say anything.
    """
    errors: dict[str, float] = {}
    if (sums := sums_of(mechanism)) is not None:
        expected = _expected(sums, (schema, assumed), users, critical(CONFIDENCE, sums.tail))
        given = {name: float(expected.of(name).standard_error[0]) for name in expected.names}
        errors = {name: error if math.isfinite(error) else math.inf for name, error in given.items()}
    for levels in chosen_of(mechanism):
        of_levels = value_errors(levels, schema, assumed, rows=users / levels.groups)
        errors |= dict(zip(quantile_names(levels, schema), of_levels, strict=True))
    return errors


def scaled_errors(mechanism: GroupMechanism, users: int) -> list[float]:
    """Return the error of every part: of a mean in widths of the bounds, of quantiles in shares of the rows."""
    sums, chosen = sums_of(mechanism), chosen_of(mechanism)
    of_choices = [_scaled_choice(levels, users / levels.groups) for levels in chosen]
    return [*([] if sums is None else _scaled_sums(sums, users)), *of_choices]


def _scaled_choice(levels: ChosenLevels, rows: float) -> float:
    return math.sqrt(float(np.mean(levels.choice.rank_variances(rows)))) / rows


def _scaled_sums(mechanism: MatrixMechanism, users: int) -> list[float]:
    strategy, variances = strategy_of(mechanism), [_smooth(noise) for noise in mechanism.noises]
    rows = users / strategy.parts[0].groups
    errors = []
    for part, variance in zip(strategy.moments, variances, strict=False):
        sums = 1 if part.degree == 0 else 2
        errors.append(math.sqrt(sums * variance) * part.step / rows / (1 if part.degree == 0 else 2))
    for tree, variance in zip(strategy.distributions, variances[len(strategy.moments) :], strict=False):
        errors.append(math.sqrt(mean_form_variance(tree.tree, variance, tree.quantiles)) / rows)
    for persons, variance in zip(strategy.persons, variances[len(strategy.of_rows) :], strict=True):
        errors.append(math.sqrt(variance / (1 + persons.degree)) * persons.step * mechanism.unit.rows / rows)
    return errors


def _smooth(noise: Noise) -> float:
    """Return the variance of the noise as if it were not discrete: never 0, so that no part is left without budget."""
    return 2 * float(noise.scale) ** 2 if isinstance(noise, DiscreteLaplace) else float(noise.sigma2)


def mean_square(mechanism: GroupMechanism, users: int) -> float:
    """Return the mean of the parts' squared errors, see `scaled_errors`."""
    return float(np.mean(np.square(scaled_errors(mechanism, users))))


def _expected(mechanism: MatrixMechanism, shape: tuple[Schema, Assumed], users: int, z: float) -> GroupEstimates:
    """Return the estimates of one group with values spread as supposed, and no noise in them."""
    strategy = strategy_of(mechanism)
    rows = users / strategy.parts[0].groups
    sums = [rows * moments(part, *shape)[None] for part in strategy.moments]
    for tree in strategy.distributions:
        cells = rows * distribution(tree, *shape)
        sums.append(np.asarray(tree.tree.map.apply(cells), dtype=np.float64)[None])
    people = rows / mechanism.unit.rows
    sums += [np.full((1, part.degree + 1), people / (part.degree + 1)) for part in strategy.persons]
    pairs = zip(strategy.parts, mechanism.noises, strict=True)
    variances = [noise.variance * part.step**2 for part, noise in pairs]
    return GroupEstimates(
        strategy=strategy,
        schema=shape[0],
        sums=tuple(sums),
        variances=tuple(variances),
        steps=tuple(part.step for part in strategy.parts),
        sizes=np.ones(1),
        z=z,
    )


def _parts_of(mechanism: GroupMechanism, schema: Schema) -> dict[str, int]:
    """Return the part that every statistic but the count comes from."""
    sums, listed = sums_of(mechanism), list[list[str]]()
    if sums is not None:
        strategy, whole = strategy_of(sums), (Fraction(1),)
        alone = [GroupStatistics(moments=(part,), shares=whole) for part in strategy.moments]
        alone += [GroupStatistics(moments=(), distributions=(part,), shares=whole) for part in strategy.distributions]
        alone += [GroupStatistics(moments=(), persons=(part,), shares=whole) for part in strategy.persons]
        empty: dict[str, Any] = {"schema": schema, "sums": (), "variances": (), "steps": (), "sizes": np.ones(1)}
        listed += [[*GroupEstimates(strategy=part, **empty, z=1.0).names] for part in alone]
    listed += [[*quantile_names(levels, schema)] for levels in chosen_of(mechanism)]
    return {name: place for place, names in enumerate(listed) for name in names if name != COUNT}


def strategy_of(mechanism: MatrixMechanism) -> GroupStatistics:
    """Return what a mechanism measures of groups."""
    strategy = mechanism.strategy
    if not isinstance(strategy, GroupStatistics):
        raise TypeError(f"{type(strategy).__name__} measures no statistics")
    return strategy


def _exact(shares: Sequence[float]) -> tuple[Fraction, ...]:
    whole = np.maximum(np.floor(np.asarray(shares) * GRAIN), 1).astype(np.int64)
    whole[int(np.argmax(whole))] += GRAIN - int(whole.sum())
    return tuple(Fraction(int(share), GRAIN) for share in whole)


def _less(loss: Loss, part: float) -> Loss:
    """Return a part of a loss, rounded up to a millionth of it."""
    return part_of(loss, Fraction(math.ceil(part * 1_000_000), 1_000_000))
