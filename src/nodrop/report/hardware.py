"""The content of the catalogue, as `nodrop hardware` prints it: a line for every model, the page of one, or JSON."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodrop.hardware import asic, find_design_obstacle, media, nic, nics, switch, switches
from nodrop.hardware.ports import PortGroup, PortSplit, SourcedFacts, format_breakouts
from nodrop.hardware.schema import Asic, HeadroomTable, Medium, NicModel, SonicSku, SwitchModel
from nodrop.platforms import platforms_default_first
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.hardware_uses import (
    can_write_for_release,
    fabric_sizes_by_speed,
    has_speed,
    nic_link_options,
    platforms_fabrics_are_written_for,
)
from nodrop.units import show_bytes, show_ids, show_speed

_TEXT_BY_SERVICE_PORT_KIND = {False: "", True: ", for service", "extra": ", extra, not for the fabric"}
"""What a kind of ports is for, in the line about it."""
_LINT_WITHOUT_BUFFERS = "configurations are checked; rules of headroom and memory may stay undecided, which -v lists"
"""What lint does for a model that no fabric is designed for."""

PAGE_WIDTH_CHARACTERS = 110


def names_with_pages() -> tuple[str, ...]:
    """Return the names of everything that has a page: switches, then NICs, then media."""
    return (*switches(), *nics(), *media())


class SwitchListFilters(NamedTuple):
    """What switches of a list have; None is any."""

    asic: str | None = None
    speed_mbps: int | None = None
    platform: str | None = None
    release: str | None = None
    """Of the platform, which is stated too."""

    def match(self, box: SwitchModel) -> bool:
        """Return whether a switch has all of it."""
        return (
            self.asic in (None, box.asic)
            and (self.speed_mbps is None or has_speed(box, self.speed_mbps))
            and (self.platform is None or self.platform in platforms_fabrics_are_written_for(box))
            and (
                self.platform is None or self.release is None or can_write_for_release(box, self.platform, self.release)
            )
        )


_NO_FILTERS = SwitchListFilters()


def render_catalogue_list(output_format: str, filters: SwitchListFilters = _NO_FILTERS) -> str:
    """Return a line for each switch, as text or JSON, and without filters for each NIC and medium."""
    boxes = [box for box in map(switch, switches()) if filters.match(box)]
    if filters != _NO_FILTERS:
        if output_format == "json":
            return json.dumps({"switches": [_switch_summary(box) for box in boxes]}, indent=2)
        return "\n".join(_switch_table(boxes))
    if output_format == "json":
        catalog = {
            "switches": [_switch_summary(box) for box in boxes],
            "nics": [nic(name).model_dump(mode="json") for name in nics()],
            "media": [medium.model_dump(mode="json") for medium in media().values()],
        }
        return json.dumps(catalog, indent=2)
    adapters = [(adapter.name, adapter.vendor, _format_lanes(adapter)) for adapter in map(nic, nics())]
    cables = [
        (medium.name, _format_reach(medium), " ".join(map(show_speed, medium.speeds))) for medium in media().values()
    ]
    return "\n".join(
        (
            *_switch_table(boxes),
            "",
            *_table_lines(("NIC", "vendor", "lanes by speed"), adapters),
            "",
            *_table_lines(("medium", "reach", "speeds"), cables),
        )
    )


def _switch_table(boxes: Iterable[SwitchModel]) -> Iterator[str]:
    rows = [
        (
            box.name,
            box.vendor,
            _format_port_counts(box),
            box.asic,
            ", ".join(platforms_fabrics_are_written_for(box)) or "-",
            ", ".join(facts_without_source(box)) or "-",
        )
        for box in boxes
    ]
    return _table_lines(("switch", "vendor", "ports", "ASIC", "written for", "not known"), rows)


def render_model_page(name: str, output_format: str) -> str:
    """Return the page of a switch, a NIC or a medium, as text or JSON; KeyError where there is none of that name."""
    if name in switches():
        box = switch(name)
        if output_format == "json":
            return json.dumps(
                {
                    **_facts_document(box),
                    **_switch_summary(box),
                    "asic_facts": _facts_document(asic(box.asic)),
                    "uses": fabric_sizes_by_speed(box),
                    "nic_links": nic_link_options(box),
                },
                indent=2,
            )
        return "\n".join(_page_lines(box))
    facts = nic(name) if name in nics() else media()[name]
    if output_format == "json":
        return json.dumps(_facts_document(facts), indent=2)
    about = _nic_properties(facts) if isinstance(facts, NicModel) else _medium_properties(facts)
    return "\n".join((facts.name, *_wrap_labelled_texts(about), *_source_lines(facts.sources)))


def facts_without_source(switch_model: SwitchModel) -> tuple[str, ...]:
    """Return the facts of a model that no source states."""
    chip = asic(switch_model.asic)
    lacks = {
        "port map": not switch_model.sonic_ports,
        "memory": switch_model.buffer_bytes is None,
        "cell": chip.cell_bytes is None,
        "headroom": not switch_model.sonic.headroom and not chip.has_headroom_terms,
        "watchdog": chip.watchdog_actions is None,
    }
    return tuple(word for word, lacking in lacks.items() if lacking)


def _switch_summary(box: SwitchModel) -> dict[str, object]:
    return {
        "name": box.name,
        "vendor": box.vendor,
        "asic": box.asic,
        "panels": {show_speed(speed): count for count, speed in _port_counts_by_speed(box)},
        "written_for": platforms_fabrics_are_written_for(box),
        "unknown": facts_without_source(box),
    }


def _facts_document(facts: SourcedFacts) -> dict[str, object]:
    dumped: dict[str, object] = facts.model_dump(mode="json")
    return dumped


def _port_counts_by_speed(switch_model: SwitchModel) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    for group in switch_model.ports:
        counts[group.speeds[0]] = counts.get(group.speeds[0], 0) + len(group.panels)
    return [(count, speed) for speed, count in counts.items()]


def _format_port_counts(switch_model: SwitchModel) -> str:
    return " + ".join(f"{count} x {show_speed(speed)}" for count, speed in _port_counts_by_speed(switch_model))


def _format_lanes(one: NicModel) -> str:
    return ", ".join(f"{show_speed(speed)} on {' or '.join(map(str, lanes))}" for speed, lanes in one.lanes.items())


def _format_reach(medium: Medium) -> str:
    least = min(link.reach_m for link in medium.links)
    return f"{medium.max_length_m}m" if least == medium.max_length_m else f"{least}m to {medium.max_length_m}m"


def _table_lines(column_heads: Sequence[str], table_rows: Iterable[Sequence[str]]) -> Iterator[str]:
    table = [tuple(column_heads), *map(tuple, table_rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _wrap_labelled_texts(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield `  word  text`, the text wrapped in a column next to the word."""
    for word, text in pairs:
        lines = textwrap.wrap(text, PAGE_WIDTH_CHARACTERS - 18, break_long_words=False, break_on_hyphens=False) or [""]
        for number, line in enumerate(lines):
            yield f"  {word if not number else '':14}  {line}".rstrip()


def _source_lines(sources: Iterable[str]) -> Iterator[str]:
    yield ""
    yield "sources"
    for source in dict.fromkeys(sources):
        yield from textwrap.wrap(
            source, PAGE_WIDTH_CHARACTERS, initial_indent="  ", subsequent_indent="    ", break_long_words=False
        )


def _page_lines(box: SwitchModel) -> Iterator[str]:
    chip = asic(box.asic)
    yield f"{box.name}: {_format_port_counts(box)} ({box.vendor}, {box.asic})"
    if box.also:
        yield from _wrap_labelled_texts([("also", ", ".join(box.also))])
    for platform in platforms_default_first():
        reason, since = find_design_obstacle(box, platform), box.since.get(platform)
        support = "fabrics are designed and written" + (f", from {since} on" if since else "")
        yield from _wrap_labelled_texts([(platform, support if reason is None else f"no: {reason}")])
    if not any(find_design_obstacle(box, platform) is None for platform in platforms_default_first()):
        yield from _wrap_labelled_texts([("lint", _LINT_WITHOUT_BUFFERS)])
    if any(traits_of_platform(platform).counts_ports for platform in box.platforms):
        yield from _wrap_labelled_texts([("ports", f"{box.max_port_count} at most, those for service among them")])
    yield from _wrap_labelled_texts(("known trouble", trouble) for trouble in box.troubles)
    yield from _wrap_labelled_texts([("paths", _describe_load_balancing(chip))])
    for group in box.ports:
        yield ""
        yield f"ports {show_ids(group.panels)}" + _TEXT_BY_SERVICE_PORT_KIND[group.service]
        yield from _wrap_labelled_texts(_port_group_rows(group))
    yield from _fabric_use_lines(box)
    sku = box.sonic
    if sku.hwsku is not None:
        yield from ("", "SONiC", *_wrap_labelled_texts(_sonic_sku_rows(sku, sku.hwsku)))
    yield ""
    yield "buffers"
    yield from _wrap_labelled_texts(
        [
            ("memory", "not known" if box.buffer_bytes is None else f"{show_bytes(box.buffer_bytes)}"),
            ("cell", "not known" if chip.cell_bytes is None else f"{chip.cell_bytes} B"),
            *([("gearbox", f"{box.gearbox_delay_ns} ns")] if box.gearbox_delay_ns else []),
            ("models", ", ".join(chip.buffer_models)),
            ("headroom", "by formula" if chip.has_headroom_terms else "the table" if sku.headroom else "not known"),
            ("trimming", "yes" if chip.trimming else "no source says so"),
            ("watchdog", _format_watchdog_actions(chip.watchdog_actions)),
        ]
    )
    for shipped in sku.pools:
        yield from _wrap_labelled_texts([(f"pools {', '.join(shipped.templates)}", ", ".join(shipped.sources))])
        yield from (
            f"    {pool.name:18}{pool.direction:8}{pool.mode:8}{pool.size_bytes:>12} B"
            + (f", shared headroom {pool.shared_headroom_bytes} B" if pool.shared_headroom_bytes else "")
            for pool in shipped.rows
        )
    shown = [table for table in sku.headroom if not table.hwskus or sku.hwsku in table.hwskus] or sku.headroom[:1]
    for table in shown:
        yield from _headroom_table_lines(table)
    others = [hwsku for table in sku.headroom if table not in shown for hwsku in table.hwskus]
    if others:
        yield ""
        text = f"headroom of {', '.join(others)}: see `nodrop hardware {box.name} --format json`"
        yield from textwrap.wrap(text, PAGE_WIDTH_CHARACTERS, subsequent_indent="  ", break_on_hyphens=False)
    yield from _source_lines((*box.sources, *chip.sources))


def _fabric_use_lines(box: SwitchModel) -> Iterator[str]:
    """Yield what a model can be in a fabric: a leaf or a spine by the speed of its links, and media to NICs."""
    if not (uses := fabric_sizes_by_speed(box)):
        return
    yield from ("", "leaf or spine, by the speed of its links; host ports that two and three tiers carry at 1:1")
    rows = [
        (
            show_speed(row["speed_mbps"]),
            str(row["split"]),
            str(row["ports"]),
            f"{row['two_tiers']:,}",
            f"{row['three_tiers']:,}",
            ", ".join(row["platforms"]),
        )
        for row in uses
    ]
    head = ("speed", "split", "ports", "two tiers", "three tiers", "on")
    yield from (f"  {line}" for line in _table_lines(head, rows))
    yield from ("", "leaf of NICs, at the fastest speed of both; media with their reach")
    for link in nic_link_options(box):
        reaches = ", ".join(f"{medium['name']} {medium['reach_m']}m" for medium in link["media"])
        split = f", split {link['split']}" if link["split"] > 1 else ""
        yield from _wrap_labelled_texts(
            [(link["nic"], f"{show_speed(link['speed_mbps'])}{split}: {reaches or 'no medium'}")]
        )


def _sonic_sku_rows(sku: SonicSku, hwsku: str) -> Iterator[tuple[str, str]]:
    yield "platforms", ", ".join(filter(None, (sku.platform, *sku.platforms))) or "not known"
    other_hwskus = [name for name in sku.hwskus if name != hwsku]
    yield "HWSKU", hwsku + (f" is written; also {', '.join(other_hwskus)}" if other_hwskus else " is written")
    if sku.layouts:
        yield "HWSKU by ports", "where the base one does not have the declared ports, one that has them is written"
    for layout in sku.layouts:
        since = f", from {layout.since} on" if layout.since else ""
        yield "ports", f"{', '.join(layout.hwskus)}{since}: {format_breakouts(layout.ports) or 'none with all lanes'}"
    taken = "; ".join(f"{name}: {', '.join(skus)}" for name, skus in sku.gcu.items())
    yield "GCU", taken or "no HWSKU is in the updater's lists"


def _describe_load_balancing(chip: Asic) -> str:
    if not chip.adaptive_routing:
        return "by hash alone" if chip.adaptive_routing is False else "by hash; no source says whether by load"
    speeds = " and ".join(map(show_speed, chip.adaptive_routing_speeds or ()))
    return f"by hash, or by load (adaptive routing, Cumulus Linux) on links of {speeds or 'any speed'}"


def _format_watchdog_actions(actions: tuple[str, ...] | None) -> str:
    if actions is None:
        return "not known"
    return f"yes: {', '.join(actions)}" if actions else "none"


def _format_port_split(split: PortSplit) -> str:
    speeds = " ".join(map(show_speed, split.speeds))
    conditions = [f"on {', '.join(split.platforms)}"] if split.platforms else []
    conditions += ["odd ports, blocks the next one"] if split.blocks_next else []
    lanes = f"{split.lanes} lane{'s' if split.lanes > 1 else ''}" + (" each" if split.into > 1 else "")
    return f"{split.into} x {speeds} ({'; '.join((lanes, *conditions))})"


def _port_group_rows(group: PortGroup) -> Iterator[tuple[str, str]]:
    unsplit_port, *splits = group.breakout_options
    yield "whole", _format_port_split(unsplit_port)
    for split in splits:
        yield "broken out", _format_port_split(split)
    for split in group.narrow:
        yield "fewer lanes", f"{_format_port_split(split)}: {', '.join(split.modes)}"
    if group.connector:
        yield "cage", f"{group.connector}: also takes QSFP modules, on four of its lanes"
    if group.other_modes:
        yield "not written", ", ".join(group.other_modes)
    sonic_ports = dict(group.sonic_ports())
    if not sonic_ports:
        yield "names", "not known"
        return
    first_sonic_port, last = sonic_ports[group.panels[0]], sonic_ports[group.panels[-1]]
    part_alias = first_sonic_port.alias_of(group.panels[0], 0, 0) if splits else ""
    alias = first_sonic_port.alias_of(group.panels[0], 0, None)
    name = f"Ethernet{first_sonic_port.number}" + (f" to Ethernet{last.number}" if len(sonic_ports) > 1 else "")
    yield (
        "names",
        f"{name}, alias {alias}"
        + (f", of a part {part_alias}" if part_alias else "")
        + f", index {first_sonic_port.front_index}",
    )
    yield "lanes", ", ".join(_format_lane_span(port.lanes) for port in sonic_ports.values())


def _format_lane_span(lanes: tuple[int, ...]) -> str:
    if lanes == tuple(range(lanes[0], lanes[0] + len(lanes))):
        return f"{lanes[0]}-{lanes[-1]}" if len(lanes) > 1 else str(lanes[0])
    return "+".join(map(str, lanes))


def _headroom_table_lines(headroom_table: HeadroomTable) -> Iterator[str]:
    yield ""
    yield "headroom of " + textwrap.fill(
        ", ".join(headroom_table.hwskus) or "the other HWSKUs",
        PAGE_WIDTH_CHARACTERS,
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    rows = [
        (
            show_speed(row.speed_mbps),
            f"{row.cable_m}m",
            *(str(cell) for cell in row[2:6]),
            "-" if row.xon_offset_bytes is None else str(row.xon_offset_bytes),
        )
        for row in headroom_table.rows
    ]
    head = ("speed", "cable", "size B", "xon B", "xoff B", f"{headroom_table.kind} threshold", "xon offset B")
    yield from (f"  {line}" for line in _table_lines(head, rows))


def _nic_properties(one: NicModel) -> Iterator[tuple[str, str]]:
    yield "vendor", one.vendor
    yield "lanes", _format_lanes(one)
    if one.ports_per_gpu is not None:
        yield (
            "ports",
            f"{one.ports_per_gpu} of each GPU leave the server, {one.ports_between_gpus} join it to the others",
        )
    yield "trusts", one.trust or "not known"
    has_cnp = one.cnp_dscp is not None
    yield "notifies with", f"DSCP {one.cnp_dscp}, priority {one.cnp_priority}" if has_cnp else "not known"
    yield "set with", one.tool or "not known"
    yield "marks packets that may be sprayed", "yes" if one.adaptive_routing else "not known"


def _medium_properties(medium: Medium) -> Iterator[tuple[str, str]]:
    yield "kind", "passive: joins equal lanes only" if medium.passive else "active: joins unequal lanes too"
    for link in medium.links:
        lanes = f" on {link.lanes} lane{'s' if link.lanes > 1 else ''}" if link.lanes else ""
        fec = {None: "FEC left to the switch", "none": "no FEC", "fc": "FEC fc (BASE-R)", "rs": "FEC rs"}[link.fec]
        yield "link", f"{show_speed(link.speed)}{lanes}, up to {link.reach_m}m, {fec}"
