"""How a program exits: one line on stderr for an error, never a traceback for bad input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from privact.cli.device.spelling import PROGRAM, spell_command
from privact.errors import PrivaCTError

__all__ = ["Program", "make_group"]

_WRONG, _INTERRUPTED, _CLOSED_PIPE = 2, 130, 141


def make_group(about: str) -> typer.Typer:
    """A command with commands of its own, which lists them when it is called alone. about: what they are for, in one line."""
    return typer.Typer(help=about, add_completion=False, rich_markup_mode=None, no_args_is_help=True)


class Program(TyperGroup):
    """A group of commands that ends with a line and a status whatever happens."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and exit: 0 for success, 2 for wrong input, 130 after Ctrl-C, 141 for a closed pipe."""
        extra["standalone_mode"] = False
        extra["prog_name"] = PROGRAM
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
    path = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
    return _print_error(f"{message[:1].lower()}{message[1:]} (see {path} --help)", _WRONG)


def _print_error(message: str, code: int) -> int:
    print(f"{PROGRAM}:", spell_command(" ".join(message.split())), file=sys.stderr)
    return code
