"""What of BGP one line of an frr.conf says, changed in that line and no other."""

import json
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from nodrop.model.change import Change, EditResult
from nodrop.model.edit import get_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Source
from nodrop.model.routing import BgpNeighbor, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.commands import CommandBinding
from nodrop.platforms.kit.bindings import NumberRangeCheck
from nodrop.platforms.sonic.edit import edit
from nodrop.platforms.sonic.reader import read_device
from support.single_faults import clean, written

SPINES = ("10.1.1.225", "10.1.1.233", "10.1.1.241", "10.1.1.249")


def bundle() -> dict[str, bytes]:
    files = written(clean("two-by-two", "sonic", "202505", "{}"))
    return {name: files[f"leaf1/{name}"].encode() for name in ("config_db.json", "frr.conf")}


def edited(files: dict[str, bytes], **changes: object) -> EditResult:
    spelt = {subject.replace("__", "/").replace("AT", "@"): value for subject, value in changes.items()}
    return edit(
        files, [Change(subject=("leaf1", *parse_subject(one)), old=UNKNOWN, new=new) for one, new in spelt.items()]
    )


def lines(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    before, after = old.decode().split("\n"), new.decode().split("\n")
    return [one for one in before if one not in after], [one for one in after if one not in before]


@pytest.mark.parametrize(
    ("subject", "value", "gone", "come"),
    [
        ("@bgp/maximum_paths", 8, ["  maximum-paths 32"], ["  maximum-paths 8"]),
        ("@bgp/maximum_paths", None, ["  maximum-paths 32"], []),
        ("@bgp/multipath_relax", False, [" bgp bestpath as-path multipath-relax"], []),
        ("@bgp/router_id", "10.9.9.9", [" bgp router-id 10.0.0.1"], [" bgp router-id 10.9.9.9"]),
        ("@bgp/asn", 65001, ["router bgp 4200100001"], ["router bgp 65001"]),
        ("@bgp/default_ipv4_unicast", True, [" no bgp default ipv4-unicast"], []),
        ("@bgp/session_dscp", 40, ["bgp session-dscp 56"], ["bgp session-dscp 40"]),
        ("@bgp/restart_s", 100, [" bgp graceful-restart restart-time 240"], [" bgp graceful-restart restart-time 100"]),
        ("@bgp/graceful_restart", False, [" bgp graceful-restart"], []),
        ("@bgp/preserve_forwarding", False, [" bgp graceful-restart preserve-fw-state"], []),
        (
            "@neighbors/10.1.1.225/remote_asn",
            65002,
            [" neighbor 10.1.1.225 remote-as 4200000000"],
            [" neighbor 10.1.1.225 remote-as 65002"],
        ),
        ("@neighbors/10.1.1.225/hold_s", 9, [], [" neighbor 10.1.1.225 timers 3 9"]),
        ("@neighbors/10.1.1.225/enabled", False, [], [" neighbor 10.1.1.225 shutdown"]),
        (
            "@neighbors/10.1.1.225/active",
            False,
            ["  neighbor SPINES activate"],
            [f"  neighbor {one} activate" for one in SPINES[1:]],
        ),
        (
            "@neighbors/10.1.1.225/import_policy",
            "FABRIC-OUT",
            [],
            ["  neighbor 10.1.1.225 route-map FABRIC-OUT in"],
        ),
        ("@neighbors/10.1.1.225/allowas_in", 2, [], ["  neighbor 10.1.1.225 allowas-in 2"]),
    ],
)
def test_one_line_says_it(subject: str, value: object, gone: list[str], come: list[str]) -> None:
    old = bundle()
    made = edited(old, **{subject: value})
    assert made.by_hand == ()
    went, came = lines(old["frr.conf"], made.files["frr.conf"])
    assert came == come
    assert went == gone
    sources = [(Source(name=name, display=name), raw) for name, raw in (old | dict(made.files)).items()]
    device = read_device("leaf1", sources).device
    fabric = Fabric(name="", mode="lossless", devices=(device,))
    assert get_value(fabric, ("leaf1", *parse_subject(subject))) == value


MAPS = ("FABRIC-IN", "FABRIC-OUT")
LISTS = {"@neighbors/10.1.1.225": ("FABRIC", "OWN"), "@neighbors/10.1.1.225/ipv6": ("FABRIC6", "OWN6")}
OF_OTHERS = ("bfd", "ttl_security_hops", "reflector_client")
LEFT_OUT = ("default_ipv4_unicast", "installed_policy", "installed_policy_ipv6")
WORDS: dict[str, object] = {
    "distances": (30, 200, 200),
    "distances_ipv6": (30, 200, 200),
    "router_id": "10.9.9.9",
    "cluster_id": "10.9.9.8",
    "update_source": "Loopback0",
    "description": "to spine 1, port 2",
    "private_asns": "replace",
    "default_policy": "FABRIC-OUT",
    "import_path_list": "PATHS",
    "export_path_list": "PATHS",
}


def another(row: CommandBinding, part: str, old: object) -> object:
    """Return a value of the field of a row that is not the old one."""
    for bounds in row.refuses:
        if isinstance(bounds, NumberRangeCheck):
            return bounds.high if old != bounds.high else bounds.low
    if isinstance(old, bool):
        return not old
    of_command = {"route-map": MAPS, "prefix-list": LISTS.get(part, ())}
    kind = get_type_hints(BgpNeighbor).get(row.field)
    words = get_args(kind) if get_origin(kind) is Literal else (WORDS.get(row.field),)
    names = of_command.get(row.where[0].split()[0], words)
    return next(name for name in names if name != old)


def test_a_field_of_each_row_is_edited_and_taken_back() -> None:
    """Some fields are left out.

    BFD needs its daemon, `ttl_security_hops` excludes `ebgp_multihop`, and sessions without IPv4 rely on
    `default_ipv4_unicast`. Clients of a route reflector are in its AS, which no neighbor here is. The command of a
    policy of installed routes is in no process, and no edit adds it.
    """
    files = written(clean("dual-stack", "sonic", "202505", "{}"))
    old = {name: files[f"leaf1/{name}"].encode() for name in ("config_db.json", "frr.conf")}
    old["frr.conf"] += b"bgp as-path access-list PATHS permit .*\n"
    key = "@neighbors/10.1.1.225"
    fabric = read_back(old)
    written_rows = {
        "@bgp": [row for row in frr_rows.ALL_PROCESS_COMMANDS.rows if row.encode and row.field not in LEFT_OUT],
        key: [row for row in frr_rows.SESSION_AND_FAMILY_COMMANDS.rows if row.encode and row.field not in OF_OTHERS],
        f"{key}/ipv6": [row for row in frr_rows.SESSION_FAMILY_COMMANDS.rows if row.field not in OF_OTHERS],
    }
    values = {}
    for part, rows in written_rows.items():
        for row in rows:
            subject = f"{part}/{row.field}"
            values[subject] = another(row, part, get_value(fabric, ("leaf1", *parse_subject(subject))))
    values[f"{key}/remote_asn"] = 65009  # an internal session fits in no group of external ones
    assert len(values) > 25
    made = edited(old, **values)
    assert [one.line for one in made.by_hand] == []
    new = old | dict(made.files)
    there = read_back(new)
    assert {subject: get_value(there, ("leaf1", *parse_subject(subject))) for subject in values} == values
    back = edited(new, **{subject: get_value(fabric, ("leaf1", *parse_subject(subject))) for subject in values})
    assert back.by_hand == ()
    assert read_back(old | dict(back.files)) == fabric


def read_back(files: dict[str, bytes]) -> Fabric:
    device = read_device("leaf1", [(Source(name=name, display=name), raw) for name, raw in files.items()]).device
    return Fabric(name="", mode="lossless", devices=(device,))


def test_v6only_of_a_session_over_an_interface_stays() -> None:
    files = bundle()
    session = b" neighbor Ethernet0 interface v6only remote-as external\n"
    files["frr.conf"] = files["frr.conf"].replace(b" !\n", session + b" !\n", 1)
    made = edited(files, **{"@neighbors/Ethernet0/remote_asn": 65002})
    _, (line,) = lines(files["frr.conf"], made.files["frr.conf"])
    assert line == " neighbor Ethernet0 interface v6only remote-as 65002"


def test_of_several_commands_the_last_one_is_edited() -> None:
    files = bundle()
    timers = b" neighbor 10.1.1.225 timers connect 5\n" + b"".join(
        b" neighbor 10.1.1.225 timers 3 %d\n" % hold for hold in (9, 12)
    )
    files["frr.conf"] = files["frr.conf"].replace(b" !\n", timers + b" !\n", 1)
    made = edited(files, **{"@neighbors/10.1.1.225/hold_s": 30})
    assert made.by_hand == ()
    gone, come = lines(files["frr.conf"], made.files["frr.conf"])
    assert (gone, come) == ([" neighbor 10.1.1.225 timers 3 12"], [" neighbor 10.1.1.225 timers 10 30"])
    none = edited(files, **{"@neighbors/10.1.1.225/hold_s": None})
    gone, come = lines(files["frr.conf"], none.files["frr.conf"])
    assert (gone, come) == ([" neighbor 10.1.1.225 timers 3 9", " neighbor 10.1.1.225 timers 3 12"], [])


def with_the_number_at_the_group() -> dict[str, bytes]:
    """The files of a leaf whose group of spines has the AS number of all of them."""
    files = bundle()
    lines = files["frr.conf"].decode().split("\n")
    own = [line for line in lines if line.endswith(" remote-as 4200000000")]
    assert own == [f" neighbor {one} remote-as 4200000000" for one in SPINES]
    lines = [line for line in lines if line not in own]
    lines.insert(lines.index(" neighbor SPINES peer-group") + 1, " neighbor SPINES remote-as 4200000000")
    return {**files, "frr.conf": "\n".join(lines).encode()}


def test_a_setting_of_all_sessions_of_a_group_is_changed_at_the_group() -> None:
    old = with_the_number_at_the_group()
    made = edited(old, **{f"@neighbors/{one}/remote_asn": 65002 for one in SPINES})
    assert made.by_hand == ()
    assert lines(old["frr.conf"], made.files["frr.conf"]) == (
        [" neighbor SPINES remote-as 4200000000"],
        [" neighbor SPINES remote-as 65002"],
    )


def test_a_setting_of_one_session_moves_from_its_group_to_the_sessions() -> None:
    old = with_the_number_at_the_group()
    made = edited(old, **{"@neighbors/10.1.1.225/remote_asn": 65002})
    assert made.by_hand == ()
    gone, come = lines(old["frr.conf"], made.files["frr.conf"])
    assert gone == [" neighbor SPINES remote-as 4200000000"]
    own = {"10.1.1.225": 65002}
    assert come == [f" neighbor {one} remote-as {own.get(one, 4200000000)}" for one in SPINES]
    text = made.files["frr.conf"].decode().split("\n")
    for one in SPINES:
        joins = text.index(f" neighbor {one} peer-group SPINES")
        assert text[joins - 1].startswith(f" neighbor {one} remote-as ")


def test_a_switch_waits_for_its_hardware_in_both_files_or_in_neither() -> None:
    old = bundle()
    made = edited(old, **{"@bgp/suppress_fib_pending": False})
    assert made.by_hand == ()
    assert lines(old["frr.conf"], made.files["frr.conf"]) == ([" bgp suppress-fib-pending"], [])
    stated = json.loads(made.files["config_db.json"])["DEVICE_METADATA"]["localhost"]
    assert "suppress-fib-pending" not in stated
    files = old | dict(made.files)
    files["config_db.json"] = files["config_db.json"].replace(
        b'"type": ', b'"synchronous_mode": "disable", "type": ', 1
    )
    back = edited(files, **{"@bgp/suppress_fib_pending": True})
    stated = json.loads(back.files["config_db.json"])["DEVICE_METADATA"]["localhost"]
    assert (stated["suppress-fib-pending"], stated["synchronous_mode"]) == ("enabled", "enable")
    assert b"\n bgp suppress-fib-pending\n" in back.files["frr.conf"]


def test_the_number_of_the_switch_stands_in_two_files() -> None:
    made = edited(bundle(), **{"@bgp/asn": 65001})
    assert sorted(made.files) == ["config_db.json", "frr.conf"]
    assert b'"bgp_asn": "65001"' in made.files["config_db.json"]


def test_what_is_taken_back_is_as_it_was() -> None:
    old = bundle()
    other = edited(old, **{"@bgp/asn": 65001, "@bgp/router_id": "10.9.9.9"})
    back = edited(old | dict(other.files), **{"@bgp/asn": 4200100001, "@bgp/router_id": "10.0.0.1"})
    assert dict(back.files) == old


def test_a_session_is_not_watched_where_the_daemon_does_not_run() -> None:
    (one,) = edited(bundle(), **{"@neighbors/10.1.1.225/bfd": True}).by_hand
    assert "bfd-without-daemon" in one.line


@pytest.mark.parametrize(
    ("subject", "value"),
    [
        ("@bgp/networks", ("10.0.0.0/8",)),
        ("@neighbors/10.1.1.225", None),
        ("@bgp/maximum_paths_ipv6", 8),
    ],
)
def test_what_more_lines_say_is_left_to_be_done_by_hand(subject: str, value: object) -> None:
    (one,) = edited(bundle(), **{subject: value}).by_hand
    assert "restart bgp (`vtysh -b` only adds)" in one.line


def test_without_a_file_of_the_daemon_it_is_done_by_hand() -> None:
    files = {"config_db.json": bundle()["config_db.json"]}
    (one,) = edited(files, **{"@bgp/maximum_paths": 8}).by_hand
    assert one.change.subject == ("leaf1", "@bgp", "maximum_paths")


@pytest.mark.parametrize("statement", ["ip route 0.0.0.0/0 10.1.1.225", "ipv6 route ::/0 fd00::1 5"])
def test_a_static_route_that_is_gone_leaves_with_its_line(statement: str) -> None:
    files = bundle()
    kept = read_back(files).devices[0].static_routes
    files["frr.conf"] = files["frr.conf"].replace(b"router bgp", f"{statement}\nrouter bgp".encode(), 1)
    assert len(read_back(files).devices[0].static_routes) == len(kept) + 1
    done = edited(files, ATstatic_routes=kept)
    assert (lines(files["frr.conf"], done.files["frr.conf"]), done.by_hand) == (([statement], []), ())


def test_a_new_static_route_is_left_for_an_edit_by_hand() -> None:
    files = bundle()
    route = StaticRoute(prefix="10.9.0.0/16", next_hop="10.1.1.225")
    done = edited(files, ATstatic_routes=(*read_back(files).devices[0].static_routes, route))
    assert done.by_hand
    assert "frr.conf" not in done.files
