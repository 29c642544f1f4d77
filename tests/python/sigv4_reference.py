#!/usr/bin/python3
# gst-spdl: AWS Signature Version 4 in Python, and requests to sign
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signs requests according to AWS's specification, for tests of
plugins/fetch/store.

    sigv4_reference.py PROGRAM [COUNT]

Compares the signatures of PROGRAM, which is tests/check/fetch/sign-lines.c,
with those of this file for COUNT random requests (1,000). Where botocore is
installed, its S3SigV4Auth must agree with both. A request is a line of eleven
tab-separated fields: access key, secret key, session token, region, service,
method, host, path, query, time and range. PROGRAM writes, for each line, the
value of Authorization."""

import dataclasses
import datetime
import hashlib
import hmac
import random
import subprocess
import sys
import urllib.parse

EMPTY = hashlib.sha256(b"").hexdigest()
UNRESERVED = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
              "-._~")


@dataclasses.dataclass(frozen=True)
class Key:
    access_key: str
    secret_key: str
    session_token: str = ""


@dataclasses.dataclass(frozen=True)
class Request:
    """A request without a body, with encoded path and query."""

    host: str
    path: str = "/"
    query: str = ""
    time: int = 0
    range: str = ""
    method: str = "GET"
    region: str = "us-east-1"
    service: str = "s3"

    def to_line(self, key):
        return "\t".join([
            key.access_key, key.secret_key, key.session_token, self.region,
            self.service, self.method, self.host, self.path, self.query,
            str(self.time), self.range])


def encode(text, safe=""):
    """Encodes all bytes except A-Z a-z 0-9 - . _ ~, as AWS requires."""
    return urllib.parse.quote(text, safe="-._~" + safe)


def format_time(seconds):
    return datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")


def sort_query(query):
    """Returns the canonical form of a query that is encoded already."""
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return "&".join(f"{name}={value}"
                    for name, _, value in sorted(pairs, key=lambda p: p[::2]))


def sign(secret_key, method, path, query, headers, signed, scope, date):
    """Returns the signature of a request whose body is empty.

    headers: the values by lower-case names
    signed: the names of the headers to sign
    scope: the credential scope without the access key
    """
    signed = sorted(signed)
    canonical = "\n".join([
        method, path, sort_query(query),
        *(f"{name}:{' '.join(headers[name].split())}" for name in signed), "",
        ";".join(signed), headers.get("x-amz-content-sha256", EMPTY)])
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    value = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        value = hmac.digest(value, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}"
    return hmac.digest(value, text.encode(), "sha256").hex()


def sign_request(key, request):
    """Returns the headers that a signature adds to a request."""
    date = format_time(request.time)
    headers = {"x-amz-date": date}
    if request.service == "s3":
        headers["x-amz-content-sha256"] = EMPTY
    if key.session_token:
        headers["x-amz-security-token"] = key.session_token
    signed = {**headers, "host": request.host}
    if request.range:
        signed["range"] = request.range
    scope = f"{date[:8]}/{request.region}/{request.service}/aws4_request"
    signature = sign(key.secret_key, request.method, request.path,
                     request.query, signed, signed, scope, date)
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key.access_key}/{scope}, "
        f"SignedHeaders={';'.join(sorted(signed))}, Signature={signature}")
    return headers


def botocore_sign(key, request):
    """Returns botocore's value of Authorization, or None without botocore."""
    try:
        from botocore import auth, awsrequest, credentials
    except ImportError:
        return None

    class Auth(auth.S3SigV4Auth):
        """Signs with the time of the request, and only the headers that all
        clients sign."""

        def __init__(self):
            super().__init__(credentials.Credentials(
                key.access_key, key.secret_key, key.session_token or None),
                request.service, request.region)

        def sign_at(self, target, date):
            target.context["timestamp"] = date
            self._modify_request_before_signing(target)
            text = self.string_to_sign(target, self.canonical_request(target))
            self._inject_signature_to_request(
                target, self.signature(text, target))

    query = f"?{request.query}" if request.query else ""
    target = awsrequest.AWSRequest(
        request.method, f"https://{request.host}{request.path}{query}",
        {"Host": request.host})
    if request.range:
        target.headers["Range"] = request.range
    Auth().sign_at(target, format_time(request.time))
    return target.headers["Authorization"]


def normalize(authorization):
    """Returns the value with ", " between the parts, as S3 accepts any
    spacing."""
    return ", ".join(part.strip() for part in authorization.split(","))


class Generator:
    """Generator of random requests of all kinds that the elements can send."""

    NAMES = ["continuation-token", "delimiter", "encoding-type", "list-type",
             "max-keys", "prefix", "prefix-a", "prefix.a", "start-after",
             "versionId", "uploads", "A", "a", "a=b", "~", "é", "𝄞"]
    KEYS = ["a", "/", "//", "..", ".", "+", " ", "%", "%2F", "%41", "#", "?",
            "&", "=", ":", "@", "!", "$", "'", "(", ")", "*", ",", ";", "~",
            "_", "-", "é", "e\u0301", "日本", "\U0001f600", "\u00a0", "\\",
            "\"", "<", ">", "^", "`", "{", "|", "}", "[", "]", "\x7f", "\x01"]

    def __init__(self, seed=1):
        self.draw = random.Random(seed)

    def make_text(self, parts, most):
        return "".join(self.draw.choices(parts, k=self.draw.randint(0, most)))

    def make_key(self):
        draw = self.draw
        token = draw.random() < 0.4
        alphabet = UNRESERVED + "/+="
        return Key("AK" + self.make_text(UNRESERVED[:36], 20),
                   self.make_text(alphabet, 44) + "x",
                   self.make_text(alphabet, 900) + "=" if token else "")

    def make_query(self):
        names = self.draw.sample(self.NAMES, self.draw.randint(0, 6))
        pairs = []
        for name in names:
            value = encode(self.make_text(self.KEYS, 5))
            # An empty value is also written without "=".
            pairs.append(f"{encode(name)}={value}"
                         if value or self.draw.random() < 0.5
                         else encode(name))
        return "&".join(pairs)

    def make_request(self):
        draw = self.draw
        first = draw.randint(0, 2 ** draw.randint(1, 45))
        return Request(
            host=draw.choice(["s3.amazonaws.com", "127.0.0.1:9000",
                              "bucket.s3.eu-west-1.amazonaws.com",
                              "localhost", "[::1]:80", "a-b.example:65535"]),
            path="/" + encode(self.make_text(self.KEYS, 12), safe="/"),
            query=self.make_query(),
            time=draw.randint(0, 4_102_444_799),
            range=draw.choice(["", f"bytes={first}-", f"bytes=-{first + 1}",
                               f"bytes={first}-{first + draw.randint(0, 9)}"]),
            method=draw.choice(["GET", "GET", "HEAD"]),
            region=draw.choice(["us-east-1", "eu-central-1", "auto", "x"]))


def compare(program, count=1000, seed=1):
    """Signs `count` requests with all implementations. Returns the number of
    those that botocore signed. Raises if any two signatures differ."""
    generator = Generator(seed)
    requests = [(generator.make_key(), generator.make_request())
                for _ in range(count)]
    lines = [request.to_line(key) for key, request in requests]
    found = subprocess.run(
        [program], input="".join(line + "\n" for line in lines), text=True,
        encoding="utf-8", stdout=subprocess.PIPE, check=True,
        timeout=60).stdout.splitlines()
    if len(found) != count:
        raise AssertionError(f"{count} requests and {len(found)} signatures")
    n_checked = 0
    for (key, request), line, ours in zip(requests, lines, found, strict=True):
        wanted = normalize(sign_request(key, request)["authorization"])
        theirs = botocore_sign(key, request)
        if theirs is not None:
            n_checked += 1
            if normalize(theirs) != wanted:
                raise AssertionError(f"{line!r}\nbotocore: {theirs}\n"
                                     f"reference: {wanted}")
        if normalize(ours) != wanted:
            raise AssertionError(f"{line!r}\n{program}: {ours}\n"
                                 f"reference: {wanted}")
    return n_checked


if __name__ == "__main__":
    N = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(f"{N} signatures are equal, {compare(sys.argv[1], N)} also those of "
          "botocore")
