"""The groups of a tier: switches that differ in model, software, ports or hosts, their ids, offsets, pods and names."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Literal

from nodrop import platforms
from nodrop.design.naming import HOST_ROLE, NodeIdentity
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.importing.hosts import identify_stated_hosts, rename_hosts
from nodrop.importing.numbering import number_switches, numbers_by_management
from nodrop.importing.pods import GroupDraft, assign_pods, do_mappings_agree
from nodrop.importing.ranks import find_switch_tiers
from nodrop.importing.renaming import rename_switches
from nodrop.importing.tier_view import GroupedSwitch, SwitchGroup, TierView, most_common_value
from nodrop.model.fabric import Device, Fabric, Interface, Link, Port
from nodrop.model.far_ends import parse_host_name
from nodrop.model.states import Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.routing.tiers import RANK_BY_ROLE

GroupingDetail = Literal["software", "ports", "hosts"]
GROUPING_DETAILS: tuple[GroupingDetail, ...] = ("software", "ports", "hosts")
"""By what switches of a tier are put into groups, the coarsest first; each includes those before it."""
_MAX_GROUPS_PER_TIER = 8
"""Groups of a tier, at most: more are switches that are all different."""
_GROUP_LETTERS = "bcdefghijklmnopqrstuvwxyz"


def build_tier_view(
    fabric: Fabric, known: Mapping[str, NodeIdentity] | None = None, detail: GroupingDetail = "software"
) -> TierView:
    """Return a fabric as groups in tiers, hosts' and others: by stated roles, else by cables.

    `known` are the identities of switches and hosts by their names, where an intent states them.
    """
    known = known or {}
    devices = {device.name: device for device in fabric.devices}
    of_switches = {name: known[name] for name in devices if name in known and known[name].role != HOST_ROLE}
    stated_tiers = {name: RANK_BY_ROLE[identity.role] for name, identity in of_switches.items()}
    ranks = find_switch_tiers(fabric, stated_tiers)
    names_of_tiers = [{each.group for each in known.values() if each.role == role} for role in ROLES_BY_TIER]
    facts = _GroupingFacts(fabric, ranks.tiers)
    drafts: list[GroupDraft] = []
    for tier in sorted(set(ranks.tiers.values())):
        own = [devices[name] for name in sorted(ranks.tiers, key=natural_sort_key) if ranks.tiers[name] == tier]
        stated = [device for device in own if device.name in of_switches]
        drafts += _groups_stated_by_intent(tier, stated, of_switches)
        name = next(iter(names_of_tiers[tier])) if len(names_of_tiers[tier]) == 1 else ""
        drafts += _groups_of_tier(tier, [each for each in own if each not in stated], facts, detail, drafts, name)
    assign_pods(drafts, fabric)
    names = {
        device.name: f"{draft.name}{number}"
        for draft in drafts
        for device, number in zip(draft.devices, draft.ids, strict=True)
    }
    seen = rename_switches(fabric, names)
    hosts = identify_stated_hosts(seen, known)
    seen = rename_hosts(seen, {name: str(identity) for name, identity in hosts.items()})
    renamed = {device.name: device for device in seen.devices}
    groups = (
        SwitchGroup(
            name=draft.name,
            tier=draft.tier,
            boxes=tuple(
                GroupedSwitch(number, renamed[names[device.name]], device.name, draft.offset)
                for number, device in draft.numbered_devices
            ),
            offset=draft.offset,
            per_pod=draft.per_pod,
        )
        for draft in drafts
    )
    return TierView(
        fabric=seen,
        groups=tuple(groups),
        others=tuple(name for name in devices if name not in names),
        was={new: old for old, new in names.items()} | {str(identity): name for name, identity in hosts.items()},
        host_names={identity: name for name, identity in hosts.items()},
        guessed=ranks.guessed,
    )


def _groups_stated_by_intent(
    tier: int, devices: Iterable[Device], known: Mapping[str, NodeIdentity]
) -> list[GroupDraft]:
    """Return the groups that an intent states."""
    drafts: dict[str, GroupDraft] = {}
    for device in devices:
        identity = known[device.name]
        draft = drafts.setdefault(identity.group, GroupDraft(tier=tier, devices=[], name=identity.group))
        draft.devices.append(device)
        draft.ids.append(identity.id)
    return list(drafts.values())


def _groups_of_tier(
    tier: int,
    devices: list[Device],
    facts: "_GroupingFacts",
    detail: GroupingDetail,
    others: Sequence[GroupDraft],
    stated_name: str,
) -> list[GroupDraft]:
    """Return the groups of a tier with ids, offsets and names that no other switch has."""
    if not devices:
        return []
    parts = _divide_tier(devices, facts, detail)
    drafts = [
        GroupDraft(tier=tier, devices=part) for part in (parts if len(parts) <= _MAX_GROUPS_PER_TIER else [devices])
    ]
    beside = [draft for draft in others if draft.tier == tier]
    for draft in drafts:
        draft.ids = number_switches(draft.devices, _number_switches([device.name for device in draft.devices]), tier)
    drafts.sort(key=lambda draft: min(numbers_by_management(draft.devices, tier) or draft.ids))
    for draft in drafts if beside else drafts[1:]:
        _split_ids_and_offset(draft)
    if len(drafts) == len(beside) == 1 and beside[0].name == stated_name:
        _join_groups(beside[0], drafts[0])
        return []
    _separate_offsets(drafts, beside)
    taken = {draft.name for draft in others} | facts.host_groups
    role = ROLES_BY_TIER[tier] if ROLES_BY_TIER[tier].isalpha() else f"{ROLES_BY_TIER[tier]}-switch"
    plain_names = (f"{role}-{letter}" if letter else role for letter in ("", *_GROUP_LETTERS))
    for draft in drafts:
        common = stated_name or (_common_name_prefix(draft) if len(drafts) > 1 or facts.has_one_or_many_tiers else "")
        draft.name = (
            common if common and common not in taken else next(name for name in plain_names if name not in taken)
        )
        taken.add(draft.name)
    return drafts


def _join_groups(draft: GroupDraft, other: GroupDraft) -> None:
    """Add the switches of another group to one, with numbers that this has not."""
    for number, device in zip(other.ids, other.devices, strict=True):
        draft.ids.append(next(free for free in count(number) if free not in draft.ids))
        draft.devices.append(device)


def _common_name_prefix(draft: GroupDraft) -> str:
    """Return the text before the ids in the names of all switches of a group, where that can be a group's name."""
    texts = {
        device.name.removesuffix(str(number)) if device.name.endswith(str(number)) else ""
        for device, number in zip(draft.devices, draft.ids, strict=True)
    }
    text = texts.pop() if len(texts) == 1 else ""
    return text if re.fullmatch(r"[a-z][a-z0-9-]{0,29}[a-z]|[a-z]", text) else ""


def _split_ids_and_offset(draft: GroupDraft) -> None:
    """Take ids that are those of the tier apart: ids as names have them, else from 1, and the offset of the group."""
    of_tier = numbers_by_management(draft.devices, draft.tier)
    if not of_tier:
        return
    by_name = _number_switches([device.name for device in draft.devices])
    behind = min(of_tier) - 1
    counted = [number - behind for number in of_tier]
    steps = {number - name for number, name in zip(of_tier, by_name, strict=True)}
    draft.ids = by_name if len(steps) == 1 and min(steps) >= 0 else counted
    draft.offset = of_tier[0] - draft.ids[0]


def _separate_offsets(drafts: Sequence[GroupDraft], beside: Sequence[GroupDraft]) -> None:
    """Raise offsets that would give switches of two groups one number."""
    taken = {draft.offset + number for draft in beside for number in draft.ids}
    for draft in drafts:
        if taken & {draft.offset + number for number in draft.ids}:
            draft.offset = max(taken)
        taken |= {draft.offset + number for number in draft.ids}


def _number_switches(names: list[str]) -> list[int]:
    """Return numbers for switches: the last in their names where these are distinct, else in their order.

    Where names are of several kinds, the most frequent keeps its numbers. A switch alone has number 1: its digits may
    be those of its model.
    """
    if len(names) == 1:
        return [1]
    last = [int(digits[-1]) if (digits := re.findall("[0-9]{1,6}", name)) else 0 for name in names]
    if all(last) and len(set(last)) == len(last):
        return last
    kinds = [re.sub("[0-9]+", "", name) for name in names]
    most = max(kinds, key=kinds.count)
    own_numbers = [number for number, kind in zip(last, kinds, strict=True) if kind == most]
    if not all(own_numbers) or len(set(own_numbers)) < len(own_numbers):
        return list(range(1, len(names) + 1))
    after = count(max(own_numbers, default=0) + 1)
    return [number if kind == most else next(after) for number, kind in zip(last, kinds, strict=True)]


class _GroupingFacts:
    """The differences of groups besides their content: the tiers and hosts at the ends of their cables."""

    def __init__(self, fabric: Fabric, tiers: Mapping[str, int]) -> None:
        self._tiers = tiers
        self._groups = {host.name: host.group for host in fabric.hosts}
        self._described_groups = {} if fabric.hosts else _described_host_groups(fabric)
        self._links: dict[str, list[tuple[str, str, Link]]] = {}
        for link in fabric.links:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                if near.node in tiers:
                    self._links.setdefault(near.node, []).append((near.port, far.node, link))
        self.has_one_or_many_tiers = len(set(tiers.values())) != 2

    @property
    def host_groups(self) -> frozenset[str]:
        """Return the groups of hosts."""
        return frozenset(self._groups.values())

    def host_groups_at_switch(self, device: Device) -> frozenset[str]:
        """Return the groups of hosts at a switch."""
        stated = (self._groups[far] for _, far, _ in self._links.get(device.name, ()) if far in self._groups)
        return frozenset(stated) | self._described_groups.get(device.name, frozenset())

    def use_of_ports(self, device: Device) -> dict[int, str]:
        """Return the far end of each panel port in use of a switch: hosts, or a tier."""
        ports = {port.name: port for port in device.interfaces}
        uses = {}
        for name, far, _ in self._links.get(device.name, ()):
            port = ports.get(name)
            if port is not None and isinstance(port.port, Port):
                uses[port.port.panel] = f"tier {self._tiers[far]}" if far in self._tiers else "hosts"
        return uses

    def uplink_traits_by_tier(self, device: Device) -> dict[int, tuple[object, ...]]:
        """Return by upper tier what all links of a switch to it have in common: how many, speed, medium, length."""
        ports = {port.name: port for port in device.interfaces}
        above: dict[int, list[tuple[Interface | None, str, Link]]] = {}
        for name, far, link in self._links.get(device.name, ()):
            if far in self._tiers and self._tiers[far] > self._tiers[device.name]:
                above.setdefault(self._tiers[far], []).append((ports.get(name), far, link))
        return {
            tier: (
                most_common_value(Counter(far for _, far, _ in own).values()),
                most_common_value(str(port.speed_mbps) for port, _, _ in own if port),
                most_common_value(str(link.media) for _, _, link in own),
                most_common_value(str(link.length_m) for _, _, link in own),
            )
            for tier, own in above.items()
        }


def _described_host_groups(fabric: Fabric) -> dict[str, frozenset[str]]:
    """Return by switch the groups of hosts that the descriptions of its ports in use name; one host alone is none."""
    switches = {device.name for device in fabric.devices}
    between = {end for link in fabric.links if {link.a.node, link.b.node} <= switches for end in (link.a, link.b)}
    named = [
        (device.name, host_name)
        for device in fabric.devices
        for port in device.interfaces
        if port.enabled is not False and (device.name, port.name) not in between
        if (host_name := parse_host_name(port.description))
    ]
    sizes = Counter(group for group, _ in {host_name for _, host_name in named})
    groups: dict[str, set[str]] = {}
    for device_name, (group, _) in named:
        if sizes[group] > 1:
            groups.setdefault(device_name, set()).add(group)
    return {name: frozenset(own) for name, own in groups.items()}


def _divide_tier(devices: list[Device], facts: _GroupingFacts, detail: GroupingDetail) -> list[list[Device]]:
    """Return the switches of a tier by group, with as many groups as a detail distinguishes."""
    parts = _divide_by_software(devices)
    if detail in ("ports", "hosts"):
        parts = [finer for part in parts for finer in _divide_by_ports(part, facts)]
    if detail == "hosts":
        parts = [finer for part in parts for finer in _divide_by_hosts(part, facts)]
    return parts


def _divide_by_software(devices: list[Device]) -> list[list[Device]]:
    """Return switches by model, platform and release; what no file states is as most of the tier have it."""
    model, version = (
        most_common_value(value for device in devices if isinstance(value := getattr(device, name), str))
        for name in ("model", "version")
    )
    parts: dict[tuple[object, ...], list[Device]] = {}
    for device in devices:
        own_model = model if isinstance(device.model, Unknown) else device.model
        own_version = device.version if isinstance(device.version, str) else version
        parts.setdefault((own_model, platforms.writable_platform_for(device.platform), own_version), []).append(device)
    return list(parts.values())


def _divide_by_ports(devices: list[Device], facts: _GroupingFacts) -> list[list[Device]]:
    """Return switches whose panel ports lead to the same tier wherever they are in use, and whose links are alike."""
    parts: list[tuple[dict[int, str], dict[int, tuple[object, ...]], list[Device]]] = []
    for device in devices:
        uses, links = facts.use_of_ports(device), facts.uplink_traits_by_tier(device)
        for known_uses, known_links, part in parts:
            if do_mappings_agree(uses, known_uses) and do_mappings_agree(links, known_links):
                known_uses |= uses
                known_links |= links
                part.append(device)
                break
        else:
            parts.append((uses, links, [device]))
    return [part for _, _, part in parts]


def _divide_by_hosts(devices: list[Device], facts: _GroupingFacts) -> list[list[Device]]:
    """Return switches such that those with hosts of one group are together; those without hosts go with the first."""
    parts: list[tuple[set[str], list[Device]]] = []
    for device in sorted(devices, key=lambda device: not facts.host_groups_at_switch(device)):
        hosts = set(facts.host_groups_at_switch(device))
        shared = [part for part in parts if part[0] & hosts or not hosts]
        merged: tuple[set[str], list[Device]] = (hosts, [device])
        for part in shared if hosts else shared[:1]:
            parts.remove(part)
            merged = (merged[0] | part[0], [*part[1], *merged[1]])
        parts.append(merged)
    return [sorted(part, key=lambda device: natural_sort_key(device.name)) for _, part in parts]
