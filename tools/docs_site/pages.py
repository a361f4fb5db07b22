"""Pages of the site that are not files of docs/: generated references, and files of the repository's top folder."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from docs_site import command_reference, key_reference, platform_reference

TOP_FILES: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "release-notes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Files of the top folder with their names on the site."""

_DASH = f"`{key_reference.NAME}` in a path stands for a name of your choice. A dash as default means: no fixed value.\n"
_INTENT = (
    "An intent describes one fabric. [Intents to start from](../intents.md) has complete ones.\n\n"
    f"{_DASH}nodrop then derives the value from the rest of the intent, or leaves the feature out;\n"
    "`nodrop show` lists the derived values with their reasons.\n"
)
GENERATED: Mapping[str, tuple[str, str, Callable[[], str]]] = {
    "reference/commands.md": (
        "Commands",
        "Every command and option, as `nodrop COMMAND --help` prints them.\n",
        command_reference.render_commands,
    ),
    "reference/intent.md": ("Keys of an intent", _INTENT, lambda: key_reference.render("intent")),
    "reference/nodrop-yaml.md": (
        "Keys of nodrop.yaml",
        f"Site settings, explained in [Configure nodrop](../configuration.md).\n\n{_DASH}",
        lambda: key_reference.render("config"),
    ),
    "reference/fabric-yaml.md": (
        "Keys of fabric.yaml",
        f"Facts that no switch file states, explained in [Lint your own switches](../linting.md).\n\n{_DASH}",
        lambda: key_reference.render("fabric"),
    ),
    "reference/profile.md": (
        "Keys of a profile",
        f"Bands for thresholds, timers and shares, explained in [Lint your own switches](../linting.md).\n\n{_DASH}",
        lambda: key_reference.render("profile"),
    ),
    "reference/json.md": (
        "JSON outputs",
        "`--format json` prints one document. Every key is always present. A change that breaks readers gets a new\n"
        "version number; [JSON version 2](../json-version-2.md) lists the keys that changed.\n",
        command_reference.render_json,
    ),
    "reference/platforms.md": (
        "Platforms",
        "Which network operating systems nodrop reads and builds, and what each lacks.\n",
        platform_reference.render_platforms,
    ),
    "reference/hardware.md": (
        "Hardware",
        "Known switches, NICs and cables. `nodrop hardware MODEL` prints all facts of one with their sources.\n",
        platform_reference.render_hardware,
    ),
}
"""Generated pages: title, introduction, and the function that makes the rest."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
_GENERATED_NAME = re.compile(r"`(reference/[\w-]+\.md)`")
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def generated_pages() -> dict[str, str]:
    """Return the text of each generated page, by its path on the site."""
    return {path: f"# {title}\n\n{about}\n{make()}" for path, (title, about, make) in GENERATED.items()}


def top_pages(root: Path) -> dict[str, str]:
    """Return the text of each page that is a file of the top folder, by its path on the site."""
    return {page: site_links((root / name).read_text(), name, root) for name, page in TOP_FILES.items()}


def site_links(text: str, file: str, root: Path) -> str:
    """Return a page's text with its links as the site has them; `file` is its path in the repository.

    A link to a file that is a page of the site leads to that page. A link to any other file of the repository becomes
    plain text, for the site has no address of the repository. A link to no file stays, for mkdocs to report. The path
    of a generated page, as code, becomes a link: the repository has no such file to link to.
    """
    page = _page_of(file)
    here = PurePosixPath(page or "x").parent

    def replace(link: re.Match[str]) -> str:
        image, words, address = link.groups()
        target, _, anchor = address.partition("#")
        if not target or ":" in target:
            return link[0]
        path = _normal(PurePosixPath(file).parent / target)
        if path is None or not (root / path).exists():
            return link[0]
        to = _page_of(path)
        if to is None:
            return words
        return f"{image}[{words}]({_relative(to, here)}{'#' if anchor else ''}{anchor})"

    def link_generated(name: re.Match[str]) -> str:
        known = GENERATED.get(name[1])
        return f"[{known[0]}]({_relative(name[1], here)})" if known else name[0]

    parts = _FENCED.split(text)
    for number in range(0, len(parts), 2):
        parts[number] = _GENERATED_NAME.sub(link_generated, _LINK.sub(replace, parts[number]))
    return "".join(parts)


def _page_of(path: str) -> str | None:
    """Return the path on the site of a file of the repository; None where it is no part of the site."""
    if path in TOP_FILES:
        return TOP_FILES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") and "." in PurePosixPath(path).name else None


def _normal(path: PurePosixPath) -> str | None:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _relative(to: str, here: PurePosixPath) -> str:
    above = [] if here == PurePosixPath() else list(here.parts)
    parts = to.split("/")
    while above and len(parts) > 1 and above[0] == parts[0]:
        above.pop(0)
        parts.pop(0)
    return "/".join([".."] * len(above) + parts)
