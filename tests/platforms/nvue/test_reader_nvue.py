"""Files as they are read: lists and ranges in keys, both dialects, several `set`s, traps of YAML, `nv set` lines."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.model.fabric import Collector, Loopback, Management, Port, Trimming
from nodrop.model.routing import (
    Aggregate,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import subject_text
from nodrop.platforms.nvue.reader import detect
from support.nvue_startup import device, port, qos, read, state


@pytest.mark.parametrize(
    ("name", "head", "ours"),
    [
        ("startup.yaml", b"", True),
        ("core-01.yaml", b"# exported\n- header:\n    model: vx\n", True),
        ("patch.yaml", b"- set:\n    qos: {}\n", True),
        ("remove.yaml", b"- unset:\n    qos: {}\n", True),
        ("shown.txt", b"cumulus@leaf1:~$ nv config show\n- header:\n    model: vx\n", True),
        ("shown.json", b'[\n  {\n    "header": {"model": "vx"}}, {"set": {}}]', True),
        ("stage.nv", b"# first\nnv set qos roce\n", True),
        ("session.txt", b"cumulus@leaf1:mgmt:~$ nv set qos roce\n", True),
        ("config_db.json", b'{"PORT": {}}', False),
        ("notes.txt", b"we ran nv set by hand\n", False),
        ("play.yaml", b"- name: x\n  set: y\n", False),
        ("list.yaml", b"- set: y\n", False),
        ("list.json", b'[{"set": "y"}]', False),
    ],
)
def test_what_is_of_this_platform(name: str, head: bytes, ours: bool) -> None:
    assert detect(name, head) is ours


def test_lists_and_ranges_in_keys_are_ports_and_what_overlaps_is_united() -> None:
    found = device("""
interface:
  swp1-2,4,swp10s0-1:
    type: swp
  swp2,swp10s1:
    link: {mtu: 1500}
  swp2:
    description: to a host
    link: {speed: 100G}
  swp10:
    link: {breakout: {2x: {lanes-per-port: '4'}}}
""")
    assert [(one.name, one.port, one.lanes, one.mtu_bytes, one.speed_mbps) for one in found.interfaces] == [
        ("swp1", Port(1), 8, 9216, UNKNOWN),
        ("swp2", Port(2), 8, 1500, 100_000),
        ("swp4", Port(4), 8, 9216, UNKNOWN),
        ("swp10s0", Port(10, 0), 4, 9216, UNKNOWN),
        ("swp10s1", Port(10, 1), 4, 1500, UNKNOWN),
    ]
    assert port(found, "swp2").description == "to a host"


def test_a_port_of_its_own_says_all_of_its_link() -> None:
    found = device("""
interface:
  swp1:
    ip:
      address:
        10.0.0.1/31: {}
        2001:db8::1/127: {}
      vrf: red
    link: {state: {down: {}}, speed: 400G, fec: baser, auto-negotiate: off, mtu: 4200}
  swp2: {type: swp}
""")
    one, two = found.interfaces
    assert (one.enabled, one.speed_mbps, one.fec, one.autoneg, one.mtu_bytes) == (False, 400_000, "fc", False, 4200)
    assert (one.addresses, one.vrf, one.link_training) == (("10.0.0.1/31", "2001:db8::1/127"), "red", UNKNOWN)
    assert (two.enabled, two.speed_mbps, two.fec, two.autoneg, two.mtu_bytes) == (True, UNKNOWN, "auto", True, 9216)
    assert (two.addresses, two.vrf, two.description) == ((), None, None)


def test_what_a_file_does_not_say_of_a_port_is_derived() -> None:
    reading = read(state("interface:\n  swp1: {link: {speed: 400G, mtu: 9216, fec: rs}}\nqos: {roce: {}}"))
    of_port = {subject_text(subject[2:]) for subject in reading.derived if subject[1] == "swp1"}
    assert {"enabled", "autoneg", "cable_length_m", "qos/trust", "qos/dscp_to_tc", "qos/pfc_rx_priorities"} <= of_port
    assert not {"mtu_bytes", "fec", "speed_mbps", "qos/pfc_watchdog"} & of_port
    of_switch = {subject_text(subject[1:]) for subject in reading.derived if subject[1].startswith("@")}
    assert of_switch == {
        "@buffer_model",
        "@dynamic_buffers",
        *(f"@buffer_pools/{name}" for name in ("ingress_lossless", "ingress_lossy", "egress_lossy")),
    }


@pytest.mark.parametrize(
    ("model", "version", "expected"),
    [
        ("SN4700", "Cumulus Linux 5.14.0", ("SN4700", "5.14")),
        ("MSN4700", "Cumulus Linux 5.16.1.0012", ("SN4700", "5.16")),
        ("SN5600D", "5.14", ("SN5600", "5.14")),
        ("sn6600-ld", "5.18.2", ("SN6600_LD", "5.18")),
        ("SN3750SX", "5.9", ("SN3750-SX", "5.9")),
        ("vx", "5.9", (UNKNOWN, "5.9")),
        ("", "5.9", (UNKNOWN, "5.9")),
        ("SN4700", "unreleased", ("SN4700", UNKNOWN)),
    ],
)
def test_the_header_names_model_and_release(model: str, version: str, expected: tuple[object, object]) -> None:
    found = read(f"- header: {{model: {model}, version: {version}}}\n- set: {{interface: {{swp1: {{}}}}}}\n").device
    assert (found.model, found.version) == expected


def test_without_a_header_model_and_release_are_not_known() -> None:
    found = read("- set:\n    interface: {swp1: {type: swp}}\n").device
    assert (found.model, found.version, found.interfaces[0].lanes) == (UNKNOWN, UNKNOWN, UNKNOWN)


SAME = {
    "one set": "- set: {interface: {swp1: {link: {mtu: 9000}}, swp2: {type: swp}}, qos: {roce: {enable: on}}}\n",
    "two sets": "- set: {interface: {swp1-2: {type: swp}}, qos: {roce: {enable: on}}}\n"
    "- set: {interface: {swp1: {link: {mtu: 9000}}}}\n",
    "unset": "- set: {interface: {swp1-3: {link: {mtu: 9000}}}, qos: {roce: {enable: on, mode: lossy}}}\n"
    "- unset: {interface: {swp3: {}, swp2: {link: {mtu: {}}}}, qos: {roce: {mode: {}}}}\n"
    "- set: {interface: {swp2: {type: swp}}}\n",
    "lines": "nv set interface swp1-2 type swp\n"
    "nv set interface swp1 link mtu 1500\nnv set interface swp1 link mtu 9000\n"
    "nv set qos roce enable on\nnv set qos roce mode lossy\nnv unset qos roce mode\nnv config apply -y\n",
    "true for on": "- set: {interface: {swp1: {link: {mtu: 9000}}, swp2: {type: swp}}, qos: {roce: {enable: true}}}\n",
    "a session": "cumulus@leaf1:mgmt:~$ nv set interface swp1-2 link mtu 9000\n"
    "cumulus@leaf1:mgmt:~$ nv unset interface swp2 link mtu\n"
    "cumulus@leaf1:mgmt:~$ sudo nv set qos \\\n  roce enable 'on' 2>/dev/null; nv config apply -y\n",
    "output with its command": "cumulus@leaf1:~$ nv config show\n- set:\n    interface:\n      swp1:\n"
    "        link:\n          mtu: 9000\n      swp2:\n        type: swp\n    qos:\n      roce:\n        enable: on\n"
    "cumulus@leaf1:~$\n",
    "JSON": '[{"set": {"interface": {"swp1": {"link": {"mtu": 9000}}, "swp2": {}}, '
    '"qos": {"roce": {"enable": "on"}}}}]',
    "explicit key": "- set:\n    interface:\n      ? swp1\n      : link:\n          mtu: 9000\n      swp2: {}\n"
    "    qos: {roce: {enable: on}}\n",
    "anchor": "- set:\n    interface:\n      swp2: {link: {mtu: 9216}}\n      swp1: {link: &jumbo {mtu: 9000}}\n"
    "    qos: {roce: {enable: on}}\n"
    "- set: {interface: {swp1: {link: *jumbo}}}\n",
    "removed first": "- unset: {interface: {swp3: {}}}\n- set: {interface: {swp1: {link: {mtu: 9000}}, swp2: {}}, "
    "qos: {roce: {enable: on}}}\n",
    "quoted": "- set: {interface: {'swp1': {link: {mtu: '9000'}}, swp2: {}}, qos: {roce: {enable: 'on'}}}\n",
}


@pytest.mark.parametrize("spelling", SAME)
def test_the_same_state_in_other_words_is_the_same_device(spelling: str) -> None:
    reading = read(SAME[spelling])
    assert (reading.problems, reading.notes) == ((), ())
    assert {one.kind for one in reading.remarks} == {"macro-mode-not-stated"}
    assert reading.device == read(SAME["one set"]).device
    assert [(one.name, one.mtu_bytes) for one in reading.device.interfaces] == [("swp1", 9000), ("swp2", 9216)]
    assert qos(reading.device).pfc_priorities == (3,)


OLD = """
interface:
  eth0: {ip: {address: {192.0.2.1/24: {}}, gateway: {192.0.2.254: {}}, vrf: mgmt}, type: eth}
  lo: {ip: {address: {10.0.0.1/32: {}}}, type: loopback}
  swp1: {ip: {address: {10.1.0.0/31: {}}}, link: {auto-negotiate: on}}
qos: {roce: {enable: on, mode: lossless}}
router: {bgp: {autonomous-system: 65001, enable: on, graceful-shutdown: on, router-id: 10.0.0.1}}
service:
  ntp: {mgmt: {server: {192.0.2.11: {}, 192.0.2.10: {}}}}
  syslog: {mgmt: {server: {192.0.2.20: {}}}}
vrf:
  default:
    router:
      bgp:
        address-family:
          ipv4-unicast: {enable: on, multipaths: {ebgp: 32}, network: {10.2.0.0/24: {}, 10.0.0.1/32: {}}}
        enable: on
        neighbor:
          10.1.0.11: {remote-as: 65002, type: numbered}
          10.1.0.3: {remote-as: 65003, description: spine2, type: numbered}
        path-selection: {multipath: {aspath-ignore: on}}
      static: {10.2.0.0/24: {via: {blackhole: {}}}}
"""
NEW = """
interface:
  eth0: {ipv4: {address: {192.0.2.1/24: {}}, gateway: {192.0.2.254: {}}}, vrf: mgmt, type: eth}
  lo: {ipv4: {address: {10.0.0.1/32: {}}}, type: loopback}
  swp1: {ipv4: {address: {10.1.0.0/31: {}}}, link: {auto-negotiate: enabled}}
qos: {roce: {state: enabled, mode: lossless}}
router: {bgp: {autonomous-system: 65001, state: enabled, graceful-shutdown: enabled, router-id: 10.0.0.1}}
system:
  ntp: {server: {192.0.2.11: {}, 192.0.2.10: {}}, vrf: mgmt}
  syslog: {server: {192.0.2.20: {}}}
vrf:
  default:
    router:
      bgp:
        address-family:
          ipv4-unicast: {state: enabled, multipaths: {ebgp: 32}, network: {10.2.0.0/24: {}, 10.0.0.1/32: {}}}
        state: enabled
        neighbor:
          10.1.0.11: {remote-as: 65002, type: numbered}
          10.1.0.3: {remote-as: 65003, description: spine2, type: numbered}
        path-selection: {multipath: {aspath-ignore: enabled}}
      static: {10.2.0.0/24: {via: {blackhole: {}}}}
"""


@pytest.mark.parametrize(("body", "version"), [(OLD, "5.12.0"), (NEW, "5.16.0")])
def test_both_dialects_say_the_same(body: str, version: str) -> None:
    found = device(body, version)
    assert found.management == Management(
        interface="eth0", addresses=("192.0.2.1/24",), gateway="192.0.2.254", own_vrf=True
    )
    assert found.loopbacks == (Loopback(name="lo", addresses=("10.0.0.1/32",)),)
    assert (found.ntp_servers, found.syslog_servers) == (("192.0.2.10", "192.0.2.11"), ("192.0.2.20",))
    assert found.static_routes == (StaticRoute(prefix="10.2.0.0/24", next_hop="blackhole"),)
    assert [one.name for one in found.interfaces] == ["swp1"]
    assert (port(found, "swp1").addresses, port(found, "swp1").autoneg) == (("10.1.0.0/31",), True)
    bgp = found.bgp
    assert (bgp.asn, bgp.router_id, bgp.maximum_paths, bgp.multipath_relax) == (65001, "10.0.0.1", 32, True)
    assert (bgp.networks, bgp.graceful_shutdown) == (("10.0.0.1/32", "10.2.0.0/24"), True)
    assert bgp.neighbors == (
        BgpNeighbor(address="10.1.0.3", remote_asn=65003, description="spine2"),
        BgpNeighbor(address="10.1.0.11", remote_asn=65002),
    )
    assert qos(found).pfc_priorities == (3,)


POLICIES = """
router:
  bgp: {autonomous-system: 65001, $ON, router-id: 10.0.0.1}
  policy:
    as-path-list:
      OWN: {rule: {'20': {action: deny, aspath-exp: .*}, '10': {action: permit, aspath-exp: ^65000_}}}
    prefix-list:
      ALL: {rule: {'10': {action: permit, match: {0.0.0.0/0: {max-prefix-len: 32}}}}}
    route-map:
      IN:
        rule:
          '10': {action: {permit: {}}, match: {as-path-list: OWN}}
          '20': {action: {deny: {}}, match: {as-path-list: NONE}}
vrf:
  default:
    router:
      bgp:
        $ON
        address-family:
          ipv4-unicast:
            $ON
            redistribute:
              static: {$ON, route-map: IN}
              connected: {$ON, route-map: none}
              kernel: {$OFF}
          ipv6-unicast: {$ON, redistribute: {connected: {$ON, route-map: LOST}}}
        path-selection: {routerid-compare: $FLAG, med: {compare-always: $FLAG}}
        neighbor:
          10.9.0.1:
            remote-as: 65009
            type: numbered
            update-source: lo
            multihop-ttl: 3
            address-family:
              ipv4-unicast:
                nexthop-setting: self
                policy: {inbound: {prefix-list: ALL}, outbound: {prefix-list: GONE, route-map: IN}}
              ipv6-unicast: {$ON, nexthop-setting: auto, policy: {inbound: {prefix-list: none}}}
          10.9.0.2: {remote-as: external, type: numbered, multihop-ttl: auto, capabilities: {source-address: 10.0.0.1}}
  RED:
    router:
      bgp:
        $ON
        autonomous-system: 65100
        neighbor: {swp1: {remote-as: external, type: unnumbered}}
        address-family: {ipv4-unicast: {$ON, redistribute: {connected: {$ON}}}}
  BLUE: {router: {bgp: {$OFF, autonomous-system: 65200}}}
  GREEN: {router: {bgp: {$ON, router-id: 10.0.0.7}}}
"""
SPELT = {
    "5.14.0": {"$ON": "enable: on", "$OFF": "enable: off", "$FLAG": "on"},
    "5.16.0": {"$ON": "state: enabled", "$OFF": "state: disabled", "$FLAG": "enabled"},
}


def policies(version: str) -> str:
    """The same in the dialect of a release."""
    text = POLICIES
    for word, spelt in SPELT[version].items():
        text = text.replace(word, spelt)
    return text


@pytest.mark.parametrize("version", sorted(SPELT))
def test_what_policies_need_in_both_dialects(version: str) -> None:
    reading = read(state(policies(version), version))
    bgp = reading.device.bgp
    assert isinstance(bgp, Bgp)
    assert bgp.redistributions == (
        Redistribution(source="connected"),
        Redistribution(source="static", policy="IN"),
        Redistribution(source="connected", family="ipv6", policy="LOST"),
    )
    assert (bgp.compare_router_id, bgp.always_compare_med, bgp.requires_policy, bgp.import_check) == (
        True,
        True,
        False,
        True,
    )
    assert bgp.as_path_lists == (AsPathList(name="OWN", rules=(("permit", "^65000_"), ("deny", ".*"))),)
    assert bgp.neighbors == (
        BgpNeighbor(
            address="10.9.0.1",
            remote_asn=65009,
            update_source="lo",
            ebgp_multihop=3,
            next_hop_self=True,
            import_prefix_list="ALL",
            export_prefix_list="GONE",
            export_policy="IN",
            ipv6=Ipv6Unicast(active=True),
        ),
        BgpNeighbor(address="10.9.0.2", remote_asn="external", update_source="10.0.0.1"),
    )
    shared: Any = {
        "preserve_forwarding": UNKNOWN,
        "prefix_lists": bgp.prefix_lists,
        "as_path_lists": bgp.as_path_lists,
        "route_maps": bgp.route_maps,
    }
    assert reading.device.vrf_bgp == (
        Bgp(asn=65001, vrf="GREEN", router_id="10.0.0.7", default_ipv4_unicast=UNKNOWN, **shared),
        Bgp(
            asn=65100,
            vrf="RED",
            router_id="10.0.0.1",
            default_ipv4_unicast=UNKNOWN,
            redistributions=(Redistribution(source="connected"),),
            neighbors=(BgpNeighbor(interface="swp1", remote_asn="external"),),
            **shared,
        ),
    )
    assert sorted((one.facts["kind"], one.facts["name"]) for one in reading.remarks) == [
        ("as-path-list", "NONE"),
        ("prefix-list", "GONE"),
        ("route-map", "LOST"),
    ]


SESSION = (
    "{vrf: {default: {router: {bgp: {enable: on, autonomous-system: 1, neighbor: {swp1: {remote-as: external, %s}}}}}}}"
)
PROCESS = "{vrf: {default: {router: {bgp: {enable: on, autonomous-system: 1, %s}}}}}"
V4 = "address-family: {ipv4-unicast: {%s}}"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (SESSION % "passive-mode: on", None),
        (SESSION % "local-as: {enable: on, asn: 7}", None),
        (SESSION % (V4 % "add-path-tx: all-paths"), "neighbor swp1 address-family ipv4-unicast add-path-tx"),
        (SESSION % "passive-mode: off", None),
        (SESSION % "timers: {keepalive: 3, hold: 9}, password: x, enforce-first-as: on", None),
        (SESSION % (V4 % "weight: 7"), None),
        (SESSION % (V4 % "route-reflector-client: on"), None),
        (SESSION % (V4 % "default-route-origination: {enable: off}"), None),
        (SESSION % (V4 % "default-route-origination: {enable: on}"), None),
        (
            SESSION % (V4 % "prefix-limits: {inbound: {maximum: 9, reestablish-wait: 5}}"),
            "neighbor swp1 address-family ipv4-unicast prefix-limits inbound reestablish-wait",
        ),
        (SESSION % (V4 % "policy: {inbound: {aspath-list: X}}"), None),
        (
            SESSION % (V4 % "policy: {outbound: {unsuppress-map: X}}"),
            "neighbor swp1 address-family ipv4-unicast policy outbound unsuppress-map",
        ),
        (SESSION % (V4 % "soft-reconfiguration: on, community-advertise: {regular: on}"), None),
        (
            SESSION % (V4 % "aspath: {allow-my-asn: {enable: on, occurrences: 2, origin: on}}"),
            "neighbor swp1 address-family ipv4-unicast aspath allow-my-asn origin",
        ),
        (PROCESS % (V4 % "redistribute: {ospf: {enable: on}}"), "address-family ipv4-unicast redistribute ospf"),
        (
            PROCESS % (V4 % "redistribute: {static: {enable: on, metric: 5}}"),
            "address-family ipv4-unicast redistribute static metric",
        ),
        (
            PROCESS % (V4 % "network: {10.0.0.0/8: {route-map: X}, 11.0.0.0/8: {}}"),
            "address-family ipv4-unicast network 10.0.0.0/8 route-map",
        ),
        (PROCESS % (V4 % "aggregate-route: {10.0.0.0/8: {}}"), None),
        (
            PROCESS % (V4 % "aggregate-route: {10.0.0.0/8: {route-map: X}}"),
            "address-family ipv4-unicast aggregate-route 10.0.0.0/8 route-map",
        ),
        (
            PROCESS % "path-selection: {med: {missing-as-max: on, compare-deterministic: on}}",
            "path-selection med missing-as-max",
        ),
        (PROCESS % "timers: {keepalive: 3}", None),
        (
            PROCESS % f"peer-group: {{G: {{{V4 % 'add-path-tx: all-paths'}}}}}, neighbor: {{swp1: {{peer-group: G}}}}",
            "peer-group G address-family ipv4-unicast add-path-tx",
        ),
        (PROCESS % "peer-group: {G: {passive-mode: on}}, neighbor: {swp1: {peer-group: G}}", None),
    ],
)
def test_settings_that_change_routes_and_are_not_in_the_model_are_noted(body: str, path: str | None) -> None:
    names = {"swp1", "10.0.0.0/8", "G"}
    about = " ".join("..." if word in names else word for word in (path or "").split())
    notes = [(note.kind, note.about) for note in read(state(body)).notes]
    assert notes == ([("unknown-line", f"vrf ... router bgp {about}")] if path else [])


@pytest.mark.parametrize(
    ("body", "stated"),
    [
        ("weight: 7", {"weight": 7}),
        ("default-route-origination: {enable: on}", {"default_originate": True}),
        ("default-route-origination: {enable: off}", {"default_originate": False}),
        (
            "default-route-origination: {enable: on, policy: X}",
            {"default_originate": True, "default_policy": "X"},
        ),
        ("policy: {inbound: {aspath-list: X}}", {"import_path_list": "X"}),
        ("policy: {outbound: {aspath-list: X}}", {"export_path_list": "X"}),
        ("aspath: {replace-peer-as: on}", {"as_override": True}),
        ("prefix-limits: {inbound: {maximum: 9}}", {"maximum_prefix": 9}),
    ],
)
def test_what_a_session_does_in_an_address_family(body: str, stated: dict[str, Any]) -> None:
    lists = "route-map: {X: {rule: {'10': {action: {permit: {}}}}}}, "
    lists += "as-path-list: {X: {rule: {'10': {action: permit, aspath-exp: '^1_'}}}}"
    process = f"{{router: {{policy: {{{lists}}}}}, {SESSION[1:]}"
    (session,) = device(process % (V4 % body)).neighbors
    assert session == BgpNeighbor(interface="swp1", remote_asn="external", **stated)
    (session,) = device(process % (V4 % body).replace("ipv4", "ipv6")).neighbors
    assert session == BgpNeighbor(interface="swp1", remote_asn="external", ipv6=replace(session.ipv6, **stated))


@pytest.mark.parametrize(
    ("body", "flags"), [("{}", {}), ("{summary-only: on}", {"summary_only": True}), ("{as-set: on}", {"as_set": True})]
)
def test_what_a_process_aggregates(body: str, flags: dict[str, bool]) -> None:
    bgp = read(state(PROCESS % (V4 % f"aggregate-route: {{10.0.0.0/8: {body}}}"))).device.bgp
    assert isinstance(bgp, Bgp)
    assert bgp.aggregates == (Aggregate(prefix="10.0.0.0/8", **flags),)


@pytest.mark.parametrize(
    ("group", "own", "is_of_group"),
    [("local-as: {enable: on, asn: 9}", "", True), ("", "local-as: {enable: on, asn: 9}", False)],
)
def test_a_peer_group_may_give_a_session_a_local_as_number_that_bgpd_refuses_there(
    group: str, own: str, *, is_of_group: bool
) -> None:
    sessions = f"neighbor: {{swp1: {{peer-group: G, remote-as: internal, {own}}}}}"
    (session,) = device(PROCESS % f"peer-group: {{G: {{{group}}}}}, {sessions}").neighbors
    assert (session.local_asn, session.local_asn_of_group) == (9, is_of_group)


def test_settings_of_sessions_in_the_same_words_are_noted_once() -> None:
    rows = ", ".join(f"swp{port}: {{remote-as: external, {V4 % 'add-path-tx: all-paths'}}}" for port in range(1, 9))
    body = f"{{vrf: {{default: {{router: {{bgp: {{enable: on, autonomous-system: 1, neighbor: {{{rows}}}}}}}}}}}}}"
    assert [note.message.split("`")[1] for note in read(state(body)).notes] == [
        "vrf default router bgp neighbor swp1 address-family ipv4-unicast add-path-tx"
    ]


@pytest.mark.parametrize(
    ("body", "about"),
    [
        ("{interface: {swp1: {ip: {ipv4: {forward: off}}}}}", ["interface ... ip ipv4 forward"]),
        ("{interface: {swp1: {ip: {ipv6: {forward: off}}}}}", ["interface ... ip ipv6 forward"]),
        ("{interface: {swp1: {ip: {ipv4: {forward: on}}}}}", []),
        ("{interface: {eth0: {ip: {ipv4: {forward: off}}}}}", []),
    ],
)
def test_a_port_that_does_not_forward_is_an_unknown_setting(body: str, about: list[str]) -> None:
    assert [note.about for note in read(state(body)).notes if note.kind == "unknown-line"] == about


@pytest.mark.parametrize(
    ("policy", "sets"),
    [
        ("{next: {}}", (("on-match", "next"),)),
        ("next", (("on-match", "next"),)),
        ("{rule: 30}", (("on-match", "goto 30"),)),
        ("{exit: {}}", ()),
    ],
)
def test_where_a_route_map_goes_on(policy: str, sets: object) -> None:
    permit = f"{{action: {{permit: {{exit-policy: {policy}}}}}}}"
    body = f"{{router: {{policy: {{route-map: {{A: {{rule: {{'10': {permit}}}}}}}}}, "
    body += "bgp: {autonomous-system: 1}}, vrf: {default: {router: {bgp: {enable: on}}}}}"
    reading = read(state(body))
    bgp = reading.device.bgp
    assert isinstance(bgp, Bgp)
    assert bgp.route_maps[0].rules[0].sets == sets
    assert reading.notes == ()


def test_a_session_that_is_off_is_not_enabled() -> None:
    (session,) = device(SESSION % "enable: off").neighbors
    assert session == BgpNeighbor(interface="swp1", remote_asn="external", enabled=False)


def test_processes_of_vrfs_with_an_automatic_number_are_not_known() -> None:
    assert device("vrf: {RED: {router: {bgp: {enable: on, autonomous-system: leaf}}}}").vrf_bgp is UNKNOWN


def test_sessions_take_over_from_their_group_and_policies_are_read() -> None:
    found = device("""
router:
  bgp: {autonomous-system: 65001, enable: on}
  policy:
    community-list:
      GSHUT: {rule: {'10': {action: permit, community: {graceful-shutdown: {}}}}}
      '11':
        rule:
          '100':
            action: deny
            community:
              11:11: {}
    prefix-list:
      OWN:
        rule:
          '20': {action: permit, match: {10.2.0.0/16: {min-prefix-len: 24, max-prefix-len: 32}}}
          '5': {action: deny, match: {10.9.0.0/16: {}}}
      SIX: {type: ipv6, rule: {'10': {action: permit, match: {'2001:db8::/32': {}}}}}
    route-map:
      IN:
        rule:
          '20': {action: {deny: {}}}
          '10':
            action: {permit: {}}
            match: {community-list: GSHUT, ip-prefix-list: OWN, type: ipv4}
            set: {local-preference: 0, community: {'11:11': {}, no-export: {}}, as-path-prepend: {as: 65001 65001}}
vrf:
  default:
    router:
      bgp:
        neighbor:
          swp1-2: {peer-group: fabric, type: unnumbered}
          swp2: {shutdown: on, remote-as: internal}
        peer-group:
          fabric:
            address-family:
              ipv4-unicast: {policy: {inbound: {route-map: IN}}, aspath: {allow-my-asn: {enable: on, occurrences: 2}}}
            bfd: {enable: on}
            remote-as: external
""")
    shared = {"import_policy": "IN", "bfd": True, "allowas_in": 2}
    assert found.bgp.neighbors == (
        BgpNeighbor(interface="swp1", remote_asn="external", **shared),
        BgpNeighbor(interface="swp2", remote_asn="internal", enabled=False, **shared),
    )
    assert found.bgp.prefix_lists == (
        PrefixList(
            name="OWN",
            family="ipv4",
            rules=(
                PrefixRule(sequence=5, action="deny", prefix="10.9.0.0/16"),
                PrefixRule(sequence=20, action="permit", prefix="10.2.0.0/16", ge=24, le=32),
            ),
        ),
        PrefixList(
            name="SIX", family="ipv6", rules=(PrefixRule(sequence=10, action="permit", prefix="2001:db8::/32"),)
        ),
    )
    assert found.bgp.community_lists == (
        CommunityList(name="11", rules=(("deny", ("11:11",)),)),
        CommunityList(name="GSHUT", rules=(("permit", ("graceful-shutdown",)),)),
    )
    sets = (("local-preference", "0"), ("community", "11:11 no-export"), ("as-path prepend", "65001 65001"))
    matches = (("community", "GSHUT"), ("ip address prefix-list", "OWN"))
    assert found.bgp.route_maps == (
        RouteMap(
            name="IN",
            rules=(
                RouteMapRule(sequence=10, action="permit", matches=matches, sets=sets),
                RouteMapRule(sequence=20, action="deny"),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("bgp", "expected"),
    [
        ("{}", None),
        ("{router: {bgp: {enable: off, autonomous-system: 1}}}", None),
        ("{router: {bgp: {enable: on, autonomous-system: leaf}}}", UNKNOWN),
    ],
)
def test_no_bgp_and_bgp_of_an_unknown_number(bgp: str, expected: object) -> None:
    assert device(f"interface: {{swp1: {{}}}}\nvrf: {{default: {bgp}}}").bgp is expected


def test_servers_seed_and_collectors() -> None:
    found = device("""
system:
  forwarding: {hash-seed: 4711}
  gnmi-server: {state: enabled}
  telemetry: {export: {otlp: {state: enabled, grpc: {destination: {192.0.2.30: {port: 4317}, 192.0.2.31: {}}}}}}
""")
    assert (found.hash_seed, found.gnmi_port) == (4711, 9339)
    assert found.otlp_collectors == (
        Collector(address="192.0.2.30", port=4317),
        Collector(address="192.0.2.31", port=8443),
    )
    silent = device("interface: {swp1: {}}")
    assert (silent.hash_seed, silent.gnmi_port, silent.otlp_collectors) == (None, None, ())
    assert (silent.management, silent.loopbacks, silent.static_routes, silent.bgp) == (None, (), (), None)


def test_by_what_equal_paths_are_chosen() -> None:
    found = device("system: {forwarding: {ecmp-hash: {source-port: off, inner-source-ip: on, gtp-teid: on}}}")
    assert found.hash_fields == ("ip-protocol", "dst-ip", "src-ip", "l4-dst-port", "inner-src-ip", "ipv6-flow-label")
    assert device("system: {forwarding: {ecmp-hash: {gtp-teid: on}}}").hash_fields is None
    assert device("interface: {swp1: {}}").hash_fields is None


def test_how_long_macs_and_neighbors_are_kept() -> None:
    found = device("""
bridge: {domain: {br_lossless: {ageing: 300}}}
system: {global: {arp: {base-reachable-time: 14400}, nd: {base-reachable-time: auto}}}
""")
    assert (found.mac_ageing_s, found.arp_reachable_s, found.nd_reachable_s) == (300, 14400, None)
    silent = device("interface: {swp1: {}}")
    assert (silent.mac_ageing_s, silent.arp_reachable_s, silent.nd_reachable_s) == (None, None, None)
    assert device("bridge: {domain: {a: {ageing: 300}, b: {}}}").mac_ageing_s is UNKNOWN


TRIM = "system: {forwarding: {packet-trim: %s}}\n"


def test_ports_trim_the_classes_they_name_or_those_of_the_profile() -> None:
    ports = "interface:\n  swp1-2: {}\n  swp2: {packet-trim: {egress-eligibility: {traffic-class: {'0,3': {}}}}}\n"

    def trimmed(body: str) -> dict[str, list[int]]:
        found = device(ports + body, model="SN5600")
        return {
            one.name: [queue.index for queue in qos(found, one.name).queues if queue.buffer.discard == "trim"]
            for one in found.interfaces
        }

    assert trimmed(TRIM % "{state: enabled}") == {"swp1": [], "swp2": [0, 3]}
    assert trimmed(TRIM % "{profile: packet-trim-default}") == {"swp1": [1, 2, 3], "swp2": [0, 3]}
    assert trimmed(TRIM % "{state: disabled}") == {"swp1": [], "swp2": []}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("interface: {swp1: {}}", None),
        (TRIM % "{state: disabled, size: 512}", None),
        (TRIM % "{profile: packet-trim-default}", Trimming(size_bytes=256, dscp=11, tc=4, queue=4)),
        (
            TRIM % "{state: enabled, size: 528, switch-priority: 2, remark: {dscp: 10}}",
            Trimming(size_bytes=528, dscp=10, tc=2, queue=2),
        ),
        (
            TRIM % "{state: enabled, remark: {dscp: port-level}}",
            Trimming(size_bytes=None, dscp="from-tc", tc=None, queue=None),
        ),
        ("qos: {roce: {mode: lossy-multi-tc}}", Trimming(size_bytes=256, dscp=11, tc=4, queue=4)),
        (
            TRIM % "{switch-priority: 6}" + "qos: {roce: {mode: lossy-multi-tc}}",
            Trimming(size_bytes=256, dscp=11, tc=6, queue=6),
        ),
    ],
)
def test_trimming_is_what_is_said_over_its_profile(body: str, expected: Trimming | None) -> None:
    assert device(body, model="SN5600").trimming == expected


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        ("as-path-list: {A: {rule: {'10': {action: permit, aspath-exp: ^65000_}}}}", None),
        ("as-path-list: {A: {rule: {'10': {action: permit, aspath-exp: (1}}}}", "as-path-list A rule 10 aspath-exp"),
        ("route-map: {M: {rule: {'10': {set: {as-path-prepend: {as: '1.10 65000'}}}}}}", None),
        (
            "route-map: {M: {rule: {'10': {set: {as-path-prepend: {as: abc}}}}}}",
            "route-map M rule 10 set as-path-prepend",
        ),
        (
            "route-map: {M: {rule: {'10': {set: {local-preference: '5000000000'}}}}}",
            "route-map M rule 10 set local-preference",
        ),
    ],
)
def test_values_of_policies_that_are_not_computed_are_noted(policy: str, path: str | None) -> None:
    process = "vrf: {default: {router: {bgp: {enable: on, autonomous-system: 1}}}}"
    body = f"{{router: {{policy: {{{policy}}}}}, {process}}}"
    notes = [note.message.split("`")[1] for note in read(state(body)).notes if note.kind == "unknown-line"]
    assert notes == ([f"router policy {path}"] if path else [])


@pytest.mark.parametrize(
    ("timers", "group", "own", "expected"),
    [
        ("hold: 30", "", "", 30),
        ("hold: none", "", "", 0),
        ("keepalive: 3", "", "", None),
        ("hold: 30", "timers: {hold: 20}", "", 20),
        ("hold: 30", "timers: {hold: 20}", "timers: {hold: 12}", 12),
        ("hold: 30", "", "timers: {hold: auto}", 30),
    ],
)
def test_a_process_states_the_hold_time_of_its_sessions(
    timers: str, group: str, own: str, expected: int | None
) -> None:
    found = device(
        f"""
vrf:
  default:
    router:
      bgp:
        autonomous-system: 65001
        enable: on
        timers: {{{timers}}}
        peer-group: {{SPINES: {{{group}}}}}
        neighbor:
          10.1.0.3: {{remote-as: 65003, type: numbered, peer-group: SPINES, {own}}}
"""
    )
    assert [one.hold_s for one in found.bgp.neighbors] == [expected]
