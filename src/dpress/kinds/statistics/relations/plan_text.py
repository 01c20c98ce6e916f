"""What a plan of relations says: the error of noise and, of coefficients, that of sampling beside it."""

import math

import numpy as np

from dpress.core.basics.losses.any_loss import describe
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.kinds.statistics.assumed_shape import Assumed, supposed
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.plan_text import typical
from dpress.kinds.statistics.relations.estimates import RelationEstimates
from dpress.kinds.statistics.relations.terms import scale_of
from dpress.mechanisms.linear.groups import groups_in
from dpress.query.published_tables import CONFIDENCE
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    chosen, wished = planned.chosen, of_kind(planned.spec, Statistics)
    every = _expected(planned, chosen)
    errors = expected_errors(planned, chosen)
    sampling = {name: every.of(name).sampling for name in errors}
    rows = [[name, typical(error), *map(_first, [sampling[name]])] for name, error in errors.items()]
    groups = groups_in(every.strategy.shape, every.strategy.by)
    size = f"a group of {planned.choice.users / groups:,.0f} rows" if groups > 1 else f"{planned.choice.users:,} rows"
    basis = f"For {size}, {supposed(wished.assume or {})}, and no number depends on another: all are approximations."
    header = ("statistic", "typical error", "of sampling")
    remarks: list[str | Listing] = [basis, f"{chosen.method}: {describe(chosen.mechanism.claim.proven)} (proven)."]
    return PlanText(candidates=Listing(header=header, rows=rows, numbers=(1, 2)), remarks=remarks)


def _first(errors: Array | None) -> str:
    return "-" if errors is None or math.isnan(errors[0]) else typical(float(errors[0]))


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size; infinite where noise hides it."""
    every = _expected(planned, candidate)
    errors = {name: float(every.of(name).standard_error[0]) for name in every.names}
    return {name: math.inf if math.isnan(error) else error for name, error in errors.items()}


def _expected(planned: Plan, candidate: Candidate) -> RelationEstimates:
    """Return the estimates of one group with independent values spread as supposed, and no noise in them."""
    mechanism, schema = candidate.mechanism, planned.choice.schema
    strategy = mechanism.strategy  # type: ignore[attr-defined]
    assumed: Assumed = of_kind(planned.spec, Statistics).assume or {}
    means, squares = [], []
    for number, axis in enumerate(strategy.axes, 1):
        shape, (centre, radius) = assumed.get(schema.names[axis]), scale_of(strategy, schema, number)
        means.append(0.0 if shape is None else (shape.mean - centre) / radius)
        squares.append(1 / 3 if shape is None else means[-1] ** 2 + (shape.sd / radius) ** 2)
    row = np.array([1.0, *means, *squares, *(means[i] * means[j] for i, j in strategy.pairs)])
    cells = [schema.tabular[axis].size for axis in strategy.within]
    rows = planned.choice.users / strategy.groups
    return RelationEstimates(
        strategy=strategy,
        schema=schema,
        features=np.broadcast_to(rows * row, (1, *cells, row.size)),
        covariance=strategy.covariance(mechanism.noises[0].variance),  # type: ignore[attr-defined]
        sizes=np.ones(1),
        z=critical(CONFIDENCE, mechanism.tail),
    )
