"""Rows of FRR's commands: each field of BGP has one, and what a row writes is what it reads and finds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast
from nodrop.model.types import attributes_of, fields_of
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.commands import CommandBinding, FieldCommandTable, command_form_of_context
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, bound_fields
from nodrop.platforms.kit.expressible import BGP_FIELDS_SHARED_BY_VRFS
from nodrop.syntax.lines import CommandNotUnderstood

LISTS = {"networks", "aggregates", "redistributions", "neighbors", "vrf", *BGP_FIELDS_SHARED_BY_VRFS} - {"session_dscp"}
"""Fields of a process that several commands state, or the block itself."""


def test_each_field_has_a_row() -> None:
    assert fields_of(BgpNeighbor).keys() - bound_fields(frr_rows.SESSION_AND_FAMILY_COMMANDS.rows) == {
        "address",
        "ipv6",
    }
    assert fields_of(Ipv6Unicast).keys() == bound_fields(frr_rows.SESSION_FAMILY_COMMANDS.rows)
    assert (
        fields_of(Bgp).keys() - bound_fields(row for row in frr_rows.ALL_PROCESS_COMMANDS.rows if row.encode) == LISTS
    )


def written() -> Iterator[Any]:
    """Yield each row that writes and reads, with its commands and the class that it belongs to."""
    for commands in (frr_rows.SESSION_AND_FAMILY_COMMANDS, frr_rows.ALL_PROCESS_COMMANDS):
        for row in commands.rows:
            if row.encode is not None and row.decode is not None:
                yield pytest.param(commands, row, id=row.field)


def values(row: CommandBinding, kind: type[Any]) -> list[Any]:
    type_ = attributes_of(kind)[row.field]
    if words := type_.words:
        return sorted(words) if "internal" not in words else []
    if type_.element is not None:
        return [(1, 200, 255)]
    bounds = [one for one in row.refuses if isinstance(one, NumberRangeCheck)]
    if bounds:
        return [value for one in bounds for value in (one.low, one.high, *one.others)]
    assert row.decode is not None
    return [True, False] if type_.scalars == {bool} else ["10.0.0.1"]


@pytest.mark.parametrize(("commands", "row"), list(written()))
def test_a_row_reads_and_finds_what_it_writes(commands: FieldCommandTable, row: CommandBinding) -> None:
    part = (
        BgpNeighbor(address="10.0.0.1", local_asn=64_999)
        if commands is frr_rows.SESSION_AND_FAMILY_COMMANDS
        else Bgp(asn=1)
    )
    assert row.encode is not None
    for value in values(row, type(part)):
        words = tuple(row.encode(value, replace(part, **{row.field: value})).split())
        on = words[0] != "no"
        assert (commands.read_fields(words if on else words[1:], on) or {})[row.field] == value
        assert commands.states_field(row.field, words)
        assert [one.field for one in commands.rows if commands.states_field(one.field, words)] == [
            one.field for one in commands.rows if one.where[:1] == row.where[:1]
        ]


@pytest.mark.parametrize(
    ("where", "words", "on", "found"),
    [
        ("timers # #", "timers 3 9", True, ("3", "9")),
        ("timers # #", "timers 3", True, None),
        ("timers # #", "timers", False, ()),
        ("timers # #", "timers 3 9 1", True, None),
        ("route-map * in", "route-map A in", True, ("A",)),
        ("route-map * in", "route-map A out", True, None),
        ("allowas-in [*]", "allowas-in", True, ()),
        ("allowas-in [*]", "allowas-in 3", True, ("3",)),
        ("allowas-in [*]", "allowas-in 3 4", True, None),
        ("description **", "description to spine 1", True, ("to", "spine", "1")),
        ("description **", "description", True, None),
        ("bfd ...", "bfd profile fast", True, ()),
        ("bfd ...", "bfd", False, ()),
        ("activate", "activate now", True, None),
    ],
)
def test_the_form_of_a_command(where: str, words: str, on: bool, found: tuple[str, ...] | None) -> None:
    assert command_form_of_context(where).values_of_command(words.split(), is_enabled=on) == found


def test_two_fields_of_one_command_are_read_and_written_together() -> None:
    """Two rows with one command, as a keepalive time would have beside the hold time."""

    def row(field: str, at: int) -> CommandBinding:
        return FieldBinding(
            field=field,
            where=("timers # #",),
            decode=lambda said: int(said.values[at]),
            encode=lambda _, session: f"timers {session.ebgp_multihop} {session.hold_s}",
        )

    rows = [row("ebgp_multihop", 0), row("hold_s", 1)]
    commands = FieldCommandTable(BgpNeighbor, rows)
    session = BgpNeighbor(address="10.0.0.1", ebgp_multihop=2, hold_s=9)
    assert list(commands.commands_of_non_default_fields(session)) == ["timers 2 9"]
    assert commands.read_fields(("timers", "2", "9"), True) == {"ebgp_multihop": 2, "hold_s": 9}
    assert commands.first_field_of_each_command({"ebgp_multihop", "hold_s"}) == ["hold_s"]
    assert commands.line("hold_s", BgpNeighbor(address="10.0.0.1", ebgp_multihop=2)) == "timers 2 None"
    assert commands.line("hold_s", BgpNeighbor(address="10.0.0.1")) is None


def test_a_value_that_is_taken_back_is_not_understood() -> None:
    with pytest.raises(CommandNotUnderstood):
        frr_rows.SESSION_AND_FAMILY_COMMANDS.read_fields(("remote-as", "7"), False)
    assert frr_rows.SESSION_AND_FAMILY_COMMANDS.read_fields(("timers", "3", "9"), False) == {"hold_s": None}
    assert frr_rows.SESSION_AND_FAMILY_COMMANDS.read_fields(("timers", "connect", "9"), True) is None
    assert frr_rows.SESSION_AND_FAMILY_COMMANDS.read_fields(("solo",), True) is None


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_the_commands_of_a_group_are_those_of_a_session(family: AddressFamily) -> None:
    group = BgpNeighbor(remote_asn="external", bfd=True, hold_s=9, allowas_in=2, ipv6=Ipv6Unicast(active=True))
    assert frr_rows.session_lines("SPINES", group) == [
        "neighbor SPINES remote-as external",
        "neighbor SPINES bfd",
        "neighbor SPINES timers 3 9",
    ]
    carried = group if family == "ipv4" else group.ipv6
    expected = ["neighbor SPINES activate", "neighbor SPINES allowas-in 2"][: 2 if family == "ipv4" else 1]
    assert frr_rows.session_family_lines("SPINES", carried, by_default=False) == expected
