# gst-spdl: pipelines as text, in gst-launch's syntax
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A property's value has three forms: the Python value, its text as GStreamer
reads it, and the quoted text in a line. This file converts between the
last two forms, and reads and writes whole lines."""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union


class Element(NamedTuple):
    """An element and the texts of its properties by name."""

    factory: str
    properties: Tuple[Tuple[str, str], ...] = ()
    #: of an spdlpipe or spdlroute: the function that it calls
    function: Optional[Callable[[Any], Any]] = None
    #: of an spdlpipe: the number of processes that call it; 0: threads
    processes: int = 0
    #: the builder chose the name and may change it
    is_renamable: bool = False

    @property
    def name(self) -> Optional[str]:
        return dict(self.properties).get("name")

    def connect(self, loader: Any) -> None:
        """Passes the function to a loader of the line."""
        if self.factory == "spdlroute":
            loader.route(self.name, self.function)
        else:
            loader.map(self.name, self.function, processes=self.processes)


class Reference(NamedTuple):
    """Reference to a pad of an element elsewhere in the line."""

    name: str
    pad: str = ""


Node = Union[Element, Reference]
Chain = Tuple[Node, ...]
Chains = Tuple[Chain, ...]

# A value of these characters needs no quotes, even in a shell.
_PLAIN = re.compile(r"[A-Za-z0-9_./:+,%@^=-]+")
# The same within GStreamer's quotes, as used for strings in arrays.
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                  "0123456789_-+/:.")


def escape_text(text: str) -> str:
    """Returns text in GStreamer's quotes, in which only some characters are
    literal."""
    return '"' + "".join(
        c if c in _SAFE else "".join(f"\\{byte:03o}" for byte in c.encode())
        for c in text) + '"'


def guard_text(text: str) -> str:
    """Returns text that GStreamer parses as this string: the string itself,
    unless GStreamer would parse it as another type."""
    if (text == "NULL" or text == "!" or text.endswith("\\") or
            (text[:1] == text[-1:] and text[:1] in ('"', "'"))):
        return escape_text(text)
    return text


def quote(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote(text: str) -> str:
    """Removes outer quotes, and backslashes except within inner quotes, like
    GStreamer's parser."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    result: List[str] = []
    in_quotes = False
    i = 0
    while i < len(text):
        if text[i] == "\\" and not in_quotes:
            i += 1
            if i == len(text):
                break
        elif text[i] == '"' and not (in_quotes and text[i - 1] == "\\"):
            in_quotes = not in_quotes
        result.append(text[i])
        i += 1
    return "".join(result)


# Writing

def write_element(element: Element) -> str:
    return " ".join([element.factory, *(f"{name}={quote(text)}" for name, text
                                        in element.properties)])


def _write_node(node: Node) -> str:
    if isinstance(node, Element):
        return write_element(node)
    return f"{node.name}.{node.pad}"


def write_line(chains: Chains) -> str:
    return " ".join(" ! ".join(map(_write_node, chain)) for chain in chains)


# Reading

_SPACE = re.compile(r"[ \t\n\v\f\r]*")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_%:-]*")
_WORD = re.compile(r"(?:\\.|[^ \t\n\v\f\r])+")
_QUOTED = re.compile(r'"(?:\\"|[^"])*"|\'(?:\\\'|[^\'])*\'')
_ASSIGN = re.compile(r"[ \t\n\v\f\r]*=[ \t\n\v\f\r]*(?=[^ \t\n\v\f\r])")
_CAPS = re.compile(r"![ \t\n\v\f\r]*([A-Za-z0-9-]+/[A-Za-z0-9-]+"
                   r"(?:\\.|[^!\\])*)!", re.DOTALL)


class _Reader:
    """Reads a line from its beginning to its end."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._place = 0
        self._chains: List[List[Node]] = []
        #: the last token was a "!"
        self._is_linking = False

    def read(self) -> Chains:
        while self._skip_space() < len(self._line):
            self._read_token()
        if self._is_linking:
            self._fail('the line ends with "!": write an element after it')
        return tuple(map(tuple, self._chains))

    def _fail(self, reason: str) -> None:
        raise ValueError(f"cannot parse {self._line!r} at "
                         f"{self._line[self._place:][:20]!r}: {reason}")

    def _take(self, pattern: "re.Pattern[str]") -> Optional["re.Match[str]"]:
        match = pattern.match(self._line, self._place)
        if match:
            self._place = match.end()
        return match

    def _skip_space(self) -> int:
        self._take(_SPACE)
        return self._place

    def _read_token(self) -> None:
        if self._line[self._place] == "!":
            self._read_link()
            return
        start = self._place
        match = self._take(_NAME)
        if not match or self._line.startswith("://", self._place):
            self._place = start
            self._fail('a line has elements with "!" between them, and NAME='
                       "VALUE after an element; for bins, URIs and links of "
                       "all pads, give Loader the line itself")
        elif self._take(_ASSIGN):
            self._read_value(match.group())
        elif self._line.startswith(".", self._place):
            self._place += 1
            pad = self._take(_NAME)
            self._append(Reference(match.group(), pad.group() if pad else ""))
        else:
            self._append(Element(match.group()))

    def _append(self, node: Node) -> None:
        if not self._is_linking:
            self._chains.append([])
        self._chains[-1].append(node)
        self._is_linking = False

    def _read_link(self) -> None:
        if self._is_linking or not self._chains:
            self._fail('write an element before the "!"')
        caps = self._take(_CAPS)
        if caps:
            self._chains[-1].append(Element("capsfilter", (
                ("caps", caps.group(1).rstrip()),)))
        else:
            self._place += 1
        self._is_linking = True

    def _read_value(self, name: str) -> None:
        if self._is_linking or not self._chains or \
                not isinstance(self._chains[-1][-1], Element):
            self._fail(f"{name}=... follows no element")
        element = self._chains[-1][-1]
        assert isinstance(element, Element)
        quoted = _QUOTED.match(self._line, self._place)
        word = _WORD.match(self._line, self._place)
        end = max(match.end() for match in (quoted, word) if match)
        text = _unquote(self._line[self._place:end])
        self._place = end
        properties: Dict[str, str] = dict(element.properties)
        head, colons, tail = name.rpartition("::")
        properties[head + colons + tail.replace("_", "-")] = text
        self._chains[-1][-1] = element._replace(
            properties=tuple(properties.items()))


def read_line(line: str) -> Chains:
    return _Reader(line).read()
