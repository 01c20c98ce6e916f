"""Commands to paste into a shell: whatever a word holds, it stays one word, and no key is pressed by it."""

import shlex
from collections.abc import Iterable


def command(*words: str) -> str:
    """Return a command of these words, for sh, bash and zsh.

    >>> command("dpress", "plan", "my file.toml")
    "dpress plan 'my file.toml'"
    """
    return " ".join(map(word, words))


def option(name: str, value: str) -> str:
    """Return an option with its value in one word, so that a value with a dash in front is none itself."""
    return f"--{name}={value}"


def word(text: str) -> str:
    r"""Return a text as one word; a terminal takes control characters for keys, quoted or not, so they are named.

    >>> print(word("a; b"), word("stop\x03"))
    'a; b' $'stop\u0003'
    """
    return shlex.quote(text) if text.isprintable() else f"$'{''.join(_named(text))}'"


def _named(text: str) -> Iterable[str]:
    for character in text:
        if character in "\\'":
            yield f"\\{character}"
        elif character.isprintable():
            yield character
        else:
            yield f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"
