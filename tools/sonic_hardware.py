"""Write a hardware file of nodrop from the public files of a SONiC platform.

FOLDER is device/<vendor>/<platform> of sonic-buildimage, downloaded with the files that its links lead to. The tool
derives ports, breakout modes, HWSKUs, headroom tables, pools and the packet memory; what these files do not say is
listed at the head of the output, to be completed by hand. See CONTRIBUTING.md.
"""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nodrop import units
from sku_buffers import TOPOLOGIES, Defaults, Row, defaults, grows, headroom
from sku_files import SkuFiles, Unusable
from sku_ports import Group, aliases_of, groups, index_of, interfaces, lanes_of, lanes_of_two, layouts, modes_of_hwskus

_WIDTH = 118
_NEVER_HERE = (
    "asic: its name in src/nodrop/hardware/asics/",
    "vendor: the name of the maker",
    "a first line that says what the switch is (ports, Tb/s, the lanes of its fastest ports)",
    "sonic.gcu: generic_config_updater/gcu_field_operation_validators.conf.json of sonic-utilities",
    "platforms, since (of the model, and of sonic.layouts), also, troubles, and splits of other network OSes: the "
    "vendor's documentation, and SONiC's release branches",
)
"""What no file of the platform says."""


class HardwareFile:
    """The hardware file of one platform, in parts that know what they could not derive."""

    def __init__(self, files: SkuFiles, hwsku: str) -> None:
        self.files, self.hwsku = files, hwsku
        self.hwskus = (hwsku, *(one for one in files.hwskus() if one != hwsku))
        self.left: list[str] = []
        """What could not be derived, and why."""
        self.unread: dict[str, str] = {}
        """Templates that could not be rendered, and why."""

    def render(self) -> str:
        """Return the text of the file; Unusable if a source file is malformed."""
        body = [*self._memory(), *self._ports(), *self._sonic()]
        if names := list(self.files.config_names()):
            self.left.append(f"asic: files that may name it: {', '.join(names)}")
        self.left += [f"{name}: not read: {why}" for name, why in self.unread.items()]
        self.left += [f"{name}: not read: a link to {to}, which is not there" for name, to in self.files.broken.items()]
        sources = f"sources:\n  - {_text(f'sonic-buildimage {self.files.shown} (the files listed above)')}"
        return "\n".join([*self._head(), *body, sources, ""])

    def _head(self) -> Iterator[str]:
        yield f"# Written by tools/sonic_hardware.py from sonic-buildimage, {self.files.shown}:"
        yield from (f"#   {name} sha256:{digest}" for name, digest in self.files.digests.items())
        yield "# To complete by hand:"
        for line in (*_NEVER_HERE, *self.left):
            yield from textwrap.wrap(line, _WIDTH, initial_indent="#   - ", subsequent_indent="#     ")

    def _memory(self) -> Iterator[str]:
        """The largest pool or limit that a HWSKU ships, which Switch.buffer_bytes is."""
        found = [
            (*made.largest, f"{hwsku}/buffers_defaults_{topology}.j2")
            for hwsku in self.hwskus
            for topology in TOPOLOGIES
            if isinstance(made := self._defaults(hwsku, topology), Defaults)
        ]
        size, name, source = max(found, key=lambda one: one[0], default=(0, "", ""))
        if size:
            yield f"buffer_bytes: {size}    # {name} of {source}"
            if self.unread or self.files.broken:
                self.left.append("buffer_bytes: templates that were not read may have a larger pool or limit")
        else:
            self.left.append("buffer_bytes: no HWSKU ships a pool or limit of a known size")

    def _defaults(self, hwsku: str, topology: str) -> Defaults | None:
        made = defaults(self.files, hwsku, topology)
        if isinstance(made, str):
            self.unread[f"{hwsku}/buffers_defaults_{topology}.j2"] = made
        return made if isinstance(made, Defaults) else None

    def _ports(self) -> Iterator[str]:
        found, source = interfaces(self.files, self.hwsku)
        self.left += [f"ports: {one} in {source}" for one in lanes_of_two(found)]
        users = modes_of_hwskus(self.files, found, self.hwskus) if source == "platform.json" else {}
        kinds = [group for group in groups(found, users) if self._has_speeds(group, source)]
        most = max((way.into for group in kinds for way in group.ways.values()), default=1)
        if source != "platform.json":
            self.left.append("ports.splits and max_split: there is no platform.json, so whole ports alone are known")
        if len(kinds) > 1:
            named = "; ".join(map(_panels, kinds))
            self.left.append(f"ports.service: true for those of the groups {named} that are for management")
        yield "platforms: [sonic]"
        yield f"max_split: {most}"
        yield "ports:"
        for group in kinds:
            yield from self._group(group)

    def _has_speeds(self, group: Group, source: str) -> bool:
        if 1 not in group.ways:
            self.left.append(f"ports {_panels(group)}: {source} has no mode of a whole port on all {group.lanes} lanes")
        return 1 in group.ways

    def _group(self, group: Group) -> Iterator[str]:
        whole, *splits = group.ways.values()
        yield f"  - panels: {_text(_panels(group))}"
        yield f"    lanes: {group.lanes}"
        yield f"    speeds: {_speeds(whole.speeds)}"
        if not whole.spelt_as_expected:
            yield f"    modes: {_flow(whole.modes)}"
        if splits:
            yield "    splits:"
        for way in splits:
            modes = "" if way.spelt_as_expected else f", modes: {_flow(way.modes)}"
            lanes = group.lanes // way.into
            yield f"      - {{into: {way.into}, lanes: {lanes}, speeds: {_speeds(way.speeds)}{modes}}}"
        if group.narrow:
            yield "    narrow:"
        for lanes, way in group.narrow.items():
            yield f"      - {{lanes: {lanes}, speeds: {_speeds(way.speeds)}, modes: {_flow(way.modes)}}}"
        if group.other_modes:
            yield from _wrapped("    other_modes: ", group.other_modes)
        yield from self._named(group)

    def _named(self, group: Group) -> Iterator[str]:
        """How SONiC numbers and names the ports of a group; nothing if that follows no rule."""
        index, aliases = index_of(group), aliases_of(group)
        for missing, what in ((index, "indexes"), (aliases, "aliases")):
            if missing is None:
                self.left.append(f"ports {_panels(group)}: sonic: their {what} follow no rule, or are not stated")
        if index is None or aliases is None:
            return
        facts = [f"number: {group.interfaces[0].number}"]
        facts += [f"step: {group.step}"] if group.step != group.lanes else []
        facts += [f"index: {index[0]}"] if index[0] else []
        facts += [f"per_index: {index[1]}"] if index[1] != 1 else []
        facts += [f"alias: {json.dumps(aliases[0])}"]
        facts += [f"part_alias: {json.dumps(aliases[1])}"] if aliases[1] else []
        yield "    sonic:"
        yield from (f"      {fact}" for fact in facts)
        lanes = lanes_of(group)
        yield from [f"      lanes: {lanes}"] if isinstance(lanes, int) else _wrapped("      lanes: ", lanes)

    def _sonic(self) -> Iterator[str]:
        yield "sonic:"
        yield f"  platform: {self.files.platform}"
        yield f"  hwsku: {_text(self.hwsku)}"
        yield from _wrapped("  hwskus: ", sorted(self.hwskus))
        yield from self._layouts()
        yield from self._pools()
        yield from self._headroom()

    def _layouts(self) -> Iterator[str]:
        """Yield the ports of each HWSKU, where there are several."""
        found, _ = interfaces(self.files, self.hwsku)
        if len(self.hwskus) > 1:
            yield "  layouts:"
            for ways, hwskus in layouts(self.files, found, self.hwskus).items():
                yield from _wrapped("    - hwskus: ", hwskus)
                shown = ", ".join(f"{way}: {_text(units.show_ids(panels))}" for way, panels in ways)
                # a line that breaks within quotes is one space in YAML
                yield from textwrap.wrap(f"      ports: {{{shown}}}", _WIDTH, subsequent_indent=" " * 14)

    def _pools(self) -> Iterator[str]:
        """The pools of the HWSKU that is written, by the topologies whose templates have them."""
        by_rows: dict[tuple[str, ...], list[str]] = {}
        for topology in TOPOLOGIES:
            if (made := self._defaults(self.hwsku, topology)) is None:
                continue
            if made.pools is None:
                self.left.append(f"sonic.pools of {topology}: the buffer model of the release decides their sizes")
                continue
            rows = tuple(
                f"[{name.removesuffix('_pool')}, {pool['type']}, {pool['mode']}, {int(pool['size'])}"
                + (f", {int(pool['xoff'])}]" if "xoff" in pool else "]")
                for name, pool in made.pools.items()
            )
            by_rows.setdefault(rows, []).append(topology)
        if by_rows:
            yield "  pools:                      # name, direction, mode, size, of it shared headroom; bytes"
        for rows, topologies in by_rows.items():
            yield f"    - templates: [{', '.join(topologies)}]"
            yield f"      sources: {_flow([f'{self.hwsku}/buffers_defaults_{one}.j2' for one in topologies])}"
            yield "      rows:"
            yield from (f"        - {row}" for row in rows)

    def _headroom(self) -> Iterator[str]:
        """The tables of all HWSKUs, each once, with the HWSKUs that ship it."""
        tables: dict[tuple[tuple[Row, ...], bool], list[str]] = {}
        for hwsku in self.hwskus:
            if rows := headroom(self.files, hwsku):
                tables.setdefault((rows, self._is_static(hwsku)), []).append(hwsku)
        if tables:
            yield f"  headroom:{' ' * 19}# rows of speed Mb/s, cable m, size, xon, xoff[, threshold, xon offset]; bytes"
        else:
            self.left.append("sonic.headroom: no HWSKU has a pg_profile_lookup.ini")
        for (rows, static), hwskus in tables.items():
            yield f"    - sources: {_flow([f'{hwskus[0]}/pg_profile_lookup.ini'])}"
            yield from _wrapped("      hwskus: ", hwskus)
            yield from ["      kind: static"] if static else []
            thresholds, offsets = {row[5] for row in rows}, {row[6] for row in rows}
            shared = len(thresholds) == len(offsets) == 1
            if shared and rows[0][5]:
                yield f"      threshold: {rows[0][5]}"
            if shared and rows[0][6] is not None:
                yield f"      xon_offset_bytes: {rows[0][6]}"
            if not grows(rows):
                yield "      grows_with_cable: false"
            yield "      rows:"
            for row in rows:
                cells = row[:5] if shared else [cell for cell in row if cell is not None]
                yield f"        - [{', '.join(map(str, cells))}]"

    def _is_static(self, hwsku: str) -> bool:
        """Whether a table's thresholds are bytes, as the mode of the lossless pool says; else they are exponents."""
        for topology in TOPOLOGIES:
            made = self._defaults(hwsku, topology)
            mode = (
                made.traditional.get("BUFFER_POOL", {}).get("ingress_lossless_pool", {}).get("mode") if made else None
            )
            if mode:
                return mode == "static"
        self.left.append(f"sonic.headroom of {hwsku}: kind: no template says the mode of ingress_lossless_pool")
        return False


def _panels(group: Group) -> str:
    return units.show_ids(one.panel for one in group.interfaces)


def _speeds(speeds: Iterable[int]) -> str:
    return f"[{', '.join(map(units.show_speed, speeds))}]"


def _text(text: str) -> str:
    """Write a text in YAML; quoted unless it is a plain word."""
    return text if re.fullmatch(r"[A-Za-z][\w.+/-]*|[0-9]+-[0-9]+", text) else json.dumps(text)


def _flow(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _wrapped(key: str, texts: Sequence[str]) -> list[str]:
    """Write a list in lines of at most _WIDTH characters, each below the first entry."""
    indent = " " * (len(key) + 1)
    lines, line = [], f"{key}["
    for place, text in enumerate(map(_text, texts)):
        entry = text + ("]" if place == len(texts) - 1 else ",")
        if line != f"{key}[" and len(line) + len(entry) + 1 > _WIDTH:
            lines.append(line)
            line = indent + entry
        else:
            line += entry if line == f"{key}[" else f" {entry}"
    return [*lines, line]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; return 2 if the input cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--hwsku", metavar="NAME", help="the HWSKU that nodrop writes (default: that of default_sku)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write this new file instead of to stdout")
    given = parser.parse_args(arguments)
    try:
        files = SkuFiles(given.folder)
        hwsku = given.hwsku or next(iter((files.text("default_sku") or "").split()), "")
        if hwsku not in files.hwskus():
            named = f"`{hwsku}`" if hwsku else "none named by --hwsku or default_sku"
            raise Unusable(f"{given.folder}: no HWSKU {named}; there are: {', '.join(files.hwskus()) or 'none'}")
        text = HardwareFile(files, hwsku).render()
        if given.output:
            with given.output.open("x") as file:
                file.write(text)
        else:
            sys.stdout.write(text)
    except (Unusable, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
