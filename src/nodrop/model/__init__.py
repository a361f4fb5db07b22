"""The vendor-neutral model: the facts about a fabric, independent of their source.

Values are frozen, slotted and keyword-only; units are in the names. A field is a value, `None` (known absent) or
`UNKNOWN` (the source does not state it). QoS is shared by value: ports that behave alike hold the same object.
"""
