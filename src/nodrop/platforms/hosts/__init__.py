"""Files of hosts with NIC settings: recognised by their content, read into `Nic`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.model.nics import Nic
from nodrop.model.reading import FilePlace, HostReading, Note, Remark, Source
from nodrop.model.subject import Subject
from nodrop.platforms.hosts import boot, commands, firmware, modprobe, nvme, pcie, qos_output, sriov, template
from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, NicFact
from nodrop.syntax.comments import CommentSyntax
from nodrop.syntax.places import decode_utf8

_FILE_KINDS = (
    template.FILE_KIND, sriov.FILE_KIND, firmware.FILE_KIND, firmware.REGISTER_DUMP_FILE_KIND,
    qos_output.FILE_KIND, pcie.FILE_KIND, commands.FILE_KIND, boot.FILE_KIND, modprobe.FILE_KIND,
    nvme.FABRICS_FILE_KIND, nvme.DISCOVERY_FILE_KIND,
)  # fmt: skip
_HOST_FILE_SUFFIXES = (
    "", ".txt", ".out", ".log", ".conf", ".cfg", ".sh", ".env", ".yaml", ".yml", ".service", ".rules", ".sbatch",
    ".slurm",
)  # fmt: skip
HOSTS_FOLDER = "hosts"
COMMENTS: Mapping[str, CommentSyntax] = {".yaml": "yaml", ".yml": "yaml", "": "shell"}
"""By how their names end, how files have comments."""
_HEAD_CHARACTERS = 65_536
"""In how many characters a file shows its form."""
MAX_HOST_FILE_BYTES = 4_000_000
"""What a file of a host may hold."""


def may_be_host_file(suffix: str) -> bool:
    """Whether a file with such an ending is looked at in a folder."""
    return suffix in _HOST_FILE_SUFFIXES


def host_name_of_path(path: Path) -> str:
    """Return for whom a file is meant: its folder's name, in a folder `hosts` its own up to a dot."""
    return path.name.lstrip(".").partition(".")[0] if path.parent.name == HOSTS_FOLDER else path.parent.name


def has_nic_settings(file_head: bytes) -> bool:
    """Whether a file with this beginning has NIC settings."""
    return _find_file_kind(file_head.decode("utf-8", "replace")) is not None


def is_command_output(file_content: bytes) -> bool:
    """Whether a command printed a file, or one of its lines with settings: a change of it has no effect then."""
    text = file_content.decode("utf-8", "replace")
    form = _find_file_kind(text[:_HEAD_CHARACTERS])
    return form is None or form.printed or any(map(commands.SYSFS_LISTING_LINE.match, text.splitlines()))


def _find_file_kind(text: str) -> HostFileKind | None:
    return next((form for form in _FILE_KINDS if form.shows(text)), None)


def describe_application(name: str, file_content: bytes) -> str:
    """Return what puts a change of a file into effect; "" where its form is not known."""
    form = _find_file_kind(file_content.decode("utf-8", "replace")[:_HEAD_CHARACTERS])
    return form.then.format(name=name) if form else ""


def parse_host_file(file_content: bytes, display: str) -> tuple[HostFileContent, ...]:
    """Return the settings of a file, by their target; raise InputProblems where it is no text, or not of its form."""
    text = decode_utf8(file_content, display)
    form = _find_file_kind(text[:_HEAD_CHARACTERS])
    try:
        return form.parse(text) if form else ()
    except InputProblems as error:
        raise InputProblems(replace(problem, path=display) for problem in error.problems) from None


def read_host(name: str, bundle: Iterable[tuple[Source, bytes]]) -> HostReading:
    """Read the files of a host, or of the NIC model or hosts that `name` means."""
    nics: list[Nic] = []
    sources: list[Source] = []
    remarks: list[Remark] = []
    problems: list[Problem] = []
    notes: list[Note] = []
    derived: dict[Subject, str] = {}
    for source, raw in bundle:
        sources.append(source)
        try:
            everything = parse_host_file(raw, source.display)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        for parsed_facts in everything:
            remarks += (
                Remark(
                    kind=one.kind, subject=(name, source.name), place=FilePlace(source.name, one.span), facts=one.facts
                )
                for one in parsed_facts.noticed
            )
            notes += (
                Note(kind=note.kind, message=note.message, device=name, file=source.display, line=note.span.line)
                for note in parsed_facts.notes
            )
            for nic, facts in _build_nics(name, source.name, parsed_facts):
                nics.append(nic)
                derived |= {(*nic.subject, field): fact.default for field, fact in facts.items() if fact.default}
    return HostReading(
        name=name,
        nics=tuple(nics),
        sources=tuple(sources),
        remarks=tuple(remarks),
        notes=tuple(notes),
        problems=tuple(problems),
        derived=derived,
    )


def _build_nics(host: str, file: str, parsed_facts: HostFileContent) -> Iterator[tuple[Nic, dict[str, NicFact]]]:
    for nic_part, facts in parsed_facts.parts.items():
        nic_fields = {field: fact.value for field, fact in facts.items()}
        yield (
            Nic(
                host=host,
                file=file,
                part=nic_part,
                models=parsed_facts.part_models.get(nic_part, parsed_facts.models),
                pci_addresses=parsed_facts.pci_addresses,
                node_selector=parsed_facts.node_selector,
                **nic_fields,
            ),
            facts,
        )
