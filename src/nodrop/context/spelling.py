"""Conversion of a fabric to its fabric.yaml: only the facts that its switches' files cannot hold; unknown ones are left
out.
"""

import json
import re
from collections.abc import Iterable, Iterator

from nodrop.context.schema import MEDIUM_PATTERN
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Fabric, Host, HostPort, Link, Policy, TrafficClass
from nodrop.model.qos import PfcWatchdog
from nodrop.model.states import Unknown
from nodrop.units import show_ids

_PLAIN_TEXT_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")
_PLAIN_CABLE_PATTERN = re.compile(r"(?!.*:(?: |$))[A-Za-z0-9][A-Za-z0-9._/+: -]*")
_NODE, _PORT, _MEDIUM = re.compile(r"[^\s:]+"), re.compile(r"\S+"), re.compile(MEDIUM_PATTERN)
_YAML_NON_TEXT_WORDS = ("null", "true", "false")
"""What YAML takes for something else than text."""


def format_fabric_file(fabric: Fabric) -> str:
    """Return the fabric.yaml of a fabric."""
    return "\n".join(_format_lines(fabric)) + "\n"


def _format_lines(fabric: Fabric) -> Iterator[str]:
    yield "# What no switch file can say; `nodrop lint` reads it beside the devices."
    yield f"name: {_quote_text_if_needed(fabric.name)}"
    yield f"mode: {fabric.mode}"
    yield from _format_block(
        "classes",
        (
            f"{_quote_text_if_needed(traffic_class.name)}: {_format_class(traffic_class)}"
            for traffic_class in fabric.classes
        ),
    )
    for key, attribute in (("roles", "role"), ("models", "model")):
        stated = ((device.name, getattr(device, attribute)) for device in fabric.devices)
        yield from _format_block(
            key,
            (
                f"{_quote_text_if_needed(name)}: {_quote_text_if_needed(fact)}"
                for name, fact in stated
                if isinstance(fact, str)
            ),
        )
    yield from _format_block("cables", (f"- {_format_cable_entry(link)}" for link in fabric.links), empty="[]")
    yield from _format_block(
        "hosts", (f"{_quote_text_if_needed(host.name)}: {_format_host(host)}" for host in fabric.hosts)
    )
    if fabric.external:
        yield from _format_block("external", map(_format_external, fabric.external))
    yield from _format_block("policy", _format_policy(fabric.policy))


def _format_block(key: str, lines: Iterable[str], *, empty: str = "{}") -> Iterator[str]:
    """Yield a key and what belongs to it."""
    inside = [f"  {line}" for line in lines]
    yield f"{key}:" if inside else f"{key}: {empty}"
    yield from inside


def _format_flow_mapping(**facts: str | int | bool | None | Unknown) -> str:
    """Return the facts that are known as a mapping on one line; texts are rendered already."""
    spelt = {True: "true", False: "false"}
    known_facts = ((key, value) for key, value in facts.items() if value is not None and not isinstance(value, Unknown))
    return f"{{{', '.join(f'{key}: {spelt[v] if isinstance(v, bool) else v}' for key, v in known_facts)}}}"


def _quote_text_if_needed(context_text: str) -> str:
    """Return a text for YAML: unchanged where YAML reads it as that text, else in quotes."""
    return (
        context_text
        if _PLAIN_TEXT_PATTERN.fullmatch(context_text) and context_text not in _YAML_NON_TEXT_WORDS
        else _quote_text(context_text)
    )


def _quote_text(text: str) -> str:
    def escape_char(char: str) -> str:
        if char.isprintable():
            return char
        return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"

    return "".join(map(escape_char, json.dumps(text, ensure_ascii=False)))


def _format_text_if_known(stated_text: str | Unknown | None) -> str | None:
    return None if stated_text is None or isinstance(stated_text, Unknown) else _quote_text_if_needed(stated_text)


def _format_numbers(numbers: tuple[int, ...] | Unknown) -> str | Unknown:
    return numbers if isinstance(numbers, Unknown) else f"[{', '.join(map(str, numbers))}]"


def _format_class(traffic_class: TrafficClass) -> str:
    share = (
        traffic_class.share_percent
        if isinstance(traffic_class.share_percent, Unknown)
        else f"{traffic_class.share_percent}%"
    )
    return _format_flow_mapping(
        purpose=traffic_class.purpose,
        dscp=f"[{show_ids(traffic_class.dscp)}]",
        tc=traffic_class.tc,
        lossless=traffic_class.lossless,
        share=share,
    )


def _format_cable_entry(link: Link) -> str:
    """Return a cable as text, with spaces around its dashes where names have dashes that could be taken for them."""
    _require_writable_link(link)
    dashes = " -- " if "--" in f"-{link.b}" else "--"
    length = "" if isinstance(link.length_m, Unknown) or link.length_m is None else f" {link.length_m}m"
    media = "" if isinstance(link.media, Unknown) or link.media is None else f" {link.media}"
    text = f"{link.a}{dashes}{link.b}{length}{media}"
    return text if _PLAIN_CABLE_PATTERN.fullmatch(text) else _quote_text(text)


def _require_writable_link(link: Link) -> None:
    for end in (link.a, link.b):
        if not _NODE.fullmatch(end.node) or not _PORT.fullmatch(end.port):
            raise UnsupportedByPlatform(
                f"cables/{end}", "spaces in names, or a colon in that of a device, cannot be written"
            )
    if isinstance(link.media, str) and not _MEDIUM.fullmatch(link.media):
        raise UnsupportedByPlatform(f"cables/{link.a}", f"a medium called {link.media!r} cannot be written")


def _format_external(neighbor: ExternalNeighbor) -> str:
    ports = ", ".join(f"{_quote_text_if_needed(port.name)}: {_format_list(port.addresses)}" for port in neighbor.ports)
    facts = _format_flow_mapping(
        asn=neighbor.asn,
        addresses=f"{{{ports}}}" if ports else None,
        announces=_format_list(neighbor.announces),
        receives=_format_list(neighbor.receives),
    )
    return f"{_quote_text_if_needed(neighbor.name)}: {facts}"


def _format_list(texts: tuple[str, ...] | Unknown) -> str | Unknown:
    return texts if isinstance(texts, Unknown) else f"[{', '.join(map(_quote_text, texts))}]"


def _format_host(host: Host) -> str:
    return _format_flow_mapping(
        group=_format_text_if_known(host.group or None),
        gpus=host.gpus,
        nic=_format_text_if_known(host.nic),
        spread=host.spread,
        tos=host.tos,
        fifo_tos=host.fifo_tos,
        cnp_dscp=host.cnp_dscp,
        trust=_format_text_if_known(host.trust),
        pfc=_format_numbers(host.pfc_priorities),
        dcqcn=host.dcqcn,
        rdma_mtu=host.rdma_mtu_bytes,
        queue_pairs=host.queue_pairs,
        out_of_order=host.out_of_order,
        ports=f"{{{', '.join(f'{_quote_text_if_needed(port.name)}: {_format_port(port)}' for port in host.ports)}}}",
    )


def _format_port(port: HostPort) -> str:
    return _format_flow_mapping(
        speed=port.speed_mbps if isinstance(port.speed_mbps, Unknown) else _format_gigabits(port.speed_mbps),
        lanes=port.lanes,
        addresses=f"[{', '.join(map(_quote_text, port.addresses))}]" if port.addresses else None,
        bond=None if port.bond is None else _quote_text_if_needed(port.bond),
    )


def _format_gigabits(mbps: int) -> str:
    """Return a speed as exact text: 400G, 2.5G."""
    return f"{mbps // 1000}.{mbps % 1000:03}".rstrip("0").rstrip(".") + "G"


def _format_policy(policy: Policy) -> Iterator[str]:
    sides = (("hosts", policy.host_watchdog), ("fabric", policy.fabric_watchdog))
    stated = [
        f"  {side}: {_format_watchdog(pfc_watchdog)}"
        for side, pfc_watchdog in sides
        if not isinstance(pfc_watchdog, Unknown)
    ]
    if policy.fabric_unwatched_roles:
        stated.append(f"  unwatched_roles: [{', '.join(map(_quote_text_if_needed, policy.fabric_unwatched_roles))}]")
    if stated:
        yield "watchdog:"
        yield from stated
    if not isinstance(policy.rdma_mtu_bytes, Unknown):
        yield f"rdma_mtu: {policy.rdma_mtu_bytes}"
    if not isinstance(policy.max_oversubscription, Unknown):
        yield f"max_oversubscription: {repr(policy.max_oversubscription).removesuffix('.0')}"
    if not isinstance(policy.lossless_pool_percent, Unknown):
        yield f"lossless_pool: {policy.lossless_pool_percent}%"
    if not isinstance(policy.rails, Unknown):
        yield f"rails: {policy.rails}"
    if not isinstance(policy.parts, Unknown):
        yield f"parts: {policy.parts}"
    if policy.drained:
        yield f"drained: [{', '.join(map(_quote_text_if_needed, policy.drained))}]"


def _format_watchdog(watchdog: PfcWatchdog | None) -> str:
    if watchdog is None:
        return '"off"'
    return _format_flow_mapping(
        priorities=_format_numbers(watchdog.priorities),
        detection=None if watchdog.detection_ms is None else f"{watchdog.detection_ms}ms",
        restoration=None if watchdog.restoration_ms is None else f"{watchdog.restoration_ms}ms",
        action=watchdog.action,
    )
