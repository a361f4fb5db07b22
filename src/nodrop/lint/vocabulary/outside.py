"""Words about lossless traffic that leaves the hall."""

from nodrop.hardware import asic, switch, switches
from nodrop.lint.vocabulary import word
from nodrop.model.states import Unknown


@word("function", rests_on=("models",))
def waits_outside_chip(model: str | Unknown) -> bool:
    """Whether packets wait in memory beside the chip of a switch model, for what is under way on long cables."""
    return not isinstance(model, Unknown) and model in switches() and asic(switch(model).asic).external_memory
