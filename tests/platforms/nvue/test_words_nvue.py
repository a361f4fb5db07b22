"""Words of system, service, evpn, nve vxlan, vrf and interfaces: invented ones are found, documented ones are known."""

import pytest

from nodrop.platforms.nvue.releases import RELEASES
from support.nvue_startup import read, state


def found(script: str) -> list[tuple[str, int, str]]:
    """Kind, line, and the facts in one text."""
    remarks = read(script).remarks
    return [(one.kind, one.place.span.line if one.place else 0, " | ".join(one.facts.values())) for one in remarks]


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        ("system ntp-server 192.0.2.1", "system | ntp-server | there is `system ntp server`"),
        ("system dns-server 192.0.2.1", "system | dns-server | there is `system dns server`"),
        ("system snmp state enabled", "system | snmp | did you mean `snmp-server`?"),
        ("system roce mode lossless", "system | roce | there is `qos roce`"),
        ("system clock utc", "system | clock | there is `system date-time`"),
        ("system telemetry otlp state enabled", "system telemetry | otlp | there is `system telemetry export otlp`"),
        (
            "system telemetry export grpc insecure enabled",
            "system telemetry export | grpc | there is `system telemetry export otlp grpc`",
        ),
        ("service ntp-server 192.0.2.1", "service | ntp-server | there is `service ntp`"),
        ("service bgp state enabled", "service | bgp | there is `router bgp`"),
        ("evpn vni-map 10", "evpn | vni-map | there is `evpn vni`"),
        ("evpn l2vni 10", "evpn | l2vni | did you mean `vni`?"),
        ("evpn vlan 10 vni 10010", "evpn | vlan | there is `bridge domain <bridge> vlan <vlan> vni`"),
        ("nve vxlan vni 10", "nve vxlan | vni | there is `bridge domain <bridge> vlan <vlan> vni`"),
        ("nve vxlan vlan 10 vni 10", "nve vxlan | vlan | there is `bridge domain <bridge> vlan <vlan> vni`"),
        ("vrf default router-id 10.0.0.1", "vrf default | router-id | there is `vrf <vrf> router bgp router-id`"),
        ("vrf red vni 4001", "vrf red | vni | there is `vrf <vrf> evpn vni`"),
        (
            "vrf default loopback address 10.0.0.1/32",
            "vrf default loopback | address | there is `vrf <vrf> loopback ip address`",
        ),
        (
            "interface swp1 lldp dcbx on",
            "interface swp1 lldp | dcbx | did you mean `dcbx-pfc-tlv` or `dcbx-ets-config-tlv` or "
            "`dcbx-ets-recomm-tlv`?",
        ),
        ("interface swp1 ip mtu 9000", "interface swp1 ip | mtu | there is `interface <interface> link mtu`"),
        ("interface swp1 ipv4 mtu 9000", "interface swp1 ipv4 | mtu | there is `interface <interface> link mtu`"),
        (
            "interface swp1 telemetry otlp state enabled",
            "interface swp1 telemetry | otlp | known: bw-gauge, congestion-event, hft, histogram, label",
        ),
        (
            "interface swp1 telemetry histogram latncy x",
            "interface swp1 telemetry histogram | latncy | did you mean `latency`?",
        ),
    ],
)
def test_an_invented_command_is_found_with_the_nearest_path(command: str, facts: str) -> None:
    assert found(f"nv set system hostname sw1\nnv set {command}\n") == [("unknown-setting", 2, facts)]


OLD = """
evpn enable on
evpn mac-vrf-soo 10.0.1.12:10
evpn multihoming segment df-preference 50000
interface eth0 ip address dhcp
interface eth0 ip vrf mgmt
interface swp1 ip igmp version 3
interface swp1 ip ipv4 forward on
interface swp1 ip ipv6 enable off
interface swp1 ip neighbor-discovery enable on
interface swp1 ip vrrp virtual-router 44 priority 254
interface swp1 lldp application-tlv app iSCSI
interface swp1 lldp dcbx-pfc-tlv on
interface swp1 lldp state enabled
interface swp1 neighbor ipv4 10.0.0.1 lladdr 00:00:5e:00:53:51
interface swp1 telemetry bw-gauge enable on
interface swp1 telemetry histogram egress-buffer traffic-class 0 threshold action log
interface vlan10 ip vrr state up
nve vxlan ageing 300
nve vxlan arp-nd-suppress on
nve vxlan encapsulation dscp action derive
service control ntp resource-limit memory 64
service dhcp-relay mgmt server 192.0.2.1
service dhcp-server mgmt pool 192.0.2.0/24 lease-time 200
service ntp mgmt listen eth0
service ptp 1 enable on
service snmp-server enable on
service syslog mgmt server 192.0.2.1 port 514
system aaa authentication-order 1 local
system acl mode atomic
system cli inactive-timeout 300
system cli pagination pager more
system config auto-save state enabled
system control-plane policer acl-log burst 1000
system counter polling-interval logical-interface 20
system dot1x radius server 192.0.2.1 priority 1
system forwarding ecmp-weight-normalisation mode enabled
system forwarding host-route-preference route
system global anycast-id 255
system global anycast-mac 44:38:39:ff:00:ff
system global reserved vlan internal range 4064-4094
system global svi-force-up enable on
system link flap-protection interval 10
system message pre-login hello
system nat mode dynamic
system port-mirror session 1 span direction ingress
system reboot mode cold
system security password-hardening state enabled
system synce enable on
system telemetry adaptive-routing-stats export state enabled
system telemetry histogram counter sample-interval 1024
system telemetry snapshot-interval 10
system timezone Etc/Zulu
system wjh channel forwarding trigger l2
vrf RED loopback ip address 10.1.1.1/32
vrf RED ptp enable on
vrf RED table auto
"""
NEW = """
bridge default-vlan 1
evpn l3vxi state enabled
evpn state enabled
interface eth0 ipv4 dhcp-client set-hostname enabled
interface eth0 vrf mgmt
interface swp1 ipv4 igmp version 3
interface swp1 ipv6 neighbor-discovery state enabled
interface swp1 latency-measurement traffic-class 3 protocol 1 dscp 26
interface swp1 link-tracking group 1
interface swp1 lldp tlv profile p
interface swp1 security ip-source-guard state enabled
interface swp1 telemetry congestion-event egress-buffer traffic-class 3 buffer-threshold 1000
interface swp1 telemetry hft state enabled
interface swp1 telemetry label rail description one
nve vxlan state enabled
service dhcp-relay mgmt server-group g server 192.0.2.1
system api compression gzip
system dns search example.com
system dns server 192.0.2.1 vrf mgmt
system do-spx profile leaf uplink swp1-32 breakout 4x
system docker vrf mgmt
system forwarding resource-mode x
system global icmp ipv4 errors-extension ingress-interface enabled
system grpc-tunnel server one state enabled
system link-tracking state enabled
system lldp tx-interval 30
system log secured-logs state enabled
system packages use-vrf mgmt
system serial-console sysrq-capabilities x
system sflow collector 192.0.2.1 port 6343
system snmp-server state enabled
system ssh-server pka-only enabled
system syslog server 192.0.2.1 vrf mgmt
system tech-support auto-generation state enabled
system telemetry ai-ethernet-stats export state enabled
system telemetry export ipfix port 4739
system telemetry export otlp grpc destination 192.0.2.1 stats-group g
system telemetry hft export ipfix state enabled
system telemetry metric-list m metric x
system telemetry platform-stats class transceiver-info state enabled
system telemetry stats-group g buffer-stats export state enabled
system ztp wall-messages enabled
vrf RED dhcp-server-v4 subnet 192.0.2.0/24 lease-time 200
vrf RED router bgp plane-id 1
"""


@pytest.mark.parametrize("commands", [OLD, NEW])
def test_a_command_of_the_reference_is_known(commands: str) -> None:
    script = "\n".join(f"nv set {line}" for line in commands.strip().splitlines())
    assert [one for one in found(script) if one[0] == "unknown-setting"] == []


@pytest.mark.parametrize(
    ("body", "line", "path", "releases"),
    [
        ("telemetry: {metric-list: {m: {}}}", 2, "system telemetry metric-list", "5.17 and later"),
        ("do-spx: {profile: {leaf: {}}}", 2, "system do-spx", "5.18 and later"),
        (
            "telemetry: {adaptive-routing-stats: {sample-interval: 5}}",
            2,
            "system telemetry adaptive-routing-stats",
            "5.13",
        ),
    ],
)
def test_words_of_other_releases_are_told_with_theirs(body: str, line: int, path: str, releases: str) -> None:
    ((kind, at, facts),) = found(state(f"system:\n  {body}", "5.16.0", "SN5600"))
    assert (kind, at - 6, facts.split(" | ")[:2]) == ("setting-of-another-release", line, [path, releases])


def test_dns_servers_are_of_5_11_a_domain_of_5_14_and_the_search_list_of_5_15() -> None:
    body = "system:\n  dns: {domain: example.com, server: {192.0.2.1: {}}, search: {example.com: {}}}"
    told = {release: [facts for _, _, facts in found(state(body, f"{release}.0", "SN5600"))] for release in RELEASES}
    paths = {release: [facts.split(" | ")[0] for facts in rows] for release, rows in told.items()}
    assert paths["5.10"] == ["system dns", "system dns domain", "system dns search"]
    assert paths["5.11"] == ["system dns domain", "system dns search"]
    assert paths["5.14"] == ["system dns search"]
    assert paths["5.15"] == []
