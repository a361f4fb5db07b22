"""How a rule's examples become readings: two-by-two is built, changed, written by each platform, and read back."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import nodrop
from nodrop import collect, stated
from nodrop.fabric.assemble import assemble
from nodrop.fabric.fabric import Fabric
from nodrop.fabric.reading import Reading
from nodrop.formats.yaml import parse
from nodrop.hardware.dynamic import resolve
from nodrop.intent.schema import Intent
from nodrop.platforms.artifact import Artifact
from nodrop.resources import home

BASE = "two-by-two"


@lru_cache(maxsize=1)
def _text() -> bytes:
    return (home("intents") / f"{BASE}.yaml").read_bytes()


def base(overlay: Mapping[str, Any]) -> Fabric:
    """Return the fabric of two-by-two with an overlay on its intent; its computed facts follow later changes."""
    document = parse(_text(), f"{BASE}.yaml")
    intent = Intent.model_validate(_laid_over(document.data, overlay))
    return nodrop.build(intent)


def _laid_over(data: Any, overlay: Any) -> Any:
    if isinstance(data, dict) and isinstance(overlay, Mapping):
        return data | {key: _laid_over(data.get(key), value) for key, value in overlay.items()}
    return overlay


def views(fabric: Fabric) -> Iterator[tuple[str, Reading]]:
    """Yield the fabric as each platform that writes it says it."""
    settled = replace(fabric, devices=tuple(map(resolve, fabric.devices)))
    yield "sonic", nodrop.read_back(list(nodrop.write(settled)), settled)


def artifact(edits: Mapping[str, Any]) -> Iterable[tuple[str, Reading]]:
    """Return two-by-two read from artifacts in which texts were replaced, each at its first place."""
    fabric = base({})
    for platform, files in edits.items():
        artifacts = []
        for one in nodrop.write(fabric):
            text = one.text
            for edit in files.get(f"{one.device}/{one.path}", ()):
                if edit["replace"] not in text:
                    raise ValueError(f"{one.device}/{one.path} has no {edit['replace']!r}")
                text = text.replace(edit["replace"], edit["with"], 1)
            artifacts.append(Artifact(device=one.device, path=one.path, text=text))
        platform_of = {device.name: device.platform for device in fabric.devices}
        readings = list(collect.read_artifacts([one for one in artifacts if one.device], platform_of, ""))
        declared = next(one.text for one in artifacts if one.path == stated.FILE)
        yield platform, assemble(readings, stated.loads(declared.encode(), stated.FILE))
