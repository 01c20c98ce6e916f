"""What the script of a page of regions reads: words, counts and variances of the levels that are in it, as JSON.

levels -> their estimates and the variances of their parts -> one JSON text that holds no more than the release does.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.regions.measured import Table
from dpress.inference.regions.variances import space_variances
from dpress.kinds.regions.page_levels import PageLevel
from dpress.query.published_tables import CONFIDENCE
from dpress.reporting.facts import Facts
from dpress.reporting.packed_numbers import packed
from dpress.reporting.script_json import as_data
from dpress.reporting.views import LONGEST

if TYPE_CHECKING:
    from dpress.kinds.regions.answers import Answers


def page_numbers(facts: Facts, answers: "Answers", levels: Sequence[PageLevel]) -> str | None:
    """Return the data as JSON that can stand in a `script` element; None where an attribute has too many cells."""
    place, *others = facts.schema.tabular
    attributes = [attribute.for_script(LONGEST) for attribute in others]
    if None in attributes or not levels:
        return None
    spaces = dict.fromkeys(space for each in levels for space in each.spaces)
    variances = {space: space_variances(answers.queries.measured, space) for space in spaces}
    data = {
        "caption": place.caption,
        "attributes": attributes,
        "noun": facts.noun,
        "critical": critical(CONFIDENCE, facts.tail),
        "rules": [{"measure": rule.measure, "bound": rule.bound} for rule in facts.display.rules],
        "base": facts.display.base,
        "levels": [_level(answers, each, variances) for each in levels],
        "missing": answers.levels[len(levels) :],
    }
    return as_data(data)


def _level(answers: "Answers", page_level: PageLevel, variances: Mapping[Table, Sequence[Array]]) -> dict[str, Any]:
    return {
        "name": page_level.name,
        "tables": page_level.tables,
        **page_level.words,
        "stored": [
            {"axes": table, "counts": packed(answers.table(page_level.level, table))} for table in page_level.stored
        ],
        "spaces": [
            {"axes": space, "variances": packed(variances[space][page_level.level])} for space in page_level.spaces
        ],
    }
