#!/usr/bin/python3
# gst-spdl: tests of the connection between a trainer and a loader's actor
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset, the second one the number of random
frames."""

import contextlib
import gc
import os
import random
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import types
import unittest
import unittest.mock

import numpy as np
from support import describe, make_dataset, make_folder

from gstspdl import DetachedBatch, Failure, Loader, LoaderError
from gstspdl._remote.answers import Certificates, Reply, Start
from gstspdl._remote.direct import (DirectChannel, LinkError, Server, Silence,
                                    _keep_alive, _make_context)
from gstspdl._remote.frames import (HEADER_SIZE, FrameError, _make_header,
                                    make_frame, parse_frame, parse_header,
                                    receive_frame)
from gstspdl._remote.link import Board, Link
from gstspdl._remote.memory import MemoryPool
from gstspdl._remote.nodes import avoid, find_lost

N_FRAMES = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 5000
FOLDER = make_dataset(12)
TOKEN = b"t" * 32
FAILURE = Failure("decode", "file:///\udc80", "no image", 1, 2, 3, 0)


def load():
    with Loader(describe(FOLDER, 4, batch="labels=true")) as loader:
        return next(iter(loader))


def make_reply(batch, **others):
    return Reply(**{"batch": batch, "state": "spdl1;", "epoch": 3,
                    "is_last": False, "failures": [FAILURE],
                    "warnings": ["a", "b"], **others})


def join(parts):
    return b"".join(bytes(part) for part in parts)


def parse(data):
    """Parses a frame as a receiver does."""
    data = memoryview(data)

    def receive(memory):
        nonlocal data
        if len(data) < len(memory):
            raise FrameError("the end")
        memory[:] = data[:len(memory)]
        data = data[len(memory):]

    def take(size):
        if size > 1 << 24:
            raise FrameError("too much memory for this test")
        return np.empty(size, "uint8")

    return receive_frame(receive, take)


class LinkTest(unittest.TestCase):
    """Replies of a link, without the thread that receives them."""

    def make(self, n, request):
        board = Board(set())
        link = Link(board, None, 0, Start(0, 0, 1, None, None))
        link._channel = unittest.mock.Mock()
        link._channel.request = request
        with board.lock:
            for i in range(n):
                link._push(make_reply(None, epoch=i))
        return link

    def test_replies(self):
        requests = []
        link = self.make(3, lambda: requests.append(1))
        for i in range(3):
            number, reply = link.first()
            self.assertEqual(link.first(), (number, reply))
            self.assertEqual(reply.epoch, i)
            for _ in range(2):
                link.request_after(number)
            self.assertEqual(len(requests), i + 1)
            link.taken = number
        self.assertIsNone(link.first())

    def test_interrupt(self):
        """A reply that Ctrl-C interrupts is there afterwards."""
        request = unittest.mock.Mock(side_effect=[KeyboardInterrupt, None])
        link = self.make(2, request)
        number, reply = link.first()
        with self.assertRaises(KeyboardInterrupt):
            link.request_after(number)
        self.assertEqual(link.first(), (number, reply))
        link.request_after(number)
        self.assertEqual(request.call_count, 2)


class FrameTest(unittest.TestCase):
    def check(self, found, batch):
        self.assertIsInstance(found.batch, DetachedBatch)
        self.assertEqual(list(found.batch), list(batch))
        for name in batch:
            np.testing.assert_array_equal(found.batch[name],
                                          batch[name].numpy())
            self.assertEqual(found.batch[name].dtype, batch[name].numpy().dtype)
            self.assertTrue(found.batch[name].flags.writeable)
        for name in "labels", "indices", "extras", "epoch", "num_items":
            self.assertEqual(getattr(found.batch, name), getattr(batch, name))
        self.assertEqual(found.batch.keys, list(batch.keys))
        self.assertEqual(found[1:], make_reply(None)[1:])
        self.assertEqual(found.batch.state, "spdl1;")

    def test_replies(self):
        batch = load()
        self.check(parse(join(make_frame(make_reply(batch)))), batch)
        end = make_reply(None, is_last=True, state=None)
        self.assertEqual(parse(join(make_frame(end))), end)
        # The arrays are not copied.
        sent = make_frame(make_reply(batch))
        self.assertTrue(any(np.shares_memory(part, batch["data"].numpy())
                            for part in sent if len(part) > 1000))

    def test_types(self):
        arrays = {f"a{i}": types.SimpleNamespace(numpy=lambda a=array: a)
                  for i, array in enumerate([
                      np.array(3.5), np.zeros((0, 4), "int16"),
                      np.arange(24.)[::2].reshape(2, 6), np.array([True]),
                      np.arange(5, dtype="float16"), np.zeros(1, "uint64")])}
        batch = unittest.mock.MagicMock(
            items=arrays.items, labels=b"", indices=b"", keys=[], extras=[],
            epoch=0)
        found = parse(join(make_frame(make_reply(batch)))).batch
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array.numpy())
            self.assertEqual(found[name].shape, array.numpy().shape)

    def test_errors(self):
        error = LoaderError("text", code="map", stage="s", uri=None)
        found = parse(join(make_frame(error)))
        for name in "args", "code", "stage", "uri":
            self.assertEqual(getattr(found, name), getattr(error, name))

    def test_each_bit_of_the_header(self):
        data = join(make_frame(make_reply(load())))[:HEADER_SIZE]
        parse_header(data)
        for bit in range(8 * HEADER_SIZE):
            broken = bytearray(data)
            broken[bit // 8] ^= 1 << bit % 8
            with self.assertRaises(FrameError):
                parse_header(broken)
        with self.assertRaises(FrameError):
            parse_header(data[:-1])
        for sizes in (1 << 31, 0), (0, 1 << 50):
            with self.assertRaises(FrameError):
                parse_header(_make_header(1, *sizes))

    def test_random_frames(self):
        """Each broken frame is refused or has a valid answer; nothing else is
        raised, and no array reaches beyond its memory."""
        generator = random.Random(1)
        data = join(make_frame(make_reply(load())))
        header = parse_header(data[:HEADER_SIZE])
        text = data[HEADER_SIZE:HEADER_SIZE + header.text_size]
        memory = np.frombuffer(data[HEADER_SIZE + header.text_size:], "uint8")
        n_refused = 0
        for _ in range(N_FRAMES):
            broken = bytearray(text)
            for _ in range(generator.randint(1, 4)):
                place = generator.randrange(len(broken))
                if generator.random() < 0.3:
                    del broken[place:place + generator.randint(1, 9)]
                elif generator.random() < 0.5:
                    broken[place:place] = generator.choice(
                        [b"-", b"9", b"null", b"[", b"{", b"1e999", b"]",
                         b'"', b"99999999999999999999", b"\xff", b"NaN"])
                else:
                    broken[place] = generator.randrange(256)
            end = generator.choice([0, len(memory) // 2, len(memory)])
            try:
                found = parse_frame(
                    generator.choice([header, header._replace(kind=2)]),
                    broken, memory[:end])
            except FrameError:
                n_refused += 1
                continue
            self.assertIsInstance(found, (Reply, LoaderError))
            if isinstance(found, Reply) and found.batch is not None:
                self.assertEqual(end, len(memory))
                for array in found.batch.values():
                    self.assertTrue(array.size == 0 or
                                    np.shares_memory(array, memory))
        self.assertGreater(n_refused, N_FRAMES // 4)
        for _ in range(N_FRAMES):
            with self.assertRaises(FrameError):
                parse(generator.randbytes(generator.randrange(200)))


class MemoryTest(unittest.TestCase):
    def test_reuse(self):
        pool = MemoryPool(3)
        array = pool.take(1_000_000)
        self.assertEqual(array.nbytes, 1_000_000)
        address = array.ctypes.data
        view = array[100:104].view("int32").reshape(1, 1)
        view[:] = 7
        del array
        gc.collect()
        other = pool.take(1_000_000)
        self.assertNotEqual(other.ctypes.data, address)
        self.assertEqual(view.item(), 7)
        del view
        self.assertEqual(pool.take(990_000).ctypes.data, address)
        # A block of another size is not.
        self.assertNotEqual(pool.take(100_000).ctypes.data, address)
        self.assertEqual(pool.take(0).nbytes, 0)

    def test_limit(self):
        pool = MemoryPool(2)
        arrays = [pool.take(10) for _ in range(5)]
        del arrays
        self.assertEqual(len(pool._free), 2)

    def test_threads(self):
        """No block is used twice at a time."""
        pool = MemoryPool(20)

        def run(number):
            for i in range(2000):
                array = pool.take(4000)
                array[:] = number
                if i % 7 == 0:
                    time.sleep(0)
                if (array != number).any():
                    wrong.append(number)

        wrong = []
        threads = [threading.Thread(target=run, args=[i]) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(pool._leases, {})

    def test_cuda(self):
        """No memory is page-locked, from which a GPU could still copy when it
        is reused."""
        torch = unittest.mock.MagicMock()
        torch.empty.return_value.numpy.return_value = np.empty(1 << 16, "uint8")
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            MemoryPool(2).take(10)
        torch.empty.assert_not_called()


def make_certificates(folder, name="a", authority=None):
    """Makes a certificate that is signed by itself or by another one."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    by = authority.certificate if authority else certificate
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         f"/CN={name}", "-keyout", key, "-out", certificate,
         *(("-CA", authority.certificate, "-CAkey", authority.key)
           if authority else ())],
        check=True, stderr=subprocess.DEVNULL)
    return Certificates(str(certificate), str(key), str(by))


class NodeTest(unittest.TestCase):
    def test_lost(self):
        """A node is lost if its raylet accepts no connection."""
        with socket.create_server(("127.0.0.1", 0)) as raylet, \
                socket.create_server(("127.0.0.1", 0)) as other:
            nodes = [{"NodeID": name, "Alive": name != "known",
                      "NodeManagerAddress": "127.0.0.1",
                      "NodeManagerPort": server.getsockname()[1]}
                     for name, server in (("here", raylet), ("lost", other),
                                          ("known", other), ("else", other))]
            other.close()
            ray = types.SimpleNamespace(nodes=lambda: nodes)
            with unittest.mock.patch.dict(sys.modules, ray=ray):
                self.assertEqual(find_lost({"here", "lost", "known"}),
                                 ["lost"])
                self.assertEqual(find_lost([]), [])

    def test_avoid(self):
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        self.assertEqual(avoid(options, []), options)
        self.assertEqual(avoid(options, ["a", "b"]), {
            **options, "label_selector": {"ray.io/node-id": "!in(a,b)"},
            "fallback_strategy": [{"label_selector": {}}]})
        mine = {**options, "label_selector": {"zone": "1"},
                "fallback_strategy": [{"label_selector": {"zone": "2"}}]}
        self.assertEqual(avoid(mine, ["a"]), {
            **options,
            "label_selector": {"zone": "1", "ray.io/node-id": "!in(a)"},
            "fallback_strategy": [{"label_selector": {"zone": "1"}},
                                  {"label_selector": {"zone": "2"}}]})
        for fixed in ({"scheduling_strategy": object()},
                      {"label_selector": {"ray.io/node-id": "a"}}):
            fixed = {**options, **fixed}
            self.assertEqual(avoid(fixed, ["a"]), fixed)


class ConnectionTest(unittest.TestCase):
    def serve(self, answers, files=None):
        left = iter(answers)
        server = Server("127.0.0.1", TOKEN, files, lambda: next(left))
        self.addCleanup(server.close)
        return server

    def connect(self, server, files=None, token=TOKEN, worker_timeout=0):
        return DirectChannel(server.address, token, files, MemoryPool(4),
                             worker_timeout)

    def check(self, files=None):
        batch = load()
        end = make_reply(None)
        server = self.serve([make_reply(batch)] * 20 + [end], files)
        channel = self.connect(server, files)
        # A thread requests while another one receives.
        thread = threading.Thread(
            target=lambda: [channel.request() for _ in range(21)])
        thread.start()
        for _ in range(20):
            FrameTest().check(channel.receive(), batch)
        self.assertEqual(channel.receive(), end)
        thread.join()
        server.close()
        with self.assertRaises(LinkError):
            channel.receive()

    def test_plain(self):
        self.check()

    def test_buffers(self):
        """On one machine, the buffers do not grow."""
        channel = self.connect(self.serve([]))
        with socket.socket() as other:
            for option in socket.SO_SNDBUF, socket.SO_RCVBUF:
                # The system changes the value that is set.
                other.setsockopt(socket.SOL_SOCKET, option, 1 << 18)
                self.assertEqual(*(one.getsockopt(socket.SOL_SOCKET, option)
                                   for one in (channel._connection._socket,
                                               other)))

    def test_answers_that_cannot_be_sent(self):
        """Another loader would not send them either, so the trainer gets an
        error."""
        array = np.zeros(2, "complex64")
        batch = types.SimpleNamespace(
            items=lambda: [("data", types.SimpleNamespace(
                numpy=lambda: array))],
            labels=b"", indices=b"", keys=[], extras=[], epoch=0)
        server = self.serve([make_reply(batch)])
        channel = self.connect(server)
        channel.request()
        error = channel.receive()
        self.assertIsInstance(error, LoaderError)
        self.assertIn("complex64", str(error))

    def test_tls(self):
        folder = make_folder()
        files, others = make_certificates(folder), make_certificates(
            folder, "b")
        self.check(files)
        server = self.serve([], files)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(server, others)
        with self.assertRaises(LinkError):
            self.connect(server)  # without TLS
        # A trainer of another authority, which believes the actor's.
        with self.assertRaises(LinkError):
            channel = self.connect(
                server, others._replace(authority=files.authority))
            channel.request()
            channel.receive()
        self.connect(server, files)

    def test_wrong_tokens(self):
        """Strangers are sent away, and the trainer can still connect."""
        end = make_reply(None)
        server = self.serve([end])
        with self.assertRaises(LinkError):
            self.connect(server, token=b"x" * 32)
        for data in (b"", b"GET / HTTP/1.1\r\n\r\n" + bytes(99),
                     b"spdlray1" + bytes(64), b"spdlray1" + os.urandom(99)):
            with socket.create_connection(server.address) as stranger:
                answer = b""
                try:
                    stranger.sendall(data)
                    stranger.shutdown(socket.SHUT_WR)
                    while more := stranger.recv(1000):
                        answer += more
                except OSError:
                    pass  # It has closed the connection.
                # A nonce and a proof at most.
                self.assertLessEqual(len(answer), 64)
        channel = self.connect(server)
        channel.request()
        self.assertEqual(channel.receive(), end)
        # Nobody else can connect.
        with self.assertRaises(LinkError):
            self.connect(server)

    def test_silent_strangers(self):
        """Strangers that say nothing, or a byte at a time, do not keep the
        trainer out. With many, each is sent away after a second."""
        end = make_reply(None)
        for n in 3, 200:
            server = self.serve([end])
            with contextlib.ExitStack() as stack:
                strangers = [stack.enter_context(
                    socket.create_connection(server.address))
                    for _ in range(n)]
                strangers[0].sendall(b"spdl")
                channel = self.connect(server)
                channel.request()
                self.assertEqual(channel.receive(), end)
                # All others are sent away then.
                for stranger in strangers:
                    with contextlib.suppress(ConnectionError):
                        self.assertEqual(stranger.recv(1), b"")

    def test_a_man_in_the_middle(self):
        """Somebody who has a certificate of the authority cannot pass the
        proofs on between the trainer and the actor."""
        folder = make_folder()
        files = make_certificates(folder)
        others = make_certificates(folder, "b", files)
        server = self.serve([make_reply(None)], files)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def pass_on():
            to_trainer = _make_context(ssl.PROTOCOL_TLS_SERVER, others)
            to_actor = _make_context(ssl.PROTOCOL_TLS_CLIENT, others)
            with to_trainer.wrap_socket(
                    listener.accept()[0], server_side=True) as trainer, \
                    to_actor.wrap_socket(socket.create_connection(
                        server.address)) as actor:
                with contextlib.suppress(OSError):
                    actor.sendall(trainer.recv(100))
                    trainer.sendall(actor.recv(100))
                    actor.sendall(trainer.recv(100))

        thread = threading.Thread(target=pass_on)
        thread.start()
        with self.assertRaises(LinkError):
            DirectChannel(listener.getsockname()[:2], TOKEN, files,
                          MemoryPool(1), 0)
        thread.join()
        self.connect(server, files)

    def test_a_false_actor(self):
        """The trainer sends no proof to an actor that has no token."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = listener.getsockname()
            received = []

            def answer():
                with listener.accept()[0] as connection:
                    connection.recv(100)
                    connection.sendall(bytes(64))
                    received.append(connection.recv(100))

            thread = threading.Thread(target=answer)
            thread.start()
            with self.assertRaises(LinkError):
                DirectChannel(address, TOKEN, None, MemoryPool(1), 0)
            thread.join()
        self.assertEqual(received, [b""])
        with self.assertRaises(LinkError):
            DirectChannel(address, TOKEN, None, MemoryPool(1), 0)

    def test_pings(self):
        """A loader that works on a batch for longer than the timeout is not
        lost."""
        end, ponged = make_reply(None), threading.Event()
        for files in None, make_certificates(make_folder()):
            ponged.clear()
            server = Server("127.0.0.1", TOKEN, files,
                            lambda: ponged.wait() and end)
            self.addCleanup(server.close)
            channel = self.connect(server, files, worker_timeout=0.1)
            add, times = channel._silence.add, []

            def note(interval):
                times.append(time.monotonic())
                if times[-1] > times[0] + 0.3:
                    ponged.set()
                add(interval)

            channel._silence.add = note
            channel.request()
            self.assertEqual(channel.receive(), end)

    def test_stopped_process(self):
        code = """
import sys
from gstspdl._remote.answers import Certificates
from gstspdl._remote.direct import Server
files = Certificates(*sys.argv[1:]) if sys.argv[1:] else None
server = Server("127.0.0.1", b"t" * 32, files, input)
print(server.address[1], flush=True)
server._thread.join()
"""
        for files in None, make_certificates(make_folder()):
            with subprocess.Popen(
                    [sys.executable, "-c", code, *(files or ())],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE) as actor:
                address = "127.0.0.1", int(actor.stdout.readline())
                channel = DirectChannel(address, TOKEN, files, MemoryPool(1),
                                        0.2)
                channel.request()
                actor.send_signal(signal.SIGSTOP)
                with self.assertRaisesRegex(LinkError, "worker_timeout"):
                    channel.receive()
                channel.close()
                actor.kill()

    def test_silence(self):
        """A time in which the trainer did not run either does not count."""
        with unittest.mock.patch("time.monotonic", side_effect=[
                0, 1, 1000, 1001, 2000, 2001, 2002]):
            silence = Silence(5)
            for _ in range(3):
                silence.add(1)
            silence.end()
            for _ in range(3):
                silence.add(1)
            with self.assertRaises(LinkError):
                silence.add(1)

    def test_broken_frames(self):
        server = self.serve([make_reply(None)] * 9)
        for data in (bytes(HEADER_SIZE), _make_header(1, 4, 0) + b"null",
                     _make_header(1, 10, 0) + b"{", b"spdl"):
            channel = self.connect(server)
            with unittest.mock.patch(
                    "gstspdl._remote.direct.make_frame", lambda _: [data]):
                channel.request()
                if len(data) < HEADER_SIZE or data.endswith(b"{"):
                    self.assertTrue(
                        select.select([channel._connection._socket], [], [],
                                      60)[0])
                    server.close()
                with self.assertRaises(LinkError):
                    channel.receive()
            server.close()
            server = self.serve([make_reply(None)] * 9)

    def test_dead_peers(self):
        """The kernel notices a machine that is gone within seconds."""
        with socket.socket() as one:
            _keep_alive(one)
            self.assertTrue(one.getsockopt(socket.SOL_SOCKET,
                                           socket.SO_KEEPALIVE))
            idle, interval, count, timeout = (
                one.getsockopt(socket.IPPROTO_TCP, option) for option in (
                    socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL,
                    socket.TCP_KEEPCNT, 18))
        self.assertLessEqual(idle + interval * count, 5)
        self.assertLessEqual(timeout, 5000)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
