"""What a command writes for somebody to keep: a file that is not there yet, a folder as a whole."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from nodrop.paths import reason


def written_anew(target: Path, text: str, *, over: bool = False) -> None:
    """Write a file that is not there yet, or a generated one `over` itself, and the folders above it.

    ClickException where it cannot be; a file that is there stays as it is.
    """
    from nodrop.publish.file import write_new

    try:
        write_new(target, text.encode(), over=over)
    except FileExistsError:
        raise click.ClickException(f"{target} is there already; it was not touched") from None
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {target}: {reason(error)}") from None


def write_folder(directory: str, texts: Mapping[str, str], patterns: Iterable[str], *, mark: str) -> None:
    """Let a folder hold these texts, by name, and nothing else; only over what has a file called `mark`.

    They may hold secrets, and are for their owner alone. `patterns` are of all names that such texts can have.
    InputProblems where it cannot be, as `nodrop.publish.publish` has it.
    """
    from nodrop.publish import matching, publish

    publish(
        Path(directory),
        {name: text.encode() for name, text in texts.items()},
        matching(patterns),
        inputs={},
        display=directory,
        mark=mark,
        private=True,
    )
