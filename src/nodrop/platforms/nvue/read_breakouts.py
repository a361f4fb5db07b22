"""Ports that a file names and the switch does not have.

These are ports beyond its last, parts not broken out, and ports lost to the parts of others.

Sources: Cumulus Linux release notes, 4309876 (ports are not checked) and 3362113 (QoS of missing parts, or of parts
broken out in the same revision); 5.19, Switch Port Attributes (the ways to break ports out, ports after them).
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from nodrop.hardware import switch
from nodrop.hardware.ports import PortGroup, PortSplit
from nodrop.hardware.schema import SwitchModel
from nodrop.model.reading import FilePlace
from nodrop.model.states import Unknown
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.naming import ParsedPortName, nvue_port
from nodrop.platforms.nvue.read_ports import Breakout, FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile
from nodrop.syntax.places import quote_text, sanitize_for_message
from nodrop.syntax.shapes import mapping_at
from nodrop.units import show_ids

_MAX_NAMES_SHOWN = 4
_MAX_PLACES = 100
_HARMLESS_KEYS_OF_MISSING_PORT = frozenset({"type", "description", "link"})
"""What may be said of a port that is not there, and changes nothing."""
_UNSPLIT_BREAKOUT_WORDS = ((), ("1x",), ("disabled",), ("loopback",))
_EFFECTIVE_LINK_KEYS_OF_SPLIT_PORT = frozenset({"breakout", "state"})
"""What is said of the link of a port that is broken out, and counts."""
_LINK_KEYS_ALLOWED_ON_IDLE_PORT = frozenset({"breakout", "mtu", "auto-negotiate", "fec", "speed", "state"})


def remark_missing_ports(config: NvueConfigFile, ports: FileInterfaces, model_name: str | Unknown) -> None:
    """Report ports that the model does not have, and parts of ports that the file does not break out.

    A file without a header may be a change to an existing configuration: there, a named port counts as whole.
    """
    facts = None if isinstance(model_name, Unknown) else switch(model_name)
    panels = None if facts is None else _panel_numbers(facts.name)
    breakouts = _BreakoutByPanelPort(ports, facts, whole_state=bool(config.tree and config.tree.header))
    missing: list[_MissingPort] = []
    rows: list[_MissingPort] = []
    for key in config.top.below("interface").node:
        if odd := next((name for name in key.split(",") if any(map(str.isspace, name.strip()))), ""):
            text = quote_text(" ".join(sanitize_for_message(odd).split()))
            config.remark_malformed_value(("interface", key), text, "names without spaces, such as swp1-4,swp6")
        for name, port in _ports_of_key(key):
            if panels is not None and port.port.panel not in panels:
                missing.append(_MissingPort(key, name))
            elif port.part and (why := breakouts.explain_missing_part(port)):
                rows.append(_MissingPort(key, name, why, f"swp{port.port.panel}"))
    for row in _merge_rows_by_place(config, missing):
        last = str(max(panels or (0,)))
        config.remark("port-not-on-model", (), ("interface", row.key), ports=row.name, model=str(model_name), last=last)
    for row in _merge_rows_by_place(config, rows):
        config.remark("part-without-breakout", (), ("interface", row.key), ports=row.name, reason=row.why)
    if facts is not None:
        _remark_impossible_breakouts(config, ports, facts)
    _remark_ineffective_port_settings(config, ports)


def abbreviate_names(found: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    hidden_count = len(found) - _MAX_NAMES_SHOWN
    return ", ".join(found[:_MAX_NAMES_SHOWN]) + (f" and {hidden_count} more" if hidden_count > 0 else "")


class _MissingPort(NamedTuple):
    key: str
    name: str
    why: str = ""
    panel: str = ""
    """Of which `why` is said; empty where that is said of the row."""


def _merge_rows_by_place(config: NvueConfigFile, rows: list[_MissingPort], *below: str) -> list[_MissingPort]:
    """Return rows that stand at one place as one, with all their names; a name counts where it stands first.

    Places are looked up for the first rows; the others count to the last of these.
    """
    found_rows: dict[tuple[FilePlace | None, str], list[_MissingPort]] = {}
    place = None
    for count, row in enumerate(_first_row_by_name(rows)):
        if count < _MAX_PLACES:
            place = config.place(("interface", row.key, *below))
        found_rows.setdefault((place, "" if row.panel else row.why), []).append(row)
    return [
        _MissingPort(same[0].key, abbreviate_names([row.name for row in same]), _join_row_reasons(same))
        for same in found_rows.values()
    ]


def _join_row_reasons(rows: list[_MissingPort]) -> str:
    """Return the reasons of some rows, each with its panel ports."""
    if not rows[0].panel:
        return rows[0].why
    panels: dict[str, dict[str, None]] = {}
    for row in rows:
        panels.setdefault(row.why, {})[row.panel] = None
    return "; ".join(
        f"{abbreviate_names([*names])} {'is' if len(names) == 1 else 'are'} {why}" for why, names in panels.items()
    )


def _first_row_by_name(rows: list[_MissingPort]) -> list[_MissingPort]:
    """Return the first row of each name."""
    first_row: dict[str, _MissingPort] = {}
    for row in rows:
        first_row.setdefault(row.name, row)
    return list(first_row.values())


@lru_cache(maxsize=4096)
def _ports_of_key(key: str) -> tuple[tuple[str, ParsedPortName], ...]:
    """Return the switch ports that a key stands for."""
    return tuple((name, port) for name in expand_names(key) if (port := nvue_port(name)) is not None)


@lru_cache(maxsize=256)
def _panel_numbers(model: str) -> frozenset[int]:
    return frozenset(panel for group in switch(model).ports for panel in group.panels)


class _BreakoutByPanelPort:
    """Breakouts stated for the panel ports that have parts."""

    def __init__(self, ports: FileInterfaces, model: SwitchModel | None, *, whole_state: bool) -> None:
        self._ports, self._model, self._whole_state = ports, model, whole_state
        self._of: dict[int, Breakout | None] = {}
        self._any: bool | None = None

    def explain_missing_part(self, named_nvue_port: ParsedPortName) -> str:
        """Return why a part is missing; empty if it exists or the file does not state it."""
        panel, name = named_nvue_port.port.panel, f"swp{named_nvue_port.port.panel}"
        if panel not in self._of:
            self._of[panel] = self._ports.link(self._ports.view(name)).breakout
        breakout = self._of[panel]
        if breakout is None:
            if named_nvue_port.port.split < self._default_split_count(panel):
                return ""
            says = self._whole_state or (self._ports.has_settings_of(name) and self._has_any_breakout())
            return "not broken out" if says else ""
        if breakout.splits == 0:
            return "disabled"
        return "" if named_nvue_port.port.split < breakout.splits else f"broken out into {breakout.splits}"

    def _default_split_count(self, panel: int) -> int:
        """Return the number of parts of a panel port without a breakout setting; 0 for none."""
        group = self._model and self._model.group(panel)
        return group.starts_split.get("nvue", 0) if group else 0

    def _has_any_breakout(self) -> bool:
        """Whether the file breaks out any port."""
        if self._any is None:
            ports = self._ports
            self._any = any(nvue_port(name) and ports.link(ports.view(name)).breakout for name in ports.names())
        return self._any


def _remark_impossible_breakouts(config: NvueConfigFile, ports: FileInterfaces, model: SwitchModel) -> None:
    """Remark breakouts that the model has not, and ports in use that are lost to the parts of the one before."""
    impossible: list[_MissingPort] = []
    lost: list[_MissingPort] = []
    for key, node in config.top.below("interface").node.items():
        if not _has_breakout(node):
            continue
        for name, named_nvue_port in _ports_of_key(key):
            group = model.group(named_nvue_port.port.panel)
            breakout = None if named_nvue_port.part else ports.link(ports.view(name)).breakout
            if group is None or breakout is None or breakout.splits < 2:
                continue
            split = next((option for option in group.splits_on("nvue") if option.into == breakout.splits), None)
            if reason := _breakout_refusal(group, named_nvue_port.port.panel, breakout, split):
                impossible.append(_MissingPort(key, name, reason))
            elif (
                split is not None
                and split.blocks_next
                and (using := _interface_key_in_use(ports, named_nvue_port.port.panel + 1))
            ):
                lost.append(
                    _MissingPort(
                        using, f"swp{named_nvue_port.port.panel + 1}", f"{name} is broken out into {split.into}"
                    )
                )
    for row in _merge_rows_by_place(config, impossible, "link", "breakout"):
        path = ("interface", row.key, "link", "breakout")
        config.remark("breakout-not-on-model", (), path, ports=row.name, model=model.name, reason=row.why)
    for row in _merge_rows_by_place(config, lost):
        config.remark("port-lost-to-breakout", (), ("interface", row.key), ports=row.name, reason=row.why)


def _has_breakout(node: object) -> bool:
    return "breakout" in mapping_at(node, "link")


def _breakout_refusal(group: PortGroup, panel: int, breakout: Breakout, split: PortSplit | None) -> str:
    """Return why a panel port cannot be broken out so; empty where it can."""
    into = breakout.splits
    if split is None:
        counts = ", ".join(str(option.into) for option in group.splits_on("nvue"))
        return f"ports {show_ids(group.panels)} are broken out into {counts}" if counts else "such a port stays whole"
    if split.blocks_next and panel % 2 == 0:
        return f"only odd ports split into {into}, and use the next port"
    lanes = breakout.lanes or split.lanes
    enough = into * lanes <= group.lanes
    return "" if enough else f"it has {group.lanes} lanes, and {into} ports of {lanes} need {into * lanes}"


def _interface_key_in_use(ports: FileInterfaces, panel: int) -> str:
    """Return the interface key that uses a panel port; empty if the port is disabled, or only named."""
    name = f"swp{panel}"
    breakout_port = next((port_name for port_name in ports.names() if port_name.startswith(f"{name}s")), "")
    if breakout_port:
        return ports.last_key_of_interface(breakout_port)
    view = ports.view(name)
    breakout = ports.link(view).breakout
    if breakout is not None and breakout.splits == 0:
        return ""
    link = view.below("link")
    idle = (
        view.node.keys() <= _HARMLESS_KEYS_OF_MISSING_PORT
        and link.node.keys() <= _LINK_KEYS_ALLOWED_ON_IDLE_PORT
        and not _has_link_state_up(link)
    )
    return "" if idle and breakout is None else ports.last_key_of_interface(name)


def _has_link_state_up(link: ConfigNodeView) -> bool:
    return link.text("state") == "up"


def _remark_ineffective_port_settings(config: NvueConfigFile, ports: FileInterfaces) -> None:
    """Remark settings of ports that are broken out, which have none, and FEC that is stated to be automatic."""
    in_vain: list[_MissingPort] = []
    automatic: list[_MissingPort] = []
    broken = _broken_out_panels(ports)
    for key, node in config.top.below("interface").node.items():
        if not isinstance(node, Mapping):
            continue
        link = mapping_at(node, "link")
        stated = [word for word in node if word not in _HARMLESS_KEYS_OF_MISSING_PORT]
        stated += [f"link {word}" for word in link if word not in _EFFECTIVE_LINK_KEYS_OF_SPLIT_PORT]
        says_auto = "fec" in link and config.top.below("interface", key, "link").text("fec") == "auto"
        for name, named_nvue_port in _ports_of_key(key) if stated or says_auto else ():
            if stated and not named_nvue_port.part and named_nvue_port.port.panel in broken:
                in_vain.append(_MissingPort(key, name, abbreviate_names(stated)))
            elif says_auto:
                automatic.append(_MissingPort(key, name))
    for row in _merge_rows_by_place(config, in_vain):
        config.remark("setting-of-broken-out-port", (), ("interface", row.key), ports=row.name, settings=row.why)
    for row in _merge_rows_by_place(config, automatic, "link", "fec"):
        config.remark("fec-auto-stated", (), ("interface", row.key, "link", "fec"), ports=row.name)


def remark_qos_in_breakout_revision(config: NvueConfigFile, ports: FileInterfaces) -> None:
    """Remark QoS of parts in the revision that breaks their port out; a file with a header is a state, and none."""
    tree = config.tree
    if tree is None or tree.header:
        return
    rows: list[_MissingPort] = []
    if tree.revisions:
        for commands in tree.revisions:
            paths = [command.words for command in commands if command.verb == "set"]
            broken = {
                port.port.panel for words in paths if _is_breakout_path(words) for _, port in _ports_of_key(words[1])
            }
            keys = (words[1] for words in paths if words[0] == "interface" and words[2:3] == ("qos",))
            rows += _parts_with_qos(keys, broken)
    else:
        interfaces = config.top.below("interface").node
        keys = (key for key, node in interfaces.items() if isinstance(node, Mapping) and "qos" in node)
        rows += _parts_with_qos(keys, _broken_out_panels(ports))
    for row in _merge_rows_by_place(config, rows, "qos"):
        config.remark("qos-with-breakout", (), ("interface", row.key, "qos"), ports=row.name)


def _broken_out_panels(ports: FileInterfaces) -> set[int]:
    broken_out = set()
    for name in ports.names():
        named_nvue_port = nvue_port(name)
        if named_nvue_port is not None and not named_nvue_port.part:
            breakout = ports.link(ports.view(name)).breakout
            if breakout is not None and breakout.splits > 1:
                broken_out.add(named_nvue_port.port.panel)
    return broken_out


def _is_breakout_path(words: tuple[str, ...]) -> bool:
    return words[0] == "interface" and words[2:4] == ("link", "breakout") and words[4:5] not in _UNSPLIT_BREAKOUT_WORDS


def _parts_with_qos(keys: Iterator[str], broken: set[int]) -> Iterator[_MissingPort]:
    """Yield the parts of ports broken out that have QoS."""
    for key in keys:
        for name, named_nvue_port in _ports_of_key(key):
            if named_nvue_port.part and named_nvue_port.port.panel in broken:
                yield _MissingPort(key, name)
