# gst-spdl: pipelines from Python methods, one for each element
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import re
import sys
from typing import (Any, Dict, Iterable, Iterator,
                    List, Mapping, Optional, Sequence, Set, Tuple, Union)

from .._arguments import explain_names, suggest
from .._functions.adapters import check_normalization
from .._loader.loader import Loader
from .._loader.states import State
from .._native import library as native
from .elements import METHODS, PROPERTIES, Elements, Function
from .line import (Chain, Chains, Element, Node, Reference, read_line,
                   write_element, write_line)
from .places import check_place, make_absolute
from .values import unify_text, write_any, write_value

# Elements with threads, one of which each branch of a route begins with.
_WITH_THREADS = "spdlfetch", "spdldecode", "spdlaugment", "spdlpipe", "queue"
# Codes of GstParseError.
_NO_SUCH_PROPERTY = 2


class Pipeline(Elements):
    """Pipeline that is built by a method for each element.

        pipeline = (gstspdl.Pipeline()
                    .files("photos", label="folder", shuffle=True)
                    .fetch()
                    .decode(width=224, height=224, resize="cover")
                    .batch(32))
        for batch in pipeline.loader():
            ...

    Each method returns a new pipeline with one more element and leaves the old
    one unchanged. An argument that is None keeps the default of the element.
    Times are seconds or timedeltas. Wrong arguments raise TypeError or
    ValueError with the valid values.

    str(pipeline) is the line in gst-launch syntax, and Pipeline.parse(line)
    reads one. Two pipelines are equal if their lines are equal. A line contains
    only the name of a function of map().

    If a pipeline ends in spdlsink, such as the line of a loader, further
    elements are inserted before it.
    """

    __slots__ = ("_chains",)

    def __init__(self) -> None:
        # The next element is added to the end of the last chain.
        self._chains: Chains = ()

    @classmethod
    def _of(cls, chains: Iterable[Chain]) -> "Pipeline":
        made = cls()
        made._chains = tuple(chains)
        return made

    @classmethod
    def parse(cls, line: Union[str, Loader]) -> "Pipeline":
        """Returns the pipeline that a line in gst-launch syntax describes, or
        the pipeline of a loader.

            pipeline = Pipeline.parse("spdlsrc location=photos ! spdlfetch")
            pipeline = Pipeline.parse(gstspdl.image_folder("photos"))

        Caps between two "!" become a capsfilter. A line has no functions: pass
        the functions of map() to Loader.map(name, function). The pipeline of a
        loader has the functions of the Pipeline or dataset from which the loader
        was made, but no functions of Loader.map().

        Raises ValueError for bins, URIs as elements and links of all pads:
        pass such lines to Loader. Raises TypeError if `line` is neither."""
        if isinstance(line, Loader):
            if isinstance(line._origin, Pipeline):
                return cls._of(line._origin._chains)._with_sink()
            line = line.description or ""
        if not isinstance(line, str) or not line:
            raise TypeError("Pipeline.parse() takes a str, or a Loader that is "
                            f"not of a Gst.Pipeline, not {line!r}")
        return cls._of(tuple(_unify(node) for node in chain)
                       for chain in read_line(line))

    def __str__(self) -> str:
        return write_line(self._chains)

    def __repr__(self) -> str:
        return f"Pipeline.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pipeline):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    # The end of a pipeline

    def loader(self, *, source: Optional[Iterable[Any]] = None,
               caps: Optional[str] = None, max_failures: int = -1,
               state: Optional[State] = None, cpu_budget: float = 0.0,
               process: Union[bool, Mapping[str, Any]] = False,
               classes: Optional[Sequence[str]] = None,
               rank: int = -1, world_size: int = -1) -> Loader:
        """Returns a Loader of this pipeline, which has the same arguments. Adds
        an spdlsink if there is none; sink() sets its properties.

            with pipeline.loader(cpu_budget=0.5) as loader:
                for batch in loader:
                    ..."""
        return Loader(self, source=source, caps=caps,
                      max_failures=max_failures, state=state,
                      cpu_budget=cpu_budget, process=process, classes=classes,
                      rank=rank, world_size=world_size)

    def _settle(self) -> "Pipeline":
        """Returns the pipeline with absolute paths. Raises LoaderError if a local
        location does not exist."""
        def settle(node: Node) -> Node:
            if isinstance(node, Reference) or node.factory not in PROPERTIES:
                return node
            kinds = PROPERTIES[node.factory]
            node = node._replace(properties=tuple(
                (name, make_absolute(text) if kinds.get(name) == ("path",)
                 else text) for name, text in node.properties))
            check_place(dict(node.properties).get("location", ""))
            return node

        return self._of(tuple(map(settle, chain)) for chain in self._chains)

    def _complete(self) -> "Tuple[str, List[Element]]":
        """Returns the line for a loader, and the elements with functions."""
        check_normalization(list(self._list_elements()))
        return str(self._with_sink()), self._list_functions()

    def _with_sink(self) -> "Pipeline":
        has_sink = any(element.factory == "spdlsink"
                       for element in self._list_elements())
        return self if has_sink else self._add("spdlsink", {})

    def _list_functions(self) -> List[Element]:
        return [element for element in self._list_elements()
                if element.function]

    def _write_for_element(self) -> str:
        """Returns the line as the value of a property, which cannot contain
        functions."""
        if self._list_functions():
            raise TypeError("a pipeline without functions of map() or route(), "
                            "which stay in this process")
        return str(self._split_sink()[0])

    # Elements

    def element(self, factory: str, **properties: Any) -> "Pipeline":
        """Adds any element of GStreamer.

            pipeline.element("videoflip", video_direction="90r")

        `factory`: the name of the element.

        Other arguments are the properties of the element, with underscores
        instead of dashes. A property of a pad is written as
        **{"sink_0::xpos": 3}. Values are bools, numbers, str, paths,
        timedeltas (converted to ns), and lists of numbers or str. Caps and
        structures are written as text.

        Raises ValueError for an unknown element or a wrong value, and
        TypeError for an unknown property.
        """
        if not isinstance(factory, str) or not re.fullmatch(
                r"[A-Za-z0-9_][A-Za-z0-9_-]*", factory):
            raise ValueError(f"element(): {factory!r} is not a name of an "
                             "element, such as \"videoflip\"")
        return self._append(_set_properties(f"element({factory!r})",
                                            Element(factory), properties))

    def set(self, element: str, **properties: Any) -> "Pipeline":
        """Sets properties of an element. Returns the changed pipeline.

            pipeline = Pipeline.parse(gstspdl.image_folder("photos"))
            pipeline = pipeline.set("spdldecode", interpolation="bicubic")

        `element`: the element's name, its type or its method, such as
        "spdldecode" or "decode".

        Other arguments are the properties, as for the method element(). None
        restores the default. Raises ValueError if no element or several elements
        have this name, and the errors of element().
        """
        where = f"set({element!r})"
        place = self._find(where, element)
        old = self._at(place)
        new = _set_properties(where, old, properties)
        if new.name != old.name:
            self._check_new_name(where, old.name, new.name)
            new = new._replace(is_renamable=False)
        return self._splice(place, ((new,),))

    def _check_new_name(self, where: str, old: Optional[str],
                        new: Optional[str]) -> None:
        if new in self._list_names():
            raise ValueError(f"{where}: another element has the name {new!r}")
        if any(isinstance(node, Reference) and node.name == old
               for chain in self._chains for node in chain):
            raise ValueError(f"{where}: branches refer to the name {old!r}: "
                             "keep it")

    def replace(self, element: str, pipeline: "Pipeline") -> "Pipeline":
        """Replaces an element with the elements of another pipeline, or removes it.
        Returns the changed pipeline.

            pipeline = Pipeline.parse(gstspdl.image_folder("photos"))
            pipeline = pipeline.replace("spdldecode", Pipeline()
                                        .decode(width=64, height=64).map(blur))

        `element`: as for set().
        `pipeline`: the elements that replace it. Pipeline() removes the
        element.
        """
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"replace(): {pipeline!r} is not a Pipeline")
        if len(pipeline._chains) > 1:
            raise ValueError(f"replace(): {str(pipeline)!r} has branches: "
                             "give it elements in one row")
        place = self._find(f"replace({element!r})", element)
        old = self._at(place).name
        return self._splice(place, _rename(
            pipeline._chains, self._list_names() - {old or ""}))

    def _find(self, where: str, name: str) -> "Tuple[int, int]":
        """Returns the number of the chain and of the element in it."""
        elements = [(node, (i, j)) for i, chain in enumerate(self._chains)
                    for j, node in enumerate(chain) if isinstance(node, Element)]
        found = [place for node, place in elements if node.name == name] or \
            [place for node, place in elements
             if node.factory in (name, METHODS.get(name))]
        if len(found) == 1:
            return found[0]
        names = [node.name or node.factory for node, _ in elements]
        raise ValueError(
            f"{where}: the pipeline has {len(found)} elements of that name"
            f"{': give one of them a name=' if found else suggest(str(name), names)}. "
            f"The elements are {', '.join(names)}")

    def _at(self, place: "Tuple[int, int]") -> Element:
        node = self._chains[place[0]][place[1]]
        assert isinstance(node, Element)
        return node

    def _splice(self, place: "Tuple[int, int]", chains: Chains) -> "Pipeline":
        """Puts the elements of a chain in the place of an element."""
        i, j = place
        whole = list(self._chains)
        whole[i] = (*whole[i][:j], *(chains[0] if chains else ()),
                    *whole[i][j + 1:])
        return self._of(chain for chain in whole if chain)

    def _add(self, factory: str, values: Dict[str, Any]) -> "Pipeline":
        return self._append(_make_element(_METHODS[factory], factory, values))

    def _append(self, element: Element) -> "Pipeline":
        rest, sink = self._split_sink()
        if element.factory.endswith("sink"):
            sink = ()  # the new one replaces it
        if element.name in _list_names((*rest._chains, sink)):
            raise ValueError(f"two elements have the name {element.name!r}: "
                             f"give this {element.factory} another name=")
        *before, chain = rest._chains or ((),)
        if chain and isinstance(chain[-1], Reference):
            raise ValueError(
                f"cannot add {element.factory} to {str(self)!r}: its last "
                f"chain ends at {chain[-1].name!r}. End the line with the "
                "chain that continues")
        return self._of([*before, (*chain, element)])._end_in(sink)

    def _end_in(self, sink: Chain) -> "Pipeline":
        *before, chain = self._chains
        return self._of([*before, (*chain, *sink)])

    def _split_sink(self) -> "Tuple[Pipeline, Chain]":
        """Returns the pipeline without the spdlsink at its end, and the
        spdlsink."""
        *before, chain = self._chains or ((),)
        if not (chain and isinstance(chain[-1], Element) and
                chain[-1].factory == "spdlsink"):
            return self, ()
        rest = (chain[:-1],) if len(chain) > 1 else ()
        return self._of([*before, *rest]), chain[-1:]

    def _map(self, function: Function, values: Dict[str, Any]) -> "Pipeline":
        if not callable(function):
            raise TypeError(f"map(): {function!r} is not callable: give it a "
                            "function")
        processes = values["processes"]
        if isinstance(processes, bool) or not isinstance(processes, int):
            raise TypeError(f"map(): processes={processes!r} must be an int")
        if processes < 0:
            raise ValueError(f"map(): processes={processes} must be at least 0")
        if processes > 0:
            values["concurrency"] = processes
        is_renamable = values["name"] is None
        if is_renamable:
            values["name"] = _find_free(_name_of(function),
                                        self._list_names())
        element = _make_element("map", "spdlpipe", values)
        return self._append(element._replace(
            function=function, processes=processes, is_renamable=is_renamable))

    # Branches

    def _mix(self, others: "Tuple[Pipeline, ...]",
             weights: Optional[Sequence[float]],
             values: Dict[str, Any]) -> "Pipeline":
        pipelines = [self, *others] if self._chains else list(others)
        for pipeline in pipelines:
            if not isinstance(pipeline, Pipeline):
                raise TypeError(f"mix(): {pipeline!r} is not a Pipeline")
            if not pipeline._split_sink()[0]._chains:
                raise ValueError("mix(): one of the pipelines is empty: begin "
                                 "each with a source, such as files()")
        if not pipelines:
            raise ValueError("mix(): there is nothing to mix: give it "
                             "pipelines")
        texts: Dict[str, str] = {}
        if weights is not None:
            if len(weights) != len(pipelines):
                raise ValueError(f"mix(): weights={weights!r} has "
                                 f"{len(weights)} numbers for "
                                 f"{len(pipelines)} pipelines: give one for "
                                 "each")
            for i, weight in enumerate(weights):
                texts[f"sink_{i}::weight"] = write_value(
                    "mix()", f"weights[{i}]", weight,
                    ("float", 0, sys.float_info.max))
                if not weight > 0:
                    raise ValueError(f"mix(): weights[{i}]={weight!r} must be "
                                     "above 0")
        sink = self._split_sink()[1]
        chains: List[Chain] = []
        ends: List[int] = []
        for pipeline in pipelines:
            chains.extend(_rename(pipeline._split_sink()[0]._chains,
                                  _list_names((*chains, sink))))
            ends.append(len(chains) - 1)
        return self._join(values, texts, chains, ends, sink)

    def _join(self, values: Dict[str, Any], texts: Dict[str, str],
              chains: List[Chain], ends: List[int],
              sink: Chain) -> "Pipeline":
        """Joins some of the chains at a new mix, which becomes the open
        end."""
        name, is_renamable = _choose_name("mix", values,
                                          _list_names((*chains, sink)))
        for i, end in enumerate(ends):
            chains[end] = (*chains[end], Reference(name, f"sink_{i}"))
        element = _make_element("mix", "spdlmix", {**values, "name": name})
        chains.append((element._replace(
            properties=(*element.properties, *texts.items()),
            is_renamable=is_renamable),))
        return self._of(chains)._end_in(sink)

    def _route(self, branches: "Union[Mapping[Optional[str], Pipeline], "
               "Sequence[Pipeline]]", function: Optional[Function],
               values: Dict[str, Any]) -> "Pipeline":
        texts: Dict[str, str] = {}
        conditions = _list_branches(branches, function)
        for i, (condition, branch) in enumerate(conditions):
            if not isinstance(branch, Pipeline):
                raise TypeError(f"route(): branch {i} must be a Pipeline, not "
                                f"{branch!r}")
            if condition is not None:
                texts[f"src_{i}::condition"] = write_value(
                    "route()", f"branches[{condition!r}]", condition,
                    ("text",))
        name, is_renamable = _choose_name("route", values, self._list_names())
        element = _make_element("route", "spdlroute", {**values, "name": name})
        rest, sink = self._split_sink()
        chains: List[Chain] = list(rest._append(element._replace(
            properties=(*element.properties, *texts.items()),
            function=function, is_renamable=is_renamable))._chains)
        ends: List[int] = []
        for i, (_, branch) in enumerate(conditions):
            renamed = _rename(branch._chains, _list_names((*chains, sink)))
            chains.extend(_begin_branch(renamed, Reference(name, f"src_{i}")))
            if not _ends_in_sink(chains):
                ends.append(len(chains) - 1)
        if not ends:
            return self._of(chains)
        return self._join({"order": "arrival"}, {}, chains, ends, sink)

    # Names

    def _list_elements(self) -> Iterator[Element]:
        return _list_elements(self._chains)

    def _list_names(self) -> Set[str]:
        return _list_names(self._chains)


def _list_elements(chains: Iterable[Chain]) -> Iterator[Element]:
    for chain in chains:
        for node in chain:
            if isinstance(node, Element):
                yield node


def _list_names(chains: Iterable[Chain]) -> Set[str]:
    return {element.name for element in _list_elements(chains)
            if element.name is not None}


def _find_free(name: str, taken: Set[str]) -> str:
    free, n = name, 1
    while free in taken:
        n += 1
        free = f"{name}{n}"
    return free


def _choose_name(name: str, values: Dict[str, Any],
                 taken: Set[str]) -> "Tuple[str, bool]":
    """Returns the name of a mix or a route, and whether it may be changed."""
    if values.get("name") is None:
        return _find_free(name, taken), True
    chosen = values["name"]
    if not isinstance(chosen, str) or not re.fullmatch(
            r"[A-Za-z0-9_][A-Za-z0-9_-]*", chosen):
        raise ValueError(f"{name}(): name={chosen!r} must have ASCII letters, "
                         "digits, _ and - only")
    if chosen in taken:
        raise ValueError(f"two elements have the name {chosen!r}: give this "
                         f"{name}() another name=")
    return chosen, False


def _name_of(function: Any) -> str:
    while not hasattr(function, "__name__") and hasattr(function, "func"):
        function = function.func  # of functools.partial
    name = getattr(function, "__name__", type(function).__name__)
    return re.sub(r"[^A-Za-z0-9_-]", "", name).lstrip("-") or "function"


def _rename(chains: Chains, taken: Set[str]) -> Chains:
    """Renames elements whose names the builder chose and that are already in
    use."""
    own = _list_names(chains)
    new: Dict[str, str] = {}
    for element in _list_elements(chains):
        if element.name is None or element.name not in taken:
            continue
        if not element.is_renamable:
            raise ValueError(f"two elements have the name {element.name!r}: "
                             "give one of them another name=")
        base = element.name.rstrip("0123456789") or element.name
        new[element.name] = _find_free(base, taken | own | set(new.values()))

    def rename(node: Node) -> Node:
        if isinstance(node, Reference):
            return node._replace(name=new.get(node.name, node.name))
        if node.name not in new:
            return node
        return node._replace(properties=tuple(
            (key, new[text] if key == "name" else text)
            for key, text in node.properties))

    return tuple(tuple(map(rename, chain)) for chain in chains)


def _list_branches(
        branches: "Union[Mapping[Optional[str], Pipeline], Sequence[Pipeline]]",
        function: Optional[Function]
        ) -> "List[Tuple[Optional[str], Pipeline]]":
    """Returns branches with their conditions."""
    if function is None:
        if not isinstance(branches, Mapping) or not branches:
            raise TypeError("route(): branches must be a dict of pipelines by "
                            f"their conditions, not {branches!r}")
        return list(branches.items())
    if not callable(function):
        raise TypeError(f"route(): {function!r} is not callable: give it a "
                        "function")
    if not isinstance(branches, (list, tuple)) or not branches:
        raise TypeError("route(): branches must be a list of pipelines, of "
                        f"which the function chooses one, not {branches!r}")
    return [(None, branch) for branch in branches]


def _begin_branch(chains: Chains, reference: Reference) -> Chains:
    first, *further = chains or ((),)
    start = first[0] if first else None
    if isinstance(start, Reference) or (
            start and start.factory in ("spdlsrc", "spdlworkersrc")):
        raise ValueError("route(): a branch takes items of this pipeline: "
                         "leave out its source")
    if not (isinstance(start, Element) and start.factory in _WITH_THREADS):
        first = (Element("queue"), *first)
    return ((reference, *first), *further)


def _ends_in_sink(chains: Sequence[Chain]) -> bool:
    end = chains[-1][-1]
    return isinstance(end, Element) and end.factory.endswith("sink")


def _make_element(method: str, factory: str,
                  values: Dict[str, Any]) -> Element:
    return Element(factory, tuple(
        (name, write_value(f"{method}()", key, values[key], kind))
        for name, kind in PROPERTIES[factory].items()
        for key in [name.replace("-", "_")]
        if values.get(key) is not None))


def _set_properties(where: str, element: Element,
                    properties: Mapping[str, Any]) -> Element:
    """Returns the element with the properties; None removes one."""
    known = PROPERTIES.get(element.factory, {})
    texts = dict(element.properties)
    for key, value in properties.items():
        head, colons, tail = key.rpartition("::")
        name = head + colons + tail.replace("_", "-")
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_%:-]*", name):
            raise TypeError(f"{where}: {key!r} is not a name of a property")
        if value is None:
            texts.pop(name, None)
        else:
            texts[name] = write_value(
                where, key, value, known[name]) if name in known \
                else write_any(where, key, value)
    element = element._replace(properties=tuple(texts.items()))
    if element.factory not in PROPERTIES or not set(texts) <= set(known):
        _check_element(where, element)
    return element


def _unify(node: Node) -> Node:
    """Formats the properties of a line's element like this package."""
    if isinstance(node, Reference) or node.factory not in PROPERTIES:
        return node
    kinds = PROPERTIES[node.factory]
    return node._replace(properties=tuple(
        (name, unify_text(text, kinds.get(name, ("text",))))
        for name, text in node.properties))


def _check_element(where: str, element: Element) -> None:
    """Lets the library create an element whose type is not in this package,
    which checks the element's properties."""
    try:
        native.check_element(write_element(element))
    except native.Error as error:
        kind = TypeError if error.matches(
            "gst_parse_error", _NO_SUCH_PROPERTY) else ValueError
        raise kind(f"{where}: {error.message}") from None


#: the method of each element
_METHODS: Dict[str, str] = {}
for _name, _factory in METHODS.items():
    setattr(Elements, _name, explain_names(getattr(Elements, _name)))
    _METHODS.setdefault(_factory, _name)
