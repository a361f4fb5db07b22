"""The control plane, the addresses and the services of an intent."""

from typing import Literal

from pydantic import Field

from nodrop.intent.part import SchemaMapping
from nodrop.intent.types import (
    Addresses,
    AddressPools,
    AsnRule,
    Bool,
    Collectors,
    HashFields,
    Ipv4Network,
    Name,
    OneLineText,
    TimeUs,
)
from nodrop.model.fabric import SampledKind


class Routing(SchemaMapping):
    """The control plane."""

    protocol: Literal["ebgp"] = Field("ebgp", description="routing protocol between the tiers")
    sessions: Literal["numbered", "unnumbered"] = Field(
        "numbered",
        description="numbered: a session for each family, between the addresses of a link; unnumbered: one over the "
        "interface, for both families, by link-local addresses (RFC 8950), so that links need none",
    )
    asn: dict[Name, AsnRule] = Field(
        description="AS numbers of leaves and spines, or by group: one number, with + each id added, with +pod each "
        "pod's; one for all spines keeps paths free of valleys under failures"
    )
    delivery: Literal["frr.conf", "tables"] = Field(
        "frr.conf",
        description="what holds the BGP of SONiC switches: frr.conf, a file for FRR; tables, those of the switch's own "
        "configuration, from 202511 on, which survive a reload and change by patches",
    )
    balancing: Literal["ecmp", "weighted", "adaptive"] = Field(
        "ecmp",
        description="how flows are spread over equal paths: ecmp, each by its hash; weighted, the same, and more to "
        "a switch that has more paths on; adaptive, packet by packet by load, out of order",
    )
    hash: HashFields = Field(
        (), description="by what of a packet one of several equal paths is chosen; default: what the switch has"
    )
    bfd: Bool = Field(
        False,
        description="watch the sessions between switches by BFD; its packets leave with DSCP 48 whatever is stated",
    )


class Addressing(SchemaMapping):
    """The pools that addresses follow from; a device's addresses depend on its number and ports alone.

    Loopbacks, links and endpoints have a pool of IPv4, of IPv6 or of both: `[10.0.0.0/16, "fd00::/48"]`.
    """

    loopbacks: AddressPools = Field(description="pool of the switches' loopbacks, such as 10.0.0.0/16")
    links: AddressPools | None = Field(
        None, description="pool of the links between switches, such as 10.1.0.0/16; none where sessions are unnumbered"
    )
    endpoints: AddressPools = Field(description="pool of the links to hosts, such as 10.2.0.0/16")
    oob: Ipv4Network = Field(description="out-of-band management; the gateway is its last usable address")


class HighFrequencyTelemetry(SchemaMapping):
    """Counters of lossless and RDMA classes that switches sample and stream at short intervals."""

    interval: TimeUs = Field(description="time between samples, such as 10ms or 500us")
    objects: SampledKind = Field(
        "queues", description="the objects that are sampled; a switch streams one kind of them"
    )


class Telemetry(SchemaMapping):
    """The access of collectors to counters.

    A feature that the platform does not have is noted; a feature that no switch has is rejected.
    """

    gnmi: Bool = Field(False, description="answer collectors that subscribe by gNMI, on port 9339")
    otlp: Collectors = Field((), description="collectors to send to by OTLP over gRPC, such as 192.0.2.30:4317")
    high_frequency: HighFrequencyTelemetry | None = Field(
        None,
        description="interval and objects: stream ECN marks, drops and occupancy; refused if the management port is "
        "too slow for it; default: none",
    )


class Snmp(SchemaMapping):
    """The information that a switch gives about itself by SNMP; communities are secrets, and no key of an intent holds
    any.
    """

    location: OneLineText | None = Field(None, description="where the switches are")
    contact: OneLineText | None = Field(None, description="who looks after them")


class ManagementServices(SchemaMapping):
    """Services in the management VRF."""

    ntp: Addresses = Field((), description="addresses of time servers")
    syslog: Addresses = Field((), description="addresses of log servers")
    dns: Addresses = Field((), description="addresses of name servers")
    snmp: Snmp = Field(default_factory=Snmp, description="location and contact, as SNMP tells them")
    telemetry: Telemetry = Field(
        default_factory=Telemetry, description="gnmi, otlp, high_frequency: how counters leave a switch"
    )
