"""What a kind of release is called: the room of its code, and the words of a specification that ask for it.

A room's other files are found by name: `design.py` (specification to candidates; only `release.plan` may use it),
`answers.py` (what was kept to answers), `evaluate.py` (against the truth), `plan_text.py` (what a plan says to people),
`page.py` with `page.html.j2` (the report).
"""

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
