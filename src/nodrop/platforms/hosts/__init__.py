"""Files of hosts with NIC settings: recognised by their content, read into `Nic`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.model.nics import Nic
from nodrop.model.reading import HostReading, Note, Place, Remark, Source
from nodrop.model.subject import Subject
from nodrop.platforms.hosts import boot, commands, firmware, modprobe, nvme, pcie, qos_output, sriov, template
from nodrop.platforms.hosts.facts import Fact, Form, Parsed
from nodrop.syntax.comments import Syntax
from nodrop.syntax.places import decode

_FORMS = (
    template.FORM, sriov.FORM, firmware.FORM, firmware.REGISTER, qos_output.FORM, pcie.FORM, commands.FORM, boot.FORM,
    modprobe.FORM, nvme.SECTIONS, nvme.ARGUMENTS,
)  # fmt: skip
_SUFFIXES = (
    "", ".txt", ".out", ".log", ".conf", ".cfg", ".sh", ".env", ".yaml", ".yml", ".service", ".rules", ".sbatch",
    ".slurm",
)  # fmt: skip
FOLDER = "hosts"
COMMENTS: Mapping[str, Syntax] = {".yaml": "yaml", ".yml": "yaml", "": "shell"}
"""By how their names end, how files have comments."""
_HEAD = 65_536
"""In how many characters a file shows its form."""
MAX_BYTES = 4_000_000
"""What a file of a host may hold."""


def may_be(suffix: str) -> bool:
    """Whether a file with such an ending is looked at in a folder."""
    return suffix in _SUFFIXES


def name_of(path: Path) -> str:
    """Return for whom a file is meant: its folder's name, in a folder `hosts` its own up to a dot."""
    return path.name.lstrip(".").partition(".")[0] if path.parent.name == FOLDER else path.parent.name


def detect(file_head: bytes) -> bool:
    """Whether a file with this beginning has NIC settings."""
    return _find_form(file_head.decode("utf-8", "replace")) is not None


def is_printed(file_content: bytes) -> bool:
    """Whether a command printed a file, or one of its lines with settings: a change of it has no effect then."""
    text = file_content.decode("utf-8", "replace")
    form = _find_form(text[:_HEAD])
    return form is None or form.printed or any(map(commands.LISTING.match, text.splitlines()))


def _find_form(text: str) -> Form | None:
    return next((form for form in _FORMS if form.shows(text)), None)


def parsed(file_content: bytes, display: str) -> tuple[Parsed, ...]:
    """Return the settings of a file, by their target; raise InputProblems where it is no text, or not of its form."""
    text = decode(file_content, display)
    form = _find_form(text[:_HEAD])
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
            everything = parsed(raw, source.display)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        for parsed_facts in everything:
            remarks += (
                Remark(kind=one.kind, subject=(name, source.name), place=Place(source.name, one.span), facts=one.facts)
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


def _build_nics(host: str, file: str, parsed_facts: Parsed) -> Iterator[tuple[Nic, dict[str, Fact]]]:
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
