"""What the page of a table's statistics says beyond all others: what was measured, with which noise."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dpress.attributes.domain import Schema
from dpress.kinds.statistics.curator.answers import ANSWERING
from dpress.kinds.statistics.curator.conditions import condition
from dpress.kinds.statistics.curator.quantiles import BETA
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.query.release import Release
from dpress.reporting.titled_conditions import titled_text


def made(release: Release) -> dict[str, Any]:
    """Return of every part what it measures, its share of the budget, and how wrong a count from it, or a rank, is."""
    answers = ANSWERING.of(release)
    mechanism: Any = answers.mechanism
    noises, of_sums = list[tuple[str, str, str]](), Fraction(1)
    for chosen in answers.chosen:
        levels = f"{len(chosen.choice.quantiles)} chosen of {chosen.cells:,} cells"
        what = f"{release.schema.captions[chosen.axis]}: {levels}"
        share = chosen.choice.loss.amount / mechanism.loss.amount
        within = math.ceil(max(chosen.choice.rank_errors(chosen.cells, BETA)))
        noises.append((what, _percent(share), f"95 %: at most {within:,}"))
        of_sums -= share
    strategy = answers.strategy
    if strategy is not None:
        parts = zip(_measured(strategy, release.schema), strategy.shares, mechanism.noises, strategy.parts, strict=True)
        for what, share, noise, part in parts:
            noises.append((what, _percent(share * of_sums), f"{math.sqrt(noise.variance) * part.step:.3g}"))
    shared_out = strategy is not None and bool(strategy.moments)
    return {"noises": noises, "shared_out": shared_out, "asked": (), "shapes": ()}


def _measured(strategy: GroupStatistics, schema: Schema) -> Iterator[str]:
    """Yield what every part of the sums measures."""
    for part in strategy.moments:
        if part.axis is not None:
            yield f"{schema.captions[part.axis]}: shares of rows"
        else:
            yield _tested(schema, part) or "rows"
    for tree in strategy.distributions:
        yield f"{schema.captions[tree.axis]}: a tree of counts"
    for replicates in strategy.replicates:
        where = _tested(schema, replicates.part).removeprefix("whether ")
        axis = replicates.part.axis
        of = "rows" if axis is None else schema.captions[axis]
        yield f"{where or of}: {len(replicates.axes)} replicate weights"
    for values in strategy.distinct:
        yield f"{schema.captions[values.axis]}: different values"
    for persons in strategy.persons:
        yield "persons" if persons.axis is None else f"{schema.captions[persons.axis]}: a total of each person"


def _tested(schema: Schema, part: MomentSums) -> str:
    """Return what a part's condition tests, in words; empty without one."""
    among = f", among {titled_text(schema, condition(schema, part.among))}" if part.among else ""
    return f"whether {titled_text(schema, condition(schema, part.where))}{among}" if part.where else ""


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):.1f} %"
