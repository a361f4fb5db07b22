"""The schema of fabric.yaml; every key may be left out, and then nothing is stated."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from nodrop.intent.external import AcceptedPrefixes, LinkAddresses
from nodrop.intent.types import (
    MAX_ASN,
    Bool,
    Integer,
    Name,
    Priorities,
    SpeedMbps,
    Text,
    TimeMs,
    scalar_of_number,
    scalar_of_numbers,
    scalar_of_percentage,
    scalar_of_whole,
)
from nodrop.model.fabric import Purpose

MEDIUM_PATTERN = r"(?:[0-9]x)?[A-Za-z][A-Za-z0-9_.+-]*"

Dscps = Annotated[tuple[int, ...] | Literal["rest"], scalar_of_numbers(0, 63, empty=True, word="rest")]
RoceMtu = Annotated[int, scalar_of_whole(256, 9216)]


class SchemaMapping(BaseModel):
    """A mapping of the file: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TrafficClassEntry(SchemaMapping):
    """A kind of traffic, and where it must land."""

    purpose: Purpose | None = Field(
        None, description="what it is for; default: the class's name where it is one of these words"
    )
    dscp: Dscps = Field(
        description="code points, such as 26; also [10, 12], 8-15, or rest: all that no other class names"
    )
    tc: Annotated[int, scalar_of_whole(0, 15)] | None = Field(None, description="traffic class in which it must land")
    lossless: Bool | None = Field(None, description="whether PFC must protect it")
    share: Annotated[int, scalar_of_percentage(1, 100)] | None = Field(
        None, description="share that it has, at least, of the bandwidth that strict queues leave: 60%"
    )


class HostPortEntry(SchemaMapping):
    """A network port of a host."""

    speed: SpeedMbps | None = Field(None, description="speed of the port")
    lanes: Annotated[int, scalar_of_whole(1, 16)] | None = Field(None, description="serial lanes of the port")
    addresses: tuple[Text, ...] = Field((), description="addresses with their prefix length, such as 10.2.0.1/31")
    bond: Text | None = Field(None, description="the bond that it is a member of, whose addresses it has then")


class Host(SchemaMapping):
    """A server or storage node, and how its NICs are set."""

    group: Text = Field("", description="hosts that are alike have the same one, such as gpu")
    gpus: Integer = Field(0, description="GPUs of the host, such as 8")
    nic: Text | None = Field(None, description="model of its NICs, such as ConnectX-7")
    spread: Literal["leaves", "rails", "one-leaf"] | None = Field(
        None, description="how its ports lie: on several leaves, port k of all hosts on the leaf of rail k, or on one"
    )
    ports: dict[Text, HostPortEntry] = Field(description="by the names that `cables` uses")
    tos: Annotated[int, scalar_of_whole(0, 255)] | None = Field(
        None, description="ToS byte of RDMA packets, which is 4 x DSCP + 2, such as 106"
    )
    fifo_tos: Annotated[int, scalar_of_whole(0, 255)] | None = Field(
        None, description="ToS byte of the control messages of NCCL, where they have another than its data"
    )
    cnp_dscp: Annotated[int, scalar_of_whole(0, 63)] | None = Field(
        None, description="DSCP of CNPs that its NICs send, such as 48"
    )
    trust: Literal["dscp", "pcp"] | None = Field(
        None, description="by which field of a packet its NICs choose the priority"
    )
    pfc: Priorities | None = Field(None, description="priorities with PFC at its NICs, such as 3")
    dcqcn: Bool | None = Field(None, description="whether its NICs slow down after CNPs")
    rdma_mtu: RoceMtu | None = Field(None, description="RoCE MTU in bytes")
    queue_pairs: Annotated[int, scalar_of_whole(1, 128)] | None = Field(
        None, description="queue pairs that NCCL opens for a connection between two GPUs"
    )
    out_of_order: Bool | None = Field(
        None,
        description="whether its NICs take packets of a connection in any order, as adaptive routing delivers them",
    )


class SideWatchdog(SchemaMapping):
    """The PFC watchdog that is wanted on one side."""

    priorities: Priorities = Field((), description="priorities that it watches, such as 3")
    detection: TimeMs | None = Field(None, description="how long a queue is paused until the watchdog acts")
    restoration: TimeMs | None = Field(None, description="how long a queue gets no pause until it is restored")
    action: Literal["drop", "forward", "alert"] | None = Field(
        None, description="what happens to the packets of the queue; alert only reports"
    )


def _watchdog_discriminator(value: object) -> str | None:
    return "off" if value == "off" else "watchdog" if isinstance(value, dict | SideWatchdog) else None


WatchdogOrOff = Annotated[
    Annotated[SideWatchdog, Tag("watchdog")] | Annotated[Literal["off"], Tag("off")],
    Discriminator(
        _watchdog_discriminator,
        custom_error_type="neither",
        custom_error_message="expected a mapping of timers, or off",
    ),
]


class PfcWatchdogs(SchemaMapping):
    """PFC watchdogs at ports towards hosts, and between switches; off is a statement too."""

    hosts: WatchdogOrOff | None = Field(None, description='watchdog at ports towards hosts; "off" in quotes: none')
    fabric: WatchdogOrOff | None = Field(None, description='watchdog between switches; "off" in quotes: none')
    unwatched_roles: tuple[Name, ...] = Field(
        (), description="roles that have no watchdog towards other switches, such as leaf"
    )


class OwnerPolicy(SchemaMapping):
    """The owner's wishes for every port."""

    watchdog: PfcWatchdogs = Field(PfcWatchdogs(), description="PFC watchdogs that are wanted")
    rdma_mtu: RoceMtu | None = Field(None, description="RoCE MTU in bytes")
    max_oversubscription: Annotated[float, scalar_of_number(0.01, 1000)] | None = Field(
        None, description="what the ports of a leaf towards hosts carry over what its uplinks can, at most"
    )
    lossless_pool: Annotated[int, scalar_of_percentage(1, 100)] | None = Field(
        None, description="share of the packet memory to be shared that lossless traffic has, at least: 90%"
    )
    rails: Literal["joined", "isolated"] | None = Field(
        None,
        description="whether switches join the leaves of a host's ports, or its GPUs forward between them (NVLink)",
    )
    parts: Literal["joined", "separate"] | None = Field(
        None,
        description="whether cables join all hosts, or parts are separate, such as planes or a network for storage",
    )
    drained: tuple[Name, ...] = Field(
        (), description="switches that are drained for maintenance, such as spine2; an empty list is as none"
    )


class ExternalNeighborEntry(SchemaMapping):
    """A router, gateway or firewall outside the fabric to which switches speak BGP."""

    asn: Annotated[int, scalar_of_whole(1, MAX_ASN)] | None = Field(None, description="AS number of the neighbor")
    addresses: dict[Text, LinkAddresses] = Field(
        {}, description="the addresses of its ports, by their names in `cables`: {to-leaf1-31: 192.0.2.1/31}"
    )
    announces: AcceptedPrefixes | None = Field(
        None,
        description="prefixes that it announces to every switch, such as 0.0.0.0/0; 10.64.0.0/16 le 24 may have longer "
        "ones inside; without this key, its routes are not computed",
    )
    receives: AcceptedPrefixes | None = Field(
        None, description="all that is announced to it: prefixes, or 10.2.0.0/16 le 24 with those inside up to /24"
    )


class FabricFile(SchemaMapping):
    """The facts of a fabric that no switch file can hold."""

    name: Name | None = Field(None, description="name of the fabric in reports, such as pod1")
    mode: Literal["lossless", "pfc-only", "lossy", "trim", "uec"] | None = Field(
        None, description="how RoCE runs: with PFC and ECN, PFC alone, ECN alone, packet trimming, or as Ultra Ethernet"
    )
    classes: dict[Name, TrafficClassEntry] | None = Field(None, description="kinds of traffic, by name")
    roles: dict[Name, Text] = Field({}, description="tier of each switch, such as leaf or spine")
    models: dict[Name, Text] = Field({}, description="model of each switch, such as SN4700")
    cables: tuple[Text, ...] | None = Field(
        None, description="`leaf1:Ethernet0--spine1:Ethernet8 30m DR4`: all cables of the switches that are named"
    )
    hosts: dict[Name, Host] | None = Field(None, description="servers and storage nodes, by the names in `cables`")
    external: dict[Name, ExternalNeighborEntry] | None = Field(
        None, description="neighbors outside the fabric, such as wan, by the names in `cables`: no files are expected"
    )
    policy: OwnerPolicy | None = Field(None, description="what the owner wants of every port")
