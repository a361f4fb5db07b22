"""What the NVUE writer writes: the whole state in one file, sorted and quoted as exports are, in either dialect."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.fabric import Collector, Device, Extra, QosStyle
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.nvue import effects, stages, writer
from nodrop.syntax.yaml import parse_yaml
from support.nvue_devices import as_nvue, fabric, profile, split


def leaf(version: str = "5.14", intent: str = "two-by-two", style: QosStyle = "macro") -> Device:
    return as_nvue(fabric(intent).device("leaf1"), version, style)


def written(device: Device) -> dict[str, str]:
    return {one.path: one.text for one in writer.write(device, Index(fabric()))}


def tree(device: Device) -> Any:
    return parse_yaml(written(device)["startup.yaml"], "startup.yaml").data[1]["set"]


def test_a_device_is_a_state_and_the_way_to_it() -> None:
    assert list(written(leaf())) == ["startup.yaml", "apply/10-ports.nv", "apply/10-ports.yaml", "apply/apply.sh"]


def test_the_header_names_model_and_release() -> None:
    data = parse_yaml(written(leaf("5.16"))["startup.yaml"], "startup.yaml").data
    assert [list(entry) for entry in data] == [["header"], ["set"]]
    assert data[0]["header"] == {
        "model": "SN4700",
        "nvue-api-version": "nvue_v1",
        "rev-id": "1.0",
        "version": "Cumulus Linux 5.16.0",
    }


def test_the_header_lists_what_a_replacement_would_remove() -> None:
    text = written(leaf())["startup.yaml"]
    comment = [line for line in text.splitlines() if line.startswith("#")]
    listed = " ".join(line.removeprefix("#   ") for line in comment if line.startswith("#   "))
    assert listed == (
        "system aaa class, aaa role, aaa user, api, config auto-save, control-plane acl, reboot, ssh-server,"
        " timezone, wjh"
    )
    assert text.partition("- header:")[0] == "".join(f"{line}\n" for line in comment)


def test_ports_that_are_alike_share_a_key() -> None:
    ports = tree(leaf())["interface"]
    assert {key for key, node in ports.items() if "link" in node} == {"swp1-3", "swp4-28", "swp29-32"}
    assert ports["swp29-32"]["link"] == {
        "auto-negotiate": "on",
        "fec": "rs",
        "mtu": "9216",
        "speed": "400G",
        "state": {"up": {}},
    }
    assert ports["swp1"] == {"description": "gpu1:nic1", "ip": {"address": {"10.2.1.0/31": {}}}}


def test_a_port_that_is_shut_states_no_default() -> None:
    device = leaf()
    spare = next(port for port in device.interfaces if not port.enabled)
    bare = replace(spare, fec="auto", autoneg=True, speed_mbps=None, mtu_bytes=9216)
    ports = tuple(bare if one is spare else one for one in device.interfaces)
    said = tree(fill_in_computed_buffer_sizes(replace(device, interfaces=ports)))["interface"][spare.name]
    assert said["link"] == {"state": {"down": {}}}
    other = tuple(replace(one, mtu_bytes=4200, fec="rs") if one is bare else one for one in ports)
    link = tree(fill_in_computed_buffer_sizes(replace(device, interfaces=other)))["interface"][spare.name]["link"]
    assert link == {"fec": "rs", "mtu": "4200", "state": {"down": {}}}


def test_a_port_that_differs_has_all_under_its_own_key() -> None:
    device = leaf()
    first = replace(device.interfaces[0], mtu_bytes=1500)
    ports = tree(fill_in_computed_buffer_sizes(replace(device, interfaces=(first, *device.interfaces[1:]))))[
        "interface"
    ]
    assert (ports["swp1"]["link"]["mtu"], ports["swp1"]["description"]) == ("1500", "gpu1:nic1")
    assert "swp2-3" in ports


@pytest.mark.parametrize(
    ("version", "path", "value"),
    [
        ("5.14", ("qos", "roce"), {"cable-length": "3", "enable": "on", "mode": "lossless"}),
        ("5.16", ("qos", "roce"), {"cable-length": "3", "mode": "lossless", "state": "enabled"}),
        ("5.14", ("interface", "lo"), {"ip": {"address": {"10.0.0.1/32": {}}}, "type": "loopback"}),
        ("5.16", ("interface", "lo"), {"ipv4": {"address": {"10.0.0.1/32": {}}}, "type": "loopback"}),
        ("5.14", ("interface", "eth0", "ip", "vrf"), "mgmt"),
        ("5.16", ("interface", "eth0", "vrf"), "mgmt"),
        ("5.14", ("vrf", "default", "router", "bgp", "enable"), "on"),
        ("5.16", ("vrf", "default", "router", "bgp", "state"), "enabled"),
        ("5.14", ("vrf", "default", "router", "bgp", "path-selection", "multipath", "aspath-ignore"), "on"),
        ("5.16", ("vrf", "default", "router", "bgp", "path-selection", "multipath", "aspath-ignore"), "enabled"),
        ("5.14", ("interface", "swp1-3", "link", "auto-negotiate"), "on"),
        ("5.16", ("interface", "swp1-3", "link", "auto-negotiate"), "enabled"),
        ("5.16", ("interface", "swp1-3", "qos", "pfc-watchdog", "state"), "enable"),
    ],
)
def test_either_dialect(version: str, path: tuple[str, ...], value: object) -> None:
    node = tree(leaf(version))
    for key in path:
        node = node[key]
    assert node == value


def test_the_explicit_style_states_all_dscps_and_all_priorities() -> None:
    qos = tree(leaf(style="explicit"))["qos"]
    assert qos["mapping"]["default-global"] == {
        "dscp": {
            "0-9,11-15,17-25,27-47,49-55,57-63": {"switch-priority": "0"},
            "10": {"switch-priority": "2"},
            "16": {"switch-priority": "1"},
            "26": {"switch-priority": "3"},
            "48": {"switch-priority": "6"},
            "56": {"switch-priority": "7"},
        },
        "trust": "l3",
    }
    queues = qos["egress-queue-mapping"]["default-global"]["switch-priority"]
    assert queues == {str(number): {"traffic-class": str(number)} for number in range(8)}


def test_the_macro_and_what_the_intent_has_otherwise() -> None:
    qos = tree(leaf())["qos"]
    assert qos["congestion-control"]["default-global"]["traffic-class"]["0"] == {"ecn": "disable"}
    assert qos["traffic-pool"] == {"default-lossy": {"memory-percent": "10"}, "roce-lossless": {"memory-percent": "90"}}
    assert qos["pfc"]["cable-30m"]["cable-length"] == "30"
    assert qos["pfc-watchdog"] == {"polling-interval": "100", "robustness": "3"}


def _unsorted(node: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(node, dict):
        return []
    keys = list(node)
    own = [path] if keys != sorted(keys, key=natural_sort_key) else []
    return own + [one for key in keys for one in _unsorted(node[key], (*path, key))]


@pytest.mark.parametrize("version", ["5.14", "5.16"])
@pytest.mark.parametrize("name", ["leaf1", "spine1"])
def test_keys_are_sorted_as_exports_are(version: str, name: str) -> None:
    assert _unsorted(tree(as_nvue(fabric("reference-256").device(name), version))) == []


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("spine1 port 1", "spine1 port 1"),
        ("gpu1:nic1", "gpu1:nic1"),
        ("11:11", "'11:11'"),
        ("42", "'42'"),
        ("1.5", "'1.5'"),
        ("on", "'on'"),
        ("Null", "'Null'"),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("- a", "'- a'"),
        ("it's", "'it''s'"),
        ("{a}", "'{a}'"),
        ("a:", "'a:'"),
        ("", "''"),
        (" a", "' a'"),
    ],
)
def test_text_is_quoted_where_it_would_be_read_as_something_else(text: str, spelt: str) -> None:
    assert stages.quote_yaml(text) == spelt
    assert parse_yaml(f"a: {spelt}\n{spelt}: b\n", "x").data == {"a": text, text: "b"}


def test_ids_are_quoted_and_numbers_are_not() -> None:
    text = written(leaf())["startup.yaml"]
    assert "          traffic-class:\n            '0':\n              bw-percent: 15\n" in text
    assert "                  10.0.0.1/32: {}\n" in text


def test_many_devices_share_what_their_ports_and_qos_say(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    render = writer.render_statements

    def counted(file: str, **names: Any) -> Any:
        rendered.append(file)
        return render(file, **names)

    monkeypatch.setattr(writer, "render_statements", counted)
    writer._RENDERED_QOS_CACHE.clear()
    for device in fabric("reference-256").devices:
        if device.name.startswith("leaf"):
            writer.write(_sharing(device), Index(fabric("reference-256")))
    assert rendered.count("qos") == 1
    assert rendered.count("interfaces") == 4


_SHARED: dict[object, Any] = {}


def _sharing(device: Device) -> Device:
    """As NVUE, its equal profiles one object, as they are after a fabric has been put together."""
    made = as_nvue(device)
    ports = tuple(replace(port, qos=_SHARED.setdefault(require_fact(port.qos), port.qos)) for port in made.interfaces)
    return replace(made, interfaces=ports)


SAID = "the configuration says so, or something else, already"


def with_extra(*extras: Extra, version: str = "5.14") -> Device:
    return replace(leaf(version), extra=extras)


def test_what_an_owner_adds_is_merged_last_and_sorted_in() -> None:
    device = with_extra(
        Extra(path=("system", "ssh-server", "state"), value="enabled"),
        Extra(path=("system", "dns", "server"), value=("192.0.2.53", "192.0.2.54")),
        Extra(path=("system", "message", "pre-login"), value="it's: ours"),
        Extra(path=("interface", "swp1", "lldp"), value=None),
        Extra(path=("system", "wjh", "threshold"), value="10"),
    )
    found = tree(device)
    assert found["system"]["ssh-server"] == {"state": "enabled"}
    assert found["system"]["dns"] == {"server": {"192.0.2.53": {}, "192.0.2.54": {}}}
    assert found["system"]["message"] == {"pre-login": "it's: ours"}
    assert found["interface"]["swp1"]["lldp"] == {}
    assert list(found["system"]) == ["dns", "forwarding", "hostname", "message", "ssh-server", "wjh"]
    assert "nv set system message pre-login 'it'\"'\"'s: ours'\n" in written(device)["apply/10-ports.nv"]
    plain = {key: value for key, value in tree(leaf()).items() if key not in ("system", "interface")}
    assert {key: found[key] for key in plain} == plain


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("system", "hostname"), "other", SAID),
        (("system", "hostname", "x"), "1", "hostname is a value, and has nothing below it"),
        (("interface", "swp2", "link", "mtu"), "1500", SAID),
        (("interface", "swp1-9", "link", "mtu"), "1500", SAID),
        (("interface", "swp1", "link", "state", "down"), None, "state is up already"),
        (("qos", "mapping", "default-global", "dscp", "12", "switch-priority"), "3", SAID),
        (("qos",), None, SAID),
        (("system", "a b"), "1", "'a b' is no word of an NVUE path"),
        (("system", "motd"), "a\nb", "'a\\nb' has control characters"),
        ((), "1", "without a path there is nothing to set"),
    ],
)  # fmt: skip
def test_what_the_configuration_says_already_is_not_for_an_owner_to_add(
    path: tuple[str, ...], value: str | None, reason: str
) -> None:
    with pytest.raises(UnsupportedByPlatform) as error:
        written(with_extra(Extra(path=path, value=value)))
    assert error.value.path == f"extra/{'.'.join(path)}"
    assert error.value.reason == reason


def test_qos_that_an_owner_adds_to_a_part_of_a_port_comes_second() -> None:
    device = replace(
        split(leaf(), "swp2", 2), extra=(Extra(path=("interface", "swp2s0", "qos", "buffer", "x"), value="1"),)
    )
    own = written(device)
    assert "nv set interface swp2s0 qos buffer x 1\n" in own["apply/20-qos.nv"]
    assert "swp2s0 qos" not in own["apply/10-ports.nv"]


def lines(device: Device, *parts: str) -> list[str]:
    """The commands that begin with some words, without these."""
    start = f"nv set {' '.join(parts)} "
    return [
        line.removeprefix(start)
        for path, text in written(device).items()
        if path.endswith(".nv")
        for line in text.splitlines()
        if line.startswith(start)
    ]


@pytest.mark.parametrize(("version", "words"), [("5.14", ["enable on"]), ("5.16", ["state enabled"])])
def test_counters_are_sent_to_a_collector(version: str, words: list[str]) -> None:
    device = replace(leaf(version), otlp_collectors=(Collector(address="192.0.2.30", port=4317),))
    found = lines(device, "system", "telemetry")
    assert sorted(found) == sorted(
        [
            *words,
            "buffer-stats export state enabled",
            "export otlp grpc destination 192.0.2.30 port 4317",
            "export otlp grpc insecure enabled",
            "export otlp state enabled",
            "export vrf mgmt",
            "interface-stats egress-buffer traffic-class 3",
            "interface-stats export state enabled",
            "interface-stats ingress-buffer priority-group 3",
            "interface-stats switch-priority 3",
        ]
    )


def test_collectors_may_subscribe() -> None:
    assert lines(replace(leaf(), gnmi_port=9339), "system", "gnmi-server") == [
        "listening-address 192.168.100.1",
        "port 9339",
        "state enabled",
    ]


@pytest.mark.parametrize(
    ("version", "ntp"),
    [
        ("5.14", ["service ntp mgmt server 192.0.2.10"]),
        ("5.16", ["system ntp server 192.0.2.10", "system ntp vrf mgmt"]),
    ],
)
def test_servers_are_reached_by_the_management_vrf(version: str, ntp: list[str]) -> None:
    device = replace(leaf(version), ntp_servers=("192.0.2.10",), syslog_servers=("192.0.2.20",))
    text = written(device)["apply/10-ports.nv"]
    found = [line.removeprefix("nv set ") for line in text.splitlines() if " ntp " in line or " syslog " in line]
    assert found == [*ntp, "system syslog server 192.0.2.20 vrf mgmt"]


@pytest.mark.parametrize(("version", "word"), [("5.14", "on"), ("5.16", "enabled")])
def test_a_drained_switch_asks_others_to_go_around_it(version: str, word: str) -> None:
    device = leaf(version)
    assert isinstance(device.bgp, Bgp)
    drained = replace(device, bgp=replace(device.bgp, graceful_shutdown=True))
    before, after = (written(one)["startup.yaml"].splitlines() for one in (device, drained))
    assert [line for line in after if line not in before] == [f"        graceful-shutdown: {word}"]


@pytest.mark.parametrize(
    ("version", "router", "neighbor"),
    [("5.14", [], "enable on"), ("5.16", ["profile fabric", "state enabled"], "profile fabric")],
)
def test_bfd(version: str, router: list[str], neighbor: str) -> None:
    device = leaf(version)
    assert isinstance(device.bgp, Bgp)
    watched = tuple(replace(one, bfd=True) for one in require_fact(device.bgp.neighbors))
    device = replace(device, bgp=replace(device.bgp, neighbors=watched))
    assert lines(device, "router", "bfd") == router
    assert lines(device, *["vrf", "default", "router", "bgp", "peer-group", "SPINES", "bfd"]) == [neighbor]


def test_two_lossless_classes_without_the_macro() -> None:
    device = leaf(style="explicit")
    paused = with_pause(device, (3, 4))
    ports = tuple(replace(port, qos=paused) for port in device.interfaces)
    qos = tree(fill_in_computed_buffer_sizes(replace(device, interfaces=ports)))["qos"]
    assert "roce" not in qos
    assert qos["pfc"]["default-global"]["switch-priority"] == {"3-4": {}}
    assert qos["traffic-pool"] == {
        "default-lossless": {"memory-percent": "90"},
        "default-lossy": {"memory-percent": "10"},
    }
    assert set(qos["egress-scheduler"]) == {"dwrr-0.15-1.5-2.20-3.60-strict-6-7"}  # all ports are bound to it


def with_pause(device: Device, pausing: tuple[int, ...]) -> QosProfile:
    first = device.interfaces[0].qos
    assert isinstance(first, QosProfile)
    return profile(first, pausing)


def test_ports_without_pause_beside_others() -> None:
    device = leaf()
    quiet = replace(device.interfaces[0], qos=with_pause(device, ()), cable_length_m=None)
    own = written(fill_in_computed_buffer_sizes(replace(device, interfaces=(quiet, *device.interfaces[1:]))))
    assert "nv set interface swp1 qos pfc profile pfc-off\n" in own["apply/10-ports.nv"]
    assert [line for line in own["apply/10-ports.nv"].splitlines() if "qos pfc pfc-off" in line] == [
        "nv set qos pfc pfc-off rx disable",
        "nv set qos pfc pfc-off switch-priority 3",
        "nv set qos pfc pfc-off tx disable",
    ]


@pytest.mark.parametrize(
    ("exponent", "word"), [(-8, "alpha_0"), (-3, "alpha_1_8"), (2, "alpha_4"), (7, "alpha_infinity"), (0, None)]
)
def test_how_much_of_the_pool_lossless_traffic_may_take(exponent: int, word: str | None) -> None:
    device = leaf()
    first = with_pause(device, (3,))
    groups = effects.priority_groups((3,), exponent)
    ports = tuple(replace(port, qos=replace(first, priority_groups=groups)) for port in device.interfaces)
    made = fill_in_computed_buffer_sizes(
        replace(device, interfaces=ports, dynamic_buffers=effects.dynamic_buffers(exponent))
    )
    found = lines(made, *["qos", "advance-buffer-config", "default-global", "ingress-lossless-buffer", "shared-alpha"])
    assert found == ([word] if word else [])
