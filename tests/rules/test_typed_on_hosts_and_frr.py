"""The remedies for files of hosts, and for files of FRR alone or beside tables of a switch, end their findings.

The files are those of a build that is in order. Each of their lines is changed in turn (`support/typed_sweeps.py`); the
commands of what is then found are typed on that copy, which is read again.
"""

from collections.abc import Mapping

import pytest

from nodrop import platforms
from nodrop.errors import NodropError
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading, Source
from support.places import TESTS
from support.single_faults import Fault, inject, reading_of
from support.typed_sweeps import changed_lines, found_in, identities, remedies_that_fail
from support.typed_trials import type_all

BUILD = Fault({"of": "sweep", "fault": "none", "sonic": {"set": {}}}, "sonic", "")
TABLE = TESTS / "rules" / "not_ended_on_hosts_and_frr.txt"
LEAST_ENDED = {"hosts": 24, "frr alone": 2, "frr beside tables": 44}
"""Changed files of which a rule's findings print commands, at least."""
JOB = (
    "#!/bin/sh\nexport NCCL_IB_TC=106\nexport NCCL_IB_ROCE_VERSION_NUM=2\nexport UCX_IB_TRAFFIC_CLASS=106\n"
    "srun ./train\n"
)


def _read_build(files: Mapping[str, str]) -> Reading:
    return reading_of(BUILD, files)


def _read_frr(files: Mapping[str, str]) -> Reading:
    readings = [
        platforms.reader("sonic").read_device(
            name.partition("/")[0], [(Source(name="frr.conf", display=name, held=text.encode()), text.encode())]
        )
        for name, text in files.items()
    ]
    return assemble_fabric(readings, DeclaredFacts())


@pytest.mark.nightly
def test_commands_typed_on_changed_files_of_hosts_and_frr_end_what_is_found(update_golden: bool) -> None:
    built = {**inject(BUILD), "hosts/gpu1/job.sh": JOB}
    routing = {name: text for name, text in built.items() if name.endswith("frr.conf")}
    of_hosts = [name for name in built if name.startswith("hosts/")]
    of_frr = ["leaf1/frr.conf", "spine1/frr.conf"]
    sweeps = {
        "hosts": (built, of_hosts, _read_build),
        "frr alone": (routing, of_frr, _read_frr),
        "frr beside tables": (built, of_frr, _read_build),
    }
    lines, ended = [], dict.fromkeys(sweeps, 0)
    for kind, (files, names, read) in sweeps.items():
        clean = identities(found_in(read(files)))
        for change, changed in changed_lines(files, names):
            try:
                failures = [*remedies_that_fail(changed, read, type_all, clean)]
            except NodropError:
                continue
            ended[kind] += failures.count("")
            lines += [f"{kind}: {change}: {failure}\n" for failure in failures if failure]
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)
    assert {kind: count for kind, count in ended.items() if count < LEAST_ENDED[kind]} == {}
