"""What a command writes for somebody to keep: a file that is not there yet, a folder as a whole."""

from collections.abc import Mapping
from pathlib import Path

import click


def written_anew(target: Path, text: str, *, over: bool = False) -> None:
    """Write a file that is not there yet, or a generated one `over` itself, and the folders above it.

    ClickException where it cannot be; a file that is there stays as it is.
    """
    try:
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True)
        with target.open("w" if over else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise click.ClickException(f"{error.filename} is there already; it was not touched") from None
    except OSError as error:
        raise click.ClickException(f"cannot write {target}: {error.strerror}") from None


def filled(directory: str, texts: Mapping[str, str], *, mark: str) -> None:
    """Let a folder hold these texts, by name, and nothing else; only over what has a file called `mark`.

    InputProblems where it cannot be, as `nodrop.publish.publish` has it.
    """
    from nodrop.publish import publish

    publish(
        Path(directory),
        {name: text.encode() for name, text in texts.items()},
        inputs={},
        display=directory,
        mark=mark,
    )
