"""The schema of an intent: every key that this release honours, with its meaning; unknown keys are refused.

Descriptions are the reference that users read (`nodrop schema intent`). Defaults that depend on anything else are
worked out in `design/`, so a field that may be left out is None here.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from nodrop.errors import Problem
from nodrop.formats.yaml import Document
from nodrop.intent.types import (
    Address,
    AsnRule,
    Bool,
    Bytes,
    Dscps,
    Ids,
    Integer,
    Length,
    Name,
    Network,
    Networks,
    Number,
    OnOff,
    Percent,
    Priorities,
    Speed,
    Text,
    Time,
)


class Part(BaseModel):
    """A mapping of an intent: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class LeafPorts(Part):
    """Which panel ports of every leaf face what."""

    endpoints: Ids = Field(description="panel ports towards servers and storage")
    uplinks: Ids = Field(description="panel ports towards spines")
    dead: Ids | tuple[()] = Field((), description="panel ports that must not be used")


class Tier(Part):
    """The switches of one tier."""

    ids: Ids = Field(description="numbers of the switches; a device is named role + number, and keeps it for life")
    model: Text = Field(description="switch model, such as SN4700")
    platform: Literal["sonic"] = Field(description="network OS")
    version: Text = Field(description="release of the network OS, in quotes")


class Leaves(Tier):
    """The leaf tier."""

    ports: LeafPorts


class Uplinks(Part):
    """The links between the two tiers."""

    per_spine: Integer = Field(ge=1, le=64, description="links from each leaf to each spine")
    speed: Speed
    media: Text = Field(description="kind of cable or transceiver, such as DR4, SR4, AOC or DAC")
    length: Length = Field(description="cable length in metres, the longest of the group")
    spine_slots: Integer | None = Field(
        None,
        ge=1,
        le=512,
        description="spines among whom a leaf's uplink ports are shared out evenly; default: halving",
    )
    leaf_slots: Integer | None = Field(
        None, ge=1, le=512, description="leaves among whom a spine's ports are shared out evenly; default: halving"
    )


class LeafSpine(Part):
    """A two-tier Clos: every leaf has links to every spine."""

    kind: Literal["leaf-spine"]
    spines: Tier
    leaves: Leaves
    uplinks: Uplinks
    max_oversubscription: Number = Field(
        1.0, description="downlink bandwidth of a leaf over its uplink bandwidth, at most"
    )
    slots_per_device: Integer | None = Field(
        None,
        ge=1,
        le=4096,
        description="link addresses set aside per device; default: the next power of two above its ports",
    )


class Endpoints(Part):
    """A group of servers or storage nodes that are alike."""

    ids: Ids
    gpus: Integer = Field(0, le=64, description="GPUs in each")
    nic: Text = Field(description="network adapter, such as ConnectX-7")
    ports: Integer = Field(1, ge=1, le=64, description="network ports of each")
    spread: Literal["leaves", "one-leaf"] = Field(
        "leaves", description="each port on a leaf of its own, or all on one leaf"
    )
    leaf_group: Integer = Field(ge=1, le=4096, description="how many of them share a leaf, or a set of leaves")
    leaf_ports: Ids | None = Field(
        None, description="the leaves' panel ports for this group; needed where there are several groups"
    )
    speed: Speed
    media: Text
    length: Length


class Ecn(Part):
    """When the switch marks: from `min` bytes of queue depth, reaching `probability` at `max`."""

    min: Bytes
    max: Bytes
    probability: Percent


class TrafficClass(Part):
    """One kind of traffic, from its DSCP to its queue."""

    dscp: Dscps = Field(description="code points: 26, [10, 12], 8-15, or rest for all that no other class names")
    priority: Integer = Field(le=7, description="traffic class, queue and PFC priority: one number")
    purpose: Literal["rdma", "cnp", "storage", "inband", "control", "default", "unknown"] | None = Field(
        None, description="what it is for; default: the class's name where it is one of these words"
    )
    lossless: Bool = Field(False, description="protected by PFC")
    share: Percent | None = Field(
        None, description="share of the bandwidth that strict queues leave; shares add up to 100%"
    )
    strict: Bool = Field(False, description="served before all queues with a share")
    max_rate: Percent | None = Field(None, description="cap of a strict queue, of the port's speed")
    ecn: Ecn | None = None


class WatchdogTimers(Part):
    """PFC watchdog of one side."""

    detection: Time | None = Field(None, description="how long a queue may be stuck")
    restoration: Time | None = Field(None, description="how long without pause until it is lossless again")
    action: Literal["drop", "forward", "alert"] = "drop"


class Watchdog(Part):
    """PFC watchdogs: leaf ports towards servers, and links between switches, later than those."""

    hosts: WatchdogTimers = WatchdogTimers()
    fabric: WatchdogTimers | Literal["off"] = WatchdogTimers()
    polling: Time | None = None


class Pfc(Part):
    """Priority flow control."""

    watchdog: Watchdog = Watchdog()


class Buffers(Part):
    """How the packet memory is shared out."""

    lossless_pool: Percent = Field(90, ge=1, le=99, description="share of the available memory for the lossless pool")
    alpha: Literal["1/8", "1/4", "1/2", "1", "2", "4", "8"] = Field(
        "1", description="dynamic threshold: alpha times the free pool"
    )
    shared_headroom: OnOff = Field(False, description="only off is built by this release")
    pattern_mtu: Integer | None = Field(
        None,
        ge=64,
        le=9216,
        description="MTU of the lossless traffic pattern; default: 1024 or the RoCE MTU, whichever needs more",
    )


class Hosts(Part):
    """How the servers' NICs are set; the fabric is checked against it."""

    tos: Integer = Field(106, le=255, description="IP ToS byte of RoCE packets: DSCP times 4, plus 2 for ECN")
    cnp_dscp: Integer = Field(48, le=63)
    trust: Literal["dscp", "pcp"] = "dscp"
    pfc: Priorities = Field((3,), description="priorities with PFC on the NIC")
    dcqcn: Bool = True
    rdma_mtu: Integer = Field(4096, ge=256, le=4096, description="RoCE MTU in bytes")


class Asns(Part):
    """AS numbers: one for all spines (valley-free under failures), one per leaf."""

    spines: AsnRule
    leaves: AsnRule


class Routing(Part):
    """The control plane."""

    protocol: Literal["ebgp"] = "ebgp"
    asn: Asns
    balancing: Literal["ecmp"] = "ecmp"


class Addressing(Part):
    """Pools from which addresses follow; a device's addresses depend on its number and ports alone."""

    loopbacks: Networks
    links: Networks
    endpoints: Networks
    oob: Network = Field(description="out-of-band management; the gateway is its last usable address")


class Services(Part):
    """Services in the management VRF."""

    ntp: tuple[Address, ...] = ()
    syslog: tuple[Address, ...] = ()


class Intent(Part):
    """A fabric as its owner describes it."""

    nodrop: Literal["1"] = Field(description="version of this format")
    fabric: Name
    mode: Literal["lossless"] = "lossless"
    mtu: Integer = Field(9216, ge=1280, le=9216, description="MTU of every port in the fabric, bytes")
    topology: LeafSpine
    endpoints: dict[Name, Endpoints] = Field(min_length=1)
    classes: dict[Name, TrafficClass] = Field(min_length=1)
    pfc: Pfc = Pfc()
    buffers: Buffers = Buffers()
    hosts: Hosts = Hosts()
    routing: Routing
    addressing: Addressing
    services: Services = Services()
    _document: Document | None = PrivateAttr(None)

    def attach(self, document: Document) -> None:
        """Remember the text that the intent came from, so that later faults can name its lines."""
        self._document = document

    def problem(self, keys: Sequence[str | int], found: str, expected: str = "", hint: str = "") -> Problem:
        """Return a problem at a path of the intent's keys, with its line where the text is known."""
        line = column = None
        if self._document is not None:
            line, column = self._document.place(keys)
        path = self._document.path if self._document is not None else self.fabric
        where = ".".join(map(str, keys))
        return Problem(path=path, line=line, column=column, where=where, found=found, expected=expected, hint=hint)
