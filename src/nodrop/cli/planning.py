"""Options of commands that report the differences between two states."""

from collections.abc import Callable
from typing import Any

from nodrop.cli.options import OUTPUT, Word, folder_option, option


def patch_option(purpose: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --patch to a command; the `purpose`, a verb with its object, ends the option's help."""
    return folder_option("--patch", help=f"Write to DIR what the tools of each switch take to {purpose}.")


def rollout_option(
    *, after: str, before: str, group: str = OUTPUT, gate: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --rollout to a command: `after` and `before` describe switches in an intermediate state, changed and not yet.

    The first word is the default: `tell`, or `gate` if the command has it; the `gate` argument explains each word.
    """
    words = ["gate", "tell", "off"] if gate else ["tell", "off"]
    states = f"with some switches as they {after} and the others as they {before}"
    return option(
        group,
        "--rollout",
        type=Word(words),
        default=words[0],
        show_default=True,
        help=f"Judge the states between too, {states}{gate and ': '}{gate}.",
    )
