"""The references of platforms and hardware, generated from the data that nodrop builds and checks with."""

import importlib
import inspect
import json
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from nodrop.platforms import platform_names, platforms_default_first, reader, unsupported_paths
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.escape import format_nodrop_text_as_markdown
from nodrop.report.hardware import render_catalogue_list
from nodrop.units import show_speed

LACKS = {
    "headroom": "headroom: no source states the table or the formula",
    "memory": "size of the packet memory",
    "cell": "size of a buffer cell",
    "port map": "names and lanes of ports",
    "watchdog": "actions of the PFC watchdog",
}
"""What the word of the catalogue for a missing fact means."""


def render_platforms() -> str:
    """Return a section for each network OS: whether it is built, releases, settings by release, and gaps."""
    lines = ["| platform | read | built | files |", "|---|---|---|---|"]
    for platform in _platforms():
        files = ", ".join(f"`{name}`" for name in reader(platform).CANONICAL_FILES)
        built = "yes" if platform in platforms_default_first() else "no"
        lines.append(f"| [{platform}](#{platform}) | yes | {built} | {files or 'any text file of this kind'} |")
    for platform in _platforms():
        lines += ["", f"## {platform}", "", *_platform(platform)]
    return "\n".join(lines) + "\n"


def _platforms() -> tuple[str, ...]:
    return (*platforms_default_first(), *(name for name in platform_names() if name not in platforms_default_first()))


def _platform(platform: str) -> Iterator[str]:
    about = inspect.getdoc(importlib.import_module(f"nodrop.platforms.{platform}")) or ""
    yield format_nodrop_text_as_markdown(" ".join(about.split("\n\n")[0].split()))
    releases = _module(platform, "releases")
    if releases is not None:
        yield from ("", f"Releases: {', '.join(traits_of_platform(platform).releases)}.")
        if since := getattr(releases, "FIRST_RELEASE_BY_FEATURE", {}):
            yield from ("", "| setting | from |", "|---|---|")
            for feature, release in since.items():
                yield f"| {format_nodrop_text_as_markdown(feature, cell=True)} | {release} |"
    if lacking := unsupported_paths(platform):
        yield from ("", "Facts of the model that its files cannot state:", "", "| fact | reason |", "|---|---|")
        for path, reason in lacking.items():
            yield f"| `{path}` | {format_nodrop_text_as_markdown(reason, cell=True)} |"


def _module(platform: str, name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"nodrop.platforms.{platform}.{name}")
    except ModuleNotFoundError:
        return None


def render_hardware() -> str:
    """Return the tables of known switches, NICs and media."""
    catalog: dict[str, list[dict[str, Any]]] = json.loads(render_catalogue_list("json"))
    lines = [
        "## Switches",
        "",
        "| model | vendor | ports | ASIC | built for | not known |",
        "|---|---|---|---|---|---|",
    ]
    for box in catalog["switches"]:
        ports = " + ".join(f"{count} × {speed}" for speed, count in box["panels"].items())
        built, lacks = ", ".join(box["written_for"]) or "–", "; ".join(LACKS[word] for word in box["unknown"]) or "–"
        lines.append(f"| {box['name']} | {box['vendor']} | {ports} | {box['asic']} | {built} | {lacks} |")
    lines += ["", "## NICs", "", "| NIC | vendor | speeds |", "|---|---|---|"]
    lines += [f"| {nic['name']} | {nic['vendor']} | {_speeds(nic['lanes'])} |" for nic in catalog["nics"]]
    lines += ["", "## Cables and transceivers", "", "| medium | reach | speeds |", "|---|---|---|"]
    lines += [f"| {one['name']} | {one['max_length_m']} m | {_speeds(one['speeds'])} |" for one in catalog["media"]]
    return "\n".join(lines) + "\n"


def _speeds(speeds_mbps: Iterable[int | str]) -> str:
    return ", ".join(show_speed(int(speed)) for speed in speeds_mbps)
