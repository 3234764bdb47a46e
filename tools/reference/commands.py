"""typer commands -> one page: what each command does, its arguments and options, and examples."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

from privact.cli.main import app
from reference.markdown import cell, code, table

__all__ = ["Command", "all_commands", "commands_page"]

_ABOUT = """# Commands

Everything that `privact --help` says, on one page. A command prints a table or a picture for a person and one JSON document
with `--json`. It ends with 0; with 1 where its answer is no (a release that must not go out, a section that failed, a question
that was answered with no); with 2 and one line that says what is wrong; with 130 after Ctrl-C.
"""


class Command(NamedTuple):
    """A command and where it is.

    path: its words after `privact`.
    command: as typer made it.
    """

    path: tuple[str, ...]
    command: Any

    @property
    def is_group(self) -> bool:
        """Whether other commands are below it."""
        return hasattr(self.command, "list_commands")

    @property
    def name(self) -> str:
        """As a person types it."""
        return " ".join(("privact", *self.path))

    @property
    def context(self) -> Any:
        """What typer wants to know before it describes a command."""
        return self.command.context_class(self.command, info_name=self.name)

    def parameters(self) -> list[tuple[str, str]]:
        """How each argument, then each option, is written and what it means; without --help."""
        ordered = sorted(self.command.get_params(self.context), key=lambda one: one.param_type_name != "argument")
        records = [parameter.get_help_record(self.context) for parameter in ordered]
        return [record for record in records if record and record[0] != "--help"]


def all_commands() -> Iterator[Command]:
    """Every command and group, each group before its commands."""
    from typer.main import get_command

    yield from _below(Command((), get_command(app)))


def commands_page() -> str:
    """The page of all commands."""
    return _ABOUT + "".join(_section(command) for command in all_commands())


def _below(group: Command) -> Iterator[Command]:
    for name in group.command.list_commands(None):
        command = Command((*group.path, name), group.command.get_command(None, name))
        yield command
        if command.is_group:
            yield from _below(command)


def _section(command: Command) -> str:
    told = inspect.cleandoc(command.command.help or "")
    parts = [f"\n{'#' * (1 + len(command.path))} {command.name}\n", told.replace("<", "&lt;") + "\n"]
    if not command.is_group:
        usage = command.command.get_usage(command.context).removeprefix("Usage: ")
        parts += [f"```text\n{' '.join(usage.split())}\n```\n"]
        parts += [table(("", ""), [(code(written), cell(meaning)) for written, meaning in command.parameters()])]
        examples = inspect.cleandoc((command.command.epilog or "").partition("Example:")[2])
        parts += [f"```sh\n{examples}\n```\n"]
    return "\n".join(parts)
