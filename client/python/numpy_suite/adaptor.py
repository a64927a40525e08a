"""Puts a connection behind functions of NumPy, in the modules of NumPy's own tests.

Only names of the test modules change: a function that NumPy calls itself, such as those of
numpy.testing, stays NumPy's. What a connection refuses is an error, and so a failure of the test.
"""

import inspect
import types

import numpy as np

REDUCTIONS = ("sum", "prod", "min", "max", "amin", "amax", "ptp", "argmin", "argmax", "mean",
              "var", "std", "all", "any", "nansum", "nanprod", "nanmin", "nanmax", "nanargmin",
              "nanargmax", "nanmean", "nanvar", "nanstd")
OTHERS = ("cumsum", "cumprod", "nancumsum", "nancumprod", "histogram", "histogram_bin_edges",
          "histogram2d", "histogramdd")


def functions(gpu):
    """By NumPy's own function, what takes its place."""
    return {getattr(np, name): _like(getattr(np, name), _method(gpu, name))
            for name in REDUCTIONS + OTHERS}


def _method(gpu, name):
    return getattr(gpu, {"amin": "min", "amax": "max"}.get(name, name))


def _like(function, method):
    """`method` with the positional arguments of NumPy's function."""
    names = list(inspect.signature(function).parameters)

    def call(*arguments, **options):
        given = dict(zip(names, arguments), **options)
        arrays = [given.pop(name) for name in ("a", "x", "y", "sample") if name in given]
        if given.pop("out", None) is not None:
            raise NotImplementedError("out")
        return method(*arrays, **{name: value for name, value in given.items()
                                  if value is not np._NoValue})

    call.__name__ = function.__name__
    return call


class Names(types.ModuleType):
    """NumPy as a test module sees it."""

    def __init__(self, replaced):
        super().__init__("numpy")
        self.__dict__.update({name: replaced[value] for name, value in _items(np, replaced)})

    def __getattr__(self, name):
        return getattr(np, name)


def _items(module, replaced):
    for name, value in vars(module).items():
        try:
            if value in replaced:
                yield name, value
        except (TypeError, ValueError):
            continue  # Not hashable.


class Plugin:
    """Replaces functions in the modules, classes and parameters that pytest has collected, and
    keeps the outcomes."""

    def __init__(self, gpu):
        self._replaced = functions(gpu)
        self._names = Names(self._replaced)
        self.outcomes = {}
        self.errors = {}

    def pytest_collection_modifyitems(self, items):
        seen = set()
        for item in items:
            for holder in (item.module, item.cls):
                if holder is not None and holder not in seen:
                    seen.add(holder)
                    for base in inspect.getmro(holder) if inspect.isclass(holder) else (holder,):
                        if base is not object:
                            self._replace_in(base)
            if hasattr(item, "callspec"):
                item.callspec.params.update({name: self._instead_of(value) for name, value
                                             in item.callspec.params.items()})

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed or report.skipped:
            self.outcomes[report.nodeid] = report.outcome
            if report.failed:
                self.errors[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]

    def _replace_in(self, holder):
        for name, value in list(vars(holder).items()):
            instead = self._instead_of(value)
            if instead is not value:
                setattr(holder, name, instead)

    def _instead_of(self, value):
        if value is np:
            return self._names
        if isinstance(value, (list, tuple)):
            return type(value)(self._instead_of(one) for one in value)
        try:
            return self._replaced.get(value, value)
        except TypeError:
            return value
