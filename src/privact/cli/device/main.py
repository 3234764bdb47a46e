"""The command `privact-device`: the commands of `privact device` in a distribution of their own, without the rest of PrivaCT."""

from __future__ import annotations

from privact.cli.device.app import app

__all__ = ["main"]


def main() -> None:
    """Run the command line of a device."""
    app()
