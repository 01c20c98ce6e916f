"""Which strategy answers a list of predicates: each as it is, sums of their atoms, or an optimised mixture.

texts -> unions of boxes -> atoms -> every strategy over the atoms with its exact error -> the best.
"""

from dataclasses import replace
from typing import cast

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.atoms import LARGEST_AXIS, Atoms
from dpress.core.maps.workload import Predicates
from dpress.data.specification.spec import Spec
from dpress.kinds.queries.kind import Queries
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.over_atoms import OverAtoms
from dpress.query.boxes import predicate
from dpress.query.condition_grammar import MOST_CONDITIONS, conditions_in
from dpress.release.plan import strategies
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind


def choose(spec: Spec) -> Choice:
    """Return every strategy over the predicates' atoms, and the one with the least mean variance.

    Raises:
        NotSupported: none serves them, they form too many atoms, or the specification is for devices.
        ValueError: a text is no query, asks for nothing, or for what another one does; the line names its place.
    """
    if spec.privacy.model == "local":
        raise NotSupported(
            '$.release.kind: model = "local" collects one table for each attribute, so kind = "marginals"; '
            "got 'queries'"
        )
    if spec.release.postprocess:
        raise NotSupported(
            '$.release.postprocess: kind = "queries" has none; got ' + ", ".join(spec.release.adjustments)
        )
    texts = of_kind(spec, Queries).queries
    if texts is None:
        raise ValueError(f'{PLACE}.queries: expected a list of queries, such as ["age >= 65 or sex = f"], got none')
    atoms = _atoms(spec, texts)
    choice = strategies.chosen(spec, Predicates(tuple(texts), atoms.sums))
    candidates = tuple(_over(atoms, candidate) for candidate in choice.candidates)
    return replace(choice, candidates=candidates, chosen=candidates[choice.candidates.index(choice.chosen)])


def _atoms(spec: Spec, texts: list[str]) -> Atoms:
    """Return the atoms of the predicates, no two of which are the same."""
    for axis in spec.schema.tabular:
        if axis.size > LARGEST_AXIS:
            raise NotSupported(f"attribute {axis.name}: queries take at most {LARGEST_AXIS:,} cells; use fewer `bins`")
    if (conditions := sum(map(conditions_in, texts))) > MOST_CONDITIONS:
        raise NotSupported(
            f"{PLACE}.queries: {conditions:,} conditions in all, more than {MOST_CONDITIONS:,}; ask for fewer at a time"
        )
    predicates = []
    for place, text in enumerate(texts, 1):
        try:
            predicates.append(predicate(spec.schema, text))
        except ValueError as error:
            raise ValueError(f"{PLACE}.queries[#{place}]: {error}") from None
    try:
        atoms = Atoms(spec.schema.shape, tuple(predicates))
    except NotSupported as error:
        raise NotSupported(f"{PLACE}.queries: {error}") from None
    first: dict[tuple[int, ...], int] = {}
    for place, cells in enumerate(atoms.sums.sets, 1):
        if (same := first.setdefault(cells, place)) != place:
            raise ValueError(
                f"{PLACE}.queries[#{place}]: {texts[place - 1]!r} holds of the same rows as queries[#{same}]"
            )
    return atoms


def _over(atoms: Atoms, candidate: Candidate) -> Candidate:
    mechanism = cast("MatrixMechanism", candidate.mechanism)
    return replace(candidate, mechanism=replace(mechanism, strategy=OverAtoms(atoms, mechanism.strategy)))
