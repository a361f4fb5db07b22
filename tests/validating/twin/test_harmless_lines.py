"""Each line on the list of harmless ones, added to real FRR and removed: sessions and tables stay as they are."""

import time

import pytest

from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.platforms.frr.harmless import Block, Harmless, rows
from nodrop.validating.twin import box, looking
from nodrop.validating.twin.daemons import HOME
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.plan import Space
from nodrop.validating.twin.starting import start
from support.designs import build, shipped
from support.twin_runs import Tables, needed, tables, until_equal

NODE, NEIGHBOR, PORT = "leaf1", "10.1.1.225", "Ethernet224"
PRINTED = frozenset({"Building ...", "Current ..."})
"""Rows of what vtysh prints, which are no commands."""
NEEDS_MORE = frozenset({"agentx", "fpm ...", "bmp ...", "ipv6 nd reachable-time *"})
"""Rows of modules that the twin does not load."""
NOT_TAKEN = (
    "no line vty",
    "banner motd default",
    "no banner motd default",
    "no password 8 abcdefghijklm",
    "no enable password 8 abcdefghijk",
    "no username admin nopassword",
    "no description to leaf1",
)
"""Lines that vtysh of FRR 8.4 does not take in this form, in the order of the rows."""
INSIDE: dict[Block, tuple[str, ...]] = {
    "top": (),
    "process": ("router bgp",),
    "session": ("router bgp",),
    "interface": (f"interface {PORT}",),
    "vrf": ("vrf RED",),
    "bfd profile": ("bfd", "profile FAST"),
}
"""The commands that lead into a block."""
_RESET_S = 60
"""So long a session takes to open again, which some lines reset as they are typed."""
State = tuple[Tables, dict[str, str]]


def typed() -> list[Harmless]:
    return [row for row in rows() if row.line not in PRINTED | NEEDS_MORE]


def state(lab: Lab) -> State:
    """Return the tables of all switches, and the states of all sessions."""
    sessions = {
        "/".join(item): session.state for node in lab.devices for item, session in looking.sessions(lab, node).items()
    }
    return tables(lab), sessions


def difference(before: State, now: State) -> str:
    """Return the first switch with other routes, or the first session in another state."""
    switches = [f"routes of {node}" for node, table in before[0].items() if now[0].get(node) != table]
    return (
        switches + [f"{item}: {now[1].get(item)}" for item, state in before[1].items() if now[1].get(item) != state]
    )[0]


def tried(fabric: Fabric, given: list[Harmless]) -> list[tuple[str, str]]:
    """Return what FRR says against a line, or what the line changes: nothing where all are harmless."""
    return box.call(_try, fabric, [(row.block, row.command, row.takes_line, row.takes_no) for row in given])


def _try(_tell: box.Tell, fabric: Fabric, given: list[tuple[Block, str, bool, bool]]) -> list[tuple[str, str]]:
    lab = Lab(fabric, start(Reading(fabric=fabric)).boots)
    lab.start()
    up = until_equal({"Established"}, lambda: set(state(lab)[1].values()))
    assert up == {"Established"}, up
    before = state(lab)
    time.sleep(10)
    while (now := state(lab)) != before:
        before = now
        time.sleep(5)
    home = HOME / lab.plan.spaces[Space(NODE)]
    asn = next(line for line in lab.vtysh(NODE, "show running-config").splitlines() if line.startswith("router bgp"))
    port = lab.plan.names.get(NODE, {}).get(PORT, PORT)
    found = []
    for block, command, takes_line, takes_no in given:
        line = command.removesuffix(" ...")
        line = f"neighbor {NEIGHBOR} {line}" if block == "session" else line
        lead = [{"router bgp": asn, f"interface {PORT}": f"interface {port}"}.get(one, one) for one in INSIDE[block]]
        for spelt in (*((line,) if takes_line else ()), *((f"no {line}",) if takes_no else ())):
            words = [word for one in ("configure terminal", *lead, spelt) for word in ("-c", one)]
            done = lab.run(NODE, ["vtysh", "--vty_socket", str(home), "--config_dir", str(home), *words])
            said = (done.stdout + done.stderr).strip()
            if "%" in said:
                found.append((spelt, said.splitlines()[-1]))
            time.sleep(1)
            now, end = state(lab), time.monotonic() + _RESET_S
            while now != before and time.monotonic() < end:
                time.sleep(1)
                now = state(lab)
            if now != before:
                return [*found, (spelt, f"changes {difference(before, now)}")]
    return found


@pytest.mark.nightly
def test_no_harmless_line_changes_a_session_or_a_route() -> None:
    needed()
    found = tried(build(shipped("two-by-two")), typed())
    assert found == [(line, f"% Unknown command: {line}") for line in NOT_TAKEN]


@pytest.mark.nightly
def test_a_line_that_is_not_harmless_is_noticed() -> None:
    needed()
    row = Harmless("session", "shutdown", "it is not harmless", "bgpd/bgp_vty.c")
    assert tried(build(shipped("two-by-two")), [row]) == [(f"neighbor {NEIGHBOR} shutdown", "changes routes of leaf1")]
