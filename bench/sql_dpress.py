"""The statements of `sql.py` in dpress."""

import tempfile
from pathlib import Path
from typing import Any

from dpress.data.specification.spec import as_dict, load_spec
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements


def runs(each: dict[str, Any], path: Path, epsilon: float, delta: float, count: int) -> list[list[dict[str, Any]]]:
    """Plan a statement once, and publish and read it some times."""
    spec = as_dict(load_spec(each["spec"], release={"kind": "queries"}))
    names = any(attribute.get("values") == "discover" for attribute in each["attributes"])
    kept = {name: value for name, value in spec["privacy"].items() if name not in ("rho", "epsilon", "delta")}
    privacy = kept | {"epsilon": epsilon} | ({"delta": delta} if names else {})
    del spec["release"]
    planned = plan_statements(spec | {"privacy": privacy}, each["sql"])
    answered = []
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            made = publish_statements(planned, path, out=Path(folder) / "answers")
            answered.append(made.answer(1).table.to_pylist())
    return answered
