#!/usr/bin/python3
# gst-spdl: generator of gstspdl/_pipeline/elements.py and gstspdl/ops.py
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the typed methods of gstspdl.Pipeline, from the elements' properties, and
the functions of gstspdl.ops, from the table of operations of spdlaugment.

    meson devenv -C build bindings/python/generate.py [--check]

Run this script after a change of an element's properties or their texts, or of
an operation. The script needs PyGObject, and a build with all plugins and tests.
--check writes nothing, and fails if a file is not up to date.
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

PACKAGE = pathlib.Path(__file__).parent / "gstspdl"
FILE = PACKAGE / "_pipeline" / "elements.py"
OPS_FILE = PACKAGE / "ops.py"

# Properties of other projects' base classes that are arguments too.
INHERITED = {"spdlsink": ["max-buffers"]}
# Properties that are times, in units of a second.
DURATIONS = {"stats-interval": 10**9, "task-timeout": 10**9,
             "worker-timeout": 10**9, "offset": 10**9, "duration": 10**9,
             "timeout": 1, "list-timeout": 1}
# Properties that are files or folders.
PATHS = "location", "cache-dir", "tls-ca-file"
# GstValueArrays, by the type of their elements.
ARRAYS = {"mean": "numbers", "std": "numbers", "crop-scale": "pair",
          "crop-ratio": "pair", "classes": "names"}
# Defaults that depend on more than the element.
DEFAULTS = {
    ("spdlfetch", "concurrency"): "16 in a Loader, else 1",
    "concurrency": "the number of cores in a Loader, else 1",
    "epochs": "as many as there are `for` loops over the Loader",
    "user-agent": None,
}

# The methods: name, element, arguments that may be given by position, and
# properties that this method leaves out.
METHODS = [
    ("files", "spdlsrc", ["location"], ()),
    ("fetch", "spdlfetch", [], ()),
    ("decode", "spdldecode", [], ()),
    ("augment", "spdlaugment", ["ops"], ()),
    ("pipe", "spdlpipe", ["chain"], ()),
    ("map", "spdlpipe", ["function"],
     ("chain", "drain", "part")),
    ("aggregate", "spdlaggregate", ["size"], ()),
    ("disaggregate", "spdldisaggregate", [], ()),
    ("mix", "spdlmix", ["others"], ()),
    ("route", "spdlroute", ["branches"], ()),
    ("pack", "spdlpack", ["row-length"], ()),
    ("batch", "spdlbatch", ["batch-size"], ()),
    ("cuda_upload", "spdlcudaupload", [], ()),
    ("cuda_normalize", "spdlcudanormalize", [], ()),
    ("cache", "spdlcache", [], ()),
    ("worker", "spdlworkersrc", ["pipeline"], ()),
    ("sink", "spdlsink", [], ()),
]
# Texts of arguments that are not properties.
TEXTS = {
    "map": """Calls a Python function with each item, in several threads or
        processes.

        `function`: called with a Sample, and returns the result, as
        Loader.map() describes. The default of `name` is the name of the
        function.

        `processes`: number of worker processes that call the function, as
        Loader.map() describes; it replaces `concurrency`. 0: threads of this
        process call it. `task_timeout` needs processes.""",
    "mix": """Mixes the items of this pipeline with those of others.

        `others`: pipelines, each of which begins with a source. To mix
        only these, begin with an empty pipeline: Pipeline().mix(a, b).

        `weights`: One number per pipeline, its share of the items. The
        first is that of this pipeline, unless it is empty. Default: equal
        shares.""",
    "route": """Sends items to different branches and joins the branches.

        `branches`: A pipeline without a source for each condition, such
        as {"uri=*.png": Pipeline().decode(), None: Pipeline()}. An item
        takes the first branch whose condition matches: label=3,
        uri=*.png, caps=image/png or extra.FIELD=VALUE. None matches all
        remaining items. A branch that ends in a sink is not joined.

        `function`: Called with a Sample, and returns the number of a branch,
        as Loader.route() describes. `branches` is then a list of
        pipelines.""",
}
# Arguments that are not properties, or have a type that no property has.
ARGUMENTS = {
    "chain": 'chain: "Union[str, Pipeline]"',
    "function": "function: Function,\n        *,\n        processes: int = 0",
    "others": '*others: "Pipeline", weights: Optional[Sequence[float]] = None',
    "branches": 'branches: "Union[Mapping[Optional[str], Pipeline], '
                'Sequence[Pipeline]]",\n        '
                'function: "Optional[Callable[[Sample], int]]" = None',
    "pipeline": 'pipeline: "Union[str, Pipeline]"',
}
TYPES = {
    "bool": "bool", "int": "int", "float": "float", "text": "str",
    "path": "Path", "seconds": "Seconds", "line": "str",
    "numbers": "Numbers", "pair": "Tuple[float, float]",
    "names": "Sequence[str]", "headers": "Headers", "ops": "Ops",
}
WHOLE = "gint", "guint", "gint64", "guint64", "glong", "gulong"

HEADER = '''# gst-spdl: methods of Pipeline, one for each element
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generated by bindings/python/generate.py from the elements' properties: run
that instead of editing this file."""

import os
from typing import (TYPE_CHECKING, Any, Callable, Dict, Literal, Mapping,
                    Optional, Sequence, Tuple, Union)

if TYPE_CHECKING:
    from datetime import timedelta

    from .._media.sample import Sample
    from .pipeline import Pipeline

Function = Callable[["Sample"], Any]
Path = Union[str, "os.PathLike[str]"]
Seconds = Union[float, "timedelta"]
Numbers = Union[float, Sequence[float]]
Headers = Mapping[str, Union[str, Sequence[str]]]
Ops = Union[str, Sequence[str]]
'''

# The types of operations' arguments, by their kind.
OP_TYPES = {"range": "Range", "integers": "Integers", "spread": "Range",
            "jitter": "Range", "number": "float", "integer": "int", "odd": "int",
            "size": "Size", "corners": "Corners", "fill": "Fill", "noise": "Noise"}
# The types of words, by the argument's name; others are written out.
OP_WORDS = {"interpolation": "Interpolation", "mode": "PadMode"}
# The meaning of a number that is not a range of one value.
OP_TEXTS = {"spread": "x means -x to x, ", "jitter": "x means 1 - x to 1 + x, ",
            "size": "width and height, "}
OPS_HEADER = '''# gst-spdl: operations of augmentation
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Augmentations for Pipeline.augment(), with a function for each operation.

    from gstspdl import Pipeline, ops

    pipeline = (Pipeline().files("photos").fetch()
                .decode(width=224, height=224)
                .augment([ops.color_jitter(brightness=0.4, hue=0.1, p=0.8),
                          ops.gaussian_blur(sigma=(0.1, 2), p=0.5),
                          ops.choice(ops.grayscale(p=1), ops.invert(p=1))]))

A function returns the operation as text. It raises ValueError or TypeError for
a wrong value. A pair is a range from which each item draws a value, and `p` is
the probability of the operation. docs/reference/spdlaugment.md describes the
operations.

Generated by bindings/python/generate.py from the operations of spdlaugment:
run that instead of editing this file."""

from typing import Any, Dict, Literal, Optional, Sequence, Tuple, Union

from ._pipeline.opvalues import Row as _Row
from ._pipeline.opvalues import write_op as _write_op

Range = Union[float, Tuple[float, float]]
Integers = Union[int, Tuple[int, int]]
Size = Union[int, Tuple[int, int]]
Corners = Sequence[Tuple[float, float]]
Fill = Union[int, Tuple[int, int, int]]
Noise = Union[Fill, Literal["random"]]
'''
OPS_FOOTER = '''def _write(name: str, values: Dict[str, Any]) -> str:
    return _write_op(name, _OPS[name], values)


#: kind, limits or words, and default of each argument
_OPS: Dict[str, Dict[str, _Row]] = {
'''


def fail(text):
    sys.exit(f"generate.py: {text}")


def kind_of(element, factory, spec):
    """Returns the kind of a property and further limits of its values."""
    name, kind = spec.name, spec.value_type
    if kind.is_a(GObject.TYPE_ENUM):
        values = type(element.get_property(name)).__enum_values__
        return ("enum", tuple(values[key].value_nick for key in sorted(values)),
                kind.name[len("GstSpdl"):])
    if kind.name in WHOLE:
        lowest, highest = spec.minimum, spec.maximum
        if name in DURATIONS:
            if lowest == 0 and "-1 =" in spec.blurb:
                lowest = -DURATIONS[name]
            return ("seconds", DURATIONS[name], lowest, highest)
        if re.search(r"\b(ns|nanoseconds)\b|^Seconds", spec.blurb):
            fail(f"add {name} of {factory} to DURATIONS")
        if lowest == 0 and "-1 =" in spec.blurb:
            lowest = -1
        return ("int", lowest, highest)
    if kind.name in ("gdouble", "gfloat"):
        return ("float", spec.minimum, spec.maximum)
    if kind.name == "gboolean":
        return ("bool",)
    if kind.name == "gchararray":
        return ("path",) if name in PATHS else ("ops",) if name == "ops" else \
            ("line",) if name in ("chain", "pipeline") else ("text",)
    if kind.name == "GstCaps":
        return ("text",)
    if kind.name == "GstValueArray":
        if name not in ARRAYS:
            fail(f"add {name} of {factory} to ARRAYS")
        return (ARRAYS[name],)
    if kind.name == "GstStructure" and name == "extra-headers":
        return ("headers",)
    return fail(f"{name} of {factory} has a type that is new: {kind.name}")


def read_element(factory):
    """Returns the properties of an element that are arguments."""
    element = Gst.ElementFactory.make(factory)
    if not element:
        fail(f"there is no element {factory}: build all plugins, and run this "
             "by `meson devenv -C build`")
    found, own_names = {}, []
    for spec in element.list_properties():
        own = spec.owner_type.name.startswith("GstSpdl") or \
            spec.name == "name" or spec.name in INHERITED.get(factory, ())
        if own and spec.flags & GObject.ParamFlags.WRITABLE:
            found[spec.name] = (kind_of(element, factory, spec), spec.blurb,
                                default_of(element, spec))
            if spec.owner_type == element.__gtype__:
                own_names.append(spec.name)
    # The name, which all elements have, comes first.
    found["name"] = (("text",), "Name of the element", None)
    names = dict.fromkeys(["name", *own_names, *found])
    return {name: found[name] for name in names}, \
        element.get_factory().get_metadata("description")


def default_of(element, spec):
    """Returns the default as text; None without a default, or if the
    property's text contains it."""
    name = spec.name
    for key in (element.get_factory().get_name(), name), name:
        if key in DEFAULTS:
            return DEFAULTS[key]
    if spec.value_type.name in ("GstStructure", "GstCaps", "GstValueArray"):
        return None
    value = element.get_property(name)
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return f'"{value.value_nick}"'
    if value is None:
        return None
    if name in DURATIONS:
        return None if value == spec.maximum else f"{value / DURATIONS[name]:g}"
    return repr(value)


def type_of(kind):
    return kind[2] if kind[0] == "enum" else TYPES[kind[0]]


def wrap(text, indent, further=None):
    return textwrap.fill(text, 79, initial_indent=" " * indent,
                         subsequent_indent=" " * (indent if further is None
                                                  else further),
                         break_long_words=False, break_on_hyphens=False)


def describe(name, kind, blurb, default):
    blurb = re.sub(r"\bin (ns|nanoseconds)\b", "in seconds", blurb)
    text = f"`{name.replace('-', '_')}`: {blurb}."
    if kind[0] == "ops":
        text += " A sequence of operations of gstspdl.ops is a value, too."
    if kind[0] == "enum":
        text += " One of " + ", ".join(f'"{nick}"' for nick in kind[1]) + "."
    if default is not None:
        text += f" Default: {default}."
    return wrap(text, 8)


def make_method(method, factory, positions, without, properties, description):
    names = [name for name in properties if name not in without]
    arguments = ["        self,"]
    for name in positions:
        if name in ARGUMENTS:
            arguments.append(f"        {ARGUMENTS[name]},")
        else:
            arguments.append(f"        {name.replace('-', '_')}: "
                             f"{type_of(properties[name][0])},")
    rest = [name for name in names if name not in positions]
    if rest and not any("*" in argument for argument in arguments):
        arguments.append("        *,")
    for name in rest:
        arguments.append(f"        {name.replace('-', '_')}: "
                         f"Optional[{type_of(properties[name][0])}] = None,")
    text = TEXTS.get(method, description + ".")
    documented = [describe(name, *properties[name])
                  for name in [*(n for n in positions if n in names), *rest]]
    body = {
        "map": "self._map(function, locals())",
        "mix": "self._mix(others, weights, locals())",
        "route": "self._route(branches, function, locals())",
    }.get(method, f'self._add("{factory}", locals())')
    lines = [f"    def {method}(", *arguments, '    ) -> "Pipeline":',
             wrap(f'"""{text}', 8) if method not in TEXTS
             else f'        """{text}', "",
             f"        The element is {factory}.", "", *documented,
             '        """', f"        return {body}", ""]
    return "\n".join(lines)


def write_kind(kind):
    kind = kind[:2] if kind[0] == "enum" else kind
    return "(" + ", ".join(repr(part).replace("'", '"') for part in kind) + \
        ("," if len(kind) == 1 else "") + ")"


def write_enums(elements):
    """Returns a type for each enum."""
    enums = {kind[2]: kind[1] for properties in elements.values()
             for kind, *_ in properties.values() if kind[0] == "enum"}
    return "".join(
        wrap(f"{name} = Literal[" + ", ".join(f'"{nick}"' for nick in nicks),
             0, 4) + "]\n"
        for name, nicks in sorted(enums.items())) + "\n\n"


def write_table(elements):
    """Returns the data about each property that values.py needs."""
    lines = ["#: the element of each method", "METHODS: Dict[str, str] = {",
             *(f'    "{method}": "{factory}",'
               for method, factory, *_ in METHODS), "}",
             "#: the kind of each property's values, and their limits",
             "PROPERTIES: Dict[str, Dict[str, Tuple[Any, ...]]] = {"]
    for factory, properties in elements.items():
        lines.append(f'    "{factory}": {{')
        for name, (kind, *_) in properties.items():
            line = f'        "{name}": {write_kind(kind)},'
            if len(line) > 79:
                line = f'        "{name}":\n            {write_kind(kind)},'
            if max(map(len, line.splitlines())) > 79:
                values = textwrap.wrap(write_kind(kind), 66)
                line = f'        "{name}":\n' + "\n".join(
                    f"            {row}" for row in values) + ","
            lines.append(line)
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def generate():
    elements, methods = {}, []
    for method, factory, positions, without in METHODS:
        properties, description = read_element(factory)
        elements[factory] = properties
        methods.append(make_method(method, factory, positions, without,
                                   properties, description))
    ours = {feature.get_name() for feature in
            Gst.Registry.get().get_feature_list(Gst.ElementFactory)
            if re.fullmatch(r"spdl(?!test)\w+", feature.get_name())}
    if ours - set(elements):
        fail(f"add a method for {', '.join(sorted(ours - set(elements)))}")
    stubs = """class Elements:
    def _add(self, factory: str, values: Dict[str, Any]) -> "Pipeline":
        raise NotImplementedError

    def _map(self, function: Function, values: Dict[str, Any]
             ) -> "Pipeline":
        raise NotImplementedError

    def _mix(self, others: "Tuple[Pipeline, ...]",
             weights: Optional[Sequence[float]], values: Dict[str, Any]
             ) -> "Pipeline":
        raise NotImplementedError

    def _route(self, branches: "Union[Mapping[Optional[str], Pipeline], "
               "Sequence[Pipeline]]", function: Optional[Function],
               values: Dict[str, Any]) -> "Pipeline":
        raise NotImplementedError

"""
    return (HEADER + write_enums(elements) + stubs + "\n".join(methods) +
            "\n\n" + write_table(elements))


def read_ops():
    """Returns the table of operations, which augment-raw prints."""
    plugin = Gst.ElementFactory.find("spdlaugment").get_plugin().get_filename()
    program = pathlib.Path(plugin).parents[2] / "tests/check/core/augment-raw"
    if not program.exists():
        fail(f"there is no {program}: build all tests, and run this by `meson "
             "devenv -C build`")
    done = subprocess.run([program, "table"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def default_of_op(kind, low, high, words, fill):
    """Returns the default of an argument as a value in Python; None: not set."""
    if kind in ("fill", "noise"):
        return fill if fill is None or len(set(fill)) > 1 else fill[0]
    if low is None:
        return None
    if words:
        return words[low] if words != ["false", "true"] else bool(low)
    if kind == "jitter":
        return high - 1
    return low if low == high else [low, high]


def wrap_list(before, items, after, further=None):
    """Breaks the lines of a list between its items."""
    text = ", ".join(item.replace(" ", "\0") for item in items)
    return wrap(before.replace(" ", "\0") + text + after.replace(" ", "\0"), 0,
                len(before) if further is None else further).replace("\0", " ")


def write_default(value):
    return repr(tuple(value) if isinstance(value, list) else value).replace("'", '"')


def write_words(words):
    return "Literal[" + ", ".join(f'"{word}"' for word in words) + "]"


def make_op(name, needs_all, has_members, fill, arguments):
    """Returns the function of an operation, and its row of the table."""
    function = "timm_rand_augment" if name.startswith("rand-m") else \
        name.replace("-", "_")
    rows, named, needed, texts, slots = [], [], [], [], set()
    for argument, kind, slot, least, most, low, high, words in arguments:
        # Another name for the same values: a pair gives both.
        if slot in slots:
            continue
        slots.add(slot)
        default = default_of_op(kind, low, high, words, fill)
        limits = write_default(words) if words else f"{least}, {most}"
        rows.append(f'"{argument}": ("{kind}", {limits}, '
                    f"{write_default(default)})")
        type_ = OP_TYPES.get(kind) or OP_WORDS.get(argument) or (
            "bool" if words == ["false", "true"] else write_words(words))
        key = argument.replace("-", "_")
        if needs_all and default is None and kind != "fill":
            needed.append(f"{key}: {type_}")
        elif default is None:
            named.append(f"{key}: Optional[{type_}] = None")
        else:
            named.append(f"{key}: {type_} = {write_default(default)}")
        if argument != "p" and kind not in ("word", "fill", "noise"):
            texts.append(f"`{key}`: {OP_TEXTS.get(kind, '')}{least} to {most}")
    if len(needed) > 1:
        named, needed = needed + named, []
    if arguments[0][1] == "word":
        needed.append(named.pop(0))
    first = ["*operations: str"] if has_members else [*needed, "*"]
    return function, "\n".join([
        wrap_list(f"def {function}(", first + named, ") -> str:"),
        wrap(f'"""Writes {name}. ' + "; ".join(texts), 4).rstrip(". ") + '."""',
        f'    return _write("{name}", locals())', "", "", ""]), wrap_list(
            f'    "{name}": {{', rows, "},", 8)


def generate_ops():
    table = read_ops()
    functions, texts, rows = zip(*(make_op(*row) for row in table))
    words = {OP_WORDS[row[0]]: write_words(row[-1]) for *_, arguments in table
             for row in arguments if row[0] in OP_WORDS}
    return (OPS_HEADER + "".join(
        f"{name} = {type_}\n" for name, type_ in words.items()) + "\n" + wrap_list(
        "__all__ = [", [f'"{name}"' for name in sorted(functions)], "]") + "\n\n\n" +
        "".join(texts) + OPS_FOOTER + "\n".join([*rows, "}", ""]))


def main():
    Gst.init(None)
    for file, text in (FILE, generate()), (OPS_FILE, generate_ops()):
        if sys.argv[1:] != ["--check"]:
            file.write_text(text, "utf-8")
        elif file.read_text("utf-8") != text:
            sys.stderr.writelines(difflib.unified_diff(
                file.read_text("utf-8").splitlines(True), text.splitlines(True),
                file.name, "the elements"))
            fail("the elements have changed: run bindings/python/generate.py, "
                 f"and commit gstspdl/{file.relative_to(PACKAGE)}")


if __name__ == "__main__":
    main()
