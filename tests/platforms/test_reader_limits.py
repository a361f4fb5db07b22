"""Files that mean more than a reader takes are refused with what was found and what is expected."""

from pathlib import Path

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.intent import load
from nodrop.platforms.hosts import template
from nodrop.platforms.kit import translating

TEMPLATE = """\
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata:
  name: n{}
spec:
  nicSelector: {{nicType: "1021"}}
  template: {{numVfs: 8, linkType: Ethernet}}
"""


def test_lists_of_ports_written_out_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "qos_features.conf"
    path.write_text("pfc.port_group_list = [a]\npfc.a.port_set = swp1-swp9\npfc.a.cos_list = [3]\n")
    assert len(nodrop.read([str(path)], platform="cumulus").fabric.devices[0].interfaces) == 9
    monkeypatch.setattr(translating, "MAX_COMMANDS_PER_FILE", 1)
    reading = nodrop.read([str(path)], platform="cumulus")
    assert [(one.path, one.expected) for one in reading.problems] == [(str(path), "at most 1")]
    assert reading.problems[0].found.endswith(" settings, lists and ranges of ports written out")


def test_faults_of_an_intent_are_listed_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text("nodrop: 1\n" + "".join(f"x{number}: 1\n" for number in range(9)))
    with pytest.raises(InputProblems) as every:
        nodrop.load(path)
    monkeypatch.setattr(load, "MAX_REMARKS_PER_SWITCH", 3)
    with pytest.raises(InputProblems) as some:
        nodrop.load(path)
    *listed, rest = sorted(some.value.problems, key=lambda one: one.line is None)
    assert set(listed) < set(every.value.problems)
    assert (len(listed), rest.message) == (
        3,
        f"{len(every.value.problems) - 3} more faults (correct the listed ones first)",
    )


def test_templates_of_one_file_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hosts" / "gpu1.yaml"
    path.parent.mkdir()
    path.write_text("---\nkind: Other\n---\n" + "---\n".join(map(TEMPLATE.format, range(3))))
    assert not nodrop.read([str(tmp_path)]).problems
    monkeypatch.setattr(template, "MAX_NIC_TEMPLATES_PER_FILE", 2)
    (problem,) = nodrop.read([str(tmp_path)]).problems
    assert (problem.path, problem.line, problem.found) == (str(path), 20, "more than 2 templates")


def test_faults_beyond_all_details_are_counted_and_the_first_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text("nodrop: 1\n" + "".join(f"x{number}: 1\n" for number in range(9)))
    monkeypatch.setattr(load, "MAX_DETAILED_SCHEMA_CHECKS", 5)
    with pytest.raises(InputProblems) as found:
        nodrop.load(path)
    *listed, rest = sorted(found.value.problems, key=lambda one: (one.line is None, one.line))
    assert [(one.line, one.where) for one in listed] == [(number + 2, f"x{number}") for number in range(4)]
    assert rest.message.endswith(" more faults (correct the listed ones first)")
    monkeypatch.setattr(load, "MAX_DETAILED_SCHEMA_CHECKS", 1)
    with pytest.raises(InputProblems) as found:
        nodrop.load(path)
    (rest,) = found.value.problems
    assert rest.found.endswith(" faults")
    assert "more" not in rest.found
