"""What statistics are called before people: the title of the attribute, and the unit of the number.

`mean cost` -> `mean of Cost of a visit`, `EUR`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.attributes.domain import Schema
from dpress.reporting.titled_conditions import titled_text

PERCENT = "%"  # of shares
UNITLESS = ("resultant length",)
SHARE, PER_PERSON = "share ", " per person"
AHEAD = ("mean", "median", "share", "circular mean", "quantile", "variance", "sum", "count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled:
    """A statistic for people.

    Args:
        name: with the title of its attribute.
        unit: of its values; empty without one.
    """

    name: str
    unit: str = ""

    @property
    def caption(self) -> str:
        """The name with the unit in parentheses."""
        return self.name + (f" ({self.unit})" if self.unit else "")


def titled(name: str, schema: Schema) -> Titled:
    """Return what a statistic is called, of the longest name of an attribute that its name ends with.

    Args:
        name: as files and queries have it.
        schema: of the attributes.

    >>> from dpress.attributes.listed.attribute import Categorical
    >>> sex = Categorical(name="sex", title="Sex", values=["f", "m"])
    >>> titled("share sex = f", Schema((sex,))).name
    'share of Sex = f'
    """
    if name.startswith(SHARE):
        return Titled(name=f"share of {titled_text(schema, name.removeprefix(SHARE))}")
    bare = name.removesuffix(PER_PERSON)
    measured = [attribute for attribute in schema.tabular if bare.endswith(f" {attribute.name}")]
    if not measured:
        return Titled(name=name)
    attribute = max(measured, key=lambda each: len(each.name))
    head, unit = bare.removesuffix(f" {attribute.name}") + name.removeprefix(bare), str(attribute.unit or "")
    if unit and head == "variance":
        unit = f"{unit} squared"
    return Titled(name=f"{head} of {attribute.title or attribute.name}", unit="" if head in UNITLESS else unit)


def chief(names: Sequence[str]) -> str:
    """Return the statistic that a page is about first."""
    return min(names, key=lambda name: next((at for at, head in enumerate(AHEAD) if name.startswith(head)), len(AHEAD)))
