"""Communities by name: FRR has names for which NVUE has only numbers, and reads them back as the same community."""

from dataclasses import replace

import pytest

from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, CommunityList, RouteMap, RouteMapRule
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import device as read

NAMES = {
    "graceful-shutdown": "65535:0",
    "blackhole": "65535:666",
    "no-peer": "65535:65284",
    "internet": "0:0",
    "local-AS": "local-as",
    "no-export": "no-export",
    "65000:1": "65000:1",
}


def with_community(community: str) -> Device:
    """A switch that looks for a community, and gives it to others."""
    device = as_nvue(fabric().device("leaf1"), "5.16")
    assert isinstance(device.bgp, Bgp)
    rule = RouteMapRule(sequence=10, action="permit", matches=(), sets=(("community", community),))
    lists = (CommunityList(name="C", rules=(("permit", (community,)),)),)
    return replace(
        device, bgp=replace(device.bgp, community_lists=lists, route_maps=(RouteMap(name="M", rules=(rule,)),))
    )


def commands(device: Device) -> list[str]:
    (text,) = (
        one.text
        for one in platforms.writer_of_platform("nvue").write(device, Index(fabric()))
        if one.path.endswith(".nv")
    )
    return [line for line in text.splitlines() if " community " in line]


@pytest.mark.parametrize(("community", "spelt"), NAMES.items())
def test_a_name_that_nvue_does_not_have_is_written_as_its_number(community: str, spelt: str) -> None:
    assert commands(with_community(community)) == [
        f"nv set router policy community-list C rule 10 community {spelt}",
        f"nv set router policy route-map M rule 10 set community {spelt}",
    ]


@pytest.mark.parametrize(("community", "spelt"), [*NAMES.items(), ("no-export", "65535:65281")])
def test_a_number_that_has_a_name_is_read_as_the_name(community: str, spelt: str) -> None:
    found = read(f"""
router:
  bgp: {{autonomous-system: 65001, enable: on}}
  policy:
    community-list: {{C: {{rule: {{'10': {{action: permit, community: {{'{spelt}': {{}}}}}}}}}}}}
    route-map: {{M: {{rule: {{'10': {{action: {{permit: {{}}}}, set: {{community: {{'{spelt}': {{}}}}}}}}}}}}}}
vrf: {{default: {{router: {{bgp: {{enable: on}}}}}}}}
""").bgp
    assert isinstance(found, Bgp)
    assert found.community_lists == (CommunityList(name="C", rules=(("permit", (community,)),)),)
    assert found.route_maps[0].rules[0].sets == (("community", community),)


@pytest.mark.parametrize(
    ("community", "reason"),
    [
        ("65535:0", "65535:0 is read back by its name, graceful-shutdown"),
        ("no-such", "'no-such' is no community"),
        ("local-as", "'local-as' is no community"),
    ],
)
def test_a_community_that_would_not_come_back_is_refused(community: str, reason: str) -> None:
    with pytest.raises(UnsupportedByPlatform) as caught:
        commands(with_community(community))
    assert caught.value.path == "bgp/community_lists/C/rules"
    assert reason in str(caught.value)
