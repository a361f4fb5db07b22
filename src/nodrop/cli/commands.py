"""Groups of commands whose members are the modules of a package: one more file is one more command."""

import importlib
import pkgutil
from typing import Any

import click


class LazyCommandGroup(click.Group):
    """The commands of the modules of a `package`, each imported when it is called, without those that are no command.

    A module's `command` is its command; a package's own modules may make a group again. One that is called by a word of
    Python has an underscore behind it in the module's name.
    """

    def __init__(self, *args: Any, package: str, without: tuple[str, ...] = (), **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._package, self._without = package, without

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all, sorted."""
        return sorted(self._modules_by_command())

    def _modules_by_command(self) -> dict[str, str]:
        """Return the names of commands with their modules'."""
        names = (module.name for module in pkgutil.iter_modules(importlib.import_module(self._package).__path__))
        return {name.rstrip("_").replace("_", "-"): name for name in names if name not in self._without}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        name = self._modules_by_command().get(cmd_name)
        if name is None:
            return None
        module: Any = importlib.import_module(f"{self._package}.{name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the called command; refuse an unknown command and suggest the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from nodrop.cli.options import unknown_word_message

            raise click.UsageError(unknown_word_message("command", args[0], self.list_commands(ctx)), ctx) from None
