"""Neighbors outside the fabric: sessions of switches next to hosts with devices beyond, as the key `external`.

A session is one of these if the owner states the node at its far end to be outside. Without such a statement it is one
if switches above were read, and its neighbor has an AS number that none of the switches has.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.importing.parts import (
    DerivedIntentPart,
    KeyPath,
    KeyTree,
    MissingIntentKey,
    facts_not_none,
    find_value,
)
from nodrop.importing.tier_view import CableLookup, GroupedSwitch, TierView, most_common_value
from nodrop.intent.external import DEFAULT_MAX_PREFIXES
from nodrop.model.addresses import address_of, other_address_of_pair
from nodrop.model.fabric import End, Interface, Link, Port
from nodrop.model.routing import Bgp, BgpNeighbor, PrefixList
from nodrop.model.states import known_rows
from nodrop.units import show_speed

_NOT_IN_NAME_PATTERN = re.compile(r"[^A-Za-z0-9._-]+")


class _OutsideSession(NamedTuple):
    """A session with a neighbor outside, at a port of a switch."""

    switch: str
    """By its identity, as the intent has it."""
    box: GroupedSwitch
    bgp: Bgp
    port: Interface
    address: str
    """Of the switch, with its prefix length."""
    neighbor: BgpNeighbor
    link: Link | None


def derive_external(tier_view: TierView, cables: CableLookup, keys: KeyTree) -> DerivedIntentPart:
    """Return the neighbors outside, by name; `keys` are those of the other parts, whose pools have words."""
    by_name: dict[str, list[_OutsideSession]] = {}
    for session in _find_outside_sessions(tier_view, cables):
        by_name.setdefault(_name_of_neighbor(session, tier_view), []).append(session)
    words = dict(_words_of_pools(keys))
    external: KeyTree = {}
    lacking: dict[KeyPath, MissingIntentKey] = {}
    remarks: list[str] = []
    for name, sessions in sorted(by_name.items()):
        asns = {session.neighbor.remote_asn for session in sessions}
        if len(asns) > 1:
            remarks.append(f"{name} has several AS numbers: {', '.join(map(str, sorted(map(str, asns))))}")
            continue
        external[name] = _keys_of_neighbor(sessions, words, keys.get("mtu"))
        for key, example in (("media", "DR4"), ("length", "10m")):
            if external[name].get(key) is None:
                external[name].pop(key, None)
                lacking["external", name, key] = MissingIntentKey("no file says what its cables are", example)
    return DerivedIntentPart(keys={"external": external} if external else {}, lacking=lacking, left=tuple(remarks))


def _find_outside_sessions(tier_view: TierView, cables: CableLookup) -> Iterator[_OutsideSession]:
    processes = [box.device.bgp for box in tier_view.switches_from_lowest_tier]
    own_asns = {process.asn for process in processes if isinstance(process, Bgp)}
    link_by_end = {end: link for link in cables.links for end in (link.a, link.b)}
    for group in tier_view.groups_of_tier(0):
        for box in group.boxes:
            bgp = box.device.bgp
            if not isinstance(bgp, Bgp):
                continue
            ports = dict(_ports_by_far_address(box))
            for neighbor in known_rows(bgp.neighbors):
                found = ports.get(str(address_of(neighbor.address or "")))
                if found is None or not isinstance(neighbor.remote_asn, int) or neighbor.remote_asn in own_asns:
                    continue
                port, address = found
                link = link_by_end.get(End(box.device.name, port.name))
                if _is_outside(tier_view, cables, link):
                    yield _OutsideSession(f"{group.name}{box.id}", box, bgp, port, address, neighbor, link)


def _ports_by_far_address(box: GroupedSwitch) -> Iterator[tuple[str, tuple[Interface, str]]]:
    """Yield the ports in networks of two addresses by the other address, with the switch's own."""
    for port in box.device.interfaces:
        if isinstance(port.port, Port):
            for address in known_rows(port.addresses):
                if (other_address := other_address_of_pair(address)) is not None:
                    yield other_address, (port, address)


def _is_outside(tier_view: TierView, cables: CableLookup, link: Link | None) -> bool:
    """Whether a cable leads out of the fabric; without one, whether the switches above were read."""
    if link is None:
        return tier_view.has_upper_tiers
    hosts = {host.name for host in tier_view.fabric.hosts}
    nodes = {link.a.node, link.b.node}
    if nodes & {outside.name for outside in tier_view.fabric.external}:
        return True
    return tier_view.has_upper_tiers and not cables.is_between_switches(link) and not nodes & hosts


def _name_of_neighbor(session: _OutsideSession, tier_view: TierView) -> str:
    """Return a name for the neighbor: that of the cable's far end, else of a description, else by its AS number."""
    if session.link is not None:
        near = session.box.device.name
        far = session.link.b if session.link.a.node == near else session.link.a
        return _valid_name(far.node) or f"as{session.neighbor.remote_asn}"
    described = _valid_name(str(session.neighbor.description or ""))
    taken = {host.name for host in tier_view.fabric.hosts} | set(tier_view.group_of_switch)
    return described if described and described not in taken else f"as{session.neighbor.remote_asn}"


def _valid_name(text: str) -> str:
    words = _NOT_IN_NAME_PATTERN.split(text.strip())
    return words[0].strip("._-")[:40] if words else ""


def _keys_of_neighbor(sessions: list[_OutsideSession], words: Mapping[str, str], mtu: object) -> KeyTree:
    first = sessions[0]
    links: dict[str, dict[str, list[str]]] = {}
    for session in sessions:
        at = links.setdefault(session.switch, {}).setdefault(_panel_port_label(session), [])
        at.append(session.address)
    lengths = [session.link.length_m for session in sessions if session.link and isinstance(session.link.length_m, int)]
    media = most_common_value(
        session.link.media for session in sessions if session.link and isinstance(session.link.media, str)
    )
    port_mtu = most_common_value(
        session.port.mtu_bytes for session in sessions if isinstance(session.port.mtu_bytes, int)
    )
    panel = first.port.port
    split = first.box.split_count_of_panel(panel.panel) if isinstance(panel, Port) else 1
    limits = [
        limit
        for session in sessions
        for limit in (session.neighbor.maximum_prefix, session.neighbor.ipv6.maximum_prefix)
        if limit is not None
    ]
    limit = most_common_value(limits)
    accepted, announced = list(_accepted(sessions)), _announced(sessions, words)
    return facts_not_none(
        asn=first.neighbor.remote_asn,
        links={
            switch: {port: texts[0] if len(texts) == 1 else texts for port, texts in ports.items()}
            for switch, ports in links.items()
        },
        speed=show_speed(first.port.speed_mbps) if isinstance(first.port.speed_mbps, int) else None,
        media=media or None,
        length=f"{max(lengths)}m" if lengths else None,
        split=split if split > 1 else None,
        lanes=first.box.reduced_lanes_of_port(first.port),
        mtu=port_mtu if port_mtu != (mtu or 9216) else None,
        accept=accepted or None,
        max_prefixes=limit if limit != DEFAULT_MAX_PREFIXES else None,
        announce=announced if announced != ["endpoints"] else None,
        bfd=True if first.neighbor.bfd else None,
    )


def _panel_port_label(session: _OutsideSession) -> str:
    port = session.port.port
    assert isinstance(port, Port)
    is_split = session.box.split_count_of_panel(port.panel) > 1
    return f"{port.panel}/{port.split + 1}" if is_split else str(port.panel)


def _policy_lists(session: _OutsideSession, *, inbound: bool) -> Iterator[PrefixList]:
    """Yield the prefix lists that decide which routes a session takes, or announces."""
    neighbor, lists = session.neighbor, {row.name: row for row in session.bgp.prefix_lists}
    maps = {row.name: row for row in session.bgp.route_maps}
    for unicast in (neighbor, neighbor.ipv6):
        policy = unicast.import_policy if inbound else unicast.export_policy
        name = unicast.import_prefix_list if inbound else unicast.export_prefix_list
        names = [name] if name else []
        if policy in maps:
            matched = (match for rule in maps[policy].rules if rule.action == "permit" for match in rule.matches)
            names += [value for kind, value in matched if kind.endswith("address prefix-list")]
        yield from (lists[one] for one in dict.fromkeys(names) if one in lists)


def _accepted(sessions: list[_OutsideSession]) -> Iterator[str]:
    """Yield the prefixes that the sessions accept; a least length, which the key does not have, is left out."""
    seen: dict[str, None] = {}
    for session in sessions:
        for prefix_list in _policy_lists(session, inbound=True):
            for rule in prefix_list.rules:
                if rule.action == "permit" and rule.ge is None:
                    seen[f"{rule.prefix} le {rule.le}" if rule.le is not None else rule.prefix] = None
    yield from seen


def _announced(sessions: list[_OutsideSession], words: Mapping[str, str]) -> list[str]:
    """Return the words of the pools, and the prefixes of these, whose networks the sessions announce."""
    seen: dict[str, None] = {}
    for session in sessions:
        for prefix_list in _policy_lists(session, inbound=False):
            for rule in prefix_list.rules:
                if rule.action == "permit":
                    seen[words.get(rule.prefix, rule.prefix)] = None
    return list(seen)


def _words_of_pools(keys: KeyTree) -> Iterator[tuple[str, str]]:
    """Yield the word for each pool of the fabric whose networks can be announced."""
    sections = [(find_value(keys, ("addressing", word)), word) for word in ("endpoints", "loopbacks")]
    vlans = [(find_value(keys, ("endpoints", name, "vlan", "pool")), name) for name in keys.get("endpoints", {})]
    for pools, word in (*sections, *vlans):
        yield from ((str(pool), word) for pool in (pools if isinstance(pools, list | tuple) else [pools]) if pool)
