"""The HWSKU that a switch is written with, by the ports that the intent declares; cables never count.

If headroom comes from tables, a HWSKU decides which table, and its files name the lanes of the ports that the chip
starts with. If the switch computes its headroom, the base HWSKU is written and BREAKOUT_CFG states the breakouts.
"""

from collections.abc import Iterator, Mapping

from nodrop.design.adapting import PlatformAdaptation
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, stated_settings, traits_of
from nodrop.design.faults import KeyFault
from nodrop.design.kinds import panel_uses
from nodrop.design.topology import TierSwitchGroup, Topology
from nodrop.hardware import asic, nearest_word_hint
from nodrop.hardware.ports import BreakoutByPanel, format_breakouts
from nodrop.hardware.schema import HwskuPortLayout, SwitchModel
from nodrop.intent.schema import DeviceSettings


def hwsku_of(topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel) -> str | None:
    """Return the HWSKU of a tier's switches; None for the base one of the model.

    Of those that have the declared ports: one whose table has rows for all their speeds, the base one, one of the very
    speeds, and one that breaks out the fewest of the other ports.
    """
    declared = _declared_panel_uses(topology, group, switch_model)
    speeds = {speed for _, speed in declared.values()}
    order = switch_model.sonic.hwskus.index

    def rank(candidate: tuple[str, HwskuPortLayout]) -> tuple[int, bool, int, int, int]:
        hwsku, layout = candidate
        table = switch_model.sonic.headroom_table_of_hwsku(hwsku)
        lacking = speeds - {row.speed_mbps for row in table.rows} if table else speeds
        slower = sum(layout.ports[panel][1] != speed for panel, (_, speed) in declared.items())
        extra_splits = sum(into > 1 for panel, (into, _) in layout.ports.items() if panel not in declared)
        return len(lacking), hwsku != switch_model.sonic.hwsku, slower, extra_splits, order(hwsku)

    fitting = [
        (hwsku, layout)
        for layout in _layouts_of_release(group, switch_model)
        if layout.covers_breakouts(declared)
        for hwsku in layout.hwskus
    ]
    chosen = min(fitting, key=rank)[0] if fitting else switch_model.sonic.hwsku
    return None if chosen == switch_model.sonic.hwsku else chosen


def stated_hwsku(devices: Mapping[str, DeviceSettings], node: PlannedSwitch, default_hwsku: str | None) -> str | None:
    """Return the HWSKU of a switch: the one stated for it, else `default_hwsku`; None for the base one of the model."""
    stated = stated_settings(devices, node)[1].hwsku
    if stated is None:
        return default_hwsku
    return None if stated == node.model.sonic.hwsku else stated


def hwsku_faults(
    topology: Topology, devices: Mapping[str, DeviceSettings], switches: PlannedSwitches
) -> Iterator[KeyFault]:
    """Yield stated HWSKUs that a switch cannot have: of another model, or with other ports or headroom."""
    for node in switches.all if devices else ():
        word, settings = stated_settings(devices, node)
        if settings.hwsku is None:
            continue
        keys, group, sonic = ("devices", word, "hwsku"), node.group, node.model.sonic
        os_traits = traits_of(group)
        if not os_traits.hwskus:
            yield KeyFault(keys, f"{os_traits.title} has no HWSKU", "hwsku for SONiC switches only")
            continue
        usual = hwsku_of(topology, group, node.model) or sonic.hwsku
        same = [name for name in sonic.hwskus if _can_hwsku_stand_for_other(group, node.model, name, usual)]
        if settings.hwsku not in same:
            known = settings.hwsku in sonic.hwskus
            fault = f"{settings.hwsku} has other ports or headroom than {usual}" if known else settings.hwsku
            expected = f"one that has the same: {', '.join(same)}" if known else f"a HWSKU of {node.model.name}"
            hint = "" if known else nearest_word_hint(settings.hwsku, sonic.hwskus)
            yield KeyFault(keys, fault, expected, hint)


def _can_hwsku_stand_for_other(
    group: TierSwitchGroup, model: SwitchModel, hwsku: str, default_hwsku: str | None
) -> bool:
    """Whether a HWSKU can stand for another: if headroom comes from tables, only one with the same ports and table."""
    if asic(model.asic).has_headroom_terms or hwsku == default_hwsku:
        return True
    layouts = list(_layouts_of_release(group, model))
    ports, usual_ports = (
        next((layout.ports for layout in layouts if name in layout.hwskus), None) for name in (hwsku, default_hwsku)
    )
    return (
        model.sonic.headroom_table_of_hwsku(hwsku) == model.sonic.headroom_table_of_hwsku(default_hwsku)
        and ports is not None
        and ports == usual_ports
    )


def splits_of_hwsku(topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel) -> Mapping[int, int]:
    """Return the panel ports that the HWSKU of a tier's switches breaks out, and into how many ports each."""
    hwsku = hwsku_of(topology, group, switch_model) or switch_model.sonic.hwsku
    layout = next(
        (candidate for candidate in _layouts_of_release(group, switch_model) if hwsku in candidate.hwskus), None
    )
    return {panel: into for panel, (into, _) in layout.ports.items() if into > 1} if layout else {}


def notes_on_ports_without_hwsku(
    topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel
) -> Iterator[PlatformAdaptation]:
    """Yield a note where no HWSKU of the model has the declared ports, with one that has as many elsewhere."""
    declared, layouts = (
        _declared_panel_uses(topology, group, switch_model),
        tuple(_layouts_of_release(group, switch_model)),
    )
    if not layouts or any(layout.covers_breakouts(declared) for layout in layouts):
        return
    release = group.wanted.version
    reason = f"no HWSKU of {release} has these ports, so BREAKOUT_CFG changes those of the base HWSKU"
    if elsewhere := next((layout for layout in layouts if _has_enough_breakouts(layout, declared)), None):
        reason += f"; {elsewhere.hwskus[0]} has {format_breakouts(elsewhere.ports)}"
    yield PlatformAdaptation(f"{group.name}*/hwsku", format_breakouts(declared), str(switch_model.sonic.hwsku), reason)


def _declared_panel_uses(topology: Topology, group: TierSwitchGroup, model: SwitchModel) -> BreakoutByPanel:
    """Return how a group's panel ports are used by the lists, splits and speeds of the intent."""
    declared: dict[int, tuple[int, int]] = {}
    for links, into, panels, _ in panel_uses(topology, group, model):
        for panel in panels:
            declared[panel] = max((into, links.speed), declared.get(panel, (0, 0)))
    return declared


def _layouts_of_release(group: TierSwitchGroup, switch_model: SwitchModel) -> Iterator[HwskuPortLayout]:
    """Yield the layouts that the release of a tier has; none where the HWSKU does not follow the ports."""
    if not asic(switch_model.asic).has_headroom_terms:
        release = group.wanted.version
        yield from (layout for layout in switch_model.sonic.layouts if layout.since is None or layout.since <= release)


def _has_enough_breakouts(layout: HwskuPortLayout, declared: BreakoutByPanel) -> bool:
    """Return whether a HWSKU has at least as many ports of each breakout, on any panel ports."""
    return all(
        _count_breakouts(layout.ports, breakout) >= _count_breakouts(declared, breakout)
        for breakout in set(declared.values())
    )


def _count_breakouts(ports: BreakoutByPanel, breakout: tuple[int, int]) -> int:
    return sum(into == breakout[0] and speed >= breakout[1] for into, speed in ports.values())
