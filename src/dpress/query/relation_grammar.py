"""Reads relations: `correlation age cost`, `cost ~ age + sex`, `coefficient age in logistic ill = yes ~ age * sex`.

text -> `Relation`, whose text reads as the same; `grammar` cuts off `where` and `by` first.
"""

import itertools
import re
from dataclasses import dataclass, replace
from typing import Literal, cast

from dpress.query.condition_grammar import Names, conditions, no_attribute
from dpress.query.query_tree import TOTAL, Condition, named
from dpress.query.query_words import any_name, beginning, parts, unquoted

LOGISTIC = "`logistic NAME = VALUE ~ NAME + NAME`"
FORM = (
    "`covariance NAME NAME`, `correlation NAME NAME`, `rank correlation NAME NAME`, `independence NAME NAME`, "
    f"`OUTCOME ~ NAME + NAME`, `OUTCOME ~ NAME * NAME` or {LOGISTIC}"
)
MEASURED = ("covariance", "correlation", "regression")  # those that moments of numbers tell
TESTED = ("chi-square", "p-value", "cramer v")  # what a test of independence has
PAIR = rf"(?:({'|'.join(TESTED)})\s+in\s+(?=independence))?(rank\s+correlation|covariance|correlation|independence)\s"
BETWEEN = r"\s*,\s*|\s+and\s+|\s+"
INTERCEPT = "intercept"
Of = Literal["covariance", "correlation", "regression", "logistic", "rank correlation", "independence"]
Terms = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation between attributes.

    Args:
        of: what it is; `regression` and `logistic` stand for all of their coefficients, `independence` for all of what
            its test has.
        names: of the two attributes of a covariance or a correlation; of a regression its outcome alone.
        terms: of a regression, what is added up: attributes, or several that interact.
        coefficient: which, as files name it, or which number of a test; empty for all.
        outcome: of a logistic regression, the values of the outcome whose chance it is about; `total` where they are
            not named.
    """

    of: Of
    names: tuple[str, ...]
    terms: Terms = ()
    coefficient: str = ""
    outcome: Condition = TOTAL

    @property
    def text(self) -> str:
        """A text that reads as this."""
        if not self.terms:
            pair = " ".join([self.of, *map(named, self.names)])
            return f"{self.coefficient} in {pair}" if self.coefficient else pair
        outcome = named(self.names[0]) if self.outcome == TOTAL else self.outcome.text
        formula = f"{outcome} ~ {' + '.join(' * '.join(map(named, term)) for term in self.terms)}"
        formula = f"{self.of} {formula}" if self.of == "logistic" else formula
        if not self.coefficient:
            return formula
        return f"{INTERCEPT if self.coefficient == INTERCEPT else f'coefficient {self.coefficient}'} in {formula}"

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes in it, each once."""
        return tuple(dict.fromkeys((*self.names, *itertools.chain.from_iterable(self.terms))))

    @property
    def products(self) -> Terms:
        """The sets of attributes whose products are columns: every term's attributes, and their products, each once."""
        sets = (
            part
            for term in self.terms
            for size in range(1, len(term) + 1)
            for part in itertools.combinations(term, size)
        )
        return tuple(dict.fromkeys(sets))

    def only(self, coefficient: str) -> "Relation":
        """Return one of its coefficients."""
        return replace(self, coefficient=coefficient)


def relation(names: Names, text: str) -> Relation:
    """Return the relation that a text is, without `where` and `by`.

    Raises:
        ValueError: it cannot be read; the message says what would be right.
    """
    if match := re.match(PAIR, f"{text.strip()} ", re.IGNORECASE):
        word = " ".join(match[2].lower().split())
        pair = _names(names, text.strip()[match.end() :], BETWEEN)
        if len(set(pair)) != 2 or len(pair) != 2:
            raise ValueError(f"cannot read {text!r}; write `{word} NAME NAME`, of two attributes")
        return Relation(of=cast("Of", word), names=pair, coefficient=(match[1] or "").lower())
    left, *right = parts(text, "~")
    if len(right) != 1 or not right[0] or not left:
        raise ValueError(f"cannot read {text!r}; write {FORM}")
    coefficient = ""
    if match := re.match(r"(?:coefficient\s+(.+?)|intercept)\s+in\s+(?=\S)", left):
        coefficient, left = " ".join((match[1] or INTERCEPT).split()), left[match.end() :]
    match = re.match(r"logistic\s+", left, re.IGNORECASE)
    outcome, chance = _outcome(names, left[match.end() :]) if match else (_names(names, left, None)[0], TOTAL)
    terms = tuple(_names(names, term, r"\*") for term in parts(right[0], r"\+"))
    if any(len(set(term)) < len(term) or outcome in term for term in terms):
        raise ValueError(f"cannot read {text!r}: an attribute stands twice in a term, or on both sides")
    of: Of = "logistic" if match else "regression"
    return Relation(of=of, names=(outcome,), terms=terms, coefficient=coefficient, outcome=chance)


def _outcome(names: Names, text: str) -> tuple[str, Condition]:
    """Return the attribute of a logistic regression's outcome, and which of its values; `total` where none is named.

    Raises:
        ValueError: it is no attribute, or a condition on several.
    """
    if not re.match(beginning(names), text):
        return _names(names, text, None)[0], TOTAL
    outcome = conditions(names, text)
    attributes = {test.attribute for test in outcome.tests}
    if len(attributes) != 1:
        raise ValueError(f"cannot read {text!r} as an outcome: it is about one attribute; write {LOGISTIC}")
    return attributes.pop(), outcome


def _names(names: Names, text: str, between: str | None) -> tuple[str, ...]:
    """Return the attributes of a text, separated by a pattern.

    Raises:
        ValueError: there is none of a name.
    """
    read, rest, name = list[str](), text.strip(), any_name(names)
    while match := re.match(rf"({name})(?=$|\s|[,*])", rest):
        read.append(match[1] if match[1] in names else unquoted(match[1]))
        rest = rest[match.end() :]
        if not rest.strip():
            return tuple(read)
        if between is None or not (gap := re.match(rf"(?:\s*(?:{between})\s*)", rest)):
            break
        rest = rest[gap.end() :]
    wrong = re.split(between, rest.strip())[0] if between else rest.strip()
    missing = f"a name is missing; write {FORM}"
    raise ValueError(no_attribute(names, unquoted(wrong.strip())) if wrong.strip() else missing)
