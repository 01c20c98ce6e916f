"""What a plan of this kind says to people: the error of every statistic in a group of the expected size."""

import math
from typing import Any

from dpress.core.basics.losses.any_loss import describe
from dpress.core.methods.mechanism import NameMechanism
from dpress.kinds.statistics.assumed_shape import Assumed, supposed
from dpress.kinds.statistics.curator.chosen_bounds import in_widths
from dpress.kinds.statistics.curator.chosen_quantiles import quantile_names
from dpress.kinds.statistics.curator.estimates import COUNT, quantile_name
from dpress.kinds.statistics.curator.parts_of_budget import chosen_of
from dpress.kinds.statistics.curator.person_estimates import PERSONS
from dpress.kinds.statistics.curator.prediction import standard_errors
from dpress.kinds.statistics.devices.design import UNIT_CIRCLE, estimates
from dpress.kinds.statistics.kind import CollectedStatistics, Statistics
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.selection.above_threshold import EVEN, SURE
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords, number


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    chosen = planned.chosen
    if (collection := chosen.collection) is not None:
        return _of_devices(planned, collection)
    errors = expected_errors(planned, chosen)
    rows = [[name, _typical(error)] for name, error in errors.items()]
    listing = Listing(header=("statistic", "typical error"), rows=rows, numbers=(1,))
    named = _discovered(chosen.mechanism) if isinstance(chosen.mechanism, DiscoveredGroups) else _expected(planned)
    exact = "errors of counts and persons are exact" if PERSONS in errors else "a count's error is exact"
    rest = f"{exact}, the others" if {COUNT, PERSONS} & {*errors} else "errors"
    basis = f"For {named}, {supposed(_assumed(planned))}; {rest}"
    loss = describe(chosen.mechanism.claim.proven)
    remarks: list[str | Listing] = [f"{basis} are approximations.", *_without_intervals(planned, chosen)]
    if isinstance(chosen.mechanism, BoundsFirst):
        remarks.append(_bounded(planned, chosen.mechanism))
    remarks.append(f"{chosen.method}: {loss} (proven).")
    return PlanText(candidates=listing, remarks=remarks)


def _without_intervals(planned: Plan, chosen: Candidate) -> list[str]:
    """Return which quantiles have no interval, and which have one though none was asked for."""
    schema, mechanism = planned.choice.schema, chosen.mechanism
    names = [name for levels in chosen_of(mechanism) for name in quantile_names(levels, schema)]
    lines = [f"Chosen, without an interval: {', '.join(names)}; known of one group each."] if names else []
    strategy: Any = getattr(getattr(mechanism, "groups", mechanism), "strategy", None)
    if of_kind(planned.spec, Statistics).intervals or strategy is None:
        return lines
    kept = [quantile_name(schema.names[tree.axis], q) for tree in strategy.distributions for q in tree.quantiles]
    return [*lines, f"Counted by a tree, with intervals: {', '.join(kept)}."] if kept else lines


def _of_devices(planned: Plan, collection: Collection) -> PlanText:
    """Return the text of a plan that asks devices: the methods by the error of a mean, then every statistic's."""
    width = "resultant length, %" if planned.choice.unit == UNIT_CIRCLE else "mean, % of the bounds"
    rows = [
        [
            "*" if candidate is planned.chosen else "",
            candidate.method,
            f"+- {100 * math.sqrt(candidate.predicted_error):.3g}",
            _bytes(candidate),
        ]
        for candidate in planned.candidates
    ]
    errors = expected_errors(planned, planned.chosen)
    listed = Listing(
        header=("statistic", "typical error"),
        rows=[[name, _typical_error(name, error)] for name, error in errors.items()],
        numbers=(1,),
    )
    oracles: tuple[Any, ...] = collection.types[0].oracles
    groups, users = oracles[0].groups, planned.choice.users
    whom = (
        f"a group of {users / groups:,.0f} people ({users:,} in {groups:,} groups)"
        if groups > 1
        else f"{users:,} people"
    )
    divided = f", each asked about one of {len(collection.types)} numbers" if len(collection.types) > 1 else ""
    basis = f"For {whom}{divided}, {supposed(_assumed(planned))}; errors are approximations."
    return PlanText(
        candidates=Listing(header=("", "method", width, "bytes"), rows=rows, numbers=(2, 3)),
        remarks=[listed, basis],
        hints=plan_text.cautions(planned),
    )


def _typical_error(name: str, error: float) -> str:
    """Return a standard error in words: everybody's number is known."""
    return "known" if name == COUNT and not error else _typical(error)


def _bytes(candidate: Candidate) -> str:
    return str(0 if candidate.collection is None else candidate.collection.width)


def _expected(planned: Plan) -> str:
    """Return the group that the errors are about, where all groups are listed."""
    mechanism: Any = planned.chosen.mechanism
    groups, users = mechanism.decoder.groups, planned.choice.users
    where = f"a group of {users / groups:,.0f} rows ({users:,} in {groups:,} groups)"
    return where if groups > 1 else f"{users:,} rows"


def _discovered(mechanism: DiscoveredGroups) -> str:
    """Return the group that the errors are about, where a selection finds the groups, and when it does."""
    half, nearly = (mechanism.names.holders_for(chance) for chance in (EVEN, SURE))
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


def _bounded(planned: Plan, mechanism: BoundsFirst) -> str:
    """Say whose bounds are chosen, what is known of the rows outside, and in which unit their errors are."""
    names = " and ".join(planned.choice.schema.names[axis] for axis in mechanism.axes)
    return (
        f"The bounds of {names} are chosen privately, {mechanism.described}. Values outside count as the bounds, and "
        "errors and intervals are of the values so counted, in widths of the bounds, of a variance in squared widths."
    )


def _typical(error: float) -> str:
    """Return a standard error in words; 0 is that of a quantile whose interval is one cell."""
    if math.isinf(error):
        return "nothing can be said"
    return f"+- {number(error)}" if error else "within a cell"


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the standard error of every statistic."""
    errors = expected_errors(planned, candidate)
    finite = {name: error if math.isfinite(error) else None for name, error in errors.items()}
    return plan_text.plain(planned, candidate) | {"standard_errors": finite}


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size."""
    mechanism, users = candidate.mechanism, planned.choice.users
    if (collection := candidate.collection) is not None:
        expected = estimates(collection, planned.choice.schema, users, _assumed(planned))
        return {name: float(expected.of(name).standard_error[0]) for name in expected.names}
    if isinstance(mechanism, DiscoveredGroups):
        users = mechanism.names.holders_for(SURE) * mechanism.decoder.groups
    groups = mechanism.groups if isinstance(mechanism, SecondStep) else mechanism
    if not isinstance(groups, MatrixMechanism | GroupQuantiles):
        raise TypeError(f"{type(groups).__name__} measures no statistics")
    schema = planned.choice.schema
    if isinstance(mechanism, BoundsFirst):
        schema = in_widths(schema, mechanism.axes)
    return standard_errors(groups, schema, users, _assumed(planned))


def _assumed(planned: Plan) -> Assumed:
    if planned.spec.privacy.model == "local":
        return of_kind(planned.spec, CollectedStatistics).assume or {}
    return of_kind(planned.spec, Statistics).assume or {}


WORDS = PlanWords(text=text, plain=plain)
