"""Both styles of QoS: the same fabric, what the macro style leaves out, the default, and platforms without styles."""

from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.design.defaults import applied_defaults
from nodrop.errors import InputProblems
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device, Fabric, QosStyle
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import require_fact
from nodrop.plan.patches import make_patches
from nodrop.platforms import unsupported_paths
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.platforms.nvue.releases import RELEASES
from nodrop.resources import resource_folder
from support.designs import Data, build, changed, load, shipped, tiers_of
from support.nvue_devices import as_nvue, fabric, profile
from support.nvue_startup import read

STYLES: tuple[QosStyle, ...] = ("macro", "explicit")
ABLE = sorted(path.stem for path in resource_folder("intents").glob("*.yaml") if path.stem != "broadcom")
"""The intents with switches that run NVUE."""
TWO_LOSSLESS: Data = {
    "dscp": "12",
    "priority": "4",
    "purpose": "storage",
    "lossless": True,
    "share": "20%",
    "ecn": {"min": "150kB", "max": "1500kB", "probability": "100%"},
}


def on_nvue(name: str, release: str, style: QosStyle | None, **changes: Any) -> Data:
    values = {"platform": "nvue", "version": release, "style": style}
    return shipped(name, {f"{path}.{key}": value for path in tiers_of(name) for key, value in values.items()} | changes)


def two_lossless(style: QosStyle | None) -> Data:
    return changed(on_nvue("two-by-two", "5.16", style), {"classes.storage": TWO_LOSSLESS, "hosts.pfc": ["3", "4"]})


def without_style(of: Fabric) -> Fabric:
    return replace(of, devices=tuple(replace(device, qos_style=None) for device in of.devices))


def assert_same_in_both(of: dict[QosStyle, Data]) -> None:
    """Build, write, read and check both: no finding, and fabrics that differ in nothing but the style."""
    made: dict[QosStyle, list[Fabric]] = {}
    for style, data in of.items():
        built = build(data)
        assert {device.qos_style for device in built.devices} == {style}
        reading = nodrop.read_back([*nodrop.write(built), *nodrop.host_files(built)], built)
        assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
        assert [(one.rule, str(one.subject)) for one in nodrop.lint(reading).findings] == []
        for device, back in zip(built.devices, reading.fabric.devices, strict=True):
            assert (
                list(
                    differences(
                        mask_unsupported_fields(device, unsupported_paths("nvue")),
                        mask_unsupported_fields(back, unsupported_paths("nvue")),
                    )
                )
                == []
            )
        made[style] = [without_style(built), without_style(reading.fabric)]
    assert made["macro"] == made["explicit"]


@pytest.mark.parametrize("name", ["two-by-two", "lossy"])
def test_both_styles_make_the_same_fabric(name: str) -> None:
    assert_same_in_both({style: on_nvue(name, "5.16", style) for style in STYLES})


def test_both_styles_make_the_same_fabric_of_two_lossless_classes() -> None:
    assert_same_in_both({style: two_lossless(style) for style in STYLES})


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*ABLE} - {"reference-256", "reference-256-sonic-leaves"}))
def test_both_styles_make_the_same_fabric_of_every_intent(name: str) -> None:
    """Large fabrics that are alike on NVUE are left to the nightly test."""
    release = RELEASES[-1 - ABLE.index(name) % 6]
    assert_same_in_both({style: on_nvue(name, release, style) for style in STYLES})


@pytest.mark.nightly
@pytest.mark.parametrize("release", RELEASES)
def test_both_styles_make_the_same_fabric_of_every_intent_and_release(release: str) -> None:
    for name in ABLE:
        trims = "\ntrimming:" in (resource_folder("intents") / f"{name}.yaml").read_text()
        if not trims or traits_of_platform("nvue", release).trimming.asics:
            assert_same_in_both({style: on_nvue(name, release, style) for style in STYLES})


def test_a_change_of_style_is_a_patch_that_brings_the_new_files() -> None:
    readings = {}
    for style in STYLES:
        built = build(on_nvue("two-by-two", "5.16", style))
        readings[style] = nodrop.read_back(list(nodrop.write(built)), built)
    old, new = readings["macro"], readings["explicit"]
    found = nodrop.plan(old, new)
    assert {part.entries[0].path for one in found.devices for part in one.parts} == {("qos_style",)}
    assert [(one.at, one.effect.risk, one.effect.reasons) for one in found.outside_model] == [
        (("startup.yaml", "qos", part), "none", ("it states the default, which is in effect without it too",))
        for part in ("egress-queue-mapping", "mapping")
    ]
    assert {fact.effect.risk for block in found.changes for fact in block.facts} == {"service restart"}
    for patch in make_patches(found, old, new):
        assert patch.by_hand == ()
        text = patch.files["changes.nv"].decode().splitlines()
        assert text[:3] == [
            "nv unset qos egress-scheduler default-global",
            "nv unset qos roce",
            "nv unset qos traffic-pool roce-lossless",
        ]
        assert "nv set qos traffic-pool default-lossless memory-percent 90" in text


def lines(device: Device) -> list[str]:
    written = platforms.writer_of_platform("nvue").write(device, Index(fabric()))
    (text,) = (one.text for one in written if one.path.endswith(".nv"))
    return [line for line in text.splitlines() if line.startswith("nv set ")]


def qos(device: Device) -> list[str]:
    return [line.removeprefix("nv set qos ") for line in lines(device) if line.startswith("nv set qos ")]


def leaf(style: QosStyle = "macro") -> Device:
    return as_nvue(fabric().device("leaf1"), "5.16", style)


def same_switch(one: Device, other: Device) -> bool:
    return not list(differences(one, other))


MACRO_SETS = (
    "congestion-control default-global traffic-class 0 ",
    "congestion-control default-global traffic-class 3 ",
    "egress-queue-mapping default-global ",
    "egress-scheduler default-global traffic-class 0 ",
    "egress-scheduler default-global traffic-class 3 ",
    "mapping default-global ",
    "pfc default-global ",
    "roce cable-length ",
    "traffic-pool ",
)


def needed() -> list[str]:
    return [line for line in lines(leaf()) if line.removeprefix("nv set qos ").startswith(MACRO_SETS)]


@pytest.mark.parametrize("line", needed())
def test_no_override_of_the_macro_is_superfluous(line: str) -> None:
    whole = lines(leaf())
    with_it = read("\n".join(whole)).device
    without_it = read("\n".join(one for one in whole if one != line)).device
    assert not same_switch(with_it, without_it)


def test_the_overrides_of_the_macro() -> None:
    assert [line.removeprefix("nv set qos ") for line in needed()] == [
        "congestion-control default-global traffic-class 0 ecn disable",
        *(f"egress-queue-mapping default-global switch-priority {tc} traffic-class {tc}" for tc in (1, 2, 4, 5, 7)),
        "egress-scheduler default-global traffic-class 0 bw-percent 15",
        "egress-scheduler default-global traffic-class 3 bw-percent 60",
        "mapping default-global dscp 8-9,11-15,17-25,27-47,49-55,57-63 switch-priority 0",
        "mapping default-global dscp 10 switch-priority 2",
        "mapping default-global dscp 16 switch-priority 1",
        "mapping default-global trust l3",
        "roce cable-length 3",
        "traffic-pool default-lossy memory-percent 10",
        "traffic-pool roce-lossless memory-percent 90",
    ]


@pytest.mark.parametrize("mode", ["lossless", "lossy"])
def test_a_switch_with_the_macro_alone_needs_nothing_else(mode: str) -> None:
    header = "- header: {model: SN4700, version: Cumulus Linux 5.16.0}\n- set:\n"
    pool = "    traffic-pool: {default-lossy: {memory-percent: 100}}\n" if mode == "lossy" else ""
    interfaces = "    interface: {swp1-32: {type: swp, link: {speed: 400G, fec: rs}}}\n"
    body = f"{interfaces}    qos:\n      roce: {{mode: {mode}}}\n"
    read_in = read(header + body + pool.replace("    ", "      ", 1)).device
    ports = tuple(replace(port, autoneg=True, mtu_bytes=9216, enabled=True) for port in read_in.interfaces)
    device = fill_in_computed_buffer_sizes(replace(read_in, name="leaf1", interfaces=ports))
    stated = ["roce mode lossless", "roce state enabled"]
    if mode == "lossy":
        stated = ["roce mode lossy", "roce state enabled", "traffic-pool default-lossy memory-percent 100"]
    assert qos(device) == stated


def test_the_explicit_style_has_no_macro() -> None:
    stated = qos(leaf("explicit"))
    assert [line for line in stated if line.startswith("roce")] == []
    assert "traffic-pool default-lossless memory-percent 90" in stated
    assert {line.split()[0] for line in stated} == {
        "congestion-control", "egress-queue-mapping", "egress-scheduler", "egress-shaper", "mapping", "pfc",
        "pfc-watchdog", "traffic-pool",
    }  # fmt: skip


def test_the_macro_with_pfc_on_two_priorities_states_both() -> None:
    device = leaf()
    first = device.interfaces[0].qos
    assert isinstance(first, QosProfile)
    paused = profile(first, (3, 4))
    stated = qos(
        fill_in_computed_buffer_sizes(
            replace(device, interfaces=tuple(replace(port, qos=paused) for port in device.interfaces))
        )
    )
    assert [line for line in stated if line.startswith("pfc default-global")] == [
        "pfc default-global switch-priority 3-4"
    ]
    assert [line for line in stated if line.startswith("traffic-pool")] == [
        "traffic-pool default-lossy memory-percent 10",
        "traffic-pool roce-lossless memory-percent 90",
    ]


@pytest.mark.parametrize(
    ("data", "style"),
    [
        (on_nvue("two-by-two", "5.16", None), "macro"),
        (on_nvue("pfc-only", "5.9", None), "macro"),
        (two_lossless(None), "explicit"),
        (on_nvue("lossy", "5.16", None), "explicit"),
        (shipped("two-by-two"), None),
    ],
    ids=["one lossless class", "PFC only", "two lossless classes", "lossy", "SONiC"],
)
def test_the_default_style(data: Data, style: QosStyle | None) -> None:
    assert {device.qos_style for device in build(data).devices} == {style}


def test_show_names_the_default_style_and_not_a_stated_one() -> None:
    cases: list[tuple[QosStyle | None, list[str]]] = [(None, ["macro"]), ("explicit", [])]
    for style, wanted in cases:
        found = applied_defaults(load(on_nvue("two-by-two", "5.16", style)))
        assert [one.value for one in found if one.key == "topology.leaves.style"] == wanted


def test_a_platform_without_styles_refuses_one() -> None:
    with pytest.raises(InputProblems) as refused:
        build(shipped("two-by-two", {"topology.spines.style": "macro"}))
    (problem,) = refused.value.problems
    assert (problem.where, problem.found) == ("topology.spines.style", "macro, but SONiC has one way to state QoS")
    assert (problem.expected, problem.hint) == ("no style", "NVUE has the styles macro and explicit")


def test_a_strict_queue_with_a_cap_has_no_guarantee_on_nvue() -> None:
    both = {"nvue": on_nvue("two-by-two", "5.16", None), "sonic": shipped("two-by-two")}
    rates = {}
    for platform, data in both.items():
        port = build(data).devices[0].interfaces[0].qos
        assert isinstance(port, QosProfile)
        (queue,) = (require_fact(one.scheduler) for one in require_fact(port.queues) if one.index == 6)
        assert queue is not None
        rates[platform] = (queue.guaranteed_bytes_per_s, queue.peak_bytes_per_s)
    assert rates == {"nvue": (None, 2_500_000_000), "sonic": (2_500_000_000, 2_500_000_000)}
