"""Which devices are asked what for ranges: trees, the cells alone, or grids, with the predicted error."""

from collections.abc import Iterator

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import Parameters
from dpress.core.maps.workload import Boxes
from dpress.data.specification.spec import Spec
from dpress.kinds.ranges import grids
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.rounds import InRounds
from dpress.mechanisms.ranges.ahead_tree import ahead_tree
from dpress.mechanisms.ranges.level_tree import LevelTree, level_tree
from dpress.release.plan import collections
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.parameter_checks import expected_users, of_methods

TREE, FLAT = "level_tree", ("subset_selection", "hadamard", "olh")  # the last: one level, the cells
GROWN = "ahead"  # where the spec sets `rounds`: nobody has to run several without having asked for it
MOST_CELLS = 1 << 20


def chosen(spec: Spec, boxes: Boxes) -> Choice:
    """Return every way to ask devices for ranges, and the best one.

    Raises:
        NotSupported: too many cells, a budget that is no epsilon, or a method that does not serve.
        ValueError: a parameter is wrong.
    """
    collections.check_silence(spec)
    users = expected_users(spec)
    if len(boxes.axes) > 1:
        made = [grids.candidate(spec, boxes, users)]
    else:
        _check_cells(spec)
        grown = spec.release.method == GROWN or (spec.release.method == "auto" and "rounds" in spec.release.parameters)
        trees = [_candidate(name, tree, boxes, users) for name, tree in ([] if grown else _trees(spec, boxes))]
        made = [_grown(spec, boxes, users)] if grown else trees
    candidates = tuple(sorted(made, key=rank))
    return Choice(
        workload=boxes,
        schema=spec.schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
    )


def _candidate(name: str, tree: LevelTree, boxes: Boxes, users: int) -> Candidate:
    collection = Collection(shape=tree.shape, types=tree.types, split="users", estimator=tree)
    return Candidate(method=name, mechanism=collection, predicted_error=tree.axis_variance(boxes.axes[0], users))


def _grown(spec: Spec, boxes: Boxes, users: int) -> Candidate:
    """Return the tree that grows in rounds."""
    arguments = of_methods(spec, {GROWN: InRounds}, method=GROWN)[GROWN]
    grids.check_order(spec.schema.tabular[0])
    tree = ahead_tree(spec.schema.shape[0], collections.share(spec, "users"), **arguments)
    collection = Collection(shape=tree.shape, types=tree.types, split="users", estimator=tree)
    error = tree.range_error(users, *grids.sample(boxes))
    return Candidate(method=GROWN, mechanism=collection, predicted_error=error)


def _check_cells(spec: Spec) -> None:
    if (cells := spec.schema.shape[0]) > MOST_CELLS:
        raise NotSupported(f"{spec.schema.names[0]!r} has {cells:,} cells; at most 2^20 are asked for; use `bins`")


def _trees(spec: Spec, boxes: Boxes) -> Iterator[tuple[str, LevelTree]]:
    """Yield by method every tree that serves; that of a frequency oracle has one level, the cells."""
    loss, cells, axis = collections.share(spec, "users"), spec.schema.shape[0], boxes.axes[0]
    method = spec.release.method
    oracles = catalog.cards("oracle", named=method)
    if method not in ("auto", TREE, *oracles):
        methods = ", ".join((TREE, GROWN, *sorted(oracles)))
        raise NotSupported(f"$.release.method: {method!r} collects no ranges; those that do: {methods}")
    offered = (TREE, *FLAT) if method == "auto" else (method,)
    takes = {name: catalog.card(TREE).parameters if name == TREE else Parameters for name in offered}
    for name, parameters in of_methods(spec, takes).items():
        if name == TREE:
            yield name, level_tree(cells, loss, axis, **parameters)
        elif _serves(name, cells, loss):
            yield name, level_tree(cells, loss, axis, branching=max(cells, 2), oracle=name)
        elif method == name:
            raise NotSupported(f"$.release.method: {method!r} does not serve {cells:,} cells")


def _serves(name: str, cells: int, loss: PureDP) -> bool:
    make = catalog.card(name).oracle
    return make is not None and make(cells, loss) is not None
