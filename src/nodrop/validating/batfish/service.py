"""A Batfish service, spoken to through pybatfish: snapshots go up, questions are answered in plain rows.

pybatfish brings pandas along, so it is imported when a service is asked for and never before. Whatever goes wrong on
the way is one ServiceUnavailable with a sentence; nothing waits longer than a stated time.
"""

import hashlib
import importlib.metadata
import io
import ipaddress
import json
import logging
import re
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any, Final, NoReturn

from nodrop.errors import ServiceUnavailable
from nodrop.model.fabric import End
from nodrop.units import parse_whole_number
from nodrop.validating.batfish.watching import ConnectionWatch

if TYPE_CHECKING:
    from pybatfish.client.session import Session

AnswerRow = Mapping[str, Any]
"""A row of an answer as the service's JSON has it; an interface is `{"hostname": …, "interface": …}`."""

BATFISH_PORT: Final = 9996
"""The one port of a Batfish service (coordinator, API version 2)."""
MIN_API_VERSION: Final = (2, 1)
"""The oldest version of that API which the library speaks to (pybatfish 2026.9)."""
MIN_PYBATFISH_VERSION: Final = (2026, 9)
"""The oldest release of pybatfish whose sessions are made as here: the year and the month."""
VERSION_ANSWER_TIMEOUT_S: Final = 5.0
"""How long a service may take to say who it is."""
SILENCE_TIMEOUT_S: Final = 60.0
"""How long it may be silent within an answer: a Java machine that collects garbage is."""
DELETE_TIMEOUT_S: Final = 5.0
"""How long deleting what was made there may take."""
OPERATION_LIMIT_S: Final = 900.0
"""How long one snapshot or one question may take: twenty times what a fabric of 200 switches takes."""

_NO_SOURCES_MESSAGE: Final = "No sources are compatible with the headerspace"
"""How Batfish answers a question about packets that nobody can send: with an exception."""
_SERVICE_ADDRESS_PATTERN: Final = re.compile(
    r"(?:\[(?P<inside>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:/@?#\[\]]+))(?::(?P<port>[0-9]{1,5}))?|(?P<address>[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)"
)


class _OperationTimedOut(Exception):
    """The time for an operation is over."""


class BatfishService:
    """A service at HOST or HOST:PORT, with a separate network there while it is entered.

    The network is deleted at the end in any case. `versions` names those of both sides. Raises ServiceUnavailable if
    there is no pybatfish, nobody answers, or another program does.
    """

    def __init__(
        self, where: str, *, limit_s: float = OPERATION_LIMIT_S, progress: Callable[[str], None] | None = None
    ) -> None:
        self.host, self.port = _parse_host_and_port(where)
        self.limit_s, self._watch = limit_s, ConnectionWatch(progress)
        self._shown = f"[{self.host}]" if ":" in self.host else self.host
        self.network = f"nodrop-{uuid.uuid4()}"
        self.versions = ""
        self._until: float | None = None

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"Batfish at {self._shown}:{self.port}"

    def __enter__(self) -> "BatfishService":
        library = _require_pybatfish_version()
        self.versions = f"Batfish {self._ask_service_version()}, pybatfish {library}"
        self._session = self._connect_session()
        try:
            with self.limit_time("a network"):
                self._session.set_network(self.network)
        except BaseException:
            self._delete_network()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._delete_network()

    def load_snapshot(self, files: Mapping[str, str | bytes], name: str = "") -> "LoadedSnapshot":
        """Upload files and have them parsed; the name of the snapshot identifies its contents."""
        name = name or snapshot_name(files)
        archive: Any = io.BytesIO(zip_snapshot(files))  # which it takes, though it says that it wants a path
        with self.limit_time(f"the snapshot of {len(files)} files"):
            self._session.init_snapshot(archive, name=name, overwrite=True)
        return LoadedSnapshot(self, name)

    def fork_without(
        self, base: "LoadedSnapshot", name: str, nodes: Sequence[str] = (), ports: Sequence[End] = ()
    ) -> "LoadedSnapshot":
        """Make a snapshot of another, without some nodes and ports, by Batfish's names."""
        from pybatfish.datamodel.primitives import Interface

        off = [Interface(port.node, port.port) for port in ports]
        with self.limit_time(f"the snapshot {name}"):
            self._session.fork_snapshot(
                base.name, name, overwrite=True, deactivate_nodes=list(nodes) or None, deactivate_interfaces=off or None
            )
        return LoadedSnapshot(self, name)

    def delete_snapshot(self, snapshot: "LoadedSnapshot") -> None:
        """Delete a snapshot; of many failures each needs its own."""
        with self.limit_time(f"deleting {snapshot.name}"):
            self._session.delete_snapshot(snapshot.name)

    def ask(
        self, question: str, snapshot: str, reference: str | None = None, **parameters: object
    ) -> Sequence[AnswerRow]:
        """Ask a question by its name; the rows of its table."""
        from pybatfish.exception import BatfishException

        with self.limit_time(question):
            template = getattr(self._session.q, question, None)
            if template is None:
                raise ServiceUnavailable(f"{self.name} does not know the question {question}; is it an old release?")
            try:
                return _answer_rows(template(**parameters).answer(snapshot=snapshot, reference_snapshot=reference))
            except BatfishException as error:
                if _NO_SOURCES_MESSAGE in str(error):
                    return ()
                raise

    @contextmanager
    def limit_time(self, what: str) -> Iterator[None]:
        """Limit the time of an operation, and report its failure in one sentence."""
        from pybatfish.exception import BatfishException
        from requests import RequestException

        self._until = time.monotonic() + self.limit_s
        try:
            with self._watch.watch_operation(what, self.limit_s) as late:
                yield
        except (_OperationTimedOut, RequestException, BatfishException, ValueError) as error:
            if late.is_set() or isinstance(error, _OperationTimedOut):
                raise ServiceUnavailable(f"{self.name} did not finish {what} in {self.limit_s:.0f} s") from None
            self._raise_service_unavailable(what, error)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            self._raise_service_unavailable(what, error)
        finally:
            self._until = None

    def _raise_service_unavailable(self, operation: str, error: Exception) -> NoReturn:
        from pybatfish.exception import BatfishException
        from requests import RequestException

        if isinstance(error, RequestException):
            raise ServiceUnavailable(
                f"{self.name} stopped answering at {operation}: {_innermost_reason(error)}"
            ) from None
        if isinstance(error, BatfishException):
            raise ServiceUnavailable(
                f"{self.name} failed at {operation}: {_most_telling_log_line(str(error))}"
            ) from None
        raise ServiceUnavailable(
            f"{self.name} answered {operation} with something else: {_most_telling_log_line(str(error))}"
        ) from None

    def _ask_service_version(self) -> str:
        """Return the version that the service reports, asked without any library, to detect a wrong one."""
        try:
            status, text = self._http_get("/v2/version")
        except TimeoutError:
            raise ServiceUnavailable(
                f"nothing answered at {self._shown}:{self.port} within {VERSION_ANSWER_TIMEOUT_S:.0f} s"
            ) from None
        except (OSError, HTTPException) as error:
            why = f"{getattr(error, 'strerror', None) or _most_telling_log_line(str(error)) or type(error).__name__}"
            raise ServiceUnavailable(
                f"no Batfish answers at {self._shown}:{self.port}: {why}{self._hint_to_start_service}"
            ) from None
        answer: object = None
        with suppress(ValueError):
            answer = json.loads(text)
        if status != 200 or not isinstance(answer, dict) or "Batfish" not in answer:
            old = f"an old release, or its port of API version 1; Batfish listens on {BATFISH_PORT} since then"
            answer_text = f"HTTP status {status}" if status != 200 else "no version of Batfish"
            raise ServiceUnavailable(
                f"what answers at {self._shown}:{self.port} is no Batfish of today: {answer_text} ({old})"
            )
        api = str(answer.get("api_version", "2.0"))
        numbers = tuple(number for digits in api.split(".")[:2] if (number := parse_whole_number(digits)) is not None)
        if numbers < MIN_API_VERSION:
            minimum_api = ".".join(map(str, MIN_API_VERSION))
            raise ServiceUnavailable(f"{self.name} is too old: it has API {api}, {minimum_api} or later is needed")
        return str(answer["Batfish"])

    @property
    def _hint_to_start_service(self) -> str:
        """Return how to start a service, where it should be on this machine."""
        is_local = self.host == "localhost"
        with suppress(ValueError):
            is_local = ipaddress.ip_address(self.host).is_loopback
        return f" (docker run --rm -p 127.0.0.1:{self.port}:{BATFISH_PORT} batfish/batfish)" if is_local else ""

    def _http_get(self, path: str) -> tuple[int, bytes]:
        connection = HTTPConnection(self.host, self.port, timeout=VERSION_ANSWER_TIMEOUT_S)
        try:
            with self._watch.watch_operation("its version", VERSION_ANSWER_TIMEOUT_S) as late:
                connection.connect()
                self._watch.remember_connection(connection.sock)
                connection.request("GET", path, headers={"X-Batfish-Apikey": "0" * 32, "X-Batfish-Version": "2026.1.1"})
                answer = connection.getresponse()
                text = answer.read()
            if late.is_set():
                raise TimeoutError
            return answer.status, text
        except (OSError, HTTPException):
            if late.is_set():
                raise TimeoutError from None
            raise
        finally:
            connection.close()

    def _connect_session(self) -> "Session":
        from pybatfish.client import restv2helper
        from pybatfish.client.session import Session
        from requests import PreparedRequest, Response
        from requests.adapters import HTTPAdapter
        from urllib3 import HTTPConnectionPool, Retry
        from urllib3.connection import HTTPConnection as Connection

        service = self

        class CuttableConnection(Connection):
            """A connection that is cut when the time is over."""

            def connect(self) -> None:
                super().connect()
                if self.sock is not None:
                    service._watch.remember_connection(self.sock)

        class CuttableConnectionPool(HTTPConnectionPool):
            ConnectionCls = CuttableConnection

        class TimeLimitedAdapter(HTTPAdapter):
            """Requests of an operation with a time limit, straight to the service, regardless of proxies."""

            def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
                super().init_poolmanager(*arguments, **options)
                self.poolmanager.pool_classes_by_scheme = {"http": CuttableConnectionPool}

            def send(self, request: PreparedRequest, *_: object, **options: Any) -> Response:
                remaining_silent_s = SILENCE_TIMEOUT_S if service._until is None else service._until - time.monotonic()
                if remaining_silent_s <= 0:
                    raise _OperationTimedOut
                options.update(
                    timeout=(VERSION_ANSWER_TIMEOUT_S, min(remaining_silent_s, SILENCE_TIMEOUT_S)), proxies={}
                )
                return super().send(request, **options)

        class UndecodedSession(Session):
            """A session whose answers stay as they came: a data frame of a fabric's routes takes a minute to make."""

            def get_answer(self, question: str, snapshot: str, reference_snapshot: str | None = None) -> Any:
                where = {"snapshot": snapshot, "referenceSnapshot": reference_snapshot}
                return restv2helper.get_answer(self, question, where)

        for logger in ("pybatfish", "urllib3"):
            logging.getLogger(logger).addHandler(logging.NullHandler())
        self._prefix = f"http://{self._shown}:{self.port}/"
        self._transports = (restv2helper._requests_session, restv2helper._requests_session_fail_fast)
        for transport in self._transports:
            transport.mount(
                self._prefix, TimeLimitedAdapter(max_retries=Retry(2, backoff_factor=0.2, raise_on_status=False))
            )
        try:
            with self.limit_time("its list of questions"):
                return UndecodedSession(host=self._shown, port=self.port, ssl=False)
        except BaseException:
            self._unmount_adapters()
            raise

    def _delete_network(self) -> None:
        """Delete the network, and no word of it: what went wrong before matters more, and a dead service has none."""
        self._until = time.monotonic() + DELETE_TIMEOUT_S
        with suppress(Exception), self._watch.watch_operation("deleting what was made", DELETE_TIMEOUT_S):
            self._session.delete_network(self.network)
        self._until = None
        self._unmount_adapters()

    def _unmount_adapters(self) -> None:
        for transport in self._transports:
            adapter = transport.adapters.pop(self._prefix, None)
            if adapter is not None:
                adapter.close()


class LoadedSnapshot:
    """A snapshot in a service."""

    def __init__(self, service: BatfishService, name: str) -> None:
        self.service, self.name = service, name

    def ask(
        self, question: str, *, reference: "LoadedSnapshot | None" = None, **parameters: object
    ) -> Sequence[AnswerRow]:
        """Ask a question of it by Batfish's name, against another snapshot where the question compares two.

        Constraints on headers and paths are mappings: `headers={"ipProtocols": ["UDP"], "dstPorts": "4791"}`.
        """
        return self.service.ask(question, self.name, None if reference is None else reference.name, **parameters)

    def fork_without(self, name: str, *, nodes: Sequence[str] = (), ports: Sequence[End] = ()) -> "LoadedSnapshot":
        """Return the same without some nodes and ports."""
        return self.service.fork_without(self, name, nodes, ports)

    def delete_snapshot(self) -> None:
        """Delete it."""
        self.service.delete_snapshot(self)


def snapshot_name(files: Mapping[str, str | bytes]) -> str:
    """Return the name of a snapshot of these files: an answer recorded for others cannot be taken for theirs."""
    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        content = data.encode() if isinstance(data, str) else data
        digest.update(f"{len(path.encode())} {path} {len(content)} ".encode() + content)
    return f"s-{digest.hexdigest()[:16]}"


def zip_snapshot(files: Mapping[str, str | bytes]) -> bytes:
    """Return the files as Batfish takes them: one folder in an archive. The same files give the same bytes."""
    bytes_io = io.BytesIO()
    with zipfile.ZipFile(bytes_io, "w") as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"snapshot/{path}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=1)
    return bytes_io.getvalue()


def _parse_host_and_port(where: str) -> tuple[str, int]:
    """HOST, HOST:PORT or [ADDRESS]:PORT; ServiceUnavailable where it is none of them."""
    match = _SERVICE_ADDRESS_PATTERN.fullmatch(where)
    number = int(match["port"] or BATFISH_PORT) if match else 0
    if not match or not 0 < number < 65536:
        raise ServiceUnavailable(
            f"{where} names no service: HOST or HOST:PORT is expected, as 127.0.0.1:{BATFISH_PORT}"
        )
    return match["inside"] or match["address"] or match["host"], number


def _require_pybatfish_version() -> str:
    """Return the version of pybatfish; ServiceUnavailable where there is none, or an old one."""
    try:
        import pybatfish.client.session  # noqa: F401
    except ImportError as error:
        missing = "" if error.name == "pybatfish" else f" ({error.name} is missing)"
        hint = f"asking Batfish needs pybatfish{missing}: pip install nodrop[batfish]"
        raise ServiceUnavailable(hint) from None
    version = importlib.metadata.version("pybatfish")
    numbers = tuple(number for text in version.split(".")[:2] if (number := parse_whole_number(text)) is not None)
    if numbers < MIN_PYBATFISH_VERSION:
        oldest = ".".join(map(str, MIN_PYBATFISH_VERSION))
        hint = f"{oldest} or later is needed: pip install --upgrade nodrop[batfish]"
        raise ServiceUnavailable(f"pybatfish {version} is too old: {hint}")
    return version


def _answer_rows(answer: object) -> Sequence[AnswerRow]:
    """Return the rows of the table that an answer holds."""
    if not isinstance(answer, dict):
        raise ValueError("not an answer")
    if answer.get("status") not in (None, "SUCCESS"):
        raise ValueError(f"status {answer.get('status')}: {answer.get('summary', '')}")
    table = answer["answerElements"][0]
    if "metadata" not in table:
        raise ValueError("not a table")
    rows = table.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("not rows")
    return rows


def _innermost_reason(error: Exception) -> str:
    """Return the innermost reason of an error of requests."""
    reason: BaseException = error
    while True:
        inner = getattr(reason, "reason", None) or next(filter(_is_exception, reason.args), None)
        if not isinstance(inner, BaseException):
            return _most_telling_log_line(str(reason))
        reason = inner


def _is_exception(argument: object) -> bool:
    return isinstance(argument, Exception)


def _most_telling_log_line(text: str) -> str:
    """Return the most informative line of a log: the innermost exception, else the last; at most 200 characters."""
    lines = [line.strip().removeprefix("Caused by: ") for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("{")]
    raised = [line for line in lines if "Exception: " in line or "Error: " in line]
    return ((raised or lines or ["nothing"])[-1])[:200]
