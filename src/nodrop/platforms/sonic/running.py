"""Daemons that the bgp container of SONiC runs.

Sources, equal in the branches 202205 to 202605 of sonic-buildimage: daemons in
dockers/docker-fpm-frr/frr/supervisord/supervisord.conf.j2 (bfdd, ospfd, pimd and pathd only with
`frr_mgmt_framework_config`; mgmtd from 202411 on, whose FRR 10 needs it to take static routes, which zebra and staticd
of FRR 8 do by themselves; sharpd in 202605, which routes nothing); the kernel's settings in
files/image_config/sysctl/sysctl-net.conf. No defaults are chosen at start: those of FRR are `traditional`.
"""

from nodrop.platforms.kit.running import ROUTER_SYSCTLS, SwitchDaemons

RUNS = SwitchDaemons(
    daemons=("zebra", "staticd", "bgpd"),
    with_bfd=("bfdd",),
    unless="bfd-without-daemon",
    profile="traditional",
    vlan="Vlan{}",
    sysctls={
        **ROUTER_SYSCTLS,
        "net.ipv6.conf.all.accept_dad": 0,
        "net.ipv4.conf.all.arp_announce": 1,
        "net.ipv4.conf.all.arp_notify": 1,
        "net.ipv4.conf.all.arp_ignore": 2,
        "net.ipv4.fib_multipath_use_neigh": 1,
    },
)
"""What runs in every release."""
