"""The colours of code in both modes, a style sheet for each mode, and the version in the footer."""

# ruff: noqa: INP001  # mkdocs runs it by its path

import tomllib
from pathlib import Path
from typing import Any

from pygments.formatters.html import HtmlFormatter

STYLES = {"code_light": "xcode", "code_dark": "lightbulb"}


def on_config(config: Any) -> Any:
    """Tell the footer which version the pages describe.

    Args:
        config: of mkdocs.
    """
    project = Path(config["config_file_path"]).with_name("pyproject.toml")
    config["extra"]["version"] = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    return config


def on_post_build(config: Any) -> None:
    """Write a style sheet of every mode.

    Args:
        config: of mkdocs.
    """
    for name, style in STYLES.items():
        sheet = HtmlFormatter(style=style).get_style_defs(".highlight")
        (Path(config["site_dir"]) / "css" / f"{name}.css").write_text(sheet + "\n", encoding="utf-8")
