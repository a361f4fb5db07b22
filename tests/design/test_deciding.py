"""Where an intent decides a part of the fabric: a row for every field of the model, and places as the text has them."""

import dataclasses
from collections.abc import Iterator

import pytest

import nodrop
from nodrop.design.deciding import find_decision
from nodrop.design.decisions import FabricPart, deciding_key_groups
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.fabric_readings import build_and_read_back
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent
from nodrop.locate import add_finding_places, find_deciding_keys
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.fields import FIELD_TABLE, nearest_field_with_column
from nodrop.model.nics import Nic
from nodrop.model.routing import Bgp
from nodrop.model.subject import parse_subject
from nodrop.model.types import ValueType, fields_of
from nodrop.platforms import make_place_finder
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml as parse_yaml


def paths(owner: type, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a part of the model, and those of what it holds."""
    for name, kind in fields_of(owner).items():
        yield from _below(kind, (*before, name))


def _below(kind: ValueType, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if kind.element is not None:
        yield from _below(kind.element, (*path, "3")) if kind.element.owners else [path]
        return
    inside = [owner for owner in kind.owners if dataclasses.is_dataclass(owner)]
    yield path
    for owner in inside:
        assert isinstance(owner, type)
        yield from paths(owner, path)


def every() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The kind and the path of every field that a subject can name."""
    of_fabric = {"links", "hosts", "external", "classes", "policy", "name", "mode", "profile"}
    assert {*fields_of(Fabric)} == of_fabric | {"devices", "nics"}
    yield from (("fabric", path) for path in paths(Fabric) if path[0] in of_fabric)
    for path in paths(Device):
        if path[0] == "interfaces":
            continue
        yield "device", path[1:] if path[:2] == ("bgp", "neighbors") else path
    yield "device", ("interfaces",)
    yield from (("port", path) for path in paths(Interface))
    yield from (("nic", path) for path in paths(Nic))


BELOW = {"device": ("devices", "x"), "port": ("devices", "x", "interfaces", "y"), "fabric": (), "nic": ("nics", "x")}


def test_every_field_is_decided_by_a_key_or_has_a_reason() -> None:
    """A field without either has the keys of its switch, port or fabric, which decide only these."""
    whole = {nearest_field_with_column(BELOW[kind], "key", "no_key") for kind in BELOW}
    bare = {
        (kind, *path)
        for kind, path in every()
        if nearest_field_with_column((*BELOW[kind], *path), "key", "no_key") in whole
    }
    assert bare == {("device", "name"), ("device", "role"), ("fabric", "name")}


def test_a_row_of_a_place_wins_over_that_of_the_class() -> None:
    assert deciding_key_groups(FabricPart("port", ("qos", "priority_groups", "3", "buffer", "discard"))) == (("mode",),)
    assert deciding_key_groups(FabricPart("port", ("qos", "ingress_buffers", "0", "discard"))) == (
        ("buffers",),
        ("topology.{tier}.model",),
    )
    assert deciding_key_groups(FabricPart("device", ("bgp", "asn"))) == (
        ("!devices.{device}.asn",),
        ("routing.asn.{asn}",),
    )
    assert deciding_key_groups(FabricPart("device", ("vrf_bgp", "red", "asn"))) == ()
    bfd = (("external.{external}.bfd", "routing.bfd"),)
    assert deciding_key_groups(FabricPart("device", ("bgp", "neighbors", "10.0.0.1", "bfd"))) == bfd
    assert deciding_key_groups(FabricPart("device", ("neighbors", "10.0.0.1", "bfd"))) == bfd


def test_keys_of_rows_are_keys_of_the_schema() -> None:
    schema = Intent.model_json_schema()

    def has(keys: list[str]) -> bool:
        at = schema
        for key in keys:
            while "$ref" in at:
                at = schema["$defs"][at["$ref"].rpartition("/")[2]]
            options = [at, *at.get("anyOf", []), *at.get("oneOf", [])]
            options = [schema["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in options]
            named = [one["properties"][key] for one in options if key in one.get("properties", {})]
            for one in options:
                named += one.get("patternProperties", {}).values()
                named += [inside] if isinstance(inside := one.get("additionalProperties"), dict) else []
            if not named:
                return False
            at = named[0]
        return True

    words = {
        "tier": [["leaves"], ["spines"]],
        "peers": [["leaves"], ["spines"]],
        "side": [["hosts"], ["fabric"]],
        "link": [["topology", "uplinks"], ["endpoints", "gpu"]],
        "panels": [["topology", "leaves", "ports"]],
        "pool": [["addressing", "links"], ["addressing", "endpoints"]],
    }
    wrong = []
    for rows in FIELD_TABLE.values():
        for row in rows.values():
            for template in row.key.replace(";", " ").replace("!", "").split():
                made = [[]]
                for step in template.split("."):
                    fillings = words.get(step[1:-1], [["x"]]) if step.startswith("{") else [[step]]
                    made = [[*one, *filling] for one in made for filling in fillings]
                if not any(map(has, made)):
                    wrong.append(template)
    assert wrong == []


BLOCK = b"""\
nodrop: 1
fabric: small  # a remark
topology:
  kind: leaf-spine
  spines: {ids: 1-2, model: SN4700, platform: sonic, version: "202505"}
  leaves:
    ids: 1-2
    model: SN4700
    platform: sonic
    version: "202505"
    ports: {endpoints: 1-4, uplinks: 17-20}
  uplinks: {per_spine: 2, speed: 400G, media: DR4, length: 30m}
endpoints:
  gpu: {ids: 1-2, nic: ConnectX-7, ports: 2, leaf_group: 2, leaf_ports: 1-2, speed: 400G, media: DR4, length: 3m}
  disk: {ids: 1-2, nic: ConnectX-7, ports: 2, leaf_group: 2, leaf_ports: 3-4, speed: 400G, media: DR4, length: 5m}
classes:
  rdma:
    dscp: 26
    priority: 3
    lossless: true
    share: 60%
    ecn: {min: 150kB, max: 1500kB, probability: 100%}
  cnp: {dscp: 48, priority: 6, strict: true, max_rate: 5%}
  default: {dscp: rest, priority: 0, share: 40%}
pfc:
  watchdog:
    hosts:
      detection: 200ms
    fabric: off
buffers: {alpha: 1}
routing: {asn: {spines: 4200000000, leaves: 4200100000+}}
addressing: {loopbacks: 10.0.0.0/16, links: 10.1.0.0/16, endpoints: 10.2.0.0/16, oob: 192.168.100.0/24}
services:
  ntp: [192.0.2.10]
devices:
  leaf2: {drained: true}
extra:
  leaf1:
    tables: {BANNER_MESSAGE: {global: {state: enabled}}}
"""


CASES = """
leaf1/Ethernet0/qos/pfc_watchdog | decided | pfc.watchdog.hosts | hosts
leaf1/Ethernet0/qos/pfc_watchdog/detection_ms | decided | pfc.watchdog.hosts.detection | detection: 200ms
leaf1/Ethernet0/qos/pfc_watchdog/restoration_ms | decided | pfc.watchdog.hosts.detection | detection: 200ms
leaf1/Ethernet0/qos/pfc_watchdog/action | default | pfc.watchdog.hosts.action | hosts
leaf1/Ethernet128/qos/pfc_watchdog | decided | pfc.watchdog.fabric | fabric: off
leaf1/Ethernet128/qos/pfc_watchdog/detection_ms | decided | pfc.watchdog.fabric | fabric: off
spine1/Ethernet0/qos/pfc_watchdog | decided | pfc.watchdog.fabric | fabric: off
leaf1/Ethernet0/qos/queues/3/wred/green/max_bytes | decided | classes.rdma.ecn.max | max: 1500kB
leaf1/Ethernet0/qos/queues/6/wred | default | classes.cnp.ecn | cnp: {dscp: 48, priority: 6, strict: true, max_rate: 5%}
leaf1/Ethernet0/qos/queues/6/scheduler/peak_bytes_per_s | decided | classes.cnp.max_rate | max_rate: 5%
leaf1/Ethernet0/qos/queues/5/scheduler | decided | classes | classes
leaf1/Ethernet0/qos/dscp_to_tc/26 | decided | classes.rdma.dscp | dscp: 26
leaf1/Ethernet0/qos/dscp_to_tc/7 | decided | classes.default.dscp | dscp: rest
leaf1/Ethernet0/qos/priority_groups/3/buffer/headroom/xoff_bytes | decided | endpoints.gpu.length | length: 3m
leaf1/Ethernet16/cable_length_m | decided | endpoints.disk.length | length: 5m
leaf1/Ethernet128/cable_length_m | decided | topology.uplinks.length | length: 30m
leaf1/Ethernet128/fec | decided | topology.uplinks.speed | speed: 400G
leaf1/Ethernet240 | stated | topology.leaves.ports | ports: {endpoints: 1-4, uplinks: 17-20}
leaf1/Ethernet0/addresses | decided | addressing.endpoints | endpoints: 10.2.0.0/16
leaf1/Ethernet128/addresses | decided | addressing.links | links: 10.1.0.0/16
leaf1 | stated | topology.leaves.ids | ids: 1-2
spine2/@version | decided | topology.spines.version | version: "202505"
leaf1/@loopbacks/Loopback0 | decided | addressing.loopbacks | loopbacks: 10.0.0.0/16
leaf1/@buffer_pools/ingress_lossless_pool/percentage | default | buffers.lossless_pool | buffers: {alpha: 1}
leaf1/@ntp_servers | decided | services.ntp | ntp: [192.0.2.10]
leaf1/@syslog_servers | default | services.syslog | services
leaf1/@bgp/neighbors/10.1.0.1/remote_asn | decided | routing.asn.spines | spines: 4200000000
leaf1/@neighbors/10.1.0.1/bfd | default | routing.bfd | routing: {asn: {spines: 4200000000, leaves: 4200100000+}}
leaf1/@bgp/networks/10.0.0.0%2F16 | decided | addressing.loopbacks | loopbacks: 10.0.0.0/16
leaf1/@bgp/route_maps/X | decided | routing | routing: {asn: {spines: 4200000000, leaves: 4200100000+}}
leaf1/Ethernet0/qos/queues/0/buffer/dynamic_th | decided | buffers | buffers: {alpha: 1}
leaf1/Ethernet0/qos/queues/3/buffer/pool | decided | classes.rdma.lossless | lossless: true
leaf1/@interfaces | stated | topology.leaves | leaves
leaf2/@bgp/graceful_shutdown | decided | devices.leaf2.drained | drained: true
leaf1/@extra/BANNER_MESSAGE.global.state | decided | extra.leaf1.tables.BANNER_MESSAGE.global.state | state: enabled
leaf1/@watchdog_polling_ms | decided | pfc.watchdog.hosts.detection | detection: 200ms
@fabric/classes/rdma/dscp | decided | classes.rdma.dscp | dscp: 26
@fabric/hosts/gpu1/nic | decided | endpoints.gpu.nic | nic: ConnectX-7
@fabric/hosts/gpu1/tos | decided | classes.rdma.dscp | dscp: 26
@fabric/hosts/gpu1/cnp_dscp | decided | classes.cnp.dscp | dscp: 48
@fabric/hosts/gpu1/pfc_priorities | decided | classes.rdma.priority | priority: 3
ConnectX-7/x.sh/traffic_class | decided | classes.rdma.dscp | dscp: 26
@fabric/links/disk1:nic1--leaf1:Ethernet16/length_m | decided | endpoints.disk.length | length: 5m
@fabric/links/leaf1:Ethernet128--spine1:Ethernet0/media | decided | topology.uplinks.media | media: DR4
@fabric | decided | fabric | fabric: small
leaf1/Ethernet0/lane_mbps | decided | endpoints.gpu.speed | speed: 400G
"""
"""A part, what is said of its place, the key, and the text that is marked."""

_SAID = {
    "decided": "decided here: {}",
    "default": "left to its default: {} would be stated here",
    "stated": "stated here: {}",
}


@pytest.mark.parametrize(("part", "said", "key", "marked"), [line.split(" | ") for line in CASES.split("\n") if line])
def test_a_part_leads_to_the_key_that_decides_it(part: str, said: str, key: str, marked: str) -> None:
    found = find_decision(loads(BLOCK, "pod.yaml"), parse_subject(part))
    assert found is not None
    assert found.message == _SAID[said].format(key)
    assert found.file == "pod.yaml"
    line = BLOCK.decode().split("\n")[found.span.line - 1]
    assert line == found.line
    assert found.span.end_line == found.span.line
    assert line[found.span.column - 1 : found.span.end_column - 1] == marked


NOWHERE = (
    "leaf1/Ethernet0/mtu_bytes",
    "leaf1/Ethernet0/macsec",
    "leaf1/@mac",
    "leaf2/@mac_ageing_s",
    "ConnectX-7/x.sh/trust",
    "leaf1/@trimming",
)


@pytest.mark.parametrize("part", NOWHERE)
def test_what_no_stated_key_decides_has_no_place(part: str) -> None:
    """The intent states neither an MTU nor anything of hosts, and mode is left to its default too."""
    assert find_decision(loads(BLOCK, "pod.yaml"), parse_subject(part)) is None


def test_an_as_number_of_a_single_switch_is_decided_by_the_key_that_states_it() -> None:
    text = BLOCK.replace(b"devices:\n", b"devices:\n  spine2: {asn: 4200000099}\n")
    intent = loads(text, "pod.yaml")
    leaf = nodrop.build(intent).device("leaf2")
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    sessions = {neighbor.remote_asn: neighbor.key for neighbor in leaf.bgp.neighbors}
    parts = {
        ("spine2", "@bgp", "asn"): ("devices", "spine2", "asn"),
        ("leaf2", "@neighbors", sessions[4200000099], "remote_asn"): ("devices", "spine2", "asn"),
        ("leaf2", "@neighbors", sessions[4200000000], "remote_asn"): ("routing", "asn", "spines"),
        ("leaf2", "@bgp", "asn"): ("routing", "asn", "leaves"),
    }
    assert {part: found.keys for part in parts if (found := find_decision(intent, part))} == parts


def test_without_a_text_there_is_no_place() -> None:
    intent = Intent.model_validate(parse_yaml(BLOCK, "pod.yaml").data)
    assert find_decision(intent, ("leaf1",)) is None


def test_what_an_alias_stands_for_has_the_place_of_the_alias() -> None:
    text = BLOCK.replace(b"gpu: {ids", b"gpu: &hosts {ids").replace(b"ecn: {min", b"ecn: &marks {min")
    text = text.replace(b"strict: true, max_rate: 5%", b"share: 5%, ecn: *marks").replace(b"share: 40%", b"share: 35%")
    found = find_decision(loads(text, "pod.yaml"), parse_subject("leaf1/Ethernet0/qos/queues/6/wred/green/min_bytes"))
    assert found is not None
    assert found.line[found.span.column - 1 : found.span.end_column - 1] == "ecn: *marks"


def test_the_answer_is_a_path_and_a_place() -> None:
    found = find_deciding_keys(loads(BLOCK, "pod.yaml"), ("leaf1", "@ntp_servers"))
    assert found is not None
    keys, located = found
    assert keys == ("services", "ntp")
    assert (located.file, located.span and located.span.line) == ("pod.yaml", 34)


def test_findings_of_what_is_built_speak_of_the_intent() -> None:
    raw = (
        (resource_folder("intents") / "two-by-two.yaml")
        .read_bytes()
        .replace(b"max: 1500kB", b"max: 2kB")
        .replace(b"min: 150kB", b"min: 1kB")
    )
    _, reading = build_and_read_back(loads(raw, "pod.yaml"), "pod.yaml", "out")
    verdict = judge(reading, select_lint_rules(shipped_rules()))
    pointed = add_finding_places(verdict.findings, reading, make_place_finder)
    told = {one.related[0].message for one in pointed.findings if one.rule == "ecn-below-one-packet"}
    assert told == {"decided here: classes.rdma.ecn.max"}
    place = next(one.related[0].located for one in pointed.findings if one.rule == "ecn-below-one-packet")
    assert place is not None
    assert place.span is not None
    assert "max: 2kB" in (pointed.line(place.file, place.span.line) or "")


def test_line_ends_and_a_byte_order_mark_move_no_place() -> None:
    part = parse_subject("leaf1/Ethernet0/qos/queues/3/wred/green/max_bytes")
    plain = find_decision(loads(BLOCK, "pod.yaml"), part)
    for raw in (b"\xef\xbb\xbf" + BLOCK, BLOCK.replace(b"\n", b"\r\n"), BLOCK.replace(b"\n", b"\r")):
        assert find_decision(loads(raw, "pod.yaml"), part) == plain


def test_a_value_over_several_lines_is_marked_by_its_key() -> None:
    text = BLOCK.replace(b"ecn: {min: 150kB, max", b"ecn: {min: 150kB,\n          max")
    found = [
        find_decision(loads(text, "pod.yaml"), parse_subject(f"leaf1/Ethernet0/qos/queues/3/wred{rest}"))
        for rest in ("", "/green/max_bytes")
    ]
    marked = [one.line[one.span.column - 1 : one.span.end_column - 1] for one in found if one]
    assert marked == ["ecn", "max: 1500kB"]
