"""A first intent with comments: a sized fabric, or two leaves and two spines of one model that are full of servers."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from nodrop.hardware import asic, fastest_breakouts_with_known_headroom, nic, switch
from nodrop.hardware.schema import SwitchModel
from nodrop.hardware.tables import table_headroom
from nodrop.hardware.thresholds import least_oversubscription_ratio
from nodrop.intent.schema import Intent
from nodrop.platforms.kit.rendering import EscapedText, load_template
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.sizing.counting import AlikeHosts, FabricDemand, FabricShape, LeavesOfHosts, PanelPortsForSpeed
from nodrop.sizing.fabric import (
    MaxCableLengths,
    SizedFabric,
    SizedGroup,
    SizedHosts,
    SizedLinks,
    expand_shape_to_sized_fabric,
)
from nodrop.sizing.request import SizeRequest, size_request
from nodrop.units import show_ids, show_speed

INTENT_SCHEMA_PATH = ".nodrop/intent.schema.json"
"""Where, from the folder of a first intent, an editor finds what it may hold."""
_DEFAULT_NIC_MODEL = "ConnectX-7"
_MAX_SPEED_OF_ALL_RELEASES_MBPS = 800_000
"""What every release that is written can say; for more, on unused ports too, it takes the newest."""
_COMMENT_BY_SPREAD = {
    "rails": "port k of every server is on the leaf of rail k; `leaves` and `one-leaf` are the others",
    "leaves": "each port on another leaf; `rails` and `one-leaf` are the others",
    "one-leaf": "all ports on one leaf; `leaves` and `rails` are the others",
}


class _LinkTemplateTexts(NamedTuple):
    upper: str
    ports: EscapedText
    links: int
    keys: EscapedText
    """The other keys with their values."""


class _GroupTemplateTexts(NamedTuple):
    name: str
    tier: int
    ids: str
    keys: EscapedText
    model: str
    endpoints: EscapedText
    uplinks: list[_LinkTemplateTexts]


class _HostTemplateTexts(NamedTuple):
    name: str
    ids: str
    gpus: int
    nic: str
    ports: int
    spread: str
    spread_comment: EscapedText
    ports_per_leaf: int
    leaf_group: int
    leaves: str
    leaf_ports: str
    split: int
    speed: str
    media: str
    length: str


_SHORT_FORM_GROUPS = ("leaf", "spine")
"""The groups of a fabric that the short form has."""


class FirstIntent(NamedTuple):
    """The text of an intent, and what its fabric consists of, in words."""

    text: str
    summary: str


def render_sized_intent(request: SizeRequest, *, file: str, fabric: str = "lab") -> FirstIntent:
    """Return an intent for a request; CannotSize where no fabric carries the hosts.

    `file` is its name in the comments. Its first line states that its schema lies in `INTENT_SCHEMA_PATH`.
    """
    return _render_intent(size_request(request), request.platform, request.ratio, file=file, fabric=fabric)


def render_full_leaf_spine_intent(platform: str, model: str, *, file: str, fabric: str = "lab") -> FirstIntent:
    """Return an intent that fills two leaves with servers of two ports, below two spines, at 1:1.

    A server's NIC is at its fastest, uplinks at the switch's. KeyError where the platform or the model is not known.
    """
    box = switch(model)
    into, uplink = fastest_breakouts_with_known_headroom(box)[0]
    panels = box.panels_splittable_at_once(into, uplink)
    half = len(panels) // 2
    speed = max(lane for lane in nic(_DEFAULT_NIC_MODEL).lanes if lane <= uplink)
    split = into * uplink // speed
    down = PanelPortsForSpeed(model=box, speed_mbps=speed, split=split, panels=panels)
    up = PanelPortsForSpeed(model=box, speed_mbps=uplink, split=into, panels=panels)
    servers = AlikeHosts(
        name="gpu", count=half * split, gpus=8, ports=2, nic=_DEFAULT_NIC_MODEL, apart=True, down=down, up=up
    )
    ratio = Fraction(1)
    leaves = LeavesOfHosts(hosts=servers, sets=1, ratio=ratio)
    shape = FabricShape(leaves=(leaves,), spines_of_pod=2, links=(half * into // 2,))
    sized = expand_shape_to_sized_fabric(
        FabricDemand(hosts=(servers,), upper=up, ratio=ratio), shape, MaxCableLengths()
    )
    return _render_intent(sized, platform, ratio, file=file, fabric=fabric)


def _render_intent(sized: SizedFabric, platform: str, ratio: Fraction, *, file: str, fabric: str) -> FirstIntent:
    short = tuple(group.name for group in sized.groups) == _SHORT_FORM_GROUPS
    leaf_groups = [group for group in sized.groups if group.tier == 1]
    text = load_template("intent/first.yaml.j2").render(
        schema=INTENT_SCHEMA_PATH,
        headline=EscapedText(f"A first fabric, to be made yours: {_describe_fabric(sized)}."),
        fabric=fabric,
        file=EscapedText(file),
        platform=platform,
        version=_first_release(platform, (group.model for group in sized.groups)),
        short=short,
        leaf=_template_words_of_group(sized, sized.groups[0], ratio),
        spine=_template_words_of_group(sized, sized.groups[1], ratio) if short else None,
        uplinks=_template_words_of_links(sized.links[0], short=True) if short else None,
        ratio=f"{float(ratio):g}",
        groups=[_template_words_of_group(sized, group, ratio) for group in sized.groups],
        leaf_groups=len(leaf_groups),
        endpoints=[_template_words_of_hosts(sized, hosts) for hosts in sized.hosts],
        sharing=max(_least_headroom_oversubscription(sized, group) for group in sized.groups),
        asn=[f"{name}: {rule}" for name, rule in _asn_rule_by_group(sized, short=short).items()],
        names=EscapedText(f"{{site}}-{{{'role' if short else 'group'}}}{{id:02}}"),
        addressing=EscapedText(", ".join(f"{key}: {pool}" for key, pool in sized.address_pools().items())),
    )
    return FirstIntent(text=text, summary=f"{_describe_fabric(sized)}; {_describe_speeds(sized)}")


def _describe_speeds(sized: SizedFabric) -> str:
    """Return the speed of hosts' ports in words, with that of a NIC which is faster."""
    words = []
    for hosts in (sized_hosts.hosts for sized_hosts in sized.hosts):
        speed, fastest = hosts.down.speed_mbps, max(nic(hosts.nic).lanes)
        slower = f" of {hosts.nic}'s {show_speed(fastest)}" if speed < fastest else ""
        host = "server" if hosts.gpus else "storage node"
        words.append(f"{hosts.ports} x {show_speed(speed)}{slower} for each {host}")
    return " and ".join(words)


def _describe_fabric(sized: SizedFabric) -> str:
    """Return the hosts and switches of a fabric in words."""
    hosts = [
        f"{each.count} servers of {each.gpus} GPUs" if each.gpus else f"{each.count} storage nodes"
        for each in (sized_hosts.hosts for sized_hosts in sized.hosts)
    ]
    tiers: dict[int, int] = {}
    for group in sized.groups:
        tiers[group.tier] = tiers.get(group.tier, 0) + group.count
    if not sized.links:
        return f"{' and '.join(hosts)} on one switch"
    words = zip(("leaves", "spines", "cores"), tiers.values(), strict=False)
    switches = " and ".join(f"{number} {word}" for word, number in words)
    return f"{' and '.join(hosts)} behind {switches}"


def _first_release(platform: str, models: Iterable[SwitchModel]) -> str:
    """Return the release to begin with: the usual one, or the newest for ports that older ones lack."""
    own = traits_of_platform(platform)
    fastest = max(group.speeds[0] for model in models for group in model.ports)
    return own.usual if fastest <= _MAX_SPEED_OF_ALL_RELEASES_MBPS else own.releases[-1]


def _template_words_of_group(sized: SizedFabric, group: SizedGroup, ratio: Fraction) -> _GroupTemplateTexts:
    links = [links for links in sized.links if links.lower == group.name]
    most = f"{float(ratio):g}" if group.tier == 1 and links and ratio != 1 else ""
    keys = {"offset": group.offset, "per_pod": group.per_pod, "max_oversubscription": most}
    return _GroupTemplateTexts(
        name=group.name,
        tier=group.tier,
        ids=show_ids(range(1, group.count + 1)),
        keys=EscapedText("".join(f", {key}: {value}" for key, value in keys.items() if value)),
        model=group.model.name,
        endpoints=EscapedText(_format_panel_ports_in_yaml_flow(group.endpoints)),
        uplinks=[_template_words_of_links(each) for each in links],
    )


def _template_words_of_links(links: SizedLinks, *, short: bool = False) -> _LinkTemplateTexts:
    """Return the words for the keys of links, with the names that the short form has for them."""
    keys: dict[str, object] = {
        "peer_ports": _format_panel_ports_in_yaml_flow(links.peer_ports) if links.peer_ports else None,
        "split": links.split if links.split > 1 else None,
        "spine_split" if short else "peer_split": links.peer_split if links.peer_split != links.split else None,
        "speed": show_speed(links.speed_mbps),
        "media": links.media,
        "length": f"{links.length_m}m",
        "leaf_slots" if short else "slots": links.slots,
        "spine_slots" if short else "peer_slots": links.peer_slots,
    }
    return _LinkTemplateTexts(
        upper=links.upper,
        ports=EscapedText(_format_panel_ports_in_yaml_flow(links.ports)),
        links=links.links,
        keys=EscapedText(", ".join(f"{key}: {value}" for key, value in keys.items() if value)),
    )


def _template_words_of_hosts(sized: SizedFabric, each: SizedHosts) -> _HostTemplateTexts:
    hosts = each.hosts
    shares_leaves = sum(other.leaves == each.leaves for other in sized.hosts) > 1
    return _HostTemplateTexts(
        name=hosts.name,
        ids=show_ids(range(1, hosts.count + 1)),
        gpus=hosts.gpus,
        nic=hosts.nic,
        ports=hosts.ports,
        spread=each.spread,
        spread_comment=EscapedText(_COMMENT_BY_SPREAD[each.spread]),
        ports_per_leaf=hosts.ports_per_leaf if hosts.apart else 1,
        leaf_group=each.leaf_group,
        leaves=each.leaves,
        leaf_ports=show_ids(each.ports) if shares_leaves else "",
        split=hosts.down.split,
        speed=show_speed(hosts.down.speed_mbps),
        media=each.media,
        length=f"{each.length_m}m",
    )


def _format_panel_ports_in_yaml_flow(panels: Iterable[int]) -> str:
    """Return panel ports for a place among others: quoted where there are several ranges."""
    text = show_ids(panels)
    return f'"{text}"' if "," in text else text


def _asn_rule_by_group(sized: SizedFabric, *, short: bool) -> dict[str, str]:
    """Return the rules for AS numbers, after RFC 7938: each leaf, the spines of a pod, the top tier."""
    top = max(group.tier for group in sized.groups)
    rules = {}
    for group in sized.groups:
        between = "4200200000+pod" if group.per_pod else "4200000000"
        rules[group.name] = "4200100000+" if group.tier == 1 else between if group.tier < top else "4200000000"
    return {"spines": rules["spine"], "leaves": rules["leaf"]} if short else rules


def _least_headroom_oversubscription(sized: SizedFabric, group: SizedGroup) -> int:
    """Return how many times less headroom than all ports of a switch need at once leaves thresholds something."""
    box, needed, mtu = group.model, 0, Intent.model_fields["mtu"].default
    for ports, speed_mbps, length_m in _ports_speed_length_by_use(sized, group):
        headroom = table_headroom(box, box.sonic.hwsku, speed_mbps=speed_mbps, length_m=length_m, mtu_bytes=mtu)
        needed += ports * headroom.xoff_bytes if headroom else 0
    return least_oversubscription_ratio(asic(box.asic), box.buffer_bytes, needed) if box.buffer_bytes and needed else 1


def _ports_speed_length_by_use(sized: SizedFabric, group: SizedGroup) -> Iterator[tuple[int, int, int]]:
    """Yield the ports of a switch for each use, all parts of its panel ports, with their speed and longest cable."""
    for each in sized.hosts:
        if each.leaves == group.name:
            yield len(each.ports) * each.hosts.down.split, each.hosts.down.speed_mbps, each.length_m
    for links in sized.links:
        if links.lower == group.name:
            yield len(links.ports) * links.split, links.speed_mbps, links.length_m
        elif links.upper == group.name:
            panels = links.peer_ports or group.model.panels_splittable_at_once(links.peer_split, links.speed_mbps)
            yield len(panels) * links.peer_split, links.speed_mbps, links.length_m
