"""Changes of a switch with NCLU: nothing is written, and the command to type is told and reads back."""

import pytest

from nodrop.model.change import Change
from nodrop.platforms import find_editor
from support.legacy_platforms import port, read


def told(subject: tuple[str, ...], new: object) -> str:
    nclu = find_editor("nclu")
    assert nclu is not None
    edit = nclu.edit({"nclu.txt": b""}, [Change(subject=("sw1", *subject), old=None, new=new)])
    assert (edit.files, edit.steps) == ({}, ())
    (hand,) = edit.by_hand
    return hand.line


@pytest.mark.parametrize(
    ("field", "new", "command"),
    [
        ("mtu_bytes", 9216, "net add interface swp1 mtu 9216"),
        ("speed_mbps", 100_000, "net add interface swp1 link speed 100000"),
        ("autoneg", False, "net add interface swp1 link autoneg off"),
        ("fec", "fc", "net add interface swp1 link fec baser"),
        ("enabled", False, "net add interface swp1 link down"),
    ],
)
def test_the_command_to_type_reads_back(field: str, new: object, command: str) -> None:
    assert told(("swp1", field), new) == f"sw1/swp1/{field}: type `{command}`, then `net commit`"
    assert getattr(port(read("nclu", nclu__txt=command), "swp1"), field) == new


def test_bgp() -> None:
    assert told(("@bgp", "multipath_relax"), True) == (
        "sw1/@bgp/multipath_relax: type `net add bgp bestpath as-path multipath-relax`, then `net commit`"
    )


def test_what_has_no_command_is_said() -> None:
    assert told(("swp1", "qos", "trust"), "dscp") == (
        "sw1/swp1/qos/trust: NCLU has no command for this; Cumulus Linux keeps it in traffic.conf and datapath.conf"
    )
