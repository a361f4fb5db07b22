"""Facts of ASICs, switches, NICs and media, each number with its source; a new one is one YAML file.

Nothing here is guessed: a number without a source is left out, and what needs it answers UNKNOWN.
"""

import difflib
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from nodrop.errors import InputProblems
from nodrop.hardware.schema import Asic, Medium, NicModel, SwitchModel
from nodrop.model.states import Unknown
from nodrop.model.types import did_you_mean_hint
from nodrop.syntax.places import sanitize_for_message
from nodrop.syntax.yaml import parse_yaml

_HARDWARE_FOLDER = Path(__file__).parent
_SURE_SIMILARITY = 0.7
"""From where on two names of models are a slip apart; below it one is another model of the same maker."""
_MAX_LISTED_NAMES = 12
_M = TypeVar("_M", bound=BaseModel)


def _load_facts(model_type: type[_M], folder: str, name: str) -> _M:
    """Return the facts in a file; InputProblems name each wrong key, to help the author of the file."""
    document = parse_yaml(_read_fact_file(folder, name), f"{folder}/{name}.yaml")
    try:
        facts = model_type.model_validate({"name": name, **cast("dict[str, Any]", document.data)})
    except ValidationError as error:
        wrong = [(err["loc"], "no such key" if err["type"] == "missing" else err["msg"]) for err in error.errors()]
        raise InputProblems([document.problem(loc, message) for loc, message in wrong]) from None
    if isinstance(facts, SwitchModel) and facts.asic not in _fact_file_names("asics"):
        fault = f"`{sanitize_for_message(facts.asic)}`, a chip without a file below asics/"
        raise InputProblems(
            [document.problem(("asic",), fault, hint=did_you_mean_hint(facts.asic, _fact_file_names("asics")))]
        )
    return facts


@cache
def _read_fact_file(folder: str, name: str) -> bytes:
    return (_HARDWARE_FOLDER / folder / f"{name}.yaml").read_bytes()


@cache
def _fact_file_names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (_HARDWARE_FOLDER / folder).glob("*.yaml")))


def switches() -> tuple[str, ...]:
    """Return the models known, sorted."""
    return _fact_file_names("switches")


def nics() -> tuple[str, ...]:
    """Return the NICs known, sorted."""
    return _fact_file_names("nics")


@cache
def switch(model: str) -> SwitchModel:
    """Return the facts of a switch model; KeyError where it is not known."""
    if model not in switches():
        raise KeyError(model)
    return _load_facts(SwitchModel, "switches", model)


def asics() -> tuple[str, ...]:
    """Return the names of the ASICs of the catalogue."""
    return _fact_file_names("asics")


@cache
def asic(name: str) -> Asic:
    """Return the facts of an ASIC; KeyError where it is not known."""
    if name not in _fact_file_names("asics"):
        raise KeyError(name)
    return _load_facts(Asic, "asics", name)


def asic_of(model_name: str | None | Unknown) -> Asic | None:
    """Return the facts of a switch model's ASIC; None where the model is unknown or not in the catalogue."""
    return asic(switch(model_name).asic) if isinstance(model_name, str) and model_name in switches() else None


@cache
def nic(model: str) -> NicModel:
    """Return the facts of a NIC; KeyError where it is not known."""
    if model not in nics():
        raise KeyError(model)
    return _load_facts(NicModel, "nics", model)


@cache
def media() -> dict[str, Medium]:
    """Return the kinds of cable and transceiver known, by name."""
    document = parse_yaml((_HARDWARE_FOLDER / "media.yaml").read_bytes(), "media.yaml")
    return {
        name: Medium.model_validate({"name": name, **facts})
        for name, facts in cast("dict[str, Any]", document.data).items()
    }


def medium(name: str | None | Unknown) -> Medium | None:
    """Return the kind of cable or transceiver that a link has; None where that is not stated or not known here."""
    return media().get(name) if isinstance(name, str) else None


@cache
def model_of_sku(hwsku: str, platform: str | None = None) -> str | None:
    """Return the switch model of a SONiC HWSKU; None where it is not in the catalogue.

    Two models may ship a HWSKU of one name: the platform string identifies the model, and without one it is the first.
    Only the files that contain the name are parsed.
    """
    name = hwsku.encode()
    models = [
        one for one in switches() if name in _read_fact_file("switches", one) and hwsku in switch(one).sonic.hwskus
    ]
    facts = ((model, switch(model).sonic) for model in models)
    exact = (model_name for model_name, sonic in facts if platform in (sonic.platform, *sonic.platforms))
    return next(exact, models[0] if models else None)


@cache
def find_model_by_name(name: str) -> str | None:
    """Return the switch model of a name, ignoring case and separators; None where there is no name, or no such model.

    A model that differs from another in power and cooling only counts as that other; MSN is the former name of SN.
    """
    return _models_by_name().get(_normalize_name(name).removeprefix("m")) or _models_by_name().get(
        _normalize_name(name)
    )


@cache
def _models_by_name() -> dict[str, str]:
    model_by_name = {_normalize_name(model): model for model in switches()}
    for model in [switch_name for switch_name in switches() if b"\nalso:" in _read_fact_file("switches", switch_name)]:
        model_by_name |= {_normalize_name(name): model for name in switch(model).also}
    return model_by_name


def _normalize_name(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


def find_design_obstacle(switch_model: SwitchModel, platform: str) -> str | None:
    """Return why nothing can be designed for a model under a network OS; None where it can."""
    if platform not in switch_model.platforms:
        return f"{switch_model.name} is not known under {platform}"
    chip = asic(switch_model.asic)
    if switch_model.buffer_bytes is None:
        if chip.external_memory:
            name = f"{switch_model.name} ({switch_model.asic})"
            return f"{name} keeps packets outside its chip, where no formula is known"
        return f"the memory of {switch_model.name} is not known"
    if not chip.has_headroom_terms and not switch_model.sonic.headroom:
        return f"neither a formula nor a table of the headroom of {switch_model.name} ({switch_model.asic}) is known"
    return None


def hint_for_undesignable_model(switch_model: SwitchModel, platform: str) -> str:
    """Return what can be done with a model that no fabric is designed for: it is linted, without rules of its buffers.

    Under a network OS that the model does not have while it has others, only another model helps.
    """
    others = "see `nodrop hardware`"
    if switch_model.platforms and platform not in switch_model.platforms:
        return others
    return f"`nodrop lint` checks its configurations, but not all buffers; for other models {others}"


def hint_for_unknown_model(word: str) -> str:
    """Return a hint naming the model that a slip means; else where models are listed, and what others can have."""
    close = difflib.get_close_matches(word, switches(), n=1, cutoff=_SURE_SIMILARITY)
    if close:
        return f"did you mean {close[0]}?"
    return "`nodrop hardware` lists them; `nodrop lint` also checks configurations of other models"


def fastest_breakouts_with_known_headroom(switch_model: SwitchModel) -> tuple[tuple[int, int], ...]:
    """Return the uses of a model's fastest ports with a known headroom: into how many ports, and the speed of each.

    Whole ports are first, and of each way the fastest speed.
    """
    fastest = max((group for group in switch_model.ports if not group.service), key=lambda group: group.speeds[0])
    computes, speeds = asic(switch_model.asic).has_headroom_terms, switch_model.sonic.headroom_speeds_mbps
    return tuple(
        (split.into, speed)
        for split in fastest.breakout_options
        for speed in split.speeds
        if computes or speed in speeds
    )


def buildable_models(platform: str) -> tuple[str, ...]:
    """Return the models for which fabrics can be designed under a network OS, sorted."""
    return tuple(model for model in switches() if find_design_obstacle(switch(model), platform) is None)


def nearest_word_hint(word: str, words: tuple[str, ...]) -> str:
    """Return a hint naming the nearest known word, else all of them, or where they are listed if they are many."""
    close = difflib.get_close_matches(word, words, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return (
        f"known: {', '.join(words)}" if len(words) <= _MAX_LISTED_NAMES else "`nodrop hardware` lists those there are"
    )
