"""Places off a tree, such as districts, as the cells that conditions and groups name."""

from dpress.attributes.listed.attribute import Categorical


class Places(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="places"):
    """The places that one column of a tree's file has; no specification names it as a kind.

    Args:
        level: the name of the column; `name` is that of the attribute whose leaves they hold.
    """

    level: str
