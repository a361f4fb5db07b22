"""What is written about hardware: the shape of the YAML files in this package."""

from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from nodrop import units


def _each(read: Any) -> Any:
    return lambda values: tuple(read(value) for value in values)


Speeds = Annotated[tuple[int, ...], BeforeValidator(_each(units.speed_mbps))]
Ids = Annotated[tuple[int, ...], BeforeValidator(units.ids)]


class Facts(BaseModel):
    """Facts are frozen, closed, and name their sources."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sources: tuple[str, ...] = ()


class Asic(Facts):
    """A switching chip, with the terms of the headroom that SONiC computes for it (dynamic buffer model)."""

    name: str
    vendor: str
    cell_bytes: int
    pipeline_latency_kib: float
    mac_phy_delay_kib: float
    tile_bytes_per_gbps: float = 0
    """Bytes held in the port's tile per Gb/s: 120 / 8 on Spectrum-4 and -5, else 0."""
    extra_headroom_bytes: int = 0
    private_headroom_bytes: int = 10240
    egress_mirror_bytes: int = 10240
    management_pool_bytes: int = 262144
    port_most_shared_cells: int | None = None
    port_reserved_shared_cells: int | None = None
    """What a port may take of shared headroom, in cells; a port of eight lanes has the second twice."""


class Split(Facts):
    """One way to break a panel port out into ports of equal lanes."""

    into: int
    lanes: int
    """Lanes of each part; it uses all of them at each speed."""
    speeds: Speeds
    """Speeds of each part, fastest first."""
    blocks_next: bool = False
    """Whether only ports of odd number can be split so, and the panel port after each is lost to it."""
    platforms: tuple[str, ...] = ()
    """The network OSes that know this split of the model; none named are all."""


class PortGroup(Facts):
    """Panel ports that are alike."""

    panels: Ids
    lanes: int
    speeds: Speeds
    """Speeds of an unsplit port, fastest first; it uses all its lanes at each."""
    service: bool = False
    """A port for management or service, not for the fabric."""
    splits: tuple[Split, ...] = ()
    """The ways to break a port out."""

    def split(self, into: int) -> Split | None:
        """Return how a port is split into so many parts, 1 for one that is whole; None where it cannot be."""
        return next((one for one in self.ways if one.into == into), None)

    @cached_property
    def ways(self) -> tuple[Split, ...]:
        """The whole port, and the ways to break it out."""
        return (Split.model_construct(into=1, lanes=self.lanes, speeds=self.speeds), *self.splits)


class SonicSku(Facts):
    """How SONiC names the model and its ports."""

    platform: str
    hwsku: str
    hwskus: tuple[str, ...]
    lane_stride: int
    """Step of port number and first lane from one panel port to the next."""
    alias: str
    """Pattern of a port's alias, `{panel}` being its number."""
    headroom_dynamic_th: int = 0
    """The threshold of every row of `headroom_table`."""
    headroom_table: Annotated[
        tuple[tuple[int, int, int, int, int], ...],
        BeforeValidator(lambda rows: tuple(tuple(int(cell) for cell in row) for row in rows)),
    ] = ()
    """Rows of (speed Mb/s, cable m, size, xon, xoff), bytes."""

    def headroom_row(self, speed_mbps: int | None, cable_m: int | None) -> tuple[int, int, int, int, int] | None:
        """Return the table's row for a speed and a cable of exactly that length; None where it has none."""
        return next((row for row in self.headroom_table if row[:2] == (speed_mbps, cable_m)), None)


class Switch(Facts):
    """A switch model."""

    name: str
    vendor: str
    asic: str
    buffer_bytes: int
    max_split: int
    """Into how many ports each of the panel ports can be broken out at once; where a port takes more, it takes the
    numbers of the one after it, which is lost to it."""
    ports: tuple[PortGroup, ...]
    sonic: SonicSku

    def group(self, panel: int) -> PortGroup | None:
        """Return the group that a panel port belongs to; None where the model has no such port."""
        return next((group for group in self.ports if panel in group.panels), None)

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


class Medium(Facts):
    """A kind of cable: a passive one joins equal lanes only, an active one has a retimer or gearbox at each end."""

    name: str
    passive: bool
    speeds: Speeds
    max_length_m: int
    max_length_m_100g_lanes: int | None = None
    """Where shorter at 100 Gb/s a lane."""
