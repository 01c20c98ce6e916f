"""Unions of regions in one space: the covariance of their estimates, from the nodes at and above their border alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine
from dpress.inference.regions.space_tree import SpaceTree

Union = Mapping[int, Numbers]
"""For every level the nodes of it that belong to the union, none inside another."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Border:
    """The nodes of some unions, and all nodes above them.

    Args:
        nodes: for every level, 0 to the deepest of a union: the nodes, increasing.
        weights: for every level, shape (nodes, unions): 1.0 where the node belongs to the union, 0.0 elsewhere.
        groups: for every level below the first, where in its nodes those of another parent begin.
        parents: for every level below the first, where in the nodes of the level above these parents stand.
    """

    nodes: tuple[Numbers, ...]
    weights: tuple[Array, ...]
    groups: tuple[Numbers, ...]
    parents: tuple[Numbers, ...]


def border(spine: Spine, unions: Sequence[Union]) -> Border:
    """Return the nodes that decide the covariance of unions.

    Raises:
        ValueError: a union has a node twice, or a node and another inside it, or a level or node that is not there.
    """
    depth = max((level for union in unions for level, nodes in union.items() if len(nodes)), default=0)
    if depth > spine.depth:
        raise ValueError(f"level {depth}: the last level is {spine.depth}")
    nodes, weights, groups, parents = list[Numbers](), list[Array](), list[Numbers](), list[Numbers]()
    above = np.zeros(0, dtype=np.int64)
    for level in reversed(range(depth + 1)):
        members = [_members(spine, level, union) for union in unions]
        touched = np.unique(np.concatenate([above, *members]))
        parents.insert(0, np.searchsorted(touched, above))
        nodes.insert(0, touched)
        weights.insert(0, np.stack([np.isin(touched, chosen) for chosen in members], axis=1).astype(np.float64))
        if level:
            raised = np.searchsorted(spine.starts[level - 1], touched, side="right") - 1
            above, first = np.unique(raised, return_index=True)
            groups.insert(0, first)
    edge = Border(nodes=tuple(nodes), weights=tuple(weights), groups=tuple(groups), parents=tuple(parents[:-1]))
    _check_apart(edge)
    return edge


def _check_apart(edge: Border) -> None:
    """Refuse a node inside another of its union."""
    inside = edge.weights[0]
    for level, (first, parents) in enumerate(zip(edge.groups, edge.parents, strict=True), start=1):
        counts = np.diff(np.append(first, len(edge.nodes[level])))
        covered, weights = np.repeat(inside[parents], counts, axis=0), edge.weights[level]
        if (twice := (covered * weights).any(axis=1)).any():
            raise ValueError(f"level {level}: node {edge.nodes[level][twice][0]} is inside another of its union")
        inside = covered + weights


def _members(spine: Spine, level: int, union: Union) -> Numbers:
    members = np.sort(np.asarray(union.get(level, ()), dtype=np.int64))
    if len(members) and (members[0] < 0 or members[-1] >= spine.sizes[level]):
        raise ValueError(f"level {level}: expected nodes from 0 to {spine.sizes[level] - 1}, got others")
    if (np.diff(members) == 0).any():
        raise ValueError(f"level {level}: node {members[1:][np.diff(members) == 0][0]} is in a union twice")
    return members


def union_covariances(tree: SpaceTree, edge: Border) -> Array:
    """Return the covariance of the unions' estimates, per direction of a space, shape (unions, unions).

    Going up, every node has a weight a for each union: how the union's value grows with the node's. Given the node's
    value, its children's are correlated: their covariance is diag(e) - e e^T / v, e and v as in `SpaceTree`. So
    m = sum of a_c e_c / v is the node's weight, beside its membership, and Cov = V_root m_root m_root^T + sum over the
    nodes above the border of sum over children of e_c (a_c - m) (a_c - m)^T. Exact.

    Raises:
        ValueError: a union has a node of a level that nothing measures in this space.
    """
    last = len(edge.nodes) - 1
    if last > tree.deepest:
        raise ValueError(f"level {last}: nothing is measured there or below, so its nodes have no estimate")
    weights = edge.weights[last]
    covariance = np.zeros((weights.shape[1],) * 2)
    for level in range(last, 0, -1):
        first, parents = edge.groups[level - 1], edge.parents[level - 1]
        above = edge.nodes[level - 1][parents]
        counts = np.diff(np.append(first, len(weights)))
        alone = tree.alone[level][edge.nodes[level], None]
        sums = np.add.reduceat(np.hstack([alone, alone * weights]), first, axis=0)
        starts = tree.spine.starts[level - 1]
        whole = (counts == starts[above + 1] - starts[above])[:, None]
        total = np.where(whole, sums[:, :1], tree.below[level - 1][above, None])
        mean = np.divide(sums[:, 1:], total, out=np.zeros_like(sums[:, 1:]), where=total > 0)
        apart = weights - np.repeat(mean, counts, axis=0)
        rest = np.maximum(total - sums[:, :1], 0)
        covariance += (apart * alone).T @ apart + (mean * rest).T @ mean
        weights = edge.weights[level - 1].copy()
        weights[parents] += mean
    covariance += tree.alone[0][0] * weights.T @ weights
    return covariance
