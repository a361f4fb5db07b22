"""Single faults of routing, to be put into sound configurations: what is changed, and which rule catches it where."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import nodrop
from nodrop import platforms
from nodrop.engine.rules import shipped_rules as rules
from nodrop.engine.verdicts import judge
from nodrop.locate import add_finding_places
from nodrop.model.fabric import Fabric
from nodrop.platforms.kit.artifact import Artifact
from support.designs import build, shipped

NVUE = {
    "topology.spines.platform": "nvue",
    "topology.spines.version": "5.16",
    "topology.leaves.platform": "nvue",
    "topology.leaves.version": "5.16",
}
BASES = {
    "numbered": ("two-by-two", {}),
    "unnumbered": ("unnumbered", {}),
    "dual": ("dual-stack", {}),
    "nvue": ("two-by-two", NVUE),
}
Place = tuple[str, str, str]
"""Rule, file and the text of the line."""


@dataclass(frozen=True)
class Fault:
    """A fault: lines of files to change, as (file, regular expression, replacement), and where it is caught."""

    says: str
    edits: tuple[tuple[str, str, str], ...]
    caught: tuple[Place, ...]
    besides: tuple[str, ...] = ()
    """Other rules that speak, for it has several sides."""
    base: str = "numbered"


@cache
def base(name: str) -> tuple[Fabric, tuple[Artifact, ...]]:
    """Return a sound fabric and its files."""
    intent, changes = BASES[name]
    fabric = build(shipped(intent, changes))
    return fabric, tuple(nodrop.write(fabric))


def name_of(artifact: Artifact) -> str:
    return f"{artifact.device}/{artifact.path}" if artifact.device else artifact.path


def edited(fault: Fault) -> tuple[Fabric, tuple[Artifact, ...]]:
    """Return the fabric that was sound, and its files with the fault in them."""
    fabric, artifacts = base(fault.base)
    texts = {name_of(one): one.text for one in artifacts}
    for file, pattern, replacement in fault.edits:
        texts[file], count = re.subn(pattern, replacement, texts[file], flags=re.MULTILINE)
        assert count, (file, pattern)
    return fabric, tuple(replace(one, text=texts[name_of(one)]) for one in artifacts)


def found(fault: Fault) -> Iterator[Place]:
    """Yield what is found, by all rules of this release."""
    fabric, artifacts = edited(fault)
    texts = {name_of(one): one.text for one in artifacts}
    reading = nodrop.read_back(artifacts, fabric)
    assert reading.problems == ()
    verdict = judge(reading, rules())
    assert verdict.problems == ()
    for one in add_finding_places(verdict.findings, reading, platforms.make_place_finder).findings:
        assert one.located is not None, one.rule
        assert one.located.span is not None, one.rule
        file = one.located.file
        yield one.rule, file, texts[file].split("\n")[one.located.span.line - 1].strip()


FAULTS: tuple[Fault, ...] = (
    Fault(
        says="another AS number is expected than the neighbor has",
        edits=(("leaf1/frr.conf", r"10\.1\.1\.225 remote-as \d+", "10.1.1.225 remote-as 4200000009"),),
        caught=(("session-with-wrong-asn", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000009"),),
    ),
    Fault(
        says="a spine has another AS number than the leaves expect",
        edits=(("spine1/frr.conf", "^router bgp 4200000000", "router bgp 4200000009"),),
        caught=(("session-with-wrong-asn", "spine1/frr.conf", "router bgp 4200000009"),),
    ),
    Fault(
        says="another AS number is expected over an interface",
        base="unnumbered",
        edits=(("leaf1/frr.conf", r"Ethernet224 interface remote-as \d+", "Ethernet224 interface remote-as 65000"),),
        caught=(("session-with-wrong-asn", "leaf1/frr.conf", "neighbor Ethernet224 interface remote-as 65000"),),
    ),
    Fault(
        says="the spine has no neighbor statement",
        edits=(("spine1/frr.conf", r"^ +neighbor 10\.1\.1\.224 .*\n", ""),),
        caught=(("session-one-sided", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000000"),),
    ),
    Fault(
        says="the spine has no neighbor statement over the interface",
        base="unnumbered",
        edits=(("spine1/frr.conf", r"^ +neighbor Ethernet0 .*\n", ""),),
        caught=(("session-one-sided", "leaf1/frr.conf", "neighbor Ethernet224 interface remote-as 4200000000"),),
    ),
    Fault(
        says="neither end has a neighbor statement",
        edits=(
            ("spine1/frr.conf", r"^ +neighbor 10\.1\.1\.224 .*\n", ""),
            ("leaf1/frr.conf", r"^ +neighbor 10\.1\.1\.225 .*\n", ""),
        ),
        caught=(("cable-without-session", "leaf1/config_db.json", '"Ethernet224": {'),),
    ),
    Fault(
        says="neither end has a neighbor statement over the interface",
        base="unnumbered",
        edits=(
            ("spine1/frr.conf", r"^ +neighbor Ethernet0 .*\n", ""),
            ("leaf1/frr.conf", r"^ +neighbor Ethernet224 .*\n", ""),
        ),
        caught=(("cable-without-session", "leaf1/config_db.json", '"Ethernet224": {'),),
    ),
    Fault(
        says="a port has an address of another subnet",
        edits=(("leaf1/config_db.json", r'"Ethernet224\|10\.1\.1\.224/31"', '"Ethernet224|10.1.9.224/31"'),),
        caught=(("session-without-subnet", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000000"),),
        besides=(
            "session-to-nobody",
            "subnets-differ",
        ),
    ),
    Fault(
        says="the neighbor's address is one that nobody has",
        edits=(("leaf1/frr.conf", r"10\.1\.1\.225", "10.1.1.229"),),
        caught=(("session-without-subnet", "leaf1/frr.conf", "neighbor 10.1.1.229 remote-as 4200000000"),),
        besides=("session-one-sided",),
    ),
    Fault(
        says="a port's subnet is longer than that of the other end",
        edits=(("leaf1/config_db.json", r'"Ethernet224\|10\.1\.1\.224/31"', '"Ethernet224|10.1.1.224/29"'),),
        caught=(("subnets-differ", "leaf1/config_db.json", '"Ethernet224|10.1.1.224/29": {},'),),
    ),
    Fault(
        says="two cables are swapped",
        edits=(
            ("fabric.yaml", "leaf1:Ethernet224--spine1:Ethernet0 ", "leaf1:Ethernet224--spine1:EthernetX "),
            ("fabric.yaml", "leaf2:Ethernet224--spine1:Ethernet128 ", "leaf2:Ethernet224--spine1:Ethernet0 "),
            ("fabric.yaml", "EthernetX", "Ethernet128"),
        ),
        caught=(
            ("session-over-wrong-cable", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000000"),
            ("session-over-wrong-cable", "leaf2/frr.conf", "neighbor 10.1.2.225 remote-as 4200000000"),
            ("session-over-wrong-cable", "spine1/frr.conf", "neighbor 10.1.1.224 remote-as 4200100001"),
            ("session-over-wrong-cable", "spine1/frr.conf", "neighbor 10.1.2.224 remote-as 4200100002"),
        ),
        besides=("neighbor-unlike-cable", "subnets-differ"),
    ),
    Fault(
        says="two cables are swapped, sessions over interfaces",
        base="unnumbered",
        edits=(
            ("fabric.yaml", "leaf1:Ethernet224--spine1:Ethernet0 ", "leaf1:Ethernet224--spine1:EthernetX "),
            ("fabric.yaml", "leaf2:Ethernet224--spine1:Ethernet128 ", "leaf2:Ethernet224--spine1:Ethernet0 "),
            ("fabric.yaml", "EthernetX", "Ethernet128"),
        ),
        caught=(
            ("session-with-wrong-asn", "spine1/frr.conf", "neighbor Ethernet0 interface remote-as 4200100001"),
            ("session-with-wrong-asn", "spine1/frr.conf", "neighbor Ethernet128 interface remote-as 4200100002"),
        ),
        besides=("neighbor-unlike-cable",),
    ),
    Fault(
        says="the network statement of the hosts is missing",
        edits=(("leaf1/frr.conf", r"^  network 10\.2\.1\.0/24\n", ""),),
        caught=(("hosts-not-announced", "leaf1/frr.conf", "network 10.0.0.1/32"),),
    ),
    Fault(
        says="the route that the network statement needs is missing",
        edits=(("leaf1/frr.conf", r"^ip route .*\n", ""),),
        caught=(("network-not-in-table", "leaf1/frr.conf", "network 10.2.1.0/24"),),
    ),
    Fault(
        says="a spine passes the hosts of one leaf only",
        edits=(("spine1/frr.conf", r"(prefix-list FABRIC seq 20 permit 10\.2\.)0\.0/16", r"\g<1>1.0/24"),),
        caught=(
            ("path-to-hosts-filtered", "spine1/frr.conf", "ip prefix-list FABRIC seq 10 permit 10.0.0.0/16 ge 32"),
        ),
    ),
    Fault(
        says="a leaf takes no routes to hosts",
        edits=(("leaf2/frr.conf", r"^ip prefix-list FABRIC seq 20 .*\n", ""),),
        caught=(
            ("route-to-hosts-filtered", "leaf2/frr.conf", "ip prefix-list FABRIC seq 10 permit 10.0.0.0/16 ge 32"),
        ),
    ),
    Fault(
        says="a leaf tells nobody of its hosts",
        edits=(("leaf1/frr.conf", r"^ip prefix-list OWN seq 20 .*\n", ""),),
        caught=(("route-to-hosts-filtered", "leaf1/frr.conf", "ip prefix-list OWN seq 10 permit 10.0.0.1/32"),),
    ),
    Fault(
        says="a spine denies all hosts",
        edits=(("spine1/frr.conf", "(prefix-list FABRIC seq 20) permit", r"\1 deny"),),
        caught=(
            ("path-to-hosts-filtered", "spine1/frr.conf", "ip prefix-list FABRIC seq 10 permit 10.0.0.0/16 ge 32"),
        ),
    ),
    Fault(
        says="a neighbor is shut",
        edits=(("leaf1/frr.conf", r"( neighbor 10\.1\.1\.225) remote-as (\d+)", r"\1 remote-as \2\n\1 shutdown"),),
        caught=(("session-shut", "leaf1/frr.conf", "neighbor 10.1.1.225 shutdown"),),
    ),
    Fault(
        says="two leaves have one loopback address",
        edits=(
            ("leaf2/frr.conf", r"10\.0\.0\.2/32", "10.0.0.1/32"),
            ("leaf2/config_db.json", r"10\.0\.0\.2/32", "10.0.0.1/32"),
        ),
        caught=(("duplicate-address", "leaf2/config_db.json", '"Loopback0|10.0.0.1/32": {}'),),
    ),
    Fault(
        says="the out-of-band network is announced",
        edits=(("leaf1/frr.conf", r"  network 10\.2\.1\.0/24", "  network 10.2.1.0/24\n  network 192.168.100.0/24"),),
        caught=(("management-in-fabric", "leaf1/frr.conf", "network 192.168.100.0/24"),),
        besides=("network-not-in-table",),
    ),
    Fault(
        says="a leaf takes paths with its own AS number",
        edits=(
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES activate",
                "  neighbor SPINES activate\n  neighbor 10.1.1.225 allowas-in 1",
            ),
        ),
        caught=(("loop-rejection-off", "leaf1/frr.conf", "neighbor 10.1.1.225 allowas-in 1"),),
    ),
    Fault(
        says="spines take paths with their own AS number",
        edits=(
            ("leaf1/frr.conf", " match ip address prefix-list OWN", " match ip address prefix-list FABRIC"),
            ("leaf2/frr.conf", " match ip address prefix-list OWN", " match ip address prefix-list FABRIC"),
            ("spine1/frr.conf", r"  (neighbor \S+) activate", r"  \1 activate\n  \1 allowas-in 1"),
            ("spine2/frr.conf", r"  (neighbor \S+) activate", r"  \1 activate\n  \1 allowas-in 1"),
        ),
        caught=(
            ("loop-rejection-off", "spine1/frr.conf", "neighbor LEAVES allowas-in 1"),
            ("loop-rejection-off", "spine2/frr.conf", "neighbor LEAVES allowas-in 1"),
        ),
    ),
    Fault(
        says="a leaf uses one path",
        edits=(("leaf1/frr.conf", "maximum-paths 32", "maximum-paths 1"),),
        caught=(("multipath-missing", "leaf1/frr.conf", "maximum-paths 1"),),
    ),
    Fault(
        says="a leaf does not use paths through different AS numbers together",
        edits=(
            ("spine2/frr.conf", "^router bgp 4200000000", "router bgp 4200000001"),
            ("leaf1/frr.conf", r"(10\.1\.1\.24[19]) remote-as \d+", r"\1 remote-as 4200000001"),
            ("leaf2/frr.conf", r"(10\.1\.2\.24[19]) remote-as \d+", r"\1 remote-as 4200000001"),
            ("leaf1/frr.conf", r"^ bgp bestpath as-path multipath-relax\n", ""),
        ),
        caught=(("multipath-missing", "leaf1/frr.conf", "router bgp 4200100001"),),
    ),
    Fault(
        says="the route map of a session is not there",
        edits=(
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES activate",
                "  neighbor SPINES activate\n  neighbor 10.1.1.225 route-map FABRIC-INN in",
            ),
        ),
        caught=(
            ("dangling-reference", "leaf1/frr.conf", "neighbor 10.1.1.225 route-map FABRIC-INN in"),
            ("policy-not-there", "leaf1/frr.conf", "neighbor 10.1.1.225 route-map FABRIC-INN in"),
        ),
    ),
    Fault(
        says="the prefix list of a route map is not there",
        edits=(("spine1/frr.conf", " match ip address prefix-list FABRIC$", " match ip address prefix-list FABRICS"),),
        caught=(
            ("dangling-reference", "spine1/frr.conf", "match ip address prefix-list FABRICS"),
            ("policy-not-there", "spine1/frr.conf", "route-map FABRIC-IN permit 10"),
        ),
    ),
    Fault(
        says="the prefix list of a session is not there",
        edits=(
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES activate",
                "  neighbor SPINES activate\n  neighbor 10.1.1.225 prefix-list ALL in",
            ),
        ),
        caught=(
            ("dangling-reference", "leaf1/frr.conf", "neighbor 10.1.1.225 prefix-list ALL in"),
            ("policy-not-there", "leaf1/frr.conf", "neighbor 10.1.1.225 prefix-list ALL in"),
        ),
    ),
    Fault(
        says="a profile that asks for policies, and sessions without",
        edits=(
            ("leaf1/frr.conf", "frr defaults datacenter", "frr defaults traditional"),
            ("leaf1/frr.conf", r"^  neighbor \S+ route-map .*\n", ""),
        ),
        caught=(("session-without-policy", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000000"),),
    ),
    Fault(
        says="a session is not activated",
        edits=(
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES activate",
                "  neighbor SPINES activate\n  no neighbor 10.1.1.225 activate",
            ),
        ),
        caught=(("session-carries-nothing", "leaf1/frr.conf", "no neighbor 10.1.1.225 activate"),),
    ),
    Fault(
        says="a session to an IPv6 address is not activated",
        base="dual",
        edits=(
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES-IPV6 activate",
                "  neighbor SPINES-IPV6 activate\n  no neighbor fd00:1:0:1::e9 activate",
            ),
        ),
        caught=(("session-carries-nothing", "leaf1/frr.conf", "no neighbor fd00:1:0:1::e9 activate"),),
    ),
    Fault(
        says="a port is shut",
        edits=(("leaf1/config_db.json", r'("Ethernet224": \{(?:[^{}]|\n)*?"admin_status": )"up"', r'\1"down"'),),
        caught=(("session-over-shut-port", "leaf1/frr.conf", "neighbor 10.1.1.225 remote-as 4200000000"),),
        besides=("planned-port-down",),
    ),
    Fault(
        says="two leaves have one router id",
        edits=(("leaf2/frr.conf", "router-id 10.0.0.2", "router-id 10.0.0.1"),),
        caught=(("duplicate-router-id", "leaf2/frr.conf", "bgp router-id 10.0.0.1"),),
    ),
    Fault(
        says="two leaves have one AS number",
        edits=(
            ("leaf2/frr.conf", "router bgp 4200100002", "router bgp 4200100001"),
            ("spine1/frr.conf", "remote-as 4200100002", "remote-as 4200100001"),
            ("spine2/frr.conf", "remote-as 4200100002", "remote-as 4200100001"),
        ),
        caught=(
            ("leaf-refuses-own-asn", "leaf1/frr.conf", "router bgp 4200100001"),
            ("leaf-refuses-own-asn", "leaf2/frr.conf", "router bgp 4200100001"),
        ),
    ),
    Fault(
        says="two static routes lead to one another",
        edits=(
            (
                "leaf1/frr.conf",
                r"^ip route 10\.2\.1\.0/24 blackhole",
                "ip route 10.2.1.0/24 blackhole\nip route 10.2.2.0/24 10.1.1.225",
            ),
            ("spine1/frr.conf", "^bgp session-dscp", "ip route 10.2.2.0/24 10.1.1.224\nbgp session-dscp"),
        ),
        caught=(("static-route-loop", "leaf1/frr.conf", "ip route 10.2.2.0/24 10.1.1.225"),),
        besides=("cyclic-buffer-dependency",),
    ),
    Fault(
        says="a leaf announces its links",
        edits=(
            ("leaf1/frr.conf", "  maximum-paths 32", "  redistribute connected\n  maximum-paths 32"),
            ("leaf1/frr.conf", r"^ match ip address prefix-list OWN\n", ""),
        ),
        caught=(("link-announced", "leaf1/frr.conf", "redistribute connected"),),
    ),
    Fault(
        says="a leaf prefers one session",
        edits=(
            (
                "leaf1/frr.conf",
                "^router bgp",
                "route-map BEST permit 10\n set local-preference 200\nexit\n!\nrouter bgp",
            ),
            (
                "leaf1/frr.conf",
                r"^  neighbor SPINES activate",
                "  neighbor SPINES activate\n  neighbor 10.1.1.225 route-map BEST in",
            ),
        ),
        caught=(("one-path-preferred", "leaf1/frr.conf", "route-map BEST permit 10"),),
    ),
    Fault(
        says="a spine makes its paths longer",
        edits=(
            (
                "spine1/frr.conf",
                r"^(route-map FABRIC-OUT permit 10\n match .*\n)",
                r"\1 set as-path prepend 4200000000\n",
            ),
        ),
        caught=(("one-path-preferred", "spine1/frr.conf", "route-map FABRIC-OUT permit 10"),),
    ),
    Fault(
        says="a spine has a MED",
        edits=(("spine1/frr.conf", r"^(route-map FABRIC-OUT permit 10\n match .*\n)", r"\1 set metric 50\n"),),
        caught=(("one-path-preferred", "spine1/frr.conf", "route-map FABRIC-OUT permit 10"),),
    ),
    Fault(
        says="a leaf forbids to pass its routes on",
        edits=(("leaf1/frr.conf", r"^(route-map FABRIC-OUT permit 10\n match .*\n)", r"\1 set community no-export\n"),),
        caught=(("route-to-hosts-filtered", "leaf1/frr.conf", "route-map FABRIC-OUT permit 10"),),
    ),
    Fault(
        says="a spine was left drained",
        edits=(("spine1/frr.conf", "^ bgp router-id", r" bgp graceful-shutdown\n bgp router-id"),),
        caught=(("switch-drained", "spine1/frr.conf", "bgp graceful-shutdown"),),
    ),
    Fault(
        says="spines have AS numbers of their own, and leaves pass on what they hear",
        edits=(
            ("spine2/frr.conf", "^router bgp 4200000000", "router bgp 4200000001"),
            ("leaf1/frr.conf", r"(10\.1\.1\.24[19]) remote-as \d+", r"\1 remote-as 4200000001"),
            ("leaf2/frr.conf", r"(10\.1\.2\.24[19]) remote-as \d+", r"\1 remote-as 4200000001"),
            ("leaf1/frr.conf", " match ip address prefix-list OWN", " match ip address prefix-list FABRIC"),
            ("leaf2/frr.conf", " match ip address prefix-list OWN", " match ip address prefix-list FABRIC"),
        ),
        caught=(
            ("spine-asn-unique", "spine1/frr.conf", "router bgp 4200000000"),
            ("spine-asn-unique", "spine2/frr.conf", "router bgp 4200000001"),
        ),
    ),
    Fault(
        says="the ends of a link have different MTUs",
        edits=(("leaf1/config_db.json", r'("Ethernet224": \{(?:[^{}]|\n)*?"mtu": )"9216"', r'\1"1500"'),),
        caught=(("mtu-mismatch", "leaf1/config_db.json", '"mtu": "1500",'),),
    ),
    Fault(
        says="both ends of a link have a smaller MTU than the hosts",
        edits=(
            ("leaf1/config_db.json", r'("Ethernet224": \{(?:[^{}]|\n)*?"mtu": )"9216"', r'\1"1500"'),
            ("spine1/config_db.json", r'("Ethernet0": \{(?:[^{}]|\n)*?"mtu": )"9216"', r'\1"1500"'),
        ),
        caught=(("path-mtu-below-hosts", "leaf1/config_db.json", '"mtu": "1500",'),),
    ),
    Fault(
        says="a cable has no session",
        edits=(
            ("leaf1/frr.conf", r"^ +neighbor 10\.1\.1\.233 .*\n", ""),
            ("spine1/frr.conf", r"^ +neighbor 10\.1\.1\.232 .*\n", ""),
        ),
        caught=(("cable-without-session", "leaf1/config_db.json", '"Ethernet232": {'),),
    ),
    Fault(
        says="a leaf has sessions to one spine only",
        edits=(
            ("leaf1/frr.conf", r"^ +neighbor 10\.1\.1\.24[19] .*\n", ""),
            ("spine2/frr.conf", r"^ +neighbor 10\.1\.1\.24[08] .*\n", ""),
        ),
        caught=(("hosts-lost-by-one-failure", "spine1/config_db.json", '"hostname": "spine1",'),),
        besides=("cable-without-session",),
    ),
    Fault(
        says="one cable to one spine is all that leaves have",
        edits=(
            ("leaf1/frr.conf", r"^ +neighbor 10\.1\.1\.2(33|41|49) .*\n", ""),
            ("leaf2/frr.conf", r"^ +neighbor 10\.1\.2\.2(33|41|49) .*\n", ""),
            ("spine1/frr.conf", r"^ +neighbor 10\.1\.1\.232 .*\n", ""),
            ("spine1/frr.conf", r"^ +neighbor 10\.1\.2\.232 .*\n", ""),
            ("spine2/frr.conf", r"^ +neighbor 10\.1\.1\.24[08] .*\n", ""),
            ("spine2/frr.conf", r"^ +neighbor 10\.1\.2\.24[08] .*\n", ""),
        ),
        caught=(
            ("hosts-lost-by-one-failure", "leaf1/config_db.json", '"Ethernet224": {'),
            ("hosts-lost-by-one-failure", "leaf2/config_db.json", '"Ethernet224": {'),
            ("hosts-lost-by-one-failure", "spine1/config_db.json", '"hostname": "spine1",'),
        ),
        besides=("cable-without-session",),
    ),
    Fault(
        says="another AS number is expected (NVUE)",
        base="nvue",
        edits=(
            (
                "leaf1/startup.yaml",
                r"(              10\.1\.1\.225:\n(?: {16}.*\n)*? {16}remote-as: )\d+",
                r"\g<1>65000",
            ),
        ),
        caught=(("session-with-wrong-asn", "leaf1/startup.yaml", "remote-as: 65000"),),
    ),
    Fault(
        says="the network statement of the hosts is missing (NVUE)",
        base="nvue",
        edits=(("leaf1/startup.yaml", r"^ +10\.2\.1\.0/24: \{\}\n(?! *'|.*type)", ""),),
        caught=(("hosts-not-announced", "leaf1/startup.yaml", "bgp:"),),
    ),
    Fault(
        says="a leaf uses one path (NVUE)",
        base="nvue",
        edits=(("leaf1/startup.yaml", "ebgp: 32", "ebgp: 1"),),
        caught=(("multipath-missing", "leaf1/startup.yaml", "ebgp: 1"),),
    ),
    Fault(
        says="the spine has no neighbor statement (NVUE)",
        base="nvue",
        edits=(("spine1/startup.yaml", r"^ {14}10\.1\.1\.224:\n(?: {16}.*\n)+", ""),),
        caught=(("session-one-sided", "leaf1/startup.yaml", "10.1.1.225:"),),
    ),
    Fault(
        says="a neighbor is shut (NVUE)",
        base="nvue",
        edits=(("leaf1/startup.yaml", r"( {14}10\.1\.1\.225:\n)", r"\1                shutdown: enabled\n"),),
        caught=(("session-shut", "leaf1/startup.yaml", "shutdown: enabled"),),
    ),
)
