"""Words for numbers in headers of packets, as access lists of several platforms write them."""

from collections.abc import Mapping

IP_PROTOCOL_NUMBER_BY_WORD: Mapping[str, int] = {
    "icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "icmpv6": 58, "icmp6": 58, "ipv6-icmp": 58, "ospf": 89,
    "pim": 103, "vrrp": 112, "sctp": 132,
}  # fmt: skip
"""IANA, Assigned Internet Protocol Numbers."""
TCP_UDP_PORT_BY_WORD: Mapping[str, int] = {
    "ftp": 21, "ssh": 22, "telnet": 23, "domain": 53, "dhcp-server": 67, "dhcp-client": 68, "bootps": 67, "bootpc": 68,
    "tftp": 69, "http": 80, "ntp": 123, "imap2": 143, "snmp": 161, "snmp-trap": 162, "bgp": 179, "ldap": 389,
    "https": 443, "syslog": 514, "msdp": 639, "ldaps": 636, "bfd": 3784, "bfd-echo": 3785, "bfd-multihop": 4784,
    "clag": 5342,
}  # fmt: skip
"""IANA, Service Name and Transport Protocol Port Number Registry; `clag` is the port of MLAG in Cumulus Linux."""
DSCP_BY_WORD: Mapping[str, int] = {
    "be": 0, "ef": 46,
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{number}{drop}": 8 * number + 2 * drop for number in range(1, 5) for drop in range(1, 4)},
}  # fmt: skip
"""RFC 2474, RFC 2597 and RFC 3246."""
