"""The rows of NVUE: every field of BGP has one, and each is edited, read back and found where it is stated."""

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from nodrop import platforms
from nodrop.model.change import Change
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast
from nodrop.model.states import UNKNOWN, require_fact
from nodrop.model.types import fields_of
from nodrop.platforms.kit.bindings import NumberRangeCheck, bound_fields
from nodrop.platforms.nvue.bindings import NvueBinding
from nodrop.platforms.nvue.bindings_bgp import (
    GLOBAL_BGP_BINDINGS,
    PROCESS_BINDINGS,
    PROCESS_OR_GLOBAL_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
)
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.edit import edit
from support.nvue_startup import FILE, NAME, read, state

PEER = "10.0.0.1"
BASE = state(f"""
router:
  bgp: {{enable: on, autonomous-system: 65000}}
  policy:
    as-path-list: {{IN: {{rule: {{'10': {{action: permit, aspath-exp: '^1_'}}}}}}}}
    prefix-list: {{IN: {{type: ipv4, rule: {{'10': {{action: permit, match: {{10.0.0.0/8: {{}}}}}}}}}}}}
    route-map: {{IN: {{rule: {{'10': {{action: {{permit: {{}}}}}}}}}}}}
vrf:
  default:
    router:
      bgp: {{enable: on, neighbor: {{{PEER}: {{remote-as: external, local-as: {{asn: 65009, enable: on}}}}}}}}
""")
KINDS: dict[str, tuple[type[Any], tuple[NvueBinding, ...]]] = {
    "@bgp": (Bgp, (*PROCESS_OR_GLOBAL_BINDINGS, *PROCESS_BINDINGS, *GLOBAL_BGP_BINDINGS)),
    f"@neighbors/{PEER}": (BgpNeighbor, (*SESSION_BINDINGS, *SESSION_FAMILY_BINDINGS)),
    f"@neighbors/{PEER}/ipv6": (Ipv6Unicast, SESSION_FAMILY_BINDINGS),
    "": (Device, SWITCH_BINDINGS),
}
"""By subject of a part of the device: its class and rows."""
WRITTEN = [
    (subject, row) for subject, (_, rows) in KINDS.items() for row in rows if row.where and row.encode is not None
]
OF_A_LIST = {"vrf", "prefix_lists", "community_lists", "as_path_lists", "route_maps", "neighbors"}
"""What a process has rows of in the model, and the VRF that it is found in."""


def part(device: Device, subject: str) -> Any:
    """The part of the device at a subject."""
    if not subject:
        return device
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    if subject == "@bgp":
        return bgp
    (session,) = require_fact(bgp.neighbors)
    return session.ipv6 if subject.endswith("ipv6") else session


def sample(row: NvueBinding, now: Any) -> Any:
    """A value that the row does not refuse, other than the one now."""
    of_numbers = [one for one in row.refuses if isinstance(one, NumberRangeCheck)]
    choices = [not now] if isinstance(now, bool) else [of_numbers[0].low + 1] if of_numbers else ["IN", "10.0.0.7"]
    kind = get_type_hints(BgpNeighbor).get(row.field)
    if get_origin(kind) is Literal:
        choices = [one for one in get_args(kind) if one != now]
    session = BgpNeighbor(address=PEER)
    return next(one for one in choices if not any(refuses(one, session) for refuses in row.refuses))


def other(text: str) -> str:
    """Another text that could stand there: another word, or the number one more."""
    words = {"on": "off", "off": "on"}
    number = re.fullmatch(r"(.*?)(\d+)", text)
    return words.get(text) or (f"{number[1]}{int(number[2]) + 1}" if number else f"{text}x")


def test_every_field_of_bgp_has_a_row() -> None:
    assert {
        kind: fields_of(kind).keys() - bound_fields(rows) for kind, rows in KINDS.values() if kind is not Device
    } == {
        Bgp: OF_A_LIST,
        BgpNeighbor: {"ipv6"},
        Ipv6Unicast: set(),
    }


@pytest.mark.parametrize(("subject", "row"), WRITTEN, ids=[f"{subject}/{row.field}" for subject, row in WRITTEN])
def test_a_field_is_edited_read_back_and_found_at_its_place(subject: str, row: NvueBinding) -> None:
    base = BASE.replace("type: ipv4", "type: ipv6") if subject.endswith("ipv6") else BASE
    value = sample(row, getattr(part(read(base).device, subject), row.field))
    path = (NAME, *subject.split("/"), row.field) if subject else (NAME, f"@{row.field}")
    made = edit({FILE: base.encode()}, [Change(subject=path, old=UNKNOWN, new=value)], name=NAME)
    assert made.by_hand == ()
    text = made.files[FILE].decode()
    assert getattr(part(read(text).device, subject), row.field) == value

    place = platforms.make_place_finder("nvue", {FILE: text.encode()})(path)
    assert place is not None
    lines, span = text.split("\n"), place.span
    line = lines[span.line - 1]
    stated = line[span.column - 1 : span.end_column - 1]
    lines[span.line - 1] = line[: span.column - 1] + other(stated) + line[span.end_column - 1 :]
    changed = getattr(part(read("\n".join(lines)).device, subject), row.field)
    assert changed != value, f"{line.strip()}: {stated} became {other(stated)}"
