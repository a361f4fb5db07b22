"""Output of a command that users keep: a file that is not there yet, a folder as a whole."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from nodrop.errors import describe_os_failure


def write_new_file(target: Path, text: str, *, over: bool = False) -> None:
    """Write a file that is not there yet, or a generated one `overwrite` itself, and the folders above it.

    ClickException where it cannot be; a file that is there stays as it is.
    """
    from nodrop.publish.file import write_new_file

    try:
        write_new_file(target, text.encode(), overwrite=over)
    except FileExistsError:
        raise click.ClickException(f"{target} is there already; it was not touched") from None
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {target}: {describe_os_failure(error)}") from None


def write_folder(directory: str, texts: Mapping[str, str], patterns: Iterable[str], *, mark: str) -> None:
    """Write these texts to a folder, by name, and nothing else; replace only a folder with a file called `mark`.

    They may hold secrets, and are for their owner alone. `patterns` match all names that such texts can have.
    Raise InputProblems if it is impossible, as `nodrop.publish.publish` does.
    """
    from nodrop.publish import file_name_matcher, publish

    publish(
        Path(directory),
        {name: text.encode() for name, text in texts.items()},
        file_name_matcher(patterns),
        inputs={},
        display=directory,
        mark=mark,
        private=True,
    )
