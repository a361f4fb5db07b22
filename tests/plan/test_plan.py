"""Plans: what changes between two fabrics is told once and in full, and a patch makes exactly that of the old files."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import nodrop
from nodrop import platforms
from nodrop.checking.rollout import order_rollout, should_compute_routing
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.judging import CheckSettings
from nodrop.model.compare import differences
from nodrop.model.edit import set_value
from nodrop.model.fabric import Device
from nodrop.model.reading import Assumption, Reading
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.model.types import fields_of
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.model import Plan
from nodrop.plan.patches import MANUAL_STEPS_FILE, SwitchPatchFiles, make_patches
from nodrop.platforms.kit import change_effects
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.platforms.sonic.edit import PATCH
from nodrop.report import plan_json
from nodrop.report.plan_words import fact_name, format_fact_lines
from support.broken_fabrics import bad_examples, broken, said
from support.designs import shipped
from support.json_text import applied
from support.pages import markdown_of_plan, text_of_plan
from support.places import TESTS
from support.plan_pairs import KNOBS, as_read, device_in, reading, reading_of, steps_of, typed

HERE = TESTS / "plan"
WATCHED = {"watchdog": {"fabric": "off"}}
STORIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ecn-thresholds": (
        "two-by-two",
        "sonic",
        {"classes.rdma.ecn": {"min": "200kB", "max": "2000kB", "probability": "100%"}},
    ),
    "ecn-thresholds-nvue": (
        "two-by-two",
        "nvue",
        {"classes.rdma.ecn": {"min": "200kB", "max": "2000kB", "probability": "100%"}},
    ),
    "leaf-added": ("two-by-two", "sonic", {"topology.leaves.ids": "1-3"}),
    "leaf-added-nvue": ("two-by-two", "nvue", {"topology.leaves.ids": "1-3"}),
    "fabric-watchdog-off": ("two-by-two", "sonic", {"pfc": WATCHED}),
    "storage-in-dscp-26": (
        "two-by-two",
        "sonic",
        {"classes.rdma.dscp": "24", "classes.storage.dscp": "26", "hosts": {"tos": "98"}},
    ),
    "spine-drained": ("two-by-two", "sonic", {"devices": {"spine1": {"drained": True}}}),
    "mtu-lowered": ("two-by-two", "sonic", {"mtu": "9000"}),
    "spines-renumbered": ("two-by-two", "nvue", {"routing.asn.spines": "4200000001"}),
    "spines-become-nvue": (
        "two-by-two",
        "sonic",
        {"topology.spines.platform": "nvue", "topology.spines.version": "5.14"},
    ),
}
"""Changes as people make them: an intent, the platform of its switches, and what is changed."""


def story(name: str) -> tuple[Reading, Reading]:
    intent, platform, changes = STORIES[name]
    return reading(platform, (), intent), reading_of(platform, changes)


def whole(one: Plan) -> list[str]:
    """Return all facts as lines, with where they are."""
    return [
        f"{'+'.join(block.devices)} {'+'.join(block.ports)} {line}"
        for block in one.changes
        for fact in block.facts
        for line in format_fact_lines(fact)
    ]


@pytest.mark.parametrize("name", STORIES)
def test_what_a_reviewer_reads(name: str, update_golden: bool) -> None:
    old, new = story(name)
    made = nodrop.plan(old, new)
    made = order_rollout(made, old, new, CheckSettings(), routing=should_compute_routing(made, old, new))
    pages = {
        "txt": text_of_plan(made),
        "md": markdown_of_plan(made),
        "json": plan_json.render([made]).decode(),
    }
    if update_golden:
        for form, page in pages.items():
            (HERE / "golden" / f"{name}.{form}").write_text(page)
    assert pages == {form: (HERE / "golden" / f"{name}.{form}").read_text() for form in pages}


@pytest.mark.parametrize("name", ["two-by-two", "reference-256-nvue-leaves", "storage-vlan"])
def test_a_fabric_is_no_change_of_itself(name: str) -> None:
    from nodrop.fabric_readings import build_and_read_back
    from support.designs import load

    one, other = (build_and_read_back(load(shipped(name)), "intent.yaml", "build")[1] for _ in range(2))
    made = nodrop.plan(one, other)
    assert made.is_empty
    assert (made.devices, made.changes, made.not_compared, made.order) == ((), (), (), ())
    assert text_of_plan(made) == "nothing changes\n"


def test_a_plan_does_not_depend_on_the_order_of_switches_and_ports() -> None:
    def turned(one: Reading) -> Reading:
        devices = tuple(replace(device, interfaces=device.interfaces[::-1]) for device in one.fabric.devices[::-1])
        return replace(one, fabric=replace(one.fabric, devices=devices))

    old, new = story("ecn-thresholds")
    assert plan_json.render([nodrop.plan(turned(old), turned(new))]) == plan_json.render([nodrop.plan(old, new)])


def test_what_one_side_does_not_say_is_no_change_and_told() -> None:
    old = reading()
    silent = replace(old, fabric=set_value(old.fabric, parse_subject("leaf1/Ethernet*/qos/pfc_watchdog"), UNKNOWN))
    for one, other, side in ((old, silent, "the new side"), (silent, old, "the old side")):
        made = nodrop.plan(one, other)
        assert made.is_empty
        assert [(told.devices, len(told.ports)) for told in made.not_compared] == [(("leaf1",), 3), (("leaf1",), 4)]
        assert f"PFC watchdog of leaf1: absent on {side}" in text_of_plan(made)
        assert text_of_plan(made).endswith("\nnothing changes\n")


def test_what_was_assumed_or_is_not_there_is_not_said() -> None:
    """Files of switches alone state neither hosts nor classes; an intent does, and that is no change of them."""
    old = reading()
    bare = replace(old.fabric, classes=old.fabric.classes[:1], hosts=(), nics=(), links=())
    other = replace(old, fabric=bare, assumed=(Assumption(fact="RDMA", value="DSCP 26", reason="NVIDIA's"),))
    made = nodrop.plan(other, old)
    assert made.is_empty
    assert [fact.entries[0].path for block in made.not_compared for fact in block.facts] == [
        ("classes",),
        ("hosts",),
        ("links",),
        ("nics",),
    ]


def test_equal_changes_are_told_once() -> None:
    made = nodrop.plan(*story("ecn-thresholds"))
    facts = [fact for block in made.changes for fact in block.facts]
    assert {fact_name(fact) for fact in facts} == {"queue 3: ECN minimum", "queue 3: ECN maximum"}
    assert [block.devices for block in made.changes] == [("leaf1", "leaf2"), ("spine1", "spine2")]
    assert [len(block.ports) for block in made.changes] == [7, 4]


def applied_by_its_tool(platform: str, patch: SwitchPatchFiles, old: Reading) -> None:
    """What the switch's own tools make of the patch alone is what the patch promises of the file."""
    file = platforms.reader(platform).CANONICAL_FILES[0]
    had = switch_files_if_unchanged(old, patch.device)
    assert had is not None
    if platform == "sonic":
        tables = typed(patch.files, applied(steps_of(patch.files), json.loads(had[file])))
        assert tables == json.loads(patch.result[file])
    else:
        laid_over = {**had, file: had[file] + patch.files["changes.yaml"]}
        assert as_read(platform, patch.device, laid_over) == as_read(platform, patch.device, dict(patch.result))


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
@pytest.mark.nightly
def test_a_patch_makes_the_new_fabric_of_the_old_files(platform: str, data: st.DataObject) -> None:
    knobs = data.draw(st.lists(st.sampled_from(sorted(KNOBS)), min_size=1, max_size=3, unique=True))
    changes = {knob: data.draw(st.sampled_from(KNOBS[knob])) for knob in knobs}
    old = reading(platform)
    try:
        new = reading_of(platform, changes)
    except InputProblems:
        return
    made = nodrop.plan(old, new)
    before = {device.name for device in old.fabric.devices}
    seen = set()
    for patch in make_patches(made, old, new):
        seen.add(patch.device)
        left = [line for line in patch.by_hand if not line.startswith("refused as a whole")]
        now = as_read(platform, patch.device, dict(patch.result))
        assert (left, list(differences(now, device_in(new, patch.device)))) == ([], []), patch.device
        if patch.device in before:
            applied_by_its_tool(platform, patch, old)
    untouched = {device.name for device in new.fabric.devices} - seen
    assert all(device_in(old, name) == device_in(new, name) for name in untouched)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_patch_mends_or_breaks_nothing_but_what_is_asked(platform: str, data: st.DataObject) -> None:
    """Of fabrics with a fault and without: what a patch leaves different is to be done by hand, and said."""
    fault = data.draw(st.sampled_from([(), *bad_examples()]))
    try:
        one = said(broken(platform, [fault] if fault else []))
    except (ValueError, UnsupportedByPlatform):
        assume(False)
    clean = said(broken(platform, []))
    for old, new in ((clean, one), (one, clean)):
        made = nodrop.plan(old, new)
        assert all((text_of_plan(made), markdown_of_plan(made), plan_json.render([made])))
        changed = {change.name for change in made.devices if change.kind == "changed"}
        for patch in (patch for patch in make_patches(made, old, new) if patch.device in changed):
            now = as_read(platform, patch.device, dict(patch.result))
            left = [line for line in patch.by_hand if not line.startswith("refused as a whole")]
            assert left or not list(differences(now, device_in(new, patch.device)))


def test_what_stands_in_one_field_with_a_change_and_is_to_stay_stays() -> None:
    """PFC that is obeyed on all priorities and sent for one (asymmetric PFC): only the one direction is changed."""
    clean = broken("sonic", [])
    file = "spine1/config_db.json"
    config = json.loads(clean[file])
    config["PORT"]["Ethernet0"]["pfc_asym"] = "on"
    old, new = said(clean), said({**clean, file: json.dumps(config)})
    (patch,) = make_patches(nodrop.plan(old, new), old, new)
    assert patch.by_hand == ()
    assert as_read("sonic", "spine1", dict(patch.result)) == device_in(new, "spine1")


def test_what_no_patch_makes_makes_the_rest_no_worse() -> None:
    """Another HWSKU is for a person; the threshold beside it is one step, which the updater takes."""
    clean = broken("sonic", [])
    file = "leaf1/config_db.json"
    config = json.loads(clean[file])
    config["DEVICE_METADATA"]["localhost"]["hwsku"] = "Mellanox-SN4700-O32"
    config["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "160000"
    old, new = said(clean), said({**clean, file: json.dumps(config)})
    made = nodrop.plan(old, new)
    facts = {
        fact_name(fact): fact.effect for block in made.changes for fact in block.facts if not fact.is_switch_computed
    }
    assert {name: (effect.risk, effect.method) for name, effect in facts.items()} == {
        "HWSKU": ("reboot", "by hand"),
        "queue 3: ECN minimum (green)": ("none", "patch"),
    }
    assert made.combined_impact == ()
    (patch,) = make_patches(made, old, new)
    (step,) = json.loads(patch.files[PATCH])
    assert (step["path"], step["value"]) == ("/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "160000")
    assert json.loads(patch.files["config_db.json"]) == config
    assert patch.by_hand[0].startswith("leaf1/@hwsku: ")
    assert patch.by_hand[-1].startswith("or load config_db.json, which is that of the new tree, whole")


def test_what_the_switch_adds_by_itself_follows() -> None:
    """A port that is shut has no lossless priority group, and so the pools are larger."""
    clean = broken("sonic", [])
    file = "leaf1/config_db.json"
    config = json.loads(clean[file])
    config["PORT"]["Ethernet0"]["admin_status"] = "down"
    made = nodrop.plan(said(clean), said({**clean, file: json.dumps(config)}))
    means = {fact_name(fact): fact.effect.method for block in made.changes for fact in block.facts}
    assert means.pop("enabled") == "patch"
    assert set(means.values()) == {"derived"}


def test_a_switch_of_which_little_is_known_is_told() -> None:
    """Cumulus Linux before NVUE: no file names the release, and lines are typed."""
    folder = TESTS / "platforms" / "cumulus"
    old, new = (nodrop.read([str(folder / name)]) for name in ("good", "bad"))
    device = replace(new.fabric.devices[0], name=old.fabric.devices[0].name)
    made = nodrop.plan(old, replace(new, fabric=replace(new.fabric, devices=(device,))))
    (change,) = made.devices
    assert change.kind == "changed"
    assert f"~ {change.name} changed" in text_of_plan(made)
    assert {fact.effect.method for block in made.changes for fact in block.facts if block.devices} <= {
        "by hand",
        "unknown",
    }


def test_what_the_updater_refuses_and_a_command_does_is_typed() -> None:
    old, new = story("ecn-thresholds")
    made = nodrop.plan(old, new)
    assert made.effects == dict.fromkeys(("leaf1", "leaf2", "spine1", "spine2"), "none")
    assert {fact.effect.method for block in made.changes for fact in block.facts if block.devices} == {"commands"}
    patch = next(iter(make_patches(made, old, new)))
    assert list(patch.files) == ["commands.sh"]
    assert patch.files["commands.sh"].startswith(b"sudo ecnconfig -p AZURE_LOSSLESS -gm")
    assert as_read("sonic", "leaf1", dict(patch.result)) == device_in(new, "leaf1")


def test_a_refused_patch_comes_with_the_whole_file() -> None:
    old = reading()
    new = replace(old, fabric=set_value(old.fabric, parse_subject("leaf1/@watchdog_polling_ms"), None))
    made = nodrop.plan(old, new)
    assert made.effects == {"leaf1": "refused"}
    patch = next(iter(make_patches(made, old, new)))
    file = platforms.reader("sonic").CANONICAL_FILES[0]
    assert sorted(patch.files) == sorted([PATCH, file, MANUAL_STEPS_FILE])
    assert as_read("sonic", "leaf1", {**patch.result, file: patch.files[file]}).watchdog_polling_ms is None
    assert patch.files[MANUAL_STEPS_FILE].decode().startswith(f"refused as a whole, load {file} instead: ")


def test_switches_that_come_get_their_files_and_those_that_go_a_line() -> None:
    old, new = story("leaf-added")
    by_name = {one.device: one for one in make_patches(nodrop.plan(old, new), old, new)}
    assert sorted(by_name) == ["leaf3", "spine1", "spine2"]
    assert device_in(new, "leaf3") == as_read("sonic", "leaf3", dict(by_name["leaf3"].files))
    gone = {one.device: one for one in make_patches(nodrop.plan(new, old), new, old)}
    assert list(gone["leaf3"].files) == [MANUAL_STEPS_FILE]


def test_a_switch_of_another_system_is_replaced() -> None:
    old, new = story("spines-become-nvue")
    made = nodrop.plan(old, new)
    assert [one.name for one in made.devices if one.kind == "replaced"] == ["spine1", "spine2"]
    assert made.effects == {"leaf1": "none", "leaf2": "none", "spine1": "reboot", "spine2": "reboot"}
    patch = next(one for one in make_patches(made, old, new) if one.device == "spine1")
    files = {name: raw for name, raw in patch.files.items() if name != MANUAL_STEPS_FILE}
    assert as_read("nvue", "spine1", files) == device_in(new, "spine1")
    assert patch.by_hand


def test_a_change_on_ports_that_are_shut_disturbs_nothing() -> None:
    made = nodrop.plan(*story("leaf-added"))
    assert made.effects == {"leaf3": "none", "spine1": "none", "spine2": "none"}


@pytest.mark.parametrize(("autoneg", "effect"), [(True, "port bounce"), (False, "none"), (None, "none")])
def test_a_port_uses_advertised_speeds_if_it_negotiates(autoneg: bool | None, effect: str) -> None:
    port = "leaf1/Ethernet0"
    both = reading()
    old, new = (
        replace(
            both,
            fabric=set_value(
                set_value(both.fabric, parse_subject(f"{port}/autoneg"), autoneg),
                parse_subject(f"{port}/advertised_speeds_mbps"),
                speeds,
            ),
        )
        for speeds in ((100000, 400000), (400000,))
    )
    assert nodrop.plan(old, new).effects == {"leaf1": effect}


def risks_of_use(old: Reading, new: Reading) -> set[str]:
    """Return all risks of the plans by which spare ports come into use, and become spare again."""
    plans = nodrop.plan(old, new), nodrop.plan(new, old)
    assert not any(one.not_compared or one.outside_model for one in plans)
    facts = {fact.effect.risk for one in plans for block in one.changes for fact in block.facts}
    return facts | {risk for one in plans for risk in one.effects.values()}


@pytest.mark.parametrize("name", ["leaf-added", "leaf-added-nvue"])
def test_spare_ports_come_into_use_and_go_without_an_unknown(name: str) -> None:
    old, new = story(name)
    spare = next(port for port in device_in(old, "spine1").interfaces if not port.enabled)
    assert (spare.speed_mbps is None) == (name == "leaf-added-nvue")
    assert "unknown" not in risks_of_use(old, new)


@pytest.mark.slow
@settings(max_examples=8)
@given(
    release=st.sampled_from(
        [(one, release) for one in ("sonic", "nvue") for release in traits_of_platform(one).releases]
    ),
    mtu=st.sampled_from(["9100", "9216"]),
)
def test_ports_of_any_release_come_into_use_without_an_unknown(release: tuple[str, str], mtu: str) -> None:
    platform, version = release
    tiers = {f"topology.{tier}.{key}": value for tier in ("leaves", "spines")
             for key, value in (("platform", platform), ("version", version))}  # fmt: skip
    changes = {**tiers, "mtu": mtu}
    old, new = (reading_of(platform, {**changes, "topology.leaves.ids": ids}) for ids in ("1-2", "1-3"))
    assert "unknown" not in risks_of_use(old, new)


def test_a_release_is_installed_by_hand_and_needs_a_reboot() -> None:
    old = reading()
    new = replace(old, fabric=set_value(old.fabric, parse_subject("leaf1/@version"), "202511"))
    made = nodrop.plan(old, new)
    (fact,) = made.changes[0].facts
    assert (made.effects, fact.effect.method) == ({"leaf1": "reboot"}, "by hand")
    assert list(format_fact_lines(fact)) == ["release: 202505 -> 202511"]


def test_a_change_of_files_that_are_not_at_hand_is_unknown() -> None:
    old, new = story("fabric-watchdog-off")
    made = nodrop.plan(replace(old, sources={}), new)
    facts = [fact for block in made.changes for fact in block.facts if block.ports]
    assert {(fact.effect.risk, fact.effect.method) for fact in facts} == {("unknown", "unknown")}


@pytest.mark.parametrize("platform", ["", "sonic"])
def test_what_is_known_of_changes_is_said_of_parts_of_the_model(platform: str) -> None:
    for row in change_effects._read_effect_rows(platform):
        for path in row.paths:
            kind: Any = Device
            for at, part in enumerate(path):
                if part in ("*", "**") and at:
                    continue
                assert part in fields_of(kind), path
                found = fields_of(kind)[part]
                owners = found.owners or (found.element.owners if found.element else ())
                kind = owners[0] if owners else None


def test_leaves_come_before_spines_and_spines_one_by_one() -> None:
    made = nodrop.plan(*story("ecn-thresholds"))
    assert [stage.devices for stage in made.order] == [("leaf1",), ("leaf2",), ("spine1",), ("spine2",)]
    alone = nodrop.plan(*story("spine-drained"))
    assert [stage.devices for stage in alone.order] == [("spine1",)]


def test_pods_go_one_after_the_other() -> None:
    from nodrop.fabric_readings import build_and_read_back
    from support.designs import load

    old = build_and_read_back(load(shipped("reference-256")), "intent.yaml", "build")[1]
    fabric = set_value(old.fabric, parse_subject("*/@ntp_servers"), ("192.0.2.99",))
    links = tuple(one for one in fabric.links if not {"leaf1", "leaf2"} & {one.a.node} or one.b.node != "spine2")
    links = tuple(one for one in links if not {"leaf3", "leaf4"} & {one.a.node} or one.b.node != "spine1")
    new = replace(old, fabric=replace(fabric, links=links))
    made = nodrop.plan(old, new)
    assert [stage.devices for stage in made.order] == [
        ("leaf1",),
        ("leaf2",),
        ("leaf3", "leaf4"),
        ("spine1",),
        ("spine2",),
    ]


def test_names_steer_neither_terminals_nor_pages() -> None:
    old = reading()
    text = "</summary><img src=x>|**b**\x1b[31m"
    new = replace(old, fabric=set_value(old.fabric, parse_subject("leaf1/Ethernet0/description"), text))
    made = nodrop.plan(old, new)
    assert "\x1b" not in text_of_plan(made)
    page = re.sub(r"(`+)[^`\n]+\1", "", markdown_of_plan(made))
    assert "<img" not in page.replace("\\<img", "")
    assert "**b**" not in page
    assert json.loads(plan_json.render([made]))["plans"][0]["changes"][0]["facts"][0]["entries"][0]["new"] == text


def test_the_work_does_not_grow_with_ports_of_equal_design(monkeypatch: pytest.MonkeyPatch) -> None:
    from nodrop.plan import effects

    tried: list[str] = []
    before = effects.ChangeEffectFinder._edit_switch_files

    def counted(self: effects.ChangeEffectFinder, change: Any, wanted: Any, **how: Any) -> Any:
        tried.append(change.name)
        return before(self, change, wanted, **how)

    monkeypatch.setattr(effects.ChangeEffectFinder, "_edit_switch_files", counted)
    nodrop.plan(*story("ecn-thresholds"))
    assert tried == ["leaf1", "leaf1", "leaf1", "spine1"]  # each of two facts, and all of a leaf and of a spine
