"""Examples of docstrings as code on the pages of the API: markdown takes their `>>>` for quotes in quotes in quotes."""

# ruff: noqa: INP001  # mkdocs runs it by its path

import re
from typing import Any

from griffe import Extension, Object

BLOCK = re.compile(r"^>>> .*(?:\n(?!\s*\n)(?!```).+)*", re.MULTILINE)


class DoctestBlocks(Extension):
    """Puts every example of a docstring into a block of code."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object when it is read."""
        if obj.docstring is not None:
            obj.docstring.value = as_code(obj.docstring.value)


def as_code(text: str) -> str:
    """Return a docstring whose examples stand in blocks of code.

    >>> as_code("Adds.").splitlines()
    ['Adds.']
    """
    return BLOCK.sub(lambda block: f"```python\n{block[0]}\n```", text)
