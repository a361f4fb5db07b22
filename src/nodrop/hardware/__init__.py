"""Facts of ASICs, switches, NICs and media, each number with its source; a new one is one YAML file.

Nothing here is guessed: a number without a source is left out, and what needs it answers UNKNOWN.
"""

import difflib
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from nodrop.formats.yaml import parse
from nodrop.hardware.schema import Asic, Medium, Nic, Switch

_HERE = Path(__file__).parent
_M = TypeVar("_M", bound=BaseModel)


def _load(kind: type[_M], path: Path) -> _M:
    document = parse(path.read_bytes(), path.name)
    return kind.model_validate({"name": path.stem, **document.data})


@cache
def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (_HERE / folder).glob("*.yaml")))


def switches() -> tuple[str, ...]:
    """Return the models known, sorted."""
    return _names("switches")


def nics() -> tuple[str, ...]:
    """Return the NICs known, sorted."""
    return _names("nics")


@cache
def switch(model: str) -> Switch:
    """Return the facts of a switch model; KeyError where it is not known."""
    if model not in switches():
        raise KeyError(model)
    return _load(Switch, _HERE / "switches" / f"{model}.yaml")


@cache
def asic(name: str) -> Asic:
    """Return the facts of an ASIC; KeyError where it is not known."""
    if name not in _names("asics"):
        raise KeyError(name)
    return _load(Asic, _HERE / "asics" / f"{name}.yaml")


@cache
def nic(model: str) -> Nic:
    """Return the facts of a NIC; KeyError where it is not known."""
    if model not in nics():
        raise KeyError(model)
    return _load(Nic, _HERE / "nics" / f"{model}.yaml")


@cache
def media() -> dict[str, Medium]:
    """Return the kinds of cable and transceiver known, by name."""
    document = parse((_HERE / "media.yaml").read_bytes(), "media.yaml")
    return {name: Medium.model_validate({"name": name, **facts}) for name, facts in document.data.items()}


@cache
def model_of_sku(hwsku: str) -> str | None:
    """Return the switch model that a SONiC HWSKU stands for; None where it is not in the catalogue."""
    for model in switches():
        if hwsku in switch(model).sonic.hwskus:
            return model
    return None


def nearest(word: str, known: tuple[str, ...]) -> str:
    """Return a hint naming the nearest known word, else all of them."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
