"""Names of FRR's files: one for all daemons, or one for each (FRR, doc/user/vtysh.rst, integrated configuration)."""

FRR_FILE = "frr.conf"
"""The file for all daemons."""
ZEBRA_FILE, STATICD_FILE, BGPD_FILE = "zebra.conf", "staticd.conf", "bgpd.conf"
END_OF_FILE = "end"
"""The line that closes all blocks of a file, for the next one behind it in the same text."""
