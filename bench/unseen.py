"""What methods reach on data that nobody had looked at while they were made: all `unseen_*.py` together, as JSON.

python bench/unseen.py > unseen.json

Each program says which files it wants in the folder $DPRESS_UNSEEN, and how many runs its figures have, with their
standard errors. One that finds none of its files, or fails, stands in the JSON with its last line. Takes about an hour.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cases import say
from machine import facts


def figures(program: Path) -> Any:
    """Return the JSON that a program prints; its last line on standard error where it prints none."""
    say(program.name)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        return {"missing": (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]}
    return json.loads(done.stdout)


def main() -> None:
    """Print the JSON."""
    programs = sorted(Path(__file__).parent.glob("unseen_*.py"))
    print(json.dumps({"machine": facts()} | {program.stem: figures(program) for program in programs}, indent=1))


if __name__ == "__main__":
    main()
