"""Facts about hardware: the shape of the YAML files in this package."""

from collections.abc import Collection
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, computed_field, model_validator

from nodrop import units
from nodrop.hardware.ports import (
    BreakoutByPanel,
    BytesBySpeed,
    LanesBySpeed,
    PortGroup,
    PortSplit,
    SonicPort,
    SourcedFacts,
    Speeds,
    find_common_split,
)
from nodrop.model.buffers import HeadroomRow
from nodrop.model.fabric import SampledKind


class CounterSampling(SourcedFacts):
    """The counters that a chip streams at short intervals (high-frequency telemetry), by kind of object."""

    interval_us: tuple[int, int]
    """The shortest and the longest time between samples."""
    step_us: int
    """An interval is a multiple of it."""
    most_lanes: int
    """Ports of more lanes are not sampled, nor are their queues and priority groups."""
    counters: dict[SampledKind, tuple[str, ...]]


class Asic(SourcedFacts):
    """A switching chip; the last fields are the terms of the headroom that SONiC computes for it.

    A field that is None is not known. Without the terms the chip's dynamic buffer model, if any, is not NVIDIA's.
    """

    name: str
    vendor: str
    cell_bytes: int | None = None
    """The unit in which packets fill the buffer."""
    packet_memory_bytes: int | None = None
    """All of its packet memory, an upper bound: what its maker publishes is a rounded number of MB, taken as MiB here.
    None where no source says it."""
    sonic_type: str | None = None
    """SONiC's `asic_type`, by which its containers choose their behaviour."""
    gcu: str | None = None
    """How SONiC's Generic Config Updater calls the chip; None where its lists do not have it."""
    buffer_models: tuple[Literal["traditional", "dynamic"], ...] = ("traditional",)
    watchdog_actions: tuple[Literal["drop", "forward", "alert"], ...] | None = None
    """What SONiC's PFC watchdog can do on the chip; none is no watchdog at all."""
    external_memory: bool = False
    """Whether packets wait in memory beside the chip, gigabytes of it."""
    faults: tuple[Literal["frees in a storm", "drops nothing", "pauses senders", "seed by port"], ...] = ()
    """What that watchdog, or the choice among equal paths, is known to do wrong on the chip."""
    own_watchdog_ms: tuple[tuple[int, int], tuple[int, int]] | None = None
    """Least and longest detection time, then restoration time, of the chip's PFC watchdog; None: no source says it."""
    lossy_queue_reserve_bytes: int | None = None
    """What the vendor's files for SONiC reserve for each lossy queue; None where they reserve nothing by queue."""
    trimming: bool | None = None
    """Whether SONiC trims packets on it."""
    lanes_by_module: bool = False
    """Whether a port runs a speed on as many of its lanes as its module has; else on all of them."""
    adaptive_routing: bool | None = None
    """Whether it can choose among equal paths by load, packet by packet."""
    adaptive_routing_speeds: Speeds | None = None
    """Of links, at which it can; None is at any."""
    sampling: CounterSampling | None = None
    """None where no source says that it streams counters at short intervals."""
    pools_keep_apart: bool = True
    """Whether a priority group takes from ingress pools only, and a queue from egress pools."""
    memory_parts: int = 1
    """Into how many parts its packet memory is divided, of which a queue or a port fills one; pools count them all."""
    fec_by_speed: bool = False
    """Whether SONiC's SAI sets a FEC for the speeds that have it, so that any other speed keeps its default."""
    sonic_threshold_per_part_since: str | None = None
    """The SONiC release from which a static threshold counts in one part of the memory, and a larger one is refused;
    None where no source says so."""
    shared_headroom_in_pool: bool | None = None
    """Whether the size that SONiC states for an ingress pool contains its shared headroom; None: files differ."""
    headroom_beside_pool: bool = False
    """Whether the memory has to hold the shared headroom of a pool beside its size, whatever thresholds count from."""
    pipeline_latency_kib: float | None = None
    mac_phy_delay_kib: float | None = None
    tile_bytes_per_gbps: float = 0
    """Bytes held in the port's tile per Gb/s: 120 / 8 on Spectrum-4 and -5, else 0."""
    extra_headroom_bytes: int = 0
    headroom_before_bytes: BytesBySpeed = Field(default_factory=dict)
    """The xoff that ports in front of the chip need, by speed in Mb/s, where it stops later after a pause than IEEE
    802.3 allows (31B.3.7); empty where no source says so."""
    private_headroom_bytes: int = 10240
    egress_mirror_bytes: int = 10240
    management_pool_bytes: int = 262144
    port_most_shared_cells: int | None = None
    port_reserved_shared_cells: int | None = None
    """What a port may take of shared headroom, in cells; a port of eight lanes has the second twice."""

    @property
    def has_headroom_terms(self) -> bool:
        """Whether the terms of the headroom that the switch computes are known."""
        return None not in (self.cell_bytes, self.pipeline_latency_kib, self.mac_phy_delay_kib)


class HeadroomTable(SourcedFacts):
    """The pg_profile_lookup.ini of HWSKUs: what buffermgrd gives lossless priority groups by speed and cable."""

    hwskus: tuple[str, ...] = ()
    """None named are all that no other table names."""
    kind: Literal["dynamic", "static"] = "dynamic"
    """What the threshold is: an exponent, or bytes."""
    threshold: int = 0
    """Of every row that has none."""
    xon_offset_bytes: int | None = None
    """Of every row that has none; None is none."""
    grows_with_cable: bool = True
    """Whether xoff grows with the cable, as it should; false is a table that the vendor ships with the same xoff for
    every cable, or with less for a longer one."""
    rows: tuple[HeadroomRow, ...]

    @model_validator(mode="before")
    @classmethod
    def _fill_rows(cls, facts: dict[str, Any]) -> dict[str, object]:
        """Give each row (speed, cable, size, xon, xoff) the table's threshold and offset where it has none itself."""
        offset = facts.get("xon_offset_bytes")
        row_defaults = (int(facts.get("threshold", 0)), None if offset is None else int(offset))
        rows = [[int(cell) for cell in row] for row in facts["rows"]]
        return {**facts, "rows": tuple(HeadroomRow(*row, *row_defaults[len(row) - 5 :]) for row in rows)}


class ShippedPool(NamedTuple):
    """A buffer pool of a HWSKU's own defaults; of its size, which is in bytes, some is the shared headroom."""

    name: str
    direction: str
    mode: str
    size_bytes: int
    shared_headroom_bytes: int | None = None


class ShippedPools(SourcedFacts):
    """The pools that a HWSKU ships for the topologies of its templates (t0 for leaves, t1 for spines)."""

    templates: tuple[str, ...]
    rows: Annotated[
        tuple[ShippedPool, ...],
        BeforeValidator(lambda rows: tuple(ShippedPool(*row[:3], *map(int, row[3:])) for row in rows)),
    ]


def _parse_modes_by_panel(ports: dict[str, str]) -> dict[int, tuple[int, int]]:
    """Return by panel port the content of `2x400G: 1-32`: the number of ports it gives, and their speed in Mb/s."""
    read = ((panels, *mode.split("x")) for mode, panels in ports.items())
    return {
        panel: (int(into), units.parse_speed_mbps(speed))
        for panels, into, speed in read
        for panel in units.parse_ids(panels)
    }


class HwskuPortLayout(SourcedFacts):
    """The ports that HWSKUs have as they are shipped: hwsku.json, else port_config.ini."""

    hwskus: tuple[str, ...]
    since: str | None = None
    """The first release of SONiC that has them, where the HWSKU that is usual is in earlier ones."""
    ports: Annotated[dict[int, tuple[int, int]], BeforeValidator(_parse_modes_by_panel)]
    """By panel port, into how many ports it is broken out and their fastest speed in Mb/s.

    A panel port of which some lanes are unused, or that has ports of several kinds, is left out.
    """

    def covers_breakouts(self, ports: BreakoutByPanel) -> bool:
        """Return whether all these panel ports are broken out so, at that speed or a faster one."""
        port_pairs = ((self.ports.get(panel, (0, 0)), port) for panel, port in ports.items())
        return all(own_port[0] == into and own_port[1] >= speed for own_port, (into, speed) in port_pairs)


class SonicSku(SourcedFacts):
    """How SONiC names the model, and the headroom that it ships."""

    platform: str | None = None
    platforms: tuple[str, ...] = ()
    """Other platform strings of the same hardware."""
    hwsku: str | None = None
    """The base one, which is written unless another has the ports that an intent declares; None where SONiC does not
    know the model."""
    hwskus: tuple[str, ...] = ()
    """All that are known, that one among them."""
    layouts: tuple[HwskuPortLayout, ...] = ()
    """The ports of all of them; none where the headroom is computed, or there is one HWSKU alone."""
    shared_lanes: tuple[int, ...] = ()
    """Lanes that the vendor's own port files give to two ports, of which the chip makes both."""
    gcu: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By the Generic Config Updater's name of an ASIC, the HWSKUs that it takes for it; of others it refuses much."""
    pools: tuple[ShippedPools, ...] = ()
    """Of the HWSKU that is written; none where it ships none or leaves them to the release."""
    headroom: tuple[HeadroomTable, ...] = ()

    def headroom_table_of_hwsku(self, hwsku: str | None = None) -> HeadroomTable | None:
        """Return the table of a HWSKU, by default of the one that is written; None where it has none."""
        wanted_hwsku = hwsku or self.hwsku
        named_headroom_table = next((table for table in self.headroom if wanted_hwsku in table.hwskus), None)
        return named_headroom_table or next((table for table in self.headroom if not table.hwskus), None)

    @property
    def headroom_speeds_mbps(self) -> frozenset[int]:
        """Return the speeds that the table of any HWSKU has a row for."""
        return frozenset(row.speed_mbps for table in self.headroom for row in table.rows)

    def headroom_row(self, speed_mbps: int | None, cable_m: int | None, hwsku: str | None = None) -> HeadroomRow | None:
        """Return a table's row for a speed and a cable of exactly that length; None where it has none."""
        table = self.headroom_table_of_hwsku(hwsku)
        rows = table.rows if table else ()
        return next((row for row in rows if row[:2] == (speed_mbps, cable_m)), None)


class SwitchModel(SourcedFacts):
    """A switch model."""

    name: str
    vendor: str
    asic: str
    buffer_bytes: int | None = None
    """The packet memory that pools can share: the largest pool or limit that a HWSKU ships, which on NVIDIA's ASICs is
    the whole memory; None where no source says it."""
    gearbox_delay_ns: int = 0
    """Delay of the gearboxes between the ASIC and the ports; 0 where there are none."""
    platforms: tuple[str, ...]
    """The network OSes for which nodrop writes it."""
    since: dict[str, str] = Field(default_factory=dict)
    """By network OS, the first release that knows the model, where there are earlier ones that are written."""
    also: tuple[str, ...] = ()
    """Other names of the model, and models that differ in power and cooling only."""
    troubles: tuple[str, ...] = ()
    """What its maker knows not to work, and leaves to the owner: a sentence each, with the number of the issue."""
    max_split: int
    """Into how many ports each of the panel ports can be broken out at once; where a port takes more, it takes the
    numbers of the one after it, which is lost to it."""
    ports: tuple[PortGroup, ...]
    sonic: SonicSku = SonicSku()

    def group(self, panel: int) -> PortGroup | None:
        """Return the group that a panel port belongs to; None where the model has no such port."""
        return next((group for group in self.ports if panel in group.panels), None)

    @cached_property
    def sonic_ports(self) -> dict[int, SonicPort]:
        """The panel ports as SONiC knows them, by panel."""
        return dict(sonic_port for group in self.ports for sonic_port in group.sonic_ports())

    @cached_property
    def panel_and_lanes_by_sonic_number(self) -> dict[int, tuple[int, int, int]]:
        """By the number in a port's name: its panel port, the place of its first lane there, and that port's lanes."""
        lane_of_number = {
            port.number + place: (panel, place, len(port.lanes))
            for panel, port in self.sonic_ports.items()
            for place in range(len(port.lanes))
        }
        return lane_of_number | {port.number: (panel, 0, len(port.lanes)) for panel, port in self.sonic_ports.items()}

    @property
    def panels(self) -> tuple[int, ...]:
        """The panel ports for the fabric, service ports left out."""
        return tuple(panel for group in self.ports if not group.service for panel in group.panels)

    def breakout_options(self, panels: tuple[int, ...] = ()) -> tuple[PortSplit, ...]:
        """Return the ways to use all of these panel ports, by default the first for the fabric: whole, and split.

        Of ports of several kinds, those ways that have equally many lanes, and the speeds that all of them have; where
        there are none, those of the first kind.
        """
        return self._common_splits(panels) or self._groups(panels)[0].breakout_options

    def panels_by_kind(self, panels: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return panel ports for the fabric by kind: as one where there is a way to use all of them, else apart."""
        if self._common_splits(panels):
            return (panels,)
        return tuple(tuple(panel for panel in panels if panel in group.panels_set) for group in self._groups(panels))

    def _common_splits(self, panels: tuple[int, ...]) -> tuple[PortSplit, ...]:
        base, *other_groups = self._groups(panels)
        splits = (
            find_common_split(option, [group.find_breakout(option.into) for group in other_groups])
            for option in base.breakout_options
        )
        return tuple(split for split in splits if split)

    def find_breakout(self, into: int, panels: tuple[int, ...] = ()) -> PortSplit | None:
        """Return how these panel ports, by default the first for the fabric, are split; None where they cannot be."""
        return next((split for split in self.breakout_options(panels) if split.into == into), None)

    def find_split_with_lanes(self, into: int, panels: tuple[int, ...], lanes: int | None) -> PortSplit | None:
        """Return how these panel ports are split into parts of so many lanes; None for lanes is all of them."""
        if lanes is None:
            return self.find_breakout(into, panels)
        first_split, *other_splits = (group.find_split_with_lanes(into, lanes) for group in self._groups(panels))
        return find_common_split(first_split, other_splits) if first_split else None

    def panels_splittable_at_once(self, into: int, speed_mbps: int) -> tuple[int, ...]:
        """Return the panel ports for the fabric that can all be split so at once, and have the speed on fewest lanes.

        Where none has it, those of the first kind that can be split so.
        """
        groups = [group for group in self.ports if not group.service]
        able = [(breakout, group) for group in groups if (breakout := group.find_breakout(into))]
        fitting = [(breakout, group) for breakout, group in able if speed_mbps in breakout.speeds]
        fewest = min((breakout.lanes for breakout, _ in fitting), default=0)
        chosen = [group for breakout, group in fitting if breakout.lanes == fewest] or [group for _, group in able][:1]
        return tuple(panel for group in chosen or groups[:1] for panel in group.panels_splittable_at_once(into))

    @property
    def max_port_count(self) -> int:
        """How many ports there are at most, those for service too: each panel port split as far as it goes."""
        return sum(group.max_port_count for group in self.ports)

    def _groups(self, panels: tuple[int, ...]) -> list[PortGroup]:
        """Return the kinds of ports that some panel ports are of, the first for the fabric where they are of none."""
        groups = [group for group in self.ports if not group.service]
        return [group for group in groups if not group.panels_set.isdisjoint(panels)] or groups[:1]


class NicModel(SourcedFacts):
    """A network adapter: on how many electrical lanes it runs each speed."""

    name: str
    vendor: str
    lanes: LanesBySpeed
    """By speed, the numbers of lanes; the first is used where the cable does not decide."""
    ports_per_gpu: int | None = None
    """Ports that leave the server, of each accelerator that has the NIC in it; None for a separate adapter."""
    ports_between_gpus: int | None = None
    """Ports of such an accelerator to the others of its server."""
    trust: Literal["dscp", "pcp"] | None = None
    """By what it classifies as it comes from the factory; None where no source says it."""
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    """The DSCP and the priority of its congestion notifications as it comes from the factory."""
    roce_dscp: int | None = None
    """The DSCP that it gives RDMA as it comes from the factory; None where it takes that of the connection."""
    pci_device: str | None = None
    """Its PCI device id, four hexadecimal digits, by which a host tells which of its ports are of such a NIC."""
    operator: bool = False
    """Whether NVIDIA's NIC configuration operator knows it."""
    tool: Literal["mlnx_qos", "bnxt_setupcc", "nicctl"] | None = None
    """The program of its maker that sets PFC and DSCPs on a host; None where no source says one."""
    adaptive_routing: bool = False
    """Whether a source says how it marks RoCE packets that switches may spray (ROCE_ADAPTIVE_ROUTING_EN, ROCE_ACCL)."""
    max_mtu_bytes: int | None = None
    """The largest MTU that its driver takes, where it is less than that of switches."""

    @property
    def operator_type(self) -> str | None:
        """Return the operator's name for it; None where the operator does not know it."""
        return self.pci_device if self.operator else None


class MediumLink(BaseModel):
    """The effect of a medium on a port at one speed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    speed: Annotated[int, BeforeValidator(units.parse_speed_mbps)]
    """Mb/s."""
    lanes: int | None = None
    """Of the port, in use; None is any number."""
    reach_m: int
    fec: Literal["rs", "fc", "none"] | None = None
    """What the standard asks of the port; None where it asks for nothing."""
    source: str


class Medium(SourcedFacts):
    """A kind of cable: a passive one joins equal lanes only, an active one has a retimer or gearbox at each end."""

    name: str
    passive: bool
    links: tuple[MediumLink, ...]

    @model_validator(mode="before")
    @classmethod
    def _collect_sources(cls, facts: dict[str, Any]) -> dict[str, object]:
        """Collect the sources of the links."""
        return {**facts, "sources": tuple(dict.fromkeys(str(link["source"]) for link in facts["links"]))}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def speeds(self) -> tuple[int, ...]:
        """Speeds in Mb/s, fastest first."""
        return tuple(sorted({link.speed for link in self.links}, reverse=True))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def max_length_m(self) -> int:
        """Reach at the speed that reaches farthest."""
        return max(link.reach_m for link in self.links)

    def links_at_speed_and_lanes(self, speed_mbps: int, lanes: Collection[int]) -> tuple[MediumLink, ...]:
        """Return the links at a speed on one of these numbers of lanes."""
        return tuple(link for link in self.links if link.speed == speed_mbps and link.lanes in {None, *lanes})

    def find_link_reaching_length(self, speed_mbps: int, lanes: Collection[int], length_m: int) -> MediumLink | None:
        """Return the first of those links that reaches a length; None if no link does."""
        return next(
            (link for link in self.links_at_speed_and_lanes(speed_mbps, lanes) if link.reach_m >= length_m), None
        )

    def may_ends_differ_in_fec(self, speed_mbps: int) -> bool:
        """Whether its module has the FEC at some lanes, so ports at the two ends may have different FECs."""
        return {"none", "rs"} <= {link.fec for link in self.links if link.speed == speed_mbps}
