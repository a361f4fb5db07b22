"""What is written reads back as it was: shipped intents, random intents and random devices, sense or nonsense."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import nodrop
from nodrop import collect, platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.bridging import PortChannel
from nodrop.model.buffers import BufferPool, Headroom
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND, DeviceReading, Reading
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN, Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.platforms import unsupported_paths
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.sonic import read_qos, writer
from nodrop.platforms.sonic.read_bridging import DEFAULT_MTU_BYTES
from nodrop.platforms.sonic.routing_tables import FRRCFGD_DEFAULT_REASON_BY_FIELD
from nodrop.resources import resource_folder
from support import random_values
from support.random_fabrics import alone, devices, fabrics
from support.random_intents import built

INTENTS = sorted(resource_folder("intents").glob("*.yaml"))
ON_SONIC = resource_folder("intents") / "broadcom.yaml"


@cache
def shipped(path: Path) -> Fabric:
    return nodrop.build(nodrop.load(path))


def written(device: Device, fabric: Fabric, platform: str = "sonic") -> tuple[Artifact, ...]:
    return platforms.writer_of_platform(platform).write(device, Index(fabric))


def read(artifacts: Iterable[Artifact], platform: str = "sonic") -> DeviceReading:
    own = list(artifacts)
    (reading,) = collect.read_artifacts(own, dict.fromkeys([one.device for one in own], platform), "")
    return reading


def assert_same(a: Any, b: Any) -> None:
    found = list(differences(a, b))
    assert not found, "\n".join(map(str, found))
    assert a == b


OF_NONSENSE = {
    "name-not-known-to-tools",
    "profile-without-one-threshold",
    "threshold-too-large",
    "threshold-unlike-pool",
    "missing-field",
    "broken-condition",
    "value-out-of-range",
    "shares-exceed-whole",
    "lossless-half-configured",
    "part-missing",
}
"""What a reader remarks of switches that nobody would design: a writer writes them faithfully."""


def assert_round_trip(device: Device, fabric: Fabric) -> None:
    """Read what was written: the same device, nothing to remark, and the same bytes when it is written again."""
    artifacts = written(device, fabric, device.platform)
    reading = read(artifacts, device.platform)
    assert_same(mask_unsupported_fields(device, unsupported_paths(device.platform)), reading.device)
    remarks = [remark for remark in reading.remarks if remark.kind not in OF_NONSENSE]
    assert (remarks, reading.notes, reading.problems) == ([], (), ())
    assert device.platform == "nvue" or reading.derived == left_open(device)
    assert written(reading.device, fabric, device.platform) == artifacts


def left_open(*devices: Device) -> dict[Subject, str]:
    """What files of SONiC switches leave to their daemons: settings of BGP in tables, and the MTU of shut ports."""
    in_tables = [one.name for one in devices if one.routing_tables]
    shut = [(one.name, port.name, port.mtu_bytes) for one in devices for port in one.interfaces if not port.enabled]
    mtu = f"PORT has no mtu, which is {DEFAULT_MTU_BYTES} (portmgrd)"
    return {
        **{
            (name, "@bgp", field): reason
            for name in in_tables
            for field, reason in FRRCFGD_DEFAULT_REASON_BY_FIELD.items()
        },
        **{(name, port, "mtu_bytes"): mtu for name, port, size in shut if size == DEFAULT_MTU_BYTES},
    }


def as_read(fabric: Fabric, *, placed: bool) -> Fabric:
    """The fabric as reading gives it: what is at the far end of a cable comes back where the cables are stated."""

    def of_platform(device: Device) -> Device:
        unsaid = dict(unsupported_paths(device.platform))
        known = mask_unsupported_fields(
            device, [path for path in unsaid if not (placed and path in ("interfaces/*/side", "role"))]
        )
        within = () if placed else ports_within_as(device)
        sided = (replace(port, side="fabric") if port.name in within else port for port in known.interfaces)
        return replace(known, interfaces=tuple(sided))

    return replace(fabric, devices=tuple(map(of_platform, fabric.devices)))


def ports_within_as(device: Device) -> set[str | None]:
    """The ports over which sessions run to a neighbor of the same AS, which is a switch."""
    processes = [bgp for bgp in (device.bgp, *known_rows(device.vrf_bgp)) if isinstance(bgp, Bgp)]
    return {
        neighbor.interface
        for bgp in processes
        for neighbor in known_rows(bgp.neighbors)
        if neighbor.remote_asn in ("internal", bgp.asn)
    }


def heard(reading: Reading) -> tuple[Any, ...]:
    """All of a reading but where its sources lie, and what is remarked of nonsense."""
    remarks = tuple(remark for remark in reading.remarks if remark.kind not in OF_NONSENSE)
    return reading.fabric, remarks, reading.notes, reading.problems, reading.derived, reading.assumed


@pytest.mark.parametrize("path", INTENTS, ids=lambda path: path.stem)
def test_shipped_intents_round_trip(path: Path) -> None:
    fabric = shipped(path)
    for device in fabric.devices:
        assert_round_trip(device, fabric)


@pytest.mark.parametrize("path", INTENTS, ids=lambda path: path.stem)
def test_a_shipped_fabric_comes_back_whole_from_memory_and_from_disk(path: Path, tmp_path: Path) -> None:
    fabric = shipped(path)
    artifacts = list(nodrop.write(fabric))
    reading = nodrop.read_back(artifacts, fabric)
    assert_same(as_read(fabric, placed=True), as_read(reading.fabric, placed=True))
    assert (*heard(reading)[1:4], reading.assumed) == ((), (), (), ())
    of_sonic = [device for device in fabric.devices if device.platform == "sonic"]
    by_default = {one: why for one, why in reading.derived.items() if one[0] in {device.name for device in of_sonic}}
    assert by_default == left_open(*of_sonic)
    assert list(nodrop.write(reading.fabric)) == artifacts
    for artifact in artifacts:
        path = tmp_path / artifact.device / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text)
    assert heard(nodrop.read([str(tmp_path)])) == heard(reading)


@pytest.mark.parametrize("members", [(), ("Ethernet0",)], ids=["without members", "with a member"])
def test_a_port_channel_comes_back(members: tuple[str, ...]) -> None:
    fabric = shipped(ON_SONIC)
    channel = PortChannel(name="PortChannel1", members=members, mtu_bytes=9100)
    assert_round_trip(replace(fabric.devices[0], port_channels=(channel,)), fabric)


@pytest.mark.slow
@given(built())
def test_random_intents_come_back_whole(fabric: Fabric) -> None:
    artifacts = list(nodrop.write(fabric))
    reading = nodrop.read_back(artifacts, fabric)
    assert_same(as_read(fabric, placed=True), reading.fabric)
    assert heard(reading)[1:] == ((), (), (), left_open(*fabric.devices), ())
    assert list(nodrop.write(reading.fabric)) == artifacts


@pytest.mark.nightly
@given(devices())
def test_random_devices_round_trip(device: Device) -> None:
    assert_round_trip(device, alone(device))


@given(fabric=fabrics())
@pytest.mark.nightly
def test_random_fabrics_come_back_whole_from_memory_and_from_disk(
    fabric: Fabric, tmp_path_factory: pytest.TempPathFactory
) -> None:
    artifacts = list(nodrop.write(fabric))
    reading = nodrop.read_back(artifacts, fabric)
    assert_same(as_read(fabric, placed=False), reading.fabric)
    assert heard(reading)[1:] == ((), (), (), left_open(*fabric.devices), ())
    folder = tmp_path_factory.mktemp("fabric")
    for artifact in artifacts:
        path = folder / artifact.device / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text)
    assert heard(nodrop.read([str(folder)])) == heard(reading)


@pytest.mark.nightly
@settings(phases=set(Phase) - {Phase.shrink, Phase.explain})  # shrinking takes minutes; the message says enough
@given(st.data())
def test_any_device_round_trips_or_is_refused_with_its_path(data: st.DataObject) -> None:
    device = data.draw(devices())
    for _ in range(6):
        other = data.draw(random_values.altered(device))
        refusal = None
        try:
            artifacts = written(other, alone(other))
        except UnsupportedByPlatform as error:
            refusal = error
        if refusal is not None:
            assert random_values.leads_somewhere(other, refusal.path), str(refusal)
            continue
        reading = read(artifacts)
        assert_same(mask_unsupported_fields(other, unsupported_paths("sonic")), reading.device)
        nonsense = {"dangling-reference", "malformed-value", "unknown-field"} | OF_NONSENSE
        assert [remark for remark in reading.remarks if remark.kind not in nonsense] == []
        added = isinstance(other.extra, tuple) or isinstance(other.extra_lines, tuple)
        assert {note.kind for note in reading.notes} <= ({UNKNOWN_LINE_NOTE_KIND} if added else set())
        assert (reading.problems, reading.derived) == ((), left_open(other))


MAY_BE_UNKNOWN = [
    path
    for path, hint in random_values.fields(shipped(ON_SONIC).devices[0])
    if Unknown in get_args(hint) and (path[0] != "interfaces" or path[1:2] in ((), (0,)))
]


UNSAID = {("interfaces", 0, "link_pause"), ("interfaces", 0, "side")} | {
    (name,) for name in ("extra", "extra_lines", "headroom_table", "mac_ageing_s", "arp_reachable_s", "nd_reachable_s")
}
"""What no file of SONiC says, known or not."""


@pytest.mark.parametrize("path", MAY_BE_UNKNOWN, ids=lambda path: "/".join(map(str, path)))
def test_an_unknown_fact_is_refused_by_its_path(path: random_values.Path) -> None:
    """Every field of a device and of its first port that may be UNKNOWN: a file cannot say so."""
    fabric = shipped(ON_SONIC)
    old = random_values.at(fabric.devices[0], path)
    device = random_values.replaced(fabric.devices[0], path, UNKNOWN)
    if path in UNSAID:
        assert_round_trip(device, fabric)
        return
    with pytest.raises(UnsupportedByPlatform) as caught:
        written(device, fabric)
    assert caught.value.path == random_values.named(fabric.devices[0], path)
    owner = random_values.at(fabric.devices[0], path[:-1])
    headroom = owner if isinstance(owner, Headroom) else getattr(owner, "headroom", None)
    works_out = isinstance(headroom, Headroom) and headroom.computed and headroom is not old
    computed = works_out or (isinstance(owner, BufferPool) and owner.computed)
    expected = f"the switch computes {old}" if computed else "is unknown, and a configuration cannot say so"
    assert caught.value.reason == expected


def test_qos_is_rendered_once_for_each_design(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = shipped(resource_folder("intents") / "reference-256.yaml")
    renders: Counter[str] = Counter()
    render = writer._render_template

    def counted(name: str, **names: Any) -> str:
        renders[name] += 1
        return render(name, **names)

    monkeypatch.setattr(writer, "_render_template", counted)
    writer._RENDERED_CONFIG_CACHE.clear()
    list(nodrop.write(fabric))
    per_switch, per_design = len(fabric.devices), 2
    assert renders == {
        "device": per_switch,
        "ports": per_switch,
        "services": per_switch,
        "switch": per_switch,
        "maps": per_design,
        "port_qos": per_design,
        "buffers": per_design,
    }


def test_a_profile_is_read_once_for_each_combination_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = shipped(resource_folder("intents") / "reference-256.yaml")
    artifacts = list(nodrop.write(fabric))
    made: list[str] = []
    make = read_qos.QosReader._read_qos_profile

    def counted(self: read_qos.QosReader, port: str, *others: Any) -> Any:
        made.append(port)
        return make(self, port, *others)

    monkeypatch.setattr(read_qos.QosReader, "_read_qos_profile", counted)
    read_qos._RECENT_READERS.clear()
    collect._read_artifacts.cache_clear()
    reading = nodrop.read_back(artifacts, fabric)
    assert made == ["Ethernet0", "Ethernet128", "Ethernet0"]  # a leaf's two sides, a spine's one
    distinct = {id(port.qos) for device in reading.fabric.devices for port in device.interfaces}
    assert len(distinct) == 2  # towards hosts, and towards switches from either end
