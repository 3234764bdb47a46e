"""How commands are found: those that are heavy, or seldom used, are imported only when they are called or listed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from privact.cli.program import Program

__all__ = ["Commands"]

_LATER = {
    "audit": "privact.cli.studies.audit",
    "bench": "privact.cli.studies.bench",
    "data": "privact.cli.studies.data",
    "device": "privact.cli.device.app",
    "evaluate": "privact.cli.studies.evaluate",
    "explain": "privact.cli.studies.explain",
    "operators": "privact.cli.service.operators",
    "people": "privact.cli.trees.people",
    "plan": "privact.cli.studies.plan",
    "recommend": "privact.cli.trees.recommend",
    "reproduce": "privact.cli.studies.reproduce",
    "round": "privact.cli.service.round",
    "series": "privact.cli.service.series",
    "serve": "privact.cli.service.serve",
    "simulate": "privact.cli.service.simulate",
    "taste": "privact.cli.trees.taste",
    "users": "privact.cli.service.users",
}
"""Commands and groups that are imported only when they are called or listed: module by name, each with an `app`."""


class Commands(Program):
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
