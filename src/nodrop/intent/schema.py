"""The schema of an intent: every key that this release honours, with its meaning; unknown keys are rejected.

Descriptions are the reference that users read (`nodrop schema intent`). Defaults that depend on anything else are
computed in `design/`, so a field that may be left out is None here.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Discriminator, Field, PrivateAttr, Tag

from nodrop.errors import Problem
from nodrop.intent.external import ExternalNeighbor
from nodrop.intent.hosts import HostNicSettings, ReachPolicy
from nodrop.intent.names import SwitchAndHostNames
from nodrop.intent.network import Addressing, ManagementServices, Routing
from nodrop.intent.part import SchemaMapping
from nodrop.intent.sheet_file import CableSheetFile
from nodrop.intent.topology import LANES_DESCRIPTION, Split, Topology
from nodrop.intent.types import (
    AddressPools,
    Asn,
    Bool,
    Bytes,
    Ids,
    LengthM,
    Name,
    OneLineText,
    Percent,
    PlatformSettings,
    SpeedMbps,
    Text,
    TimeMs,
    scalar_of_numbers,
    scalar_of_percentage,
    scalar_of_settings_tree,
    scalar_of_whole,
    scalar_of_whole_or_word,
    scalar_of_words,
)
from nodrop.model.fabric import Mode, Purpose
from nodrop.syntax.places import sanitize_for_message
from nodrop.syntax.yaml import DocumentWithPlaces
from nodrop.syntax.yaml_span import YamlEntrySpans

_Made = TypeVar("_Made")


class VlanAccess(SchemaMapping):
    """A VLAN of a group's own on each of its leaves: its ports there are access ports, the leaf is their gateway."""

    id: Annotated[int, scalar_of_whole(2, 4094)] = Field(description="number of the VLAN, the same on every leaf")
    pool: AddressPools = Field(
        description="addresses of which every leaf has a subnet, such as 10.3.0.0/16; the gateway is its first"
    )


class EndpointGroup(SchemaMapping):
    """A group of servers or storage nodes that are alike."""

    ids: Ids = Field(
        description="numbers of the hosts; group + number is a host's identity for life, and its name unless `names` "
        "gives another"
    )
    gpus: Annotated[int, scalar_of_whole(0, 64)] = Field(0, description="GPUs in each")
    nic: Text = Field(description="network adapter, such as ConnectX-7")
    ports: Annotated[int, scalar_of_whole(1, 64)] = Field(1, description="network ports of each")
    spread: Literal["leaves", "rails", "one-leaf"] = Field(
        "leaves",
        description="leaves: each port on another leaf; rails: port k of all hosts on the leaf of rail k; "
        "one-leaf: all on one leaf",
    )
    ports_per_leaf: Annotated[int, scalar_of_whole(1, 32)] = Field(
        1, description="how many ports of each, one after the other, share a leaf: 2 puts eight rails on four leaves"
    )
    leaves: Name | None = Field(
        None, description="group of switches that they connect to; needed where several groups are next to hosts"
    )
    leaf_group: Annotated[int, scalar_of_whole(1, 4096)] = Field(
        description="how many of them share a leaf, or a set of leaves"
    )
    leaf_ports: Ids | None = Field(
        None, description="the leaves' panel ports for this group; needed where there are several groups"
    )
    split: Split = Field(1, description="into how many ports each of the leaves' panel ports is broken out for them")
    lanes: Split | None = Field(None, description=LANES_DESCRIPTION)
    vlan: VlanAccess | None = Field(
        None, description="id and pool: a VLAN that the group's ports on a leaf share; default: each port is routed"
    )
    bond: Bool = Field(False, description="the ports of each are one bond by LACP, on one leaf; default: none is")
    speed: SpeedMbps = Field(description="speed of each port, such as 400G")
    media: Text = Field(description="kind of cable or transceiver, such as DR4, SR4, AOC or DAC")
    length: LengthM = Field(description="cable length in metres, the longest of the group")

    @property
    def host_ports_per_switch(self) -> int:
        """How many ports of each share a leaf."""
        return self.ports if self.spread == "one-leaf" else self.ports_per_leaf

    @property
    def leaves_per_host(self) -> int:
        """To how many leaves the ports of each lead: a set of leaves."""
        return -(-self.ports // self.host_ports_per_switch)


class Ecn(SchemaMapping):
    """When the switch marks: from `min` bytes of queue depth, reaching `probability` at `max`."""

    min: Bytes = Field(description="queue depth from which packets are marked, such as 150kB")
    max: Bytes = Field(description="queue depth at which the probability is reached, such as 1500kB")
    probability: Percent = Field(description="share of packets marked at max; above max, all are")


class TrafficClass(SchemaMapping):
    """One kind of traffic, from its DSCP to its queue."""

    dscp: Annotated[tuple[int, ...] | Literal["rest"], scalar_of_numbers(0, 63, word="rest")] = Field(
        description="code points: 26, [10, 12], 8-15, or rest for all that no other class names"
    )
    priority: Annotated[int, scalar_of_whole(0, 7)] = Field(
        description="traffic class, queue and PFC priority: one number"
    )
    purpose: Purpose | None = Field(
        None,
        description="what it is for; storage by its protocol, of which nvme-rdma, lustre-o2ib and nfs-rdma are RoCE, "
        "nvme-tcp and lustre-tcp TCP; default: the class's name where it is one of these words",
    )
    lossless: Bool = Field(False, description="protected by PFC")
    share: Percent | None = Field(
        None, description="share of the bandwidth that strict queues leave; shares add up to 100%"
    )
    strict: Bool = Field(False, description="served before all queues with a share")
    max_rate: Percent | None = Field(None, description="cap of a strict queue, of the port's speed")
    ecn: Ecn | None = Field(None, description="marking of ECN-capable packets; RDMA needs it")


class WatchdogTimers(SchemaMapping):
    """PFC watchdog of one side."""

    detection: TimeMs | None = Field(None, description="how long a queue may be stuck")
    restoration: TimeMs | None = Field(None, description="how long without pause until it is lossless again")
    action: Literal["drop", "forward", "alert"] = Field("drop", description="what happens to packets of a stuck queue")


def _timers_or_off_tag(value: object) -> str | None:
    return "off" if value == "off" else "timers" if isinstance(value, dict | WatchdogTimers) else None


TimersOrOff = Annotated[
    Annotated[WatchdogTimers, Tag("timers")] | Annotated[Literal["off"], Tag("off")],
    Discriminator(
        _timers_or_off_tag, custom_error_type="neither", custom_error_message="expected a mapping of timers, or off"
    ),
]


MAX_FRAMES_SENT_WHILE_STUCK = 100_000
"""The most frames that a queue may be told to send in a polling, stuck as it is."""
MAX_HEADROOM_OVERSUBSCRIPTION = 256
"""The most by which shared headroom may be less than that of all ports at once."""


class StuckQueueConditions(SchemaMapping):
    """The conditions of a stuck queue in each polling, where a switch can be configured for it: all that are stated
    apply.
    """

    paused: Annotated[int, scalar_of_percentage(1, 99)] | None = Field(
        None, description="longer paused than that share of the polling"
    )
    sent: Annotated[int, scalar_of_whole(0, MAX_FRAMES_SENT_WHILE_STUCK)] | None = Field(
        None, description="no more frames sent than that"
    )
    fill: Annotated[int, scalar_of_percentage(0, 99)] | None = Field(None, description="fuller than that")


class Watchdog(SchemaMapping):
    """PFC watchdogs: leaf ports towards servers, and links between switches, later than those."""

    hosts: WatchdogTimers = Field(default_factory=WatchdogTimers)
    fabric: TimersOrOff = Field(default_factory=WatchdogTimers)
    polling: TimeMs | None = Field(None, description="how often a switch looks, on all its ports")
    stuck: StuckQueueConditions | None = Field(
        None, description="what a queue has to be like until it is taken for stuck"
    )


class Pfc(SchemaMapping):
    """Priority flow control."""

    watchdog: Watchdog = Field(default_factory=Watchdog)


class Buffers(SchemaMapping):
    """How the packet memory is shared out."""

    lossless_pool: Annotated[int, scalar_of_percentage(1, 99)] = Field(
        90,
        description="share of the available memory for the lossless pool",
        json_schema_extra={"default": "90%"},
    )
    alpha: Annotated[str, scalar_of_words("1/8", "1/4", "1/2", "1", "2", "4", "8")] = Field(
        "1", description="dynamic threshold: alpha times the free pool"
    )
    shared_headroom: Annotated[
        int | Literal["off", "on"], scalar_of_whole_or_word(1, MAX_HEADROOM_OVERSUBSCRIPTION, "off", "on")
    ] = Field(
        "off",
        description="off: each lossless port has its own; on: one pool that holds the headroom of all at once; "
        "a whole number: one that holds so many times less",
    )
    pattern_mtu: Annotated[int, scalar_of_whole(64, 9216)] | None = Field(
        None,
        description="MTU of the lossless traffic pattern; default: 1024 or the RoCE MTU, whichever needs more",
    )

    @property
    def headroom_over_subscription(self) -> int | None:
        """How many times less shared headroom there is than all ports need at once; None where it is not shared."""
        if isinstance(self.shared_headroom, int):
            return self.shared_headroom
        return 1 if self.shared_headroom == "on" else None


class TrimmedPackets(SchemaMapping):
    """What becomes of packets that do not fit, in mode trim, and in mode uec if stated."""

    size: Bytes = Field(
        256, description="what is kept of a packet, such as 256B", json_schema_extra={"default": "256B"}
    )
    into: Name = Field("trimmed", description="class in which cut packets travel, marked with the first of its DSCPs")


_EMPTY_DEFAULT_SCHEMA: dict[str, Any] = {"default": {}}


class PassThroughSettings(SchemaMapping):
    """Settings that no key of an intent covers, passed on unchanged; a setting that a key does cover is rejected."""

    tables: Annotated[PlatformSettings, scalar_of_settings_tree(3)] = Field(
        (),
        description="tables, their rows and fields, where the platform has tables",
        json_schema_extra=_EMPTY_DEFAULT_SCHEMA,
    )
    paths: Annotated[PlatformSettings, scalar_of_settings_tree()] = Field(
        (), description="settings as a tree, where the platform has paths", json_schema_extra=_EMPTY_DEFAULT_SCHEMA
    )
    lines: tuple[OneLineText, ...] = Field(
        (), description="lines for the routing daemon's file, where the platform has one"
    )


class DeviceSettings(SchemaMapping):
    """Settings of one switch."""

    KEYS_ELSEWHERE: ClassVar = {"name": "names.devices", "extra": "extra beside devices"}
    drained: Bool = Field(
        False, description="keep its sessions, and have all others route around it (BGP GRACEFUL_SHUTDOWN)"
    )
    asn: Asn | None = Field(
        None,
        description="the AS number of this switch, which no switch has whose routes pass it; default: by routing.asn",
    )
    hwsku: Text | None = Field(
        None, description="SONiC's HWSKU of this switch, one of its model; default: by the ports of its group"
    )
    spare: Annotated[tuple[int, ...] | Literal["all"], scalar_of_numbers(1, empty=True, word="all")] = Field(
        (),
        description="panel ports held back, such as 31-32: no cable between switches, and none of a host; or all: the "
        "switch is in reserve",
    )


class WrittenIntent(SchemaMapping):
    """An intent that knows the text it came from."""

    nodrop: Annotated[str, scalar_of_words("1")] = Field(description="version of this format")
    fabric: Name = Field(description="name of the fabric")
    _document: DocumentWithPlaces | None = PrivateAttr(None)
    _entries: YamlEntrySpans | None = PrivateAttr(None)
    _sheet_file: CableSheetFile | None = PrivateAttr(None)

    def attach_source_document(self, document: DocumentWithPlaces) -> None:
        """Remember the text that the intent came from, to let later faults name its lines."""
        self._document, self._entries = document, YamlEntrySpans(document.text)

    def attach_sheet(self, sheet_file: CableSheetFile) -> None:
        """Remember the file of its cabling sheet."""
        self._sheet_file = sheet_file

    @property
    def sheet_file(self) -> CableSheetFile | None:
        """The file of its cabling sheet; None where it names none."""
        return self._sheet_file

    @property
    def key_positions(self) -> YamlEntrySpans | None:
        """Where its keys stand, None where the text is not known."""
        return self._entries

    @property
    def text(self) -> str:
        """The text that it came from; nothing where that is not known."""
        return self._document.text if self._document is not None else ""

    @property
    def path(self) -> str:
        """Return the displayed path of its file, or the name of the fabric where there is no file."""
        return self._document.path if self._document is not None else self.fabric

    def line_text(self, line: int) -> str | None:
        """Return the text of a line of the file; None where that is not known."""
        return None if self._document is None else self._document.line_text(line)

    def problem(self, keys: Sequence[str | int], fault_text: str, expected: str = "", hint: str = "") -> Problem:
        """Return a problem at a path of the intent's keys, with its line where the text is known."""
        if self._document is not None:
            return self._document.problem(keys, fault_text, expected, hint)
        where = ".".join(sanitize_for_message(str(key)) for key in keys)
        return Problem(path=self.path, where=where, found=fault_text, expected=expected, hint=hint)


class Intent(WrittenIntent):
    """A fabric as its owner describes it."""

    mode: Mode = Field(
        "lossless",
        description="what protects RDMA: lossless (PFC and ECN), pfc-only, lossy (ECN), trim (ECN, and the switch "
        "trims packets), or uec (Ultra Ethernet: ECN, trimming if stated, NICs without DCQCN)",
    )
    mtu: Annotated[int, scalar_of_whole(1280, 9216)] = Field(9216, description="MTU of every port in the fabric, bytes")
    topology: Topology
    endpoints: dict[Name, EndpointGroup] = Field(min_length=1, description="groups of hosts by name, such as gpu")
    classes: dict[Name, TrafficClass] = Field(min_length=1, description="traffic classes by name, such as rdma")
    pfc: Pfc = Field(default_factory=Pfc)
    buffers: Buffers = Field(default_factory=Buffers)
    trimming: TrimmedPackets = Field(default_factory=TrimmedPackets)
    hosts: HostNicSettings = Field(default_factory=HostNicSettings)
    policy: ReachPolicy = Field(default_factory=ReachPolicy)
    routing: Routing
    addressing: Addressing
    external: dict[Name, ExternalNeighbor] = Field(
        default_factory=dict, description="neighbors outside the fabric by name, such as wan: BGP at leaves"
    )
    services: ManagementServices = Field(default_factory=ManagementServices)
    names: SwitchAndHostNames = Field(default_factory=SwitchAndHostNames)
    devices: dict[Name, DeviceSettings] = Field(
        default_factory=dict,
        description="settings of single switches, such as leaf3: {drained: true}; a switch is meant by its name, or by "
        "role + number where no switch has that name",
    )
    extra: dict[Name, PassThroughSettings] = Field(
        default_factory=dict,
        description="additional settings by platform, role or switch (meant as in devices); merged last, the switch's "
        "over the role's",
    )
    _kept: dict[str, tuple[tuple[object, ...], Any]] = PrivateAttr(default_factory=dict)

    def with_values(self, **values: object) -> "Intent":
        """Return a copy with other values of some keys, with an empty cache."""
        copy = self.model_copy(update=values)
        copy._kept = {}
        return copy

    def compute_once(self, owner: str, basis: tuple[object, ...], make: Callable[[], _Made]) -> _Made:
        """Return the value that an `owner` computes once from this intent.

        It is computed again where a part of `basis` is another object, as in a copy with another value of that key.
        """
        held = self._kept.get(owner)
        if held is None or any(part is not held_part for part, held_part in zip(basis, held[0], strict=True)):
            held = self._kept[owner] = basis, make()
        value: _Made = held[1]
        return value
