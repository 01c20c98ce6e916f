"""Which files a name stands for: a file, a folder of them, a pattern, or a list of these; sorted, so that all agree."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path

Reports = str | Path | Sequence[str | Path]


def files_of(reports: Reports) -> tuple[Path, ...]:
    """Return the files, in the order in which their reports count; each must exist, none is looked into.

    Args:
        reports: a file; a folder, with all files in it and in its subfolders, by name, but those hidden or beginning
            with `_`; a pattern with `*`, `?`, `[...]`, `**` for any subfolders; or several of these, one after the
            other.

    Raises:
        OSError: there is no such file, or a folder or a pattern has none.
    """
    several = [reports] if isinstance(reports, str | Path) else list(reports)
    if not several:
        raise OSError("there are no files of reports: the list is empty")
    return tuple(path for names in several for path in _files(Path(names)))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        if files := _sorted(path, _below(path)):
            return files
        raise OSError(f"the folder {path} holds no file of reports (hidden ones and those with _ do not count)")
    if glob.has_magic(str(path)):
        start = Path(*path.parts[: next(at for at, part in enumerate(path.parts) if glob.has_magic(part))])
        matches = [Path(match) for match in glob.glob(str(path), recursive=True)]  # noqa: PTH207  # any pattern, from `/`
        if files := _sorted(start, [match for match in matches if match.is_file()]):
            return files
        raise OSError(f"there is no file {path}, as a name or as a pattern")
    raise OSError(f"there is no file {path}")


def _below(folder: Path) -> list[Path]:
    """Return all files of a folder and its subfolders; links to folders are not followed."""

    def fail(error: OSError) -> None:
        raise error

    return [Path(place, name) for place, _, names in os.walk(folder, onerror=fail) for name in names]


def _sorted(start: Path, files: list[Path]) -> list[Path]:
    """Return the files by the names below a folder, without hidden ones and those that begin with `_`."""
    names = {file: file.relative_to(start).parts for file in files}
    plain = [file for file in files if not any(part[0] in "._" for part in names[file])]
    return sorted(plain, key=lambda file: names[file])
