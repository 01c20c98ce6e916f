"""Nothing but its room asks an attribute which type of column it is."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "dpress"
ROOMS = SOURCE / "attributes"


PACKAGE = "dpress.attributes"


def types(tree: ast.Module) -> set[str]:
    """Return the names under which a module has classes of attributes, and what they stand on."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").startswith(PACKAGE)]
    return {alias.asname or alias.name for node in ours for alias in node.names}


def asking(text: str) -> list[int]:
    """Return the lines on which a module asks an attribute for its type."""
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    asks = [call for call in calls if call.func.id in ("isinstance", "issubclass") and len(call.args) == 2]  # type: ignore[attr-defined]
    return [call.lineno for call in asks if types(tree) & {getattr(node, "id", "") for node in ast.walk(call.args[1])}]


def test_no_module_asks_which_attribute_it_has() -> None:
    outside = [path for path in SOURCE.rglob("*.py") if ROOMS not in path.parents]
    found = {str(path.relative_to(SOURCE)): asking(path.read_text(encoding="utf-8")) for path in outside}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_module_that_asks_would_be_found() -> None:
    imported = (
        "from dpress.attributes.numbers.attribute import Integer\nfrom dpress.attributes.dates import attribute\n"
    )
    for planted in ("isinstance(x, Integer)", "isinstance(x, str | Integer)", "issubclass(x, attribute.Date)"):
        assert asking(f"{imported}if {planted}:\n    size = 2\n") == [3]
    assert asking(imported + "isinstance(value, str)\nisinstance(own, Design)\n") == []
