# gst-spdl: connection of a trainer with a loader's actor
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The actor listens, and the trainer connects. Both prove that they know the
token, which came through Ray and is not sent. The trainer then sends a byte for
each batch that it wants, and the actor answers each with a frame. While the
trainer waits for a batch, it sends pings, which the actor answers at once."""

import hashlib
import hmac
import os
import select
import socket
import ssl
import struct
import threading
import time
from queue import SimpleQueue
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .._errors import LoaderError
from .._processes.silence import get_interval
from .answers import Certificates, Reply
from .frames import PONG, FrameError, make_frame, receive_frame
from .memory import MemoryPool

_NONCE_SIZE = 32
_PROOF_SIZE = 32
_HELLO = b"spdlray1"
# Messages of the trainer: a request for a batch, and a ping.
_BATCH, _PING = b"b", b"p"

# Time for connecting and for proofs, in s.
_PATIENCE = 10.0
# Connections that may be without a proof. If there are as many, those go that
# have had this time, in s.
_MAX_GUESTS = 64
_HELLO_TIME = 1.0
# mypy for other systems does not know it in the module socket.
_TCP_USER_TIMEOUT = 18

# A peer that does not answer is dead after this time, in s.
_DEAD_AFTER = 5


class LinkError(Exception):
    """The connection was lost, or the other side does not know the token."""


class Silence:
    """Time for which a loader, which owes an answer, has not answered pings."""

    def __init__(self, timeout: float) -> None:
        """@timeout: in s, 0: no limit"""
        self._timeout = timeout
        #: time between two pings, in s
        self.interval = get_interval(timeout)
        self._time = 0.0
        self._last: Optional[float] = None

    def end(self) -> None:
        self._time = 0.0
        self._last = None

    def add(self, interval: float) -> None:
        """Adds an interval without an answer, and raises LinkError at the
        timeout. Time in which this process did not run does not count."""
        now = time.monotonic()
        self._time += (interval if self._last is None else
                       min(now - self._last, 2 * interval))
        self._last = now
        if 0 < self._timeout <= self._time:
            raise LinkError(
                f"it has not answered for {self._time:.1f} s: find out what "
                "stopped its process, or raise worker_timeout="
                f"{self._timeout}")


class _Connection:
    """A socket that one thread reads and others write.

    `on_silence`: called while nothing arrives, each `interval` seconds"""

    def __init__(self, connection: socket.socket,
                 on_silence: Optional[Callable[[], None]] = None,
                 interval: float = 0.0) -> None:
        self._socket = connection
        self._on_silence = on_silence
        self._interval = interval
        self._sending = threading.Lock()
        # OpenSSL does not permit to read and write at the same time.
        self._lock = threading.Lock()
        self._is_tls = isinstance(connection, ssl.SSLSocket)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if connection.getsockname()[0] == connection.getpeername()[0]:
            _use_cache(connection)
        _keep_alive(connection)
        connection.setblocking(not self._is_tls)
        if on_silence:
            connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                struct.pack("ll", int(interval), int(interval % 1 * 1e6)))

    def receive(self, memory: memoryview) -> None:
        """Fills memory."""
        while memory:
            if self._is_tls:
                n = self._try(lambda: self._socket.recv_into(memory))
            else:
                try:
                    n = self._socket.recv_into(memory, len(memory),
                                               socket.MSG_WAITALL)
                except BlockingIOError:
                    assert self._on_silence
                    self._on_silence()
                    continue
            if n == 0:
                raise LinkError("the other side closed the connection")
            memory = memory[n:]

    def send(self, parts: List[Any]) -> None:
        with self._sending:
            self._send(parts)

    def _send(self, parts: List[Any]) -> None:
        if self._is_tls:
            for part in parts:
                left = memoryview(part)
                while left:
                    left = left[self._try(lambda: self._socket.send(left)):]
            return
        views = [memoryview(part) for part in parts if len(part)]
        while views:
            n = self._socket.sendmsg(views)
            while views and n >= len(views[0]):
                n -= len(views.pop(0))
            if n:
                views[0] = views[0][n:]

    def _try(self, call: Callable[[], int]) -> int:
        while True:
            try:
                with self._lock:
                    return call()
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT)

    def _wait(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        if self._on_silence and event == select.POLLIN:
            if not poll.poll(1000 * self._interval):
                self._on_silence()
        else:
            poll.poll()

    def shut_down(self) -> None:
        _shut_down(self._socket)

    def close(self) -> None:
        self.shut_down()
        self._socket.close()


def _shut_down(connection: socket.socket) -> None:
    """Wakes the thread that waits for the other side."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _use_cache(connection: socket.socket) -> None:
    """If both sides are on one machine, makes the buffers so small that batches
    pass through the cache of the processor. Buffers that the kernel chooses are as
    large as a batch, and cost a third more CPU time."""
    for option in socket.SO_SNDBUF, socket.SO_RCVBUF:
        connection.setsockopt(socket.SOL_SOCKET, option, 1 << 18)


def _keep_alive(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 2), (socket.TCP_KEEPINTVL, 1),
                          (socket.TCP_KEEPCNT, _DEAD_AFTER - 2),
                          (_TCP_USER_TIMEOUT, 1000 * _DEAD_AFTER)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _prove(token: bytes, side: bytes, nonces: bytes) -> bytes:
    return hmac.digest(token, side + nonces, "sha256")


def _read_certificate(files: Certificates) -> bytes:
    """Returns the certificate of this side, without those of authorities."""
    with open(files.certificate, encoding="ascii", errors="replace") as file:
        text = file.read()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return ssl.PEM_cert_to_DER_cert(
        begin + text.split(begin, 1)[1].split(end, 1)[0] + end)


def _bind(connection: socket.socket, files: Optional[Certificates],
          is_actor: bool) -> bytes:
    """Returns the text about the encrypted channel in the proofs: the certificates
    at its ends, so a client in between cannot relay the proofs."""
    if not files:
        return b""
    assert isinstance(connection, ssl.SSLSocket)
    ends = [connection.getpeercert(True) or b"", _read_certificate(files)]
    return b"".join(hashlib.sha256(end).digest()
                    for end in (ends if is_actor else reversed(ends)))


def _read(connection: socket.socket, size: int, deadline: float) -> bytes:
    data = b""
    while len(data) < size:
        connection.settimeout(max(deadline - time.monotonic(), 1e-3))
        more = connection.recv(size - len(data))
        if not more:
            raise LinkError("the other side closed the connection")
        data += more
    return data


def _make_context(purpose: int, files: Certificates) -> ssl.SSLContext:
    """Returns a context in which both sides need a certificate of the
    authority. Machines have addresses instead of names."""
    context = ssl.SSLContext(purpose)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(files.certificate, files.key)
    context.load_verify_locations(files.authority)
    return context


class Server:
    """The actor's side, for one session."""

    def __init__(self, host: str, token: bytes, files: Optional[Certificates],
                 get_answer: Callable[[], Union[Reply, LoaderError]]) -> None:
        self._token = token
        self._files = files
        self._context = files and _make_context(ssl.PROTOCOL_TLS_SERVER, files)
        self._get_answer = get_answer
        self._listener = socket.create_server(
            (host, 0),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.address: Tuple[str, int] = self._listener.getsockname()[:2]
        self._lock = threading.Lock()
        self._connection: Optional[_Connection] = None
        self._closed = False
        #: those that have not proved anything, and since when they are there
        self._guests: Dict[socket.socket, float] = {}
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="spdl-server")
        self._thread.start()

    def close(self) -> None:
        """Ends the session. The caller has made get_answer() return."""
        with self._lock:
            self._closed = True
            self._end_accepting()
            if self._connection:
                self._connection.shut_down()
        self._thread.join()

    def _end_accepting(self) -> None:
        """Lock held."""
        for connection in (self._listener, *self._guests):
            _shut_down(connection)

    def _run(self) -> None:
        with self._listener:
            connection = self._accept()
        if not connection:
            return  # closed
        requests: "SimpleQueue[bool]" = SimpleQueue()
        thread = threading.Thread(target=self._answer, daemon=True,
                                  args=(connection, requests),
                                  name="spdl-answers")
        thread.start()
        try:
            received = bytearray(1)
            while not self._closed:
                connection.receive(memoryview(received))
                if received == _PING:
                    connection.send([PONG])
                else:
                    requests.put(True)
        except (OSError, LinkError):
            pass  # The trainer has gone, or replaces this actor.
        finally:
            connection.shut_down()
            requests.put(False)
            thread.join()
            connection.close()

    def _answer(self, connection: _Connection,
                requests: "SimpleQueue[bool]") -> None:
        """Sends a batch for each request."""
        try:
            while requests.get() and not self._closed:
                connection.send(self._make_frame())
        except (OSError, LinkError):
            pass
        finally:
            connection.shut_down()

    def _make_frame(self) -> List[Any]:
        try:
            return make_frame(self._get_answer())
        except Exception as error:  # Another loader would raise it as well.
            return make_frame(LoaderError(f"A batch cannot be sent: {error}"))

    def _accept(self) -> Optional[_Connection]:
        """Waits for the trainer. Other clients are refused, and cannot block the
        trainer while they are connected."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return self._connection
            self._make_room()
            with self._lock:
                self._guests[connection] = time.monotonic()
            threading.Thread(target=self._receive_guest, daemon=True,
                             args=(connection,), name="spdl-guest").start()

    def _make_room(self) -> None:
        """Waits for room for a guest, if there are many."""
        while True:
            with self._lock:
                if len(self._guests) < _MAX_GUESTS or self._closed:
                    return
                for guest, since in self._guests.items():
                    if time.monotonic() >= since + _HELLO_TIME:
                        _shut_down(guest)
            time.sleep(0.01)

    def _receive_guest(self, guest: socket.socket) -> None:
        connection: socket.socket = guest
        try:
            connection = self._check(guest)
            with self._lock:
                if not self._closed and not self._connection:
                    self._connection = _Connection(connection)
                    del self._guests[guest]
                    self._end_accepting()
                    return
        except (OSError, LinkError):
            pass
        with self._lock:
            del self._guests[guest]
        connection.close()

    def _check(self, connection: socket.socket) -> socket.socket:
        deadline = time.monotonic() + _PATIENCE
        connection.settimeout(_PATIENCE)
        if self._context:
            connection = self._context.wrap_socket(connection,
                                                   server_side=True)
        hello = _read(connection, len(_HELLO) + _NONCE_SIZE, deadline)
        if not hello.startswith(_HELLO):
            raise LinkError("no hello")
        nonce = os.urandom(_NONCE_SIZE)
        signed = (hello[len(_HELLO):] + nonce +
                  _bind(connection, self._files, True))
        connection.sendall(nonce + _prove(self._token, b"actor", signed))
        if not hmac.compare_digest(_read(connection, _PROOF_SIZE, deadline),
                                   _prove(self._token, b"trainer", signed)):
            raise LinkError("wrong token")
        return connection


class DirectChannel:
    """The trainer's side."""

    def __init__(self, address: Tuple[str, int], token: bytes,
                 files: Optional[Certificates], pool: MemoryPool,
                 worker_timeout: float) -> None:
        self._pool = pool
        self._silence = Silence(worker_timeout)
        self._is_pinged = False
        try:
            connection = socket.create_connection(address, _PATIENCE)
        except OSError as error:
            raise LinkError(
                f"{address[0]}:{address[1]} cannot be reached ({error}); if "
                "only Ray's ports are open, use transfer=\"store\""
            ) from error
        try:
            if files:
                connection = _make_context(
                    ssl.PROTOCOL_TLS_CLIENT, files).wrap_socket(connection)
            nonce = os.urandom(_NONCE_SIZE)
            connection.sendall(_HELLO + nonce)
            answer = _read(connection, _NONCE_SIZE + _PROOF_SIZE,
                           time.monotonic() + _PATIENCE)
            signed = (nonce + answer[:_NONCE_SIZE] +
                      _bind(connection, files, False))
            if not hmac.compare_digest(answer[_NONCE_SIZE:],
                                       _prove(token, b"actor", signed)):
                raise LinkError("the other side does not know the token")
            connection.sendall(_prove(token, b"trainer", signed))
            self._connection = _Connection(connection, self._ping,
                                           self._silence.interval)
        except ssl.SSLCertVerificationError:
            connection.close()
            raise
        except (OSError, LinkError) as error:
            connection.close()
            raise LinkError(f"{address[0]}:{address[1]} did not accept the "
                            f"connection: {error}") from error

    def request(self) -> None:
        self._connection.send([_BATCH])

    def _ping(self) -> None:
        self._silence.add(self._silence.interval)
        if not self._is_pinged:
            self._is_pinged = True
            self._connection.send([_PING])

    def _fill(self, memory: memoryview) -> None:
        self._connection.receive(memory)
        self._silence.end()

    def receive(self) -> Union[Reply, LoaderError]:
        try:
            while True:
                answer = receive_frame(self._fill, self._pool.take)
                if answer is not None:
                    return answer
                self._is_pinged = False
        except FrameError as error:
            raise LinkError(f"the loader sent {error}") from error
        except OSError as error:
            raise LinkError(f"the connection was lost: {error}") from error

    def end(self) -> None:
        """Ends a session of which all replies have been received. Only a
        StoreChannel has something to end."""

    def close(self) -> None:
        """Ends receive() in another thread."""
        self._connection.shut_down()
