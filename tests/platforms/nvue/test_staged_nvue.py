"""The stages in `apply/` of a build lead to the state beside them; `nodrop lint` names one that does not."""

from pathlib import Path

import pytest

from nodrop.platforms.nvue.staged import find_outdated_stages
from nodrop.resources import resource_folder
from support.command import built, nodrop
from support.file_forms import NVUE, NVUE_SET

STATE = "build/leaf1/startup.yaml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("build/leaf1/apply").mkdir(parents=True)
    Path(STATE).write_bytes(NVUE)


def stage(name: str, text: str) -> None:
    Path("build/leaf1/apply", name).write_text(text)


def stages() -> tuple[int, list[str]]:
    done = nodrop("lint", "build", "--no-cache")
    return done.code, [line for line in done.out.splitlines() if line.startswith("error: build/leaf1/apply")]


def test_stages_lead_to_the_state_in_two_steps() -> None:
    lines = NVUE_SET.decode().splitlines(keepends=True)
    stage("10-ports.nv", "".join(lines[:2]))
    stage("20-qos.nv", "".join(lines[2:]))
    stage("10-ports.yaml", NVUE.decode())
    assert stages() == (1, [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("profile lossless", "profile other", "`interface swp1 qos pfc profile other`, and not lossless"),
        ("nv set interface swp1 qos pfc profile lossless\n", "", "`interface swp1 qos` is not set"),
        ("type swp\n", "type swp\nnv set interface swp2 type swp\n", "`interface swp2` is set"),
    ],
)
def test_a_stage_that_differs_is_a_problem(old: str, new: str, said: str) -> None:
    stage("10-ports.nv", NVUE_SET.decode().replace(old, new))
    code, problems = stages()
    assert (code, len(problems)) == (2, 1)
    assert f"10-ports.nv: {said}; expected what {STATE} sets" in problems[0]


def test_a_syntax_error_of_the_state_is_reported_once() -> None:
    stage("10-ports.nv", NVUE_SET.decode())
    stage("10-ports.yaml", NVUE.decode())
    Path(STATE).write_bytes(NVUE.replace(b"      swp1:", b"      swp1: : x"))
    errors = [line for line in nodrop("lint", "build", "--no-cache").out.splitlines() if line.startswith("error: ")]
    assert [line.split(":")[1].strip() for line in errors] == [STATE]


def test_a_syntax_error_of_a_stage_is_reported_at_its_line() -> None:
    stage("10-ports.yaml", NVUE.decode().replace("      swp1:", "      swp1: : x"))
    line = NVUE.decode().splitlines().index("      swp1:") + 1
    code, (problem,) = stages()
    assert (code, problem.startswith(f"error: build/leaf1/apply/10-ports.yaml:{line}:")) == (2, True)


def test_an_order_of_words_or_ranges_makes_no_difference() -> None:
    Path(STATE).write_bytes(NVUE.replace(b"      swp1:", b"      swp1-2:"))
    stage("10-ports.nv", NVUE_SET.decode() + NVUE_SET.decode().replace("swp1", "swp2"))
    assert stages() == (1, [])


@pytest.mark.slow
def test_stages_of_a_build_are_its_state() -> None:
    built(resource_folder("intents") / "reference-256-nvue-leaves.yaml", "made")
    done = nodrop("lint", "made")
    assert (done.code, "\nno findings" in done.out) == (0, True)
    path = next(Path("made").glob("leaf*/apply/10-ports.nv"))
    path.write_text(path.read_text().replace("mtu 9216", "mtu 1500", 1))
    assert nodrop("lint", "made").code == 2


def test_advice_names_the_stages_that_are_out_of_date_once_its_commands_are_typed() -> None:
    """The cache keeps no advice about stages that are gone."""
    stage("10-ports.nv", NVUE_SET.decode())
    words = "out of date afterwards: build/leaf1/apply/10-ports.nv;"

    def reports() -> tuple[str, str]:
        return nodrop("lint", "build").out, nodrop("lint", "build", "--format", "json").out

    text, as_json = reports()
    assert text.count(words) == sum(line.endswith("nv config apply") for line in text.splitlines()) > 0
    assert '"outdated_files":["build/leaf1/apply/10-ports.nv"]' in "".join(as_json.split())
    Path("build/leaf1/apply/10-ports.nv").unlink()
    text, as_json = reports()
    assert "out of date" not in text
    assert "outdated_files" not in as_json


STATE_WITH_TUNNEL = b"nv set qos roce\nnv set interface swp1-4 link mtu 1500\nnv set nve vxlan enable on\n"


@pytest.mark.parametrize(
    ("command", "outdated"),
    [
        ("nv set interface swp2 link mtu 9216", ["10-ports.nv"]),
        ("nv unset interface swp1 link mtu", ["10-ports.nv"]),
        ("nv set qos roce mode lossless", ["20-qos.nv"]),
        ("nv set interface swp2 link speed 400G", ["10-ports.nv"]),
        ("nv set service ntp mgmt server 192.0.2.1", ["10-ports.nv", "20-qos.nv"]),
        ("nv set nve vxlan state enabled", []),
        ("# delete nve vxlan enable from line 3 of leaf1/startup.yaml", []),
        ("# delete qos roce from line 1 of leaf1/startup.yaml", ["20-qos.nv"]),
    ],
)
def test_only_the_stages_that_a_command_leaves_behind_are_out_of_date(command: str, outdated: list[str]) -> None:
    stage_texts = {"10-ports.nv": b"nv set interface swp1-4 link mtu 1500\n", "20-qos.nv": b"nv set qos roce\n"}
    assert list(find_outdated_stages(STATE_WITH_TUNNEL, stage_texts, [command])) == outdated
