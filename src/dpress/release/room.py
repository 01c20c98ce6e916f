"""What a kind of release is to everybody else: its card, and the parts of its folder, each loaded when it is needed.

`kinds/<name>/` -> `catalog.room(name)` -> `Room`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpress import catalog
from dpress.core.basics.kind import Kind

if TYPE_CHECKING:  # a part's class is loaded with the part
    from dpress.attributes.domain import Schema
    from dpress.data.specification.spec import Spec
    from dpress.query.answering import Answering
    from dpress.query.release import Release
    from dpress.release.plan.candidate import Choice
    from dpress.release.plan.plan_text import PlanWords
    from dpress.release.statements.parts import Parameters
    from dpress.release.truth.evaluate import Comparison
    from dpress.release.truth.finding import Checking


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page of a kind: `PAGE` of its `page.py`.

    Args:
        page: makes the HTML of a release.
        drawing: the same with queries, and the areas of a file of boundaries, drawn on it, where the kind draws any
            (`Kind.queries_on`).
        answering: what a page answers queries about a release with, as plain objects, where the kind can do that for
            a page of many releases; None of one that it cannot do it for.
        opening: the sentences of what was found, also of reports so far and of the only period; None where neither is.
        over_time: what every period of a series tells, the chief number first, by a release of one and the schema of
            all; the count unless stated.
    """

    page: "Callable[[Release], str]"
    drawing: "Callable[[Release, Sequence[str], str | Path | None], str] | None" = None
    answering: "Callable[[Release], dict[str, Any] | None] | None" = None
    opening: "Callable[[Release], Sequence[str]] | None" = None
    over_time: "Callable[[Release, Schema], Sequence[Any]] | None" = None


@dataclass(frozen=True, slots=True)
class Room:
    """A kind of release.

    Args:
        kind: its card: what it is called, and what it can do.
    """

    kind: Kind

    def choose(self, spec: "Spec") -> "Choice":
        """Return the candidates for a specification, and the one that acts: `choose` of `design.py`.

        Raises:
            NotSupported, ValueError: see `release.plan.plan.plan`.
        """
        choice: Choice = self._part("design").choose(spec)
        return choice

    @property
    def answering(self) -> "Answering[Any]":
        """How it answers."""
        answering: Answering[Any] = self._part("answers").ANSWERING
        return answering

    @property
    def words(self) -> "PlanWords":
        """What its plans say."""
        words: PlanWords = self._part("plan_text").WORDS
        return words

    @property
    def comparison(self) -> "Comparison":
        """How its releases are compared with the truth."""
        comparison: Comparison = self._part("evaluate").COMPARISON
        return comparison

    @property
    def checking(self) -> "Checking | None":
        """What it looks for in rows that are checked, None where its card names no findings."""
        if not self.kind.findings:
            return None
        checking: Checking = self._part("check").CHECKING
        return checking

    @property
    def in_sql(self) -> "Parameters":
        """Which parameters its release needs for statements of SQL, of what its card says that it answers of them."""
        parameters: Parameters = self._part("in_sql").PARAMETERS
        return parameters

    @property
    def page(self) -> Page:
        """How its releases are shown."""
        page: Page = self._part("page").PAGE
        return page

    def _part(self, name: str) -> Any:
        return catalog.part(self.kind.name, name)
