"""Commands made from a declaration: the options of an experiment or a benchmark as options of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from privact.experiments.experiment import Option

__all__ = ["declare_option", "make_command"]


def declare_option(option: Option) -> tuple[Any, Any]:
    """The type and the default of an option for Typer.

    The default is the option's own; None where a quick run has another one, so that a value that was given can be told apart.
    """
    flag = f"--{option.name.replace('_', '-')}"
    if isinstance(option.default, bool):
        return Annotated[bool, typer.Option(flag, help=option.help)], option.default
    shown: str | bool = option.shown or True
    if option.quick is not None and not option.shown:
        shown = f"{option.default}, with --quick {option.quick}"
    settings: dict[str, Any] = {"min": option.minimum, "max": option.maximum, "help": option.help, "show_default": shown}
    if isinstance(option.default, tuple):
        number = type(option.default[0])
        return Annotated[list[number] | None, typer.Option(flag, **settings)], None  # type: ignore[valid-type]
    number = type(option.default)
    if option.quick is None:
        return Annotated[number, typer.Option(flag, **settings)], option.default
    return Annotated[number | None, typer.Option(flag, **settings)], None


def make_command(run: Callable[..., None], parameters: Mapping[str, tuple[Any, Any]], doc: str) -> Callable[..., None]:
    """A function with these parameters that Typer makes a command of.

    run: is called with all of them by name. parameters: type and default of each. doc: the help.
    """

    def command(**given: Any) -> None:
        run(**given)

    made = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind) for name, (kind, default) in parameters.items()
    ]
    command.__signature__ = Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    command.__doc__ = doc
    return command
