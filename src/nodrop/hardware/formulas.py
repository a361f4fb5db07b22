"""Which formula a release of a network OS computes headroom with, from `formulas.yaml`."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.syntax.yaml import parse_yaml

_FORMULAS_FILE = Path(__file__).with_name("formulas.yaml")


class HeadroomFormula(BaseModel):
    """A row of `formulas.yaml`, which describes the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    since: str | None = None
    early: bool = False
    compensated: bool = False
    negotiated_speed: bool = False


_DEFAULT_FORMULA = HeadroomFormula()


@cache
def _load_formulas() -> dict[str, list[HeadroomFormula]]:
    data = parse_yaml(_FORMULAS_FILE.read_bytes(), _FORMULAS_FILE.name).data
    return TypeAdapter(dict[str, list[HeadroomFormula]]).validate_python(data)


def headroom_formula_of(platform: str, version: str | None | Unknown) -> HeadroomFormula:
    """Return the formula of a release; UnknownFact if the release is not known. `master` is later than all others."""
    release = require_fact(version, "device.version")
    if release is None:
        raise UnknownFact("device.version")
    return _formula_of_release(platform, release)


def headroom_depends_on_release(platform: str) -> bool:
    """Return whether the releases of a network OS compute headroom in different ways."""
    return platform in _load_formulas()


@cache
def _formula_of_release(platform: str, release: str) -> HeadroomFormula:
    rows = _load_formulas().get(platform, ())
    return next((row for row in rows if row.since is None or release >= row.since), _DEFAULT_FORMULA)
