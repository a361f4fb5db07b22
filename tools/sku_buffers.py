"""Buffer facts of HWSKUs: tables of pg_profile_lookup.ini, pools and limits of buffers_defaults_*.j2."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import FunctionLoader, StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from sku_files import SkuFiles, Unusable

TOPOLOGIES = {"t0": "ToRRouter", "t1": "LeafRouter"}
"""The type of a device that takes a topology's template, as buffers_config.j2 of sonic-buildimage chooses it."""
_MACROS = {
    "generate_buffer_pool_and_profiles_with_inactive_ports": ("",),
    "generate_buffer_pool_and_profiles": (),
}
Row = tuple[int, int, int, int, int, int, int | None]
"""Speed in Mb/s, cable in metres, size, xon, xoff, threshold, xon offset."""
Tables = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Defaults:
    """The buffer tables of a template: rendered for the traditional buffer model, and for the dynamic one."""

    traditional: Tables
    dynamic: Tables

    @property
    def pools(self) -> Mapping[str, Mapping[str, str]] | None:
        """The pools, if they are the same in both models and all have a size; None if the release decides."""
        pools = self.traditional.get("BUFFER_POOL", {})
        same = pools == self.dynamic.get("BUFFER_POOL") and all("size" in pool for pool in pools.values())
        return pools if pools and same else None

    @property
    def largest(self) -> tuple[int, str]:
        """The largest pool or static limit in bytes, and what it is called."""
        pools = self.traditional.get("BUFFER_POOL", {})
        limits = self.traditional.get("BUFFER_PROFILE", {})
        found = [(int(pool["size"]), name) for name, pool in pools.items() if "size" in pool]
        found += [(int(one["static_th"]), f"static_th of {name}") for name, one in limits.items() if "static_th" in one]
        return max(found, key=lambda one: one[0], default=(0, ""))


def headroom(files: SkuFiles, hwsku: str) -> tuple[Row, ...]:
    """Return the rows of a HWSKU's pg_profile_lookup.ini; none if it has no such file."""
    name = f"{hwsku}/pg_profile_lookup.ini"
    rows: list[Row] = []
    for number, line in enumerate((files.text(name) or "").splitlines(), 1):
        cells = line.partition("#")[0].split()
        if not cells:
            continue
        try:
            speed, size, xon, xoff, threshold, *offset = map(int, (cells[0], *cells[2:]))
            rows.append((speed, int(cells[1].removesuffix("m")), size, xon, xoff, threshold, next(iter(offset), None)))
        except (ValueError, IndexError):
            raise Unusable(
                f"{name}:{number}: expected speed, cable, size, xon, xoff, threshold and maybe xon_offset"
            ) from None
    return tuple(rows)


def grows(rows: Sequence[Row]) -> bool:
    """Return whether xoff grows with the cable at every speed, as HeadroomTable.grows_with_cable has it."""
    speeds = {row[0] for row in rows}
    runs = [[row[4] for row in sorted(rows, key=lambda row: row[1]) if row[0] == speed] for speed in speeds]
    flat = max(map(len, runs)) > 1 and all(len(set(run)) == 1 for run in runs)
    return not flat and all(run == sorted(run) for run in runs)


def defaults(files: SkuFiles, hwsku: str, topology: str) -> Defaults | str | None:
    """Return what a buffers_defaults template makes, or why that is not known; None if there is no template.

    The template sees the type of device and the ports of the HWSKU; one that asks for more is not rendered.
    """
    name = f"buffers_defaults_{topology}.j2"
    if files.text(f"{hwsku}/{name}") is None:
        return None
    environment = SandboxedEnvironment(
        loader=FunctionLoader(lambda other: files.text(f"{hwsku}/{other}") if "/" not in other else None),
        undefined=StrictUndefined,
        autoescape=False,
    )
    try:
        ports = {row["name"]: row for row in files.rows(f"{hwsku}/port_config.ini")}
        device: dict[str, object] = {"DEVICE_METADATA": {"localhost": {"type": TOPOLOGIES[topology]}}}
        device |= {"PORT": ports} if ports else {}
        traditional, dynamic = (_rendered(environment, name, device | model) for model in ({}, {"dynamic_mode": True}))
        return Defaults(traditional, dynamic)
    except TemplateError as error:
        return f"{type(error).__name__}: {error}"
    except (TypeError, ValueError) as error:
        return str(error)


def _rendered(environment: SandboxedEnvironment, name: str, given: Mapping[str, object]) -> Tables:
    module = environment.get_template(name).make_module(dict(given))
    for macro, arguments in _MACROS.items():
        if hasattr(module, macro):
            tables = json.loads(f"{{{str(getattr(module, macro)(*arguments)).strip().rstrip(',')}}}")
            if not isinstance(tables, dict):
                raise TypeError("expected tables of CONFIG_DB")
            return tables
    raise ValueError(f"no macro {' or '.join(_MACROS)}")
