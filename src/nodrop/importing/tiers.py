"""The groups of all tiers: numbers, models, network OSes and releases of their switches."""

from collections.abc import Iterator
from functools import cache

from nodrop import platforms
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.hardware import switch, switches
from nodrop.hardware.schema import SwitchModel
from nodrop.importing.parts import (
    DerivedIntentPart,
    KeyPath,
    KeyTree,
    MissingIntentKey,
    facts_not_none,
    format_number_ranges,
)
from nodrop.importing.tier_view import (
    ASSUMED_PORT_SPEED_MBPS,
    CableLookup,
    GroupedSwitch,
    TierView,
    are_switches_unlinked,
    most_common_value,
)
from nodrop.intent.topology import MOST_TIERS
from nodrop.model.fabric import Port
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.names import format_name_list

_MODEL, _VENDOR = "SN4700", "NVIDIA"
"""What stands as an example of a model where none fits, and whose models are named first."""


def derive_tiers(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return the groups of all tiers."""
    keys: KeyTree = {}
    guessed: dict[KeyPath, str] = {}
    lacking: dict[KeyPath, MissingIntentKey] = {}
    notes = list(_describe_switches_outside_tiers(tier_view))
    for group in tier_view.groups:
        at, own_boxes = group.intent_key_path, group.boxes
        model = most_common_value(box.device.model for box in own_boxes if not isinstance(box.device.model, Unknown))
        platform = most_common_value(platforms.writable_platform_for(box.device.platform) for box in own_boxes) or ""
        version, how = _guess_os_release(own_boxes, platform)
        keys[group.name] = facts_not_none(
            tier=group.tier + 1,
            ids=format_number_ranges(box.id for box in own_boxes),
            offset=group.offset or None,
            per_pod=group.per_pod,
            model=model,
            platform=platform,
            version=version,
            style=_find_non_default_qos_style(own_boxes, platform),
        )
        if model is None:
            lacking[(*at, "model")] = MissingIntentKey(
                _explain_unknown_model(own_boxes), find_smallest_model_with_ports(own_boxes, platform)
            )
        foreign = sorted({box.device.platform for box in own_boxes} - {platform})
        if foreign:
            guessed[(*at, "platform")] = f"read from {', '.join(foreign)}, which nodrop does not write"
        if how:
            guessed[(*at, "version")] = how
        if group.tier in tier_view.guessed:
            guessed[(*at, "ids")] = f"which switches these are follows from {tier_view.guessed[group.tier]}"
        notes += _describe_switches_of_other_kind(own_boxes, model, platform)
    for name in names_of_inferred_unread_groups(tier_view, cables):
        lacking["topology", "groups", name] = MissingIntentKey(
            f"no switch is known to be a {name}", _make_example_group(tier_view)
        )
    return DerivedIntentPart(
        keys={"topology": {"kind": "tiers", "groups": keys}}, guessed=guessed, lacking=lacking, left=tuple(notes)
    )


def names_of_inferred_unread_groups(tier_view: TierView, cables: CableLookup) -> tuple[str, ...]:
    """Return the names of groups that must exist though none of their switches was read: below or above the others."""
    if are_switches_unlinked(tier_view, cables):
        return ()
    return tuple(ROLES_BY_TIER[tier] for tier in range(2) if not tier_view.groups_of_tier(tier))


def _explain_unknown_model(own_boxes: tuple[GroupedSwitch, ...]) -> str:
    """Return why the model of a group is not known."""
    names = sorted({box.device.hwsku for box in own_boxes if isinstance(box.device.hwsku, str)})
    why = f"HWSKU {', '.join(names)} is of no model that nodrop knows" if names else "no file says which model it is"
    return f"{why}; `nodrop hardware` lists them"


def likely_model(own_boxes: tuple[GroupedSwitch, ...]) -> SwitchModel:
    """Return the model of most switches, else one that they may be of."""
    usual_name = most_common_value(model.name for box in own_boxes if (model := box.model))
    return switch(usual_name or find_smallest_model_with_ports(own_boxes, most_common_platform(own_boxes)))


def most_common_platform(own_boxes: tuple[GroupedSwitch, ...]) -> str:
    """Return the platform that most switches are written as."""
    return (
        most_common_value(platforms.writable_platform_for(box.device.platform) for box in own_boxes)
        or platforms.default_platform()
    )


def find_smallest_model_with_ports(own_boxes: tuple[GroupedSwitch, ...], platform: str) -> str:
    """Return the model, of those written for a platform, that has the ports of switches with the fewest to spare.

    Names of ports that follow the model's lanes distinguish models.
    """
    port_of = platforms.find_port_parser_by_model(platform)
    names = {port.name for box in own_boxes for port in box.device.interfaces}
    needed_ports = {
        (
            interface.port.panel,
            box.split_count_of_panel(interface.port.panel),
            interface.speed_mbps if isinstance(interface.speed_mbps, int) else ASSUMED_PORT_SPEED_MBPS,
        )
        for box in own_boxes
        for interface in box.device.interfaces
        if isinstance(interface.port, Port)
    }
    written = (model for name in switches() if platform in (model := switch(name)).platforms)
    named_switches = (one for one in written if port_of is None or all(port_of(one.name, name, 1) for name in names))
    able = (
        candidate
        for candidate in named_switches
        if all(_model_has_panel(candidate.name, *port) for port in needed_ports)
    )
    panels = {panel for panel, *_ in needed_ports}
    preferred = min(
        able, key=lambda model: (model.vendor != _VENDOR, *_model_sort_key(model, panels), model.name), default=None
    )
    return preferred.name if preferred else _MODEL


def _model_sort_key(model: SwitchModel, panels: set[int]) -> tuple[int, int, bool]:
    """Return how many panel ports are wanted that a model does not have for the fabric, and how many it has."""
    return len(panels.difference(model.panels)), len(model.panels), model.name != _MODEL


@cache
def _model_has_panel(name: str, panel: int, port_count: int, speed: int) -> bool:
    """Whether a model has a panel port that is split so, at a speed."""
    group = switch(name).group(panel)
    breakout = group.find_breakout(port_count) if group else None
    return (
        group is not None
        and breakout is not None
        and panel in group.panels_splittable_at_once(port_count)
        and speed in breakout.speeds
    )


def _make_example_group(sight: TierView) -> KeyTree:
    """Return a group as it may be, like the others."""
    boxes = sight.switches_from_lowest_tier
    platform = most_common_platform(boxes)
    model = most_common_value(
        box.device.model for box in boxes if isinstance(box.device.model, str)
    ) or find_smallest_model_with_ports(boxes, platform)
    return {"ids": "1-2", "model": model, "platform": platform, "version": _guess_os_release(boxes, platform)[0]}


def _guess_os_release(own_boxes: tuple[GroupedSwitch, ...], platform: str) -> tuple[str, str]:
    """Return the release of a group, and why it is a guess; empty where it is none."""
    os_traits = traits_of_platform(platform)
    release = most_common_value(box.device.version for box in own_boxes if isinstance(box.device.version, str))
    if release in os_traits.releases:
        return str(release), ""
    if release is None or any(box.device.platform != platform for box in own_boxes):
        return os_traits.usual, "no file says a release that nodrop writes; this one is usual"
    return os_traits.usual, f"{os_traits.title} {release} is none that nodrop writes"


def _find_non_default_qos_style(own_boxes: tuple[GroupedSwitch, ...], platform: str) -> str | None:
    """Return the style of QoS of a group; None if it is the default, or the platform has no styles."""
    os_traits = traits_of_platform(platform)
    styles = most_common_value(box.device.qos_style for box in own_boxes if isinstance(box.device.qos_style, str))
    lossless = max((len(_lossless_priorities(box)) for box in own_boxes), default=0)
    return styles if styles in os_traits.styles and styles != os_traits.default_qos_style(lossless) else None


def _lossless_priorities(box: GroupedSwitch) -> set[int]:
    """Return the priorities with PFC on any port of a switch."""
    return {
        priority
        for qos in dict.fromkeys(port.qos for port in box.device.interfaces)
        if isinstance(qos, QosProfile) and isinstance(qos.pfc_rx_priorities, tuple)
        for priority in qos.pfc_rx_priorities
    }


def _describe_switches_outside_tiers(sight: TierView) -> Iterator[str]:
    if sight.others:
        yield f"{format_name_list(sight.others)}: in none of the tiers, of which an intent has {MOST_TIERS} at most"


def _describe_switches_of_other_kind(
    own_boxes: tuple[GroupedSwitch, ...], model: object, platform: str
) -> Iterator[str]:
    """Yield switches of another model or network OS than their group's."""
    for aspect, expected, value_of_switch in (
        ("model", model, {box.was: box.device.model for box in own_boxes if not isinstance(box.device.model, Unknown)}),
        ("platform", platform, {box.was: platforms.writable_platform_for(box.device.platform) for box in own_boxes}),
    ):
        for value in sorted({str(own_value) for own_value in value_of_switch.values() if own_value != expected}):
            names = format_name_list(name for name, own_value in value_of_switch.items() if str(own_value) == value)
            yield f"{names}: {aspect} {value}; a group has one, {expected} here"
