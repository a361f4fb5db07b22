"""What is typed for a host: lines in the form of the file that they go to, and none that may hold a secret."""

import pytest

from nodrop.model.change import EditResult
from nodrop.platforms.hosts.command_lines import commands_of_edit, format_job_file_lines

NEXT_JOB = "# a job that runs keeps the old value: start it again"
TEMPLATE = (
    "apiVersion: configuration.net.nvidia.com/v1alpha1\nkind: NicConfigurationTemplate\nmetadata: {{name: nic}}\n"
    "spec: {{template: {{roceOptimized: {{enabled: true, qos: {{trust: dscp, tos: {tos}}}}}}}}}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "command", "lines"),
    [
        (
            "job.env",
            "# NCCL\nNCCL_DEBUG=WARN\n",
            "export NCCL_IB_TC=106",
            ("# in job.env:", "NCCL_IB_TC=106", NEXT_JOB),
        ),
        (
            "job.sh",
            "export NCCL_DEBUG=WARN\nsrun ./train\n",
            "export NCCL_IB_TC=106",
            ("# in job.sh before the job starts:", "export NCCL_IB_TC=106", NEXT_JOB),
        ),
        (
            "job.sh",
            "hostname\nNCCL_SHM_DISABLE=1 NCCL_P2P_DISABLE=1 srun ./train\nexport NCCL_SHM_DISABLE=1\n",
            "unset NCCL_P2P_DISABLE NCCL_SHM_DISABLE",
            (
                "# in job.sh before the job starts:",
                "# delete NCCL_P2P_DISABLE and NCCL_SHM_DISABLE from lines 2 and 3",
                NEXT_JOB,
            ),
        ),
        (
            "job.sh",
            "source nccl.env\nsrun ./train NCCL_SHM_DISABLE=1\n",
            "unset NCCL_SHM_DISABLE",
            ("# in job.sh before the job starts:", "unset NCCL_SHM_DISABLE", NEXT_JOB),
        ),
    ],
)
def test_a_command_takes_the_form_of_its_file(name: str, text: str, command: str, lines: tuple[str, ...]) -> None:
    assert format_job_file_lines(name, text.encode(), [command]) == lines


def test_a_changed_number_is_a_line_in_place_of_another() -> None:
    old = b"#!/bin/sh\n  mlnx_qos -i eth0 --pfc 0,0,0,0,0,0,0,0\n"
    new = b"#!/bin/sh\n  mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n"
    assert commands_of_edit({"nic.sh": old}, EditResult(files={"nic.sh": new})) == (
        "# in nic.sh in place of line 2:",
        "  mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0",
        "# then run nic.sh on the host again",
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "last"),
    [
        ("run.sh", "export NCCL_IB_TC=0\nsrun ./train\n", "export NCCL_IB_TC=106\nsrun ./train\n", NEXT_JOB),
        ("nic.sh", "TOS=0\ncma_roce_tos -d mlx5_0 -t $TOS\n", "TOS=106\ncma_roce_tos -d mlx5_0 -t $TOS\n", None),
        (
            "nic.yaml",
            TEMPLATE.format(tos=0),
            TEMPLATE.format(tos=106),
            "# then apply it to the cluster, as `kubectl apply -f nic.yaml` does",
        ),
    ],
)
def test_the_last_line_says_what_puts_a_file_into_effect(name: str, old: str, new: str, last: str | None) -> None:
    printed = commands_of_edit({name: old.encode()}, EditResult(files={name: new.encode()}))
    assert printed[-1] == (last or "# then run nic.sh on the host again")


def test_no_line_that_may_hold_a_secret_is_shown() -> None:
    old, new = b"SSHPASS_PASSWORD=abc mlnx_qos --pfc 0\n", b"SSHPASS_PASSWORD=abc mlnx_qos --pfc 1\n"
    assert commands_of_edit({"nic.sh": old}, EditResult(files={"nic.sh": new})) == ()
