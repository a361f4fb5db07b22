"""Adaptive routing in a file: its places, and its settings of the switch and of its ports.

Up to 5.12 a port that has it turns it on for the switch; since 5.13 the switch has a setting. Sources: Cumulus Linux
5.9, 5.12, 5.13, 5.17 and 5.19, Equal Cost Multipath, Adaptive Routing; NVUE command reference, Adaptive Routing.
"""

from collections.abc import Iterable, Iterator

from nodrop.model.fabric import Interface
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.releases import has_feature
from nodrop.platforms.nvue.tree import Path

ADAPTIVE_ROUTING_PATH: Path = ("router", "adaptive-routing")
THRESHOLD_KEY = "link-utilization-threshold"
THRESHOLD_RANGE_PERCENT = (1, 100)
SWITCH_FIELDS = ("@adaptive_routing", "@weighs_utilization")
PORT_FIELDS = ("adaptive_routing", "utilization_threshold_percent")
_SWITCH_SETTING_FEATURE = "adaptive routing as a setting of the switch"
_DERIVED_REASON = "up to Cumulus Linux 5.12 a port that has adaptive routing turns it on for the switch"


def read_interface_adaptive_routing(view: ConfigNodeView) -> tuple[bool, int | None]:
    """Return whether an interface has adaptive routing, and its threshold of utilization in percent."""
    own_view = view.below(*ADAPTIVE_ROUTING_PATH)
    return bool(_read_enabled_flag(own_view)), own_view.integer(THRESHOLD_KEY, *THRESHOLD_RANGE_PERCENT, "percent")


def read_switch_adaptive_routing(
    root_view: ConfigNodeView, version: str | Unknown, ports: Iterable[Interface], derived_subjects: dict[Subject, str]
) -> tuple[bool | Unknown, bool]:
    """Return whether a switch has adaptive routing, and whether it considers the utilization of links for it.

    Where that follows from a port, it is recorded in `derived_subjects`; it is UNKNOWN where it does in some releases
    and the file names none.
    """
    own_view = root_view.below(*ADAPTIVE_ROUTING_PATH)
    weighs = bool(own_view.flag(THRESHOLD_KEY))
    stated = _read_enabled_flag(own_view)
    if stated is not None:
        return stated, weighs
    if not any(port.adaptive_routing for port in ports):
        return False, weighs
    if isinstance(version, Unknown):
        return UNKNOWN, weighs
    on = not has_feature(version, _SWITCH_SETTING_FEATURE)
    if on:
        derived_subjects[(root_view.config.device, SWITCH_FIELDS[0])] = _DERIVED_REASON
    return on, weighs


def _read_enabled_flag(own_view: ConfigNodeView) -> bool | None:
    """Return the flag in either dialect; the later word counts."""
    flags = [own_view.flag(word) for word in own_view.node if word in ("enable", "state")]
    return flags[-1] if flags else None


def port_setting_paths(port: str, field: str) -> Iterator[Path]:
    """Yield the possible paths of a port's setting."""
    port_path: Path = ("interface", port, *ADAPTIVE_ROUTING_PATH)
    if field == PORT_FIELDS[1]:
        yield (*port_path, THRESHOLD_KEY)
    yield from _state_paths(port_path)


def switch_setting_paths(line_head: str, ports: Iterable[str]) -> Iterator[Path]:
    """Yield the possible paths of the switch's setting; else the `ports` that have it themselves."""
    if line_head == SWITCH_FIELDS[1]:
        yield (*ADAPTIVE_ROUTING_PATH, THRESHOLD_KEY)
    yield from _state_paths(ADAPTIVE_ROUTING_PATH)
    yield from (("interface", name, *ADAPTIVE_ROUTING_PATH) for name in ports)


def _state_paths(own_path: Path) -> Iterator[Path]:
    yield (*own_path, "state")
    yield (*own_path, "enable")
    yield own_path
