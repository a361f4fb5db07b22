"""What is typed for a host: lines in the form of the file that they go to, and none that may hold a secret."""

import pytest

from nodrop.model.change import EditResult
from nodrop.platforms.hosts.command_lines import commands_of_edit, format_job_file_lines


@pytest.mark.parametrize(
    ("name", "text", "command", "lines"),
    [
        ("job.env", "# NCCL\nNCCL_DEBUG=WARN\n", "export NCCL_IB_TC=106", ("# in job.env:", "NCCL_IB_TC=106")),
        (
            "job.sh",
            "export NCCL_DEBUG=WARN\nsrun ./train\n",
            "export NCCL_IB_TC=106",
            ("# in job.sh before the job starts:", "export NCCL_IB_TC=106"),
        ),
        (
            "job.sh",
            "hostname\nNCCL_SHM_DISABLE=1 NCCL_P2P_DISABLE=1 srun ./train\nexport NCCL_SHM_DISABLE=1\n",
            "unset NCCL_P2P_DISABLE NCCL_SHM_DISABLE",
            (
                "# in job.sh before the job starts:",
                "# delete NCCL_P2P_DISABLE and NCCL_SHM_DISABLE from lines 2 and 3",
            ),
        ),
        (
            "job.sh",
            "source nccl.env\nsrun ./train NCCL_SHM_DISABLE=1\n",
            "unset NCCL_SHM_DISABLE",
            ("# in job.sh before the job starts:", "unset NCCL_SHM_DISABLE"),
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
    )


def test_no_line_that_may_hold_a_secret_is_shown() -> None:
    old, new = b"SSHPASS_PASSWORD=abc mlnx_qos --pfc 0\n", b"SSHPASS_PASSWORD=abc mlnx_qos --pfc 1\n"
    assert commands_of_edit({"nic.sh": old}, EditResult(files={"nic.sh": new})) == ()
