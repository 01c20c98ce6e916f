"""Whether what a specification hides and rounds fits its kind of release."""

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import Spec
from dpress.inference.suppression import HIDDEN_COLUMN, display_of


def check_display(spec: Spec, *, suppresses: bool) -> None:
    """Refuse `hide` and `round` of a kind that shows no such numbers, and an attribute in the way of their column.

    Args:
        spec: what is asked for, with one of them.
        suppresses: whether its kind does that.

    Raises:
        NotSupported: it does not.
        ValueError: an attribute has the name of the column that says what is hidden.
    """
    place = next(iter(spec.release.display))
    if not suppresses:
        kinds = catalog.where("suppresses")
        raise NotSupported(f'$.release.{place}: numbers of kind = {kinds} are hidden, got "{spec.release.kind}"')
    if HIDDEN_COLUMN in spec.schema.names:
        raise ValueError(
            f"$.attribute: the released tables would have two columns {HIDDEN_COLUMN!r}; rename an attribute"
        )


def check_counted(spec: Spec, *, counted: bool) -> None:
    """Refuse to hide groups by their count where it is not published.

    Raises:
        ValueError: so it is.
    """
    if not counted and any(rule.measure == "count" for rule in display_of(spec.release.display).rules):
        raise ValueError(
            '$.release.hide: "count" hides groups by their count, which these statistics do not publish; leave it out, '
            'ask for a mean or a share, too, or leave out rows without a number (`null = "drop"`)'
        )
