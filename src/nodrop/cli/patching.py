"""Patches of switches in a folder: one folder for each, replaced as a whole or not at all."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path

from nodrop.cli.output import write_error_line
from nodrop.cli.working import open_executor
from nodrop.inputs import PATCHES_FILE
from nodrop.model.reading import Reading
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.model import Plan
from nodrop.plan.patches import make_patches, patch_file_patterns
from nodrop.publish import content_digest, file_name_matcher, publish
from nodrop.report import names

ParentFolders = tuple[str, ...]
"""The names of the folders above that of a switch: its fabric, its stage."""

_PATCHES_FILE_TEXT = b"""\
Patches of nodrop: in each folder, what takes the switch of its name to what is wanted.
nodrop reads none of these folders as a configuration, unless it is named itself.

  patch.json      SONiC: sudo config apply-patch patch.json
  patch-1.json    SONiC: the first of several, one for each port that is shut, in turn:
                  for one in patch-*.json; do sudo config apply-patch "$one" || break; done
  commands.sh     SONiC: what that refuses and commands do, typed after it
                  Both change the running configuration only: sudo config save -y keeps it.
  changes.vtysh   FRR: vtysh -f changes.vtysh, then keep the new frr.conf
  changes.yaml    NVUE: nv config patch changes.yaml, then nv config apply and nv config save;
                  changes.nv has the same as commands
  changes-1.yaml  NVUE: the first of two revisions where ports are broken out: patch and apply each in turn
  1-, 2- ...      steps, each of which waits for the one before: all of 1- before any of 2-
  by-hand.txt     what is left to a person

Any other file is whole: it takes the place of the switch's own. The plan says in which order.
"""


def write_patches(directory: str, plans: Sequence[tuple[Plan, Reading, Reading]], jobs: int | None = None) -> None:
    """Write the patches of plans from the old readings to the new ones, in a folder for each plan if there are several.

    Report the number of patches, and how many switches have several. Raise InputProblems as `write_switch_folders`
    does.
    """
    files = []
    switches = Counter[tuple[ParentFolders, str]]()
    hands: set[tuple[ParentFolders, str]] = set()
    with open_executor(sum(len(plan.devices) for plan, _, _ in plans), jobs) as executor:
        for plan, old, new in plans:
            above = (plan.new,) if len(plans) > 1 else ()
            for patch in make_patches(plan, old, new, executor):
                hands |= {(above, patch.device)} if patch.by_hand else set()
                switches[above, patch.device] += max(1, sum(name.startswith("patch-") for name in patch.files))
                folders = (*above, patch.turn) if patch.turn else above
                files.append((folders, patch.device, patch.files, switch_files_if_unchanged(old, patch.device) or {}))
    write_switch_folders(directory, files)
    phrases = [f"patches of {names.format_count(len(switches), 'switch')} are in {directory}"]
    if several := sum(number > 1 for number in switches.values()):
        phrases.append(f"{names.format_count(several, 'switch')} with several, in turn: see {PATCHES_FILE}")
    if hands:
        phrases.append(f"{names.format_count(len(hands), 'switch')} with something to do by hand: see by-hand.txt")
    write_error_line("; ".join(phrases))


def write_switch_folders(
    directory: str, device_files: Iterable[tuple[ParentFolders, str, Mapping[str, bytes], Mapping[str, bytes]]]
) -> None:
    """Write the files of each switch below a folder of its name; replace the output of an earlier run there.

    Given for each: the folders above, its name, the new files, and the files that it had, whose digests are kept.
    Reject the output of another command there with InputProblems.
    """
    files: dict[str, bytes] = {}
    inputs: dict[str, str] = {}
    folders = _UniqueFolderNames()
    for above, device, new_files, had in device_files:
        folder = folders.reserve_unique_folder(folders.path_of_parent_folders(above), device)
        files |= {f"{folder}/{name}": text for name, text in new_files.items()}
        inputs |= {f"{folder}/{name}": content_digest(text) for name, text in had.items()}
    about = {PATCHES_FILE: _PATCHES_FILE_TEXT} if files else {}
    names = file_name_matcher(
        [PATCHES_FILE, *(f"{above}{form}" for form in patch_file_patterns() for above in ("*/", "*/*/", "*/*/*/"))]
    )
    publish(Path(directory), about | files, names, inputs=inputs, display=directory, mark=PATCHES_FILE, private=True)


class _UniqueFolderNames:
    """Folders by names that files may have chosen: none has the name of a file, and no two have one name.

    A name that is no folder's is made one; of two that result in the same, the second gets a number.
    """

    def __init__(self) -> None:
        self._taken = {PATCHES_FILE}
        self._above: dict[ParentFolders, str] = {(): ""}

    def path_of_parent_folders(self, names_above: ParentFolders) -> str:
        """Return the folder that these names have, one below the other, as a path that ends with `/` or is empty."""
        if names_above not in self._above:
            self._above[names_above] = (
                self.reserve_unique_folder(self.path_of_parent_folders(names_above[:-1]), names_above[-1]) + "/"
            )
        return self._above[names_above]

    def reserve_unique_folder(self, above: str, name: str) -> str:
        """Return a folder of this name that nothing else has."""
        plain = re.sub(r"[^A-Za-z0-9._@+=-]", "-", name).lstrip(".") or "device"
        numbered = (above + (plain if number == 1 else f"{plain}.{number}") for number in count(1))
        folder = next(candidate for candidate in numbered if candidate not in self._taken)
        self._taken.add(folder)
        return folder
