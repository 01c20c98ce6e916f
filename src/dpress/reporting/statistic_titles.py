"""What statistics are called before people: the title of the attribute, and the unit of the number.

`mean cost` -> `mean of Cost of a visit`, `EUR`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpress.attributes.domain import Schema
from dpress.query.query_tree import named, valued
from dpress.query.query_words import begins_relation
from dpress.query.relation_grammar import relation
from dpress.reporting.titled_conditions import titled_text

PERCENT = "%"  # of shares
UNITLESS = ("resultant length",)
SHARE, AMONG, PER_PERSON, DISTINCT = "share ", " where ", " per person", "distinct "
AHEAD = (
    "coefficient",
    "correlation",
    "covariance",
    "mean",
    "median",
    "share",
    "circular mean",
    "quantile",
    "variance",
    "sum",
    "count",
)


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
    >>> titled("share sex = f where sex in (f, m)", Schema((sex,))).name
    'share of Sex = f among Sex in (f, m)'
    """
    if name.startswith(SHARE):
        conditions = name.removeprefix(SHARE).split(AMONG, 1)
        return Titled(name=f"share of {' among '.join(titled_text(schema, each) for each in conditions)}")
    if begins_relation(name):
        return Titled(name=of_relation(name, schema))
    bare = name.removesuffix(PER_PERSON)
    measured = [attribute for attribute in schema.tabular if bare.endswith(f" {attribute.name}")]
    if not measured:
        return Titled(name=name)
    attribute = max(measured, key=lambda each: len(each.name))
    if bare.startswith(DISTINCT):
        return Titled(name=f"different values of {attribute.title or attribute.name}")
    head, unit = bare.removesuffix(f" {attribute.name}") + name.removeprefix(bare), str(attribute.unit or "")
    if unit and head == "variance":
        unit = f"{unit} squared"
    return Titled(name=f"{head} of {attribute.title or attribute.name}", unit="" if head in UNITLESS else unit)


def of_relation(name: str, schema: Schema) -> str:
    """Return the name of a relation with titles in the place of attributes' names.

    >>> from dpress.attributes.listed.attribute import Categorical
    >>> sex = Categorical(name="sex", title="Sex", values=["f", "m"])
    >>> of_relation("coefficient sex = m in hours ~ sex", Schema((sex,)))
    'coefficient of Sex = m in hours ~ Sex'
    """
    word = name.partition(" ")[0]
    if word in ("covariance", "correlation"):
        pair = relation(schema.names, name).names
        return f"{word} of {' and '.join(schema.attribute(each).title or each for each in pair)}"
    head, between, formula = name.rpartition(" in ")
    term = head.partition(" ")[2]
    titles = {f"{named(attribute.name)}": attribute.title or attribute.name for attribute in schema.tabular}
    values = {
        f"{named(attribute.name)} = {valued(label)}": f"{attribute.title or attribute.name} = {caption}"
        for attribute in schema.tabular
        if f"{named(attribute.name)} = " in term
        for label, caption in zip(attribute.labels_between(0, attribute.size), attribute.captions, strict=True)
    }
    term = " * ".join({**titles, **values}.get(part, part) for part in term.split(" * "))
    words = sorted(map(re.escape, titles), key=len, reverse=True)
    titled_formula = re.sub(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", lambda match: titles[match[0]], formula)
    return (f"coefficient of {term}" if term else head) + between + titled_formula


def chief(names: Sequence[str]) -> str:
    """Return the statistic that a page is about first."""
    return min(names, key=_place)


def _place(name: str) -> int:
    """Return how far behind a statistic stands: a coefficient first."""
    return next((at for at, head in enumerate(AHEAD) if name.startswith(head)), len(AHEAD))
