"""What a kind of release is called: the room of its code, and the values of a specification that select it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from dpress.core.basics.parameters import Parameters

Model = Literal["central", "local"]
WithTime = Callable[[Mapping[str, Any], Sequence[str], str], dict[str, Any]]


class Participants(Parameters, frozen=True):
    """How many people are expected."""

    users: Annotated[
        int,
        Meta(
            ge=1,
            description="about how many people, or records, there will be; public: the plan's figures and its choices "
            "rest on it; 10000 unless stated",
        ),
    ] = 10_000


class Reporters(Participants, frozen=True):
    """People whose devices report, perhaps again and again."""

    round: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="the round of a repeated collection, which every report names; changing it renews no permanent "
            "response; 0 unless stated",
        ),
    ] = 0


class Division(Reporters, frozen=True):
    """Devices that report about several attributes, one or all of them."""

    split: (
        Annotated[
            Literal["users", "budget"],
            Meta(
                description="each device answers one attribute, drawn at random, with the whole epsilon, "
                "or all of them, each with an equal part; the better unless stated"
            ),
        ]
        | None
    ) = None
    reports: Annotated[
        int,
        Meta(
            ge=1,
            description="how often a device reports; where that is more than once, `auto` takes the method by which "
            "all its reports give away least, and of those the least error",
        ),
    ] = 1
    changes: Annotated[int, Meta(ge=0, description="how often a device's values change between its `reports`")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WishField:
    """What a wish asks beyond the attributes.

    Args:
        name: of the parameter, and of the field of `studio.draft.Wish` that holds what was typed.
        label: what the page calls it.
        choices: values with their words; without any it is a list of attributes.
    """

    name: str
    label: str
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wished:
    """A kind as somebody wishes for it who does not write specifications.

    Args:
        kind: as a specification names it.
        place: among all wishes.
        title: what it is called.
        words: what it is, in a sentence.
        mark: of its picture: "bar", "line" or "round".
        marks: where its marks begin, across and down of 56 x 42.
        fields: what it asks.
        of_attributes: whether it is about attributes that are ticked; else about those of its fields.
        users: whether it takes the number of people.
        lines: whether it needs lines of TOML.
        drawn: whether made-up records can be drawn of what is published.
    """

    kind: str
    place: int
    title: str
    words: str
    mark: Literal["bar", "line", "round"] = "bar"
    marks: tuple[tuple[int, int], ...]
    fields: tuple[WishField, ...] = ()
    of_attributes: bool = True
    users: bool = False
    lines: bool = False
    drawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of release, found by walking `kinds/`.

    Args:
        name: of its room, a package of `kinds/`.
        names: the values of `release.kind` in a specification that it serves.
        queries_on: what its page draws queries on, with an article; empty where it draws none.
        draws_records: its collections can be asked for synthetic records.
        of_counts: what it answers are counts, so that other kinds of counts may stand in for it.
        stands_in: it may answer what another kind is asked (`instead` of its plan's words).
        discovers: it releases the values of an attribute with values = "discover".
        suppresses: its files and its page hide and round numbers as a specification says.
        of_sets: everybody holds a set of the attribute's values, which a column holds as a list or as one text.
        of_records: what it publishes are synthetic records.
        keeps_constraints: what it publishes keeps the constraints of a specification.
        takes_held_out: its evaluation trains a classifier, and tests it on rows that were held out.
        by_period: what names the one cell of time in the parameters of a period's release, by `release.kind`: from the
            parameters, the attributes and the one of dates. Others are not published by periods.
        findings: what it finds in rows that are checked, by name, as scripts read it where it does not apply.
        wished: its kinds as the studio offers them.
        large: the tables of its releases may be too large to be read as a whole: what is asked for is read of them.
        smaller: what makes a release of it take less memory.
        scipy: its answers need SciPy, which a base install leaves out; asked for before anything is charged.
        adjusts: the adjustments of its tables of rows where a specification names none.
        adjusts_of_devices: those of its only table from devices that report once about its cells.
        in_sql: what its releases answer of statements of SQL: counts, sums, cells that are added up, unlisted values.
        parameters: what a specification may set whatever the method, by its `release.kind` and its model.
    """

    name: str
    names: tuple[str, ...]
    queries_on: str = ""
    draws_records: bool = False
    stands_in: bool = False
    discovers: bool = False
    suppresses: bool = False
    of_sets: bool = False
    of_records: bool = False
    keeps_constraints: bool = False
    takes_held_out: bool = False
    of_counts: bool = True
    large: bool = False
    smaller: str = "use fewer cells, by `bins` or fewer attributes"
    scipy: bool = False
    adjusts: tuple[str, ...] = ()
    adjusts_of_devices: tuple[str, ...] = ()
    in_sql: tuple[str, ...] = ()
    wished: tuple[Wished, ...] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)
    by_period: Mapping[str, WithTime] = field(default_factory=dict)
    parameters: Mapping[tuple[str, Model], type[Parameters]] = field(default_factory=dict)

    def takes(self, kind: str, model: Model) -> type[Parameters]:
        """Return the parameters of one of its kinds under a model."""
        return self.parameters.get((kind, model), Parameters)
