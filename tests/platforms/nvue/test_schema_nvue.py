"""What a file sets is held against the schema of NVUE: words, values, releases, dialects; the writer keeps to it."""

from typing import Any

import pytest
from hypothesis import given

from nodrop.model.fabric import Device, QosStyle
from nodrop.model.index import Index
from nodrop.platforms.nvue import schema_check, writer
from nodrop.platforms.nvue.published import read_published_settings
from nodrop.platforms.nvue.releases import RELEASES
from nodrop.platforms.nvue.schema import WordsAfterPath, schema_root, schema_without_published_words
from nodrop.platforms.nvue.schema_types import Release, SettingAvailability, SettingLeaf
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import read, state
from support.random_nvue import OF_MEANING, alone, devices


def remarks(text: str) -> list[tuple[str, int, str]]:
    """Kind, line, and the facts in one text."""
    found = read(text).remarks
    return [(one.kind, one.place.span.line if one.place else 0, " | ".join(one.facts.values())) for one in found]


def below(body: str, version: str = "5.16.0", model: str = "SN5600") -> list[tuple[str, int, str]]:
    """The remarks of a startup.yaml, lines counted below the header."""
    return [(kind, line - 6, facts) for kind, line, facts in remarks(state(body, version, model))]


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        (
            "qos ecn default",
            "qos | ecn | there is `qos congestion-control <profile> traffic-class <traffic-class> ecn`",
        ),
        ("qos trust l3", "qos | trust | there is `qos mapping <profile> trust`"),
        (
            "qos pfc priority 3",
            "qos pfc priority | 3 | `priority` is in the place of <profile>; did you mean `switch-priority`?",
        ),
        ("interface swp1 qos pfc enable on", "interface swp1 qos pfc | enable | known: profile"),
        ("interface swp1 qos roce mode lossless", "interface swp1 qos | roce | there is `qos roce`"),
        (
            "qos pfc default-global cable-lenght 40",
            "qos pfc default-global | cable-lenght | did you mean `cable-length`?",
        ),
        (
            "qos egress-queue-mapping leaf switch-priority 3 traffic-class 3",
            "qos egress-queue-mapping | leaf | known: default-global",
        ),
        (
            "qos traffic-pool roce-losless memory-percent 50",
            "qos traffic-pool | roce-losless | did you mean `roce-lossless`?",
        ),
        (
            "interface swp1 qos pfc-watchdog polling-interval 100",
            "interface swp1 qos pfc-watchdog | polling-interval | there is `qos pfc-watchdog polling-interval`",
        ),
        (
            "router policy route-map m rule 10 action discard",
            "router policy route-map m rule 10 action | discard | known: deny, permit",
        ),
        ("qos pfc-watchdog robustnes 3", "qos pfc-watchdog | robustnes | did you mean `robustness`?"),
        ("roce mode lossless", "NVUE | roce | there is `qos roce`"),
        ("interface swp1 mtu 9216", "interface swp1 | mtu | there is `interface <interface> link mtu`"),
        ("interface swp1 pfc priority 3", "interface swp1 | pfc | there is `interface <interface> qos pfc`"),
        (
            "router bgp maximum-paths 64",
            "router bgp | maximum-paths | known: autonomous-system, convergence-wait, enable, graceful-restart, "
            "graceful-shutdown, policy-update-timer, queue-limit, router-id, state, vrf, wait-for-install",
        ),
        (
            "vrf default router bgp neighbor swp1 remote-asn external",
            "vrf default router bgp neighbor swp1 | remote-asn | did you mean `remote-as`?",
        ),
        (
            "vrf default router bgp address-family ipv4-unicast redistribute conected enable on",
            "vrf default router bgp address-family ipv4-unicast redistribute | conected | did you mean `connected`?",
        ),
        (
            "router adaptive-routing mode per-packet",
            "router adaptive-routing | mode | known: enable, link-utilization-threshold, profile, state",
        ),
        ("bridge domains br_default", "bridge | domains | did you mean `domain`?"),
        ("nve vxlam enable on", "nve | vxlam | did you mean `vxlan`?"),
    ],
)
def test_an_invented_or_misspelt_path_is_told_with_the_one_that_was_meant(command: str, facts: str) -> None:
    assert remarks(f"nv set system hostname sw1\nnv set {command}\n") == [("unknown-setting", 2, facts)]


@pytest.mark.parametrize(
    "command",
    [
        "acl x rule 10 match ip dscp 26",
        "system aaa user ops role nvue-admin",
        "evpn route-advertise default-gateway on",
        "router ospf timers refresh 1800",
        "interface bond1 bond mode lacp",
        "vrf red evpn vni 4001",
        "system telemetry snapshot-file count 120",
        "interface swp1 link dot1x mab on",
        "router segment-routing srv6 state enabled",
        "mlag unheard-of on",
    ],
)
def test_what_the_schema_does_not_know_is_not_judged(command: str) -> None:
    assert remarks(f"nv set {command}\n") == []


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("evpn multihomming enable on", "multihoming"),  # a letter more
        ("evpn mutihoming enable on", "multihoming"),  # a letter less
        ("system forwerding hash-seed 3", "forwarding"),  # another letter
        ("mlag backpu 10.0.0.2", "backup"),  # two letters swapped
        ("bridge domain br_default vlans 10", "vlan"),  # one of a kind called by the kind
        ("nve vxlan sourc address 10.0.0.1", "source"),  # cut off
    ],
)
def test_a_slip_is_told_even_where_there_may_be_other_words(command: str, meant: str) -> None:
    assert [(kind, facts.split(" | ")[-1]) for kind, _, facts in remarks(f"nv set {command}\n")] == [
        ("unknown-setting", f"did you mean `{meant}`?")
    ]


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        ("vrf default bgp neighbor swp1 remote-as external", "vrf default | bgp | there is `vrf <vrf> router bgp`"),
        ("system qos roce", "system | qos | there is `qos`"),
        ("system adaptive-routing state enabled", "system | adaptive-routing | there is `router adaptive-routing`"),
        ("service pfc-watchdog", "service | pfc-watchdog | there is `qos pfc-watchdog`"),
    ],
)
def test_what_stands_in_another_place_is_told_with_its_own(command: str, facts: str) -> None:
    assert remarks(f"nv set {command}\n") == [("unknown-setting", 1, facts)]


@pytest.mark.parametrize("command", ["mlag backup2 10.0.0.2", "mlag debuggy on", "router nexthop group2 x"])
def test_a_number_or_two_slips_make_another_word(command: str) -> None:
    assert remarks(f"nv set {command}\n") == []


def test_a_word_that_nvue_does_not_have_is_pointed_at_and_not_its_value() -> None:
    (remark,) = read("nv set system hostname sw1\nnv set interface swp1 mtu 9216\n").remarks
    assert remark.place is not None
    assert (remark.place.span.line, remark.place.span.column, remark.place.span.end_column) == (2, 23, 26)


@pytest.mark.parametrize(
    ("body", "line", "facts"),
    [
        (
            "qos:\n  roce: {mode: lossy-multi-tc}",
            2,
            "qos roce mode lossy-multi-tc | 5.14 and later | the file is of 5.13",
        ),
        (
            "qos:\n  pfc-watchdog:\n    recovery-interval: 3",
            3,
            "qos pfc-watchdog recovery-interval | 5.19 and later | the file is of 5.13",
        ),
        (
            "system:\n  forwarding:\n    packet-trim: {state: enabled}",
            3,
            "system forwarding packet-trim | 5.14 and later | the file is of 5.13",
        ),
        (
            "qos:\n  advance-buffer-config:\n    default-global:\n      ingress-lossy-buffer:\n"
            "        priority-group: {control: {name: x}}",
            5,
            "qos advance-buffer-config default-global ingress-lossy-buffer priority-group control | 5.9 and earlier | "
            "the file is of 5.13",
        ),
        (
            "qos:\n  advance-buffer-config:\n    default-global:\n      ingress-pool: {'0': {memory-percent: 60}}",
            4,
            "qos advance-buffer-config default-global ingress-pool | 5.10 and earlier | "
            "the file is of 5.13; use ingress-service-pool and egress-service-pool",
        ),
    ],
)
def test_a_setting_of_another_release_is_told_with_those_that_have_it(body: str, line: int, facts: str) -> None:
    assert below(body, "5.13.1") == [("setting-of-another-release", line, facts)]


def test_the_release_that_has_a_setting_takes_it() -> None:
    assert below("qos:\n  roce: {mode: lossy-multi-tc}", "5.14.0") == []
    assert below("qos:\n  pfc-watchdog:\n    recovery-interval: 3", "5.19.0") == []


@pytest.mark.parametrize(
    ("body", "version", "lacking", "having", "line", "facts"),
    [
        ("qos:\n  roce: {mode: lossy-multi-tc}", "5.14.0", "SN4700", "SN5640", 2,
         "qos roce mode lossy-multi-tc | Spectrum-4 and later | SN4700 | Spectrum-3"),
        ("system:\n  forwarding:\n    packet-trim: {state: enabled}", "5.14.0", "SN3700", "SN5600", 3,
         "system forwarding packet-trim | Spectrum-4 and later | SN3700 | Spectrum-2"),
        ("qos:\n  congestion-control:\n    idle:\n      traffic-class: {'3': {mode: relative}}",
         "5.18.0", "SN4600", "SN5400", 4,
         "qos congestion-control idle traffic-class 3 mode | Spectrum-4 and later | SN4600 | Spectrum-3"),
        ("system:\n  telemetry:\n    export: {otlp: {state: enabled}}", "5.14.0", "SN2700", "SN3700C", 3,
         "system telemetry export otlp | Spectrum-2 and later | SN2700 | Spectrum-1"),
        ("interface:\n  swp1: {qos: {headroom: {lossy: {extra-threshold: 1500000}}}}",
         "5.19.0", "SN5600", "SN6600_LD", 2,
         "interface swp1 qos headroom lossy extra-threshold 1500000 | Spectrum-6 and later | SN5600 | Spectrum-4"),
        ("interface:\n  swp1: {link: {fast-linkup: on}}", "5.14.0", "SN3700", "SN2410", 2,
         "interface swp1 link fast-linkup | Spectrum-1 | SN3700 | Spectrum-2"),
    ],
)  # fmt: skip
def test_a_setting_that_the_chip_has_not_is_told_with_those_that_have_it(
    body: str, version: str, lacking: str, having: str, line: int, facts: str
) -> None:
    assert below(body, version, lacking) == [("setting-of-another-chip", line, facts)]
    assert below(body, version, having) == []
    assert below(body, version, "vx") == [], "which chip it has is not known"


@pytest.mark.parametrize(
    ("body", "line", "path"),
    [
        ("qos:\n  pfc:\n    auto: {cable-length: 3}", 3, "qos pfc auto"),
        ("interface:\n  any: {type: swp}", 2, "interface any"),
    ],
)
def test_a_name_that_is_reserved(body: str, line: int, path: str) -> None:
    name = path.rpartition(" ")[2]
    facts = f"{path} | '{name}' | another name than all, any, auto, none, null"
    assert ("malformed-value", line, facts) in below(body)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("nv set system hostname sw1\nnv unset qos roce\nnv unset qos ecn default\n", 3, 14),
        ("- set: {system: {hostname: sw1}}\n- unset:\n    qos:\n      roce: {}\n      ecn: {default: {}}\n", 5, 7),
    ],
)
def test_a_word_that_nvue_does_not_have_is_found_where_it_is_taken_back(text: str, line: int, column: int) -> None:
    (remark,) = read(text).remarks
    assert (remark.kind, remark.facts["path"], remark.facts["word"]) == ("unknown-setting", "qos", "ecn")
    assert remark.place is not None
    assert (remark.place.span.line, remark.place.span.column) == (line, column)


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("acl: {a: {rule: {1: {match: {ip: {invented: 1}}}}}}", "acl a rule 1 match ip | invented"),
        ("acl: {a: {rule: {1: {match: {ip: {tcp: {dest-port: {80: {}}}}}}}}}", None),
        ("system: {snmp-server: {listening-address: {all: {vrf: mgmt}}}}", None),
        ("system: {snmp-server: {invented: 1}}", "system snmp-server | invented"),
        ("mlag: {invented: 1}", "mlag | invented"),
        ("system: {telemetry: {latency-measurement: {periodic-interval: 2}}}",
         "system telemetry latency-measurement | periodic-interval"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("version", "documented"), [("5.15.0", True), ("5.18.1", True), ("5.19.0", False)])
def test_words_below_open_places_are_those_of_the_documents(
    line: str, facts: str | None, version: str, documented: bool
) -> None:
    expected = [("unknown-setting", 1, facts)] if facts and documented else []
    assert [(kind, at, text.rpartition(" | ")[0]) for kind, at, text in below(line, version)] == expected


def test_values_and_releases_below_open_places_are_those_of_the_documents() -> None:
    assert below("service: {ptp: {1: {domain: 128}}}") == [
        ("malformed-value", 1, "service ptp 1 domain | '128' | a whole number from 0 to 127")
    ]
    (found,) = below("service: {dhcp-relay: {default: {server: {10.0.0.1: {}}}}}")
    assert (found[0], found[2].split(" | ")[:2]) == (
        "setting-of-another-release",
        ["service dhcp-relay default server", "5.13 and earlier"],
    )


def test_published_settings_are_only_below_open_places() -> None:
    def unreached(typed: WordsAfterPath, stated: Any, path: tuple[str, ...]) -> list[str]:
        """The words that schema.yaml does not leave open."""
        found = []
        for word, below in stated.items():
            chosen = typed.chosen.below if typed.chosen and word == f"<{typed.chosen.name}>" else None
            node = typed.words.get(word) or chosen
            if isinstance(node, SettingLeaf) or (node is None and word and not typed.open):
                found.append(" ".join((*path, word)))
            elif isinstance(node, WordsAfterPath) and isinstance(below, dict) and (node.words or node.chosen):
                found += unreached(node, below, (*path, word))
        return found

    settings, releases = read_published_settings()
    assert releases == {(5, minor) for minor in range(9, 19)}
    assert unreached(schema_without_published_words(), settings, ()) == []


def test_releases_of_other_systems_are_not_those_of_the_schema() -> None:
    assert below("qos:\n  pfc-watchdog:\n    recovery-interval: 3", "HBN 2.4.0") == []
    assert below("router:\n  bgp: {state: enabled}", "HBN 2.4.0") == []


@pytest.mark.parametrize(
    ("body", "kind", "line", "facts"),
    [
        ("qos:\n  egress-shaper:\n    idle:\n      port-max-rate: 10G", "unit-suffix", 4,
         "qos egress-shaper idle port-max-rate | 10G | kb/s"),
        ("qos:\n  congestion-control:\n    idle:\n      traffic-class: {'3': {probability: 101}}", "malformed-value", 4,
         "qos congestion-control idle traffic-class 3 probability | '101' | a whole number of percent from 0 to 100"),
        ("router:\n  bfd:\n    profile: {fast: {min-rx-interval: 5}}", "malformed-value", 3,
         "router bfd profile fast min-rx-interval | '5' | a whole number of ms from 10 to 4294967"),
        ("system:\n  forwarding:\n    packet-trim: {service-port: swp1, size: 2048}", "malformed-value", 3,
         "system forwarding packet-trim size | '2048' | a whole number of bytes from 256 to 1024"),
        ("vrf:\n  red:\n    router:\n      bgp:\n        neighbor: {swp1: {capabilities: {extended-nexthop: yes}}}",
         "malformed-value", 5,
         "vrf red router bgp neighbor swp1 capabilities extended-nexthop | 'yes' | enabled or disabled or auto"),
        ("router:\n  bgp: {router-id: 10.0.0}", "malformed-value", 2,
         "router bgp router-id | '10.0.0' | an IPv4 address or none"),
    ],
)  # fmt: skip
def test_a_value_out_of_its_range_or_of_another_type(body: str, kind: str, line: int, facts: str) -> None:
    assert below(body) == [(kind, line, facts)]


@pytest.mark.parametrize(
    ("body", "line", "path", "instead"),
    [
        ("vrf:\n  red:\n    router:\n      bgp:\n        neighbor: {swp1: {bfd: {detect-multiplier: 3}}}", 5,
         "vrf red router bgp neighbor swp1 bfd detect-multiplier", "bfd profile"),
        ("interface:\n  bond1: {bond: {lacp-bypass: on}}", 2, "interface bond1 bond lacp-bypass", "enabled"),
        ("service:\n  lldp: {tx-interval: 30}", 2, "service lldp", "system lldp"),
        ("vrf:\n  red:\n    router:\n      bgp:\n        address-family:\n"
         "          ipv4-unicast: {redistribute: {static: {enable: on}}}", 6,
         "vrf red router bgp address-family ipv4-unicast redistribute static enable", "state enabled"),
    ],
)  # fmt: skip
def test_the_words_of_the_other_dialect(body: str, line: int, path: str, instead: str) -> None:
    facts = f"{path} | 5.14 and earlier | the file is of 5.16 | {instead}"
    assert below(body) == [("mixed-dialect", line, facts)]
    assert below(body, "5.14.0") == []


def test_a_file_that_names_no_release_is_of_the_dialect_that_it_mostly_speaks() -> None:
    script = "nv set qos roce enable on\nnv set router bgp enable on\nnv set vrf default router bgp state enabled\n"
    script += "nv set qos roce mode lossless\n"
    because = "the rest of the file has the syntax of 5.14 and earlier"
    assert remarks(script) == [
        ("mixed-dialect", 3, f"vrf default router bgp state | 5.15 and later | {because} | enable on")
    ]


@pytest.mark.parametrize(
    ("qos", "line", "setting"),
    [
        (
            "roce: {mode: lossy}\n  pfc: {default-global: {switch-priority: {'3': {}}}}",
            3,
            "pfc default-global switch-priority",
        ),
        ("roce: {}\n  pfc: {default-global: {tx: disable, rx: disable}}", 3, "pfc default-global tx"),
        ("roce: {mode: lossy}\n  pfc: {default-global: {cable-length: 30}}", 3, "pfc default-global"),
        (
            "roce: {state: enabled}\n  traffic-pool: {default-lossless: {memory-percent: 20}}",
            3,
            "traffic-pool default-lossless",
        ),
    ],
)
def test_a_macro_that_is_taken_back(qos: str, line: int, setting: str) -> None:
    ((kind, at, facts),) = below(f"qos:\n  {qos}")
    assert (kind, at, facts.split(" | ")[0]) == ("macro-contradicted", line, setting)
    assert "macro-contradicted" not in [kind for kind, _, _ in below(f"qos:\n  {qos.replace('roce:', 'lldp-tlv:')}")]


def assert_keeps_to_the_schema(device: Device) -> None:
    for artifact in writer.write(device, Index(alone(device))):
        if artifact.path.endswith((".yaml", ".nv")):
            kinds = {"dangling-reference", "unused-profile"} if artifact.path.startswith("apply/") else set()
            remarks = [one for one in read(artifact.text).remarks if one.kind not in kinds | OF_MEANING]
            assert remarks == []


@given(devices())
def test_the_writer_keeps_to_the_schema(device: Device) -> None:
    assert_keeps_to_the_schema(device)


@pytest.mark.parametrize("style", ["macro", "explicit"])
@pytest.mark.parametrize("release", RELEASES)
def test_the_writer_keeps_to_the_schema_in_every_release(release: str, style: QosStyle) -> None:
    for device in fabric("two-by-two").devices:
        assert_keeps_to_the_schema(as_nvue(device, release, style))


def test_what_switches_have_in_common_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[tuple[str, ...]] = []
    look = schema_check._find_faults

    def counted(place: WordsAfterPath, value: Any, path: tuple[str, ...], found: Any) -> None:
        walked.append(path)
        look(place, value, path, found)

    monkeypatch.setattr(schema_check, "_find_faults", counted)
    body = "qos:\n  roce: {mode: lossless, cable-length: 77}\n  pfc-watchdog: {robustness: 9}\nsystem:\n  hostname: %s"
    assert below(body % "a") == []
    assert ("qos", "roce") in walked
    walked.clear()
    assert below(body % "b") == []
    assert walked == [(), ("system",)]


def spans(place: WordsAfterPath) -> set[Release]:
    """The releases that the schema names."""
    nodes = [*place.words.values(), *([place.chosen.below] if place.chosen else [])]
    found: set[SettingAvailability] = {node.span for node in nodes}
    for node in nodes:
        if isinstance(node, SettingLeaf):
            found |= {choice.span for choice in node.choices}
        else:
            found |= {SettingAvailability(since=release) for release in spans(node)}
    return {release for span in found for release in (span.since, span.until) if release}


def test_the_schema_names_releases_that_there_are() -> None:
    assert spans(schema_root()) == {(5, minor) for minor in range(9, 20)}


def _sessions(count: int, word: str = "route-map") -> str:
    """A process with sessions that differ in their descriptions alone."""
    said = "address-family:\n{0}    ipv4-unicast:\n{0}      policy:\n{0}        outbound:\n{0}          {1}: out\n"
    own = said.format(" " * 16, word)
    rows = (
        f"              swp{n}:\n                {own}                description: to {n}\n" for n in range(1, count)
    )
    return f"    vrf:\n      default:\n        router:\n          bgp:\n            neighbor:\n{''.join(rows)}"


def test_what_many_sessions_say_alike_is_held_against_the_schema_once_in_each_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same fault is told again in the next file, where it stands there."""
    looked: list[str] = []
    plain = schema_check._check_value

    def value(leaf: SettingLeaf, said: Any, path: tuple[str, ...], found: Any) -> None:
        looked.append(path[-1])
        plain(leaf, said, path, found)

    monkeypatch.setattr(schema_check, "_check_value", value)
    below(_sessions(41))
    assert (looked.count("route-map"), looked.count("description")) == (1, 40)
    first, second = (below(f"{before}{_sessions(4, 'route-mapp')}") for before in ("", "    # one line more\n"))
    assert [(kind, line) for kind, line, _ in first if kind == "unknown-setting"] == [("unknown-setting", 11)]
    assert [(kind, line) for kind, line, _ in second if kind == "unknown-setting"] == [("unknown-setting", 12)]


def test_a_note_has_the_number_of_faults_that_are_not_listed() -> None:
    text = "nv set system hostname sw1\n" + "".join(f"nv set qos x{number} 1\n" for number in range(230))
    text += "".join(f"nv set interface swp{port} qos x0 1\n" for port in (1, 2))
    found = read(text)
    assert len(found.remarks) == 200
    assert [(note.kind, note.message) for note in found.notes] == [
        ("not-listed", "31 more settings that do not fit the schema of NVUE are not listed")
    ]


def test_no_note_if_all_faults_are_listed() -> None:
    found = read("".join(f"nv set qos x{number} 1\n" for number in range(200)))
    assert (len(found.remarks), found.notes) == (200, ())
