"""Groups that are known once names are: what is read, drawn and written down in which order.

design, rows -> counts of all names -> the names that are released -> the completed design -> noisy sums of its groups.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.data.add_up import Progress
from dpress.data.count_names import name_counts
from dpress.data.true_counts import exact_answers
from dpress.document.design import Design, acting
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.query.designs import central_ask
from dpress.release.curator.drawn_groups import DrawnGroups


def ready(
    design: Design, mechanism: DiscoveredGroups, source: Any, progress: Progress | None
) -> Callable[[Generator], DrawnGroups]:
    """Return what draws the names and the noise of their groups, once everything that may refuse the rows saw them.

    Rows are read three times: for the counts of names, for whatever refuses a row, and, once names are drawn, for the
    groups. It takes memory for all names, see `name_counts`, and for the sums of the groups that are published.

    Raises:
        NotSupported: the design is one that a release has completed.
        OSError, SchemaMismatch: see `name_counts` and `exact_answers`.
    """
    unit, schema = mechanism.unit, design.schema
    attribute = schema.attributes[mechanism.axis]
    if not attribute.discovered:
        raise NotSupported(
            f"attribute {attribute.name}: the design lists the names that a release found; publish the one it was "
            "made by, or its specification"
        )
    names = name_counts(attribute, source, unit, weights=mechanism.names.weights, progress=progress)
    exact_answers(mechanism, schema, source, unit, progress=progress)

    def draw(rng: Generator) -> DrawnGroups:
        found = mechanism.select(names, rng=rng)
        own = mechanism.listing(len(found))
        whole = completed(design, own, found)
        exact = exact_answers(own, whole.schema, source, unit, progress=progress)
        return DrawnGroups(design=whole, mechanism=own, measurement=own.noisy(exact, rng=rng))

    return draw


def completed(design: Design, mechanism: DiscoveredGroups, names: tuple[str, ...]) -> Design:
    """Return a design whose discovered attribute lists the names that were released; as it is where there are none.

    Args:
        design: whose attribute at the mechanism's axis has values = "discover".
        mechanism: over the groups of these names.
        names: the values, as texts whatever held them, in the order of their bytes.
    """
    if not names:
        return design
    own = design.attributes[mechanism.axis]
    if own.listing is None:
        raise TypeError(f"{own.name} has no names")
    listed = msgspec.structs.replace(own.listing, values=names)
    attributes = (*design.attributes[: mechanism.axis], listed, *design.attributes[mechanism.axis + 1 :])
    coded = acting(attributes, design.ask.attributes)
    return msgspec.structs.replace(design, attributes=attributes, ask=central_ask(mechanism, coded))
