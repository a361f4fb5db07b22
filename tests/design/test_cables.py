"""Cables that join a port of a leaf and a server, and those that cannot: lanes, reach and FEC, each case with a source.

Cases of each FEC are written for both network OSes and read back.
"""

from typing import NamedTuple

import pytest

import nodrop
from nodrop.design import build as design
from nodrop.engine.rules import shipped_rules as shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.hardware import medium
from nodrop.model.fabric import Fabric
from support.designs import Data, build, load, port, shipped

LEAF = {
    "sonic": {"platform": "sonic", "version": "202505"},
    "nvue": {"platform": "nvue", "version": "5.14"},
}


class Cable(NamedTuple):
    """A cable between the first panel port of a leaf and a server."""

    leaf: str
    split: int
    nic: str
    speed: str
    media: str
    length: str


class Fits(NamedTuple):
    """What follows from a cable that can be built."""

    host_lanes: int
    fec: str | None
    """Of the leaf's port; None is not stated, which NVUE spells `auto`."""


CROSSES = "NVIDIA LinkX, MCP7Y60 (OSFP to two QSFP56, four 50G-PAM4 channels each; ConnectX-6 and -7)"
QUARTERS = "NVIDIA LinkX, MCP7Y70 (to four QSFP56, two 50G-PAM4 channels each; ConnectX-6 and -7)"
QSFP = "QSFP-DD MSA, hardware specification (a port takes QSFP modules, on four of its eight lanes)"
CR4 = "IEEE 802.3bj clause 92 (100GBASE-CR4: 5 m) and clause 91 (RS-FEC)"
DACS = "Cumulus Linux 5.14, Switch Port Attributes, FEC (classes of 25G copper by length); IEEE 802.3by clause 110"
DR1 = "Cumulus Linux 5.14, Switch Port Attributes, DR1 and DR4 Modules (FEC off: the module has its own)"

FITTING: dict[str, tuple[Cable, Fits, str]] = {
    "ConnectX-7, 200G on four lanes of half a port": (
        Cable("SN5600", 2, "ConnectX-7", "200G", "DAC", "2m"),
        Fits(4, "rs"),
        CROSSES,
    ),
    "ConnectX-7, 200G on two lanes of a quarter": (
        Cable("SN5600", 4, "ConnectX-7", "200G", "DAC", "2m"),
        Fits(2, "rs"),
        "NVIDIA LinkX, MCP7Y40 (to four QSFP112, two 100G-PAM4 channels each); IEEE 802.3ck clause 162 (200GBASE-CR2)",
    ),
    "ConnectX-7, 200G by QSFP56 in QSFP-DD": (
        Cable("SN4700", 1, "ConnectX-7", "200G", "DAC", "3m"),
        Fits(4, "rs"),
        QSFP,
    ),
    "ConnectX-6, 200G by QSFP56 in QSFP-DD": (
        Cable("SN4700", 1, "ConnectX-6", "200G", "DAC", "3m"),
        Fits(4, "rs"),
        QSFP,
    ),
    "ConnectX-6, 100G by QSFP28 in QSFP-DD": (
        Cable("SN4700", 1, "ConnectX-6", "100G", "DAC", "5m"),
        Fits(4, "rs"),
        CR4,
    ),
    "ConnectX-5, 100G by QSFP28 in QSFP-DD": (
        Cable("SN5400", 1, "ConnectX-5", "100G", "DAC", "3m"),
        Fits(4, "rs"),
        CR4,
    ),
    "ConnectX-6, 4 x 100G on two lanes each": (
        Cable("SN4700", 4, "ConnectX-6", "100G", "DAC", "3m"),
        Fits(2, "rs"),
        QUARTERS,
    ),
    "ConnectX-7, 4 x 100G on two lanes each": (
        Cable("SN4700", 4, "ConnectX-7", "100G", "DAC", "2m"),
        Fits(2, "rs"),
        QUARTERS,
    ),
    "BlueField-3, 4 x 100G on two lanes each": (
        Cable("SN4700", 4, "BlueField-3", "100G", "DAC", "2m"),
        Fits(2, "rs"),
        QUARTERS,
    ),
    "ConnectX-6, 2 x 100G on four lanes each": (
        Cable("SN4700", 2, "ConnectX-6", "100G", "DAC", "3m"),
        Fits(4, "rs"),
        "NVIDIA LinkX, MCP7H60 (QSFP-DD to two QSFP28)",
    ),
    "ConnectX-6, 100G between QSFP28 ports": (
        Cable("SN2700", 1, "ConnectX-6", "100G", "DAC", "5m"),
        Fits(4, "rs"),
        CR4,
    ),
    "ConnectX-8, 400G": (
        Cable("SN5600", 2, "ConnectX-8", "400G", "DAC", "2m"),
        Fits(4, "rs"),
        "NVIDIA ConnectX-8 firmware release notes 40.44.0208, Link Speed (2 x 400GbE)",
    ),
    "Thor-2, 200G on four lanes": (
        Cable("SN4700", 2, "Thor-2", "200G", "DAC", "3m"),
        Fits(4, "rs"),
        "Linux, drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c (200GBASE-CR4, PAM4)",
    ),
    "Thor-2, 400G on four lanes": (
        Cable("SN5600", 2, "Thor-2", "400G", "DAC", "2m"),
        Fits(4, "rs"),
        "Linux, drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c (400GBASE-CR4, PAM4-112)",
    ),
    "Pollara-400, 400G": (
        Cable("SN5600", 2, "Pollara-400", "400G", "DR4", "50m"),
        Fits(4, "rs"),
        "DPDK network driver guide, ionic (Pollara 400, one port of 400G)",
    ),
    "Gaudi2, 4 x 100G of a QSFP-DD cage": (
        Cable("SN4700", 4, "Gaudi2", "100G", "DAC", "2m"),
        Fits(2, "rs"),
        "Cisco Nexus 9000 switches for Intel Gaudi 2, buying guide (24 ports of 100GbE in six QSFP-DD cages)",
    ),
    "Gaudi3, 4 x 200G of an OSFP cage": (
        Cable("SN5600", 4, "Gaudi3", "200G", "DAC", "2m"),
        Fits(2, "rs"),
        "Intel Gaudi documentation, Network Configuration (OSFP of 4 x 200G)",
    ),
    "25G copper of 2 m": (Cable("SN2700", 1, "ConnectX-6-Dx", "25G", "DAC", "2m"), Fits(1, "fc"), DACS),
    "25G copper of 3 m": (Cable("SN2700", 1, "ConnectX-6-Dx", "25G", "DAC", "3m"), Fits(1, "rs"), DACS),
    "25G copper of 5 m": (Cable("SN4700", 1, "ConnectX-6-Dx", "25G", "DAC", "5m"), Fits(1, "rs"), DACS),
    "50G copper on two lanes, 2 m": (
        Cable("SN2700", 2, "ConnectX-5", "50G", "DAC", "2m"),
        Fits(2, "fc"),
        "SFF-8024 table 4-4 (0Bh to 0Dh: 50GBASE-CR2 with RS-FEC, BASE-R FEC or none, as 25GBASE-CR)",
    ),
    "50G copper on one lane": (
        Cable("SN3700", 4, "ConnectX-6", "50G", "DAC", "2m"),
        Fits(1, "rs"),
        "IEEE 802.3cd clause 136 (50GBASE-CR) and clause 134 (RS-FEC)",
    ),
    "40G copper": (
        Cable("SN2700", 1, "ConnectX-5", "40G", "DAC", "7m"),
        Fits(4, None),
        "IEEE 802.3ba clause 85 (40GBASE-CR4: 7 m; the FEC of clause 74 is optional)",
    ),
    "25G multimode": (
        Cable("SN2700", 1, "ConnectX-6-Dx", "25G", "SR", "70m"),
        Fits(1, "rs"),
        "IEEE 802.3by clause 112 (25GBASE-SR) and clause 108 (RS-FEC)",
    ),
    "100G multimode on four lanes": (
        Cable("SN2700", 1, "ConnectX-6", "100G", "SR4", "100m"),
        Fits(4, "rs"),
        "IEEE 802.3bm clause 95 (100GBASE-SR4) and clause 91 (RS-FEC)",
    ),
    "100G of long reach on four lanes": (
        Cable("SN2700", 1, "ConnectX-6", "100G", "LR4", "5000m"),
        Fits(4, "none"),
        "IEEE 802.3ba clause 88 (100GBASE-LR4, a bit error ratio of 1e-12 without FEC)",
    ),
    "100G on one wavelength at four NRZ lanes": (
        Cable("SN2700", 1, "ConnectX-6", "100G", "DR", "100m"),
        Fits(4, "none"),
        DR1,
    ),
    "100G on one wavelength at two PAM4 lanes": (
        Cable("SN4700", 4, "ConnectX-6", "100G", "DR", "100m"),
        Fits(4, "rs"),
        DR1,
    ),
    "100G CWDM4": (
        Cable("SN2700", 1, "ConnectX-6", "100G", "CWDM4", "2000m"),
        Fits(4, "rs"),
        "100G CWDM4 MSA technical specifications (2 km with RS-FEC of clause 91)",
    ),
}

REFUSED: dict[str, tuple[Cable, str, str]] = {
    "400G between 8 x 50G and 4 x 100G": (
        Cable("SN4700", 1, "ConnectX-7", "400G", "DAC", "2m"),
        "DAC is passive and cannot join 8 lanes of SN4700 to 4 lanes of ConnectX-7 at 400G",
        "IEEE 802.3cd clause 136, 802.3ck clause 162 (a lane of 50 Gb/s does not receive 100 Gb/s)",
    ),
    "400G of a whole OSFP port": (
        Cable("SN5600", 1, "ConnectX-7", "400G", "DAC", "2m"),
        "DAC is passive and cannot join 8 lanes of SN5600 to 4 lanes of ConnectX-7 at 400G",
        "NVIDIA LinkX, MCP7Y10 (OSFP to two QSFP112: half of the lanes go to each)",
    ),
    "100G on one lane of 4 x 100G": (
        Cable("SN4700", 4, "ConnectX-5", "100G", "DAC", "2m"),
        "DAC is passive and cannot join 2 lanes of SN4700 to 4 lanes of ConnectX-5 at 100G",
        "Linux Kernel Upstream Release Notes 5.18 (ConnectX-5 has no PAM4)",
    ),
    "800G to ConnectX-8": (
        Cable("SN5600", 1, "ConnectX-8", "800G", "DAC", "2m"),
        "ConnectX-8 has no 800G port",
        "NVIDIA ConnectX-8 firmware release notes 40.44.0208 (800GbE is not supported on a single port)",
    ),
    "PAM4 copper past 3 m": (
        Cable("SN4700", 4, "ConnectX-6", "100G", "DAC", "4m"),
        "4m",
        "IEEE 802.3cd clause 136 (100GBASE-CR2, 3 m)",
    ),
    "NRZ copper past 5 m": (Cable("SN2700", 1, "ConnectX-6", "100G", "DAC", "6m"), "6m", CR4),
    "100 Gb/s lanes past 2 m": (
        Cable("SN5600", 2, "ConnectX-7", "400G", "DAC", "3m"),
        "3m",
        "IEEE 802.3ck clause 162 (400GBASE-CR4, 2 m)",
    ),
}


def data_of(platform: str, cable: Cable) -> Data:
    """The smallest fabric with a cable of that kind."""
    gpus = "8" if cable.nic.startswith("Gaudi") else "0"
    leaves = {f"topology.leaves.{key}": value for key, value in LEAF[platform].items()}
    spines = {f"topology.spines.{key}": value for key, value in LEAF[platform].items()}
    group = {
        "ids": "1",
        "gpus": gpus,
        "nic": cable.nic,
        "ports": "2",
        "leaf_group": "1",
        "leaf_ports": "1",
        "split": str(cable.split),
        "speed": cable.speed,
        "media": cable.media,
        "length": cable.length,
    }
    models = {"topology.leaves.model": cable.leaf, "topology.spines.model": cable.leaf}
    uplinks = {"topology.uplinks.speed": "100G", "topology.uplinks.media": "AOC"}
    loose = {"topology.max_oversubscription": "100", "endpoints.storage": None, "endpoints.gpu": group}
    return shipped("two-by-two", leaves | spines | models | uplinks | loose)


def first_port(platform: str, split: int) -> str:
    """How a network OS names the first port, whole or the first part."""
    return "Ethernet0" if platform == "sonic" else "swp1" if split == 1 else "swp1s0"


def host_lanes(fabric: Fabric) -> set[object]:
    return {one.lanes for host in fabric.hosts for one in host.ports}


@pytest.mark.parametrize("case", FITTING)
def test_a_cable_that_fits(case: str) -> None:
    cable, expected, source = FITTING[case]
    fabric = build(data_of("sonic", cable))
    assert source
    assert host_lanes(fabric) == {expected.host_lanes}
    assert {port(fabric, leaf, "Ethernet0").fec for leaf in ("leaf1", "leaf2")} == {expected.fec}


WRITTEN = (
    "ConnectX-6, 100G by QSFP28 in QSFP-DD",
    "ConnectX-6, 4 x 100G on two lanes each",
    "25G copper of 2 m",
    "40G copper",
    "100G on one wavelength at four NRZ lanes",
)


@pytest.mark.parametrize("platform", LEAF)
@pytest.mark.parametrize("case", WRITTEN)
def test_what_is_written_for_it(case: str, platform: str) -> None:
    cable, expected, _ = FITTING[case]
    fabric = build(data_of(platform, cable))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert judge(reading, shipped_rules()).findings == ()
    facing = port(reading.fabric, "leaf2", first_port(platform, cable.split))
    assert (facing.description, facing.speed_mbps) == ("gpu1:nic2", int(cable.speed[:-1]) * 1000)
    assert facing.fec == (expected.fec or {"sonic": None, "nvue": "auto"}[platform])


@pytest.mark.parametrize("platform", LEAF)
@pytest.mark.parametrize("case", REFUSED)
def test_a_cable_that_does_not_fit(case: str, platform: str) -> None:
    cable, expected, source = REFUSED[case]
    with pytest.raises(InputProblems) as refused:
        design(load(data_of(platform, cable)))
    assert source
    assert [problem.found for problem in refused.value.problems if problem.where.startswith("endpoints")] == [expected]


@pytest.mark.parametrize("platform", LEAF)
def test_a_module_with_fec_joins_a_port_with_and_one_without(platform: str) -> None:
    """Cumulus Linux 5.14, DR1 and DR4 Modules: SN4700 broken out into four with RS, SN2700 with FEC off."""
    far = {"speed": "100G", "media": "DR", "length": "100m", "split": "4", "spine_split": "1"}
    uplinks = {f"topology.uplinks.{key}": value for key, value in far.items()}
    both = {f"topology.{tier}.{key}": value for tier in ("leaves", "spines") for key, value in LEAF[platform].items()}
    loose = {"topology.spines.model": "SN2700", "topology.max_oversubscription": "100"}
    fabric = build(shipped("two-by-two", uplinks | both | loose))
    leaf, spine = {"sonic": ("Ethernet224", "Ethernet0"), "nvue": ("swp29s0", "swp1")}[platform]
    assert (port(fabric, "leaf1", leaf).fec, port(fabric, "spine1", spine).fec) == ("rs", "none")
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert "fec-mismatch" not in {one.rule for one in judge(reading, shipped_rules()).findings}


def test_a_twin_port_module_carries_800g_between_switches() -> None:
    """NVIDIA LinkX, MMS4X50-NM (OSFP, 2 x FR4): two of them make a link of 800 Gb/s over 2 km."""
    far = {"speed": "800G", "media": "2xFR4", "length": "2000m"}
    uplinks = {f"topology.uplinks.{key}": value for key, value in far.items()}
    models = {f"topology.{tier}.model": "SN5600" for tier in ("leaves", "spines")}
    fabric = build(shipped("two-by-two", uplinks | models))
    assert port(fabric, "leaf1", "Ethernet224").fec == "rs"
    assert medium("2xFR4") is not None


def test_an_accelerator_has_three_ports_for_the_fabric() -> None:
    """Intel Gaudi documentation, Network Configuration: of 24 ports 21 go to the other accelerators of the server."""
    cable = Cable("SN5600", 4, "Gaudi3", "200G", "DAC", "2m")
    wide = {"ports": "24", "spread": "one-leaf", "leaf_ports": "1-4"}
    data = data_of("sonic", cable)
    data["endpoints"]["gpu"] |= wide
    with pytest.raises(InputProblems) as refused:
        design(load(data))
    assert "endpoints.gpu.leaf_group" in {one.where for one in refused.value.problems}, "24 ports need six panel ports"
    data["endpoints"]["gpu"]["gpus"] = "7"
    with pytest.raises(InputProblems) as refused:
        design(load(data))
    (found,) = (one for one in refused.value.problems if one.where == "endpoints.gpu.ports")
    assert found.found == "24 ports, but 7 Gaudi3 have 21 that leave the server"
