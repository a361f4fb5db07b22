"""Links from the name of a rule to its page, in a terminal (OSC 8) also from a place to the file that holds it."""

from collections.abc import Iterable
from pathlib import Path
from socket import gethostname
from urllib.parse import quote

from nodrop.engine.rule import Rule
from nodrop.engine.rules import shipped_rules
from nodrop.resources import resource_folder

_MAX_LINK_URL_CHARACTERS = 2000
"""Terminals cut links short, from 2083 bytes on (VTE, iTerm2); what is longer is not linked."""


class RulePageUrls:
    """The pages of the shipped rules, where the site's nodrop.yaml states their address; a site's own rules have none.

    `address` has `{rule}` where the name of the rule goes.
    """

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._names = frozenset(rule.name for rule in shipped_rules()) if address is not None else frozenset()

    def find_address(self, name: str) -> str | None:
        """Return the address of a rule's page; None without one."""
        return self._address.replace("{rule}", name) if self._address and name in self._names else None


class TerminalLinks:
    """Link targets for the names of rules and places: published pages, else files of this machine, where they exist."""

    def __init__(self, rules: Iterable[Rule], pages: RulePageUrls | None = None) -> None:
        self._paths = {rule.name: rule.path for rule in rules}
        self._pages = pages or RulePageUrls()
        self._files: dict[str, bool] = {}

    def address_of_rule_page(self, name: str) -> str | None:
        """Return the address of a rule's published page, else of its page here, else of the rule's file."""
        if (address := self._pages.find_address(name)) is not None:
            return address
        page = resource_folder("rules").parent / "docs" / "rules" / f"{name}.md"
        path = self._paths.get(name)
        if path is not None and Path(path).is_relative_to(resource_folder("rules")) and self._is_file(str(page)):
            return _file_uri(str(page))
        return _file_uri(path) if path is not None and self._is_file(path) else None

    def address_of_file_line(self, file: str, line: int | None = None) -> str | None:
        """Return the address of a file and a line in it; None without such a file."""
        if not self._is_file(file):
            return None
        address = _file_uri(file)
        return address if address is None or line is None else f"{address}#{line}"

    def _is_file(self, file: str) -> bool:
        if file not in self._files:
            try:
                self._files[file] = Path(file).is_file()
            except (OSError, ValueError):
                self._files[file] = False
        return self._files[file]


def format_link(address: str | None, shown_text: str) -> str:
    """Text, already escaped, as a link to an address; the text alone where there is none."""
    return shown_text if address is None else f"\x1b]8;;{address}\x1b\\{shown_text}\x1b]8;;\x1b\\"


def _file_uri(file: str) -> str | None:
    """Return a file as an address: all but letters, digits and `/._-~` percent-encoded, so it can end no sequence."""
    path = quote(str(Path(file).absolute()).encode("utf-8", "surrogateescape"), safe="/")
    address = f"file://{quote(gethostname(), safe='')}{path}"
    return address if len(address) <= _MAX_LINK_URL_CHARACTERS else None
