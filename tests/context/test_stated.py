"""fabric.yaml: what a build writes is read back as it was meant, whatever the names; what means nothing is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodrop
from nodrop.context import FABRIC_FILE, format_fabric_file, loads
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.intent.types import NAME_PATTERN
from nodrop.model.declared import DeclaredFacts
from nodrop.model.external import ExternalNeighbor, ExternalPort, sort_addresses
from nodrop.model.fabric import (
    MODES,
    PURPOSES,
    Device,
    End,
    Fabric,
    Host,
    HostPort,
    Link,
    Policy,
    TrafficClass,
)
from nodrop.model.qos import PfcWatchdog
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import natural_sort_key
from nodrop.resources import resource_folder

ODD_NAMES = ["null", "true", "false", "no", "0x1f", "1e3", "1_000", "007", "a--b", "a--", "x.-_", "NULL", "2024-01-01"]
ODD_TEXTS = [
    *ODD_NAMES,
    "~",
    "a: b",
    "a #b",
    "{a}",
    "[",
    "'",
    '"',
    "\\n",
    "a, b",
    "- a",
    "*a",
    "!t",
    "%x",
    " a ",
    "é𝄞",
    "\ufeff",
]


def declared(fabric: Fabric) -> DeclaredFacts:
    """What the fabric.yaml of a fabric states."""
    return DeclaredFacts(
        name=fabric.name,
        mode=fabric.mode,
        classes=fabric.classes,
        roles={device.name: device.role for device in fabric.devices if isinstance(device.role, str)},
        models={device.name: device.model for device in fabric.devices if isinstance(device.model, str)},
        cables=fabric.links,
        hosts=fabric.hosts,
        external=fabric.external or None,
        policy=fabric.policy,
    )


def read(text: str) -> DeclaredFacts:
    return loads(text.encode(), FABRIC_FILE)


def unknown_or(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(UNKNOWN) | strategy


names = st.from_regex(NAME_PATTERN, fullmatch=True) | st.sampled_from(ODD_NAMES)
texts = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cn"]), min_size=1, max_size=8
) | st.sampled_from(ODD_TEXTS)
priorities = st.sets(st.integers(0, 7)).map(lambda found: tuple(sorted(found)))
times = st.none() | st.integers(0, 10**6)
watchdogs = st.none() | st.builds(
    PfcWatchdog,
    priorities=priorities,
    detection_ms=times,
    restoration_ms=times,
    action=st.sampled_from([None, "drop", "forward", "alert"]),
)
policies = st.builds(
    Policy,
    host_watchdog=unknown_or(watchdogs),
    fabric_watchdog=unknown_or(watchdogs),
    fabric_unwatched_roles=st.lists(names, unique=True, max_size=2).map(tuple),
    rdma_mtu_bytes=unknown_or(st.integers(256, 4096)),
    max_oversubscription=unknown_or(st.integers(1, 100_000).map(lambda hundredths: hundredths / 100)),
    lossless_pool_percent=unknown_or(st.integers(1, 100)),
    rails=unknown_or(st.sampled_from(["joined", "isolated"])),
    drained=st.lists(names, unique=True, max_size=2).map(tuple),
)


@st.composite
def classes(draw: st.DrawFn) -> tuple[TrafficClass, ...]:
    owners = draw(st.lists(names, unique=True, max_size=4))
    owner_of = [draw(st.sampled_from([None, *owners])) for _ in range(64)] if owners else []
    return tuple(
        TrafficClass(
            name=name,
            purpose=draw(st.sampled_from(PURPOSES)),
            dscp=tuple(dscp for dscp, owner in enumerate(owner_of) if owner == name),
            tc=draw(unknown_or(st.integers(0, 15))),
            lossless=draw(unknown_or(st.booleans())),
            share_percent=draw(unknown_or(st.integers(1, 100))),
        )
        for name in owners
    )


@st.composite
def hosts(draw: st.DrawFn, name: str) -> Host:
    ports = draw(st.lists(texts, unique=True, max_size=3))
    return Host(
        name=name,
        group=draw(st.just("") | texts),
        gpus=draw(st.integers(0, 64)),
        nic=draw(unknown_or(texts)),
        ports=tuple(
            HostPort(
                name=port,
                speed_mbps=draw(unknown_or(st.integers(1, 4 * 10**6))),
                lanes=draw(unknown_or(st.integers(1, 16))),
                addresses=tuple(draw(st.lists(texts, max_size=2, unique=True))),
            )
            for port in ports
        ),
        tos=draw(unknown_or(st.integers(0, 255))),
        fifo_tos=draw(unknown_or(st.integers(0, 255))),
        cnp_dscp=draw(unknown_or(st.integers(0, 63))),
        trust=draw(unknown_or(st.sampled_from(["dscp", "pcp"]))),
        pfc_priorities=draw(unknown_or(priorities)),
        dcqcn=draw(unknown_or(st.booleans())),
        rdma_mtu_bytes=draw(unknown_or(st.integers(256, 9216))),
        spread=draw(unknown_or(st.sampled_from(["leaves", "rails", "one-leaf"]))),
        queue_pairs=draw(unknown_or(st.integers(1, 128))),
        out_of_order=draw(unknown_or(st.booleans())),
    )


@st.composite
def links(draw: st.DrawFn) -> tuple[Link, ...]:
    ports = names | st.sampled_from(["Ethernet0", "swp1s0", "et-0/0/1", "a:b", "--", "a--b:c", "p--q", ":", "#"])
    ends = draw(st.lists(st.builds(End, names, ports), unique=True, max_size=8))
    media = st.from_regex(r"[A-Za-z][A-Za-z0-9._+-]{0,5}", fullmatch=True)
    return tuple(
        Link(
            a=min(pair),
            b=max(pair),
            length_m=draw(unknown_or(st.integers(0, 10**6))),
            media=draw(unknown_or(media)),
        )
        for pair in zip(ends[::2], ends[1::2], strict=False)
    )


PREFIXES = st.sampled_from(["0.0.0.0/0", "10.64.0.0/16", "10.64.0.0/16 le 24", "::/0", "fd00:2::/48 le 64"])


@st.composite
def outside(draw: st.DrawFn, name: str) -> ExternalNeighbor:
    ports = draw(st.lists(names, unique=True, max_size=2))
    addresses = st.lists(st.sampled_from(["192.0.2.1/31", "192.0.2.5/30", "2001:db8::1/127"]), min_size=1)
    return ExternalNeighbor(
        name=name,
        asn=draw(unknown_or(st.integers(1, 2**32 - 2))),
        ports=tuple(
            ExternalPort(name=port, addresses=sort_addresses(draw(addresses)))
            for port in sorted(ports, key=natural_sort_key)
        ),
        announces=draw(unknown_or(st.lists(PREFIXES).map(sort_addresses))),
        receives=draw(unknown_or(st.lists(PREFIXES).map(sort_addresses))),
    )


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    return Fabric(
        name=draw(names),
        mode=draw(st.sampled_from(MODES)),
        devices=tuple(
            Device(name=name, platform="sonic", role=draw(unknown_or(texts)), model=draw(unknown_or(texts)))
            for name in draw(st.lists(names, unique=True, max_size=3))
        ),
        links=draw(links()),
        hosts=tuple(draw(hosts(name)) for name in draw(st.lists(names, unique=True, max_size=3))),
        external=tuple(draw(outside(name)) for name in sorted(draw(st.lists(names, unique=True, max_size=2)))),
        classes=draw(classes()),
        policy=draw(policies),
    )


@pytest.mark.parametrize("intent", sorted(resource_folder("intents").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_intents(intent: Any) -> None:
    fabric = nodrop.build(nodrop.load(intent))
    assert read(format_fabric_file(fabric)) == declared(fabric)


@given(fabrics())
def test_any_fabric(fabric: Fabric) -> None:
    assert read(format_fabric_file(fabric)) == declared(fabric)


def test_a_fabric_of_nothing() -> None:
    fabric = Fabric(name="none", mode="lossy", devices=())
    assert format_fabric_file(fabric).splitlines()[1:] == [
        "name: none",
        "mode: lossy",
        "classes: {}",
        "roles: {}",
        "models: {}",
        "cables: []",
        "hosts: {}",
        "policy: {}",
    ]
    assert read(format_fabric_file(fabric)) == declared(fabric)


def test_it_reads_as_a_person_would_write_it() -> None:
    fabric = Fabric(
        name="pod",
        mode="lossless",
        devices=(Device(name="leaf1", platform="sonic", role="leaf", model="SN4700"),),
        links=(Link(a=End("gpu1", "nic1"), b=End("leaf1", "Ethernet0"), length_m=3, media="DR4"),),
        hosts=(
            Host(
                name="gpu1",
                group="gpu",
                gpus=8,
                nic="ConnectX-7",
                ports=(HostPort(name="nic1", speed_mbps=400_000, lanes=4, addresses=("10.2.0.0/31",)),),
                fifo_tos=86,
                pfc_priorities=(3, 4),
                dcqcn=True,
                spread="rails",
                out_of_order=True,
            ),
        ),
        classes=(TrafficClass(name="rdma", purpose="rdma", dscp=(26, 27), tc=3, lossless=True),),
        policy=Policy(
            host_watchdog=PfcWatchdog(priorities=(3, 4), detection_ms=200, restoration_ms=400, action="drop"),
            fabric_watchdog=None,
            fabric_unwatched_roles=("leaf",),
            rdma_mtu_bytes=4096,
            max_oversubscription=1.5,
            lossless_pool_percent=80,
            drained=("leaf1", "spine2"),
        ),
    )
    assert format_fabric_file(fabric) == (
        "# What no switch file can say; `nodrop lint` reads it beside the devices.\n"
        "name: pod\n"
        "mode: lossless\n"
        "classes:\n"
        "  rdma: {purpose: rdma, dscp: [26-27], tc: 3, lossless: true}\n"
        "roles:\n"
        "  leaf1: leaf\n"
        "models:\n"
        "  leaf1: SN4700\n"
        "cables:\n"
        "  - gpu1:nic1--leaf1:Ethernet0 3m DR4\n"
        "hosts:\n"
        "  gpu1: {group: gpu, gpus: 8, nic: ConnectX-7, spread: rails, fifo_tos: 86, pfc: [3, 4], dcqcn: true,"
        ' out_of_order: true, ports: {nic1: {speed: 400G, lanes: 4, addresses: ["10.2.0.0/31"]}}}\n'
        "policy:\n"
        "  watchdog:\n"
        "    hosts: {priorities: [3, 4], detection: 200ms, restoration: 400ms, action: drop}\n"
        '    fabric: "off"\n'
        "    unwatched_roles: [leaf]\n"
        "  rdma_mtu: 4096\n"
        "  max_oversubscription: 1.5\n"
        "  lossless_pool: 80%\n"
        "  drained: [leaf1, spine2]\n"
    )
    assert read(format_fabric_file(fabric)) == declared(fabric)


@pytest.mark.parametrize(
    "end", [End("a b", "p"), End("a:b", "p"), End("a", "p q"), End("a", "p\nq"), End("", "p"), End("a", "")]
)
def test_ends_that_no_cable_can_name_are_refused(end: End) -> None:
    fabric = Fabric(name="pod", mode="lossy", devices=(), links=(Link(a=end, b=End("z", "p")),))
    with pytest.raises(UnsupportedByPlatform, match="cannot be written"):
        format_fabric_file(fabric)


@pytest.mark.parametrize("end", [End("b--b", "p"), End("-b", "p"), End("b", "--"), End("b", "x--y:z"), End("b", "-")])
@pytest.mark.parametrize(
    "other", [End("a", "p"), End("a", "p-"), End("a", "p--q"), End("a", "--c:d"), End("a--a", "p:")]
)
def test_dashes_in_names_leave_no_doubt(end: End, other: End) -> None:
    a, b = sorted((end, other))
    fabric = Fabric(name="pod", mode="lossy", devices=(), links=(Link(a=a, b=b),))
    assert read(format_fabric_file(fabric)) == declared(fabric)


@pytest.mark.parametrize("media", ["", "30m", "100G DR", "DR4\n", "\u0661"])
def test_media_that_no_cable_can_have_are_refused(media: str) -> None:
    link = Link(a=End("a", "p"), b=End("b", "p"), media=media)
    with pytest.raises(UnsupportedByPlatform, match="cannot be written"):
        format_fabric_file(Fabric(name="pod", mode="lossy", devices=(), links=(link,)))


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "{}", "roles: {}\n"])
def test_all_may_be_left_out(text: str) -> None:
    assert read(text) == DeclaredFacts()


def test_what_is_left_out_of_a_class() -> None:
    stated = read(
        "classes:\n  cnp: {dscp: 48}\n  bulk: {dscp: [8, 10-12], share: 20%}\n"
        "  default: {dscp: rest, lossless: false}\n"
    )
    rest = tuple(dscp for dscp in range(64) if dscp not in (8, 10, 11, 12, 48))
    assert stated.classes == (
        TrafficClass(name="cnp", purpose="cnp", dscp=(48,), tc=UNKNOWN, lossless=UNKNOWN),
        TrafficClass(
            name="bulk", purpose="unknown", dscp=(8, 10, 11, 12), tc=UNKNOWN, lossless=UNKNOWN, share_percent=20
        ),
        TrafficClass(name="default", purpose="default", dscp=rest, tc=UNKNOWN, lossless=False),
    )


@pytest.mark.parametrize(
    ("cable", "link"),
    [
        ("b:p--a:q", Link(a=End("a", "q"), b=End("b", "p"))),
        ("b:p -- a:q 30m", Link(a=End("a", "q"), b=End("b", "p"), length_m=30)),
        ("a:q--b:p DR4", Link(a=End("a", "q"), b=End("b", "p"), media="DR4")),
        (
            "a:Ethernet1/1--b:x:y 0m LR4-10",
            Link(a=End("a", "Ethernet1/1"), b=End("b", "x:y"), length_m=0, media="LR4-10"),
        ),
        ("a:p--p -- b--b:q", Link(a=End("a", "p--p"), b=End("b--b", "q"))),
    ],
)
def test_cables(cable: str, link: Link) -> None:
    assert read(f"cables:\n  - {cable}\n").cables == (link,)


KEYS = "keys: name, mode, classes, roles, models, cables, hosts, external, policy"
EXAMPLE = "expected leaf1:Ethernet0--spine1:Ethernet8 30m DR4"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- a\n",
            [f"1:1: a list; expected a mapping ({KEYS})"],
        ),
        (
            "text\n",
            [f"1:1: text; expected a mapping ({KEYS})"],
        ),
        ("cables: [x]\n", [f"1:10: cables.0: x; {EXAMPLE}"]),
        ("cables:\n  - a:p--b:q 30\n", [f"2:5: cables.0: a:p--b:q 30; {EXAMPLE}"]),
        ("cables:\n  - a:p--b:q 3 m\n", [f"2:5: cables.0: a:p--b:q 3 m; {EXAMPLE}"]),
        ("cables:\n  - a:p--b:q 30m DR4 x\n", [f"2:5: cables.0: a:p--b:q 30m DR4 x; {EXAMPLE}"]),
        ("cables:\n  - a:p-b:q\n  - b--c\n", [f"2:5: cables.0: a:p-b:q; {EXAMPLE}", f"3:5: cables.1: b--c; {EXAMPLE}"]),
        (f"cables:\n  - a:p--b:q {'9' * 5000}m\n", [f"2:5: cables.0: a:p--b:q {'9' * 5000}m; {EXAMPLE}"]),
        (
            "cables:\n  - a:p--b:q\n  - c:r--a:p\n",
            ["3:5: cables.1: a second cable in a:p; expected one cable in each port (first at line 2)"],
        ),
        (
            "cables: ['a:p--a:p']\n",
            ["1:10: cables.0: a second cable in a:p; expected one cable in each port (first at line 1)"],
        ),
        (
            "classes:\n  a: {dscp: 26}\n  b: {dscp: [10, 26]}\n",
            ["3:13: classes.b.dscp: 26, which belongs to a; expected each code point once"],
        ),
        (
            "classes:\n  a: {dscp: rest}\n  b: {dscp: rest}\n",
            ["3:13: classes.b.dscp: rest, which belongs to a; expected each code point once"],
        ),
        (
            "policy: {watchdog: {hosts: {detection: 1}, fabric: on}}\n",
            [
                "1:40: policy.watchdog.hosts.detection: 1; expected a time such as 200ms or 1s",
                "1:52: policy.watchdog.fabric: on; expected a mapping of timers, or off"
                " (keys: priorities, detection, restoration, action)",
            ],
        ),
        ("classes:\n  a: {dscp: 1, tc: 16}\n", ["2:20: classes.a.tc: 16; expected a whole number from 0 to 15"]),
        (
            "hosts: {h: {ports: {}, tos: 256, cnp_dscp: 64}}\n",
            [
                "1:29: hosts.h.tos: 256; expected a whole number from 0 to 255",
                "1:44: hosts.h.cnp_dscp: 64; expected a whole number from 0 to 63",
            ],
        ),
    ],
)
def test_what_means_nothing_is_refused(text: str, said: list[str]) -> None:
    with pytest.raises(InputProblems) as refused:
        read(text)
    assert [str(problem) for problem in refused.value.problems] == [f"{FABRIC_FILE}:{each}" for each in said]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("mod: lossy\n", "1:1: mod: "),
        ("name: x y\n", "1:7: name: "),
        ("name: null\nmode: lossles\n", "2:7: mode: "),
        ("classes: {rdma: {dscp: 64}}\n", "1:24: classes.rdma.dscp: "),
        ("classes: {rdma: {}}\n", "1:17: classes.rdma: "),
        ("classes: {rdma: {dscp: 1, lossless: yes}}\n", "1:37: classes.rdma.lossless: "),
        ("classes: {rdma: {dscp: 1, purpose: gpu}}\n", "1:36: classes.rdma.purpose: "),
        ("classes: []\n", "1:10: classes: "),
        ("roles: {leaf 1: leaf}\n", "1:9: roles.leaf 1: "),
        ("models: {leaf1: }\n", "1:17: models.leaf1: "),
        ("cables: a:p--b:q\n", "1:9: cables: "),
        ("hosts: {h: {gpus: 8}}\n", "1:12: hosts.h: "),
        ("hosts: {h: {ports: {p: {speed: 400}}}}\n", "1:32: hosts.h.ports.p.speed: "),
        ("hosts: {h: {ports: {}, pfc: [3, 8]}}\n", "1:29: hosts.h.pfc: "),
        ("hosts: {h: {ports: {}, pfc: [3, 3]}}\n", "1:29: hosts.h.pfc: "),
        ("policy: {watchdog: {hosts: {detection: 200}}}\n", "1:40: policy.watchdog.hosts.detection: "),
        ("name: a\nname: b\n", "2:1: name: the key 'name' again"),
        ("name: [\n", "2:1: the end of the file"),
    ],
)
def test_what_the_schema_refuses_has_its_place(text: str, where: str) -> None:
    with pytest.raises(InputProblems) as refused:
        read(text)
    said = [str(problem) for problem in refused.value.problems]
    assert any(each.startswith(f"{FABRIC_FILE}:{where}") for each in said), said
    assert all(each.startswith(f"{FABRIC_FILE}:{where.split(':')[0]}:") for each in said), said
