"""How commands are found and how they exit: one line on stderr for an error, never a traceback for bad input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from typer.core import TyperGroup

from privact.errors import PrivaCTError

__all__ = ["Commands"]

_LATER = {
    "audit": "privact.cli.studies.audit",
    "bench": "privact.cli.studies.bench",
    "data": "privact.cli.studies.data",
    "device": "privact.cli.device.app",
    "evaluate": "privact.cli.studies.evaluate",
    "explain": "privact.cli.studies.explain",
    "operators": "privact.cli.service.operators",
    "recommend": "privact.cli.trees.recommend",
    "reproduce": "privact.cli.studies.reproduce",
    "round": "privact.cli.service.round",
    "serve": "privact.cli.service.serve",
    "simulate": "privact.cli.service.simulate",
    "taste": "privact.cli.trees.taste",
    "users": "privact.cli.service.users",
}
"""Commands and groups that are imported only when they are called or listed: module by name, each with an `app`."""

_WRONG, _INTERRUPTED, _CLOSED_PIPE = 2, 130, 141


class Commands(TyperGroup):
    """The commands of privact."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, in the order of the help."""
        return [*super().list_commands(ctx), *_LATER]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name."""
        if cmd_name in _LATER:
            from typer.main import get_command

            command = get_command(import_module(_LATER[cmd_name]).app)
            command.name = cmd_name
            return command
        return super().get_command(ctx, cmd_name)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and exit: 0 for success, 2 for wrong input, 130 after Ctrl-C, 141 for a closed pipe."""
        extra["standalone_mode"] = False
        extra["prog_name"] = "privact"
        try:
            code = super().main(args, *rest, **extra)
        except PrivaCTError as error:
            sys.exit(_print_error(str(error), _WRONG))
        except MemoryError:
            sys.exit(_print_error("not enough memory for this input: use a smaller graph or a larger machine", _WRONG))
        except Exception as error:
            if not hasattr(error, "format_message"):  # not a complaint about how the command was called
                raise
            sys.exit(_explain_usage(error))
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            return _print_error("stopped", _INTERRUPTED)
        except BrokenPipeError:  # as of `privact nearest ... | head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard what is left to flush
            return _CLOSED_PIPE
        return result


def _explain_usage(error: Any) -> int:
    """Print what is wrong with the arguments; a group without a command prints its help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return _WRONG
    message = error.format_message().strip().rstrip(".")
    path = getattr(getattr(error, "ctx", None), "command_path", "privact")
    return _print_error(f"{message[:1].lower()}{message[1:]} (see {path} --help)", _WRONG)


def _print_error(message: str, code: int) -> int:
    print("privact:", " ".join(message.split()), file=sys.stderr)
    return code
