"""What a plan of a table's statistics says: the error of every statistic, and what is found first."""

from dpress.core.basics.losses.any_loss import describe
from dpress.core.methods.mechanism import NameMechanism
from dpress.kinds.statistics.assumed_shape import supposed
from dpress.kinds.statistics.curator.estimates import PERSONS
from dpress.kinds.statistics.curator.first_step import (
    bounds_first,
    cells_first,
    decoder_of,
    grouping,
    groups_of,
    in_widths,
    names_first,
)
from dpress.kinds.statistics.curator.prediction import hidden_sampling, standard_errors
from dpress.kinds.statistics.curator.quantiles import quantile_names
from dpress.kinds.statistics.curator.weights import kish, weighted
from dpress.kinds.statistics.group_results import COUNT, quantile_name
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.plan_text import listed, typical
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.discovery.quantile_cells import QuantileCells
from dpress.mechanisms.selection.above_threshold import EVEN, LIKELY
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    chosen, errors = planned.chosen, expected_errors(planned, planned.chosen)
    names, bounds = names_first(chosen.mechanism), bounds_first(chosen.mechanism)
    group = _expected(planned) if names is None else _discovered(names)
    exact = "errors of counts and persons are exact" if PERSONS in errors else "a count's error is exact"
    rest = f"{exact}, the others" if {COUNT, PERSONS} & {*errors} else "errors"
    basis = f"For {group}, {supposed(of_kind(planned.spec, Statistics).assume or {})}; {rest} are approximations."
    remarks: list[str | Listing] = [basis, *_without_intervals(planned, chosen), *_weighted(planned, chosen)]
    remarks += _among(chosen)
    if bounds is not None:
        remarks.append(_bounded(planned, bounds))
    if (cutting := cells_first(chosen.mechanism)) is not None:
        remarks.append(_cut(planned, cutting))
    remarks.append(f"{chosen.method}: {describe(chosen.mechanism.claim.proven)} (proven).")
    return PlanText(candidates=_with_hidden(planned, chosen, errors), remarks=remarks)


def _with_hidden(planned: Plan, chosen: Candidate, errors: dict[str, float]) -> Listing:
    """Return a table of standard errors and, with replicate weights, of the most that noise hides of sampling's."""
    listing = listed(errors)
    strategy = decoder_of(chosen.mechanism).strategy
    if strategy is None or not strategy.replicates:
        return listing
    users, assumed = planned.choice.users, of_kind(planned.spec, Statistics).assume or {}
    hidden = hidden_sampling(grouping(chosen.mechanism), planned.choice.schema, users, assumed)
    rows = [[*row, typical(hidden[row[0]]) if row[0] in hidden else "-"] for row in listing.rows]
    return Listing(header=(*listing.header, "hides of sampling"), rows=rows, numbers=(1, 2))


def _without_intervals(planned: Plan, chosen: Candidate) -> list[str]:
    """Return which quantiles have no interval, and which have one though none was asked for."""
    schema, decoder = planned.choice.schema, decoder_of(chosen.mechanism)
    names = [name for levels in decoder.chosen for name in quantile_names(levels, schema)]
    lines = [f"Chosen, without an interval: {', '.join(names)}; known of one group each."] if names else []
    trees = () if decoder.strategy is None else decoder.strategy.distributions
    kept = [quantile_name(schema.names[tree.axis], q) for tree in trees for q in tree.quantiles]
    if of_kind(planned.spec, Statistics).intervals or not kept:
        return lines
    return [*lines, f"Counted by a tree, with intervals: {', '.join(kept)}."]


def _weighted(planned: Plan, chosen: Candidate) -> list[str]:
    """Return what rows are weighted by, and the effective sample size of weights as supposed."""
    strategy, schema = decoder_of(chosen.mechanism).strategy, planned.choice.schema
    if strategy is None or strategy.weight is None:
        return []
    rows = planned.choice.users / groups_of(chosen.mechanism)
    effective = kish(schema, strategy.weight, of_kind(planned.spec, Statistics).assume or {}) * rows
    name = weighted(schema, strategy.weight)
    basis = (
        f"All but the count is weighted by {name}, and errors are of the noise, not of sampling. Of weights so spread "
        f"{rows:,.0f} rows tell what {effective:,.0f} tell without (Kish's effective sample size, a guess)."
    )
    if not strategy.replicates:
        return [basis]
    size = len(strategy.replicates[0].axes)
    return [basis, f"{size} replicate weights tell the error of sampling, down to the most that noise hides of it."]


def _among(chosen: Candidate) -> list[str]:
    """Return for how many rows the error of a share is stated that is among some of them."""
    strategy = decoder_of(chosen.mechanism).strategy
    if strategy is None or not any(part.among for part in strategy.moments):
        return []
    return [
        "A share with `where` errs as stated where it is of all rows of a group; of half of them it errs twice as much."
    ]


def _expected(planned: Plan) -> str:
    """Return the group that the errors are about, where all groups are listed."""
    groups, users = groups_of(planned.chosen.mechanism), planned.choice.users
    where = f"a group of {users / groups:,.0f} rows ({users:,} in {groups:,} groups)"
    return where if groups > 1 else f"{users:,} rows"


def _discovered(mechanism: DiscoveredGroups) -> str:
    """Return the group that the errors are about, where a selection finds the groups, and when it does."""
    half, nearly = (mechanism.names.holders_for(chance) for chance in (EVEN, LIKELY))
    unit = mechanism.unit
    counts = f"{unit.name} that have it" if unit.columns else "rows"
    return (
        f"a name that counts {nearly:,} {counts}, which is released with a chance of at least 99 % ({half:,}: 50 %"
        f"{_of_few(mechanism.names)}), and as many rows in each of its groups"
    )


def _of_few(names: NameMechanism) -> str:
    """Return how many suffice who have one name each, where that is other than what the plan counts with."""
    if names.weights is None or names.weights[0] == names.least:
        return ""
    few = -(-names.count_for(EVEN) // names.weights[0])
    return f"; {few:,} where they have no other name, as weights are 1 / sqrt(names)"


def _cut(planned: Plan, mechanism: QuantileCells) -> str:
    """Say whose cells are cut near quantiles, and what that means for other quantiles."""
    names = " and ".join(planned.choice.schema.names[axis] for axis in mechanism.axes)
    return (
        f"The cells of {names} are cut near the quantiles that are asked for, at levels that are chosen privately for "
        "half of their share of the budget; between these any other quantile has a wide interval."
    )


def _bounded(planned: Plan, mechanism: BoundsFirst) -> str:
    """Say whose bounds are chosen, what is known of the rows outside, and in which unit their errors are."""
    names = " and ".join(planned.choice.schema.names[axis] for axis in mechanism.axes)
    return (
        f"The bounds of {names} are chosen privately, {mechanism.described}. Values outside count as the bounds, and "
        "errors and intervals are of the values so counted, in widths of the bounds, of a variance in squared widths."
    )


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size."""
    mechanism, users, schema = grouping(candidate.mechanism), planned.choice.users, planned.choice.schema
    if (names := names_first(mechanism)) is not None:
        users = names.names.holders_for(LIKELY) * groups_of(mechanism)
    if (bounds := bounds_first(mechanism)) is not None:
        schema = in_widths(schema, bounds.axes)
    return standard_errors(mechanism, schema, users, of_kind(planned.spec, Statistics).assume or {})
