"""`nodrop`: finds the command, runs it, and turns exceptions into words and an exit code.

Exit codes, one set for every command: 0 nothing at or above the threshold, 1 findings or drift, 2 the input or the
command is wrong, 3 nothing to check or a device without a file that is read, 70 nodrop itself failed.
"""

import atexit
import gc
import io
import os
import sys
import traceback
from collections.abc import Iterable, Sequence

import click

from nodrop.cli.commands import LazyCommandGroup
from nodrop.errors import InputProblems, NodropError

FOUND, WRONG, NOTHING, FAILED, INTERRUPTED = 1, 2, 3, 70, 130
_NON_COMMAND_MODULES = (
    "choices",
    "commands",
    "completing",
    "main",
    "options",
    "output",
    "patching",
    "planning",
    "reading",
    "size_options",
    "working",
    "writing",
)
"""The modules here that are no command."""
_SYSTEM = os.name
COMPLETION_VARIABLE = "_NODROP_COMPLETE"
"""The variable by which a shell asks for completions."""


@click.group(
    cls=LazyCommandGroup,
    package="nodrop.cli",
    without=_NON_COMMAND_MODULES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="nodrop", message="nodrop %(version)s")
def nodrop() -> None:
    """Generate switch configurations for RoCEv2 fabrics, and lint any SONiC, Cumulus or Onyx configuration.

    \b
    Examples:
      nodrop lint config_db.json           check the configuration of a switch
      nodrop init                          write a first intent (intent.yaml: the description of a fabric)
      nodrop show intent.yaml              show the fabric that it describes
      nodrop build intent.yaml -o build    write its configurations, and lint them
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    if _SYSTEM == "nt":
        _print_errors(["nodrop runs on Linux and macOS; on Windows, use WSL 2 or the container"])
        return WRONG
    try:
        result = nodrop.main(args=args, prog_name="nodrop", complete_var=COMPLETION_VARIABLE, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        _print_click_error(error)
        return WRONG
    except InputProblems as error:
        _print_problems(error)
        return WRONG
    except NodropError as error:
        _print_errors([str(error)])
        return WRONG
    except SystemExit:  # click's answer where the reader of its help has gone away
        return 0
    except Exception:  # noqa: BLE001 -- the last resort: a bug, which must not look like findings
        _print_traceback(traceback.format_exc())
        click.echo("nodrop failed; this is a bug, please report it with the lines above", err=True)
        return FAILED


def _print_click_error(error: click.ClickException) -> None:
    """Print click's message, with the user's typed text in it made harmless."""
    from nodrop.report.escape import escape_terminal

    with io.StringIO() as page:
        error.show(file=page)
        click.echo(escape_terminal(page.getvalue(), lines=True), err=True, nl=False)


def _print_problems(error: InputProblems) -> None:
    """Print faults of the input, each with the line that it is in."""
    from nodrop.report.block import ReportStyle

    page = ReportStyle(color=False, verbose=False, width=100, line=lambda _file, _line: None)
    for problem in error.problems:
        for line in page.format_problem(problem):
            click.echo(line, err=True)


def _print_traceback(text: str) -> None:
    """Print a traceback, which can quote files: it steers no terminal, and no line is a command to a CI."""
    from nodrop.report.escape import escape_terminal

    for line in escape_terminal(text.rstrip("\n"), lines=True).split("\n"):
        click.echo(f"| {line}".rstrip(), err=True)


def _print_errors(errors: Iterable[str]) -> None:
    from nodrop.report.escape import escape_terminal

    for error in errors:
        click.echo(f"error: {escape_terminal(error)}", err=True)


def switch_to_utf8() -> None:
    """Let this process take names of files and write text in UTF-8, in any locale, as Python does from 3.15 on.

    Names of files are taken in the encoding that a process begins with; if that differs, the process begins again.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def relax_garbage_collection() -> None:
    """Let the garbage collector look seldom: a fabric is a million objects without cycles that all stay."""
    gc.freeze()
    gc.set_threshold(1_000_000, 50, 50)


def main() -> None:
    """Run the command line of this process."""
    relax_garbage_collection()
    switch_to_utf8()
    code = run()
    _exit_process(code)
    sys.exit(code)


def _exit_process(code: int) -> None:
    """End this process without freeing its memory piece by piece, which takes seconds after a large fabric.

    If other threads are still at work in it, or its output does not reach its reader, it ends as Python ends.
    """
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return
    os._exit(code)
