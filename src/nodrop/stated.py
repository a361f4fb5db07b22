"""The `fabric:` mapping: what no switch file can say, read from fabric.yaml and written beside a build."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from nodrop.errors import InputProblems, Problem
from nodrop.fabric.declared import Declared
from nodrop.fabric.fabric import End, Fabric, Host, HostPort, Link, Policy, TrafficClass
from nodrop.fabric.qos import PfcWatchdog
from nodrop.fabric.states import UNKNOWN, Unknown
from nodrop.formats.places import read_limited
from nodrop.formats.yaml import parse
from nodrop.intent.load import problems_of
from nodrop.intent.types import Bool, Dscps, Integer, Name, Priorities, Speed, Text, Time
from nodrop.units import show_ids, show_speed

FILE = "fabric.yaml"
MAX_BYTES = 64_000_000
_CABLE = re.compile(r"([^\s:]+):(\S+)--([^\s:]+):(\S+)(?: (\d+)m)?(?: ([A-Za-z0-9_-]+))?")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Class(_Part):
    purpose: Literal["rdma", "cnp", "storage", "inband", "control", "default", "unknown"] | None = None
    dscp: Dscps
    tc: Integer | None = None
    lossless: Bool | None = None


class _Port(_Part):
    speed: Speed | None = None
    lanes: Integer | None = None
    addresses: tuple[Text, ...] = ()


class _Host(_Part):
    group: Text = ""
    gpus: Integer = 0
    nic: Text | None = None
    ports: dict[Text, _Port]
    tos: Integer | None = None
    cnp_dscp: Integer | None = None
    trust: Literal["dscp", "pcp"] | None = None
    pfc: Priorities | None = None
    dcqcn: Bool | None = None
    rdma_mtu: Integer | None = None


class _Watchdog(_Part):
    priorities: Priorities = ()
    detection: Time | None = None
    restoration: Time | None = None
    action: Literal["drop", "forward", "alert"] | None = None


class _Watchdogs(_Part):
    hosts: _Watchdog | Literal["off"] | None = None
    fabric: _Watchdog | Literal["off"] | None = None


class _Policy(_Part):
    watchdog: _Watchdogs = _Watchdogs()
    rdma_mtu: Integer | None = None


class Stated(_Part):
    """The mapping's schema; every key may be left out."""

    name: Name | None = None
    mode: Literal["lossless", "pfc-only", "lossy", "trim"] | None = None
    classes: dict[Name, _Class] | None = None
    roles: dict[Name, Text] = {}
    models: dict[Name, Text] = {}
    cables: tuple[Text, ...] | None = None
    hosts: dict[Name, _Host] | None = None
    policy: _Policy | None = None


def load(path: Path, display: str) -> Declared:
    """Read a fabric.yaml; InputProblems names what it cannot mean."""
    return loads(read_limited(path, display, MAX_BYTES), display)


def loads(raw: bytes, display: str) -> Declared:
    """Read the text of a fabric.yaml, which problems name `display`."""
    document = parse(raw, display, max_bytes=MAX_BYTES)
    try:
        stated = Stated.model_validate(document.data if document.data is not None else {})
    except ValidationError as error:
        raise InputProblems(problems_of(document, error, Stated)) from None
    cables, problems = [], []
    for index, text in enumerate(stated.cables or ()):
        found = _CABLE.fullmatch(text)
        if found is None:
            line, column = document.place(("cables", index))
            expected = "leaf1:Ethernet0--spine1:Ethernet8 30m DR4"
            where = f"cables.{index}"
            problems.append(Problem(path=display, line=line, column=column, where=where, found=text, expected=expected))
            continue
        ends = sorted((End(found[1], found[2]), End(found[3], found[4])))
        length = UNKNOWN if found[5] is None else int(found[5])
        cables.append(Link(a=ends[0], b=ends[1], length_m=length, media=found[6] or UNKNOWN))
    if problems:
        raise InputProblems(problems)
    return _declared(stated, None if stated.cables is None else tuple(cables))


def _known(value: Any) -> Any:
    return UNKNOWN if value is None else value


def _declared(stated: Stated, cables: tuple[Link, ...] | None) -> Declared:
    return Declared(
        name=stated.name,
        mode=stated.mode,
        classes=None if stated.classes is None else tuple(_class(name, one) for name, one in stated.classes.items()),
        roles=stated.roles,
        models=stated.models,
        cables=cables,
        hosts=None if stated.hosts is None else tuple(_host(name, one) for name, one in stated.hosts.items()),
        policy=None if stated.policy is None else _policy(stated.policy),
    )


def _class(name: str, one: _Class) -> TrafficClass:
    purposes: dict[str, Any] = {
        word: word for word in ("rdma", "cnp", "storage", "inband", "control", "default", "unknown")
    }
    return TrafficClass(
        name=name,
        purpose=one.purpose or purposes.get(name, "unknown"),
        dscp=one.dscp,
        tc=_known(one.tc),
        lossless=_known(one.lossless),
    )


def _host(name: str, one: _Host) -> Host:
    return Host(
        name=name,
        group=one.group,
        gpus=one.gpus,
        nic=_known(one.nic),
        ports=tuple(
            HostPort(name=port, speed_mbps=_known(of.speed), lanes=_known(of.lanes), addresses=of.addresses)
            for port, of in one.ports.items()
        ),
        tos=_known(one.tos),
        cnp_dscp=_known(one.cnp_dscp),
        trust=_known(one.trust),
        pfc_priorities=_known(one.pfc),
        dcqcn=_known(one.dcqcn),
        rdma_mtu_bytes=_known(one.rdma_mtu),
    )


def _policy(policy: _Policy) -> Policy:
    def watchdog(side: _Watchdog | Literal["off"] | None) -> PfcWatchdog | None | Unknown:
        if side is None:
            return UNKNOWN
        if isinstance(side, str):
            return None
        return PfcWatchdog(
            priorities=side.priorities,
            detection_ms=side.detection,
            restoration_ms=side.restoration,
            action=side.action,
        )

    return Policy(
        host_watchdog=watchdog(policy.watchdog.hosts),
        fabric_watchdog=watchdog(policy.watchdog.fabric),
        rdma_mtu_bytes=_known(policy.rdma_mtu),
    )


def spell(fabric: Fabric) -> str:
    """Return the fabric.yaml of a fabric: what its switches' files cannot say, and nothing else."""
    return "\n".join(_lines(fabric)) + "\n"


def _lines(fabric: Fabric) -> Iterator[str]:
    yield "# What no switch file can say; `nodrop lint` reads it beside the devices."
    yield f"name: {fabric.name}"
    yield f"mode: {fabric.mode}"
    yield "classes:"
    for one in fabric.classes:
        parts = [f"purpose: {one.purpose}", f"dscp: [{show_ids(one.dscp)}]"]
        parts += [] if isinstance(one.tc, Unknown) else [f"tc: {one.tc}"]
        parts += [] if isinstance(one.lossless, Unknown) else [f"lossless: {_bool(one.lossless)}"]
        yield f"  {one.name}: {{{', '.join(parts)}}}"
    yield "roles:"
    yield from (f"  {device.name}: {device.role}" for device in fabric.devices if isinstance(device.role, str))
    yield "models:"
    yield from (f"  {device.name}: {device.model}" for device in fabric.devices if isinstance(device.model, str))
    yield "cables:" if fabric.links else "cables: []"
    for link in fabric.links:
        length = "" if isinstance(link.length_m, Unknown) or link.length_m is None else f" {link.length_m}m"
        media = "" if isinstance(link.media, Unknown) or link.media is None else f" {link.media}"
        yield f"  - {link.a}--{link.b}{length}{media}"
    yield "hosts:" if fabric.hosts else "hosts: {}"
    for host in fabric.hosts:
        yield from _host_lines(host)
    yield "policy:"
    yield "  watchdog:"
    for side, watchdog in (("hosts", fabric.policy.host_watchdog), ("fabric", fabric.policy.fabric_watchdog)):
        if not isinstance(watchdog, Unknown):
            yield f"    {side}: {_watchdog_text(watchdog)}"
    if not isinstance(fabric.policy.rdma_mtu_bytes, Unknown):
        yield f"  rdma_mtu: {fabric.policy.rdma_mtu_bytes}"


def _host_lines(host: Host) -> Iterator[str]:
    settings = {
        "group": host.group or None,
        "gpus": str(host.gpus),
        "nic": host.nic,
        "tos": host.tos,
        "cnp_dscp": host.cnp_dscp,
        "trust": host.trust,
        "pfc": UNKNOWN if isinstance(host.pfc_priorities, Unknown) else f"[{show_ids(host.pfc_priorities)}]",
        "dcqcn": UNKNOWN if isinstance(host.dcqcn, Unknown) else _bool(host.dcqcn),
        "rdma_mtu": host.rdma_mtu_bytes,
    }
    stated = [
        f"{key}: {value}" for key, value in settings.items() if value is not None and not isinstance(value, Unknown)
    ]
    ports = []
    for port in host.ports:
        facts = [] if isinstance(port.speed_mbps, Unknown) else [f"speed: {show_speed(port.speed_mbps)}"]
        facts += [] if isinstance(port.lanes, Unknown) else [f"lanes: {port.lanes}"]
        facts += (
            [f"addresses: [{', '.join(f'{chr(34)}{a}{chr(34)}' for a in port.addresses)}]"] if port.addresses else []
        )
        ports.append(f"{port.name}: {{{', '.join(facts)}}}")
    yield f"  {host.name}: {{{', '.join(stated)}, ports: {{{', '.join(ports)}}}}}"


def _watchdog_text(watchdog: PfcWatchdog | None) -> str:
    if watchdog is None:
        return '"off"'
    parts = [f"priorities: [{show_ids(watchdog.priorities)}]"]
    parts += [] if watchdog.detection_ms is None else [f"detection: {watchdog.detection_ms}ms"]
    parts += [] if watchdog.restoration_ms is None else [f"restoration: {watchdog.restoration_ms}ms"]
    parts += [] if watchdog.action is None else [f"action: {watchdog.action}"]
    return f"{{{', '.join(parts)}}}"


def _bool(value: bool) -> str:
    return "true" if value else "false"
