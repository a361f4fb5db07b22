"""Which tests that write snapshots run in one process: those of a module, and those of modules with one group.

The groups of pytest-xdist 3.8 change a private name of a test, which pytest 9.2 does not read: they have no effect.
"""

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

_GROUP = re.compile(r'^pytestmark = pytest\.mark\.xdist_group\("(.+)"\)$', re.MULTILINE)


@cache
def group(module: Path) -> str:
    """Return the `xdist_group` of a module, or its path: modules of a group read what others of it write."""
    found = _GROUP.search(module.read_text())
    return found[1] if found else str(module)


class ByGroup(LoadScopeScheduling):
    """Gives each process all tests of a group, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group(self.config.rootpath / nodeid.partition("::")[0])
