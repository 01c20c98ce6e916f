"""What to publish or to ask, by which method, at which error: everything that can be known before any row is read.

The only caller of planners: the kinds' `design` modules, which nothing else may use.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import msgspec

from dpress import catalog
from dpress.core.basics import claim_words, notebook
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.kind import Reporters
from dpress.core.maps.workload import Areas, Workload
from dpress.data.specification.spec import Asked, Spec, as_dict, from_dict, spec_of
from dpress.data.specification.spec_parts import Periods
from dpress.document import queries
from dpress.document.design import FORMAT, Design, Offer, Prediction
from dpress.query.designs import amounts, central_ask, estimator_of, local_ask, promise
from dpress.release.plan.adjustments import adjustments
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """What would happen.

    Args:
        spec: what was asked for.
        choice: what the kind's planner decided.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> dpress.plan(spec)
    Plan(histogram of age; identity; epsilon = 1; predicted error 1.84135 counts squared)
    """

    spec: Spec
    choice: Choice

    def __repr__(self) -> str:
        names, chosen = ", ".join(self.spec.schema.names), self.chosen
        return (
            f"Plan({self.spec.release.kind} of {names}; {chosen.method}; {claim_words.words(chosen.mechanism.claim)}; "
            f"{self._predicted})"
        )

    @property
    def _predicted(self) -> str:
        error = self.chosen.predicted_error
        return f"predicted error {error:.6g} {self.choice.unit}" if math.isfinite(error) else "no predicted error"

    def _repr_html_(self) -> str:
        text = catalog.room(catalog.kind(self.spec.release.kind).name).words.text(self)
        shown = (
            notebook.line(row) if isinstance(row, str) else notebook.table(row.header, row.rows, numbers=row.numbers)
            for row in (text.candidates, *text.remarks, *claim_words.chosen_rows(self.spec.where))
        )
        errors = [(candidate.method, math.sqrt(candidate.predicted_error)) for candidate in self.candidates]
        drawn = [notebook.Bar(name, error, error, error) for name, error in errors if math.isfinite(error)]
        return "".join(shown) + notebook.bars(drawn, "the typical error of each method")

    @property
    def periods(self) -> Periods | msgspec.UnsetType:
        """Of a table that is published again and again."""
        return self.spec.periods

    @property
    def source(self) -> str | dict[str, str] | None:
        """The file that the specification names, or those of two tables by name; None where it names none."""
        return self.spec.source

    @property
    def workload(self) -> Workload | Areas:
        """The queries the error is averaged over."""
        return self.choice.workload

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Smallest predicted error first; those that assume something about the people last."""
        return self.choice.candidates

    @property
    def chosen(self) -> Candidate:
        """The one that acts."""
        return self.choice.chosen

    @property
    def lower_bound(self) -> float:
        """No method of this kind has a smaller error; 0 where none is known."""
        return self.choice.lower_bound

    @cached_property
    def design(self) -> Design:
        """The plan as data: all that is needed to act on it."""
        return _written(self.spec, self.choice)


def plan(spec: Asked) -> Plan:
    """Return the candidates for a specification with their predicted error; reads no data and spends nothing.

    Args:
        spec: a specification, its file, its TOML text, or plain objects.

    Raises:
        NotSupported: no method serves this kind of release.
        ValueError: the release's attributes or parameters do not fit its kind, or `where` cannot be read.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> dpress.plan(plain).chosen.method
    'identity'
    """
    stated = spec_of(spec)  # whose lists the caller may change meanwhile
    snapshot = msgspec.structs.replace(from_dict(as_dict(stated)), data=stated.data, table=stated.table)
    room = catalog.room(catalog.kind(snapshot.release.kind).name)
    _check_method(snapshot.release.method)
    _check_discovered(snapshot, discovers=room.kind.discovers)
    if snapshot.constraints and not room.kind.keeps_constraints:
        kinds = catalog.where("keeps_constraints")
        raise NotSupported(
            f'$.constraint: records keep constraints, kind = {kinds}, got "{snapshot.release.kind}"; `dpress records '
            "--where` draws records that fulfil a condition from a release of another kind"
        )
    if snapshot.release.display:
        from dpress.release.plan.display_rules import check_display  # noqa: PLC0415  # few hide or round anything

        check_display(snapshot, suppresses=room.kind.suppresses)
    if snapshot.linked is not None:
        from dpress.release.plan.linked_rules import check_linked  # noqa: PLC0415  # few have any

        check_linked(snapshot, of_records=room.kind.keeps_constraints)
    if snapshot.where:
        from dpress.release.plan.row_condition import row_condition  # noqa: PLC0415  # Arrow takes a while to import

        row_condition(snapshot)
    return Plan(spec=snapshot, choice=room.choose(snapshot))


def _check_method(name: str) -> None:
    """Refuse a method that there is none of, where it is known which was meant; planners refuse the others."""
    if name == "auto" or catalog.has(name):
        return
    from dpress.core.methods.other_names import hint_of  # noqa: PLC0415  # seldom needed

    if hint := hint_of(name, ("auto", *catalog.entries())):
        raise NotSupported(f"$.release.method: there is no method {name!r}{hint}")


def _check_discovered(spec: Spec, *, discovers: bool) -> None:
    """Refuse values that nobody may list, where a kind needs the list; the line names the attribute."""
    for attribute in () if discovers else spec.schema.attributes:
        if attribute.discovered:
            raise NotSupported(
                f'$.attribute[{attribute.name}].values: "discover" needs kind = {catalog.where("discovers")}, '
                f'got kind = "{spec.release.kind}", for which values must be listed'
            )


def understood(design: Asked | Plan | Design) -> Spec | Plan | Design:
    """Return a plan or a design as it is, and of anything else the specification that it holds; see `spec_of`."""
    return design if isinstance(design, (Plan, Design)) else spec_of(design)


def design_of(design: Spec | Plan | Design) -> Design:
    """Return a design as it is, that of a plan, or that of a specification, which is planned on the spot.

    Raises:
        NotSupported, ValueError: see `plan`.
    """
    return (plan(design) if isinstance(design, Spec) else design).design


def specification_of(design: Spec | Plan | Design) -> Spec:
    """Return the specification that was planned, or is to be."""
    return from_dict(design.specification) if isinstance(design, Design) else design.spec


def round_number(spec: Spec) -> int:
    """Return the round of the collection that reports must name.

    Raises:
        ValueError: it is no such number.
    """
    return of_kind(spec, Reporters).round


def _written(spec: Spec, choice: Choice) -> Design:
    mechanism, collection, schema = choice.chosen.mechanism, choice.chosen.collection, choice.schema
    ask = central_ask(mechanism, schema) if collection is None else local_ask(collection, schema)
    return Design(
        format=FORMAT,
        ask=ask,
        kind=catalog.kind(spec.release.kind).name,
        method=choice.chosen.method,
        split="" if collection is None else collection.split,
        round=0 if collection is None else round_number(spec),
        estimator=estimator_of(mechanism),
        attributes=spec.schema.attributes if choice.attributes is None else choice.attributes,
        release={"kind": spec.release.kind, "postprocess": list(adjustments(spec, mechanism)), **spec.release.display},
        queries=queries.written(choice.workload),
        budget=amounts(spec.privacy.loss) or {},
        claim=promise(mechanism.claim),
        prediction=Prediction(
            users=choice.users,
            error=_finite(choice.chosen.predicted_error),
            unit=choice.unit,
            lower_bound=choice.lower_bound,
            candidates=tuple(
                Offer(method=way.method, error=_finite(way.predicted_error), assumes=way.assumes, asks=way.asks)
                for way in choice.candidates
            ),
        ),
        specification=msgspec.json.decode(msgspec.json.encode(as_dict(spec))),  # lists, as they are read back
        ends=spec.ends,
    )


def _finite(error: float) -> float | None:
    return error if math.isfinite(error) else None
