"""The trees that this process has read, by their hashes: an attribute holds the hash of its tree, not the tree."""

from typing import TYPE_CHECKING

from dpress.core.basics.errors import SchemaMismatch

if TYPE_CHECKING:
    from dpress.attributes.hierarchy.tree import Tree

_TREES: dict[str, "Tree"] = {}  # only ever added to: what a hash names does not change


def remember(tree: "Tree") -> str:
    """Keep a tree for as long as the process runs, and return its hash."""
    _TREES.setdefault(tree.hash, tree)
    return tree.hash


def is_at_hand(name: str) -> bool:
    """Return whether the tree of a hash was read."""
    return name in _TREES


def tree_of(name: str) -> "Tree":
    """Return the tree of a hash.

    Raises:
        SchemaMismatch: it was not read.
    """
    if name not in _TREES:
        raise SchemaMismatch(
            f"the tree {name[:12]}... is not at hand; put its file beside the design (a release has it in its folder)"
            if name
            else "the tree is not read yet; dpress.load_spec(...) reads it from its file"
        )
    return _TREES[name]
