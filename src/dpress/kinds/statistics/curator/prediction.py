"""How wrong every statistic will be, before a row is read, and the shares of the budget that suit them best.

All figures are for one group of `users` / groups rows, as many a person as may be, whose values are spread evenly over
their bounds or as `assume` says: the same formulas as after the release, at these sums. They are approximations, but
for the error of counts and persons, which is exact.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.losses.any_loss import part_of, power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.kinds.statistics.assumed_shape import Assumed, cell_shares
from dpress.kinds.statistics.curator.cells_near import CellsNear
from dpress.kinds.statistics.curator.estimates import GroupEstimates, statistics
from dpress.kinds.statistics.curator.first_step import GroupMechanism, cells_first, decoder_of, groups_of
from dpress.kinds.statistics.curator.parts_of_budget import Measured
from dpress.kinds.statistics.curator.prefix_counts import mean_form_variance
from dpress.kinds.statistics.curator.quantiles import quantile_names, value_error, value_errors
from dpress.kinds.statistics.curator.weights import mean_part
from dpress.kinds.statistics.group_results import quantile_name
from dpress.kinds.statistics.level_values import bounded, scale_of
from dpress.mechanisms.discovery.quantile_cells import CELLS_SHARE
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.moment_sums import MomentSums

CONFIDENCE = 0.95
GRAIN = 1 << 20  # shares are whole multiples of its inverse


def best_shares(
    even: Measured, schema: Schema, *, users: int, precision: Mapping[str, float], assumed: Assumed
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
    mechanism = even.mechanism
    typical = standard_errors(mechanism, schema, users, assumed) if precision else {}
    scaled = scaled_errors(mechanism, users)
    parts = len(scaled)
    places = {name: place for name, place in _parts_of(mechanism, schema).items() if name in typical}
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
    decoder, errors = decoder_of(mechanism), dict[str, float]()
    if decoder.strategy is not None:
        expected = _expected(mechanism, decoder.strategy, (schema, assumed), users)
        given = {name: float(expected.of(name).standard_error[0]) for name in expected.names}
        errors = {name: error if math.isfinite(error) else math.inf for name, error in given.items()}
        errors |= _of_cut_cells(mechanism, schema, users, assumed)
    for levels in decoder.chosen:
        of_levels = value_errors(levels, schema, assumed, rows=users / levels.groups)
        errors |= dict(zip(quantile_names(levels, schema), of_levels, strict=True))
    return errors


def hidden_sampling(mechanism: GroupMechanism, schema: Schema, users: int, assumed: Assumed) -> dict[str, float]:
    """Return the most that the error of sampling may be where noise hides it, in a group of the expected size."""
    strategy = decoder_of(mechanism).strategy
    if strategy is None:
        return {}
    expected = _expected(mechanism, strategy, (schema, assumed), users)
    hidden = {}
    for name in expected.names:
        statistic = expected.of(name)
        if statistic.population is None:
            continue
        half = (statistic.population[1][0] - statistic.population[0][0]) / 2
        within = (statistic.high[0] - statistic.low[0]) / 2
        hidden[name] = math.sqrt(max(half**2 - within**2, 0)) / expected.of_sampling
    return hidden


def _of_cut_cells(mechanism: GroupMechanism, schema: Schema, users: int, assumed: Assumed) -> dict[str, float]:
    """Return the error of every quantile whose cells are chosen, which no shape that is supposed knows."""
    errors = {}
    for tree, near in _cells_near(mechanism, users).items():
        attribute = bounded(schema, tree.axis)
        low, high = map(float, attribute.ends)
        rows, shape = math.sqrt(near.rank_variance), assumed.get(attribute.name)
        for q in tree.quantiles:
            error = value_error((low, high), shape, float(q), rows * tree.groups / users)
            errors[quantile_name(attribute.name, q)] = error
    return errors


def _cells_near(mechanism: GroupMechanism, users: float) -> Mapping[GroupDistribution, CellsNear]:
    """Return what is expected of every distribution whose cells are chosen; nothing where none are."""
    if (cutting := cells_first(mechanism)) is None:
        return {}
    return {
        tree: CellsNear(
            quantiles=tree.quantiles, loss=part_of(choice.loss, 1 / CELLS_SHARE), unit=choice.unit, rows=users
        )
        for tree, choice in zip(cutting.cut, cutting.choices, strict=True)
    }


def scaled_errors(mechanism: GroupMechanism, users: int) -> list[float]:
    """Return the error of every part: of a mean in widths of the bounds, of quantiles in shares of the rows."""
    decoder = decoder_of(mechanism)
    rows, variances = users / groups_of(mechanism), iter([noise.smooth_variance for noise in mechanism.noises])
    errors = []
    if (strategy := decoder.strategy) is not None:
        rows *= 1.0 if strategy.weight is None else strategy.weight.even_mean
        for part, variance in zip(strategy.moments, variances, strict=False):
            sums = 1 if part.degree == 0 else 2
            errors.append(math.sqrt(sums * variance) * part.step / rows / sums)
        near = _cells_near(mechanism, users)
        for tree, variance in zip(strategy.distributions, variances, strict=False):
            cut = near[tree].rank_variance if tree in near else None
            counts = variance * tree.step**2
            counted = mean_form_variance(tree.tree, counts, tree.quantiles) if cut is None else cut
            errors.append(math.sqrt(counted) / rows)
        of_moments = errors[: len(strategy.replicates)]
        errors += [error for error, _ in zip(of_moments, variances, strict=False)]
        for distinct, variance in zip(strategy.distinct, variances, strict=False):
            errors.append(math.sqrt(variance) / min(distinct.levels, max(rows, 1.0)))
        for persons, variance in zip(strategy.persons, variances, strict=True):
            errors.append(math.sqrt(variance / (1 + persons.degree)) * persons.step * mechanism.unit.rows / rows)
    of_choices = (float(np.mean(levels.choice.rank_variances(rows))) for levels in decoder.chosen)
    return [*errors, *(math.sqrt(variance) / rows for variance in of_choices)]


def mean_square(mechanism: GroupMechanism, users: int) -> float:
    """Return the mean of the parts' squared errors, see `scaled_errors`."""
    return float(np.mean(np.square(scaled_errors(mechanism, users))))


def _expected(
    mechanism: GroupMechanism, strategy: GroupStatistics, shape: tuple[Schema, Assumed], users: int
) -> GroupEstimates:
    """Return the estimates of one group with values spread as supposed, and no noise in them."""
    rows = users / strategy.parts[0].groups
    weighted = rows * mean_part(shape[0], strategy.weight, shape[1])
    sums = [rows * moments(part, *shape)[None] for part in strategy.moments]
    for tree in strategy.distributions:
        cells = weighted * distribution(tree, *shape)
        sums.append(np.asarray(tree.tree.map.apply(cells), dtype=np.float64)[None])
    sums += [np.zeros((1, part.rows // part.groups)) for part in strategy.replicates]
    sums += [np.full((1, 1), float(min(part.levels, rows))) for part in strategy.distinct]
    people = rows / mechanism.unit.rows
    sums += [np.full((1, part.degree + 1), people / (part.degree + 1)) for part in strategy.persons]
    pairs = zip(strategy.parts, mechanism.noises, strict=True)
    return GroupEstimates(
        strategy=strategy,
        schema=shape[0],
        sums=tuple(sums),
        variances=tuple(noise.variance * part.step**2 for part, noise in pairs),
        steps=tuple(part.step for part in strategy.parts),
        sizes=np.ones(1),
        z=critical(CONFIDENCE, mechanism.tail),
        of_sampling=critical(CONFIDENCE, "gaussian"),
    )


def moments(part: MomentSums, schema: Schema, assumed: Assumed) -> Array:
    """Return the mean of what a row adds: of a weighted one what the mean weight leaves, and that times the shares."""
    if part.weight is None:
        return _shares(part, schema, assumed)
    mean = mean_part(schema, part.weight, assumed)
    return np.array([1 - mean, *(mean * _shares(part, schema, assumed))])


def _shares(part: MomentSums, schema: Schema, assumed: Assumed) -> Array:
    """Return the mean of the shares of a row, shape (degree + 1,): 1 / (degree + 1) each where values lie evenly."""
    shape = None if part.axis is None else assumed.get(schema.names[part.axis])
    if shape is None:
        return np.full(part.degree + 1, 1 / (part.degree + 1))
    centre, radius = scale_of(schema, part)
    t = (shape.mean - centre) / radius
    square = t**2 + (shape.sd / radius) ** 2
    if part.degree == 1:
        return np.array([1 - t, 1 + t]) / 2
    return np.array([1 - 2 * t + square, 2 - 2 * square, 1 + 2 * t + square]) / 4


def distribution(part: GroupDistribution, schema: Schema, assumed: Assumed) -> Array:
    """Return the shares of the cells."""
    cells, attribute = part.tree.cells, bounded(schema, part.axis)
    return cell_shares(attribute, -(-np.arange(1, cells) * part.levels // cells), assumed.get(attribute.name))


def _parts_of(mechanism: GroupMechanism, schema: Schema) -> dict[str, int]:
    """Return the part that every statistic but the count comes from."""
    decoder, strategy = decoder_of(mechanism), decoder_of(mechanism).strategy
    places = {} if strategy is None else {name: place for name, (place, _) in statistics(strategy, schema).items()}
    first = 0 if strategy is None else len(strategy.parts)
    listed = enumerate((quantile_names(levels, schema) for levels in decoder.chosen), first)
    return places | {name: place for place, names in listed for name in names}


def _exact(shares: Sequence[float]) -> tuple[Fraction, ...]:
    whole = np.maximum(np.floor(np.asarray(shares) * GRAIN), 1).astype(np.int64)
    whole[int(np.argmax(whole))] += GRAIN - int(whole.sum())
    return tuple(Fraction(int(share), GRAIN) for share in whole)


def _less(loss: Loss, part: float) -> Loss:
    """Return a part of a loss, rounded up to a millionth of it."""
    return part_of(loss, Fraction(math.ceil(part * 1_000_000), 1_000_000))
