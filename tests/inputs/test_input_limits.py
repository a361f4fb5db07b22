"""Inputs far larger than any switch's: refused with a clear error or read in time that grows with their size."""

import json
from pathlib import Path

import pytest

from nodrop import limits
from nodrop.model.addresses import is_address_or_prefix
from nodrop.model.types import did_you_mean_hint
from nodrop.units import parse_whole_number
from support.command import nodrop
from support.processor_time import faster_growth

HEAD = "- header:\n    model: SN4700\n    version: '5.14'\n- set:\n    system:\n      hostname: leaf1\n"


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leaf1").mkdir()


def ports(count: int) -> str:
    rows = {f"Ethernet{number}": {"lanes": str(number), "speed": "100000"} for number in range(count)}
    return json.dumps({"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "PORT": rows})


def test_a_switch_with_more_ports_than_any_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.platforms.sonic.document.MAX_PORTS_PER_SWITCH", 20)
    Path("leaf1/config_db.json").write_text(ports(21))
    done = nodrop("lint", "leaf1", "--no-config")
    assert done.code == 2
    assert "leaf1/config_db.json: 21 ports; expected at most 20" in done.out
    Path("leaf1/config_db.json").write_text(ports(20))
    assert nodrop("lint", "leaf1", "--no-config").code in (0, 1)


def test_more_commands_than_any_switch_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.platforms.nvue.tree.MAX_COMMANDS_PER_FILE", 3)
    path = Path("leaf1.nv")
    path.write_text("".join(f"nv set interface swp{number} type swp\n" for number in range(1, 5)))
    done = nodrop("lint", path, "--no-config")
    assert (done.code, "leaf1.nv: 4 commands; expected at most 3" in done.out) == (2, True)
    path.write_text("".join(f"nv set interface swp{number} type swp\n" for number in range(1, 4)))
    assert nodrop("lint", path, "--no-config").code in (0, 1)


def test_a_number_has_eighteen_digits_at_most() -> None:
    assert parse_whole_number("9" * limits.MAX_DIGITS) == 10**limits.MAX_DIGITS - 1
    assert parse_whole_number("0" + "9" * limits.MAX_DIGITS) is None
    assert [parse_whole_number(text) for text in ("", "-1", "1.5", "٣", "²", "9" * 5000)] == [None] * 6
    assert (parse_whole_number("4094", limits.MAX_VLAN), parse_whole_number("4095", limits.MAX_VLAN)) == (4094, None)


def test_a_prefix_is_an_address_and_a_length() -> None:
    right = ("10.0.0.0/8", "10.0.0.1", "10.0.0.1/32", "fd00::1/64", "::/0")
    wrong = ("65536/24", "10.2.4.0/", "18446744073709551616/31", "10.0.0.0/33", "1.2.3.4/0.0.0.255", "300.1.1.1/24")
    assert [one for one in (*right, *wrong) if is_address_or_prefix(one)] == list(right)


def test_the_nearest_word_of_a_very_long_one_is_not_looked_for() -> None:
    assert did_you_mean_hint("interfac", ["interface"]) == "did you mean `interface`?"
    assert did_you_mean_hint("interface" * 100, ["interface" * 101]) == ""


LARGE = {
    "tables of no name that is known": (
        "leaf1/config_db.json",
        lambda count: json.dumps({"PORT": {}, "DEVICE_METADATA": {}, **{f"TABLE_{one}": {} for one in range(count)}}),
    ),
    "fields of no name that is known": (
        "leaf1/config_db.json",
        lambda count: json.dumps({"PORT": {"Ethernet0": {f"f{one}": "x" for one in range(count)}}}),
    ),
    "NVUE settings of no name that is known": (
        "leaf1/startup.yaml",
        lambda count: HEAD + "".join(f"    key{one}: x\n" for one in range(count)),
    ),
    "rules of one prefix list": (
        "leaf1/frr.conf",
        lambda count: (
            "".join(f"ip prefix-list P permit 10.0.{one >> 8 & 255}.{one & 255}/32\n" for one in range(count))
            + "router bgp 65001\n"
        ),
    ),
    "NCLU commands that are deleted": (
        "leaf1/nclu.txt",
        lambda count: (
            "".join(f"net add interface swp{one} mtu 9216\n" for one in range(count // 2))
            + "".join(f"net del interface swp{one}\n" for one in range(count // 2))
        ),
    ),
    "secrets of FRR": (
        "leaf1/frr.conf",
        lambda count: "router bgp 65001\n" + " neighbor 10.1.0.1 password xyz1\n" * (4 * count),
    ),
    "addresses of one port": (
        "leaf1/config_db.json",
        lambda count: json.dumps(
            {
                "PORT": {"Ethernet0": {"lanes": "1", "speed": "100000"}},
                "INTERFACE": {
                    f"Ethernet0|10.{one >> 16}.{one >> 8 & 255}.{one & 255}/8": {} for one in range(4 * count)
                },
            }
        ),
    ),
    "comments that allow rules on lines of FRR": (
        "leaf1/frr.conf",
        lambda count: "! nodrop: allow[mtu-mismatch]: x\nip route 10.2.3.4/32 blackhole\n" * count,
    ),
    "comments of NVUE YAML one after the other": (
        "leaf1/startup.yaml",
        lambda count: HEAD + "# nodrop: allow[mtu-mismatch]: x\n" * count,
    ),
    "comments of a script on lines that go on": (
        "leaf1.nv",
        lambda count: "nv set system hostname leaf1 # nodrop: allow[mtu-mismatch]: x \\\n" * count,
    ),
}

ROUTED = """\
interface lo
 ip address 10.255.0.1/32
router bgp 65001
 neighbor 10.1.0.1 remote-as 65002
 address-family ipv4 unicast
  network 10.255.0.1/32
 exit-address-family
exit
"""


COUNTS = (5_000, 20_000)


@pytest.mark.nightly
@pytest.mark.parametrize("hop", ["10.1.0.1", "blackhole"])
def test_the_time_of_routes_grows_no_faster_than_their_number(hop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODROP_NO_CACHE", "1")
    ports_of_one = json.loads(ports(1))
    ports_of_one["INTERFACE"] = {"Ethernet0": {}, "Ethernet0|10.1.0.0/31": {}}
    Path("leaf1/config_db.json").write_text(json.dumps(ports_of_one))

    def validate(count: int) -> None:
        routes = (f"ip route 10.2.{number >> 8 & 255}.{number & 255}/32 {hop}\n" for number in range(count))
        Path("leaf1/frr.conf").write_text(ROUTED + "".join(routes))
        nodrop("validate", "leaf1", "--no-config")

    assert faster_growth(validate, COUNTS) == ""


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE)
def test_time_grows_no_faster_than_the_input(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODROP_NO_CACHE", "1")
    path, made = LARGE[name]

    def lint(count: int) -> None:
        Path(path).write_text(made(count))
        nodrop("lint", path, "--no-config")

    assert faster_growth(lint, COUNTS) == ""
