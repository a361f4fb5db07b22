"""What of BGP one line of an frr.conf says, changed in that line and no other."""

import pytest

from nodrop.model.change import Change, Edit
from nodrop.model.edit import get_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Source
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse
from nodrop.platforms.sonic.edit import edit
from nodrop.platforms.sonic.reader import read
from support.single_faults import clean, written


def bundle() -> dict[str, bytes]:
    files = written(clean("two-by-two", "sonic", "202505", "{}"))
    return {name: files[f"leaf1/{name}"].encode() for name in ("config_db.json", "frr.conf")}


def edited(files: dict[str, bytes], **changes: object) -> Edit:
    spelt = {subject.replace("__", "/").replace("AT", "@"): value for subject, value in changes.items()}
    return edit(files, [Change(subject=("leaf1", *parse(one)), old=UNKNOWN, new=new) for one, new in spelt.items()])


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
        ("@neighbors/10.1.1.225/remote_asn", 65002, [], [" neighbor 10.1.1.225 remote-as 65002"]),
    ],
)
def test_one_line_says_it(subject: str, value: object, gone: list[str], come: list[str]) -> None:
    old = bundle()
    made = edited(old, **{subject: value})
    assert made.by_hand == ()
    went, came = lines(old["frr.conf"], made.files["frr.conf"])
    assert came == come
    assert went == gone or subject == "@neighbors/10.1.1.225/remote_asn"
    sources = [(Source(name=name, display=name), raw) for name, raw in (old | dict(made.files)).items()]
    device = read("leaf1", sources).device
    fabric = Fabric(name="", mode="lossless", devices=(device,))
    assert get_value(fabric, ("leaf1", *parse(subject))) == value


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
        ("@neighbors/10.1.1.225/hold_s", 9),
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
