"""`nodrop`: finds the command, runs it, and turns what was raised into words and an exit code.

Exit codes, one set for every command: 0 nothing at or above the threshold, 1 findings or drift, 2 the input or the
command is wrong, 3 nothing to look at, 70 nodrop itself failed.
"""

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from nodrop import cli
from nodrop.errors import InputProblems, NodropError

FOUND, WRONG, NOTHING, FAILED, INTERRUPTED = 1, 2, 3, 70, 130
_OWN = ("main", "output", "options")


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        found = (module.name for module in pkgutil.iter_modules(cli.__path__))
        return sorted(name for name in found if name not in _OWN)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module: Any = importlib.import_module(f"nodrop.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib

            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean {close[0]}?" if close else f"commands: {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"no command {args[0]!r} ({hint})", ctx) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="nodrop", message="nodrop %(version)s")
def nodrop() -> None:
    """Compile RoCEv2 fabric intents into switch configurations, and lint configurations, anybody's.

    \b
    nodrop show intents/reference-256.yaml             what an intent means
    nodrop build intents/reference-256.yaml -o build   its configurations, linted
    nodrop lint build                                  what is wrong with configurations
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        result = nodrop.main(args=args, prog_name="nodrop", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return WRONG
    except InputProblems as error:
        from nodrop.report.escape import terminal

        for problem in error.problems:
            click.echo(f"error: {terminal(str(problem))}", err=True)
        return WRONG
    except NodropError as error:
        from nodrop.report.escape import terminal

        click.echo(f"error: {terminal(str(error))}", err=True)
        return WRONG
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 -- the last resort: a bug, which must not look like findings
        traceback.print_exc()
        click.echo("nodrop failed; this is a bug, please report it with the lines above", err=True)
        return FAILED


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run())
