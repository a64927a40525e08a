#!/usr/bin/env python3
"""Writes numpy_vectors.json: small jobs and the answers that NumPy gives.

Sums, means, norms and variances are not NumPy's, which rounds on the way, but exact (math.fsum and
fractions), rounded once. Everything else is NumPy's own. The file is committed; a test runs this
script with --check, which fails where the file is not what it would write.

Arrays are little-endian bytes in hexadecimal, floating-point numbers hexadecimal too, so nothing is
lost on the way. A case reads like the request: see numpy_vector_test.cc. numpy_vectors/ makes them.
"""

import argparse
import json
import sys

import numpy as np

from numpy_vectors.histograms import histograms
from numpy_vectors.order_statistics import quantiles, tops
from numpy_vectors.reductions import reductions, reductions_along_axes
from numpy_vectors.scans import scans, scans_along_axes


def generate():
    # RandomState's streams are frozen: every version of NumPy draws the same numbers.
    random = np.random.RandomState(20231)
    cases = [*reductions(random), *scans(random), *histograms(random),
             *reductions_along_axes(random), *scans_along_axes(random),
             *quantiles(random), *tops(random)]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    return '{"cases":[\n' + lines + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the file to write, or to compare with")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    text = generate()
    if not arguments.check:
        with open(arguments.file, "w", encoding="ascii") as file:
            file.write(text)
        return 0
    with open(arguments.file, encoding="ascii") as file:
        if file.read() == text:
            return 0
    print(f"{arguments.file} is not what this script writes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
