"""BFD on the sessions between switches: what an intent asks for, what each platform is told, what starts the daemon."""

import json

import pytest

import nodrop
from nodrop.intent.load import loads
from nodrop.model.fabric import Fabric
from nodrop.model.states import require_fact
from nodrop.platforms.sonic.traits import TRAITS
from nodrop.resources import resource_folder

FLAG = "frr_mgmt_framework_config"


def built(bfd: str, platform: str, version: str) -> Fabric:
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    text = text.replace('platform: sonic, version: "202505"', f'platform: {platform}, version: "{version}"')
    assert "routing: {asn" in text
    return nodrop.build(loads(text.replace("routing: {asn", f"routing: {{bfd: {bfd}, asn").encode(), "x.yaml"))


def watched(fabric: Fabric) -> set[bool]:
    return {one.bfd for device in fabric.devices for one in require_fact(device.neighbors)}


@pytest.mark.parametrize("release", TRAITS.releases)
def test_sonic_starts_the_daemon_where_sessions_are_watched(release: str) -> None:
    fabric = built("true", "sonic", release)
    artifacts = list(nodrop.write(fabric))
    rows = [json.loads(one.text)["DEVICE_METADATA"]["localhost"] for one in artifacts if one.path == "config_db.json"]
    assert [row[FLAG] for row in rows] == ["true"] * 4
    assert {row["docker_routing_config_mode"] for row in rows} == {"split-unified"}
    routing = next(one.text for one in artifacts if (one.device, one.path) == ("leaf1", "frr.conf"))
    assert [line for line in routing.splitlines() if line.endswith(" bfd")] == [" neighbor SPINES bfd"]
    reading = nodrop.read_back(artifacts, fabric)
    assert watched(reading.fabric) == {True}
    assert not nodrop.lint(reading).findings


def test_sonic_keeps_its_own_daemons_where_they_are_not() -> None:
    fabric = built("false", "sonic", "202505")
    assert watched(fabric) == {False}
    assert not [one for one in nodrop.write(fabric) if FLAG in one.text or " bfd" in one.text]


@pytest.mark.parametrize("release", ["5.14", "5.16"])
def test_nvue_watches_them_too(release: str) -> None:
    fabric = built("true", "nvue", release)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert watched(reading.fabric) == {True}
