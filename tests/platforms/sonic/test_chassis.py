"""Chassis: a device for each ASIC, and keys that name host and ASIC; lists of ports, which not every daemon takes."""

import json
from typing import Any

import pytest

from nodrop import platforms
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.model.subject import parse_subject
from support.sonic_configs import NAME, read, remarks, stock

HERE = {"hostname": "lc3", "asic_name": "asic0", "sub_role": "FrontEnd", "switch_type": "voq"}


def line_card(**tables: Any) -> dict[str, Any]:
    rows = {
        f"{where}|Ethernet0|{queue}": {"scheduler": scheduler, "wred_profile": "AZURE_LOSSLESS"}
        for where, scheduler in (
            ("lc3|Asic0", "scheduler.1"),
            ("lc3|Asic1", "scheduler.0"),
            ("lc4|Asic0", "scheduler.0"),
        )
        for queue in ("3", "4")
    }
    config = stock(**{"QUEUE": rows, "BUFFER_QUEUE": None} | tables)
    config["DEVICE_METADATA"]["localhost"] |= HERE
    return config


def weights(device: Device) -> dict[int, int]:
    queues = device.interfaces[0].qos.queues
    return {queue.index: queue.scheduler.weight for queue in queues if queue.scheduler}


def test_queues_of_this_asic_alone_are_read() -> None:
    reading = read(line_card())
    assert weights(reading.device) == {3: 15, 4: 15}
    assert [one.name for one in reading.device.interfaces] == ["Ethernet0", "Ethernet8"]
    assert remarks(reading) == []


def test_each_asic_of_a_chassis_has_its_queues_though_their_tables_are_equal() -> None:
    first, second = line_card(), line_card()
    second["DEVICE_METADATA"]["localhost"]["asic_name"] = "asic1"
    assert [weights(read(config).device) for config in (first, second, first)] == [
        {3: 15, 4: 15},
        {3: 14, 4: 14},
        {3: 15, 4: 15},
    ]


def test_queues_by_asic_are_unknown_where_the_file_does_not_say_which_asic_it_is_of() -> None:
    config = line_card()
    for key in ("hostname", "asic_name"):
        del config["DEVICE_METADATA"]["localhost"][key]
    assert all(isinstance(port.qos.queues, Unknown) for port in read(config).device.interfaces)


@pytest.mark.parametrize("subject", ["Ethernet0/qos/queues/3", "Ethernet0/qos/queues/3/scheduler"])
def test_their_place_is_the_row_of_this_asic(subject: str) -> None:
    lines = json.dumps(line_card(), indent=1).split("\n")
    place = platforms.make_place_finder("sonic", {"config_db.json": "\n".join(lines).encode()})(
        ("lc3-asic0", *parse_subject(subject))
    )
    assert place is not None
    line = lines[place.span.line - 1]
    assert line.strip() == ('"lc3|Asic0|Ethernet0|3": {' if subject.endswith("3") else '"scheduler": "scheduler.1",')
    lines[place.span.line - 1] = line.replace("Asic0", "Asic7").replace("scheduler.1", "scheduler.0")
    changed = weights(read("\n".join(lines)).device)
    assert changed == ({4: 15} if subject.endswith("3") else {3: 14, 4: 15})


def test_a_device_for_each_asic_that_knows_the_others() -> None:
    neighbors = {
        "Ethernet0": {"name": "ASIC2", "port": "Ethernet8"},
        "Ethernet8": {"name": "spine1", "port": "Ethernet0"},
    }
    reading = read(line_card(DEVICE_NEIGHBOR=neighbors))
    assert reading.device.name == "lc3-asic0"
    assert [cable.remote.node for cable in reading.cables] == ["lc3-asic2", "spine1"]
    alone = stock(DEVICE_NEIGHBOR=neighbors)
    assert [cable.remote.node for cable in read(alone).cables] == ["ASIC2", "spine1"]


def test_a_list_of_ports_names_none_to_the_watchdog() -> None:
    """sonic-swss orchagent/pfcwdorch.cpp createEntry: the key is the name of a port."""
    row = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    reading = read(stock(PFC_WD={"Ethernet0,Ethernet8": row}))
    assert [one.qos.pfc_watchdog for one in reading.device.interfaces] == [None, None]
    assert remarks(reading) == [f"comma-port-list at {NAME}/Ethernet0: key Ethernet0,Ethernet8, table PFC_WD"]


ROW = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}


def test_a_switch_with_virtual_output_queues_refuses_keys_without_host_and_asic() -> None:
    """sonic-swss orchagent/qosorch.cpp handleQueueTable: "Must contain 4 tokens"."""
    reading = read(line_card(QUEUE={"Ethernet0|3": ROW, "lc3|Asic0|Ethernet0|4": ROW, "Ethernet8|3-4": ROW}))
    assert weights(reading.device) == {4: 15}
    refused = [f"QUEUE/{key}" for key in ("Ethernet0|3", "Ethernet8|3-4")]
    assert [f"{one.facts['table']}/{one.facts['key']}" for one in reading.remarks] == refused
    assert {one.facts["expected"] for one in reading.remarks} == {"host|asic|port|queue"}


@pytest.mark.parametrize(
    ("version", "refused"),
    [("version_4_0_3", 0), ("version_202305_01", 0), ("version_4_0_4", 1), ("version_202311_01", 1)],
)
def test_an_older_switch_with_virtual_output_queues_takes_them(version: str, refused: int) -> None:
    """The main branch had version_4_0_4 when sonic-swss pull request 2855 came, and branch 202305 never had it."""
    reading = read(line_card(QUEUE={"Ethernet0|3": ROW}, VERSIONS={"DATABASE": {"VERSION": version}}))
    assert weights(reading.device) == ({} if refused else {3: 15})
    assert [one.kind for one in reading.remarks] == ["refused-queue-key"] * refused


def test_any_other_switch_refuses_keys_with_host_and_asic() -> None:
    config = line_card(QUEUE={"lc3|Asic0|Ethernet0|3": ROW, "Ethernet0|4": ROW})
    del config["DEVICE_METADATA"]["localhost"]["switch_type"]
    reading = read(config)
    assert weights(reading.device) == {4: 15}
    assert [str(one.subject[1:]) for one in reading.remarks] == ["('Ethernet0', 'qos', 'queues', '3')"]
    assert reading.remarks[0].facts["expected"] == "port|queue"


@pytest.mark.parametrize(
    ("name", "role", "kind"),
    [
        ("Ethernet-Rec0", None, "recirculation"),
        ("Ethernet-IB1", None, "inband"),
        ("Ethernet24", "Rec", "recirculation"),
        ("Ethernet24", "Inb", "inband"),
        ("Ethernet-Rec0", "Ext", None),
        ("Ethernet24", "Dpc", None),
        ("Ethernet-BP0", None, None),
    ],
)
def test_ports_that_lead_back_into_the_chip_do_not_pause(name: str, role: str | None, kind: str | None) -> None:
    config = stock()
    config["PORT"][name] = {"lanes": "221", "speed": "400000"} | ({"role": role} if role else {})
    assert "pause-inside-chip" not in {one.kind for one in read(config).remarks}
    config["PORT_QOS_MAP"][name] = {"pfc_enable": "3,4"}
    found = [one.facts["kind"] for one in read(config).remarks if one.kind == "pause-inside-chip"]
    assert found == ([] if kind is None else [kind])


def test_a_lossless_priority_group_of_such_a_port_is_found_without_pfc() -> None:
    config = stock()
    config["PORT"]["Ethernet-Rec0"] = {"lanes": "221", "speed": "400000", "role": "Rec"}
    profile = {"pool": "ingress_lossless_pool", "size": "4000", "xoff": "40000", "dynamic_th": "0"}
    config["BUFFER_PROFILE"]["headroom"] = profile
    config["BUFFER_PG"]["Ethernet-Rec0|3-4"] = {"profile": "headroom"}
    found = [one.facts["found"] for one in read(config).remarks if one.kind == "pause-inside-chip"]
    assert found == ["a lossless priority group"]
