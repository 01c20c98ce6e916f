"""What a plan that asks devices says: the methods by the error of a mean, then the error of every statistic."""

import math
from typing import Any

from dpress.kinds.statistics.assumed_shape import supposed
from dpress.kinds.statistics.devices.design import UNIT_CIRCLE, estimates
from dpress.kinds.statistics.group_results import COUNT
from dpress.kinds.statistics.kind import CollectedStatistics
from dpress.kinds.statistics.plan_text import listed
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    width = "resultant length, %" if planned.choice.unit == UNIT_CIRCLE else "mean, % of the bounds"
    rows = [
        [
            "*" if candidate is planned.chosen else "",
            candidate.method,
            f"+- {100 * math.sqrt(candidate.predicted_error):.3g}",
            str(_collection(candidate).width),
        ]
        for candidate in planned.candidates
    ]
    types, users = _collection(planned.chosen).types, planned.choice.users
    oracle: Any = types[0].oracles[0]
    whom = f"{users:,} people"
    if oracle.groups > 1:
        whom = f"a group of {users / oracle.groups:,.0f} people ({users:,} in {oracle.groups:,} groups)"
    divided = f", each asked about one of {len(types)} numbers" if len(types) > 1 else ""
    assumed = of_kind(planned.spec, CollectedStatistics).assume or {}
    basis = f"For {whom}{divided}, {supposed(assumed)}; errors are approximations."
    return PlanText(
        candidates=Listing(header=("", "method", width, "bytes"), rows=rows, numbers=(2, 3)),
        remarks=[listed(expected_errors(planned, planned.chosen), exact=(COUNT,)), basis],
        hints=plan_text.cautions(planned),
    )


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size."""
    assumed = of_kind(planned.spec, CollectedStatistics).assume or {}
    expected = estimates(_collection(candidate), planned.choice.schema, planned.choice.users, assumed)
    return {name: float(expected.of(name).standard_error[0]) for name in expected.names}


def _collection(candidate: Candidate) -> Collection:
    if candidate.collection is None:
        raise TypeError(f"{candidate.method} asks no devices")
    return candidate.collection
