"""The prompt of a session at a terminal, by prompt_toolkit: statements of several lines, history and completion.

Only imported where standard input is a terminal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from dpress.cli.completion import completions, last_word, unfinished
from dpress.data.specification.spec import Spec

if TYPE_CHECKING:
    from dpress.release.statements.sql_session import Session

PROMPT, MORE = "sql> ", "...> "
KEYS = KeyBindings()


@dataclass(frozen=True)
class SpecCompleter(Completer):
    """Completes the word before the cursor.

    Args:
        spec: that lists columns and values.
    """

    spec: Spec

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what may stand in the place of that word."""
        del complete_event
        before = document.text_before_cursor
        for word in completions(self.spec, before):
            yield Completion(word.text, start_position=-len(last_word(before)), display_meta=word.kind)


@KEYS.add("enter")
def send(event: KeyPressEvent) -> None:
    """Send what was typed, unless it surely goes on; an empty line sends that, too."""
    document = event.current_buffer.document
    if unfinished(document.text) and document.current_line.strip():
        event.current_buffer.newline()
    else:
        event.current_buffer.validate_and_handle()


@KEYS.add("escape", "enter")
def begin_a_line(event: KeyPressEvent) -> None:
    """Begin another line wherever the cursor is."""
    event.current_buffer.newline()


def typed_lines(session: "Session") -> Iterator[str]:
    """Yield what is typed until the end of input; what is interrupted is forgotten.

    The history is that of this run, after the statements that were accepted; nothing of it is written.
    """
    prompt: PromptSession[str] = PromptSession(
        PROMPT,
        completer=SpecCompleter(session.spec),
        history=InMemoryHistory([accepted.sql for accepted in session.history]),
        complete_while_typing=False,
        key_bindings=KEYS,
        multiline=True,
        prompt_continuation=MORE,
    )
    while True:
        try:
            yield prompt.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            click.echo()
            return
