"""How much nodrop reads, and how large numbers may be. Every limit that keeps a run short has its constant here."""

MAX_DIGITS = 18
"""Digits of a whole number: 64 bits hold that many. Python refuses to convert more than 4,300."""
MAX_VLAN = 4094
"""The largest number of a VLAN (IEEE 802.1Q)."""
MAX_DSCP = 63
MAX_ADMINISTRATIVE_DISTANCE = 255
"""The administrative distance of routes that are never used (FRR, zebra/rib.h, DISTANCE_INFINITY)."""
"""The largest DSCP (RFC 2474)."""
MAX_UINT32 = 2**32 - 1
"""The largest AS number (RFC 6793), sequence number, metric, buffer of NVUE in bytes and interval of SONiC in us."""
MAX_POWER_OF_TWO_EXPONENT = 63
"""The largest power of two that is written out as a number."""

MAX_REMARKS_PER_SWITCH = 2000
"""Faults of one switch's files that are listed; further ones are not looked for, which a note says once."""
MAX_NVUE_SETTING_FAULTS = 200
"""Settings of one startup.yaml or script of `nv set` that are listed because they do not fit its schema.

A note has the number of the others.
"""
MAX_DETAILED_SCHEMA_CHECKS = 50_000
"""Faults of a document by its schema that are looked at one by one, and values that are, where it has more of them."""
MAX_ALLOW_COMMENT_RULES = 2000
"""Rules that the comments of one file allow; what is beyond allows nothing, which is said once."""
MAX_PORTS_PER_SWITCH = 8192
"""Ports of one switch: far more than a chassis has, each broken out."""
MAX_COMMANDS_PER_FILE = 100_000
"""Commands of one file (`net add`, `nv set`): ten times what a switch with 512 ports has."""
MAX_EXPANDED_NAMES = 200_000
"""Single names that lists and ranges of commands are written out to, to find the place of a setting."""
MAX_SIMILAR_NAMES_COMPARED = 64
"""Names of a file that one without an object is compared with."""
MAX_GUESSED_WORD_CHARACTERS = 100
"""Characters of a word for which the nearest known word is looked for."""
MAX_EXPANDED_LINE_CHARACTERS = 65_536
"""Characters of a line of a script once its variables have their values."""
MAX_EDIT_TRIALS = 100
"""How often parts of the changes of one switch are tried to find those that its files cannot say."""
MIN_EDIT_TRIALS = 16
"""The same for files of any size."""
MAX_EDIT_TRIAL_BYTES = 20_000_000
"""Bytes of files that such trials read."""
MAX_FIX_ROUNDS = 8
"""How often what `fix` did may open the way for more."""
MAX_FIX_FABRIC_CHECKS = 100
"""How often `fix` looks at a fabric again; fixes that are undecided then are refused."""
MAX_ADVISED_EDITS = 64
"""Edits of a switch's files that are made to show commands; causes beyond that have the commands of their rules."""
MAX_CAUSE_CORRECTION_TRIALS = 24
"""Groups of findings whose correction is tried, to see which other findings end with it."""
MAX_CAUSE_CORRECTION_CHANGES = 1024
"""Changes of one such correction."""
MAX_ROUNDS_TO_COMPLETE_CORRECTION = 3
"""How often changes are added to a correction because of findings that it would cause."""
MAX_SWITCHES_TO_FORESEE = 256
"""Switches that are checked, counted for each correction, to see which new findings corrections would cause."""
MAX_TEXT_BYTES = 5_000_000
"""Bytes of an intent, of nodrop.yaml, and of a switch's file that is not JSON: ten times what 512 ports need."""
MAX_NIC_TEMPLATES_PER_FILE = 256
"""Templates of NICs in one file: one for each kind of NIC and group of hosts."""
MAX_DECLARED_LINE_CHARACTERS = 200
"""Characters of a line of nodrop.yaml that declares unknown lines harmless."""
