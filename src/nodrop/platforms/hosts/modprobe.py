"""Options of Lustre's network modules, as files of /etc/modprobe.d state them: `options ko2iblnd tos=138`.

Lustre 2.16 is the first release with the option `tos` (LU-12452: lnet/klnds/o2iblnd/o2iblnd_modparams.c and
lnet/klnds/socklnd/socklnd_modparams.c). It takes -1 to 255; a module whose option is beyond that does not load.
"""

import re
from collections.abc import Iterator

from nodrop.model.nics import UNSET_TOS
from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, line_span, parse_byte
from nodrop.syntax.places import Span

TOS_FIELD_BY_KERNEL_MODULE = {"ko2iblnd": "lustre_o2ib_tos", "ksocklnd": "lustre_tcp_tos"}
"""The field of `Nic` that the option `tos` of a module states."""
_OPTIONS_LINE = re.compile(rf"(?m)^[ \t]*options[ \t]+(?:{'|'.join(TOS_FIELD_BY_KERNEL_MODULE)})[ \t]")
_DEFAULT_TOS_REASON = "{module} sets no ToS unless its option tos states one"


def _is_modprobe_file(head: str) -> bool:
    return bool(_OPTIONS_LINE.search(head))


def _parse_module_tos_options(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    stated: set[str] = set()
    for words, span in _joined_lines(file_text):
        if len(words) < 2 or words[0] != "options" or (field := TOS_FIELD_BY_KERNEL_MODULE.get(words[1])) is None:
            continue
        tos = next((word.removeprefix("tos=") for word in reversed(words[2:]) if word.startswith("tos=")), None)
        if tos is not None and (value := UNSET_TOS if tos == "-1" else parse_byte(tos)) is not None:
            stated.add(field)
            parsed_facts.record_fact("", field, value, span)
        elif field not in stated:
            parsed_facts.record_fact("", field, UNSET_TOS, span, _DEFAULT_TOS_REASON.format(module=words[1]))
    return (parsed_facts,)


def _joined_lines(text: str) -> Iterator[tuple[list[str], Span]]:
    """Yield the words of every line, joined to the next where it ends with a backslash, and the span of its first."""
    joined_line, start = "", None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not joined_line and (not line or line.startswith("#")):
            continue
        start = start or line_span(number, raw)
        joined_line += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield joined_line.split(), start
            joined_line, start = "", None
    if joined_line and start:
        yield joined_line.split(), start


FILE_KIND = HostFileKind(
    _is_modprobe_file, _parse_module_tos_options, then="unload the module and load it again, or reboot the host"
)
