"""Writes into `grammar_vectors.json` the trees that both parsers make of its texts, or what both refuse them for.

`python tests/query/make_grammar_vectors.py` rewrites it, with the texts that were added to it. Every tree was read by a
person once; a change of one is a change of the grammar.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

from dpress.query.grammar import read

FILE = Path(__file__).with_name("grammar_vectors.json")
STORED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
NAMES = tuple(STORED["names"])


def plain(tree: Any) -> Any:
    """Return a tree as JSON: fields that say nothing are left out."""
    if dataclasses.is_dataclass(tree):
        fields = {one.name: one for one in dataclasses.fields(tree) if one.compare}
        shown = {name: getattr(tree, name) for name, one in fields.items() if getattr(tree, name) != one.default}
        return {name: plain(value) for name, value in shown.items()}
    return [plain(one) for one in tree] if isinstance(tree, tuple) else tree


def made(text: str) -> dict[str, Any]:
    """Return one vector."""
    try:
        return {"text": text, "tree": plain(read(NAMES, text))}
    except ValueError as error:
        return {"text": text, "refused": str(error)}


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(made(one["text"]), ensure_ascii=False) for one in STORED["vectors"])
    FILE.write_text(f'{{"names": {json.dumps(NAMES)}, "vectors": [\n{lines}\n]}}\n', encoding="utf-8")
