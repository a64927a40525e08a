#!/usr/bin/env python3
"""Tests that check_walls.py sees what it should, and that this tree's walls stand."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_walls  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def breaches_of(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return check_walls.breaches(pathlib.Path(folder))


class RulesTest(unittest.TestCase):
    BROKEN = {
        'kernels/a.cc': '#include <grpcpp/grpcpp.h>',
        'kernels/b.h': '#include "gridfold/v1/array.pb.h"',
        'kernels/c.h': '#include <cuda_runtime_api.h>',
        'kernels/cuda/d_test.cu': '#include <oneapi/tbb/parallel_for.h>',
        'kernels/cuda/lane/d.cu': '#  include <cub/cub.cuh>',
        'kernels/cpu/lane/f_test.cc': '#include "kernels/cuda/device/launch.h"',
        'client/g.cc': '#include "kernels/contract/array.h"',
        'client/h.cc': '#include "server/base/limits.h"',
        'client/core/m.cc': '#include "kernels/cuda/lane/engine.h"',
        'client/core/n.cc': '#include "gridfold/client.h"',
        'client/core/o.c': '#include <grpcpp/grpcpp.h>',
        'server/scheduling/scheduler.h': '#include <grpcpp/server.h>',
        'server/arrays/array_store.cc': '#include "gridfold/v1/array.pb.h"',
        'server/i.cc': '#include "kernels/cpu/lane/engine.h"',
        'server/j.cc': 'auto t = v1::ELEMENT_TYPE_INT8;',
        'server/l.h': '#include <prometheus/counter.h>',
        'server/k.cc': 'return {grpc::StatusCode::INTERNAL, ""};',
    }
    ALLOWED = {
        'kernels/cuda/lane/a.cu': '#include <cuda_runtime_api.h>',
        'kernels/cuda/benchmark/cub_scan.cu': '#include <cub/cub.cuh>',
        'kernels/cpu/base/b.cc': '#include <tbb/parallel_for.h>',
        'server/wire/proto_conversion.cc':
            '#include "gridfold/v1/array.pb.h"\n v1::ELEMENT_TYPE_INT8;',
        'server/metrics/family.cc': '#include <prometheus/metric_family.h>',
        'server/wire/rpc_status.cc': 'grpc::StatusCode::INTERNAL',
        'client/core/d.cc': '#include "kernels/cpu/lane/engine.h"',
        'client/c.cc': '#include "gridfold/v1/array.pb.h"\n#include <grpcpp/grpcpp.h>',
    }

    @staticmethod
    def in_a_folder(name: str, text: str) -> dict[str, str]:
        """The file, in a folder that is a library where it is in one."""
        folder = name.rpartition('/')[0]
        declared = '/' in folder and not folder.startswith('client')
        return {name: text} | ({f'{folder}/CMakeLists.txt': 'gridfold_add_folder()'}
                               if declared else {})

    def test_breaches_are_seen(self):
        for name, text in self.BROKEN.items():
            with self.subTest(name):
                self.assertEqual(len(breaches_of(self.in_a_folder(name, text))), 1)

    def test_what_is_allowed_passes(self):
        for name, text in self.ALLOWED.items():
            with self.subTest(name):
                self.assertEqual(breaches_of(self.in_a_folder(name, text)), [])


class FoldersTest(unittest.TestCase):
    """Three folders: low; high, which uses it; and what is above all folders."""
    TREE = {
        'server/low/CMakeLists.txt': 'gridfold_add_folder(SOURCES low.cc)',
        'server/low/low.h': '',
        'server/low/low.cc': '#include "server/low/low.h"',
        'server/high/CMakeLists.txt':
            '# High.\ngridfold_add_folder(\n  SOURCES high.cc\n  USES server/low\n  LIBRARIES a::b)',
        'server/high/high.h': '#include "server/low/low.h"',
        'server/server.cc': '#include "server/high/high.h"\n#include "server/low/low.h"',
        'server/low/low_test.cc': '#include "server/high/high.h"',
    }

    def breaches_with(self, changes: dict[str, str]) -> list[str]:
        return breaches_of(self.TREE | changes)

    def test_what_a_folder_uses_may_be_included(self):
        self.assertEqual(breaches_of(self.TREE), [])

    def test_an_include_of_what_is_not_used(self):
        self.assertEqual(
            self.breaches_with({'server/low/low.cc': '#include "server/high/high.h"'}),
            ['server/low/low.cc: includes server/high/high.h: server/low does not use server/high'])

    def test_a_use_without_an_include(self):
        self.assertEqual(
            self.breaches_with({'server/high/high.h': ''}),
            ['server/high/CMakeLists.txt: uses server/low, of which no file includes anything'])

    def test_a_circle(self):
        found = self.breaches_with({
            'server/low/low.cc': '#include "server/high/high.h"',
            'server/low/CMakeLists.txt': 'gridfold_add_folder(SOURCES low.cc USES server/high)'})
        self.assertEqual(
            found, ['server/high -> server/low -> server/high: a circle of folders'])

    def test_a_folder_that_is_no_library(self):
        self.assertEqual(
            self.breaches_with({'server/new/new.h': ''}),
            ['server/new/new.h: server/new/CMakeLists.txt has no gridfold_add_folder'])


class TreeTest(unittest.TestCase):
    def test_walls_of_this_tree_stand(self):
        self.assertGreater(sum(1 for _ in check_walls.source_files(ROOT)), 50)
        self.assertGreater(len(check_walls.declared_folders(ROOT)), 40)
        self.assertEqual(check_walls.breaches(ROOT), [])


if __name__ == '__main__':
    unittest.main()
