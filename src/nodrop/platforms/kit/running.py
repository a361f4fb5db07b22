"""FRR daemons of a network OS, and the Linux names and settings that FRR works with; for a twin of real daemons.

A platform's facts are in `platforms/<os>/running.py`, as `RUNS`. A platform without the file has another routing stack.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, cast

_PLATFORMS_FOLDER = Path(__file__).parent.parent

ROUTER_SYSCTLS: Mapping[str, int] = {
    "net.ipv4.conf.all.forwarding": 1,
    "net.ipv4.conf.default.forwarding": 1,
    "net.ipv6.conf.all.disable_ipv6": 0,
    "net.ipv6.conf.all.forwarding": 1,
    "net.ipv6.conf.default.forwarding": 1,
    "net.ipv6.conf.all.keep_addr_on_down": 1,
    "net.ipv6.conf.default.keep_addr_on_down": 1,
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv4.conf.all.rp_filter": 0,
    "net.ipv4.conf.default.rp_filter": 0,
}
"""Settings of the kernel without which it is no router, by the names of sysctl. Duplicate addresses are not waited for
on links that a twin has just made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchDaemons:
    """What runs on a switch, with the defaults of its FRR."""

    daemons: tuple[str, ...]
    """The daemons that always run and have to do with what is checked, in the order in which they start."""
    with_bfd: tuple[str, ...] = ()
    """Those that run too where a neighbor is watched by BFD."""
    unless: str = ""
    """The kind of a remark that says that those do not."""
    profile: str
    """FRR's defaults (`frr defaults`) where frr.conf names none."""
    vlan: str
    """What the interface of a VLAN is called, with `{}` for its number."""
    sysctls: Mapping[str, int] = field(default_factory=lambda: ROUTER_SYSCTLS)
    """The kernel's settings, by name."""
    stands_for: str = ""
    """What FRR's daemons stand for where they are not those of the switch itself."""


CUMULUS_DAEMONS: Final = SwitchDaemons(
    daemons=("zebra", "staticd", "bgpd"),
    with_bfd=("bfdd",),
    profile="datacenter",
    vlan="vlan{}",
)
"""What Cumulus Linux runs in every release, however it is configured.

zebra and staticd run with any configuration, and bgpd with BGP, with the defaults `datacenter`: so Cumulus builds FRR.
BFD is done by ptmd, for which FRR's own bfdd stands: both speak RFC 5880.
"""


@cache
def daemons_of_platform(platform: str) -> SwitchDaemons:
    """Return the daemons of a platform; where it has no FRR, the substitute for its routing stack."""
    if not (_PLATFORMS_FOLDER / platform / "running.py").is_file():
        return replace(CUMULUS_DAEMONS, stands_for=f"the routing stack of {platform}")
    return cast("SwitchDaemons", importlib.import_module(f"nodrop.platforms.{platform}.running").RUNS)
