#!/usr/bin/python3
# gst-spdl: tests of proxies and of servers that limit, restart or break rules
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first argument is tools/make-dataset."""

import base64
import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import textwrap
import threading
import time
import unittest
import unittest.mock

from fake_store import Answer, Server, find_free_port
from support import ROOT, make_folder, wait_until

from gstspdl import Loader, LoaderError

FOLDER = make_folder()
VARIABLES = [name for word in ("http", "https", "all", "no")
             for name in (f"{word}_proxy", f"{word}_PROXY".upper())]
VARIABLES += ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
              "SSL_CERT_DIR", "REQUEST_METHOD"]
FRONT_PAGE = b"front page of the proxy"


def write_pem():
    """Returns a file with the key and the certificate for 127.0.0.1 of the
    tests in C."""
    source = (ROOT / "tests/check/support/server.c").read_text("utf-8")
    path = FOLDER / "server.pem"
    path.write_text("".join(
        line.replace("\\n", "\n") for line in re.findall(
            r'^    "(.*)";?$', source, re.MULTILINE) if line[-2:] == "\\n"))
    return path


PEM = write_pem()


class Origin(Server):
    """Responds to each request with its path."""

    def __init__(self, tls=False):
        super().__init__()
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(PEM)
            context.set_alpn_protocols(["h2", "http/1.1"])
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True,
                do_handshake_on_connect=False)
            self.url = self.url.replace("http:", "https:")

    def answer(self, request):
        return Answer(200, request.path.encode())


class Proxy(Server):
    """A proxy that asks for Basic authentication if `user` is set. A request
    for its own address gets its front page."""

    def __init__(self, user=None, password="p/w"):
        super().__init__()
        self.expected = user and "Basic " + base64.b64encode(
            f"{user}:{password}".encode()).decode()

    def _serve(self, handler):
        given = handler.headers.get("Proxy-Authorization")
        self.requests.append((handler.command, handler.path, given))
        if self.expected and given != self.expected:
            handler.send_response(407)
            handler.send_header("Proxy-Authenticate", 'Basic realm="x"')
            body = b""
        elif handler.command == "CONNECT":
            handler.send_response(200)
            handler.end_headers()
            self.tunnel(handler)
            return
        else:
            handler.send_response(200)
            body = FRONT_PAGE if handler.path == self.url + "/" \
                else b"by proxy: " + handler.path.encode()
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def tunnel(self, handler):
        def pump(source, target):
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)

        host, _, port = handler.path.rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            threading.Thread(target=pump, args=(handler.connection, server),
                             daemon=True).start()
            pump(server, handler.connection)
        handler.close_connection = True


@contextlib.contextmanager
def environment(**variables):
    with unittest.mock.patch.dict(os.environ):
        for name in VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(variables)
        yield


def fetch(*uris, settings="", stats=None, on_first=lambda: None):
    """Returns the bytes of items by URI, and the reasons of failures by URI.
    Adds the statistics of the element "fetch" to `stats`, and calls `on_first`
    after the first item."""
    path = FOLDER / "list.txt"
    path.write_text("".join(f"{uri}\n" for uri in uris), encoding="utf-8")
    items = {}
    with Loader(f"spdlsrc location={path} epochs=1 ! spdlfetch "
                "max-failure-rate=1 caps=application/octet-stream "
                f"{settings} ! spdlsink") as loader:
        with contextlib.suppress(LoaderError):
            for batch in loader:
                items[batch.keys[0]] = batch["data"].numpy().tobytes()
                if len(items) == 1:
                    on_first()
        if stats is not None:
            stats += [one for one in loader.stats if one["stage"] == "fetch"]
        failures = {failure.uri: failure.reason for failure in loader.failures}
    return items, failures


class ProxyTest(unittest.TestCase):
    URI = "http://data.example/a"

    def start(self, server):
        self.addCleanup(server.close)
        return server

    def check_items(self, expected, *uris, settings="", **variables):
        with environment(**variables):
            self.assertEqual(fetch(*uris, settings=settings),
                             (dict(zip(uris, expected)), {}))

    def test_authentication(self):
        proxy = self.start(Proxy("u"))
        origin = self.start(Origin(tls=True))
        inside = f"{origin.url}/x"
        address = f"u:p%2Fw@127.0.0.1:{proxy.port}"
        self.check_items(
            [b"by proxy: http://data.example/a", b"/x"], self.URI, inside,
            settings=f"tls-ca-file={PEM}", http_proxy=address,
            https_proxy=f"http://{address}")
        # With the first request, and not in the tunnel.
        self.assertEqual(sorted(proxy.requests), [
            ("CONNECT", f"127.0.0.1:{origin.port}", proxy.expected),
            ("GET", self.URI, proxy.expected)])
        self.assertNotIn("proxy-authorization", origin.requests[0].headers)

    def test_refused(self):
        """A proxy's own page is never an item, and not kept in a cache."""
        proxy = self.start(Proxy("u"))
        origin = self.start(Origin(tls=True))
        uris = self.URI, f"{origin.url}/x"
        settings = f"tls-ca-file={PEM} cache-dir={FOLDER}/cache " \
            "cache-validate=none"
        for user in "", "u:wrong@":
            address = f"http://{user}127.0.0.1:{proxy.port}"
            with self.subTest(user), environment(all_proxy=address):
                items, failures = fetch(*uris, settings=settings)
                self.assertEqual(items, {})
                for uri in uris:
                    self.assertIn("http_proxy", failures[uri])
        self.assertNotIn(("GET", f"{proxy.url}/", None), proxy.requests)

    def test_environment(self):
        proxy, origin = self.start(Proxy()), self.start(Origin())
        uri, port = f"{origin.url}/x", proxy.port
        by_proxy, direct = b"by proxy: " + uri.encode(), b"/x"
        address = f"http://127.0.0.1:{port}"
        for expected, variables in (
                (direct, {}),
                (by_proxy, {"http_proxy": address}),
                (by_proxy, {"http_proxy": f"127.0.0.1:{port}"}),
                (by_proxy, {"HTTP_PROXY": address}),
                (by_proxy, {"all_proxy": address}),
                (by_proxy, {"ALL_PROXY": address}),
                (direct, {"https_proxy": address}),
                (direct, {"http_proxy": "", "HTTP_PROXY": address}),
                (direct, {"HTTP_PROXY": address, "REQUEST_METHOD": "GET"}),
                (direct, {"http_proxy": address, "no_proxy": "*"}),
                (direct, {"http_proxy": address, "NO_PROXY": " * "}),
                (direct, {"http_proxy": address, "no_proxy": "127.0.0.1"}),
                (direct, {"http_proxy": address, "no_proxy": "127.0.0.0/8"}),
                (direct, {"http_proxy": address,
                          "no_proxy": f"a,127.0.0.1:{origin.port}"}),
                (by_proxy, {"http_proxy": address, "no_proxy": "a, b,,"})):
            with self.subTest(variables):
                self.check_items([expected], uri, **variables)

    def test_names(self):
        proxy = self.start(Proxy())
        for uri in "http://localhost.example/", "http://a.b.example/":
            self.check_items(
                [b"by proxy: " + uri.encode()], uri, http_proxy=proxy.url,
                no_proxy="localhost,.c.example,example:81,mple")

    def test_not_a_proxy(self):
        for value in "ftp://host:1", "http://", "http://u:p/w@host:1":
            with self.subTest(value), environment(http_proxy=value):
                items, failures = fetch(self.URI)
                self.assertEqual(items, {})
                self.assertIn("http_proxy", failures[self.URI])
                self.assertNotIn("p/w", failures[self.URI])


class CertificateTest(unittest.TestCase):
    def test_environment(self):
        folder = FOLDER / "a:b"
        for path in folder, FOLDER / "empty", FOLDER / "certs":
            path.mkdir()
        for path in folder, FOLDER / "certs":
            (path / "12345678.0").symlink_to(PEM)
            (path / "same.pem").symlink_to(PEM)
        certs, empty = FOLDER / "certs", FOLDER / "empty"
        with Origin(tls=True) as origin:
            uri = f"{origin.url}/x"
            for good, variables in (
                    (False, {}),
                    (True, {"SSL_CERT_FILE": PEM}),
                    (True, {"SSL_CERT_DIR": certs}),
                    (True, {"SSL_CERT_DIR": f"{empty}:{certs}"}),
                    (True, {"SSL_CERT_FILE": PEM, "SSL_CERT_DIR": empty}),
                    (True, {"CURL_CA_BUNDLE": PEM, "SSL_CERT_FILE": "/none"}),
                    (True, {"REQUESTS_CA_BUNDLE": folder,
                            "CURL_CA_BUNDLE": "/none"}),
                    (False, {"SSL_CERT_DIR": empty}),
                    (False, {"SSL_CERT_FILE": "/none"}),
                    (False, {"SSL_CERT_DIR": "/none"})):
                with self.subTest(variables), environment(
                        **{k: str(v) for k, v in variables.items()}):
                    items, failures = fetch(uri)
                    self.assertEqual(items, {uri: b"/x"} if good else {})
                    if "/none" in variables.values() and not good:
                        self.assertIn("/none", failures[uri])


class CookieServer(Server):
    """Redirects as servers that need a cookie do."""

    def answer(self, request):
        cookie = request.headers.get("cookie")
        where, *headers = {
            "/same": ("/same", "k=1; Path=/"),
            "/login": ("/final", "k=1; Path=/"),
            "/path": ("/final", "k=1; Path=/other"),
            "/foreign": ("/final", "k=1; Domain=example.com"),
            "/loop": ("/loop", "n=%d" % len(self.requests)),
        }.get(request.path, ("",))
        if where and (cookie != "k=1" or request.path == "/loop"):
            return Answer(302, b"", {"Location": where,
                                     "Set-Cookie": headers[0]})
        return Answer(200, repr(cookie).encode())


class CookieTest(unittest.TestCase):
    def test_chain(self):
        with CookieServer() as server:
            for path, cookie in (("/same", "k=1"), ("/login", "k=1"),
                                 ("/path", None), ("/foreign", None),
                                 ("/final", None)):
                uri = server.url + path
                with self.subTest(path):
                    self.assertEqual(fetch(uri),
                                     ({uri: repr(cookie).encode()}, {}))
            server.take_requests()
            items, failures = fetch(f"{server.url}/loop")
            self.assertEqual((items, len(failures)), ({}, 1))
            self.assertEqual(len(server.take_requests()), 21)


class LimitedServer(Origin):
    """Responds with 429 to what exceeds 20 requests in a second or a burst of
    4, and always to /bad."""

    def __init__(self):
        super().__init__()
        self.level, self.time = 0, time.monotonic()

    def answer(self, request):
        now = time.monotonic()
        with self._lock:
            level = max(self.level - 20 * (now - self.time), 0)
            self.time = now
            rejected = level > 4 or request.path == "/bad"
            self.level = level + (not rejected)
        return Answer(429) if rejected \
            else super().answer(request)


class RateTest(unittest.TestCase):
    def fetch(self, *paths, settings="retries=1"):
        """Returns the paths that arrive, those that fail, the statistics and
        the address."""
        stats = []
        with LimitedServer() as server, environment():
            items, failures = fetch(
                *(server.url + path for path in paths), stats=stats,
                settings=f"concurrency={len(paths)} name=fetch {settings}")
            n = len(server.url)
            return ({uri[n:] for uri in items}, {uri[n:] for uri in failures},
                    stats[0], server.url)

    def test_limit(self):
        """Few attempts are enough, since rejected items wait for free. One is
        not, if a busy machine lets the server answer in bursts."""
        paths = {f"/{i}" for i in range(20)}
        items, failures, stats, url = self.fetch(*paths, settings="retries=3")
        self.assertEqual((items, failures), (paths, set()))
        self.assertIn(url, stats["rate-limit"])
        self.assertGreater(stats["rate-limited"], 0)
        self.assertGreater(stats["rate-limit-time"], 0)

    def test_rejected_item(self):
        """An item that is always rejected fails, and no other one does."""
        items, failures, _, _ = self.fetch("/1", "/bad", "/2", "/3")
        self.assertEqual((items, failures), ({"/1", "/2", "/3"}, {"/bad"}))


def start(test, *command):
    """Starts a program that runs in the foreground and stops after the test."""
    with open(FOLDER / "server.log", "ab") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log,
                                   stderr=log)

    def stop():
        process.terminate()
        process.wait()

    test.addCleanup(stop)
    return stop


def wait_for_port(port):
    def responds():
        with contextlib.suppress(OSError), \
                socket.create_connection(("127.0.0.1", port)):
            return True
        return False

    wait_until(responds)
    return f"127.0.0.1:{port}"


def needs(program):
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    return unittest.skipUnless(shutil.which(program, path=path),
                               f"needs {program}")


class RealServerTest(unittest.TestCase):
    """The same with servers that people run, where they are installed."""

    def setUp(self):
        patch = unittest.mock.patch.dict(os.environ, {
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"})
        patch.start()
        self.addCleanup(patch.stop)
        # Servers change their user.
        FOLDER.chmod(0o755)

    def write(self, name, text):
        path = FOLDER / name
        path.write_text(textwrap.dedent(text), "utf-8")
        path.chmod(0o755)
        return path

    def write_files(self, n, size=100):
        folder = FOLDER / "root"
        folder.mkdir(exist_ok=True)
        for i in range(n):
            (folder / f"{i}").write_bytes(b"%03d" % i * size)
        return folder

    @needs("nginx")
    def test_nginx(self):
        port, folder = find_free_port(), self.write_files(12)
        start(self, "nginx", "-c", self.write("nginx.conf", f"""
            daemon off; pid {FOLDER}/nginx.pid; error_log stderr;
            {"user root;" if os.geteuid() == 0 else ""}
            events {{}}
            http {{
              access_log off; client_body_temp_path {FOLDER}/t1;
              proxy_temp_path {FOLDER}/t2; fastcgi_temp_path {FOLDER}/t3;
              uwsgi_temp_path {FOLDER}/t4; scgi_temp_path {FOLDER}/t5;
              limit_req_zone $binary_remote_addr zone=z:1m rate=10r/s;
              server {{
                listen 127.0.0.1:{port}; root {folder};
                limit_req zone=z burst=1 nodelay; limit_req_status 429;
              }}
            }}"""))
        url = f"http://{wait_for_port(port)}"
        uris = [f"{url}/{i}" for i in range(12)]
        with environment():
            items, failures = fetch(*uris, settings="concurrency=12 retries=3")
        self.assertEqual((set(items), failures), (set(uris), {}))

    @needs("squid")
    def test_squid(self):
        port = find_free_port()
        check = self.write("check", """\
            #!/bin/sh
            while read -r line; do
              if [ "$line" = "u good" ]; then echo OK; else echo ERR; fi
            done
            """)
        start(self, "squid", "-N", "-f", self.write("squid.conf", f"""
            http_port 127.0.0.1:{port}
            pid_filename none
            cache_log stdio:/dev/stderr
            access_log none
            cache deny all
            visible_hostname test
            auth_param basic program {check}
            auth_param basic realm test
            acl known proxy_auth REQUIRED
            http_access allow known
            http_access deny all
            """))
        proxy = wait_for_port(port)
        with Origin() as plain, Origin(tls=True) as secure:
            uris = f"{plain.url}/a", f"{secure.url}/b"
            for user, good in ("u:good@", True), ("u:x@", False), ("", False):
                with self.subTest(user), environment(
                        all_proxy=f"http://{user}{proxy}"):
                    items, failures = fetch(
                        *uris, settings=f"tls-ca-file={PEM}")
                    self.assertEqual(items, dict(zip(uris, (b"/a", b"/b")))
                                     if good else {})
                    self.assertEqual(len(failures), 0 if good else 2)

    @needs("nghttpd")
    def test_nghttpd(self):
        """A server of HTTP/2 only."""
        port, folder = find_free_port(), self.write_files(4, 1000)
        start(self, "nghttpd", "-a", "127.0.0.1", "-d", folder, port, PEM, PEM)
        wait_for_port(port)
        with environment(), Origin(tls=True) as origin:
            uris = [f"https://127.0.0.1:{port}/{i}" for i in range(4)]
            others = [f"{origin.url}/{i}" for i in range(20)]
            items, failures = fetch(
                *uris, *others, settings=f"tls-ca-file={PEM} concurrency=8 "
                "retries=0 timeout=5")
        self.assertEqual(set(items), set(others))
        self.assertEqual(set(failures), set(uris))


if __name__ == "__main__":
    unittest.main()
