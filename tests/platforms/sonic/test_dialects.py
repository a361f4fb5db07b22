"""One switch as different programs write it: the same facts, and places at which altering the text alters the fact."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nodrop import platforms
from nodrop.model.compare import differences
from nodrop.model.fabric import Device
from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND, DeviceReading, FilePlace
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.sonic.reader import detect
from support.sonic_configs import NAME, read, read_bundle, stock

FRR = """frr version 10.3
hostname sw1
ip route 192.0.2.0/24 10.0.0.1
router bgp 65001
 bgp router-id 10.1.0.1
 neighbor 10.0.0.1 remote-as 65002
 neighbor 10.0.0.1 description say "peer"
 !
 address-family ipv4 unicast
  maximum-paths 64
 exit-address-family
exit
"""
BGPD, STATICD = "".join(FRR.split("ip route 192.0.2.0/24 10.0.0.1\n")), "ip route 192.0.2.0/24 10.0.0.1\n"
Texts = dict[str, str]


def config(**localhost: str) -> dict[str, Any]:
    tables = stock(PFC_WD={"Ethernet0": {"action": "drop", "detection_time": "200"}})
    tables["DEVICE_METADATA"]["localhost"] |= {"docker_routing_config_mode": "split-unified"} | localhost
    return tables


def text(data: Any) -> str:
    return json.dumps(data, indent=4) + "\n"


def with_frr(data: dict[str, Any], said: str = FRR) -> dict[str, Any]:
    """What `show runningconfiguration all` adds."""
    return data | {"bgpraw": f"Building configuration...\n\nCurrent configuration:\n!\n{said}!\nend\n"}


def dumped(data: dict[str, Any], row: Callable[[Any], Any] = lambda row: row) -> dict[str, Any]:
    """The rows of a database by their keys."""
    return {f"{table}|{key}": row(fields) for table, rows in data.items() for key, fields in rows.items()}


def in_redis(fields: dict[str, str]) -> dict[str, Any]:
    value = {"lanes@" if name == "lanes" else name: said for name, said in fields.items()} or {"NULL": "NULL"}
    return {"expireat": 1.5, "ttl": -0.001, "type": "hash", "value": value}


def only(*tables: str) -> dict[str, Any]:
    return {table: rows for table, rows in config().items() if table in tables}


BUFFERS = ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH")
QOS = ("WRED_PROFILE", "SCHEDULER", "QUEUE", "PORT_QOS_MAP", *(one for one in stock() if "_TO_" in one))
REST = tuple(table for table in config() if table not in (*BUFFERS, *QOS))
WHOLE: Texts = {"config_db.json": text(config()), "frr.conf": FRR}
OLD = {"PFC_WD": {"Ethernet0": {"action": "alert", "detection_time": "999"}}, "PORT": {"Ethernet0": {}}}
DIALECTS: dict[str, Texts] = {
    "files of the daemons": {
        "config_db.json": text(config(docker_routing_config_mode="split")),
        "staticd.conf": STATICD,
        "bgpd.conf": BGPD,
        "zebra.conf": "hostname sw1\nlog syslog\n",
    },
    "files of the daemons and one that is removed": {
        "config_db.json": text(config(docker_routing_config_mode="split")),
        "bgpd.conf": BGPD,
        "staticd.conf": STATICD,
        "zebra.conf": "log syslog\n",
        "frr.conf": "router bgp 1\n",
    },
    "files of daemons that are removed": WHOLE | {"bgpd.conf": "router bgp 1\n"},
    "running": {"config_db.json": text(with_frr(config()))},
    "running, beside a file": {"config_db.json": text(with_frr(config())), "frr.conf": FRR},
    "running, in a terminal": {
        "config_db.json": "admin@sw1:~$ show runningconfiguration all\n" + text(with_frr(config())) + "admin@sw1:~$ \n"
    },
    "running, in one line": {"config_db.json": json.dumps(with_frr(config()))},
    "running, in its namespace": {"config_db.json": text({"localhost": with_frr(config())})},
    "the rows of a database": WHOLE | {"config_db.json": text(dumped(config()))},
    "a dump of the database": WHOLE | {"config_db.json": text(dumped(config(), in_redis))},
    "QoS and buffers in what the image begins with": {
        "config_db.json": text(only(*REST)),
        "init_cfg.json": text(only(*BUFFERS, *QOS)),
        "frr.conf": FRR,
    },
    "over what the image begins with": WHOLE | {"init_cfg.json": text(OLD)},
    "fields of a row in two files": WHOLE
    | {
        "config_db.json": text(config() | {"PFC_WD": {"Ethernet0": {"action": "drop"}}}),
        "init_cfg.json": text({"PFC_WD": {"Ethernet0": {"action": "alert", "detection_time": "200"}}}),
    },
}


def device(texts: Texts) -> Device:
    return replace(read_bundle(texts).device, buffer_pools=())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_says_the_same(dialect: str) -> None:
    reading = read_bundle(DIALECTS[dialect])
    assert list(differences(device(WHOLE), device(DIALECTS[dialect]))) == []
    assert (reading.problems, reading.remarks) == ((), ())
    assert [note.message for note in reading.notes if note.kind == UNKNOWN_LINE_NOTE_KIND] == []
    assert detect("anything.txt", DIALECTS[dialect]["config_db.json"].encode())


@pytest.mark.parametrize(
    ("dialect", "unused"),
    [
        ("files of the daemons", {}),
        ("files of the daemons and one that is removed", {"frr.conf": "the bgp container deletes it when it starts"}),
        ("files of daemons that are removed", {"bgpd.conf": "the bgp container deletes it when it starts"}),
        ("running, beside a file", {"frr.conf": "the configuration that FRR runs is given, and was checked instead"}),
    ],
)
def test_a_file_that_frr_does_not_read_is_noted(dialect: str, unused: dict[str, str]) -> None:
    notes = read_bundle(DIALECTS[dialect]).notes
    assert [(note.kind, note.message, note.file) for note in notes] == [
        ("not-read", f"{name} was not checked: {why}", name) for name, why in unused.items()
    ]


def unknown_lines(texts: Texts) -> list[tuple[str, str | None]]:
    return [(note.text, note.file) for note in read_bundle(texts).notes if note.kind == UNKNOWN_LINE_NOTE_KIND]


def test_a_file_of_one_daemon_alone_says_nothing_of_the_others() -> None:
    zebra = {"zebra.conf": "interface Ethernet0\n shutdown\n!\nip route 192.0.2.0/24 10.0.0.1\n"}
    device = read_bundle(zebra).device
    assert (device.bgp, device.static_routes, device.shut_by_daemon) == (UNKNOWN, UNKNOWN, ("Ethernet0",))
    assert unknown_lines(zebra) == [("ip route 192.0.2.0/24 10.0.0.1", "zebra.conf")]
    device = read_bundle({"bgpd.conf": "router bgp 65001\n"}).device
    assert isinstance(device.bgp, Bgp)
    assert (device.static_routes, device.shut_by_daemon) == (UNKNOWN, UNKNOWN)


def test_addresses_of_frr_are_unknown_lines_unless_the_tables_give_them() -> None:
    lines = "interface Ethernet0\n ip address 10.0.0.0/31\n ip address 10.0.0.2/31\n"
    lines += "interface Ethernet8\n ip address 10.0.0.0/31\n"
    tables = config() | {"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}}
    texts = {"config_db.json": text(tables), "frr.conf": FRR + lines}
    places = [("ip address 10.0.0.2/31", "frr.conf"), ("ip address 10.0.0.0/31", "frr.conf")]
    assert unknown_lines(texts) == places


def test_files_of_daemons_beside_frr_conf_are_noted_where_no_table_states_the_mode() -> None:
    (note,) = read_bundle({"frr.conf": "hostname a\n", "bgpd.conf": "router bgp 65001\n"}).notes
    assert note.message == "bgpd.conf was not checked: frr.conf is given, and the daemons start with that"


SUBJECTS = {
    "Ethernet0/mtu_bytes": ('"9100"', '"9000"'),
    "Ethernet0/lanes": ('"0,1,2,3,4,5,6,7"', '"0,1,2,3"'),
    "Ethernet0/cable_length_m": ('"7m"', '"8m"'),
    "Ethernet0/qos/dscp_to_tc/46": ('"5"', '"6"'),
    "Ethernet0/qos/pfc_watchdog/detection_ms": ('"200"', '"300"'),
    "Ethernet0/qos/pfc_watchdog/action": ('"drop"', '"forward"'),
    "Ethernet0/qos/queues/3/wred/green/min_bytes": ('"1048576"', '"1"'),
    "Ethernet0/qos/priority_groups/0/buffer/dynamic_th": ('"3"', '"4"'),
    "@buffer_pools/egress_lossy/size_bytes": ('"56000000"', '"5"'),
    "@version": ('"version_202505_01"', '"version_202511_01"'),
    "@bgp/router_id": ("bgp router-id 10.1.0.1", "bgp router-id 10.1.0.2"),
    "@bgp/maximum_paths": ("maximum-paths 64", "maximum-paths 32"),
    "@static_routes": ("ip route 192.0.2.0/24 10.0.0.1", "ip route 192.0.2.0/24 10.0.0.9"),
    "@neighbors/10.0.0.1": ("neighbor 10.0.0.1 remote-as 65002", "neighbor 10.0.0.1 remote-as 65003"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("subject", [*SUBJECTS, "@neighbors/10.0.0.1/description"])
def test_altering_the_text_at_a_place_alters_the_fact(dialect: str, subject: str) -> None:
    texts = DIALECTS[dialect]
    quote = '\\"' if '"bgpraw"' in texts["config_db.json"] else '"'
    described = (f"neighbor 10.0.0.1 description say {quote}peer{quote}", "neighbor 10.0.0.1 description other")
    old, new = SUBJECTS.get(subject, described)
    place = platforms.make_place_finder("sonic", {name: one.encode() for name, one in texts.items()})(
        (NAME, *parse_subject(subject))
    )
    assert place is not None
    assert cut(place, texts) == old
    changed = list(differences(device(texts), device(altered(place, texts, new))))
    plain = subject.replace("@neighbors", "bgp/neighbors").replace("@", "").split("/")
    if subject.startswith("@buffer_pools"):
        pools = read_bundle(texts).device.buffer_pools, read_bundle(altered(place, texts, new)).device.buffer_pools
        assert pools[0] != pools[1]
    else:
        assert changed
        paths = {"/".join(one.path) for one in changed}
        assert all(plain[-1] in path or plain[-2:][0] in path for path in paths), paths


def cut(place: FilePlace, texts: Texts) -> str:
    line = texts[place.file].split("\n")[place.span.line - 1]
    return line[place.span.column - 1 : place.span.end_column - 1]


def altered(place: FilePlace, texts: Texts, new: str) -> Texts:
    lines = texts[place.file].split("\n")
    line = lines[place.span.line - 1]
    lines[place.span.line - 1] = line[: place.span.column - 1] + new + line[place.span.end_column - 1 :]
    return texts | {place.file: "\n".join(lines)}


def test_configurations_below_other_keys_are_asked_for_one_by_one() -> None:
    """A file of a test or an archive, in which no key is a table."""
    before, after = {"PORT": {"Ethernet0": {"mtu": "9100"}}}, {"DEVICE_METADATA": {"localhost": {}}}
    (problem,) = read({"before": before, "after": after}).problems
    assert (problem.found, problem.expected) == ("no tables, but configurations under 'before', 'after'", "tables")
    assert problem.hint == "save each configuration into a separate file"


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        pytest.param(
            {"before": {"PORT": {}}, "after": {"PORT": {}}, "comment": "a test"},
            "no tables, but configurations under 'before', 'after'",
            id="a comment beside",
        ),
        pytest.param(
            {name: {"DEVICE_METADATA": {}, "PORT": {}} for name in ("LEAF1", "LEAF2")},
            "no tables, but configurations under 'LEAF1', 'LEAF2'",
            id="names of devices in capitals",
        ),
        pytest.param(
            {f"k{number}": {"PORT": {}} for number in range(1004)},
            "no tables, but configurations under 'k0', 'k1', 'k2', 'k3' and 1,000 more",
            id="more keys than a line holds",
        ),
    ],
)
def test_configurations_are_told_from_tables_and_the_first_named(tables: dict[str, Any], found: str) -> None:
    (problem,) = read(tables).problems
    assert (problem.found, problem.hint) == (found, "save each configuration into a separate file")


def test_the_only_configuration_below_a_key_is_to_be_the_file() -> None:
    (problem,) = read({"data": {"PORT": {}}}).problems
    assert problem.found == "no tables, but a configuration under 'data'"
    assert problem.hint == "save the object under 'data' as the file"


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param({"before": {"PORT": {}}, "after": {"NTP": {}}}, id="one key that holds no configuration"),
        pytest.param({"before": {"PORT": {}}, "VLAN": {}}, id="a table beside"),
        pytest.param({"FLEX_COUNTER_TABLE": {"PORT": {}}}, id="a row of the name of a table"),
    ],
)
def test_tables_beside_configurations_are_read(tables: dict[str, Any]) -> None:
    assert read(tables).problems == ()


def test_asics_in_one_file_are_asked_for_one_by_one() -> None:
    (problem,) = read_bundle({"config_db.json": text({"localhost": {}, "asic0": config(), "asic1": config()})}).problems
    assert (problem.found, problem.expected) == ("the configurations of asic0, asic1", "one ASIC's")
    assert problem.hint == "save each ASIC's into a separate file"


def test_a_prompt_around_broken_json_moves_no_line() -> None:
    broken = "admin@sw1:~$ show runningconfiguration all\n{\n    'PORT': {}\n}\nadmin@sw1:~$ \n"
    (problem,) = read_bundle({"config_db.json": broken}).problems
    assert (problem.line, problem.column, problem.found) == (3, 5, "a single quote")
    (problem,) = read_bundle({"config_db.json": '{\n"PORT": {\n}\n,\n"X\n'}).problems
    assert problem.line == 5


def test_a_doubled_key_is_found_in_its_file() -> None:
    texts = WHOLE | {"qos.json": '{\n"QUEUE": {},\n"QUEUE": {}\n}'}
    (remark,) = read_bundle(texts).remarks
    assert remark.place is not None
    assert (remark.kind, remark.place.file, remark.place.span.line) == ("duplicate-key", "qos.json", 3)


def test_parts_without_the_whole_stay_parts() -> None:
    reading: DeviceReading = read_bundle({"qos.json": text(only(*QOS)), "buffers.json": text(only(*BUFFERS))})
    (first, _) = reading.device.interfaces
    assert first.cable_length_m == 7
    assert [queue.scheduler.weight for queue in first.qos.queues if queue.scheduler] == [14, 15, 15]
    assert first.qos.pfc_rx_priorities == (3, 4)
    assert [one.name for one in reading.device.interfaces] == ["Ethernet0", "Ethernet8"]


@pytest.mark.parametrize("said", ["router bgp 1\n", FRR + "ip route 192.0.2.9/32 10.0.0.1\n"])
def test_a_file_that_contradicts_what_runs_is_a_problem(said: str) -> None:
    (problem,) = read_bundle({"config_db.json": text(with_frr(config())), "frr.conf": said}).problems
    assert (problem.path, problem.line is not None) == ("config_db.json", True)
    assert "bgpraw" in problem.found
    assert "frr.conf" in problem.found


def test_order_in_which_sessions_stand_is_no_contradiction() -> None:
    more = "router bgp 65001\n neighbor 10.0.0.0 remote-as 65003\n"
    reading = read_bundle({"config_db.json": text(with_frr(config(), FRR + more)), "frr.conf": more + FRR})
    assert reading.problems == ()
