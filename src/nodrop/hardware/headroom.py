"""The amount that a lossless priority group must absorb after it has sent a pause.

`computed` is the switch's own formula, as SONiC's dynamic buffer model computes it on NVIDIA ASICs (source of every
step and constant: sonic-swss cfgmgr/buffer_headroom_mellanox.lua); `ieee_bound` is the lower bound of IEEE 802.1Q for
chips whose formula is not public.
"""

import math
from dataclasses import dataclass

from nodrop.hardware.schema import Asic
from nodrop.model.buffers import HeadroomRow
from nodrop.model.states import UnknownFact

# IEEE 802.3 31B.3.7, pause quanta (512 bit times) until a peer must have stopped; 800G as SONiC has it.
PAUSE_QUANTA_BY_MBPS = {
    800_000: 905,
    400_000: 905,
    200_000: 453,
    100_000: 394,
    50_000: 147,
    40_000: 118,
    25_000: 80,
    10_000: 67,
    1_000: 2,
    100: 1,
}
LIGHT_IN_FIBER_M_PER_S = 198_000_000
MINIMAL_PACKET_BYTES = 64
_COMPENSATION_BYTES = 2048
_DEFAULT_PEER_RESPONSE_BYTES = 3.8 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomBudget:
    """A headroom and its parts, all in bytes.

    `mtu`, `cable`, `mac_phy` (with a gearbox), `peer_response` and `tile` arrive after the pause is sent; `pattern_mtu`
    is the packet in transit; `occupancy` is the factor for how packets fill cells; `rounding` is the part added by
    rounding up to 1 KiB and by the formula's compensation.
    """

    mtu: int
    cable: int
    mac_phy: int
    peer_response: int
    tile: int
    pattern_mtu: int
    occupancy: float
    rounding: int
    xoff: int
    xon: int
    size: int


def _round_up_to_kib(count: float) -> int:
    return math.ceil(count / 1024) * 1024


def _worst_case_cell_factor(cell_bytes: int) -> float:
    if cell_bytes > 2 * MINIMAL_PACKET_BYTES:
        return cell_bytes / MINIMAL_PACKET_BYTES
    return 2 * cell_bytes / (1 + cell_bytes)


def _small_packet_byte_share(small_packet_percent: int, pattern_mtu_bytes: int) -> float:
    """Return the share of small packets by bytes, in percent, from their share by number."""
    small_bytes = small_packet_percent * MINIMAL_PACKET_BYTES + (100 - small_packet_percent) * pattern_mtu_bytes
    return 100 * MINIMAL_PACKET_BYTES / (small_bytes / 100)


def _require_asic_headroom_terms(asic: Asic) -> tuple[int, float, float]:
    """Return cell size, pipeline latency and MAC and PHY delay."""
    cell, pipeline, mac_phy = asic.cell_bytes, asic.pipeline_latency_kib, asic.mac_phy_delay_kib
    if cell is None or pipeline is None or mac_phy is None:
        raise UnknownFact(f"asic.{asic.name}")
    return cell, pipeline, mac_phy


def compute_headroom(
    asic: Asic,
    *,
    speed_mbps: int,
    lanes: int,
    mtu_bytes: int,
    cable_length_m: int,
    pattern_mtu_bytes: int,
    small_packet_percent: int,
    shared: bool,
    compensated: bool,
    early: bool = False,
    gearbox_delay_ns: int = 0,
) -> HeadroomBudget:
    """Return the headroom that the switch computes for a port.

    `pattern_mtu_bytes` and `small_packet_percent` are the lossless traffic pattern; `shared` means that a shared
    headroom pool exists, which leaves `size` at xon alone. `compensated` is whether the release adds 2 KiB where the
    pattern's small packets leave xoff more than that below the worst case (SONiC from 202605; 202505 and 202511 do not)
    and the ASIC's own extra. `early` is the formula of SONiC before 202405: small packets are taken by bytes, cells are
    not rounded up, a kilobit of cable is 1024 bits, the ASIC's tiles take nothing. `gearbox_delay_ns` is that of the
    switch model, which counts twice. UnknownFact where the formula's terms of the ASIC are not known.
    """
    cell_bytes, pipeline_kib, mac_phy_kib = _require_asic_headroom_terms(asic)
    factor = _worst_case_cell_factor(cell_bytes)
    factor = factor if early else math.ceil(factor)
    small_share = small_packet_percent if early else _small_packet_byte_share(small_packet_percent, pattern_mtu_bytes)
    occupancy = (100 - small_share + small_share * factor) / 100

    quanta = PAUSE_QUANTA_BY_MBPS.get(speed_mbps)
    peer_response = quanta * 512 / 8 if quanta is not None else _DEFAULT_PEER_RESPONSE_BYTES
    cable = 2 * cable_length_m * speed_mbps * 1_000_000_000 / LIGHT_IN_FIBER_M_PER_S / (8192 if early else 8000)
    mac_phy = mac_phy_kib * 1024 + 2 * speed_mbps * gearbox_delay_ns / 8192
    tile = 0 if early else speed_mbps / 1000 * asic.tile_bytes_per_gbps
    propagation = mtu_bytes + cable + mac_phy + peer_response + tile

    exact = pattern_mtu_bytes + propagation * occupancy
    xoff = _round_up_to_kib(exact)
    if compensated:
        xoff += asic.extra_headroom_bytes
    if compensated and not shared and small_packet_percent != 100:
        worst = _round_up_to_kib(pattern_mtu_bytes + propagation * factor)
        if xoff + _COMPENSATION_BYTES < worst:
            xoff += _COMPENSATION_BYTES
    wide = lanes == 8
    xon = _round_up_to_kib(pipeline_kib * 1024 * (2 if wide else 1) - (1024 if early and wide else 0))
    size = xon if shared else _round_up_to_kib(xoff + xon + (mtu_bytes if wide else 0))
    return HeadroomBudget(
        mtu=mtu_bytes,
        cable=round(cable),
        mac_phy=round(mac_phy),
        peer_response=round(peer_response),
        tile=round(tile),
        pattern_mtu=pattern_mtu_bytes,
        occupancy=occupancy,
        rounding=xoff - round(exact),
        xoff=xoff,
        xon=xon,
        size=size,
    )


def ieee_headroom_bound_bytes(*, speed_mbps: int, mtu_bytes: int, cable_length_m: int) -> int | None:
    """Return the least headroom by IEEE 802.1Q Annex N in its component form, or None where the speed has no quanta.

    Two frames (one leaving here, one leaving there), the pause frame with preamble and gap (672 bit times), the
    round trip at 5 ns/m, and the peer's response; interface delays are left out, so it is a lower bound.
    """
    quanta = PAUSE_QUANTA_BY_MBPS.get(speed_mbps)
    if quanta is None:
        return None
    on_the_way = in_flight_bytes(speed_mbps=speed_mbps, mtu_bytes=mtu_bytes, cable_length_m=cable_length_m)
    return math.ceil(on_the_way + quanta * 512 / 8)


def in_flight_bytes(*, speed_mbps: int, mtu_bytes: int, cable_length_m: int) -> float:
    """Return what arrives after a pause although the peer stops at once, in bytes (IEEE 802.1Q-2018 Annex N).

    A frame that leaves each end, the pause frame with preamble and gap (672 bit times), and the round trip.
    """
    frame_bits = 8 * mtu_bytes + 160
    return (2 * frame_bits + 672) / 8 + round_trip_bytes(speed_mbps, cable_length_m)


def round_trip_bytes(speed_mbps: int, length_m: int) -> float:
    """Return the bytes on a cable there and back at 5 ns/m (IEEE 802.1Q-2018 Annex N)."""
    return 2 * 5e-9 * length_m * speed_mbps * 1e6 / 8


def next_headroom_row(headroom_rows: tuple[HeadroomRow, ...], speed_mbps: int, length_m: int) -> HeadroomRow | None:
    """Return the row of a speed for the shortest cable that is no shorter; None where the table has none."""
    reaching = [row for row in headroom_rows if row.speed_mbps == speed_mbps and row.cable_m >= length_m]
    return min(reaching, key=lambda row: row.cable_m, default=None)


def table_xoff_bytes(headroom_rows: tuple[HeadroomRow, ...], speed_mbps: int, length_m: int) -> int | None:
    """Return the xoff of the SKU's own table for a cable, rounded up to the next row; None where no row reaches."""
    row = next_headroom_row(headroom_rows, speed_mbps, length_m)
    return None if row is None else row.xoff_bytes
