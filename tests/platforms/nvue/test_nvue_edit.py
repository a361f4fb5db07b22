"""Changes of the model in NVUE documents of others: what comes out when they are read again, and not a byte more."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.change import Change, EditResult
from nodrop.model.compare import differences
from nodrop.model.edit import set_value
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.qos import COLORS, PfcWatchdog, Scheduler, WredColor, WredProfile
from nodrop.model.routing import Redistribution
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject, subject_text
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.tree import comment_out_prompts
from nodrop.syntax.yaml_edit import EditableYamlNode, compose_yaml, node_to_data
from support.nvue_startup import FILE, NAME, read, state
from support.places import TESTS
from support.random_nvue import alone, devices

FULL = (TESTS / "platforms" / "nvue" / "full.yaml").read_text().replace("hostname: leaf1", f"hostname: {NAME}")
WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=800, restoration_ms=None, action=None)


def made(document: str, *changes: tuple[str, Any], old: Any = UNKNOWN) -> EditResult:
    wanted = [Change(subject=(NAME, *parse_subject(subject)), old=old, new=new) for subject, new in changes]
    return edit({FILE: document.encode()}, wanted, name=NAME)


def now(one: EditResult) -> str:
    return one.files[FILE].decode()


def commands(one: EditResult) -> list[str]:
    return one.forms["changes.nv"].splitlines()


OLD = """
interface:
  swp1-4:
    link:
      mtu: 9216   # jumbo
      state:
        up: {}
    qos:
      pfc:
        profile: far
    type: swp
qos:
  pfc:
    far:
      cable-length: 40
      switch-priority:
        '3': {}
  roce:
    enable: on
"""


@pytest.mark.parametrize(
    ("subject", "new", "lines"),
    [
        ("swp1/mtu_bytes", 1500, ["nv set interface swp1 link mtu 1500"]),
        ("swp1/enabled", False, ["nv set interface swp1 link state down"]),
        ("swp1/fec", "fc", ["nv set interface swp1 link fec baser"]),
        ("swp1/autoneg", False, ["nv set interface swp1 link auto-negotiate off"]),
        ("swp1/speed_mbps", 100_000, ["nv set interface swp1 link speed 100G"]),
        ("swp1/description", None, ["nv unset interface swp1 description"]),
        ("swp1/description", "it's on", ["nv set interface swp1 description 'it'\"'\"'s on'"]),
        ("swp1/vrf", None, ["nv unset interface swp1 ip vrf"]),
        ("swp1/addresses", ("10.1.0.0/31",), ["nv unset interface swp1 ip address 2001:db8::1/127"]),
        ("swp2/cable_length_m", 40, ["nv set qos pfc cable-30m cable-length 40"]),
        (
            "swp2/qos/pfc_watchdog",
            WATCHDOG,
            ["nv set interface swp2 qos pfc-watchdog state enable"],
        ),
        ("swp1/qos/pfc_watchdog", None, ["nv unset interface swp1 qos"]),
        (
            "@watchdog_polling_ms",
            100,
            ["nv set qos pfc-watchdog polling-interval 100", "nv set qos pfc-watchdog robustness 8"],
        ),
        (
            "swp2/qos/queues/1/wred/green/max_bytes",
            77777,
            ["nv set qos congestion-control early traffic-class 1 max-threshold 77777"],
        ),
        (
            "swp2/qos/queues/6/scheduler/peak_bytes_per_s",
            2_000_000_000,
            ["nv set qos egress-shaper capped traffic-class 6 max-rate 16000000"],
        ),
        ("swp2/link_pause", None, ["nv unset interface swp2 qos link-pause"]),
        (
            "swp*/qos/dscp_to_tc/26",
            4,
            ["nv set qos mapping default-global dscp 26 switch-priority 4"],
        ),
        ("swp*/qos/tc_to_dscp/3", 28, ["nv set qos remark default-global switch-priority 3 dscp 28"]),
        (
            "swp*/qos/queues/3/scheduler/weight",
            50,
            ["nv set qos egress-scheduler default-global traffic-class 3 bw-percent 50"],
        ),
        (
            "swp*/qos/tc_to_queue/5",
            6,
            ["nv set qos egress-queue-mapping default-global switch-priority 5 traffic-class 6"],
        ),
        ("@buffer_pools/ingress_lossy/percentage", 15, ["nv set qos traffic-pool default-lossy memory-percent 15"]),
        ("@hash_seed", 9, ["nv set system forwarding hash-seed 9"]),
        ("@mac_ageing_s", 600, ["nv set bridge domain br_default ageing 600"]),
        ("@nd_reachable_s", 60, ["nv set system global nd base-reachable-time 60"]),
        ("@hash_seed", None, ["nv unset system forwarding hash-seed"]),
        ("@gnmi_port", None, ["nv set system gnmi-server state disabled"]),
        ("@trimming/size_bytes", 256, ["nv set system forwarding packet-trim size 256"]),
        ("@trimming", None, ["nv set system forwarding packet-trim state disabled"]),
        ("@otlp_collectors", (), ["nv unset system telemetry export otlp grpc destination 192.0.2.30"]),
        (
            "@ntp_servers",
            ("192.0.2.10", "192.0.2.12"),
            ["nv unset service ntp mgmt server 192.0.2.11", "nv set service ntp mgmt server 192.0.2.12"],
        ),
        (
            "swp1/addresses",
            ("2001:db8::1/127", "10.1.0.0/31"),
            [
                "nv unset interface swp1 ip address 10.1.0.0/31",
                "nv unset interface swp1 ip address 2001:db8::1/127",
                "nv set interface swp1 ip address 2001:db8::1/127",
                "nv set interface swp1 ip address 10.1.0.0/31",
            ],
        ),
        ("@management", None, ["nv unset interface eth0"]),
        ("@management/gateway", None, ["nv unset interface eth0 ip gateway 192.0.2.254"]),
        (
            "@loopbacks/lo/addresses",
            ("10.0.0.1/32", "10.0.0.2/32"),
            ["nv set interface lo ip address 10.0.0.2/32"],
        ),
        ("@bgp/asn", 65009, ["nv set router bgp autonomous-system 65009"]),
        ("@bgp/graceful_shutdown", False, ["nv unset router bgp graceful-shutdown"]),
        ("@neighbors/swp2", None, ["nv unset vrf default router bgp neighbor swp2"]),
        (
            "@neighbors/10.1.0.1/remote_asn",
            65077,
            ["nv set vrf default router bgp neighbor 10.1.0.1 remote-as 65077"],
        ),
        (
            "@neighbors/10.1.0.1/enabled",
            False,
            ["nv set vrf default router bgp neighbor 10.1.0.1 shutdown on"],
        ),
        (
            "@bgp/redistributions",
            (Redistribution(source="connected", policy="IN"),),
            [
                "nv set vrf default router bgp address-family ipv4-unicast redistribute connected enable on",
                "nv set vrf default router bgp address-family ipv4-unicast redistribute connected route-map IN",
            ],
        ),
        (
            "@neighbors/10.1.0.1/ebgp_multihop",
            2,
            ["nv set vrf default router bgp neighbor 10.1.0.1 multihop-ttl 2"],
        ),
        (
            "@neighbors/10.1.0.1/update_source",
            "lo",
            ["nv set vrf default router bgp neighbor 10.1.0.1 update-source lo"],
        ),
        (
            "@bgp/always_compare_med",
            True,
            ["nv set vrf default router bgp path-selection med compare-always on"],
        ),
        ("@static_routes/10.2.0.0%2F24", None, ["nv unset vrf default router static 10.2.0.0/24"]),
    ],
)
def test_a_change_is_a_change_of_the_settings_that_say_it(subject: str, new: Any, lines: list[str]) -> None:
    one = made(FULL, (subject, new))
    assert one.by_hand == ()
    assert commands(one) == lines


def test_a_value_changes_in_its_own_place() -> None:
    one = made(state(OLD), ("swp*/mtu_bytes", 9000))
    assert now(one) == state(OLD).replace("mtu: 9216   # jumbo", "mtu: 9000   # jumbo")
    assert one.forms["changes.yaml"] == ("- set:\n    interface:\n      swp1-4:\n        link:\n          mtu: 9000\n")


def test_a_key_of_several_ports_is_taken_apart_where_some_change() -> None:
    one = made(state(OLD), ("swp2/mtu_bytes", 9000), ("swp4/mtu_bytes", 9000))
    assert commands(one) == ["nv set interface swp2,4 link mtu 9000"]
    assert now(one) == state(OLD).replace("swp1-4:", "swp1,3:").replace(
        "    type: swp\n",
        """    type: swp
      swp2,4:
        link:
          mtu: 9000
          state:
            up: {}
        qos:
          pfc:
            profile: far
        type: swp
""",
    )


def test_ports_that_have_keys_of_their_own_already_take_what_was_said_of_several() -> None:
    body = "interface:\n  swp1-2:\n    link:\n      mtu: 9000\n  swp1:\n    description: 'on'\n"
    one = made(state(body), ("swp1/mtu_bytes", 1500))
    wanted = (
        "interface:\n  swp2:\n    link:\n      mtu: 9000\n  swp1:\n    description: 'on'\n    link:\n      mtu: 1500\n"
    )
    assert now(one) == state(wanted)


def test_a_profile_that_all_its_users_change_is_changed_in_place() -> None:
    one = made(state(OLD), ("swp*/cable_length_m", 50))
    assert now(one) == state(OLD).replace("cable-length: 40", "cable-length: 50")


def test_what_the_switch_works_out_follows_and_is_told() -> None:
    one = made(FULL, ("swp2/cable_length_m", 40))
    assert {subject_text(change.subject[1:]) for change in one.follows} == {
        "swp2/qos/priority_groups/3/buffer/size_bytes",
        "swp2/qos/priority_groups/3/buffer/headroom/xoff_bytes",
    }


def test_a_profile_is_copied_where_others_keep_it() -> None:
    one = made(state(OLD), ("swp1/cable_length_m", 50))
    assert commands(one) == [
        "nv set qos pfc far_2 rx enable",
        "nv set qos pfc far_2 tx enable",
        "nv set qos pfc far_2 switch-priority 3",
        "nv set qos pfc far_2 cable-length 50",
        "nv set interface swp1 qos pfc profile far_2",
    ]
    again = edit({FILE: one.files[FILE]}, [Change(subject=(NAME, "swp2", "cable_length_m"), old=40, new=50)])
    assert commands(again) == ["nv set interface swp2 qos pfc profile far_2"]


def test_an_unused_profile_with_the_wanted_settings_is_bound_and_not_copied() -> None:
    spare = """    spare:
      cable-length: 50
      rx: enable
      switch-priority:
        '3': {}
      tx: enable
"""
    document = OLD.replace("    far:\n", f"{spare}    far:\n")
    bound = commands(made(state(document), ("swp1/cable_length_m", 50)))
    assert bound == ["nv set interface swp1 qos pfc profile spare"]
    copied = commands(
        made(state(document.replace("cable-length: 50", "cable-length: 60")), ("swp1/cable_length_m", 50))
    )
    assert copied[-1] == "nv set interface swp1 qos pfc profile far_2"


SCRIPT = """# what the owner typed
nv set interface swp1-4 link mtu 9216
nv set interface swp1-4 link speed 400G && nv set interface swp1-4 type swp
nv set qos roce   # the macro
nv set interface swp1 ip address 10.0.0.0/31
nv set interface swp2 description 'the second'
nv set service ntp mgmt server 192.0.2.1
nv config apply -y
"""


@pytest.mark.parametrize(
    ("subject", "new", "old_lines", "new_lines"),
    [
        ("swp*/mtu_bytes", 1500, "swp1-4 link mtu 9216", "swp1-4 link mtu 1500"),
        (
            "swp1/mtu_bytes",
            1500,
            "nv set interface swp1-4 link mtu 9216\n",
            "nv set interface swp2-4 link mtu 9216\nnv set interface swp1 link mtu 1500\n",
        ),
        (
            "swp3/speed_mbps",
            200_000,
            "swp1-4 link speed 400G && nv set interface swp1-4 type swp\n",
            "swp1-2,4 link speed 400G && nv set interface swp1-4 type swp\nnv set interface swp3 link speed 200G\n",
        ),
        ("swp1/addresses", (), "nv set interface swp1 ip address 10.0.0.0/31\n", ""),
        ("swp2/description", None, "nv set interface swp2 description 'the second'\n", ""),
        ("swp2/description", "x y", "'the second'", "'x y'"),
        ("swp1/enabled", False, "type swp\nnv set qos", "type swp\nnv set interface swp1 link state down\nnv set qos"),
        (
            "@ntp_servers",
            ("192.0.2.1", "192.0.2.2"),
            "192.0.2.1\n",
            "192.0.2.1\nnv set service ntp mgmt server 192.0.2.2\n",
        ),
    ],
)
def test_commands_change_in_their_lines(subject: str, new: Any, old_lines: str, new_lines: str) -> None:
    one = made(SCRIPT, (subject, new))
    assert one.by_hand == ()
    assert now(one) == SCRIPT.replace(old_lines, new_lines)


def test_what_a_later_line_takes_back_is_said_at_the_end() -> None:
    script = "nv set interface swp1 link mtu 9000\nnv unset interface swp1 link mtu\nnv set interface swp1 type swp\n"
    one = made(script, ("swp1/mtu_bytes", 1500))
    assert now(one) == f"{script}nv set interface swp1 link mtu 1500\n"


@pytest.mark.parametrize(
    ("subject", "new", "disruption", "affected"),
    [
        ("swp1/speed_mbps", 100_000, "port bounce", ("swp1",)),
        ("swp1/enabled", False, "port bounce", ("swp1",)),
        ("swp1/mtu_bytes", 1500, "none", ()),
        ("@hash_seed", 9, "port bounce", ("swp1", "swp2", "swp3s0", "swp3s1")),
        ("swp2/cable_length_m", 40, "service restart", ("switchd",)),
        ("@bgp/asn", 65009, "service restart", ("bgp",)),
        ("@ntp_servers", (), "none", ()),
    ],
)
def test_steps_tell_what_they_do_to_the_switch(
    subject: str, new: Any, disruption: str, affected: tuple[str, ...]
) -> None:
    one = made(FULL, (subject, new))
    assert one.disruption == disruption
    assert one.steps[0].affected == affected
    assert bool(one.steps[0].reason) == bool(affected)


@pytest.mark.parametrize(
    ("subject", "new", "why"),
    [
        ("@role", "leaf", "NVUE has no field for a switch's place in the fabric"),
        ("swp1/side", "host", "what is at the far end of a cable is stated context"),
        ("@version", "5.16", "it is the release that is installed, not a setting"),
        ("swp9/mtu_bytes", 1500, "there is no `swp9` (did you mean `swp1` or `swp2`?)"),
        (
            "swp1/qos/tc_to_queue/5",
            6,
            f"{NAME}/swp2/qos/tc_to_queue/5 would be `6`, not `0`",
        ),
        (
            "swp1/qos/queues/0/buffer/dynamic_th",
            2,
            "nodrop does not write it; NVUE takes it for the whole switch, `nv set qos advance-buffer-config "
            "default-global egress-lossy-buffer traffic-class <tc>` and `egress-lossless-buffer`",
        ),
        (
            "swp1/qos/priority_groups/0/buffer/size_bytes",
            9216,
            "nodrop does not write it; NVUE takes it for the whole switch, `nv set qos advance-buffer-config "
            "default-global ingress-lossy-buffer priority-group <group>` and `ingress-lossless-buffer`",
        ),
    ],
)
def test_what_cannot_be_spelt_is_left_to_be_done_by_hand(subject: str, new: Any, why: str) -> None:
    one = made(FULL, (subject, new), ("swp2/mtu_bytes", 1500))
    assert [item.line for item in one.by_hand] == [f"{NAME}/{subject}: {why}"]
    assert commands(one) == ["nv set interface swp2 link mtu 1500"]


NEW = """
interface:
  swp1,3-5:
    link:
      speed: 400G
    qos:
      pfc-watchdog:
        state: enable
    type: swp
  swp2s0-3:
    type: swp
  swp2:
    link:
      breakout: {4x: {lanes-per-port: '2'}}
    type: swp
qos:
  pfc-watchdog:
    polling-interval: 200
    recovery-interval: 3
    robustness: 2
  roce:
    state: enabled
router:
  bgp:
    autonomous-system: 65001
    state: enabled
vrf:
  default:
    router:
      bgp:
        peer-group:
          up: {remote-as: external}
        neighbor:
          swp1: {peer-group: up, type: unnumbered}
        state: enabled
"""


@pytest.mark.parametrize(
    ("subject", "new", "lines"),
    [
        ("swp4/autoneg", False, ["nv set interface swp4 link auto-negotiate disabled"]),
        (
            "swp4/addresses",
            ("10.0.0.1/31", "2001:db8::1/64"),
            ["nv set interface swp4 ipv4 address 10.0.0.1/31", "nv set interface swp4 ipv6 address 2001:db8::1/64"],
        ),
        ("swp4/vrf", "red", ["nv set interface swp4 vrf red"]),
        ("swp2s1/mtu_bytes", 1500, ["nv set interface swp2s1 link mtu 1500"]),
        ("swp*/qos/pfc_watchdog/restoration_ms", 1000, ["nv set qos pfc-watchdog recovery-interval 5"]),
        (
            "@watchdog_polling_ms",
            100,
            [
                "nv set qos pfc-watchdog polling-interval 100",
                "nv set qos pfc-watchdog robustness 4",
                "nv set qos pfc-watchdog recovery-interval 6",
            ],
        ),
        (
            "@watchdog_conditions/queue_percent",
            10,
            [
                "nv set qos pfc-watchdog transmit-queue-threshold percent 10",
                "nv set qos pfc-watchdog transmit-queue-threshold state enabled",
            ],
        ),
        ("@watchdog_conditions/sent_frames", None, ["nv set qos pfc-watchdog tx-frames-threshold state disabled"]),
        ("@watchdog_conditions/recovery_pause_frames", 5, ["nv set qos pfc-watchdog rx-pause-threshold 5"]),
        ("@snmp_location", "hall 2, on", ["nv set system snmp-server system-location 'hall 2, on'"]),
        ("@bgp/graceful_shutdown", True, ["nv set router bgp graceful-shutdown enabled"]),
        (
            "@neighbors/swp1/bfd",
            True,
            [
                "nv set router bfd profile fabric",
                "nv set router bfd state enabled",
                "nv set vrf default router bgp neighbor swp1 bfd profile fabric",
            ],
        ),
        ("@dns_servers", ("192.0.2.1",), ["nv set system dns server 192.0.2.1 vrf default"]),
        ("@ntp_servers", ("192.0.2.1",), ["nv set system ntp server 192.0.2.1", "nv set system ntp vrf default"]),
    ],
)
def test_the_dialect_since_5_15(subject: str, new: Any, lines: list[str]) -> None:
    document = state(NEW, version="5.19.0")
    one = made(document, (subject, new))
    assert one.by_hand == ()
    assert commands(one) == lines


def test_thresholds_that_do_not_count_go_with_the_mode() -> None:
    def wred(**thresholds: int) -> WredProfile:
        color = WredColor(probability_percent=100, enabled=False, **thresholds)  # type: ignore[arg-type]
        return WredProfile(ecn_colors=COLORS, green=color, yellow=color, red=color)

    path = "qos congestion-control default-global traffic-class 3"
    body = "      traffic-class:\n        '3':\n          min-threshold: 5000\n          max-threshold: 9000\n"
    in_bytes = state(
        f"interface:\n  swp1: {{type: swp}}\nqos:\n  congestion-control:\n    default-global:\n{body}  roce: {{}}"
    )
    document = in_bytes.replace("5.14.0", "5.17.0").replace("SN4700", "SN5600")
    one = made(document, ("swp1/qos/queues/3/wred", wred(min_percent=20, max_percent=80)))
    assert one.by_hand == ()
    assert commands(one) == [
        f"nv unset {path} max-threshold",
        f"nv unset {path} min-threshold",
        f"nv set {path} max-threshold-percent 80",
        f"nv set {path} min-threshold-percent 20",
        f"nv set {path} mode relative",
    ]
    back = made(one.files[FILE].decode(), ("swp1/qos/queues/3/wred", wred(min_bytes=5000, max_bytes=9000)))
    assert back.by_hand == ()
    assert commands(back) == [
        f"nv unset {path} max-threshold-percent",
        f"nv unset {path} min-threshold-percent",
        f"nv unset {path} mode",
        f"nv set {path} max-threshold 9000",
        f"nv set {path} min-threshold 5000",
    ]


BRIDGED = """
bridge:
  domain:
    br_default:
      type: vlan-aware
      vlan:
        10,20: {}
interface:
  bond1:
    bond:
      lacp-rate: slow
      member:
        swp1-2: {}
      mode: lacp
    link:
      mtu: 9000
      state: up
    type: bond
  swp1-4:
    type: swp
  swp3-4:
    bridge:
      domain:
        br_default:
          access: 10
  vlan10:
    ipv4:
      address:
        10.0.0.1/24: {}
    link:
      mtu: 9000
      state: up
    type: svi
    vlan: 10
"""


@pytest.mark.parametrize(
    ("subject", "new", "lines"),
    [
        ("@port_channels/bond1/members", ("swp1",), ["nv unset interface bond1 bond member swp2"]),
        ("@port_channels/bond1/fast_rate", True, ["nv set interface bond1 bond lacp-rate fast"]),
        ("@port_channels/bond1", None, ["nv unset interface bond1"]),
        ("@vlans/20", None, ["nv unset bridge domain br_default vlan 20"]),
        (
            "@vlans/10/members/swp4",
            None,
            ["nv unset interface swp4 bridge domain br_default"],
        ),
        (
            "@vlans/10/addresses",
            ("10.0.0.1/24", "2001:db8::1/64"),
            ["nv set interface vlan10 ipv6 address 2001:db8::1/64"],
        ),
    ],
)
def test_bonds_and_vlans(subject: str, new: Any, lines: list[str]) -> None:
    one = made(state(BRIDGED, version="5.16.0"), (subject, new))
    assert one.by_hand == ()
    assert commands(one) == lines


def test_faults_of_a_document_stay_its_own() -> None:
    body = "interface:\n  swp1-4:\n    invented: 1\n    type: swp\n  swp9s0-1:\n    type: swp\n"
    one = made(state(body), ("swp1/mtu_bytes", 1500), ("swp9s0/mtu_bytes", 1500))
    assert one.by_hand == ()
    assert commands(one) == ["nv set interface swp1,swp9s0 link mtu 1500"]


def test_a_document_that_says_something_else_than_was_thought_is_left_alone() -> None:
    one = made(FULL, ("swp1/mtu_bytes", 9216), old=1500)
    assert [item.line for item in one.by_hand] == [
        f"{NAME}/swp1/mtu_bytes: it is `9000`, not `1500`, for which the change was made"
    ]
    assert one.files == {}


def test_a_file_that_cannot_be_read_is_a_problem() -> None:
    with pytest.raises(InputProblems):
        made("- set: [", ("swp1/mtu_bytes", 9216))


def test_the_platform_is_asked_for_its_editor() -> None:
    one = platforms.find_editor("nvue")
    assert one is not None
    assert one.edit({FILE: FULL.encode()}, [], name=NAME) == EditResult()


LAYOUTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda document: document,
    "with CR LF": lambda document: document.replace("\n", "\r\n"),
    "with a byte order mark": lambda document: "\ufeff" + document,
    "with remarks": lambda document: "".join(f"{line}  # {at}\n" for at, line in enumerate(document.splitlines())),
    "without its last line break": lambda document: document.rstrip("\n"),
    "as a session": lambda document: f"cumulus@{NAME}:mgmt:~$ nv config show\n{document}",
    "in braces": lambda document: _in_braces(document, None),
    "in braces by lines": lambda document: _in_braces(document, 2),
    "as a patch": lambda document: f"{document}- unset:\n    system:\n      hostname: {{}}\n",
}


def _in_braces(document: str, indent: int | None) -> str:
    """The document as JSON."""
    return json.dumps(node_to_data(compose_yaml(document)), indent=indent).replace(": null", ": {}") + "\n"


CATALOGUE: list[tuple[str, list[Any]]] = [
    ("{port}/mtu_bytes", [1500, 9000, 9216]),
    ("{port}/enabled", [True, False]),
    ("{port}/fec", ["rs", "none", "auto"]),
    ("{port}/autoneg", [True, False]),
    ("{port}/description", ["on", "it's: #1", None]),
    ("{port}/addresses", [(), ("10.9.0.0/31",)]),
    ("{port}/vrf", [None, "blue"]),
    ("{port}/cable_length_m", [5, 40, 300]),
    ("{port}/qos/pfc_rx_priorities", [(), (3,), (3, 4)]),
    ("{port}/qos/pfc_watchdog", [None]),
    ("{port}/qos/trust", ["dscp", "pcp", "both", None]),
    ("{port}/qos/dscp_to_tc/26", [3, 4]),
    ("{port}/qos/queues/3/wred/green/max_bytes", [1_500_000, 2_097_152]),
    ("{port}/qos/queues/3/wred", [None]),
    ("{port}/qos/queues/0/scheduler", [Scheduler(type="strict"), Scheduler(type="dwrr", weight=14)]),
    ("@hash_seed", [None, 0, 77]),
    ("@mac_ageing_s", [None, 0, 600]),
    ("@hash_fields", [None, ("dst-ip", "src-ip"), ("in-port", "l4-src-port")]),
    ("@arp_reachable_s", [None, 300]),
    ("@nd_reachable_s", [None, 300]),
    ("@ntp_servers", [(), ("192.0.2.1", "192.0.2.2")]),
    ("@gnmi_port", [None, 50051]),
    ("@bgp/asn", [65111]),
    ("@bgp/router_id", ["10.9.9.9"]),
]
CHANGES = st.sampled_from(CATALOGUE).flatmap(lambda one: st.tuples(st.just(one[0]), st.sampled_from(one[1])))
OF_SCRIPTS = ("as it is", "with CR LF", "with a byte order mark", "without its last line break")
FOLLOWS = (
    "priority_groups", "tc_to_priority_group", "pfc_to_priority_group", "pfc_to_queue", "pfc_tx_priorities", "buffer",
    "cable_length_m", "priorities", "dscp_to_tc", "pcp_to_tc", "@buffer_pools", "@dynamic_buffers",
    "@watchdog_polling_ms", "yellow", "red", "speed_mbps",
)  # fmt: skip
"""Fields that may change with the changed one: NVUE computes them, has one word for both, or needs them only where a
port is up."""


def written(device: Device, form: str) -> str:
    """What nodrop writes of a device, as the whole configuration or as commands."""
    artifacts = {one.path: one.text for one in platforms.writer_of_platform("nvue").write(device, Index(alone(device)))}
    if form == "yaml":
        return artifacts[FILE]
    return "".join(artifacts[path] for path in sorted(artifacts) if path.endswith(".nv"))


def documents(draw: st.DrawFn) -> tuple[str, str]:
    """A document and its form: one made by hand, or a random device's."""
    kind = draw(st.sampled_from(["by hand", "since 5.15", "script by hand", "yaml", "script"]))
    if kind in ("by hand", "since 5.15"):
        return FULL if kind == "by hand" else state(NEW, version="5.19.0"), "yaml"
    if kind == "script by hand":
        return SCRIPT, "script"
    device = draw(devices())
    return written(device, kind), kind


@given(st.data())
@pytest.mark.nightly
def test_any_document_takes_any_changes_and_nothing_else(data: st.DataObject) -> None:
    document, form = documents(data.draw)
    layouts = [name for name in LAYOUTS if form == "yaml" or name in OF_SCRIPTS]
    layout = data.draw(st.sampled_from(layouts))
    document = LAYOUTS[layout](document)
    before = read(document)
    ports = [port.name for port in before.device.interfaces]
    some = st.tuples(CHANGES, st.sampled_from(ports))
    drawn = data.draw(st.lists(some, min_size=1, max_size=6, unique_by=lambda one: (one[0][0], one[1])))
    changes = list({subject.format(port=port): value for (subject, value), port in drawn}.items())
    name = before.device.name
    one = edit(
        {FILE: document.encode()}, [Change(subject=(name, *parse_subject(s)), old=UNKNOWN, new=v) for s, v in changes]
    )
    refused = {subject_text(item.change.subject[1:]) for item in one.by_hand}
    for item in one.by_hand:
        assert any(why in item.line for why in (" has no `", "there is no `", " would be ", "not known")), item.line
    after = now(one) if one.files else document
    kept = [(subject, value) for subject, value in changes if subject not in refused]
    _compare(before.device, read(after).device, kept, one)
    if layout.startswith("in braces"):
        json.loads(after)
        return
    _compare_forms(document, after, one, form)
    if form == "yaml":
        _compare_bytes(document, after)


def _compare(old: Device, new: Device, changes: Sequence[tuple[str, Any]], one: EditResult) -> None:
    fabric = Fabric(name="", mode="lossless", devices=(old,))
    for subject, value in changes:
        fabric = set_value(fabric, (old.name, *parse_subject(subject)), value)
    told = {change.subject for change in one.follows}
    for found in differences(fabric.devices[0], new):
        area, *rest = found.path
        subject = (old.name, *rest) if area == "interfaces" else (old.name, f"@{area}", *rest)
        assert any(word in subject for word in FOLLOWS), f"{subject_text(subject)}: {found}"
        assert subject in told or "dscp_to_tc" in subject or "pcp_to_tc" in subject, subject_text(subject)


def _compare_forms(document: str, after: str, one: EditResult, form: str) -> None:
    """The document with the other forms behind it says the same as the document that was changed."""
    if not one.files:
        return
    said = read(after).device
    rest = document if document.endswith("\n") else f"{document}\n"
    added = one.forms["changes.yaml"] if form == "yaml" else one.forms["changes.nv"]
    found = list(differences(said, read(rest + added).device))
    assert not found, f"{found[0]}\n{added}"


def _compare_bytes(document: str, after: str) -> None:
    """Every line whose path and value are still there is there as it was."""
    old, new = _lines(document), _lines(after)
    for path in old.keys() & new.keys():
        if old[path][0] == new[path][0]:
            assert old[path][1] == new[path][1], path


def _lines(document: str) -> dict[tuple[Any, ...], tuple[Any, str]]:
    found: dict[tuple[Any, ...], tuple[Any, str]] = {}
    body = comment_out_prompts(document.removeprefix("\ufeff"))

    def walk(node: EditableYamlNode, path: tuple[Any, ...]) -> None:
        for at, item in enumerate(node.items):
            walk(item, (*path, at))
        for entry in node.entries or ():
            assert entry.start is not None
            line = body[body.rfind("\n", 0, entry.start) + 1 :].partition("\n")[0]
            said = node_to_data(entry.value) if not entry.value.entries else None
            found[*path, entry.key] = said, line.strip("\r :")
            walk(entry.value, (*path, entry.key))

    walk(compose_yaml(body), ())
    return found


def test_what_stands_behind_a_key_stays_when_all_below_it_is_new() -> None:
    link = "ip:  # of the link\n      address:  # only one\n        10.0.0.0/31: {}"
    body = f"interface:\n  swp1:\n    {link}\n    type: swp"
    one = made(state(body), ("swp1/addresses", ("10.9.0.0/31",)))
    assert one.by_hand == ()
    assert one.files[FILE].decode() == state(body.replace("10.0.0.0", "10.9.0.0"))
    one = made(state(body), ("swp1/addresses", ()))
    kept = "interface:\n  swp1:\n    type: swp"
    assert one.files[FILE].decode() == state(kept)


GROUPED = """
- header:
    nvue-api-version: nvue_v1
- set:
    router:
      bgp: {autonomous-system: 65001, enable: on}
    vrf:
      default:
        router:
          bgp:
            enable: on
            peer-group:
              SPINES:
                remote-as: 65100
                bfd: {enable: on}
            neighbor:
              10.1.0.1: {peer-group: SPINES, type: numbered}
              10.1.0.3: {peer-group: SPINES, type: numbered}
"""


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (
            {"10.1.0.1/remote_asn": 65101, "10.1.0.3/remote_asn": 65101},
            ["set vrf default router bgp peer-group SPINES remote-as 65101"],
        ),
        ({"10.1.0.1/remote_asn": 65101}, ["set vrf default router bgp neighbor 10.1.0.1 remote-as 65101"]),
        (
            {"10.1.0.1/bfd": False},
            [
                "unset vrf default router bgp peer-group SPINES bfd",
                "set vrf default router bgp neighbor 10.1.0.3 bfd enable on",
            ],
        ),
        (
            {"10.1.0.1/bfd": False, "10.1.0.3/bfd": False},
            ["unset vrf default router bgp peer-group SPINES bfd"],
        ),
    ],
)
def test_settings_of_a_peer_group(changes: dict[str, object], lines: list[str]) -> None:
    one = made(GROUPED, *((f"@neighbors/{subject}", value) for subject, value in changes.items()))
    assert one.by_hand == ()
    assert commands(one) == [f"nv {line}" for line in lines]


def test_a_pfc_profile_without_a_cable_length_has_no_length_in_its_name() -> None:
    lossy = OLD[: OLD.index("    qos:\n      pfc")] + "    type: swp\nqos:\n  roce:\n    enable: on\n    mode: lossy\n"
    changes = [(f"swp1/qos/pfc_{way}_priorities", (3,)) for way in ("rx", "tx")]
    lines = commands(made(state(lossy), *changes, old=()))
    assert "nv set interface swp1 qos pfc profile pfc-on" in lines
    assert not [line for line in lines if "None" in line]
