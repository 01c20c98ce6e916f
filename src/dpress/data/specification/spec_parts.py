"""The parts of a specification: where rows are, what is promised, released and collected, and by which periods."""

import itertools
import re
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from dpress.attributes.named import Words
from dpress.core.basics import check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.database_url import check_no_password
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.data.specification.file_format import WINDOWS, FileFormat
from dpress.inference import postprocess

SIGNS = re.compile("[\x00-\x1f]")  # that no path has; "C:\temp" in double quotes has a tab
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


class Data(FileFormat, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the rows are, which `--data` overrides, and how a file of text writes them."""

    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a place that nobody may keep, and what is no format."""
        super().__post_init__()
        if SIGNS.search(self.source.partition("#")[0]):
            raise ValueError(f".source: {self.source!r} holds signs that no path has; {WINDOWS}")
        try:
            check_no_password(self.source, "the rows")
        except ValueError as error:
            raise ValueError(f".source: {error}") from None


class Privacy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The promise that is asked for."""

    model: Literal["central", "local"] = "central"
    unit: str | tuple[str, ...] = "row"
    rows_per_unit: int = 1
    relation: Relation = Relation.ADD_REMOVE
    epsilon: float | None = None
    rho: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        """Refuse a promise that cannot be kept, naming its place."""
        given = {name: value for name in ("epsilon", "rho", "delta") if (value := getattr(self, name)) is not None}
        for name, value in given.items():
            _check_number(name, value)
        if set(given) not in ({"epsilon"}, {"rho"}, {"epsilon", "delta"}):
            names = " and ".join(sorted(given)) or "none of them"
            raise ValueError(f"expected epsilon, or rho, or epsilon and delta, got {names}")
        if not self.unit:
            raise ValueError('.unit: expected "row", or the column that names a person, got nothing')
        if not isinstance(self.unit, str) and (len(self.unit) < 2 or len({*self.unit}) < len(self.unit)):
            raise ValueError(
                '.unit: expected the column that names a person, as unit = "id", or two or more different columns that '
                f"name a person together, got {[*self.unit]}"
            )
        if self.rows_per_unit < 1:
            raise ValueError(f".rows_per_unit: expected an integer >= 1, got {self.rows_per_unit}")
        if self.unit == "row" and self.rows_per_unit != 1:
            got = f"got {self.rows_per_unit}; name the person's column in `unit`"
            raise ValueError(f'.rows_per_unit: expected 1 where unit = "row", {got}')

    @property
    def loss(self) -> Loss:
        """The privacy loss as an exact number."""
        given = {name: value for name in ("epsilon", "rho", "delta") if (value := getattr(self, name)) is not None}
        return from_parameters(given)

    @property
    def protected(self) -> Unit:
        """Whom the promise protects."""
        column, *also = (None,) if self.unit == "row" else (self.unit,) if isinstance(self.unit, str) else self.unit
        return Unit(relation=self.relation, column=column, rows=self.rows_per_unit, also=tuple(also))


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is published, how, and what its page says of it.

    Args:
        kind: of release.
        attributes: that are released, or "all"; all that can differ unless stated.
        method: by name, or the best.
        parameters: of the kind and the method.
        postprocess: adjustments, by name; those of the kind unless stated.
        hide: which numbers are not shown, such as "cv > 0.3", or several of these; none unless stated.
        round: counts are shown as multiples of it, such as 5; as they are unless stated.
        level: of an attribute of codes, whose nodes are its cells; the finest unless stated. A list for several.
        title: of the page.
        source: where the data come from, for people.
        contact: whom to ask.
        license: of what is published, such as "CC-BY-4.0".
        language: of the title, the labels and these texts, such as "de" or "pt-BR".
    """

    kind: str
    attributes: tuple[str, ...] | Literal["all"] | None = None
    method: str = "auto"
    parameters: dict[str, Any] = {}
    postprocess: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    hide: Words | tuple[str, ...] = msgspec.UNSET
    round: int | msgspec.UnsetType = msgspec.UNSET
    level: Words | tuple[str, ...] = msgspec.UNSET
    title: Words = msgspec.UNSET
    source: Words = msgspec.UNSET
    contact: Words = msgspec.UNSET
    license: Words = msgspec.UNSET
    language: Words = msgspec.UNSET

    @property
    def named(self) -> tuple[str, ...]:
        """The attributes that are named one by one."""
        return () if self.attributes is None or self.attributes == "all" else self.attributes

    @property
    def adjustments(self) -> tuple[str, ...]:
        """The adjustments that are named."""
        return self.postprocess or ()

    @property
    def display(self) -> dict[str, Any]:
        """How its numbers are shown, as a design has it; empty where they are shown as they are."""
        hide = [self.hide] if isinstance(self.hide, str) else [*self.hide] if self.hide else self.hide
        stated = {"hide": hide, "round": self.round}
        return {name: value for name, value in stated.items() if value is not msgspec.UNSET}

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that are named."""
        if isinstance(self.level, msgspec.UnsetType):
            return ()
        return (self.level,) if isinstance(self.level, str) else self.level

    def __post_init__(self) -> None:
        """Refuse adjustments that are not known and what is no language, naming their place."""
        if isinstance(self.language, str) and not LANGUAGE.fullmatch(self.language):
            raise ValueError(f'.language: expected a language tag such as "de" or "pt-BR", got {self.language!r}')
        if self.display:
            from dpress.inference.suppression import display_of  # noqa: PLC0415  # few hide or round anything

            display_of(self.display)
        if self.attributes == ():
            raise ValueError(".attributes: expected at least one name; leave it out for all attributes")
        stated = self.named
        if twice := next((name for name in stated if stated.count(name) > 1), ""):
            raise ValueError(f".attributes: expected different names, got {twice!r} twice")
        for place, name in enumerate(self.adjustments, 1):
            if name not in postprocess.NAMES:
                names = ", ".join(postprocess.NAMES)
                raise ValueError(f".postprocess[#{place}]: expected one of {names}, got {name!r}")
            if name == postprocess.CONSISTENT and place < len(self.adjustments):
                raise ValueError(f".postprocess[#{place}]: {name!r} adjusts all tables together and must be the last")
            if name in self.adjustments[: place - 1]:
                raise ValueError(f".postprocess[#{place}]: {name!r} is named twice")


class Collection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a collection's rounds end, for the service that collects.

    Args:
        ends: of the rounds, one after the other; a round without one ends when it is closed by hand.
    """

    ends: Annotated[tuple[Annotated[datetime, msgspec.Meta(tz=True)], ...], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Refuse rounds that end before they begin."""
        if any(later <= earlier for earlier, later in itertools.pairwise(self.ends)):
            raise ValueError(".ends: expected every time to be later than the one before")


class Periods(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A release that grows period by period.

    Args:
        attribute: of dates; its cells are the periods.
        counter: which spans of periods are measured: each by itself, those of a binary tree, or of a smooth one; auto
            for those of which runs of periods err least.
        per_unit: of how many periods a person's rows count, the first that have any in the rows so far, which must not
            be purged; needed where the unit is a person.
    """

    attribute: str
    counter: Literal["separate", "tree", "smooth", "auto"] = "separate"
    per_unit: Annotated[int, msgspec.Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET


def _check_number(name: str, value: float) -> None:
    checker = check.probability if name == "delta" else check.loss_parameter
    try:
        checker(name, value)
    except ValueError:
        smallest, largest = (0, 1) if name == "delta" else (0 if not value > 0 else "1e-9", 1000)
        wanted = "a number > 0" if name != "delta" and not value > 0 else f"a number between {smallest} and {largest}"
        without = "; leave it out for pure epsilon" if name == "delta" and value == 0 else ""
        raise ValueError(f".{name}: expected {wanted}, got {value:g}{without}") from None
