"""The compose file that starts Batfish: on this machine alone, at the port that is asked."""

from typing import Any

from ruamel.yaml import YAML

from nodrop.validating.batfish.service import BATFISH_PORT
from support.places import ROOT

FILE = ROOT / "examples" / "batfish" / "compose.yaml"


def service() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(FILE)["services"]["batfish"]
    return found


def test_the_official_image_is_reached_from_this_machine_alone() -> None:
    assert service()["image"] == "batfish/batfish:${BATFISH_TAG:-latest}"
    assert service()["ports"] == [f"127.0.0.1:{BATFISH_PORT}:{BATFISH_PORT}"]


def test_it_is_up_when_the_port_answers() -> None:
    assert service()["healthcheck"]["test"][-1] == f"exec 3<>/dev/tcp/127.0.0.1/{BATFISH_PORT}"


def test_the_page_about_routing_names_it_and_the_guide_says_how_it_is_started() -> None:
    root = ROOT
    assert "`examples/batfish/compose.yaml`" in (root / "docs/routing.md").read_text()
    assert "docker compose -f examples/batfish/compose.yaml up --wait" in (root / "docs/validating.md").read_text()
