"""Environment variables of NCCL, NVSHMEM and UCX: settings, and libraries sending RDMA without a traffic class.

Sources: NVIDIA/nccl docs/userguide/source/env.rst and src/transport/net_ib (gin.cc: NCCL_GIN_IB_TC, else NCCL_IB_TC);
NVIDIA/nvshmem src/modules/transport/common/env_defs.h (IB_TRAFFIC_CLASS is 0 unless set) and ibgda.cpp; OpenUCX,
src/uct/ib/base/ib_iface.c (IB_TRAFFIC_CLASS).
"""

import re
from collections.abc import Callable, Iterator, Mapping

from nodrop.platforms.hosts.facts import HostFileContent, parse_byte, parse_number
from nodrop.syntax.places import Span

RDMA_VARIABLE_PATTERN = re.compile(
    r"""(?m)^[^#\n]*\b(NCCL_(?:IB_|P2P_|SHM_|GIN_)|UCX_(?:IB_|TLS|NET_)|NVSHMEM_IB)[A-Z0-9_]*(?:=|["']?\s*:\s)"""
    r"""|^[^#\n]*\bname["']?\s*:\s*["']?(?:NCCL_IB_|NCCL_GIN_|UCX_(?:IB_|TLS|NET_)|NVSHMEM_IB)"""
)
RDMA_VARIABLE_PREFIXES = ("NCCL_", "UCX_", "NVSHMEM_")
"""Of which a file that has such a variable has one."""

_ASSIGNMENT_PATTERN = re.compile(r"""(?:^|[\s;"'])([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;"']*)""")
_YAML_NAME_LINE = re.compile(
    r"""-?\s*+\{?\s*+["']?name["']?\s*+:\s*+["']?([A-Z][A-Z0-9_]*+)["']?\s*+(?:,\s*+(.*?)\}?)?$"""
)
_YAML_VARIABLE_LINE = re.compile(r"""["']?((?:NCCL|UCX|NVSHMEM)_[A-Z0-9_]*)["']?\s*:\s+["']?([^\s"',]*)["']?,?$""")
_YAML_VALUE_PATTERN = re.compile(r"""["']?value["']?\s*:\s*["']?([^\s"',}]*)""")
_SHELL_DEFAULT_PATTERN = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=]([^}$`]*)\}")
_SOURCED_FILE_PATTERN = re.compile(
    r"(?:^|[;&|]\s*)(?:source|\.)\s+\S*(?:nccl|ucx|nvshmem|roce|rdma|env)\S*", re.IGNORECASE
)
_JOB_LAUNCH_PATTERN = re.compile(r"\b(?:mpirun|mpiexec|srun|torchrun)\b|\s-(?:-host|host|H)[\s=]")
"""A line that starts a job, or a part of its command line that a script keeps in a variable."""
_LOCAL_HOST_OPTION_PATTERN = re.compile(
    r"\s-(?:-host|host|H)[\s=]\s{0,9}[\"']?(?:localhost|127\.0\.0\.1)(?::\d{1,9})?(?![\w.,:-])"
)
_COMMAND_END_PATTERN = re.compile(r"[;|&]")
_SINGLE_NODE_PATTERNS = (
    (re.compile(r"\bsrun\b"), re.compile(r"\s(?:-N\s{0,9}1|--nodes[\s=]1)(?![\w-])")),
    (re.compile(r"\btorchrun\b"), re.compile(r"\s--(?:standalone\b|nnodes[\s=]1(?![\w:]))")),
)
"""Options that keep a job on one host (Slurm srun, PyTorch torchrun).

`_LOCAL_HOST_OPTION_PATTERN` is that of Open MPI mpirun.
"""
_GPU_JOB_PATTERN = re.compile(r"NCCL|nccl|UCX_|torch|_perf\b")
"""What distinguishes a job on GPUs from other programs that are started on all hosts."""
_NCCL_LOOPBACK_VARIABLES = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")
_TRUE_WORDS = ("1", "true", "yes", "y", "on", "t")
_RDMA_UCX_TRANSPORTS = (
    "rc",
    "ud",
    "dc",
    "ib",
    "rc_x",
    "rc_v",
    "ud_x",
    "ud_v",
    "dc_x",
    "rc_mlx5",
    "rc_verbs",
    "dc_mlx5",
)
_GIN_VERBS_TYPES = ("2", "3")
"""NCCL_GIN_TYPE: 2 is the proxy, 3 GDAKI (NVIDIA/nccl src/include/nccl_device/core.h)."""
_NCCL_VERSION_PATTERN = re.compile(
    r"\b(?:NCCL_VERSION=|nvidia-nccl-cu\d{1,3}==|libnccl2=)[\"']?v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})"
)
"""How files state the release of NCCL: the variable of NVIDIA's images, and requirements of pip and apt."""
_NCCL_GIN_SINCE = (2, 28, 7)
"""The first release with GIN (NVIDIA/nccl, commit "NCCL 2.28.7-1": src/gin)."""
_NCCL_GIN_IB_TC_SINCE = (2, 30, 7)
"""The release that reads NCCL_GIN_IB_TC (NVIDIA/nccl issues 2138, of 2.30.4 without it, and 2383, of 2.30.7)."""


_NIC_BY_RDMA_DEVICE = {"bnxt_re": "Thor-2", "ionic": "Pollara-400"}
"""How the RDMA devices of NICs are called on Linux: by its drivers, drivers/infiniband/hw."""
_ROCE_DEVICE_PATTERN = re.compile(r"(?:^|[\W_])(?:roce|bnxt_re|ionic)")
"""Devices of Ethernet only, and those that rdma-core names by their link layer (kernel-boot/rdma_rename.c)."""


def _parse_flag(text: str) -> bool | None:
    return {"1": True, "0": False}.get(text)


_PARSER_BY_VARIABLE: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "NCCL_IB_TC": ("traffic_class", parse_byte),
    "NCCL_IB_FIFO_TC": ("control_traffic_class", parse_byte),
    "NCCL_GIN_IB_TC": ("gin_traffic_class", parse_byte),
    "NVSHMEM_IB_TRAFFIC_CLASS": ("nvshmem_traffic_class", parse_byte),
    "UCX_IB_TRAFFIC_CLASS": ("ucx_traffic_class", parse_byte),
    "NCCL_IB_GID_INDEX": ("gid_index", parse_number),
    "UCX_IB_GID_INDEX": ("gid_index", parse_number),
    "NVSHMEM_IB_GID_INDEX": ("gid_index", parse_number),
    "NCCL_IB_ADDR_FAMILY": ("gid_family", {"AF_INET": "ipv4", "AF_INET6": "ipv6"}.get),
    "NCCL_IB_ROCE_VERSION_NUM": ("roce_version", parse_number),
    "NCCL_IB_QPS_PER_CONNECTION": ("queue_pairs", parse_number),
    "NCCL_CROSS_NIC": ("cross_nic", {"0": False, "1": True, "2": True}.get),
    "NCCL_PXN_DISABLE": ("pxn", {"0": True, "1": False}.get),
    "NCCL_IB_ADAPTIVE_ROUTING": ("nccl_adaptive_routing", _parse_flag),
}


class RdmaEnvironmentVariables:
    """The variables of a file, in the file's order of assignment."""

    def __init__(self, parsed_facts: HostFileContent) -> None:
        self._found = parsed_facts
        self._held: dict[str, tuple[str, Span]] = {}
        self._named = ""
        self._elsewhere = False
        self._nccl_version: tuple[int, ...] | None = None
        self._has_one_host = False
        self._has_plain_job = False

    def read_line(self, line: str, span: Span) -> dict[str, str]:
        """Read a line, and return its assignments as a shell makes them."""
        self._elsewhere = self._elsewhere or _SOURCED_FILE_PATTERN.search(line) is not None
        if (version := _NCCL_VERSION_PATTERN.search(line)) is not None:
            self._nccl_version = tuple(int(part) for part in version.groups())
        self._note_job_launch(line)
        shell = {name: _expand_shell_default(quoted.strip("\"'")) for name, quoted in _ASSIGNMENT_PATTERN.findall(line)}
        for name, value in (*shell.items(), *self._yaml_variables(line)):
            self._record_variable(name, value, span)
        return shell

    def _yaml_variables(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield a variable of a container's specification, or of a mapping."""
        if (listed := _YAML_NAME_LINE.match(line)) is not None:
            self._named = listed[1]
            if listed[2] and (value := _YAML_VALUE_PATTERN.match(listed[2])) is not None:
                yield listed[1], value[1]
            return
        if self._named and (value := _YAML_VALUE_PATTERN.match(line)) is not None:
            yield self._named, value[1]
        elif (keyed := _YAML_VARIABLE_LINE.match(line)) is not None:
            yield keyed[1], keyed[2]
        self._named = ""

    def _record_variable(self, name: str, value: str, span: Span) -> None:
        if not name.startswith((*RDMA_VARIABLE_PREFIXES, "FI_PROVIDER")):
            return
        self._held[name] = value, span
        read = _PARSER_BY_VARIABLE.get(name)
        if read is not None and (stated := read[1](value)) is not None:
            self._found.record_fact("", read[0], stated, span)

    def _note_job_launch(self, line: str) -> None:
        """Note a job that runs on one host, and one that runs before the variables of loopback are set."""
        if line.startswith("#") or _JOB_LAUNCH_PATTERN.search(line) is None:
            return
        self._has_one_host = self._has_one_host or _starts_single_host_job(line)
        is_plain = _GPU_JOB_PATTERN.search(line) is not None and not any(
            self._has_variable(name) or name in line for name in _NCCL_LOOPBACK_VARIABLES
        )
        self._has_plain_job = self._has_plain_job or is_plain

    def _record_gpu_loopback_through_nics(self) -> None:
        """Say whether GPUs of one host talk through its NICs, except in a test: on one host, or with a plain run."""
        if spans := [self._held[name][1] for name in _NCCL_LOOPBACK_VARIABLES if self._has_variable(name)]:
            both_off = all(self._value(name) == "1" for name in _NCCL_LOOPBACK_VARIABLES)
            is_test = self._has_one_host or self._has_plain_job
            self._found.record_fact("", "loopback", both_off and not is_test, max(spans))

    def record_libraries_without_traffic_class(self) -> None:
        """Say which libraries use RDMA and have no traffic class, unless the file takes variables from another one."""
        self._record_gpu_loopback_through_nics()
        adapters = self._value("NCCL_IB_HCA") + self._value("UCX_NET_DEVICES")
        self._found.by_command.update(model for device, model in _NIC_BY_RDMA_DEVICE.items() if device in adapters)
        if (at := self._held.get("NCCL_IB_HCA") or self._held.get("UCX_NET_DEVICES")) and _ROCE_DEVICE_PATTERN.search(
            adapters
        ):
            self._found.record_fact("", "link_layer", "ethernet", at[1])
        if self._has_no_gin():
            self._found.record_fact("", "gin", False, min(span for _, span in self._held.values()))
        if (ibgda := self._held.get("NVSHMEM_IB_ENABLE_IBGDA")) is not None:
            self._found.record_fact("", "ibgda", ibgda[0].lower() in _TRUE_WORDS, ibgda[1])
        users = (
            {}
            if self._elsewhere
            else {name: span for name, span in self._libraries_without_traffic_class() if span is not None}
        )
        if users:
            self._found.record_fact("", "unmarked", tuple(users), min(users.values()))

    def _libraries_without_traffic_class(self) -> Iterator[tuple[str, Span | None]]:
        if not self._has_variable("NCCL_IB_TC"):
            yield (
                "NCCL",
                None
                if self._has_other_transport()
                else self._first_variable_span("NCCL_IB_", except_name="NCCL_IB_DISABLE"),
            )
            if self._nccl_version is not None and self._nccl_version < _NCCL_GIN_IB_TC_SINCE:
                yield (
                    "NCCL GIN before 2.30.7",
                    None
                    if self._has_no_gin()
                    else self._span_enabling_gin() or self._first_variable_span("NCCL_GIN_IB_TC"),
                )
            elif not self._has_variable("NCCL_GIN_IB_TC"):
                yield "NCCL GIN", self._span_enabling_gin()
        if not self._has_variable("NVSHMEM_IB_TRAFFIC_CLASS"):
            yield "NVSHMEM IBGDA", self._span_enabling_ibgda()
        if not self._has_variable("UCX_IB_TRAFFIC_CLASS"):
            yield "UCX", self._span_enabling_ucx_rdma()

    def _has_other_transport(self) -> bool:
        """Whether NCCL does not use its own transport over verbs: none, another plugin, or libfabric."""
        chosen = {self._value("NCCL_NET").lower(), self._value("NCCL_NET_PLUGIN").lower()}
        by_libfabric = any(name.endswith("_PROVIDER") and value == "efa" for name, (value, _) in self._held.items())
        return self._value("NCCL_IB_DISABLE") == "1" or not chosen <= {"", "ib", "none"} or by_libfabric

    def _has_no_gin(self) -> bool:
        """Whether GPUs cannot send by NCCL over verbs: by variables, or for a release that is older than GIN."""
        is_older = self._nccl_version is not None and self._nccl_version < _NCCL_GIN_SINCE
        kind = self._value("NCCL_GIN_TYPE")
        is_off = self._value("NCCL_GIN_ENABLE") == "0" or self._value("NCCL_IB_DISABLE") == "1"
        return bool(self._held) and (is_older or is_off or (kind.isdecimal() and kind not in _GIN_VERBS_TYPES))

    def _span_enabling_gin(self) -> Span | None:
        if self._has_no_gin():
            return None
        kind = self._value("NCCL_GIN_TYPE")
        if kind in _GIN_VERBS_TYPES:
            return self._held["NCCL_GIN_TYPE"][1]
        return self._held["NCCL_GIN_ENABLE"][1] if self._value("NCCL_GIN_ENABLE") == "1" and not kind else None

    def _span_enabling_ibgda(self) -> Span | None:
        on = self._value("NVSHMEM_IB_ENABLE_IBGDA").lower()
        if on:
            return self._held["NVSHMEM_IB_ENABLE_IBGDA"][1] if on in _TRUE_WORDS else None
        return self._first_variable_span("NVSHMEM_IBGDA_")

    def _span_enabling_ucx_rdma(self) -> Span | None:
        transports = self._value("UCX_TLS").lower().split(",")
        if any(transport in _RDMA_UCX_TRANSPORTS for transport in transports):
            return self._held["UCX_TLS"][1]
        return self._first_variable_span("UCX_IB_") if transports == [""] else None

    def _first_variable_span(self, start: str, *, except_name: str = "") -> Span | None:
        return min(
            (span for name, (_, span) in self._held.items() if name.startswith(start) and name != except_name),
            default=None,
        )

    def _has_variable(self, name: str) -> bool:
        return name in self._held

    def _value(self, name: str) -> str:
        return self._held[name][0] if name in self._held else ""


def _starts_single_host_job(line: str) -> bool:
    """Whether a line starts a job on one host, by the options of the command that it is."""
    return _LOCAL_HOST_OPTION_PATTERN.search(line) is not None or any(
        options.search(command, start.end()) is not None
        for command in _COMMAND_END_PATTERN.split(line)
        for program, options in _SINGLE_NODE_PATTERNS
        if (start := program.search(command)) is not None
    )


def _expand_shell_default(text: str) -> str:
    """Return a value, or of a variable with a default (`${NAME:-106}`) the default."""
    default = _SHELL_DEFAULT_PATTERN.fullmatch(text)
    return default[1] if default else text
