"""apply.sh on a Cumulus Linux switch of stand-ins: whichever step fails, the configuration from before is in use."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nodrop.model.index import Index
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.nvue import writer
from nodrop.platforms.nvue.delivery import apply_script
from support import random_nvue
from support.apply_runs import Run
from support.nvue_devices import as_nvue, fabric, split
from support.nvue_switch import NvueSwitch

DHCP = "nv set interface eth0 ip address dhcp\n"
FACTORY = f"{DHCP}nv set interface eth0 ip vrf mgmt\nnv set system hostname cumulus\nnv set system wjh enable on\n"


@cache
def build() -> tuple[Artifact, ...]:
    device = split(as_nvue(fabric().device("leaf1")), "swp1", 2)
    return tuple(writer.write(device, Index(random_nvue.alone(device))))


@pytest.fixture
def fresh(tmp_path: Path) -> NvueSwitch:
    return NvueSwitch(tmp_path / "switch", build(), FACTORY)


@pytest.fixture
def running(tmp_path: Path) -> NvueSwitch:
    """A switch that runs the build but for its name, with a setting that the build does not have."""
    return NvueSwitch(tmp_path / "switch", build(), "nv set system wjh enable on\n", fresh=False)


FACTS = "python3 -I -S RUN/facts.py"
BOTH = "RUN/new/10-ports.nv RUN/new/20-qos.nv"
SILENT = "the switch does not tell which ports and BGP sessions are up"
NO_REVISION = "nv config revision does not answer"
NO_DIFF = "nv config diff does not answer"
NO_SHOW = "nv config show does not answer"
NO_ANSWER = "after 0 s: the switch does not answer"
UNREAD = "the changes cannot be read"
RENEWED = (
    "qos roce|qos traffic-pool|qos congestion-control default-global|qos egress-scheduler default-global|"
    "qos mapping default-global|qos pfc default-global|qos egress-queue-mapping default-global"
)
SED = r'sed -n s/^DISTRIB_RELEASE="\{0,1\}\([0-9]*\.[0-9]*\).*/\1/p state/lsb-release'
DIFFERS = "grep -Eq ^ *- (un)?set:"

CHECKS: list[tuple[str, str | None]] = [
    ("id -u", "this needs root: sudo sh apply/apply.sh"),
    ("dirname apply/apply.sh", "the folder of apply/apply.sh cannot be read"),
    ("mkdir -p /var/lib/nodrop", "/var/lib/nodrop cannot be made"),
    ("touch /var/lib/nodrop/lock", "/var/lib/nodrop cannot be written"),
    ("flock -n 9", "another apply.sh is running"),
    ("date +%Y%m%d-%H%M%S", "the time is unknown"),
    ("mkdir -m 700 RUN", "RUN cannot be made"),
    ("mkdir RUN/new RUN/old", "RUN cannot be written"),
    ("cat", "RUN cannot be written"),
    ("cp ./10-ports.nv ./20-qos.nv ./10-ports.yaml ./20-qos.yaml RUN/new/", "the stages are not in apply"),
    (SED, "state/lsb-release cannot be read"),
    ("decode-syseeprom -j", None),
    (f"{FACTS} model RUN/eeprom SN4700", None),
    ("nv config revision -o json", NO_REVISION),
    (f"{FACTS} waiting RUN/revisions", NO_REVISION),
    ("nv config diff", NO_DIFF),
    (f"{DIFFERS} RUN/pending", None),
    ("nv config diff applied startup", NO_DIFF),
    (f"{DIFFERS} RUN/unsaved", None),
    ("nv config show -o commands", NO_SHOW),
    ("cp -p STARTUP RUN/old/startup.yaml", "STARTUP cannot be saved"),
    ("ip -j link show", SILENT),
    ("grep -q  router bgp  RUN/old/commands", None),
    (f"{FACTS} look RUN/links RUN/bgp", SILENT),
    ("touch RUN/old/complete", "RUN/old cannot be written"),
    ("sync", "RUN/old cannot be written"),
]
"""The steps before anything is changed, each with what is said where it fails; None where the run goes on without."""


def stage(name: str, first: list[tuple[str, str | None]], eth0: int) -> list[tuple[str, str | None]]:
    return [
        (f"grep -q ^nv set qos  RUN/new/{name}.nv", None),
        *(QOS if eth0 else []),
        (f"nv config patch RUN/new/{name}.yaml", f"nv config patch refuses {name}.yaml"),
        (f"grep -q ^nv set interface eth0  RUN/new/{name}.nv", None),
        *first[:eth0],
        ("nv config diff", NO_DIFF),
        (f"{FACTS} effects RUN/diff system forwarding hash-seed", UNREAD),
        ("cat RUN/diff", None),
        (f"{DIFFERS} RUN/diff", None),
        ("nv config apply --confirm 20m -y", f"{name}.yaml: nv config apply failed (exit code 1)"),
        ("nv config revision -o json", NO_REVISION),
        (f"{FACTS} waiting RUN/revisions", NO_REVISION),
        ("nv config show -o commands", NO_SHOW),
        ("date +%s", None),
        ("ip -j link show", NO_ANSWER),
        (f"grep -q  router bgp  {BOTH}", None),
        ("vtysh -c show bgp vrf all summary json", NO_ANSWER),
        (f"{FACTS} lacking RUN/links RUN/bgp RUN/before  {BOTH}", NO_ANSWER),
        ("rm -f RUN/asked RUN/confirmed", None),
        ("nv config apply 7 --confirm-yes", f"{name}.yaml: the confirmation failed"),
        ("nv config revision -o json", NO_REVISION),
        (f"{FACTS} waiting RUN/revisions", NO_REVISION),
        ("nv config show -o commands", NO_SHOW),
        (f"{FACTS} same RUN/staged RUN/shown", f"{name}.yaml: NVUE rolled it back before the confirmation"),
    ]


QOS: list[tuple[str, str | None]] = [
    (f"{FACTS} stated_among {RENEWED} RUN/old/commands", "the QoS of the switch cannot be read"),
]
ETH0: list[tuple[str, str | None]] = [
    (
        f"{FACTS} leaves_dhcp RUN/new/10-ports.nv ip address dhcp RUN/old/commands",
        "the configuration of eth0 cannot be read",
    ),
    ("nv unset interface eth0 ip address dhcp", "nv unset interface eth0 ip address dhcp failed"),
]
FIRST, SECOND = stage("10-ports", ETH0, 2), stage("20-qos", ETH0, 0)
LAST: list[tuple[str, str | None]] = [
    ("nv config save", "the new configuration cannot be saved"),
    ("nv config diff applied startup", "nv config save did not save the new configuration"),
    (f"{DIFFERS} RUN/unsaved", None),
]
STEPS = [*CHECKS, *FIRST, *SECOND, *LAST]
CALLS = [call for call, _ in STEPS]
SECOND_STAGE = len(CHECKS) + len(FIRST)
OPTIONS = ("--unattended", "--timeout", "0")


def number(call: str, after: int = 0) -> int:
    return CALLS.index(call, after) + 1


def cases(first: int, last: int, *starts: str) -> list[Any]:
    """Steps by number and what is said where one fails; only the calls that begin so."""
    found = [(at, call, why) for at, (call, why) in enumerate(STEPS[first:last], first + 1) if why is not None]
    chosen = [row for row in found if not starts or row[1].startswith(starts)]
    return [pytest.param(at, why, id=f"{at} {call[:40]}") for at, call, why in chosen]


def assert_restored(switch: NvueSwitch, was: Any, run: Run, why: str) -> None:
    assert run.code == 3, run.error
    assert f"apply.sh: {why}; restored the configuration from before; log: RUN/log\n" in run.error
    assert switch.configuration() == was


def assert_refused(switch: NvueSwitch, was: Any, run: Run, why: str) -> None:
    assert (run.code, run.error.splitlines()[-1]) == (1, f"apply.sh: {why}; nothing was changed")
    assert switch.configuration() == was
    assert [path.name for path in switch.saved.glob("*")] in ([], ["lock"])


def test_both_stages_are_applied_and_saved(fresh: NvueSwitch) -> None:
    """These are all the steps."""
    run = fresh.apply(*OPTIONS)
    assert (run.code, run.error) == (0, "")
    assert list(run.calls) == CALLS
    said = [line for line in run.said.splitlines() if line.startswith("apply.sh: ")]
    assert said == [
        "apply.sh: the files fit this switch: SN4700, Cumulus Linux 5.14",
        "apply.sh: saved the configuration in RUN/old",
        "apply.sh: eth0 gets a static address: its DHCP client is removed",
        "apply.sh: nv config diff, 10-ports.yaml:",
        "apply.sh: system forwarding hash-seed changes: switchd restarts, and all ports go down and come back",
        "apply.sh: 10-ports.yaml: nv config apply",
        "apply.sh: waiting up to 0 s for ports and BGP sessions",
        "apply.sh: nv config diff, 20-qos.yaml:",
        "apply.sh: 20-qos.yaml: nv config apply",
        "apply.sh: waiting up to 0 s for ports and BGP sessions",
        "apply.sh: up: 9 ports, 4 of 4 BGP sessions",
        "apply.sh: done: saved for the next boot",
        "apply.sh: the way back: sudo sh apply/apply.sh --restore RUN/old",
    ]
    stated = [
        line for path in ("10-ports", "20-qos") for line in (fresh.stages / f"{path}.nv").read_text().splitlines()
    ]
    wanted = "".join(f"{line}\n" for line in sorted({*FACTORY.splitlines(), *stated} - {DHCP.strip()}))
    assert fresh.configuration() == (wanted, wanted, False, False)


STALE = (
    "nv set qos mapping default-global dscp 40 switch-priority 3\n",
    "nv set qos roce mode lossy\n",
    "nv set qos traffic-pool default-lossless memory-percent 50\n",
)
OWN = "nv set qos advance-buffer-config default-global egress-lossy-buffer multicast switch-priority 0\n"


@pytest.mark.slow
def test_qos_of_the_switch_is_what_the_stages_state(tmp_path: Path) -> None:
    switch = NvueSwitch(tmp_path / "switch", build(), "".join((OWN, *STALE)), fresh=False)
    run = switch.apply(*OPTIONS)
    assert (run.code, run.error) == (0, "")
    unset = [call for call in run.calls if call.startswith("nv unset qos ")]
    assert {"nv unset qos mapping default-global", "nv unset qos roce", "nv unset qos traffic-pool"} <= {*unset}
    applied = switch.configuration()[0].splitlines(keepends=True)
    assert OWN in applied
    assert not {*STALE} & {*applied}
    stated = (switch.stages / "10-ports.nv").read_text().splitlines(keepends=True)
    assert {line for line in stated if line.startswith("nv set qos ")} <= {*applied}


@pytest.mark.slow
def test_a_refused_removal_of_qos_brings_the_old_configuration_back(running: NvueSwitch, tmp_path: Path) -> None:
    removal = "nv unset qos mapping default-global"
    other = NvueSwitch(tmp_path / "other", build(), "nv set system wjh enable on\n", fresh=False)
    at = other.apply(*OPTIONS).calls.index(removal) + 1
    was = running.configuration()
    assert_restored(running, was, running.apply(*OPTIONS, at=at, how="fail"), f"{removal} failed")


@pytest.mark.slow
@pytest.mark.parametrize(("at", "why"), cases(0, len(CHECKS)))
def test_a_check_that_fails_changes_nothing(fresh: NvueSwitch, at: int, why: str) -> None:
    was = fresh.configuration()
    assert_refused(fresh, was, fresh.apply(*OPTIONS, at=at, how="fail"), why)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "why"),
    [
        *cases(len(CHECKS), SECOND_STAGE),
        *cases(SECOND_STAGE, len(STEPS), "nv config patch", "nv config apply", "nv config save", "nv config diff app"),
    ],
)
def test_a_step_that_fails_is_taken_back(fresh: NvueSwitch, at: int, why: str) -> None:
    was = fresh.configuration()
    assert_restored(fresh, was, fresh.apply(*OPTIONS, at=at, how="fail"), why)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "why"), cases(len(CHECKS), SECOND_STAGE, "nv config apply", "nv config patch"))
def test_a_step_that_fails_half_way_is_taken_back(fresh: NvueSwitch, at: int, why: str) -> None:
    was = fresh.configuration()
    assert_restored(fresh, was, fresh.apply(*OPTIONS, at=at, how="half"), why)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "why"), cases(len(CHECKS), SECOND_STAGE, "nv config apply", "nv config patch", "vtysh"))
def test_a_step_that_hangs_is_taken_back(fresh: NvueSwitch, at: int, why: str) -> None:
    was = fresh.configuration()
    late = why.replace("failed (exit code 1)", "took longer than 900 s")
    assert_restored(fresh, was, fresh.apply(*OPTIONS, at=at, how="hang"), late)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "at"),
    [
        ("INT", number("nv config patch RUN/new/10-ports.yaml")),
        ("INT", number("nv config apply --confirm 20m -y")),
        ("TERM", number("nv config apply --confirm 20m -y")),
        ("INT", number("nv config apply 7 --confirm-yes")),
        ("TERM", number("nv config apply --confirm 20m -y", SECOND_STAGE)),
    ],
)
def test_a_signal_after_a_change_takes_it_back(fresh: NvueSwitch, signal: str, at: int) -> None:
    was = fresh.configuration()
    run = fresh.apply(*OPTIONS, at=at, how=signal)
    assert_restored(fresh, was, run, f"stopped by SIG{signal}")
    waited = f"SIG{signal}: waiting for nv config apply to end, then restoring" in run.said
    assert waited == ("--confirm 20m" in CALLS[at - 1])


def test_a_signal_during_a_check_changes_nothing(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    assert_refused(fresh, was, fresh.apply(*OPTIONS, at=number("nv config diff"), how="INT"), "stopped by SIGINT")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "why"),
    [
        ("refused", "10-ports.yaml: nv config apply failed (exit code 1)"),
        ("no-parts", "after 0 s: parts of ports do not exist: swp1s0 swp1s1"),
        ("no-bgpd", "after 0 s: the switch does not answer"),
        ("expired", "10-ports.yaml: NVUE rolled it back before the confirmation"),
    ],
)
def test_a_stage_that_goes_wrong_is_taken_back(fresh: NvueSwitch, fact: str, why: str) -> None:
    fresh.set(fact)
    was = fresh.configuration()
    assert_restored(fresh, was, fresh.apply(*OPTIONS), why)


@pytest.mark.slow
def test_a_revision_that_cannot_be_rolled_back_is_replaced(fresh: NvueSwitch) -> None:
    fresh.set("no-rollback")
    fresh.set("no-parts")
    was = fresh.configuration()
    run = fresh.apply(*OPTIONS)
    assert_restored(fresh, was, run, "after 0 s: parts of ports do not exist: swp1s0 swp1s1")
    assert "nv config replace RUN/old/startup.yaml" in run.calls


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_ports_and_sessions_that_were_up_have_to_come_back(running: NvueSwitch, *, keep: bool) -> None:
    neighbor = next(line.split()[7] for line in running.get("applied").splitlines() if " remote-as " in line)
    running.set("down-after", f"swp2\nswp8\n{neighbor}\n")
    was = running.configuration()
    run = running.apply("--timeout", "0", *(["--keep"] if keep else []))
    if keep:
        assert run.code == 0
        assert f"apply.sh: BGP sessions that are not up: {neighbor}\n" in run.said
    else:
        down = f"sessions stay down: {neighbor}; ports stay down: swp2"
        assert_restored(running, was, run, f"after 0 s: {down}")


@pytest.mark.slow
def test_a_stage_without_changes_is_not_applied(running: NvueSwitch) -> None:
    run = running.apply(*OPTIONS)
    assert run.code == 0
    assert "apply.sh: 20-qos.yaml: nothing changes\n" in run.said
    assert [call for call in run.calls if call.startswith("nv config apply")] == [
        "nv config apply --confirm 20m -y",
        "nv config apply 7 --confirm-yes",
    ]


@pytest.mark.slow
def test_a_change_of_eth0_waits_for_somebody_who_logs_in(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    run = fresh.apply("--timeout", "0")
    assert_restored(fresh, was, run, "after 0 s: nobody confirmed the change of eth0")
    said = "eth0 changes: log in to its new address within 0 s and run: sudo sh apply/apply.sh --confirm"
    assert f"apply.sh: {said}\n" in run.said


def test_a_confirmation_needs_a_run_that_waits(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    assert_refused(fresh, was, fresh.apply("--confirm"), "no apply.sh waits for a confirmation")
    waiting = fresh.saved / "20261123-1"
    waiting.mkdir(parents=True)
    (waiting / "asked").touch()
    run = fresh.apply("--confirm")
    assert (run.code, run.said) == (0, "apply.sh: confirmed: the apply.sh that waits goes on\n")
    assert {path.name for path in waiting.iterdir()} == {"asked", "confirmed"}


@pytest.mark.slow
def test_a_confirmed_change_of_eth0_is_kept(fresh: NvueSwitch) -> None:
    script = fresh.stages / "apply.sh"
    asked = 'touch "$run/asked"'
    text = script.read_text()
    assert text.count(asked) == 1
    script.write_text(text.replace(asked, f'{asked} && sh "$PWD/apply.sh" --confirm'))
    run = fresh.apply("--timeout", "0")
    assert (run.code, run.error) == (0, "")
    assert DHCP not in fresh.get("applied")


@pytest.mark.slow
def test_what_was_before_is_restored_on_request(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    assert fresh.apply(*OPTIONS).code == 0
    assert fresh.configuration() != was
    run = fresh.apply("--restore", run=2)
    assert (run.code, run.error) == (0, "")
    assert run.said.splitlines()[-1] == "apply.sh: restored the configuration from /var/lib/nodrop/20261123-1/old"
    assert fresh.configuration() == was


def test_nothing_is_restored_where_nothing_was_saved(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    assert_refused(fresh, was, fresh.apply("--restore"), "no earlier run is saved in /var/lib/nodrop")


@pytest.mark.slow
def test_where_the_way_back_fails_it_is_said_how_to_go_it_by_hand(fresh: NvueSwitch) -> None:
    for fact in ("no-rollback", "no-way-back", "no-parts"):
        fresh.set(fact)
    run = fresh.apply(*OPTIONS)
    assert run.code == 4
    assert run.error.splitlines()[-2:] == [
        "apply.sh: nv config replace and nv config apply failed four times; NOT RESTORED",
        "apply.sh: by hand: sudo sh apply/apply.sh --restore RUN/old, or sudo nv config replace RUN/old/startup.yaml"
        " and nv config apply",
    ]
    assert run.calls.count("nv config replace RUN/old/startup.yaml") == 4


def test_check_shows_what_would_change_and_applies_nothing(fresh: NvueSwitch) -> None:
    was = fresh.configuration()
    run = fresh.apply("--check")
    assert (run.code, run.said.splitlines()[-1]) == (0, "apply.sh: checks passed; nothing was applied")
    assert "apply.sh: nv config diff, all stages:\n" in run.said
    assert fresh.configuration() == was
    assert not [call for call in run.calls if call.startswith("nv config apply")]
    assert [path.name for path in fresh.saved.glob("*")] == ["lock"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "product", "why"),
    [
        ("5.15.1", "MSN4700", "the switch runs Cumulus Linux 5.15, the files are for 5.14"),
        ("5.14.2", "MSN4600C", "the switch is a SN4600C, the files are for SN4700"),
        ("5.14.2", "SN4700D", "the switch is a SN4700D, the files are for SN4700"),
    ],
)
def test_files_of_another_switch_are_refused_unless_allowed(
    fresh: NvueSwitch, release: str, product: str, why: str
) -> None:
    fresh.set("lsb-release", f'DISTRIB_ID="Cumulus Linux"\nDISTRIB_RELEASE="{release}"\n')
    was = fresh.configuration()
    option = "--any-release" if "runs" in why else "--any-model"
    run = fresh.apply("--check", product=product)
    assert_refused(fresh, was, run, f"{why} ({option} applies them all the same)")
    assert fresh.apply("--check", option, product=product, run=2).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("product", ["", "VX", "MSN4700-WS2F"])
def test_a_model_that_is_not_known_or_a_variant_is_accepted(fresh: NvueSwitch, product: str) -> None:
    run = fresh.apply("--check", product=product)
    assert run.code == 0
    note = "apply.sh: decode-syseeprom names no Spectrum switch: the model is not checked\n"
    assert (note in run.said) == (not product.startswith("MSN"))


@pytest.mark.slow
def test_changes_of_somebody_else_are_refused(fresh: NvueSwitch) -> None:
    other = "nv set system hostname other\n"
    fresh.set("pending", f"{fresh.get('applied')}{other}")
    was = fresh.configuration()
    assert_refused(fresh, was, fresh.apply(), "changes are pending: apply them, or drop them by nv config detach")
    (fresh.state / "pending").unlink()
    fresh.set("waiting", "12")
    run = fresh.apply()
    why = "revision 12 waits for its confirmation: nv config apply 12 --confirm-yes"
    assert_refused(fresh, fresh.configuration(), run, why)
    (fresh.state / "waiting").unlink()
    fresh.set("startup", other)
    why = "the applied configuration is not saved: sudo nv config save"
    assert_refused(fresh, fresh.configuration(), fresh.apply(), why)


@pytest.mark.parametrize("options", [["--tiemout", "5"], ["--timeout"], ["--timeout", "soon"], ["extra"]])
def test_wrong_usage_runs_nothing(fresh: NvueSwitch, options: list[str]) -> None:
    run = fresh.apply(*options)
    assert (run.code, run.calls) == (2, ("cat",))
    assert "Usage: sudo sh apply.sh" in run.error


@pytest.mark.slow
def test_a_lost_terminal_stops_nothing(fresh: NvueSwitch) -> None:
    assert fresh.apply(*OPTIONS, closed=True).code == 0
    assert "done: saved for the next boot" in (fresh.saved / "20261123-1" / "log").read_text()


def test_elsewhere_than_on_a_switch_it_says_so(tmp_path: Path) -> None:
    script = tmp_path / "apply.sh"
    script.write_text(apply_script("5.16", "SN5600"))
    done = subprocess.run(["/bin/sh", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("; nothing was changed\n")


def test_the_script_holds_nothing_of_an_intent() -> None:
    (script,) = [one.text for one in build() if one.path == "apply/apply.sh"]
    assert script == apply_script("5.14", "SN4700")


def test_the_script_knows_what_its_release_has() -> None:
    told = {release: apply_script(release, "SN5600").splitlines() for release in ("5.12", "5.13", "5.15")}
    assert "DHCP='ip address dhcp'" in told["5.13"]
    assert "DHCP='ipv4 dhcp-client'" in told["5.15"]
    assert "RESTARTS='system forwarding hash-seed'" in told["5.13"]
    (restarts,) = [line for line in told["5.12"] if line.startswith("RESTARTS=")]
    assert restarts.split("|")[:2] == ["RESTARTS='system forwarding hash-seed", "router adaptive-routing enable"]
