# gst-spdl: random tables of items, and how their labels must be read
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import random
import re

SHARDS, TABLES = ("tar", "zip"), ("parquet", "arrow")
# The header of an NPY file of 8 bytes.
NPY = (b"\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, "
       b"'shape': (8,), }").ljust(127) + b"\n"
BLANKS = " \t\n\r\f"
ODD = [*"'\",;#%?&=\\:0aB_-{}[]*$<>|~ \t\n\r\x01\x7f\xa0\xe9\x85\u2028\u05d0\u0416",
       "  ", "\r\n", '""', "%20", "\\n", "null", "-1", "3.0", "nan", "#bytes=0-1",
       "e\u0301", "\u65e5\u672c", "\U0001f600", "cat", "(string)"]
FIELDS = ["caption", "", " ", "x y", "a,b", "größe", "日本", "e\u0301", "n\n", "t\t",
          "\x01", '"q"', "json", "cls", "null", "-1", "#", "Label", "uri ", "y", "z",
          "\x85", "l" * 255, "ß" * 128, "score", "\\", "a=b;", "image"]
LABELS = {
    "none": [None], "gaps": [None, -1, 0, 1, 2, 10], "booleans": [False, True],
    "integers": [-1, 0, 1, 2, 10, 2**40, -7, 2**63 - 1, 3, 3],
    "floats": [None, 0.0, 3.0, -1.0, 2.0**53],
    "numbers as text": ["1", "2", "10", " 3 ", "-1", "4.0", "", "5\n"],
    "fractions": [0.0, 0.1, 1.5, -2.25, 1e300]}
VALUES = {
    "int64": [0, -1, 2**53, 2**53 + 1, 2**63 - 1, -2**63, 7], "bool": [False, True],
    "float64": [0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, 1e22, 1e-7, 3.0]}


class Refused(Exception):
    """The loader must raise an error with these values."""


def make_text(draw, n=4):
    return "".join(draw.choices(ODD, k=draw.randint(1, n)))


class Table:
    def __init__(self, seed):
        self.seed, self.draw = seed, random.Random(seed)
        draw = self.draw
        self.n = draw.randint(1, 12)
        self.names = self.make_names()
        self.contents = [NPY + draw.randbytes(8) for _ in range(self.n)]
        self.uri = draw.choice(["uri", "uri", "file name", "größe"])
        self.label_column = draw.choice([None] * 5 + [
            "target", "my label", "größe 2", 'a"b', "a,b"])
        few = [make_text(draw) for _ in range(3)]
        self.kind = draw.choice([*LABELS, "text"])
        self.labels = draw.choices(LABELS.get(
            self.kind, [*few, *few, None, "", " "]), k=self.n)
        self.columns = {name: self.make_column() for name in draw.sample(
            FIELDS, draw.randint(0, 5))}
        self.classes = self.make_classes() if draw.random() < 0.4 else None
        self.keeps = draw.random() < 0.2
        targets = [name for name, (kind, _) in self.columns.items()
                   if is_field(name) and "," not in name and kind != "text"]
        self.targets = targets[:draw.choice([0, 0, 1, 2])]
        if self.kind == "fractions" and not self.label_column and not self.classes:
            self.targets.append("label")
        self.is_target = "label" in self.targets

    def make_names(self):
        draw, found = self.draw, {}
        folders = draw.choice([[""], ["", "a.b/", "# d/"],
                               [make_text(draw) + "/" for _ in range(3)]])
        ends = ["", "", ".npy", ".npy ", ".NPY", ".x.npy"]
        others = draw.choice([[b""], [b""], [b""], [b"", b"\xe9"]])
        while len(found) < self.n:
            name = draw.choice(folders) + make_text(draw, 6) + draw.choice(ends)
            found[name.encode() + draw.choice(others)] = True
        return list(found)

    def make_column(self):
        draw, n = self.draw, self.n
        kind = draw.choice([*VALUES, "text", "list"])
        if kind == "text":
            values = [make_text(draw, 5) for _ in range(n)]
            values[0] += draw.choice(["", "", "", "", "", "", "\0"])
        elif kind == "list":
            size = draw.randint(1, 3)
            values = [draw.choices([0.5, -1.0, 1e-3, 3.0], k=size) for _ in range(n)]
        else:
            values = draw.choices([*VALUES[kind]], k=n)
        gap = draw.choice([None, None, "" if kind == "text" else None])
        share = draw.choice([0, 0, 0.3])
        return kind, [gap if draw.random() < share else v for v in values]

    def make_classes(self):
        draw = self.draw
        names = {re.sub(r"\.0$", "", str(v).strip(BLANKS))
                 for v in self.labels if v is not None} - {""}
        if isinstance(self.labels[0], (int, float)) and draw.random() < 0.5 and \
                self.kind != "booleans":
            names = {*"abcdefghijkl"}
        names = sorted(names | {"other"})
        draw.shuffle(names)
        return names[draw.random() < 0.2:] or ["x"]

    def __repr__(self):
        return "\n".join(f"  {key} = {value!r}" for key, value in vars(self).items())


def is_field(name):
    return 0 < len(name.encode()) <= 255 and not re.search("[\0-\x1f\x7f]", name)


def read_number(text):
    """Returns None for a text, and an int for a number whose value is one."""
    if re.fullmatch("[+-]?[0-9]+", text):
        return int(text)
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text):
        return None
    number = float(text)
    return int(number) if number.is_integer() and abs(number) <= 2**53 else number


def read_label(value, classes, form, in_json):
    """Returns the label: a number, None if it is missing, or a text."""
    if isinstance(value, bool) and form == "jsonl":
        raise Refused
    if value is None or (isinstance(value, bool) and form in SHARDS):
        return None
    is_text = isinstance(value, str)
    text = value.strip(BLANKS) if is_text else repr(value)
    number = int(value) if isinstance(value, bool) else read_number(text)
    if text == "":
        return None
    # Numbers of a table or of the JSON of a shard have no text.
    if classes and text in classes and (is_text or not (
            form in TABLES or (form in SHARDS and in_json and
                               isinstance(number, float)))):
        return classes.index(text)
    if classes and isinstance(number, int):
        by_name = any(isinstance(read_number(name), int) for name in classes) and \
            (is_text or form not in TABLES)
        if by_name and str(number) in classes:
            return classes.index(str(number))
        if number == -1 or (0 <= number < len(classes) and not by_name):
            return number
    if classes or isinstance(number, float):
        exact = number is not None and abs(number) <= 2**53
        raise Refused(*["target-columns"] * (exact and not classes))
    return text if number is None else number
