"""Runs NumPy's own tests with a gridfold server behind its functions, and compares which fail with
the table of FAILURES.md.

    run_suite.py           as a test: says where what fails is not what the table has
    run_suite.py --all     every failure with its error, for the table

GRIDFOLD_SERVER_BINARY and GRIDFOLD_PYTHON_PACKAGE are as the package's tests need them. The table
is of the NumPy that it names; with another one the failures are only counted.
"""

import contextlib
import io
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, os.environ["GRIDFOLD_PYTHON_PACKAGE"])
sys.path.insert(0, str(HERE.parent))
import server_process  # noqa: E402

FILES = {
    "lib/tests/test_histograms.py":
        "(TestHistogram or TestHistogramOptimBinNums or TestHistogramdd) and not big",
    "lib/tests/test_nanfunctions.py":
        "not Median and not Percentile and not Quantile and not NanMask and not replace_nan",
    "lib/tests/test_function_base.py":
        "TestPtp or TestCumsum or TestCumprod or TestProd or TestAll or TestAny",
    "core/tests/test_numeric.py":
        "(TestNonarrayArgs and (mean or ptp or std or sum or var)) or TestStdVar",
}


def run(gpu):
    """The outcomes and errors of all tests, by name."""
    import numpy
    import pytest

    from adaptor import Plugin
    outcomes, errors = {}, {}
    for file, selected in FILES.items():
        path = pathlib.Path(numpy.__file__).parent / file
        if not path.exists():
            continue
        plugin = Plugin(gpu)
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["--noconftest", "-q", "-p", "no:cacheprovider", "-W", "ignore",
                         "--rootdir", str(path.parent), "-k", selected, str(path)], [plugin])
        for name, outcome in plugin.outcomes.items():
            outcomes[name.split("/")[-1]] = outcome
        errors.update({name.split("/")[-1]: text for name, text in plugin.errors.items()})
    return outcomes, errors


def table():
    """The version of NumPy that FAILURES.md is of, and patterns of the tests that it lists."""
    text = (HERE / "FAILURES.md").read_text(encoding="utf-8")
    version = re.search(r"NumPy ([0-9]+\.[0-9]+)", text).group(1)
    return version, [
        pattern.replace(r"\|", "|")
        for pattern in re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)]


def compare(failed, patterns):
    """Prints the differences; whether there are any."""
    unlisted = [name for name in sorted(failed)
                if not any(re.search(pattern, name) for pattern in patterns)]
    stale = [pattern for pattern in patterns
             if not any(re.search(pattern, name) for name in failed)]
    for name in unlisted:
        print(f"fails and is not listed: {name}")
    for pattern in stale:
        print(f"is listed and does not fail: {pattern}")
    return bool(unlisted or stale)


def main():
    server_process.skip_without_device()
    try:
        import pytest  # noqa: F401
    except ImportError:
        print("skipped: pytest is not installed")
        return server_process.SKIPPED
    import gridfold as gf
    import numpy
    with server_process.ServerProcess() as server, gf.connect(server.target) as gpu:
        outcomes, errors = run(gpu)
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    print(f"NumPy {numpy.__version__}: {passed} of {len(outcomes)} tests pass, "
          f"{len(failed)} fail")
    if "--all" in sys.argv:
        for name in sorted(failed):
            print(f"{name}: {errors[name]}")
    version, patterns = table()
    if not outcomes or not numpy.__version__.startswith(version + "."):
        return server_process.SKIPPED
    return compare(failed, patterns)


if __name__ == "__main__":
    sys.exit(main())
