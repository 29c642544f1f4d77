# gst-spdl: connection of a trainer to a loader on another machine
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A link has a thread, which starts the loader's actor, receives its replies,
and replaces the actor after it was lost. The new one starts at the state of the
last reply that reached the trainer."""

import secrets
import threading
from collections import deque
from queue import SimpleQueue
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Set, Union

from .._errors import LoaderError
from .answers import Job, Reply, Start, Started
from .direct import DirectChannel, LinkError, Silence
from .memory import MemoryPool
from .nodes import avoid, find_lost

# Time after which a loader that does not start is reported, in s.
_PATIENCE = 30.0
# Time without a reply after which its node is checked, in s.
_CHECK_AFTER = 2.0
# Delays of the second and the last replacement without a batch between, in s.
_FIRST_DELAY = 0.5
_MAX_DELAY = 30.0


class Lost(Exception):
    """The loader's actor, its node or the connection to it was lost."""


class Settings(NamedTuple):
    """Settings of all links of a trainer."""

    actor_class: Any
    #: Ray's options of the actors
    options: Dict[str, Any]
    job: Job
    prefetch: int
    restarts: int
    pool: MemoryPool
    worker_timeout: float


class Board:
    """State that links and their trainer share."""

    def __init__(self, node_ids: Set[str]) -> None:
        #: guards all fields of the board and of its links. Unlike the methods of
        #: a Condition, which are in Python, Ctrl-C cannot leave it locked.
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.n_replies = 0
        self.warnings: List[str] = []
        #: Ray's names of the nodes on which loaders have run
        self.node_ids = node_ids


class _Pinger:
    """Pings an actor through Ray. Before its first answer, the actor may not have
    been scheduled."""

    def __init__(self, actor: Any, worker_timeout: float,
                 is_alive: bool) -> None:
        self._actor = actor
        self._silence = Silence(worker_timeout)
        self._is_alive = is_alive
        self._pong: Any = None

    def look(self) -> None:
        """Called each _CHECK_AFTER seconds while an answer is due. Raises
        LinkError if the actor does not answer."""
        from ray.exceptions import GetTimeoutError

        if self._pong is None:
            self._pong = self._actor.ping.options(
                concurrency_group="control").remote()
        try:
            get(self._pong, 0)
            self._pong = None
            self._is_alive = True
            self._silence.end()
        except GetTimeoutError:
            if self._is_alive:
                self._silence.add(_CHECK_AFTER)


class StoreChannel:
    """Replies are return values of Ray's calls, in Ray's object store. A thread
    makes the calls: Ctrl-C in the trainer's would lose the reply of a call."""

    def __init__(self, actor: Any, session: int, node_id: str,
                 worker_timeout: float) -> None:
        self._pinger = _Pinger(actor, worker_timeout, True)
        self._actor = actor
        self._session = session
        self._node_id = node_id
        # True for each call to make; False at the end.
        self._requests: "SimpleQueue[bool]" = SimpleQueue()
        self._calls: "SimpleQueue[Any]" = SimpleQueue()
        threading.Thread(target=self._call, name="spdl-requests",
                         daemon=True).start()

    def request(self) -> None:
        self._requests.put(True)

    def _call(self) -> None:
        while self._requests.get():
            try:
                self._calls.put(self._actor.next.remote(self._session))
            except Exception:
                self._calls.put(None)  # receive() reports the loss
                return

    def receive(self) -> Union[Reply, LoaderError]:
        from ray.exceptions import GetTimeoutError

        call = self._calls.get()
        if call is None:
            raise Lost("the session has ended")
        while True:
            try:
                answer: Union[Reply, LoaderError] = get(call, _CHECK_AFTER)
                return answer
            except GetTimeoutError:
                if find_lost([self._node_id]):
                    raise Lost("its raylet accepts no connection") from None
                self._pinger.look()

    def end(self) -> None:
        """Ends the thread. The link's thread calls this."""
        self._requests.put(False)

    def close(self) -> None:
        self.end()
        self._calls.put(None)
        self._actor.halt.options(concurrency_group="control").remote(
            self._session)


def get(call: Any, timeout: Optional[float] = None) -> Any:
    """Waits for the result of a call. Raises Lost if it will not arrive, and
    LoaderError if the actor cannot work."""
    import ray
    from ray import exceptions

    if not ray.is_initialized():
        raise LoaderError("Ray was shut down while loaders were running: call "
                          "stop() before ray.shutdown()", code="stopped")
    try:
        return ray.get(call, timeout=timeout)
    except exceptions.GetTimeoutError:
        raise
    except (exceptions.RayTaskError, exceptions.RuntimeEnvSetupError,
            exceptions.ActorUnschedulableError) as error:
        raise LoaderError(f"A loader failed on its machine: {error}",
                          code="failed") from error
    except exceptions.RayError as error:
        raise Lost(str(error)) from error


class Link:
    """Loader number `number` of a trainer. All methods except run() are called
    with the board's lock held."""

    def __init__(self, board: Board, settings: Settings, number: int,
                 start: Start) -> None:
        self.number = number
        self.replies: Deque[Any] = deque()
        # Numbers of the last reply that the trainer was given, and of the last
        # one in whose place another one was requested.
        self.taken = self._replaced = 0
        #: number of the last reply whose failures the trainer has noted
        self.noted = 0
        #: what the loader reported about its last start, or None
        self.started: Optional[Started] = None
        #: state after the last reply that the trainer was given
        self.given: Union[None, str, List[str]] = start.state
        #: epoch whose end the trainer has taken last
        self.ended: Optional[int] = None
        self.is_finished = False
        self.n_restarts = 0
        self.actor: Any = None
        self._board = board
        self._settings = settings
        self._start = start
        # Epoch whose end was not received.
        self._epoch: Optional[int] = None
        self._channel: Any = None
        # Session that needs no more replies.
        self._done = -1
        self._n_losses = 0
        self._closed = False
        self.thread = threading.Thread(
            target=self.run, name=f"spdl-link-{number}", daemon=True)

    def first(self) -> Any:
        """Returns the first reply that was not taken and its number, or None.
        Numbers are in the order of arrival."""
        while self.replies and self.replies[0][0] <= self.taken:
            self.replies.popleft()
        return self.replies[0] if self.replies else None

    def get_arrival(self) -> int:
        number: int = self.first()[0]
        return number

    def request_after(self, number: int) -> None:
        """Requests another reply to replace one that will be taken, once."""
        if self._replaced < number:
            if self._channel:
                self._request()
            self._replaced = number

    def seek(self, epoch: int) -> None:
        """Drops all replies and begins an epoch."""
        self.replies.clear()
        self._close_channel()
        self._start = self._start._replace(
            session=self._start.session + 1, state=self.given, epoch=epoch)
        self.is_finished = False
        self.ended = None
        self.started = self._epoch = None
        self._board.changed.notify_all()

    def close(self) -> None:
        """Ends the actor and the thread, which the caller joins without the
        lock."""
        self._closed = True
        self._start = self._start._replace(session=self._start.session + 1)
        self._close_channel()
        self._kill()
        self._board.changed.notify_all()

    def _request(self) -> None:
        try:
            self._channel.request()
        except Exception:  # The thread's next receive() reports it.
            pass

    def _close_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel:
            channel.close()

    def _kill(self) -> None:
        import ray

        actor, self.actor = self.actor, None
        if actor is not None and ray.is_initialized():
            ray.kill(actor)

    # The thread

    def run(self) -> None:
        changed = self._board.changed
        while True:
            with self._board.lock:
                changed.wait_for(lambda: self._closed or
                                 self._done != self._start.session)
                if self._closed:
                    return
                start = self._start
            try:
                self._serve(start)
            except (Lost, LinkError) as loss:
                self._replace(start, loss)
            except LoaderError as error:
                self._finish(start, error)
            except Exception as error:
                failure = LoaderError(f"Loader {self.number} failed: {error!r}")
                failure.__cause__ = error
                self._finish(start, failure)

    def _serve(self, start: Start) -> None:
        """Receives the replies of a session until its end."""
        channel = self._open(start)
        if channel is None:
            return
        try:
            self._receive(start, channel)
        finally:
            channel.end()

    def _receive(self, start: Start, channel: Any) -> None:
        while True:
            reply = channel.receive()
            with self._board.lock:
                if start.session != self._start.session:
                    return
                if isinstance(reply, LoaderError):
                    raise reply
                self._n_losses = 0
                self._accept(reply)
                if reply.is_last:
                    self._done = start.session
                    self._channel = None
                    return

    def _open(self, start: Start) -> Any:
        """Starts the loader, and requests replies. Returns a channel, or None
        if the session has ended."""
        changed = self._board.changed
        with self._board.lock:
            if start.session != self._start.session:
                return None
            node_ids = [] if self.actor else list(self._board.node_ids)
        lost = find_lost(node_ids)
        with self._board.lock:
            if start.session != self._start.session:
                return None
            if self.actor is None:
                self.actor = self._make_actor(lost)
            actor = self.actor
        job = self._settings.job
        start = start._replace(token=secrets.token_bytes(32))
        started = self._wait(actor, actor.start.remote(job, start))
        channel: Union[StoreChannel, DirectChannel]
        if started.address:
            channel = DirectChannel(started.address, start.token,
                                    job.certificates, self._settings.pool,
                                    self._settings.worker_timeout)
        else:
            channel = StoreChannel(actor, start.session, started.node_id,
                                   self._settings.worker_timeout)
        with self._board.lock:
            if start.session != self._start.session:
                channel.close()
                return None
            self._begin(started)
            self._channel = channel
            left = [number for number, _ in self.replies
                    if number > self._replaced]
            for _ in range(self._settings.prefetch - len(left)):
                self._request()
            changed.notify_all()
        return channel

    def _make_actor(self, lost: List[str]) -> Any:
        actor_class, options = self._settings[:2]
        try:
            chosen = actor_class.options(**avoid(options, lost))
        except ValueError:  # older than fallback_strategy
            chosen = actor_class.options(**options)
        return chosen.remote()

    def _wait(self, actor: Any, call: Any) -> Started:
        """Waits until the loader has started."""
        from ray.exceptions import GetTimeoutError

        pinger = _Pinger(actor, self._settings.worker_timeout, False)
        waited = 0.0
        while True:
            try:
                answer = get(call, _CHECK_AFTER)
                break
            except GetTimeoutError:
                pinger.look()
                waited += _CHECK_AFTER
                if waited % _PATIENCE:
                    continue
                with self._board.lock:
                    self._board.warnings.append(
                        f"loader {self.number} has not started for "
                        f"{waited:.0f} s: check with `ray status` that a node "
                        "has the resources that `options` require")
                    self._board.changed.notify_all()
        if isinstance(answer, LoaderError):
            raise answer
        started: Started = answer
        return started

    def _begin(self, started: Started) -> None:
        if self._epoch is None:
            self._epoch = started.epoch
        if self.started is None:
            self.given = started.state
        self.started = started
        self._board.node_ids.add(started.node_id)
        self._start = self._start._replace(state=started.state, epoch=None)

    def _accept(self, reply: Reply) -> None:
        assert self._epoch is not None
        n_ends = reply.epoch - self._epoch - (reply.batch is None)
        for _ in range(n_ends):
            # The state after the last batch of an epoch is the beginning of the
            # next one. If the reply with the end was lost, it is not repeated.
            self._epoch += 1
            assert isinstance(self._start.state, str)
            self._push(Reply(None, self._start.state, self._epoch, False, [],
                             []))
        self._epoch = reply.epoch
        self._start = self._start._replace(state=reply.state)
        self._push(reply)

    def _push(self, reply: Any) -> None:
        self._board.n_replies += 1
        self.replies.append((self._board.n_replies, reply))
        self._board.changed.notify_all()

    def _finish(self, start: Start, error: LoaderError) -> None:
        with self._board.lock:
            if start.session == self._start.session:
                self._done = start.session
                self._channel = None
                self._push(error)

    def _replace(self, start: Start, loss: Exception) -> None:
        """Prepares another actor, or ends the session with an error."""
        error = None
        with self._board.lock:
            if start.session != self._start.session:
                return
            self._channel = None
            self._kill()
            self._n_losses += 1
            reason = " ".join(str(loss).split())[:500]
            if self._start.state is None and self._epoch is not None:
                error = LoaderError(
                    f"Loader {self.number} was lost ({reason}) and cannot be "
                    "replaced, because its last batch has no state: see "
                    "max-gaps of spdlsink", code="state")
            elif self._n_losses > self._settings.restarts:
                error = LoaderError(
                    f"Loader {self.number} was lost {self._n_losses} times "
                    f"without a batch in between; last: {reason}: check the "
                    "logs of its node, or increase restarts="
                    f"{self._settings.restarts}", code="restarts")
            else:
                self.n_restarts += 1
                if self._n_losses > 1:
                    self._board.changed.wait_for(
                        lambda: self._closed,
                        min(_FIRST_DELAY * 2 ** (self._n_losses - 2),
                            _MAX_DELAY))
        if error:
            self._finish(start, error)


def get_stats(link: Link) -> "Dict[str, Any]":
    """Returns the statistics of a loader."""
    from ray.exceptions import GetTimeoutError

    actor = link.actor
    elements: List[Dict[str, Any]] = []
    if actor is not None:
        try:
            elements = get(actor.get_stats.options(
                concurrency_group="control").remote(), _CHECK_AFTER)
        except (Lost, LoaderError):
            pass  # It is being replaced.
        except GetTimeoutError:
            pass  # It does not answer.
    return {"loader": link.number,
            "node": link.started.node if link.started else None,
            "restarts": link.n_restarts, "elements": elements}
