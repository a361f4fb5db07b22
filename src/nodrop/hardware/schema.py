"""What is written about hardware: the shape of the YAML files in this package."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from nodrop import units


def _each(read: Any) -> Any:
    return lambda values: tuple(read(value) for value in values)


Speeds = Annotated[tuple[int, ...], BeforeValidator(_each(units.speed_mbps))]
Ids = Annotated[tuple[int, ...], BeforeValidator(units.ids)]
_LETTERS = "abcdefghijklmnop"


def _lane_list(text: str) -> tuple[int, ...]:
    """Read lanes in their order: `1-4`, `4,3,2,1`."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


LaneList = Annotated[tuple[int, ...], BeforeValidator(_lane_list)]


class Facts(BaseModel):
    """Facts are frozen, closed, and name their sources."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sources: tuple[str, ...] = ()


class Asic(Facts):
    """A switching chip; the last fields are the terms of the headroom that SONiC computes for it.

    A field that is None is not known. Without the terms the chip's dynamic buffer model, if any, is not NVIDIA's.
    """

    name: str
    vendor: str
    cell_bytes: int | None = None
    """The unit in which packets fill the buffer."""
    sonic_type: str | None = None
    """SONiC's `asic_type`, by which its containers choose their behaviour."""
    gcu: str | None = None
    """How SONiC's Generic Config Updater calls the chip; None where its lists do not have it."""
    buffer_models: tuple[Literal["traditional", "dynamic"], ...] = ("traditional",)
    watchdog_actions: tuple[Literal["drop", "forward", "alert"], ...] | None = None
    """What SONiC's PFC watchdog can do on the chip; none is no watchdog at all."""
    trimming: bool | None = None
    """Whether SONiC trims packets on it."""
    pools_keep_apart: bool = True
    """Whether a priority group takes from ingress pools only, and a queue from egress pools."""
    pipeline_latency_kib: float | None = None
    mac_phy_delay_kib: float | None = None
    tile_bytes_per_gbps: float = 0
    """Bytes held in the port's tile per Gb/s: 120 / 8 on Spectrum-4 and -5, else 0."""
    extra_headroom_bytes: int = 0
    private_headroom_bytes: int = 10240
    egress_mirror_bytes: int = 10240
    management_pool_bytes: int = 262144
    port_most_shared_cells: int | None = None
    port_reserved_shared_cells: int | None = None
    """What a port may take of shared headroom, in cells; a port of eight lanes has the second twice."""

    @property
    def computes(self) -> bool:
        """Whether the terms of the headroom that the switch computes are known."""
        return None not in (self.cell_bytes, self.pipeline_latency_kib, self.mac_phy_delay_kib)


class Split(Facts):
    """One way to use a panel port: whole, or broken out into ports of equal lanes."""

    into: int
    lanes: int
    """Lanes of each part; it uses all of them at each speed."""
    speeds: Speeds
    """Speeds of each part, fastest first."""
    modes: tuple[str, ...] = ()
    """How SONiC's platform.json spells it where that is not one mode with all the speeds, fastest first."""
    blocks_next: bool = False
    """Whether only ports of odd number can be split so, and the panel port after each is lost to it."""
    platforms: tuple[str, ...] = ()
    """The network OSes that know this split of the model; none named are all."""

    def mode(self, speed_mbps: int | None) -> str:
        """Return SONiC's breakout mode at a speed: `2x400G[200G,100G]`."""
        fastest, *others = (units.show_speed(speed) for speed in self.speeds)
        speed = fastest if speed_mbps is None else units.show_speed(speed_mbps)
        spelt = next((mode for mode in self.modes if speed in re.findall(r"[0-9.]+[MGT]", mode)), None)
        return spelt or f"{self.into}x{fastest}" + (f"[{','.join(others)}]" if others else "")


class SonicPorts(BaseModel):
    """How SONiC numbers and names the panel ports of a group."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    number: int
    """Of the first panel port: 8 is Ethernet8. A part of a port adds the lanes before it."""
    step: int | None = None
    """From one panel port to the next; None is the lanes of a port."""
    lanes: int | tuple[LaneList, ...]
    """Of each panel port in turn; a number is the first lane of the first, the others following without a gap."""
    index: int = 0
    """What a port's index is more than the number of its panel port."""
    per_index: int = 1
    """How many panel ports share an index, those of one front panel connector."""
    alias: str
    """Pattern of a whole port's alias: `{panel}` is its number, `{panel0}` one less, `{number}` that of its name."""
    part_alias: str = ""
    """That of a part: `{letter}` a, b …, `{part}` 1, 2 …, `{lane}` the first of its lanes counted in the panel port;
    left out, it is the whole port's with the letter."""


class SonicPort(NamedTuple):
    """A panel port as SONiC knows it."""

    number: int
    lanes: tuple[int, ...]
    front_index: int
    alias: str
    part_alias: str

    def part(self, split: int, splits: int) -> range:
        """Return the places of a part's lanes among those of the panel port."""
        width = max(len(self.lanes) // splits, 1)
        return range(split * width, split * width + width)

    def alias_of(self, panel: int, first: int, part: int | None) -> str:
        """Return the alias of the port whose first lane has a place; `part` counts from 0, None being the whole."""
        pattern = self.alias if part is None else self.part_alias or self.alias + "{letter}"
        words = {"panel": panel, "panel0": panel - 1, "number": self.number + first, "letter": _LETTERS[part or 0]}
        return pattern.format(**words, part=(part or 0) + 1, lane=first + 1)


class PortGroup(Facts):
    """Panel ports that are alike."""

    panels: Ids
    lanes: int
    speeds: Speeds
    """Speeds of an unsplit port, fastest first; it uses all its lanes at each."""
    modes: tuple[str, ...] = ()
    """See `Split.modes`."""
    service: bool = False
    """A port for management or service, not for the fabric."""
    splits: tuple[Split, ...] = ()
    """The ways to break a port out into parts that have all of its lanes."""
    other_modes: tuple[str, ...] = ()
    """Modes of platform.json that nodrop does not write (they leave lanes unused, or mix), and those of HWSKUs."""
    sonic: SonicPorts | None = None
    """None where no port map of SONiC is known."""

    def split(self, into: int) -> Split | None:
        """Return how a port is split into so many parts, 1 for one that is whole; None where it cannot be."""
        return next((one for one in self.ways if one.into == into), None)

    @cached_property
    def other_speeds(self) -> frozenset[int]:
        """The speeds of its other modes, in Mb/s, whatever lanes they leave unused."""
        named = " ".join(mode.partition(" of ")[0] for mode in self.other_modes)
        return frozenset(units.speed_mbps(speed) for speed in re.findall("[0-9]+G", named))

    @cached_property
    def ways(self) -> tuple[Split, ...]:
        """The whole port, and the ways to break it out."""
        whole = Split.model_construct(into=1, lanes=self.lanes, speeds=self.speeds, modes=self.modes)
        return (whole, *self.splits)

    def sonic_ports(self) -> Iterator[tuple[int, SonicPort]]:
        """Yield (panel, what SONiC knows it as)."""
        facts = self.sonic
        if facts is None:
            return
        for place, panel in enumerate(self.panels):
            if isinstance(facts.lanes, int):
                first = facts.lanes + place * self.lanes
                lanes = tuple(range(first, first + self.lanes))
            else:
                lanes = facts.lanes[place]
            number = facts.number + place * (facts.step or self.lanes)
            index = (panel - 1) // facts.per_index + 1 + facts.index
            yield panel, SonicPort(number, lanes, index, facts.alias, facts.part_alias)


class HeadroomRow(NamedTuple):
    """A row of pg_profile_lookup.ini; the threshold is that of the table's kind."""

    speed_mbps: int
    cable_m: int
    size_bytes: int
    xon_bytes: int
    xoff_bytes: int
    threshold: int = 0
    xon_offset_bytes: int | None = None


class HeadroomTable(Facts):
    """The pg_profile_lookup.ini of HWSKUs: what buffermgrd gives lossless priority groups by speed and cable."""

    hwskus: tuple[str, ...] = ()
    """None named are all that no other table names."""
    kind: Literal["dynamic", "static"] = "dynamic"
    """What the threshold is: an exponent, or bytes."""
    threshold: int = 0
    """Of every row that has none."""
    xon_offset_bytes: int | None = None
    """Of every row that has none; None is none."""
    rows: tuple[HeadroomRow, ...]

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, facts: dict[str, Any]) -> dict[str, Any]:
        """Give each row (speed, cable, size, xon, xoff) the table's threshold and offset where it has none itself."""
        offset = facts.get("xon_offset_bytes")
        rest = (int(facts.get("threshold", 0)), None if offset is None else int(offset))
        rows = [[int(cell) for cell in row] for row in facts["rows"]]
        return {**facts, "rows": tuple(HeadroomRow(*row, *rest[len(row) - 5 :]) for row in rows)}


class ShippedPool(NamedTuple):
    """A buffer pool of a HWSKU's own defaults; of its size, which is in bytes, some is the shared headroom."""

    name: str
    direction: str
    mode: str
    size_bytes: int
    shared_headroom_bytes: int | None = None


class ShippedPools(Facts):
    """The pools that a HWSKU ships for the topologies of its templates (t0 for leaves, t1 for spines)."""

    templates: tuple[str, ...]
    rows: Annotated[
        tuple[ShippedPool, ...],
        BeforeValidator(lambda rows: tuple(ShippedPool(*row[:3], *map(int, row[3:])) for row in rows)),
    ]


class SonicSku(Facts):
    """How SONiC names the model, and the headroom that it ships."""

    platform: str | None = None
    platforms: tuple[str, ...] = ()
    """Other platform strings of the same hardware."""
    hwsku: str
    """The one that is written."""
    hwskus: tuple[str, ...]
    """All that are known, that one among them."""
    shared_lanes: tuple[int, ...] = ()
    """Lanes that the vendor's own port files give to two ports, of which the chip makes both."""
    gcu: dict[str, tuple[str, ...]] = {}
    """By the Generic Config Updater's name of an ASIC, the HWSKUs that it takes for it; of others it refuses much."""
    pools: tuple[ShippedPools, ...] = ()
    """Of the HWSKU that is written; none where it ships none or leaves them to the release."""
    headroom: tuple[HeadroomTable, ...] = ()

    def table(self, hwsku: str | None = None) -> HeadroomTable | None:
        """Return the table of a HWSKU, by default of the one that is written; None where it has none."""
        wanted = hwsku or self.hwsku
        named = next((table for table in self.headroom if wanted in table.hwskus), None)
        return named or next((table for table in self.headroom if not table.hwskus), None)

    @property
    def headroom_table(self) -> tuple[HeadroomRow, ...]:
        """The rows of the table of the HWSKU that is written; none where it has no table."""
        table = self.table()
        return table.rows if table else ()

    def headroom_row(self, speed_mbps: int | None, cable_m: int | None, hwsku: str | None = None) -> HeadroomRow | None:
        """Return a table's row for a speed and a cable of exactly that length; None where it has none."""
        table = self.table(hwsku)
        rows = table.rows if table else ()
        return next((row for row in rows if row[:2] == (speed_mbps, cable_m)), None)


class Switch(Facts):
    """A switch model."""

    name: str
    vendor: str
    asic: str
    buffer_bytes: int | None = None
    """The packet memory that pools can share: the largest pool or limit that a HWSKU ships, which on NVIDIA's ASICs is
    the whole memory; None where no source says it."""
    platforms: tuple[str, ...] = ("sonic",)
    """The network OSes for which nodrop writes it."""
    since: dict[str, str] = {}
    """By network OS, the first release that knows the model, where there are earlier ones that are written."""
    max_split: int
    """Into how many ports each of the panel ports can be broken out at once; where a port takes more, it takes the
    numbers of the one after it, which is lost to it."""
    ports: tuple[PortGroup, ...]
    sonic: SonicSku

    def group(self, panel: int) -> PortGroup | None:
        """Return the group that a panel port belongs to; None where the model has no such port."""
        return next((group for group in self.ports if panel in group.panels), None)

    @cached_property
    def sonic_ports(self) -> dict[int, SonicPort]:
        """The panel ports as SONiC knows them, by panel."""
        return dict(found for group in self.ports for found in group.sonic_ports())

    @cached_property
    def sonic_numbers(self) -> dict[int, tuple[int, int, int]]:
        """By the number in a port's name: its panel port, the place of its first lane there, and that port's lanes."""
        found = {
            port.number + place: (panel, place, len(port.lanes))
            for panel, port in self.sonic_ports.items()
            for place in range(len(port.lanes))
        }
        return found | {port.number: (panel, 0, len(port.lanes)) for panel, port in self.sonic_ports.items()}

    @property
    def panels(self) -> tuple[int, ...]:
        """The panel ports for the fabric, service ports left out."""
        return tuple(panel for group in self.ports if not group.service for panel in group.panels)

    @property
    def splits(self) -> tuple[Split, ...]:
        """The ways in which a panel port for the fabric can be used: whole, and broken out."""
        return next(group.ways for group in self.ports if not group.service)

    def split(self, into: int) -> Split | None:
        """Return how a panel port for the fabric is split into so many parts; None where it cannot be."""
        return next((one for one in self.splits if one.into == into), None)


class Nic(Facts):
    """A network adapter: how many electrical lanes it uses at each speed."""

    name: str
    vendor: str
    lanes: Annotated[
        dict[int, int],
        BeforeValidator(lambda table: {units.speed_mbps(speed): int(lanes) for speed, lanes in table.items()}),
    ]
    trust: Literal["dscp", "pcp"] | None = None
    """By what it classifies as it comes from the factory; None where no source says it."""
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    """The DSCP and the priority of its congestion notifications as it comes from the factory."""
    pci_device: str | None = None
    """Its PCI device id, four hexadecimal digits, by which a host tells which of its ports are of such a NIC."""
    operator: bool = False
    """Whether NVIDIA's NIC configuration operator knows it."""

    @property
    def operator_type(self) -> str | None:
        """What the operator calls it; None where it does not know it."""
        return self.pci_device if self.operator else None


class Medium(Facts):
    """A kind of cable: a passive one joins equal lanes only, an active one has a retimer or gearbox at each end."""

    name: str
    passive: bool
    speeds: Speeds
    max_length_m: int
    max_length_m_100g_lanes: int | None = None
    """Where shorter at 100 Gb/s a lane."""
