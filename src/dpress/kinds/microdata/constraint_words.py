"""What holds in every record, and what is computed and so not measured, in sentences for a plan and for a page."""

from collections.abc import Sequence

from dpress.data.specification.constraint import Constraint
from dpress.mechanisms.microdata.record_maker import RecordMaker


def constrained(constraints: Sequence[Constraint], maker: RecordMaker) -> list[str]:
    """Return the sentences; none without constraints.

    Args:
        constraints: of the specification.
        maker: of the records.
    """
    if not constraints:
        return []
    holds = "; ".join(f"`{constraint.text}`" for constraint in constraints)
    names = ", ".join(computed(maker))
    measured = f"Computed, and so not measured: {names}; the loss goes to the other attributes."
    return [f"In every record holds: {holds}.", *([measured] if names else [])]


def computed(maker: RecordMaker) -> list[str]:
    """Return the names of the attributes that constraints compute."""
    return [attribute.name for axis, attribute in enumerate(maker.attributes) if axis not in maker.measured]
