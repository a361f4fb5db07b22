"""Fixes in memory: files as a dict, and what became of them."""

from collections import Counter
from collections.abc import Mapping

from nodrop.fixing import fix
from nodrop.inputs import find_inputs
from nodrop.judging import CheckSettings
from nodrop.results.fixed import FixedFabric

STAGED = ("/apply/", "/plan/")
"""Parts of the names of files of a build that hold no state."""


def fixed(
    files: Mapping[str, str | bytes], *, unsafe: bool = True, settings: CheckSettings | None = None
) -> FixedFabric:
    """Fix files that lie in a folder `net`, by their names in it."""
    held = {
        f"net/{name}": text.encode() if isinstance(text, str) else text
        for name, text in files.items()
        if not any(part in f"/{name}" for part in STAGED)
    }
    return fix(find_inputs(sorted(held), held=held).require_single_fabric(), settings or CheckSettings(), unsafe=unsafe)


def after(files: Mapping[str, str | bytes], made: FixedFabric) -> dict[str, str | bytes]:
    """Return files with what was fixed in them."""
    return {**files, **{name.removeprefix("net/"): text for name, text in made.files.items()}}


def found(made: FixedFabric) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return what is found after a fix, by rule and subject."""
    return Counter((one.rule, one.subject) for one in made.outcome.findings)


def left(made: FixedFabric) -> list[tuple[str, str, str]]:
    """Return what is left: rule, subject and reason."""
    return [(one.finding.rule, "/".join(one.finding.subject), one.reason) for one in made.remaining]
