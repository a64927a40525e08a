#!/usr/bin/env python3
"""Tests that check_walls.py sees what it should, and that this tree's walls stand."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_walls  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def breaches_of(name: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding='utf-8')
        return check_walls.breaches(pathlib.Path(folder))


class WallsTest(unittest.TestCase):
    BROKEN = {
        'kernels/a.cc': '#include <grpcpp/grpcpp.h>',
        'kernels/b.h': '#include "gridfold/v1/array.pb.h"',
        'kernels/c.h': '#include <cuda_runtime_api.h>',
        'kernels/cuda/d.cu': '#  include <cub/cub.cuh>',
        'kernels/cuda/e.cu': '#include <oneapi/tbb/parallel_for.h>',
        'kernels/cpu/f.cc': '#include "kernels/cuda/launch.h"',
        'client/g.cc': '#include "kernels/array.h"',
        'client/h.cc': '#include "server/limits.h"',
        'server/scheduler.h': '#include <grpcpp/server.h>',
        'server/array_store.cc': '#include "gridfold/v1/array.pb.h"',
        'server/i.cc': '#include "kernels/cpu/cpu_engine.h"',
        'server/j.cc': 'auto t = v1::ELEMENT_TYPE_INT8;',
        'server/l.h': '#include <prometheus/counter.h>',
        'server/k.cc': 'return {grpc::StatusCode::INTERNAL, ""};',
    }
    ALLOWED = {
        'kernels/cuda/a.cu': '#include <cuda_runtime_api.h>',
        'kernels/cuda/kernel_benchmark_cub.cu': '#include <cub/cub.cuh>',
        'kernels/cpu/b.cc': '#include <tbb/parallel_for.h>',
        'server/proto_conversion.cc': '#include "gridfold/v1/array.pb.h"\n v1::ELEMENT_TYPE_INT8;',
        'server/metrics_family.cc': '#include <prometheus/metric_family.h>',
        'server/rpc_status.cc': 'grpc::StatusCode::INTERNAL',
        'client/c.cc': '#include "gridfold/v1/array.pb.h"\n#include <grpcpp/grpcpp.h>',
    }

    def test_breaches_are_seen(self):
        for name, text in self.BROKEN.items():
            with self.subTest(name):
                self.assertEqual(len(breaches_of(name, text)), 1)

    def test_what_is_allowed_passes(self):
        for name, text in self.ALLOWED.items():
            with self.subTest(name):
                self.assertEqual(breaches_of(name, text), [])

    def test_walls_of_this_tree_stand(self):
        self.assertGreater(sum(1 for _ in check_walls.source_files(ROOT)), 50)
        self.assertEqual(check_walls.breaches(ROOT), [])


if __name__ == '__main__':
    unittest.main()
