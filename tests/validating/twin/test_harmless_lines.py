"""Each line on the list of harmless ones, added to real FRR and removed: sessions and tables stay as they are.

So they do with all of them in the file that FRR reads as it starts.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from unittest import mock

import pytest

from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.platforms.frr.harmless import BlockKind, HarmlessLine, harmless_rows
from nodrop.validating.twin import box, looking
from nodrop.validating.twin import lab as lab_module
from nodrop.validating.twin.daemons import DAEMONS_FOLDER, BootConfiguration, FrrDaemons
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.plan import NamespaceKey
from nodrop.validating.twin.starting import prepare_start_configurations
from support.designs import build, shipped
from support.twin_runs import Tables, needed, tables, until_equal

NODE, NEIGHBOR, PORT = "leaf1", "10.1.1.225", "Ethernet224"
PRINTED = frozenset({"Building ...", "Current ..."})
"""Rows of what vtysh prints, which are no commands."""
NEEDS_MORE = frozenset({"agentx"})
"""Rows of modules that Debian has in packages of their own (frr-snmp)."""
MODULES = {"bgpd": ("bmp",), "zebra": ("dplane_fpm_nl",)}
"""The modules of rows, which the twin does not load of itself."""
NOT_TAKEN = (
    "no line vty",
    "no banner motd line welcome",
    "no password 8 abcdefghijklm",
    "no enable password 8 abcdefghijk",
    "no username admin nopassword",
    "no description to leaf1",
    f"no neighbor {NEIGHBOR} nexthop-local unchanged",
)
"""Lines that vtysh of FRR 8.4 does not take in this form, or takes for IPv6 alone, in the order of the rows."""
CONFLICTING = frozenset({"update-delay ..."})
"""Rows of a process that FRR takes only without another row of no block (`bgp update-delay`)."""
OPENS_A_BLOCK = frozenset({"line ...", "bmp ..."})
"""Rows after which `exit` leads back to the block that they are in."""
INSIDE: dict[BlockKind, tuple[str, ...]] = {
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


def typed() -> list[HarmlessLine]:
    return [row for row in harmless_rows() if row.line not in PRINTED | NEEDS_MORE]


def state(lab: TwinLab) -> State:
    """Return the tables of all switches, and the states of all sessions."""
    sessions = {
        "/".join(item): session.state
        for node in lab.running_devices
        for item, session in looking.bgpd_sessions(lab, node).items()
    }
    return tables(lab), sessions


def difference(before: State, now: State) -> str:
    """Return the first switch with other routes, or the first session in another state."""
    switches = [f"routes of {node}" for node, table in before[0].items() if now[0].get(node) != table]
    return (
        switches + [f"{item}: {now[1].get(item)}" for item, state in before[1].items() if now[1].get(item) != state]
    )[0]


def tried(fabric: Fabric, given: list[HarmlessLine]) -> list[tuple[str, str]]:
    """Return what FRR says against a line, or what the line changes: nothing where all are harmless."""
    boots = prepare_start_configurations(Reading(fabric=fabric)).boots
    return box.call_in_sandbox(
        _try, fabric, boots, [(row.block, row.example_command, row.takes_line, row.takes_no) for row in given]
    )


class WithModules(FrrDaemons):
    """Daemons with the modules of rows."""

    def _daemon_command(self, daemon: str) -> str:
        return super()._daemon_command(daemon) + "".join(f" -M {module}" for module in MODULES.get(daemon, ()))


def _try(
    _tell: box.ReportProgress,
    fabric: Fabric,
    boots: Mapping[str, BootConfiguration],
    given: list[tuple[BlockKind, str, bool, bool]],
) -> list[tuple[str, str]]:
    with mock.patch.object(lab_module, "FrrDaemons", WithModules):
        lab = TwinLab(fabric, boots)
    lab.start()
    up = until_equal({"Established"}, lambda: set(state(lab)[1].values()))
    assert up == {"Established"}, up
    before = state(lab)
    time.sleep(10)
    while (now := state(lab)) != before:
        before = now
        time.sleep(5)
    home = DAEMONS_FOLDER / lab.plan.spaces[NamespaceKey(NODE)]
    asn = next(
        line for line in lab.answer_of_daemon(NODE, "show running-config").splitlines() if line.startswith("router bgp")
    )
    port = lab.plan.names.get(NODE, {}).get(PORT, PORT)
    found = []
    for block, command, takes_line, takes_no in given:
        line = command.removesuffix(" ...")
        line = f"neighbor {NEIGHBOR} {line}" if block == "session" else line
        lead = [{"router bgp": asn, f"interface {PORT}": f"interface {port}"}.get(one, one) for one in INSIDE[block]]
        for spelt in (*((line,) if takes_line else ()), *((f"no {line}",) if takes_no else ())):
            words = [word for one in ("configure terminal", *lead, spelt) for word in ("-c", one)]
            done = lab.run_in_node(NODE, ["vtysh", "--vty_socket", str(home), "--config_dir", str(home), *words])
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


def with_every_line(text: str) -> str:
    """Return a frr.conf with all harmless lines in their blocks, those of a session for one neighbor.

    A `no` of what is off, as FRR would not write it, is tried alone.
    """
    blocks: dict[BlockKind, list[str]] = {}
    for row in (one for one in typed() if one.takes_line and one.line not in CONFLICTING):
        line = row.example_command.removesuffix(" ...")
        line = f"neighbor {NEIGHBOR} {line}" if row.block == "session" else line
        blocks.setdefault(row.block, []).append(line)
        blocks[row.block] += ["exit"] if row.line in OPENS_A_BLOCK else []
    of_process = [f" {line}" for block in ("process", "session") for line in blocks[block]]
    lines = []
    for line in text.splitlines():
        lines += [line, *(of_process if f"neighbor {NEIGHBOR} remote-as" in line else ())]
    assert len(lines) == len(text.splitlines()) + len(of_process)
    named: tuple[BlockKind, ...] = ("interface", "vrf", "bfd profile")
    for block in named:
        lines += [*INSIDE[block], *(f" {line}" for line in blocks.get(block, ())), *("exit" for _ in INSIDE[block])]
    return "\n".join([*blocks["top"], *lines, ""])


def _started(
    _tell: box.ReportProgress, fabric: Fabric, boots: Mapping[str, BootConfiguration]
) -> tuple[Tables, list[str]]:
    """Return the tables and sessions once nothing changes any more, and the refused lines of the switch."""
    with mock.patch.object(lab_module, "FrrDaemons", WithModules):
        lab = TwinLab(fabric, boots)
    lab.start()
    up = until_equal({"Established"}, lambda: set(state(lab)[1].values()))
    assert up == {"Established"}, up
    before = tables(lab)
    time.sleep(10)
    while (now := tables(lab)) != before:
        before = now
        time.sleep(5)
    return now, [said.said for said in lab.refused.get(NODE, ())]


@pytest.mark.nightly
def test_without_its_harmless_lines_a_switch_has_the_same_sessions_and_routes() -> None:
    """All lines at once, in the file that the daemons read as they start, and without them."""
    needed()
    fabric = build(shipped("two-by-two"))
    boots = dict(prepare_start_configurations(Reading(fabric=fabric)).boots)
    boot = boots[NODE]
    given = boots | {NODE: replace(boot, text=with_every_line(boot.text), daemons=(*boot.daemons, "bfdd"))}
    with_lines, refused = box.call_in_sandbox(_started, fabric, given)
    without, _ = box.call_in_sandbox(_started, fabric, boots)
    assert with_lines == without
    assert refused == []


@pytest.mark.nightly
def test_no_harmless_line_changes_a_session_or_a_route() -> None:
    needed()
    found = tried(build(shipped("two-by-two")), typed())
    assert found == [(line, f"% Unknown command: {line}") for line in NOT_TAKEN]


@pytest.mark.nightly
def test_a_line_that_is_not_harmless_is_noticed() -> None:
    needed()
    row = HarmlessLine("session", "shutdown", "it is not harmless", "bgpd/bgp_vty.c")
    assert tried(build(shipped("two-by-two")), [row]) == [(f"neighbor {NEIGHBOR} shutdown", "changes routes of leaf1")]
