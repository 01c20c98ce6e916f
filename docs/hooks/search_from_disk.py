"""Search that works from disk, too: a page opened as a file may neither read JSON nor start a worker, but load scripts.

search_index.json -> search_index.js; search/main.js -> search.js of this folder.
"""

# ruff: noqa: INP001  # mkdocs runs it by its path

from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("search.js")


def on_post_build(config: Any) -> None:
    """Write the index as a script, and the script that asks it, over those of the theme's search.

    Args:
        config: of mkdocs.
    """
    folder = Path(config["site_dir"]) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var search_index = {index};\n", encoding="utf-8")
    (folder / "main.js").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "worker.js").unlink(missing_ok=True)
