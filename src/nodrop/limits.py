"""How much nodrop reads, and how large numbers may be. Every limit that keeps a run short has its constant here."""

MAX_DIGITS = 18
"""Digits of a whole number: 64 bits hold that many. Python refuses to convert more than 4,300."""
MAX_VLAN = 4094
"""The largest number of a VLAN (IEEE 802.1Q)."""
MAX_DSCP = 63
"""The largest DSCP (RFC 2474)."""
MAX_32_BITS = 2**32 - 1
"""The largest AS number (RFC 6793), sequence number and metric."""
