"""What NVUE takes in silence and the switch cannot do: ports that there are not, and a macro that is taken back.

Sources: Cumulus Linux release notes, 4309876 (ports are not checked) and 3362113 (QoS of parts that there are not);
Quality of Service of 5.16 (traffic pools: one of the lossless ones), RDMA over Converged Ethernet of 5.16 (the modes).
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from nodrop.fabric.reading import Place
from nodrop.fabric.states import Unknown
from nodrop.formats.places import on_one_line, shown
from nodrop.hardware import switch
from nodrop.hardware.naming import NvuePort, nvue_port
from nodrop.platforms.nvue.names import names
from nodrop.platforms.nvue.read_ports import Breakout, Ports
from nodrop.platforms.nvue.read_qos import GLOBAL
from nodrop.platforms.nvue.read_values import Config, View

_MAX_SHOWN = 4
_MAX_PLACES = 100


def check_ports(config: Config, ports: Ports, model: str | Unknown) -> None:
    """Remark ports that the model has not, and parts of ports that the file does not break out.

    Parts are looked at in what may be a whole configuration: a patch may speak of those that there are already.
    """
    panels = None if isinstance(model, Unknown) else _panels(model)
    breakouts = _Breakouts(ports)
    missing: list[_Row] = []
    parts: list[_Row] = []
    for key in config.top.below("interface").node:
        if odd := next((name for name in key.split(",") if any(map(str.isspace, name.strip()))), ""):
            found = shown(" ".join(on_one_line(odd).split()))
            config.malformed(("interface", key), found, "names without spaces, such as swp1-4,swp6")
        for name, port in _named(key):
            if panels is not None and port.port.panel not in panels:
                missing.append(_Row(key, name))
            elif port.part and (why := breakouts.missing(port)):
                parts.append(_Row(key, name, f"swp{port.port.panel}", why))
    for row in _by_place(config, missing):
        facts = {"ports": row.name, "model": str(model), "last": str(max(panels or (0,)))}
        config.remark("port-not-on-model", (), ("interface", row.key), **facts)
    if (config.tree and config.tree.header) or breakouts.stated:
        for row in _by_place(config, parts):
            config.remark("part-without-breakout", (), ("interface", row.key), ports=row.name, reason=row.why)


class _Row(NamedTuple):
    key: str
    name: str
    panel: str = ""
    why: str = ""


def _by_place(config: Config, rows: list[_Row]) -> list[_Row]:
    """Return rows that stand at one place as one, with all their names; a name counts where it stands first.

    Places are looked up for the first rows; the others count to the last of these.
    """
    found: dict[Place | None, list[_Row]] = {}
    place = None
    for count, row in enumerate(_first(rows)):
        if count < _MAX_PLACES:
            place = config.place(("interface", row.key))
        found.setdefault(place, []).append(row)
    return [_Row(same[0].key, _shown([row.name for row in same]), why=_why(same)) for same in found.values()]


def _why(rows: list[_Row]) -> str:
    """Say of all panel ports of some rows what is the matter with them."""
    panels: dict[str, dict[str, None]] = {}
    for row in rows:
        panels.setdefault(row.why, {})[row.panel] = None
    return "; ".join(f"{_shown([*names])} {'is' if len(names) == 1 else 'are'} {why}" for why, names in panels.items())


def _first(rows: list[_Row]) -> list[_Row]:
    """Return the first row of each name."""
    first: dict[str, _Row] = {}
    for row in rows:
        first.setdefault(row.name, row)
    return list(first.values())


def _shown(found: list[str]) -> str:
    rest = len(found) - _MAX_SHOWN
    return ", ".join(found[:_MAX_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


@lru_cache(maxsize=4096)
def _named(key: str) -> tuple[tuple[str, NvuePort], ...]:
    """Return the switch ports that a key stands for."""
    return tuple((name, port) for name in names(key) if (port := nvue_port(name)) is not None)


@lru_cache(maxsize=256)
def _panels(model: str) -> frozenset[int]:
    return frozenset(panel for group in switch(model).ports for panel in group.panels)


class _Breakouts:
    """What is said of the panel ports that parts are of."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._of: dict[int, Breakout | None] = {}

    @property
    def stated(self) -> bool:
        """Whether the file breaks out any port."""
        ports = self._ports
        return any(nvue_port(name) and ports.link(ports.view(name)).breakout is not None for name in ports.names())

    def missing(self, named: NvuePort) -> str:
        """Return why there is no such part; empty where there is."""
        panel, name = named.port.panel, f"swp{named.port.panel}"
        if panel not in self._of:
            self._of[panel] = self._ports.link(self._ports.view(name)).breakout
        breakout = self._of[panel]
        if breakout is None:
            return "not broken out"
        if breakout.splits == 0:
            return "disabled"
        return "" if named.port.split < breakout.splits else f"broken out into {breakout.splits}"


def check_watchdogs(config: Config) -> None:
    """Remark watchdogs of what is no port of the switch."""
    for key, interface in config.top.below("interface").items():
        qos = interface.below("qos")
        if qos.has("pfc-watchdog") and qos.below("pfc-watchdog").text("state") not in ("disable", "disabled"):
            others = [name for name in names(key) if nvue_port(name) is None]
            if others:
                config.remark("watchdog-not-on-port", (), (*qos.path, "pfc-watchdog"), interface=_shown(others))


def check_macro(config: Config) -> None:
    """Remark settings beside the RoCE macro that take back what it is for, and a part that leaves its mode open."""
    qos = config.top.below("qos")
    roce = qos.below("roce")
    if qos.has("roce") and roce.text("state") != "disabled" and roce.text("enable") not in ("off", "false"):
        if not roce.has("mode") and not (config.tree and config.tree.header):
            config.remark("macro-mode-not-stated", (), ("qos", "roce"))
        for setting, reason in _against(qos, roce.text("mode") or "lossless"):
            config.remark("macro-contradicted", (), ("qos", *setting), setting=" ".join(setting), reason=reason)


def _against(qos: View, mode: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (setting, what speaks against it) for a mode."""
    pfc = qos.below("pfc", GLOBAL)
    ways = [way for way in ("tx", "rx") if pfc.text(way) not in ("disable", "disabled")]
    if mode.startswith("lossy") and pfc.texts("switch-priority") and ways:
        yield ("pfc", GLOBAL, "switch-priority"), f"mode {mode} is one without PFC"
    elif mode == "lossy" and pfc:
        yield ("pfc", GLOBAL), "mode lossy is refused as long as there is the profile"
    if mode.startswith("lossless") and not ways:
        yield ("pfc", GLOBAL, "tx"), f"mode {mode} is one with PFC, and neither direction is left"
    if qos.below("traffic-pool", "default-lossless").has("memory-percent"):
        pool = "roce-lossless" if mode == "lossless" else "none of its own"
        yield ("traffic-pool", "default-lossless"), f"in mode {mode} the lossless pool is {pool}"
