"""Commands of Broadcom's and AMD's tools, and of iproute2: each sets facts of a NIC, and unknown ones are notes."""

import pytest

from nodrop.model.nics import value_or_none
from nodrop.model.reading import HostReading, Source
from nodrop.platforms import hosts


def read(text: str) -> HostReading:
    return hosts.read_host("gpu1", [(Source(name="qos.sh", display="qos.sh"), text.encode())])


def facts(reading: HostReading) -> list[tuple[str, dict[str, object]]]:
    """Return what is said of each part, its DSCPs with a priority as pairs."""
    found = []
    for nic in reading.nics:
        held = {field: value_or_none(nic, field) for field in FIELDS if value_or_none(nic, field) is not None}
        table = value_or_none(nic, "dscp_to_priority") or ()
        pairs = {dscp: priority for dscp, priority in enumerate(table) if priority is not None}
        found.append((nic.part, held | ({"map": pairs} if pairs else {})))
    return found


FIELDS = ("trust", "pfc_priorities", "cnp_dscp", "cnp_priority", "dcqcn_priorities", "link_pause", "mtu_bytes", "kept")


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        (
            "/opt/bnxt_setupcc.sh -d bnxt_re0 -i p1p1 -m 3 -s 26 -p 48 -r 3 -c 7 -u 3",
            "p1p1",
            {"pfc_priorities": (3,), "cnp_dscp": 48, "cnp_priority": 7, "dcqcn_priorities": (3,), "map": {26: 3}},
        ),
        (
            "bnxt_setupcc.sh -d bnxt_re0 -i p1p1 -m 2 -s 0x1a -p 0x30 -r 3 -c 7",
            "p1p1",
            {"pfc_priorities": (), "cnp_dscp": 48, "cnp_priority": 7, "dcqcn_priorities": (3,), "map": {26: 3}},
        ),
        (
            "bnxt_setupcc.sh -d bnxt_re0 -i p1p1 -m 1 -s 26 -r 3",
            "p1p1",
            {"pfc_priorities": (3,), "map": {26: 3}},
        ),
    ],
)
def test_bnxt_setupcc(text: str, part: str, expected: dict[str, object]) -> None:
    assert facts(read(text)) == [(part, expected | {"link_pause": False, "kept": False})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("niccli -dev p1 set_pfc enabled=3", {"pfc_priorities": (3,)}),
        ("bnxtqos -dev=p1 set_pfc enabled=none", {"pfc_priorities": ()}),
        ("niccli --dev p1 qos --pfc --enable 3", {"pfc_priorities": (3,)}),
        ("niccli --dev p1 qos --pfc --enable 0xFF", {"pfc_priorities": ()}),
        ("bnxtqos -dev=p1 set_apptlv app=3,5,26", {"map": {26: 3}}),
        ("niccli --dev p1 qos --apptlv --add --app 7,5,48", {"map": {48: 7}}),
        ("dcb pfc set dev p1 prio-pfc all:off 3:on 4:on", {"pfc_priorities": (3, 4)}),
        ("dcb app add dev p1 dscp-prio 26:3 48:6", {"map": {26: 3, 48: 6}}),
        ("nicctl update qos -p p1 --classification-type DSCP", {"trust": "dscp"}),
        ("nicctl update qos -p p1 dscp-to-priority --dscp 24,26-27 --priority 3", {"map": {24: 3, 26: 3, 27: 3}}),
        (
            "nicctl update port -p p1 --pause-type pfc --rx-pause enable --mtu 9000",
            {"link_pause": False, "mtu_bytes": 9000},
        ),
        ("nicctl update port -p p1 --pause-type link", {"link_pause": True}),
        ("nicctl update qos -p p1 pfc --priority 3 --no-drop enable", {"pfc_priorities": (3,)}),
    ],
)
def test_a_command_of_another_tool(text: str, expected: dict[str, object]) -> None:
    assert facts(read(text)) == [("p1", expected | {"kept": False})]


def test_priorities_are_added_and_taken_out_in_turn() -> None:
    lines = [
        f"nicctl update qos pfc --priority {one} --no-drop {way}"
        for one, way in ((0, "enable"), (3, "enable"), (0, "disable"))
    ]
    assert facts(read("\n".join(lines))) == [("", {"pfc_priorities": (3,), "kept": False})]


@pytest.mark.parametrize(
    ("text", "models"),
    [
        ("nicctl update qos --classification-type dscp", ("Pollara-400",)),
        ("bnxt_setupcc.sh -i p1p1 -r 3", ("Thor-2",)),
        ("nicctl update qos --classification-type dscp\nbnxt_setupcc.sh -i p1p1 -r 3", ("Pollara-400", "Thor-2")),
        ("nicctl update qos --classification-type dscp\nmlnx_qos -i eth0 --trust dscp", ()),
        ("dcb pfc set dev p1 prio-pfc 3:on", ()),
    ],
)
def test_for_which_nics_a_script_is(text: str, models: tuple[str, ...]) -> None:
    assert {nic.models for nic in read(text).nics} == {models}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bnxt_setupcc.sh -i p1p1 -r 3 -q 1", "bnxt_setupcc.sh has no option -q"),
        ("echo\nnicctl update qos --shape 3", "nicctl update qos --shape 3: not read"),
        ("nicctl update tables --x 3", "nicctl update tables --x 3: not read"),
        ("niccli -i 1 qos --shape --x 3", "niccli -i 1 qos --shape --x 3: not read"),
    ],
)
def test_an_unknown_option_is_a_note(text: str, message: str) -> None:
    notes = read(text).notes
    assert [(one.message, one.file, one.line) for one in notes] == [(message, "qos.sh", text.count("\n") + 1)]


@pytest.mark.parametrize(
    "text",
    [
        "nicctl update qos dscp-to-purpose --dscp 46 --purpose xccl-cts",
        "nicctl update qos scheduling --priority 0,1 --dwrr 99,1",
        "nicctl show qos",
        "niccli -dev 1 get_qos",
        "niccli -i 1 qos --ets --show",
        "niccli -i 1 nvm --setoption support_rdma --scope 0 --value 1",
    ],
)
def test_commands_that_are_no_fact_are_no_note(text: str) -> None:
    reading = read(f"{text}\nmlnx_qos -i eth0 --trust dscp")
    assert not reading.notes
    assert [nic.part for nic in reading.nics] == ["eth0"]
