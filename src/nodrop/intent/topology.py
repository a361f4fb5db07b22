"""The switches of an intent and the links between them: `leaf-spine` for two tiers, `tiers` for any number.

`tiers` is the general form: groups of equal switches, each in a tier, and the links of each group to groups above.
`cabling` states each cable, of any graph, in place of links between whole groups.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Discriminator, Field, Tag

from nodrop.intent.part import SchemaMapping
from nodrop.intent.types import (
    Ids,
    LengthM,
    Name,
    SpeedMbps,
    Text,
    scalar_of_number,
    scalar_of_numbers,
    scalar_of_texts,
    scalar_of_whole,
    scalar_of_words,
)
from nodrop.model.fabric import QosStyle
from nodrop.platforms import platforms_default_first

MOST_LINKS_PER_SWITCH_PAIR = 64
"""Links between two switches, at most."""
MOST_TIERS = 5
"""Tiers of switches, at most: as many as there are roles."""

Split = Annotated[int, scalar_of_words("1", "2", "4", "8", read=int)]
LANES_DESCRIPTION = "lanes in use of each switch port, if not all, such as 4 for QSFP28 modules in QSFP-DD ports"
_Slots = Annotated[int, scalar_of_whole(1, 512)]
_Ratio = Annotated[float, scalar_of_number(0.01, 1000)]
_DeadPorts = Annotated[tuple[int, ...], scalar_of_numbers(1, empty=True)]
_MEDIA_DESCRIPTION = "kind of cable or transceiver, such as DR4, SR4, AOC or DAC"
_LENGTH_DESCRIPTION = "cable length in metres, the longest of the group"
_DEAD_PORTS_DESCRIPTION = "panel ports that must stay shut, such as those that a split neighbor takes; in no other list"
_SLOTS_DESCRIPTION = "links for which every {} has addresses set aside; a power of two, for they are one prefix; "

SlotsPerDevice = Annotated[int, scalar_of_words(*(str(2**n) for n in range(5, 13)), read=int)]

if TYPE_CHECKING:
    Platform = str
else:
    Platform = Literal[platforms_default_first()]
    """The platforms that nodrop writes."""


class Switches(SchemaMapping):
    """Switches that are alike."""

    ids: Ids = Field(
        description="numbers of the switches; role + number is a switch's identity for life, and its name unless "
        "`names` gives another"
    )
    model: Text = Field(description="switch model, such as SN4700")
    platform: Platform = Field(description="network OS")
    version: Text = Field(description="release of the network OS, in quotes, such as '202505' or '5.16'")
    style: QosStyle | None = Field(
        None,
        description="how NVUE states QoS: macro (`qos roce` and what differs from it) or explicit (every setting); "
        "default: macro with one lossless class, else explicit",
    )


class LeafPorts(SchemaMapping):
    """Which panel ports of every leaf face what."""

    endpoints: Ids = Field(description="panel ports towards servers and storage, such as 1-16")
    uplinks: Ids = Field(description="panel ports towards spines, such as 17-32")
    dead: _DeadPorts = Field((), description=_DEAD_PORTS_DESCRIPTION)


class Leaves(Switches):
    """The leaf tier."""

    ports: LeafPorts = Field(description="endpoints and uplinks: which panel ports face what")


class Uplinks(SchemaMapping):
    """The links between the two tiers."""

    per_spine: Annotated[int, scalar_of_whole(1, MOST_LINKS_PER_SWITCH_PAIR)] = Field(
        description="links from each leaf to each spine"
    )
    speed: SpeedMbps = Field(description="speed of each link, such as 400G")
    media: Text = Field(description=_MEDIA_DESCRIPTION)
    length: LengthM = Field(description=_LENGTH_DESCRIPTION)
    split: Split = Field(
        1, description="into how many ports the panel ports of these links are broken out, on leaves and spines"
    )
    lanes: Split | None = Field(None, description=LANES_DESCRIPTION)
    spine_split: Split | None = Field(None, description="the same for the spines' panel ports; default: as split")
    spine_slots: _Slots | None = Field(
        None,
        description="spines among whom a leaf's uplink ports are shared out evenly, by id modulo this number; "
        "default: halving",
    )
    leaf_slots: _Slots | None = Field(
        None,
        description="leaves among whom a spine's ports are shared out evenly, by id modulo this number; "
        "default: halving",
    )


class LeafSpine(SchemaMapping):
    """A two-tier Clos: every leaf has links to every spine."""

    kind: Literal["leaf-spine"] = Field(description="leaf-spine: two tiers, each of one kind of switch; or tiers")
    spines: Switches
    leaves: Leaves
    uplinks: Uplinks
    max_oversubscription: _Ratio = Field(
        1.0, description="downlink bandwidth of a leaf over its uplink bandwidth, at most"
    )
    slots_per_device: SlotsPerDevice | None = Field(
        None,
        description=_SLOTS_DESCRIPTION.format("leaf")
        + "default: the smallest that holds the leaf model's ports times splits",
    )


class GroupPorts(SchemaMapping):
    """Which panel ports of every switch of a group face hosts, and which stay shut."""

    endpoints: Annotated[tuple[int, ...], scalar_of_numbers(1, empty=True)] = Field(
        (), description="panel ports towards servers and storage, such as 1-32"
    )
    dead: _DeadPorts = Field((), description=_DEAD_PORTS_DESCRIPTION)


class GroupUplinks(SchemaMapping):
    """The links from every switch of a group to every switch of a group above; with pods on both, of the same pod."""

    ports: Ids = Field(description="panel ports of this group's switches, such as 33-64")
    peer_ports: Ids | None = Field(
        None,
        description="panel ports of the upper group's switches; needed where these have links to several groups; "
        "default: all that take the speed",
    )
    links: Annotated[int, scalar_of_whole(1, MOST_LINKS_PER_SWITCH_PAIR)] = Field(
        description="links between each two switches"
    )
    speed: SpeedMbps = Field(description="speed of each link, such as 400G")
    media: Text = Field(description=_MEDIA_DESCRIPTION)
    length: LengthM = Field(description=_LENGTH_DESCRIPTION)
    pods: Annotated[int, scalar_of_whole(1, 4096)] = Field(
        1, description="pods of this group that one pod of the upper group is above, which makes a pod of pods"
    )
    split: Split = Field(1, description="into how many ports the panel ports of these links are broken out")
    lanes: Split | None = Field(None, description=LANES_DESCRIPTION)
    peer_split: Split | None = Field(None, description="the same for the upper group's ports; default: as split")
    peer_slots: _Slots | None = Field(
        None, description="upper switches among whom `ports` are shared out evenly, by id modulo this; default: halving"
    )
    slots: _Slots | None = Field(
        None,
        description="switches of this group among whom `peer_ports` are shared out evenly, by id modulo this; "
        "default: halving",
    )


class TierSwitches(Switches):
    """Equal switches of a tier."""

    tier: Annotated[int, scalar_of_whole(1, MOST_TIERS)] = Field(description="1 next to the hosts, 2 above it, up to 5")
    ids: Ids = Field(
        description="numbers of the switches; group + number is a switch's identity for life, and its name unless "
        "`names` gives another"
    )
    offset: Annotated[int, scalar_of_whole(0, 1_000_000)] = Field(
        0,
        description="added to an id for addresses and AS numbers, so that the groups of a tier have different ones",
    )
    per_pod: Annotated[int, scalar_of_whole(1, 4096)] | None = Field(
        None, description="ids of a pod: 8 has 1-8 in the first, 9-16 in the second; default: no pods"
    )
    ports: GroupPorts = Field(default_factory=GroupPorts, description="endpoints and dead: which panel ports face what")
    max_oversubscription: _Ratio | None = Field(
        None, description="the same for this group; default: that of the topology"
    )


class SwitchGroup(TierSwitches):
    """A group of equal switches of a tier."""

    uplinks: dict[Name, GroupUplinks] = Field(
        default_factory=dict, description="links to groups above, by the name of the group"
    )


class Tiers(SchemaMapping):
    """Groups of equal switches in one to five tiers: several kinds of leaves, pods, no spines, a single switch."""

    kind: Literal["tiers"] = Field(description="tiers: groups of switches in one to five tiers; or leaf-spine")
    groups: dict[Name, SwitchGroup] = Field(
        min_length=1, description="groups of switches by name, such as leaf, storage and spine"
    )
    max_oversubscription: _Ratio = Field(
        1.0, description="downlink bandwidth of a switch over its uplink bandwidth, at most"
    )
    slots_per_device: SlotsPerDevice | None = Field(
        None,
        description=_SLOTS_DESCRIPTION.format("switch")
        + "default: the smallest that holds the ports times splits of every model with hosts or uplinks",
    )


class CableSheetFileName(SchemaMapping):
    """A cabling sheet in its own file."""

    file: Text = Field(
        description="path of the sheet from the intent's folder: CSV, or YAML with the list `cables`; in the "
        "repository, or below that folder where there is none"
    )


class CableList(SchemaMapping):
    """The content of a cabling sheet in YAML."""

    cables: tuple[str, ...] = Field(min_length=1, description="a text for each cable")


def _cables_tag(value: object) -> str:
    return "file" if isinstance(value, dict | CableSheetFileName) else "rows"


Cables = Annotated[
    Annotated[CableSheetFileName, Tag("file")]
    | Annotated[Annotated[str | tuple[str, ...], scalar_of_texts()], Tag("rows")],
    Discriminator(_cables_tag),
]
"""The rows of a cabling sheet, or the file that has them."""


class CableSheetTopology(SchemaMapping):
    """Groups of equal switches, and every cable between them: any graph, each switch with separate ports."""

    kind: Literal["cabling"] = Field(description="cabling: every cable between switches is stated")
    groups: dict[Name, TierSwitches] = Field(
        min_length=1, description="groups of switches by name, such as leaf, storage and spine"
    )
    cables: Cables = Field(
        description="the cables between switches: CSV with the columns device, port, device, port, length, media and "
        "speed; a list of `leaf1:swp1--spine1:swp1 30m DR4 400G`; or the file of either"
    )
    speed: SpeedMbps | None = Field(None, description="speed of cables that state none, such as 400G")
    media: Text | None = Field(None, description="medium of cables that state none, such as DR4")
    length: LengthM | None = Field(None, description="length of cables that state none, such as 30m")
    max_oversubscription: _Ratio = Field(
        1.0, description="downlink bandwidth of a switch over its uplink bandwidth, at most"
    )
    slots_per_device: SlotsPerDevice | None = Field(
        None,
        description=_SLOTS_DESCRIPTION.format("switch")
        + "default: the smallest that holds the ports times splits of every model with hosts or uplinks",
    )


TOPOLOGY_KINDS = ("leaf-spine", "tiers", "cabling")
"""The kinds of topologies that are built."""


def _topology_kind_of(topology: object) -> str:
    """Return the kind of a topology; one that is missing or not known is read as leaf-spine."""
    kind = topology.get("kind") if isinstance(topology, dict) else getattr(topology, "kind", None)
    return kind if isinstance(kind, str) and kind in TOPOLOGY_KINDS else TOPOLOGY_KINDS[0]


Topology = Annotated[
    Annotated[LeafSpine, Tag("leaf-spine")]
    | Annotated[Tiers, Tag("tiers")]
    | Annotated[CableSheetTopology, Tag("cabling")],
    Discriminator(_topology_kind_of),
]
