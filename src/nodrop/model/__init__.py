"""The vendor-neutral model: what is true of a fabric, whatever its source.

Values are frozen, slotted and keyword-only; units are in the names. A field is a value, `None` (known absent) or
`UNKNOWN` (the source does not say). QoS is shared by value: ports that behave alike hold the same object.
"""
