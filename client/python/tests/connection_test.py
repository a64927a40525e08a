"""Connections: options, errors, and the environment."""

import pickle
import socket
import unittest
from unittest import mock

import numpy as np

from package_case import PackageTest, gf


class ConnectionTest(PackageTest):
    def test_info(self):
        info = self.gpu.info()
        self.assertEqual(info.engine, self.server.engine)
        self.assertGreater(info.limits["message_bytes_max"], 0)
        self.assertTrue(info.devices[0].name)
        self.assertTrue(self.gpu.is_serving())

    def test_the_environment_names_the_server(self):
        with mock.patch.dict("os.environ", GRIDFOLD_SERVER=self.server.target):
            with gf.connect() as gpu:
                self.assertEqual(gpu.sum([1, 2]), 3)
                self.assertEqual(repr(gpu), f"<gridfold.Connection to {self.server.target}>")
        with self.assertRaises(gf.FailedPreconditionError):
            gpu.sum([1])
        self.assertIn("closed", repr(gpu))

    def test_nobody_listens(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            target = "127.0.0.1:%d" % probe.getsockname()[1]
            with self.assertRaises(gf.UnavailableError) as raised:
                gf.connect(target, connect_timeout=1)
        self.assertIsInstance(raised.exception, ConnectionError)
        self.assertEqual(raised.exception.code, "UNAVAILABLE")

    def test_errors_name_the_field(self):
        with self.assertRaises(gf.InvalidArgumentError) as raised:
            self.gpu._native.histogram((np.ones(3), 12, None), [("even", 3, 1.0, -1.0)], None,
                                       None, False, [])
        error = raised.exception
        self.assertEqual((error.code, error.field),
                         ("INVALID_ARGUMENT", "bins[0].even.upper_bound"))
        copied = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copied), str(copied), copied.field),
                         (type(error), str(error), error.field))

    def test_timeout(self):
        with self.assertRaises(gf.DeadlineExceededError) as raised:
            self.gpu.options(timeout=0.001).sum(np.ones(8_000_000))
        self.assertIsInstance(raised.exception, TimeoutError)
        self.assertEqual(self.gpu.options(timeout=60, priority="high").sum([1]), 1)

    def test_arguments_that_make_no_sense(self):
        target = self.server.target
        for options, error in ((dict(priority="urgent"), ValueError),
                               (dict(channels=0), gf.InvalidArgumentError),
                               (dict(balance="best"), ValueError),
                               (dict(tenant="a b"), gf.InvalidArgumentError),
                               (dict(attempts=0), gf.InvalidArgumentError),
                               (dict(tls_ca="/no/such/file"), gf.Error),
                               (dict(timeout="1"), TypeError)):
            with self.subTest(options=options), self.assertRaises(error):
                gf.connect(target, **options)
        with self.assertRaises(TypeError):
            gf.connect(7)

    def test_tenants_have_their_own_arrays(self):
        with gf.connect(self.server.target, tenant="other") as other:
            with self.gpu.put([1], "mine"):
                self.assertEqual(other.arrays(), [])


if __name__ == "__main__":
    unittest.main()
