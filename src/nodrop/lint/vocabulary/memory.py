"""Words about a switch's packet memory: how much there is, and how much is given away before any is shared."""

from nodrop.fabric.fabric import Device
from nodrop.hardware import commitment
from nodrop.lint.vocabulary import word


@word("function", rests_on=("models",))
def memory_bytes(device: Device) -> int:
    """The packet memory of a switch's model, in bytes; UNKNOWN where the catalogue does not have it."""
    return commitment.memory_bytes(device)


@word("function", rests_on=("models",))
def committed_bytes(device: Device) -> int:
    """What headroom and reserves of all ports that are up, and shared headroom, take of a switch's memory, in bytes."""
    return commitment.committed_bytes(device)
