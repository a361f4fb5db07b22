"""What is said of a Batfish service that is not there, is another, or goes away: one sentence, within seconds."""

import io
import json
import logging
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nodrop.errors import ServiceUnavailable
from nodrop.validating.batfish import service
from nodrop.validating.batfish.service import BatfishService, snapshot_name, zip_snapshot
from support.patience import clock

pytest.importorskip("pybatfish")

Reply = tuple[int, bytes]
VERSION = json.dumps({"Batfish": "0.36.0", "api_version": "2.1.0"}).encode()
TEMPLATE = {
    "class": "org.batfish.question.ipowners.IpOwnersQuestion",
    "instance": {"description": "Owners.", "instanceName": "ipOwners", "variables": {}},
}
TEMPLATES = json.dumps({"ipOwners": json.dumps(TEMPLATE)}).encode()
ANSWER = {"status": "SUCCESS", "answerElements": [{"metadata": {}, "rows": [{"IP": "10.0.0.1"}]}]}


class Pretender:
    """A service of a few lines. `answers` says what becomes of a request, by method and path; None hangs up."""

    def __init__(self, answers: Callable[[str, str], Reply | None]) -> None:
        self.answers, self.asked = answers, list[str]()
        self.bodies: dict[str, bytes] = {}
        self.released = threading.Event()
        self.starved: frozenset[str] = frozenset()
        """Paths of requests that are answered a byte at a time, without an end."""

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a byte at a time until nobody listens."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not self.released.wait(0.01):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    @contextmanager
    def serving(self) -> Iterator[str]:
        pretender = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self) -> None:
                path = self.path.partition("?")[0]
                pretender.asked.append(f"{self.command} {path}")
                pretender.bodies[path] = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                reply = pretender.answers(self.command, path)
                if reply is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if path in pretender.starved:
                    pretender.drip(self)
                    return
                self.send_response(reply[0])
                self.send_header("Content-Length", str(len(reply[1])))
                self.end_headers()
                self.wfile.write(reply[1])

            def log_message(self, *_: object) -> None:
                pass

        for method in ("GET", "POST", "PUT", "DELETE"):
            setattr(Handler, f"do_{method}", Handler._any)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            self.released.set()
            server.shutdown()
            server.server_close()
            thread.join()


def sound(method: str, path: str) -> Reply | None:
    """What a service answers that has one question."""
    if path == "/v2/version":
        return 200, VERSION
    if path == "/v2/question_templates":
        return 200, TEMPLATES
    if path.endswith("/snapshots") and method == "GET":
        return 200, b"[]"
    if "/work/" in path:
        return 200, b'{"workstatuscode": "TERMINATEDNORMALLY", "task": {}}'
    if path.endswith("/answer"):
        return 200, json.dumps(ANSWER).encode()
    if method == "GET" and path.count("/") == 3:
        return 404, b"no network"
    return 200, b"{}"


def failing(at: str, reply: Reply | None) -> Callable[[str, str], Reply | None]:
    """A service that is sound but for the requests whose method and path hold some text."""
    return lambda method, path: reply if at in f"{method} {path}" else sound(method, path)


def said(where: str, **options: Any) -> str:
    """What is said when a service is asked one question."""
    with pytest.raises(ServiceUnavailable) as raised, BatfishService(where, **options) as made:
        made.load_snapshot({"a": "b"}).ask("ipOwners")
    text = str(raised.value)
    assert "\n" not in text
    return text.replace(where.rpartition(":")[2], "PORT")


def test_a_sound_service_is_asked_and_left_as_it_was() -> None:
    pretender = Pretender(sound)
    with pretender.serving() as where, BatfishService(where) as made:
        assert made.versions.startswith("Batfish 0.36.0, pybatfish 20")
        loaded = made.load_snapshot({"configs/a.cfg": "text"})
        assert loaded.name == snapshot_name({"configs/a.cfg": "text"})
        assert loaded.ask("ipOwners") == [{"IP": "10.0.0.1"}]
        assert f"DELETE /v2/networks/{made.network}" not in pretender.asked
    assert pretender.asked[-1] == f"DELETE /v2/networks/{made.network}"
    sent = pretender.bodies[f"/v2/networks/{made.network}/snapshots/{loaded.name}"]
    with zipfile.ZipFile(io.BytesIO(sent)) as archive:
        assert {one: archive.read(one) for one in archive.namelist()} == {"snapshot/configs/a.cfg": b"text"}


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_the_network_goes_whatever_happens(error: type[BaseException]) -> None:
    pretender = Pretender(sound)
    with pretender.serving() as where, pytest.raises(error), BatfishService(where) as made:
        raise error
    assert pretender.asked[-1] == f"DELETE /v2/networks/{made.network}"


def test_two_snapshots_are_compared_and_forked() -> None:
    pretender = Pretender(sound)
    with pretender.serving() as where, BatfishService(where) as made:
        base = made.load_snapshot({"a": "b"})
        failed = base.fork_without("f1", nodes=["spine1"])
        assert failed.ask("ipOwners", reference=base) == [{"IP": "10.0.0.1"}]
        failed.delete_snapshot()
        forked = json.loads(pretender.bodies[f"/v2/networks/{made.network}/snapshots:fork"])
    assert (forked["snapshotBase"], forked["snapshotNew"], forked["deactivateNodes"]) == (base.name, "f1", ["spine1"])
    assert f"DELETE /v2/networks/{made.network}/snapshots/f1" in pretender.asked


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = clock(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert said(f"127.0.0.1:{port}") == (
        "no Batfish answers at 127.0.0.1:PORT: Connection refused "
        "(docker run --rm -p 127.0.0.1:PORT:9996 batfish/batfish)"
    )
    assert standing.monotonic() < 3


def test_nobody_is_told_to_start_a_service_here_who_asked_another_machine() -> None:
    with pytest.raises(ServiceUnavailable) as raised, BatfishService("batfish.invalid"):
        pass
    assert str(raised.value).startswith("no Batfish answers at batfish.invalid:9996: ")
    assert "docker" not in str(raised.value)


@pytest.mark.parametrize("version", ["2023.12.16.1270", "2026.8.30"])
def test_an_old_library_is_named(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(service.importlib.metadata, "version", lambda _: version)
    with pytest.raises(ServiceUnavailable) as raised, BatfishService("127.0.0.1"):
        pass
    hint = "2026.9 or later is needed: pip install --upgrade nodrop[batfish]"
    assert str(raised.value) == f"pybatfish {version} is too old: {hint}"


def test_somebody_takes_the_call_and_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "VERSION_ANSWER_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert said(f"127.0.0.1:{port}") == "nothing answered at 127.0.0.1:PORT within 0 s"


OLD = "(an old release, or its port of API version 1; Batfish listens on 9996 since then)"
WRONG = {
    "another service": (
        failing("/v2/version", (404, b"not here")),
        f"what answers at 127.0.0.1:PORT is no Batfish of today: HTTP status 404 {OLD}",
    ),
    "a broken one": (
        failing("/v2/version", (500, b"<html>")),
        f"what answers at 127.0.0.1:PORT is no Batfish of today: HTTP status 500 {OLD}",
    ),
    "a web site": (
        failing("/v2/version", (200, b"<html>hello</html>")),
        f"what answers at 127.0.0.1:PORT is no Batfish of today: no version of Batfish {OLD}",
    ),
    "an old release": (
        failing("/v2/version", (200, b'{"Batfish": "0.36.0"}')),
        "Batfish at 127.0.0.1:PORT is too old: it has API 2.0, 2.1 or later is needed",
    ),
    "one without questions": (
        failing("/v2/question_templates", (200, b"{}")),
        "Batfish at 127.0.0.1:PORT does not know the question ipOwners; is it an old release?",
    ),
    "one whose questions are garbage": (
        failing("/v2/question_templates", (200, b"[1")),
        "Batfish at 127.0.0.1:PORT stopped answering at its list of questions: Expecting ',' delimiter",
    ),
    "one that forbids": (
        failing("POST /v2/networks", (403, b"no")),
        "Batfish at 127.0.0.1:PORT stopped answering at a network: 403 Client Error: Forbidden",
    ),
    "one that hangs up at the snapshot": (
        failing("/snapshots/", None),
        "Batfish at 127.0.0.1:PORT stopped answering at the snapshot of 1 files: Remote end closed connection",
    ),
    "one that cannot read the snapshot": (
        failing("GET /v2/networks/N/work/", (200, b'{"workstatuscode": "TERMINATEDABNORMALLY", "task": {}}')),
        "Batfish at 127.0.0.1:PORT failed at the snapshot of 1 files: java.lang.Exception: no",
    ),
    "one that answers a question with garbage": (
        failing("/answer", (200, b"{}")),
        "Batfish at 127.0.0.1:PORT answered ipOwners with something else: 'answerElements'",
    ),
    "one that cannot answer a question": (
        failing("/answer", (200, b'{"status": "FAILURE", "summary": "no", "answerElements": [{}]}')),
        "Batfish at 127.0.0.1:PORT answered ipOwners with something else: status FAILURE: no",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_service_is_told_apart(name: str) -> None:
    answers, expected = WRONG[name]

    def shown(method: str, path: str) -> Reply | None:
        parts = path.split("/")
        if "worklog" in path:
            return 200, b"at org.batfish\njava.lang.Exception: no\n\tat org.batfish.Main"
        return answers(method, "/".join([*parts[:3], "N", *parts[4:]]) if len(parts) > 3 else path)

    with Pretender(shown).serving() as where:
        assert said(where).startswith(expected)


def test_packets_that_nobody_can_send_are_none() -> None:
    """Batfish has an exception for them."""
    asked = []

    def answers(method: str, path: str) -> Reply | None:
        asked.append(path)
        if "worklog" in path:
            return 200, b"Caused by: java.lang.X: No sources are compatible with the headerspace constraint"
        if "/work/" in path and any("/questions/" in one for one in asked):
            return 200, b'{"workstatuscode": "TERMINATEDABNORMALLY", "task": {}}'
        return sound(method, path)

    with Pretender(answers).serving() as where, BatfishService(where) as made:
        assert made.load_snapshot({"a": "b"}).ask("ipOwners") == ()


def test_a_service_that_dies_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pretender(sound).serving() as where:
        made = BatfishService(where).__enter__()
        loaded = made.load_snapshot({"a": "b"})
    standing = clock(monkeypatch)
    with pytest.raises(ServiceUnavailable, match=r"stopped answering at ipOwners: .*Connection refused"):
        loaded.ask("ipOwners")
    made.__exit__()
    assert standing.monotonic() < 5


def test_a_question_that_never_ends() -> None:
    never = failing("/work/", (200, b'{"workstatuscode": "ASSIGNED", "task": {}}'))
    with Pretender(never).serving() as where:
        assert said(where, limit_s=0.5) == "Batfish at 127.0.0.1:PORT did not finish the snapshot of 1 files in 0 s"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["frozen", "starved", "without an end"])
def test_what_never_finishes_ends_in_its_time_and_is_told_meanwhile(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.validating.batfish.watching.PROGRESS_INTERVAL_S", 0.05)
    at = "/v2/question_templates"
    never = failing("/work/", (200, b'{"workstatuscode": "ASSIGNED", "task": {}}'))
    pretender = Pretender(never if how == "without an end" else sound)
    pretender.starved = frozenset({at} if how == "starved" else ())
    if how == "frozen":

        def answers(method: str, path: str) -> Reply | None:
            if path == at:
                pretender.released.wait()
            return sound(method, path)

        pretender.answers = answers
    told: list[str] = []
    with pretender.serving() as where:
        text = said(where, limit_s=0.2, progress=told.append)
    what = "the snapshot of 1 files" if how == "without an end" else "its list of questions"
    assert text == f"Batfish at 127.0.0.1:PORT did not finish {what} in 0 s"
    assert f"waiting for Batfish: {what}, 0 s of at most 0 s" in told


@pytest.mark.parametrize("head", [True, False])
def test_a_service_that_says_who_it_is_byte_by_byte(head: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "VERSION_ANSWER_TIMEOUT_S", 0.15)
    pretender = Pretender(sound)
    pretender.starved = frozenset({"/v2/version"})
    if head:
        monkeypatch.setattr(pretender, "drip", lambda handler: _drip_head(pretender, handler))
    with pretender.serving() as where:
        assert said(where) == "nothing answered at 127.0.0.1:PORT within 0 s"


def _drip_head(pretender: Pretender, handler: BaseHTTPRequestHandler) -> None:
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not pretender.released.wait(0.01):
            handler.wfile.write(b"x")


@pytest.mark.parametrize(
    "where", ["", ":9996", "a b", "host:port", "host:0", "host:99999", "1:2:3:x", "http://host", "[::1"]
)
def test_what_names_no_service(where: str) -> None:
    with pytest.raises(ServiceUnavailable, match=r"HOST or HOST:PORT is expected, as 127.0.0.1:9996"):
        BatfishService(where)


@pytest.mark.parametrize(
    ("where", "host", "port"),
    [
        ("fish", "fish", 9996),
        ("fish:1", "fish", 1),
        ("[::1]:2", "::1", 2),
        ("[::1]", "::1", 9996),
        ("::1", "::1", 9996),
    ],
)
def test_what_names_one(where: str, host: str, port: int) -> None:
    made = BatfishService(where)
    assert (made.host, made.port) == (host, port)


def test_without_the_library_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pybatfish.py").write_text("raise ModuleNotFoundError('no', name='pybatfish')\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from nodrop.validating.batfish.service import BatfishService\n"
        "from nodrop.errors import ServiceUnavailable\n"
        "try: BatfishService('127.0.0.1').__enter__()\n"
        "except ServiceUnavailable as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("asking Batfish needs pybatfish: pip install nodrop[batfish]\n", "")


def test_it_is_quiet_and_leaves_no_transport_behind(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pybatfish.client import restv2helper

    before = dict(restv2helper._requests_session.adapters)
    logging.lastResort, kept = logging.StreamHandler(sys.stderr), logging.lastResort
    try:
        test_a_service_that_dies_in_the_middle(monkeypatch)
    finally:
        logging.lastResort = kept
    assert capfd.readouterr() == ("", "")
    assert dict(restv2helper._requests_session.adapters) == before


def test_the_name_of_a_snapshot_says_what_is_in_it() -> None:
    files = {"a": "b", "c/d": "e"}
    assert (
        snapshot_name(files) == snapshot_name(dict(reversed(files.items()))) == snapshot_name({"a": b"b", "c/d": "e"})
    )
    for other in ({"a": "b"}, {"a": "b", "c/d": "f"}, {"a": "b", "c/e": "e"}, {"a": "bc", "/d": "e"}):
        assert snapshot_name(other) != snapshot_name(files)
    assert zip_snapshot(files) == zip_snapshot(dict(reversed(files.items())))
