"""What Cumulus Linux with NVUE runs: nv config apply starts what a configuration needs.

zebra and staticd run with any configuration, and bgpd with BGP, with the defaults `datacenter`: so Cumulus builds FRR.
BFD is done by ptmd, for which FRR's own bfdd stands: both speak RFC 5880.
"""

from nodrop.platforms.running import Runs

RUNS = Runs(
    daemons=("zebra", "staticd", "bgpd"),
    with_bfd=("bfdd",),
    profile="datacenter",
    vlan="vlan{}",
)
"""What runs in every release."""
