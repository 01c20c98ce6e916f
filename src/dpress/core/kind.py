"""What a kind of release is called: the room of its code, and the values of a specification that select it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of release, found by walking `kinds/`.

    Args:
        name: of its room, a package of `kinds/`.
        names: the values of `release.kind` in a specification that it serves.
        queries_on: what its page draws queries on, with an article; empty where it draws none.
    """

    name: str
    names: tuple[str, ...]
    queries_on: str = ""
