"""Files whose reader might end the whole process: another one reads them first, in bounded memory.

A damaged head, or a stray cell in the last corner of a sheet, aborts the libraries that read these formats.
"""

import subprocess
import sys
from pathlib import Path

LEAST = 2 << 30  # bytes of memory that any file may take
EACH = 128  # further ones for each byte of the file, which may be compressed
BOUNDED = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except ImportError:
    pass
del sys.argv[1]
"""


def check(path: Path, program: str, *arguments: str, line: str) -> None:
    """Refuse a file at which a reader's process is ended by the system.

    What a reader says of a file, which may quote it, is left to whoever reads it next.

    Args:
        path: of the file.
        program: Python that reads the file, `sys.argv[1]`, and what is named after it.
        arguments: named after the file.
        line: of the refusal, with {} for the path.

    Raises:
        OSError: its process was ended, as by memory above LEAST and EACH.
    """
    memory = LEAST + EACH * path.stat().st_size
    command = [sys.executable, "-c", BOUNDED + program, str(memory), str(path), *arguments]
    silent = subprocess.DEVNULL
    if subprocess.run(command, stdin=silent, stdout=silent, stderr=silent, check=False).returncode < 0:  # noqa: S603
        raise OSError(line.format(path))
