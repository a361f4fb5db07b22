"""Words about lossless traffic that leaves the hall."""

from nodrop.engine.vocabulary import declare_word
from nodrop.hardware import asic_of
from nodrop.model.states import Unknown


@declare_word("function", rests_on=("models",))
def has_memory_outside_chip(model: str | Unknown) -> bool:
    """Whether a switch model has packet memory outside its chip, enough headroom for long cables."""
    chip = asic_of(model)
    return chip is not None and chip.external_memory
