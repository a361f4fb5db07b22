"""Reading intents: what is taken for what, the JSON Schema that editors get, and the defaults that are printed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from ruamel.yaml import YAML

import nodrop
from nodrop import schemas
from nodrop.cli.main import run
from nodrop.design.defaults import AppliedDefault, applied_defaults
from nodrop.errors import InputProblems
from nodrop.intent.load import UNSUPPORTED_VALUES_BY_KEY, loads
from nodrop.resources import resource_folder
from support.designs import Data, build, changed, data_of, load, shipped
from support.places import TESTS

SHIPPED = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))


def said(text: str) -> list[str]:
    """What is said of an intent that is refused when it is read."""
    with pytest.raises(InputProblems) as raised:
        loads(text.encode(), "intent.yaml")
    return [str(problem) for problem in raised.value.problems]


def text_of(name: str) -> str:
    return (resource_folder("intents") / f"{name}.yaml").read_text()


def test_scalars_are_typed_by_the_schema() -> None:
    intent = nodrop.load(resource_folder("intents") / "reference-256.yaml")
    topology, gpu = intent.topology, intent.endpoints["gpu"]
    assert (intent.fabric, intent.mode, intent.mtu) == ("reference-256", "lossless", 9216)
    assert topology.leaves.version == "202505"
    assert topology.leaves.ids == (1, 2, 3, 4)
    assert topology.leaves.ports.uplinks == tuple(range(17, 33))
    assert topology.leaves.ports.dead == ()
    assert (topology.uplinks.speed, topology.uplinks.length, topology.max_oversubscription) == (400_000, 30, 1.0)
    assert (gpu.gpus, gpu.ports, gpu.spread, gpu.leaf_group, gpu.leaf_ports) == (8, 2, "leaves", 16, None)
    assert intent.classes["rdma"].dscp == (26,)
    assert intent.classes["default"].dscp == "rest"
    assert intent.classes["rdma"].ecn == type(intent.classes["rdma"].ecn)(min="150kB", max="1500kB", probability="100%")
    assert (intent.classes["rdma"].ecn.min, intent.classes["rdma"].ecn.max) == (150_000, 1_500_000)
    assert intent.classes["cnp"].max_rate == 5
    assert intent.pfc.watchdog.hosts.detection == 200
    assert (intent.buffers.lossless_pool, intent.buffers.alpha, intent.buffers.shared_headroom) == (90, "1", "off")
    assert (intent.hosts.trust, intent.hosts.dcqcn, intent.hosts.rdma_mtu) == ("dscp", True, 4096)
    assert intent.routing.asn["spines"] == (4_200_000_000, "")
    assert intent.routing.asn["leaves"] == (4_200_100_000, "id")
    assert intent.addressing.loopbacks == ("10.0.0.0/16",)
    assert intent.addressing.oob == "192.168.100.0/24"
    assert intent.services.ntp == ("192.0.2.10", "192.0.2.11")


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("topology.leaves.ids", ["1-2", "5"], (1, 2, 5)),
        ("topology.leaves.ports.dead", [], ()),
        ("topology.leaves.ports.dead", "20, 22-23", (20, 22, 23)),
        ("topology.slots_per_device", "256", 256),
        ("topology.max_oversubscription", "1.5", 1.5),
        ("topology.uplinks.speed", "1.6T", 1_600_000),
        ("topology.uplinks.lanes", "4", 4),
        ("services.telemetry.high_frequency.interval", "12.75ms", 12_750),
        ("services.telemetry.high_frequency.interval", "500us", 500),
        ("classes.rdma.dscp", ["26", "30-31"], (26, 30, 31)),
        ("classes.rdma.dscp", "0", (0,)),
        ("hosts.pfc", [], ()),
        ("hosts.pfc", "3", (3,)),
        ("hosts.pfc", ["3-4"], (3, 4)),
        ("addressing.links", ["10.1.0.0/16"], ("10.1.0.0/16",)),
        ("services.ntp", "192.0.2.1", ("192.0.2.1",)),
        ("services.syslog", ["2001:DB8::1"], ("2001:db8::1",)),
        ("buffers.alpha", "1/8", "1/8"),
        ("pfc.watchdog.fabric", "off", "off"),
        ("topology.uplinks.spine_slots", None, None),
    ],
)
def test_other_ways_to_write_it(path: str, value: object, read: object) -> None:
    part: Any = load(changed(shipped("two-by-two"), {path: value}))
    for step in path.split("."):
        part = part[step] if isinstance(part, dict) else getattr(part, step)
    assert part == read


def test_a_version_that_looks_like_a_number_stays_a_text() -> None:
    text = text_of("two-by-two").replace('version: "202505"', "version: 5.10")
    assert loads(text.encode(), "intent.yaml").topology.leaves.version == "5.10"


def test_an_intent_is_frozen() -> None:
    intent = load(shipped("two-by-two"))
    with pytest.raises(ValueError, match="frozen"):
        intent.mtu = 1500  # type: ignore[misc]


def test_aliases_are_followed_and_faults_below_them_have_a_place() -> None:
    text = text_of("two-by-two").replace(
        "ids: 1-2, model: SN4700, platform: sonic", "ids: &two 1-2, model: SN4700, platform: sonic", 1
    )
    text = text.replace("storage: {ids: 1-2", "storage: {ids: *two")
    assert loads(text.encode(), "intent.yaml").endpoints["storage"].ids == (1, 2)
    assert said(text.replace("&two 1-2", "&two 2-1"))[1].startswith(
        "intent.yaml:13:18: endpoints.storage.ids: 2-1 runs"
    )


def test_a_missing_file_a_folder_and_a_file_of_bytes(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"fabric: \xff")
    for name, words in (
        ("none.yaml", "none.yaml: no such file or directory"),
        (".", "a folder"),
        ("bytes.yaml", "byte 0xff at offset 8; expected UTF-8"),
    ):
        with pytest.raises(InputProblems, match=words):
            nodrop.load(tmp_path / name)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputProblems, match="a pipe"):
        nodrop.load(tmp_path / "pipe.yaml")


def test_places_count_code_points_and_survive_windows_line_ends() -> None:
    text = text_of("two-by-two").replace("gpu:     {ids: 1-2", "gpu:     {ids: x").replace("\n", "\r\n")
    assert said("\ufeff# é𝄞\r\n" + text) == [
        "intent.yaml:13:18: endpoints.gpu.ids: x; expected numbers such as 1-16 or 1-4, 7"
    ]
    assert said(text_of("two-by-two") + 'services: {"é𝄞": 1, ntp: x}\n') == [
        "intent.yaml:23:12: services.é𝄞: unknown key é𝄞 (known keys: ntp, syslog, dns, snmp, telemetry)",
        "intent.yaml:23:26: services.ntp: x; expected an address such as 192.0.2.10",
    ]


def test_hostile_words_cannot_steer_a_terminal_or_break_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    intent = tmp_path / "intent.yaml"
    intent.write_text(text_of("two-by-two").replace("gpu: ", '"g\\e[31m\\nu": '))
    assert run(["show", str(intent)]) == 2
    first, *quoted = capsys.readouterr().err.split("\n")[:-1]
    assert first.startswith("error: ")
    assert len(quoted) == 3
    assert all(line.isprintable() and line.lstrip(" 0123456789").startswith("|") for line in quoted)
    (unknown,) = said('"a\\e[2J\\n": 1\n' + text_of("two-by-two"))
    assert unknown.startswith(r"intent.yaml:1:1: a\u001b[2J\u000a: unknown key a\u001b[2J\u000a (known keys: ")


def test_long_words_are_cut() -> None:
    assert said(text_of("two-by-two") + f"mtu: {'9' * 5000}\n") == [
        f"intent.yaml:23:6: mtu: {'9' * 40}…; expected a whole number from 1280 to 9216"
    ]


def test_a_group_or_class_may_be_named_like_a_key() -> None:
    data = shipped("two-by-two")
    data["endpoints"] = {"ports": data["endpoints"]["gpu"] | {"leaf_port": "1"}, "speed": data["endpoints"]["storage"]}
    data["classes"]["ecn"] = data["classes"].pop("storage") | {"min": "1"}
    with pytest.raises(InputProblems) as raised:
        load(data)
    found = {problem.where: problem.message for problem in raised.value.problems}
    assert found["endpoints.ports.leaf_port"] == "unknown key leaf_port (did you mean leaf_ports?)"
    assert found["classes.ecn.min"].startswith("unknown key min (known keys: dscp, priority, purpose, lossless, ")


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        *((pool, "a network of unicast addresses, such as 10.0.0.0/16") for pool in ("0.0.0.0/8", "127.0.0.0/8")),
        *((pool, "a network of unicast addresses, such as 10.0.0.0/16") for pool in ("224.0.0.0/4", "240.0.0.0/16")),
        *(
            (pool, "a network with its prefix length, such as 10.0.0.0/16")
            for pool in ("10.0.0.0", "10.0.0.0/255.0.0.0")
        ),
        *(
            (pool, "a network such as 10.0.0.0/16")
            for pool in ("10.0/16", "10.0.0.0/33", "ten", "10.0.0.256/16", "/16")
        ),
        *(
            (pool, "a network of unicast addresses of IPv6, of 2000::/3 or fc00::/7, such as fd00::/48")
            for pool in ("::/48", "1fff::/16", "4000::/16", "fbff::/16", "fe00::/16", "fe80::/64", "ff00::/16")
        ),
        ("fd00::", "a network with its prefix length, such as 10.0.0.0/16"),
        ("fd00::1/48", "fd00::/48"),
        ("10.0.0.1/8", "10.0.0.0/8"),
    ],
)
def test_pools_that_are_none(pool: str, expected: str) -> None:
    for path in ("addressing.oob", "addressing.links"):
        with pytest.raises(InputProblems) as raised:
            load(changed(shipped("two-by-two"), {path: pool}))
        (problem,) = raised.value.problems
        assert (problem.where, problem.expected) == (path, expected)


def test_the_out_of_band_network_is_ipv4() -> None:
    with pytest.raises(InputProblems) as raised:
        load(changed(shipped("two-by-two"), {"addressing.oob": "fd00::/48"}))
    (problem,) = raised.value.problems
    assert (problem.where, problem.expected) == ("addressing.oob", "an IPv4 network")


@pytest.mark.parametrize(
    "pool",
    [
        *("1.0.0.0/16", "126.0.0.0/8", "128.0.0.0/16", "223.255.0.0/16"),
        *("2000::/16", "3fff:ffff::/32", "fc00::/16", "fdff:ffff::/32"),
    ],
)
def test_pools_at_the_edge(pool: str) -> None:
    assert load(shipped("two-by-two", {"addressing.links": pool})).addressing.links == (pool,)


@pytest.mark.parametrize(("text", "ratio"), [("off", None), ("on", 1), ("1", 1), ("2", 2), ("256", 256)])
def test_shared_headroom(text: str, ratio: int | None) -> None:
    assert load(shipped("two-by-two", {"buffers.shared_headroom": text})).buffers.headroom_over_subscription == ratio


@pytest.mark.parametrize("text", ["0", "257", "1.5", "yes", "2:1"])
def test_what_is_no_ratio_of_shared_headroom(text: str) -> None:
    with pytest.raises(InputProblems) as raised:
        load(shipped("two-by-two", {"buffers.shared_headroom": text}))
    (problem,) = raised.value.problems
    assert (problem.where, problem.expected) == (
        "buffers.shared_headroom",
        "off, on or a whole number from 1 to 256",
    )


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in UNSUPPORTED_VALUES_BY_KEY.items() for value in values]
)
def test_later_values_are_refused_by_name(key: str, value: str) -> None:
    paths = {
        "mode": "mode",
        "platform": "topology.leaves.platform",
        "spread": "endpoints.gpu.spread",
        "protocol": "routing.protocol",
        "balancing": "routing.balancing",
    }
    with pytest.raises(InputProblems) as raised:
        load(changed(shipped("two-by-two"), {paths[key]: value}))
    (problem,) = raised.value.problems
    assert (problem.where, problem.found) == (paths[key], f"{value} is not built by this release")


# --- the JSON Schema


def schema() -> Any:
    return schemas.json_schema("intent")


def yaml_1_2(text: str) -> Any:
    """A document as editors and other programs read it: 1 is a number, off a text; keys are texts, as in JSON."""
    return _with_text_keys(YAML(typ="safe").load(text))


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(child) for key, child in value.items()}
    return [_with_text_keys(child) for child in value] if isinstance(value, list) else value


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "intent"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == schema()
    Draft7Validator.check_schema(printed)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_schema_takes_what_is_shipped(name: str) -> None:
    Draft7Validator(schema()).validate(yaml_1_2(text_of(name)))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a-list", ""),
        ("cable-too-long-for-any", None),
        ("later-platform", "topology.spines.platform"),
        ("dragonfly", "topology.kind"),
        ("missing-keys", "topology"),
        ("quantities-in-foreign-digits", "mtu"),
        ("quantities-out-of-range", "topology.uplinks.per_spine"),
        ("quantities-without-units", "topology.uplinks.speed"),
        ("ranges", "topology.leaves.ports.uplinks"),
        ("ranges-in-braces", "endpoints.gpu"),
        ("slots-not-a-power-of-two", "topology.slots_per_device"),
        ("unknown-keys", "topology.uplinks"),
        ("values-not-known", "pfc.watchdog.hosts.action"),
        ("version-of-the-format", "nodrop"),
        ("wrong-types", "classes.rdma.lossless"),
    ],
)
def test_the_schema_refuses_what_is_wrong_by_itself(name: str, path: str | None) -> None:
    """It knows types, words and ranges, not what needs the catalogue or another key."""
    document = yaml_1_2((TESTS / "design" / "errors" / f"{name}.yaml").read_text())
    wrong = {".".join(map(str, error.absolute_path)) for error in all_errors(document)}
    assert (path in wrong) if path is not None else not wrong


def all_errors(document: Any) -> Iterator[ValidationError]:
    def within(error: ValidationError) -> Iterator[ValidationError]:
        yield error
        for inner in error.context or ():
            yield from within(inner)

    for error in Draft7Validator(schema()).iter_errors(document):
        yield from within(error)


def test_defaults_in_the_schema_are_values_that_it_takes() -> None:
    whole = schema()
    for part in (whole, *whole["$defs"].values()):
        for key, of in part.get("properties", {}).items():
            if "default" in of:
                Draft7Validator(of | {"$defs": whole["$defs"]}).validate(of["default"])
                assert key


def test_every_key_is_described() -> None:
    whole = schema()
    for part in (whole, *whole["$defs"].values()):
        assert part["description"]
        for key, of in part.get("properties", {}).items():
            assert of.get("description") or "$ref" in of or "oneOf" in of, key


# --- defaults


def test_defaults_of_the_smallest_intent() -> None:
    assert {key: value for key, value, _ in applied_defaults(load(shipped("two-by-two")))} == {
        "mode": "lossless",
        "mtu": "9216",
        "topology.max_oversubscription": "1",
        "buffers.alpha": "1",
        "buffers.lossless_pool": "90%",
        "buffers.shared_headroom": "off",
        "hosts.tos": "106",
        "hosts.cnp_dscp": "48",
        "hosts.trust": "dscp",
        "hosts.pfc": "[3]",
        "hosts.dcqcn": "true",
        "hosts.rdma_mtu": "4096",
        "routing.protocol": "ebgp",
        "routing.sessions": "numbered",
        "routing.delivery": "frr.conf",
        "routing.bfd": "false",
        "routing.balancing": "ecmp",
        "endpoints.gpu.spread": "leaves",
        "endpoints.storage.ports": "1",
        "pfc.watchdog.hosts.detection": "200ms",
        "pfc.watchdog.hosts.restoration": "400ms",
        "pfc.watchdog.hosts.action": "drop",
        "pfc.watchdog.fabric.detection": "600ms",
        "pfc.watchdog.fabric.restoration": "1200ms",
        "pfc.watchdog.fabric.action": "drop",
        "pfc.watchdog.polling": "100ms",
        "buffers.pattern_mtu": "1024",
        "topology.slots_per_device": "128",
        "BGP announces routes": "once installed",
        "graceful restart of leaves": "240s",
        "queue reserve at leaves": "9216B",
        "queue reserve at spines": "9216B",
        "addressing.oob gateway": "192.168.100.254",
    }


def test_every_default_has_a_source() -> None:
    assert all(default.source for default in applied_defaults(load(shipped("two-by-two"))))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pfc.watchdog.fabric": "off"}, {}),
        ({"topology.spines.model": "SN5600"}, {"hosts.detection": "400ms", "fabric.detection": "1200ms"}),
        (
            {"topology.leaves.model": "SN5600", "pfc.watchdog.hosts.detection": "1s"},
            {"fabric.detection": "3000ms", "fabric.restoration": "6000ms"},
        ),
        ({"pfc.watchdog.hosts.detection": "1200ms"}, {"fabric.detection": "3600ms", "polling": "600ms"}),
        ({"pfc.watchdog.hosts.detection": "1300ms"}, {"fabric.detection": "3600ms", "polling": "650ms"}),
        ({"pfc.watchdog.hosts.detection": "3s"}, {"fabric": "off", "polling": "1000ms"}),
        ({"pfc.watchdog.hosts.detection": "3900ms", "pfc.watchdog.polling": "100ms"}, {"fabric": "off"}),
        ({"pfc.watchdog.hosts.detection": "3899ms", "pfc.watchdog.polling": "100ms"}, {"fabric.detection": "4100ms"}),
    ],
)
def test_defaults_of_the_watchdogs(changes: dict[str, Any], expected: dict[str, str]) -> None:
    data = changed(shipped("two-by-two"), changes)
    printed = {key.removeprefix("pfc.watchdog."): value for key, value, _ in applied_defaults(load(data))}
    assert expected.items() <= printed.items()
    build(data)
    timers = ("fabric", "fabric.detection", "fabric.restoration", "fabric.action")
    there = [key for key in timers if key in printed]
    assert there == (
        [] if changes.get("pfc.watchdog.fabric") == "off" else ["fabric"] if "fabric" in expected else [*timers[1:]]
    )


def written_out(data: Data) -> Data:
    """The data with every default that is a key of an intent written out."""
    settings = {
        one.key: one.value for one in applied_defaults(load(data)) if " " not in one.key and "," not in one.value
    }
    return changed(data, {key: data_of(f"x: {value}\n")["x"] for key, value in settings.items()})


@pytest.mark.parametrize("name", SHIPPED)
def test_defaults_written_out_give_the_same_fabric(name: str) -> None:
    whole = written_out(shipped(name))
    assert build(whole) == build(shipped(name))
    assert {default.key for default in applied_defaults(load(whole)) if " " not in default.key} == set()


def test_a_default_is_what_it_says() -> None:
    assert AppliedDefault("mtu", "9216", "why") == ("mtu", "9216", "why")


def test_a_length_without_its_unit_is_offered_with_it() -> None:
    text = text_of("two-by-two").replace("length: 30m", "length: 30")
    assert said(text)[0].endswith(
        "topology.uplinks.length: 30; expected a length from 1m to 100000m (did you mean 30m?)"
    )
    assert "did you mean" not in said(text.replace("length: 30", "length: 0"))[0]
