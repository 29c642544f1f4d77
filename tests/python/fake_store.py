# gst-spdl: object stores for tests, with faults on request
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""HTTP servers in threads: S3 with Signature Version 4, Google Cloud Storage
with bearer tokens, the Hugging Face Hub, and a service that issues
credentials. Each server records its requests."""

import collections
import contextlib
import dataclasses
import datetime
import email.utils
import functools
import hashlib
import http.server
import json
import math
import re
import socket
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import sigv4_reference as sigv4

# AWS tolerates a difference of 15 minutes between the clocks.
MAX_SKEW = 900
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8}/([^/]+)/([^/]+)/aws4_request),"
    r" *SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$")


@dataclasses.dataclass
class Request:
    method: str
    path: str  # encoded
    query: str  # encoded
    headers: dict  # by lower-case name

    @property
    def parameters(self):
        return dict(urllib.parse.parse_qsl(self.query, keep_blank_values=True))


@dataclasses.dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict = dataclasses.field(default_factory=dict)
    sent: int = -1  # of the body, before the connection breaks; -1: all
    endless: bool = False  # repeats the body until the client closes


def answer_json(value, status=200, **headers):
    return Answer(status, json.dumps(value).encode(),
                  {"Content-Type": "application/json", **headers})


class Server:
    """An HTTP/1.1 server on a port of 127.0.0.1. `skew`: the seconds by which
    its clock is ahead."""

    def __init__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                owner._serve(self)

            do_HEAD = do_PUT = do_POST = do_CONNECT = do_GET

            def log_message(self, *arguments):
                pass

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(owner.now(), usegmt=True)

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, address):
                pass  # a client that closed the connection

        self.skew = 0
        self.requests = []
        self._faults = collections.deque()
        self._lock = threading.Lock()
        self._server = Threads(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever,
                         kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def now(self):
        return time.time() + self.skew

    def add_fault(self, answer, n=1, when=lambda request: True):
        """Sends `answer` in response to the next n requests of a kind.
        `answer` is an Answer, or a function of the request."""
        with self._lock:
            self._faults.extend([(answer, when)] * n)

    def take_requests(self):
        """Returns the requests since the last call."""
        with self._lock:
            requests, self.requests = self.requests, []
        return requests

    def answer(self, request):
        raise NotImplementedError

    def _take_fault(self, request):
        with self._lock:
            self.requests.append(request)
            for fault in self._faults:
                if fault[1](request):
                    self._faults.remove(fault)
                    return fault[0]
        return None

    def _serve(self, handler):
        path, _, query = handler.path.partition("?")
        request = Request(handler.command, path, query,
                          {k.lower(): v for k, v in handler.headers.items()})
        length = int(handler.headers.get("Content-Length") or 0)
        if length:
            handler.rfile.read(length)
        answer = self._take_fault(request)
        if callable(answer):
            answer = answer(request)
        answer = answer or self.answer(request)
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        if answer.endless:
            self._send_without_end(handler, answer.body)
            return
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        body = answer.body if answer.sent < 0 else answer.body[:answer.sent]
        if handler.command != "HEAD":
            handler.wfile.write(body)
        handler.wfile.flush()
        if len(body) < len(answer.body):
            handler.close_connection = True


    @staticmethod
    def _send_without_end(handler, body):
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))


def send_bytes(request, data, **headers):
    """Returns a response with all of `data`, or with the requested range."""
    headers = {"ETag": f'"{hashlib.md5(data).hexdigest()}"',
               "Accept-Ranges": "bytes",
               "Content-Type": "application/octet-stream", **headers}
    span = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("range", ""))
    if not span or span.groups() == ("", ""):
        return Answer(200, data, headers)
    first, last = span.groups()
    if not first:
        first, last = max(len(data) - int(last), 0), len(data) - 1
    else:
        first, last = int(first), min(int(last or len(data)), len(data) - 1)
    if first >= len(data):
        return s3_error(416, "InvalidRange", "The range is not satisfiable",
                        **{"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return Answer(206, data[first:last + 1], headers)


def s3_error(status, code, message, more="", **headers):
    body = ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{code}</Code><Message>{escape(message)}</Message>"
            f"{more}<RequestId>4442587FB7D0A2F9</RequestId>"
            "<HostId>host</HostId></Error>")
    return Answer(status, body.encode(),
                  {"Content-Type": "application/xml", **headers})


def slow_down(retry_after=None):
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return s3_error(503, "SlowDown", "Please reduce your request rate.",
                    **headers)


class BucketServer(Server):
    """Lists and sends objects as S3 and the XML API of Google do, path style.
    `buckets`: by the name of a bucket, a dict of its objects by key."""

    def __init__(self, buckets, page_size=1000):
        self.buckets = buckets
        self.page_size = page_size
        super().__init__()

    def authorize(self, request, bucket):
        """Returns a response if the request is refused, or else None."""
        raise NotImplementedError

    def answer(self, request):
        path = urllib.parse.unquote(request.path)
        bucket, slash, key = path[1:].partition("/")
        refusal = self.authorize(request, bucket)
        if refusal:
            return refusal
        if bucket not in self.buckets:
            return s3_error(404, "NoSuchBucket",
                            "The specified bucket does not exist")
        if not key:
            return self.list(request, bucket)
        if key not in self.buckets[bucket]:
            return s3_error(404, "NoSuchKey",
                            "The specified key does not exist.")
        return send_bytes(request, self.buckets[bucket][key])

    def list(self, request, bucket):
        asked = request.parameters
        if asked.get("list-type") != "2":
            return s3_error(501, "NotImplemented", "only ListObjectsV2")
        prefix = asked.get("prefix", "")
        delimiter = asked.get("delimiter", "")
        after = asked.get("start-after", "").encode()
        token = asked.get("continuation-token")
        if token is not None:
            # Tokens have characters that must be encoded in a query.
            if not token.startswith("+/=&"):
                return s3_error(400, "InvalidArgument",
                                "The continuation token provided is incorrect")
            after = bytes.fromhex(token[4:])
        most = min(int(asked.get("max-keys", 1000)), self.page_size)
        # As S3 does: a space becomes "+".
        code = functools.partial(urllib.parse.quote_plus, safe="/*") \
            if asked.get("encoding-type") == "url" else str
        keys, folders, last, truncated = [], [], b"", False
        for key in sorted(self.buckets[bucket], key=str.encode):
            name = key.encode()
            if not key.startswith(prefix) or name <= after:
                continue
            end = key.find(delimiter, len(prefix)) if delimiter else -1
            folder = key[:end + len(delimiter)] if end >= 0 else None
            # A folder that was on the previous page.
            if folder and (folder in folders or
                           after.startswith(folder.encode())):
                continue
            if len(keys) + len(folders) == most:
                truncated = True
                break
            if folder:
                folders.append(folder)
                last = folder.encode() + b"\xff"
            else:
                keys.append(key)
                last = name
        data = self.buckets[bucket]
        body = ['<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult '
                'xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>{bucket}</Name><Prefix>{escape(code(prefix))}</Prefix>"
                f"<KeyCount>{len(keys) + len(folders)}</KeyCount>"
                f"<MaxKeys>{most}</MaxKeys>"
                f"<IsTruncated>{'true' if truncated else 'false'}"
                "</IsTruncated>"]
        if asked.get("encoding-type") == "url":
            body.append("<EncodingType>url</EncodingType>")
        if truncated:
            body.append("<NextContinuationToken>"
                        f"{escape('+/=&' + last.hex())}"
                        "</NextContinuationToken>")
        for key in keys:
            etag = hashlib.md5(data[key]).hexdigest()
            body.append(
                f"<Contents><Key>{escape(code(key))}</Key><LastModified>"
                "2026-01-02T03:04:05.000Z</LastModified>"
                f"<ETag>&quot;{etag}&quot;</ETag><Size>{len(data[key])}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>")
        for folder in folders:
            body.append("<CommonPrefixes><Prefix>"
                        f"{escape(code(folder))}</Prefix></CommonPrefixes>")
        body.append("</ListBucketResult>")
        return Answer(200, "".join(body).encode(),
                      {"Content-Type": "application/xml"})


@dataclasses.dataclass
class StoreKey:
    """Properties of an access key on the server."""

    secret_key: str
    session_token: str = ""
    expires: float = math.inf  # as time.time()


class FakeS3(BucketServer):
    """S3 that checks the signature of each request. `keys`: a StoreKey by the
    access key. `regions`: regions of buckets; the default is `region`. `public`:
    buckets that anybody may read. `moved`: the status for a request that is
    signed for another region, 400 as of an endpoint that belongs to all
    regions, or 301."""

    def __init__(self, buckets, keys, region="us-east-1", page_size=1000):
        self.keys = keys
        self.region = region
        self.regions = {}
        self.public = set()
        self.moved = 400
        # Signatures that botocore has computed as well.
        self.n_compared = 0
        super().__init__(buckets, page_size)

    def authorize(self, request, bucket):
        text = request.headers.get("authorization")
        if text is None:
            if bucket in self.public:
                return None
            return s3_error(403, "AccessDenied", "Access Denied")
        match = AUTHORIZATION.match(text)
        if not match:
            return s3_error(400, "AuthorizationHeaderMalformed",
                            "The authorization header is malformed")
        access_key, scope, region, service, names, signature = match.groups()
        headers = request.headers
        date = headers.get("x-amz-date", "")
        try:
            moment = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
        except ValueError:
            return s3_error(403, "AccessDenied", "AWS authentication requires "
                            "a valid Date or x-amz-date header")
        moment = moment.replace(tzinfo=datetime.timezone.utc).timestamp()
        key = self.keys.get(access_key)
        if key is None:
            return s3_error(403, "InvalidAccessKeyId", "The AWS Access Key Id "
                            "you provided does not exist in our records.",
                            f"<AWSAccessKeyId>{access_key}</AWSAccessKeyId>")
        wanted = self.regions.get(bucket, self.region)
        if region != wanted:
            return self._refuse_region(bucket, region, wanted)
        if abs(moment - self.now()) > MAX_SKEW:
            now = datetime.datetime.fromtimestamp(
                self.now(), datetime.timezone.utc)
            return s3_error(
                403, "RequestTimeTooSkewed", "The difference between the "
                "request time and the current time is too large.",
                f"<RequestTime>{date}</RequestTime><ServerTime>"
                f"{now:%Y-%m-%dT%H:%M:%SZ}</ServerTime>"
                "<MaxAllowedSkewMilliseconds>900000"
                "</MaxAllowedSkewMilliseconds>")
        token = headers.get("x-amz-security-token", "")
        if token != key.session_token:
            return s3_error(400, "InvalidToken", "The provided token is "
                            "malformed or otherwise invalid.")
        if time.time() > key.expires:
            return s3_error(400, "ExpiredToken",
                            "The provided token has expired.",
                            f"<Token-0>{escape(token)}</Token-0>")
        if headers.get("x-amz-content-sha256") != sigv4.EMPTY:
            return s3_error(400, "XAmzContentSHA256Mismatch", "The provided "
                            "'x-amz-content-sha256' header does not match "
                            "what was computed.")
        names = names.split(";")
        unsigned = {n for n in headers if n.startswith("x-amz-")} - set(names)
        if (service != "s3" or "host" not in names or unsigned or
                not scope.startswith(date[:8]) or
                any(name not in headers for name in names)):
            return s3_error(403, "AccessDenied", "There were headers present "
                            "in the request which were not signed")
        if not self._has_signed(key.secret_key, access_key, request, names,
                                scope, date, signature):
            return s3_error(403, "SignatureDoesNotMatch", "The request "
                            "signature we calculated does not match the "
                            "signature you provided. Check your key and "
                            "signing method.", f"<AWSAccessKeyId>{access_key}"
                            "</AWSAccessKeyId>")
        return None

    def _has_signed(self, secret_key, access_key, request, names, scope, date,
                    signature):
        wanted = sigv4.sign(secret_key, request.method, request.path,
                            request.query, request.headers, names, scope, date)
        try:
            from botocore import auth, awsrequest, credentials
        except ImportError:
            return signature == wanted
        signer = auth.S3SigV4Auth(
            credentials.Credentials(access_key, secret_key), "s3",
            scope.split("/")[1])
        query = f"?{request.query}" if request.query else ""
        target = awsrequest.AWSRequest(
            request.method,
            f"http://{request.headers['host']}{request.path}{query}",
            {name: request.headers[name] for name in names})
        target.context["timestamp"] = date
        theirs = signer.signature(signer.string_to_sign(
            target, signer.canonical_request(target)), target)
        assert theirs == wanted, (theirs, wanted, request)
        self.n_compared += 1
        return signature == theirs

    def _refuse_region(self, bucket, region, wanted):
        headers = {"x-amz-bucket-region": wanted}
        if self.moved == 301:
            return s3_error(
                301, "PermanentRedirect", "The bucket you are attempting to "
                "access must be addressed using the specified endpoint.",
                f"<Endpoint>{bucket}.s3.{wanted}.amazonaws.com</Endpoint>"
                f"<Bucket>{bucket}</Bucket>", **headers)
        return s3_error(
            400, "AuthorizationHeaderMalformed", "The authorization header is "
            f"malformed; the region '{region}' is wrong; expecting '{wanted}'",
            f"<Region>{wanted}</Region>", **headers)


class FakeGoogle(BucketServer):
    """The XML API of Google Cloud Storage. `tokens`: valid bearer tokens."""

    def __init__(self, buckets, tokens, page_size=1000):
        self.tokens = set(tokens)
        self.public = set()
        super().__init__(buckets, page_size)

    def authorize(self, request, bucket):
        text = request.headers.get("authorization")
        if text is None and bucket in self.public:
            return None
        if text is None:
            return s3_error(403, "AccessDenied", "Access denied.")
        scheme, _, token = text.partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            return s3_error(401, "AuthenticationRequired",
                            "Authentication required.",
                            **{"WWW-Authenticate": "Bearer"})
        return None


class Mirror(Server):
    """The host to which the Hugging Face Hub redirects. `files`: contents by
    path. A request with Authorization is an error, as with signed URLs."""

    def __init__(self, files=None):
        self.files = {} if files is None else files
        super().__init__()

    def answer(self, request):
        if "authorization" in request.headers:
            return Answer(400, b"Only one auth mechanism allowed")
        if request.path not in self.files:
            return Answer(404, b"not found")
        return send_bytes(request, self.files[request.path])


class FakeHub(Server):
    """The Hugging Face Hub: the tree API and `resolve`. `files`: contents by
    path in the repository REPO, at revision main. Files of more than 100 bytes
    are on the mirror, whose URLs are signed."""

    REPO = "datasets/someone/things"
    SIGNATURE = "sesame-signature"

    def __init__(self, files, mirror, token=None, page_size=3):
        self.files = files
        self.mirror = mirror
        self.token = token
        self.page_size = page_size
        super().__init__()

    def answer(self, request):
        if self.token is not None and \
                request.headers.get("authorization") != f"Bearer {self.token}":
            return answer_json(
                {"error": "Repository not found"}, 401,
                **{"X-Error-Code": "RepoNotFound"})
        path = urllib.parse.unquote(request.path)
        for prefix, answer in ((f"/api/{self.REPO}/tree/main", self.list),
                               (f"/{self.REPO}/resolve/main/", self.resolve)):
            if path.startswith(prefix):
                return answer(request, path[len(prefix):].strip("/"))
        return answer_json({"error": "Repository not found"}, 404)

    def list(self, request, folder):
        asked = request.parameters
        recursive = asked.get("recursive", "").lower() in ("true", "1")
        inside = f"{folder}/" if folder else ""
        entries = {}
        for path, data in sorted(self.files.items()):
            if not path.startswith(inside):
                continue
            parts = path[len(inside):].split("/")
            for i in range(1, len(parts)):
                name = inside + "/".join(parts[:i])
                entries[name] = {"type": "directory", "path": name, "size": 0,
                                 "oid": hashlib.sha1(name.encode()).hexdigest()}
            entries[path] = {"type": "file", "path": path, "size": len(data),
                             "oid": hashlib.sha1(data).hexdigest()}
        if not recursive:
            entries = {path: entry for path, entry in entries.items()
                       if "/" not in path[len(inside):]}
        if not entries:
            return answer_json({"error": "Entry not found"}, 404)
        names = sorted(entries)
        start = int(asked.get("cursor") or 0)
        end = start + self.page_size
        headers = {}
        if end < len(names):
            query = urllib.parse.urlencode({**asked, "cursor": end})
            headers["Link"] = f'<{self.url}{request.path}?{query}>; rel="next"'
        return answer_json([entries[name] for name in names[start:end]],
                           **headers)

    def resolve(self, request, path):
        if path not in self.files:
            return answer_json({"error": "Entry not found"}, 404,
                               **{"X-Error-Code": "EntryNotFound"})
        data = self.files[path]
        if len(data) <= 100:
            return send_bytes(request, data)
        digest = hashlib.sha256(data).hexdigest()
        self.mirror.files[f"/{digest}"] = data
        return Answer(302, b"", {
            "Location": f"{self.mirror.url}/{digest}?X-Amz-Expires=60"
                        f"&X-Amz-Signature={self.SIGNATURE}",
            "X-Linked-Size": str(len(data)), "X-Linked-Etag": f'"{digest}"'})


class CredentialService(Server):
    """Issues temporary credentials like AWS's container services
    (AWS_CONTAINER_CREDENTIALS_FULL_URI). Each response has another key.
    `issue`: function that gets the number of the response and returns a dict
    of AccessKeyId, SecretAccessKey, Token and Expiration. `token`: required
    value of Authorization."""

    PATH = "/v2/credentials"

    def __init__(self, issue, token=None):
        self.issue = issue
        self.token = token
        self.n_issued = 0
        super().__init__()

    def answer(self, request):
        if request.path != self.PATH:
            return answer_json({"message": "not found"}, 404)
        if self.token is not None and \
                request.headers.get("authorization") != self.token:
            return answer_json({"message": "not authorized"}, 401)
        with self._lock:
            self.n_issued += 1
            n = self.n_issued
        return answer_json(self.issue(n))


class GoogleMetadata(Server):
    """The metadata service of a virtual machine of Google Cloud. `issue`:
    function that gets the number of the response and returns a token."""

    PATH = "/computeMetadata/v1/instance/service-accounts/default/token"

    def __init__(self, issue):
        self.issue = issue
        self.n_issued = 0
        super().__init__()

    def answer(self, request):
        if request.path != self.PATH or \
                request.headers.get("metadata-flavor") != "Google":
            return Answer(404, b"not found")
        with self._lock:
            self.n_issued += 1
            n = self.n_issued
        return answer_json(
            {"access_token": self.issue(n), "expires_in": 3599,
             "token_type": "Bearer"}, **{"Metadata-Flavor": "Google"})


def format_time(seconds):
    """Returns the time in the format of credentials."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def find_free_port():
    """Returns a port on which no server listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
