"""`nodrop init`: a first intent that builds clean on every switch there is, and never takes another file's place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.hardware import asic, buildable_models, switch
from nodrop.intent.load import loads
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.resources import resource_folder
from nodrop.schemas import render_schema
from nodrop.sizing.first_intent import render_full_leaf_spine_intent
from nodrop.syntax.yaml import parse_yaml
from support.command import nodrop as run

WORTH_KNOWING = {
    "ecn-same-at-every-speed",
    "hash-seed-by-port",
    "watchdog-drops-nothing-on-chip",
    "watchdog-flaps-on-chip",
    "watchdog-pauses-senders-on-chip",
}
"""Notes that a first intent may have for the most demanding reader: they are facts of its switches."""

LOW_ROWS = {"7170-64C", "AS9516-32D", "Wedge100BF-32X"}
"""Models whose vendor ships rows below the bound of IEEE 802.1Q, which are used as they are: Intel's Tofino."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _models_by_asic() -> Iterator[Any]:
    """Yield each platform with its models; those of an ASIC seen before are for the longer tests."""
    for platform in platforms.writable_platforms():
        asics: set[str] = set()
        for model in buildable_models(platform):
            marks = [pytest.mark.slow] if switch(model).asic in asics else []
            asics.add(switch(model).asic)
            yield pytest.param(platform, model, marks=marks)


@pytest.mark.parametrize(("platform", "model"), list(_models_by_asic()))
def test_it_builds_without_a_finding(platform: str, model: str) -> None:
    text = render_full_leaf_spine_intent(platform, model, file="intent.yaml").text
    fabric = nodrop.build(loads(text.encode(), "intent.yaml"))
    assert {(device.platform, device.model) for device in fabric.devices} == {(platform, model)}
    verdict = judge(
        nodrop.read_back(list(nodrop.write(fabric)), fabric), select_lint_rules(shipped_rules()), strictness="auditor"
    )
    low = {"headroom-row-below-formula"} if model in LOW_ROWS else set()
    found = {one.rule for one in verdict.findings}
    assert found <= WORTH_KNOWING | low
    chip = asic(switch(model).asic)
    told = chip.has_headroom_terms or all(map(_has_rows, fabric.devices))
    unknown = {one.rule for one in verdict.unknown}
    assert ("pool-exceeds-memory" in unknown) == (chip.packet_memory_bytes is None)
    assert unknown - {"pool-exceeds-memory"} <= (set() if told else {"headroom-too-small", "headroom-below-formula"})


def _has_rows(device: Device) -> bool:
    """Return whether the table of the HWSKU of a switch has a row for the speed of every cabled port."""
    assert isinstance(device.model, str)
    assert not isinstance(device.hwsku, Unknown)
    table = switch(device.model).sonic.headroom_table_of_hwsku(device.hwsku)
    rows = {row.speed_mbps for row in table.rows} if table else set()
    return {port.speed_mbps for port in device.interfaces if port.side} <= rows


@pytest.mark.parametrize("model", buildable_models("sonic"))
def test_servers_fill_the_leaves_at_one_to_one(model: str) -> None:
    fabric = nodrop.build(loads(render_full_leaf_spine_intent("sonic", model, file="x").text.encode(), "x"))
    for device in fabric.devices:
        if device.role == "leaf":
            down, up = (sum(p.speed_mbps for p in device.interfaces if p.side == side) for side in ("host", "fabric"))
            assert down == up > 0
            fastest = max(group.speeds[0] for group in switch(model).ports if not group.service)
            of_kind = switch(model).panels_splittable_at_once(1, fastest)[:32]
            assert all(port.enabled for port in device.interfaces if port.port and port.port.panel in of_kind)


def test_a_folder_gets_an_intent() -> None:
    done = run("init", "new/pod1")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "new/pod1/intent.yaml: written; `nodrop show new/pod1/intent.yaml` says what it means",
        "16 servers of 8 GPUs behind 2 leaves and 2 spines; 2 x 400G for each server",
    ]
    text = Path("new/pod1/intent.yaml").read_text()
    assert text == render_full_leaf_spine_intent("sonic", "SN4700", file="intent.yaml").text
    line, _, schema = text.splitlines()[0].partition("$schema=")
    assert line == "# yaml-language-server: "
    assert (Path("new/pod1") / schema).read_text() == render_schema("intent")
    assert run("init").code == 0
    assert Path("intent.yaml").is_file()
    assert run("build", "intent.yaml", "-o", "build").code == 0


def test_a_file_gets_its_name_and_the_switches_that_are_asked_for() -> None:
    assert run("init", "pod2.yml", "--model", "SN5600").code == 0
    text = Path("pod2.yml").read_text()
    assert "`nodrop build pod2.yml -o build`" in text
    tier = parse_yaml(text.encode(), "pod2.yml").data["topology"]["leaves"]
    assert (tier["model"], tier["platform"], tier["version"]) == ("SN5600", "sonic", "202505")


def test_nothing_is_ever_overwritten() -> None:
    Path("intent.yaml").write_text("mine")
    for path in (".", "intent.yaml"):
        done = run("init", path)
        assert (done.code, done.err) == (2, "Error: intent.yaml is there already; it was not touched\n")
    assert Path("intent.yaml").read_text() == "mine"
    Path("link.yaml").symlink_to("elsewhere")
    assert run("init", "link.yaml").code == 2
    assert not Path("elsewhere").exists()
    done = run("init", "intent.yaml/x")
    assert (done.code, Path("intent.yaml").read_text()) == (2, "mine")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--model", "SN470"], "no model 'SN470' (did you mean `SN4700`?)"),
        (["--platform", "NVUE"], "no platform 'NVUE' (did you mean `nvue`?)"),
        (["--platform", "sonik"], "no platform 'sonik' (did you mean `sonic`?)"),
        ([""], "the path is empty"),
        (["--gpus", "0"], "0 is not in the range"),
        (["--rails"], "--rails needs --gpus"),
        (["--gpus", "512", "--rails-per-leaf", "2"], "--rails-per-leaf needs --rails"),
        (["--gpus", "512", "--spine", "SN560"], "no model 'SN560' (did you mean `SN5600` or `SN5610` or `SN5640`?)"),
        (["--gpus", "512", "--leaf", "8122-64EH"], "8122-64EH is not known under sonic"),
        (["--gpus", "512", "--nic", "ConnectX7"], "no NIC 'ConnectX7' (did you mean `ConnectX-7`?)"),
        (["--gpus", "512", "--speed", "400"], "'400': expected a speed such as 400G"),
        (["--gpus", "512", "--ratio", "two"], "'two'; expected a ratio such as 1:1 or 2:1"),
        (["--gpus", "512", "--ratio", "0:1"], "'0:1'; expected a ratio such as 1:1 or 2:1"),
        (["--gpus", "512", "--storage", "16x400G"], "'16x400G'; expected nodes, ports and speed such as 16x2x400G"),
        (["--gpus", "512", "--storage", "0x2x400G"], "'0x2x400G'; expected nodes, ports and speed"),
        (["--gpus", "512", "--storage", "4x2xfast"], "'fast': expected a speed such as 400G"),
        (["--gpus", "512", "--lengths", "5m"], "'5m'; expected three lengths such as 5m,30m,100m"),
        (
            ["--gpus", "65536", "--rails"],
            "three tiers of these switches do not carry them (SN4700); nearest: --gpus 8192",
        ),
        (["--from", "rail-25"], "no shipped intent 'rail-25' (did you mean `rail-256`?)"),
        (["--from", "../etc"], "no shipped intent '../etc'"),
        (["--from", "rail-256", "--gpus", "8"], "--gpus and --from exclude each other"),
        (["--list", "--rule", "a/b"], "--list and --rule exclude each other"),
    ],
)
def test_what_is_wrong_is_told(args: list[str], said: str) -> None:
    done = run("init", *args)
    assert done.code == 2
    assert said in done.err
    assert list(Path().iterdir()) == []


def test_a_folder_gets_an_intent_for_a_number_of_gpus() -> None:
    asked = ("--gpus", "128", "--nics", "8", "--rails", "--storage", "4x2x400G")
    assert run("init", "pod1", *asked).code == 0
    text = Path("pod1/intent.yaml").read_text()
    assert "16 servers of 8 GPUs and 4 storage nodes behind 10 leaves and 8 spines" in text.splitlines()[1]
    fabric = nodrop.build(loads(text.encode(), "x"))
    assert sum(host.gpus for host in fabric.hosts) == 128
    assert {host.spread for host in fabric.hosts} == {"rails", "leaves"}
    assert run("lint", "pod1/intent.yaml").code == 0


def test_rails_that_share_a_leaf_build_and_have_no_finding() -> None:
    assert run("init", "--gpus", "128", "--rails", "--rails-per-leaf", "4").code == 0
    fabric = nodrop.build(loads(Path("intent.yaml").read_bytes(), "x"))
    assert [device.name for device in fabric.devices if device.role == "leaf"] == [f"leaf{n}" for n in range(1, 9)]
    assert run("lint", "intent.yaml").code == 0


@pytest.mark.parametrize("name", ["two-by-two", "large/three-tier"])
def test_a_shipped_intent_is_copied_with_its_schema(name: str) -> None:
    assert run("init", "here", "--from", name).code == 0
    first, *rest = Path("here/intent.yaml").read_text().splitlines()
    assert rest == (resource_folder("intents") / f"{name}.yaml").read_text().splitlines()[1:]
    assert first == "# yaml-language-server: $schema=.nodrop/intent.schema.json"
    assert Path("here/.nodrop/intent.schema.json").is_file()


def test_the_list_has_every_shipped_intent_but_those_that_are_refused() -> None:
    done = run("init", "--list")
    rows = dict(line.split("  ", 1) for line in done.out.splitlines())
    shipped_intents = {path.stem for path in resource_folder("intents").glob("*.yaml")}
    assert (done.code, rows.keys()) == (0, shipped_intents | {"large/three-tier"})
    assert all(words.strip()[:1].isupper() or words.strip()[:1].isdigit() for words in rows.values())
    assert list(Path().iterdir()) == []


def test_every_line_is_short_and_has_words_that_hold() -> None:
    text = render_full_leaf_spine_intent("sonic", "SN5600", file="intent.yaml").text
    assert max(map(len, text.splitlines())) <= 120
    assert "$" not in text.replace("$schema=", "")


def test_ports_share_less_headroom_where_all_at_once_is_too_much() -> None:
    assert run("init", "intent.yaml", "--model", "NH-4210").code == 0
    text = Path("intent.yaml").read_text()
    assert "buffers: {shared_headroom: 2}" in text
    Path("intent.yaml").write_text(text.replace("shared_headroom: 2", "shared_headroom: off"))
    done = run("build", "intent.yaml", "-o", "build")
    assert done.code == 2
    assert "topology.uplinks.length: the headroom of leaves' ports at 30m fills the 265.3 MB of NH-4210" in done.out
    assert "or buffers.shared_headroom: 2" in done.out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--leaf", "SN560"), "no model 'SN560' (did you mean `SN5600` or `SN5610` or `SN5640`?)"),
        (
            ("--storage", "4x2x800G"),
            "--storage 4x2x800G: SN4700 has no 800G port with a known headroom; ",
        ),
        (("--speed", "800G"), "--speed 800G: ConnectX-7 has no 800G port; expected"),
        (("--leaf", "SN2010"), "512 GPUs: three tiers of these switches do not carry them (SN2010)"),
    ],
)
def test_a_refused_size_names_the_option_and_what_would_do(options: tuple[str, ...], expected: str) -> None:
    done = run("init", "new", "--gpus", "512", *options)
    assert done.code == 2
    assert expected in done.err


def test_a_speed_below_that_of_the_nic_is_said() -> None:
    done = run("init", "new", "--gpus", "512", "--leaf", "SN3700")
    assert "8 x 200G of ConnectX-7's 400G for each server" in done.err.splitlines()[1]
