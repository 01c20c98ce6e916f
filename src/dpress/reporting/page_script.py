"""The script of a page: the modules of `script/` as one text, with the hash by which the page allows it and no other.

Every module becomes a function that is called once, in the order of its imports; no name of one is seen by another.
"""

import base64
import functools
import hashlib
import importlib.resources
import re
from pathlib import PurePosixPath

FOLDERS = ("reporting/script", "service/pages")  # the second has what makes elements without markup
IMPORT = re.compile(r'^import \{ (.+) \} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
NOTE = re.compile(r"^\s*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)


@functools.cache
def script(entry: str = "main") -> str:
    """Return all that one module needs, as one text."""
    made: dict[str, str] = {}
    _collect(entry, made)
    return '"use strict";\n' + "".join(made.values())


def allowed(text: str) -> str:
    """Return the source by which a content security policy allows one inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _collect(name: str, made: dict[str, str]) -> None:
    text = _module(name)
    for _, other in IMPORT.findall(text):
        if other not in made:
            _collect(other, made)
    body = NOTE.sub("", IMPORT.sub(lambda match: f"const {{ {match[1]} }} = ${match[2]};\n", text))
    names = ", ".join(EXPORT.findall(body))
    made[name] = f"const ${name} = (() => {{\n{EXPORT.sub('', body)}return {{ {names} }};\n}})();\n"


def _module(name: str) -> str:
    package = importlib.resources.files("dpress")
    for folder in FOLDERS:
        file = package / str(PurePosixPath(folder, f"{name}.js"))
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise FileNotFoundError(f"{name}.js: in none of {', '.join(FOLDERS)}")
