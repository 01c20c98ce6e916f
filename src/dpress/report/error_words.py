"""The error in plain words: what was measured with which noise, how large the error is, and how good that is.

Data flow: release -> frozen words -> template.
"""

import math
import shlex
from dataclasses import dataclass

import numpy as np

from dpress import catalog
from dpress.core.attribute import Bounded, Integer
from dpress.core.ranges import AllRanges, Prefixes, RangesOfLength
from dpress.core.workload import Areas, Boxes
from dpress.kinds.spatial.answers import MapRelease
from dpress.release.release import Release, Result
from dpress.report import map_words
from dpress.report.rounding import error, interval, number, unit_for
from dpress.report.words import said


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The fourth section.

    Args:
        method: its name, with the catalogue's summary and paper.
        noise: what stands between the counts and the truth.
        mean_variance: predicted, in counts squared.
        typical: its square root, in rows or people.
        over: what the mean is taken over.
        bound: the square root of the lower bound.
        ratio: typical error over bound.
    """

    method: str
    summary: str
    paper: str
    noise: str
    mean_variance: str
    typical: str
    over: str
    bound: str
    ratio: str


def accuracy(release: Release) -> Accuracy:
    """Return the fourth section's words."""
    planned = release.planned
    variance, bound = planned.chosen.predicted_error, planned.lower_bound
    card = catalog.card(planned.chosen.method)
    return Accuracy(
        method=card.name,
        summary=card.summary,
        paper=card.paper,
        noise=said(release).noise,
        mean_variance=_variance(variance),
        typical=error(math.sqrt(variance)),
        over=over(release),
        bound=error(math.sqrt(bound)),
        ratio=_ratio(math.sqrt(variance / bound)) if bound > 0 else "",
    )


def over(release: Release) -> str:
    """Return what the typical error is the root of the mean over."""
    workload = release.planned.workload
    if isinstance(workload, Areas):
        return map_words.over(workload)
    count = number(workload.queries)
    if not isinstance(workload, Boxes):
        return f"the {count} cells asked for"
    if len(workload.axes) > 1:
        listed = workload.paired or not all(isinstance(axis, AllRanges) for axis in workload.axes)
        return f"the {count} boxes asked for" if listed else f"all {count} boxes"
    axis = workload.axes[0]
    if isinstance(axis, RangesOfLength):
        return f"the {count} ranges of {number(axis.length)} cells"
    names = {AllRanges: "all {} ranges", Prefixes: "the {} ranges from the first cell"}
    return names.get(type(axis), "the {} ranges asked for").format(count)


def typical(release: Release) -> str:
    """Return the predicted typical error, in rows or people."""
    return error(math.sqrt(release.planned.chosen.predicted_error))


def _variance(value: float) -> str:
    return number(value, 10.0 ** min(0, math.floor(math.log10(value)) - 2)) if value > 0 else "0"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else number(value)


def example(release: Release) -> tuple[str, str]:
    """Return a query as typed in a shell, and its answer."""
    try:
        result = release.query(_query(release))
    except ValueError:  # a name or a label that the query language cannot spell
        result = release.query("total")
    return f"dpress query FOLDER {shlex.quote(result.query)}", answered(result)


def total(release: Release) -> str:
    """Return how many were counted, in all."""
    if isinstance(release, MapRelease) and release.users:
        return number(release.users)
    result = release.query("total")
    return answered(result) if result.standard_error else number(result.value)


def _query(release: Release) -> str:
    if isinstance(release, MapRelease):
        return map_words.middle(release)
    axes = release.planned.chosen.mechanism.decoder.tables[0]
    return " and ".join(_condition(release.schema.tabular[axis]) for axis in axes[:2])


def _condition(attribute: object) -> str:
    if isinstance(attribute, Bounded):
        places = np.array([attribute.ordered // 4, (attribute.ordered + 1) // 2])
        low, high = attribute.edges_at(places).tolist()
        high -= isinstance(attribute, Integer)
        return f"{attribute.name} in {low:.10g}..{high:.10g}"
    name, labels = attribute.name, attribute.labels  # type: ignore[attr-defined]
    return f'{name} = "{labels[0]}"' if " " in labels[0] else f"{name} = {labels[0]}"


def answered(result: Result) -> str:
    """Return an answer with its interval and standard error, in no more digits than that warrants."""
    unit = unit_for(result.standard_error)
    unit = max(1.0, unit) if result.value % 1 == 0 else unit
    return (
        f"{number(result.value, unit)}, 95 % interval {interval(*result.interval, unit)}, "
        f"standard error {error(result.standard_error)}"
    )
