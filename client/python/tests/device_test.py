"""Arrays in a GPU's memory: which way they go. The driver and the server's GPU are stand-ins, whose
memory is this process's; device_gpu_test.py has real ones."""

import ctypes
import gc
import unittest
from unittest import mock

import numpy as np

from package_case import PackageTest, gf
from gridfold import _cuda, _device
from gridfold._connection import Connection
from gridfold._local import LocalEngine

UUID = "GPU-00000000-1111-2222-3333-444444444444"


class FakeDriver:
    """Allocations of NumPy's arrays, which a stand-in of a server may open by their handles."""

    def __init__(self):
        self.allocations = {}
        self.can_share = True
        self.waits = []
        self.reads = 0
        self._kept = {}

    def add(self, array, identity=None):
        base = array.ctypes.data
        self.allocations[base] = _cuda.Allocation(
            base, array.nbytes, 0, identity or len(self.allocations) + 1, self.can_share)
        return base

    def allocation(self, address):
        for one in self.allocations.values():
            if one.base <= address < one.base + one.size:
                return one
        raise _cuda.CudaError("no such memory")

    def handle(self, allocation):
        return allocation.base.to_bytes(8, "little").ljust(64, b"\0")

    def uuid(self, device):
        return UUID

    def wait(self, device, stream):
        self.waits.append(stream)

    def read(self, address, out):
        self.reads += 1
        ctypes.memmove(out.ctypes.data, address, out.nbytes)

    def allocate(self, device, content):
        copy = content.copy()
        self._kept[copy.ctypes.data] = copy
        return self.add(copy, 10**6 + len(self._kept))

    def free(self, device, address):
        del self.allocations[address], self._kept[address]


class FakeServer(LocalEngine):
    """A server of one GPU on this machine, or on another that only says so."""

    def __init__(self, uuid=UUID):
        super().__init__(1)
        self.uuid = uuid
        self.regions = {}
        self.registered = self.unregistered = 0
        self.error = None
        self.sees = True
        self.shift = 0

    def with_options(self, *_):
        return self

    def info(self):
        return "0", "cuda", [("other", 1, 1, "9.0", "GPU-x"), ("GPU", 1, 1, "9.0", self.uuid)], {
            "region_count_max": 64}

    def register_device_region(self, handle, device, size):
        assert device == 1 and len(handle) == 64
        if self.error:
            raise self.error
        self.registered += 1
        name = f"r{self.registered}"
        base = int.from_bytes(handle[:8], "little")
        memory = (ctypes.c_ubyte * size).from_address(base)
        self.regions[name] = memory if self.sees else bytearray(size)
        return name

    def unregister_region(self, name):
        self.unregistered += 1
        if self.regions.pop(name, None) is None:
            raise gf.NotFoundError("no region", "REGION_NOT_FOUND")

    def _source(self, source):
        place, number, shape = source
        if isinstance(place, np.ndarray) or len(place) == 3:
            return super()._source(source)
        if place[0] not in self.regions:
            raise gf.NotFoundError(f"there is no region {place[0]!r}", "REGION_NOT_FOUND")
        bytes_ = np.frombuffer(self.regions[place[0]], np.uint8)[place[1]:]
        dtype = gf._elements.dtype_of(number)
        values = bytes_[:int(np.prod(shape)) * dtype.itemsize].view(dtype)
        return values, number, shape if len(shape) > 1 else None


class OnDevice:
    """As CuPy's arrays: the memory of an array of NumPy's, which is said to be a GPU's."""

    def __init__(self, driver, array, **interface):
        self._array = array
        self._driver = driver
        self.shape, self.dtype = array.shape, array.dtype
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3,
            "data": (array.ctypes.data, False), "strides": None, "stream": 7, **interface}

    def __array__(self, *_):
        raise TypeError("implicit conversion")

    def get(self):
        return self._array.copy()


class WithDlpack:
    """As an array of a library that knows nothing but DLPack, which says that it is a GPU's."""

    def __init__(self, array):
        self._array = array
        self.stream = None

    def __dlpack__(self, stream=None, **_):
        self.stream = stream
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


class DeviceTest(unittest.TestCase):
    def setUp(self):
        self.driver = FakeDriver()
        self.enterContext(mock.patch.object(_device._cuda, "driver", lambda: self.driver))
        self.server = FakeServer()
        self.gpu = Connection(self.server, "fake", shares_memory=True)
        self.block = np.arange(1000, dtype=np.float32)
        self.driver.add(self.block)

    def on_device(self, array=None, **interface):
        return OnDevice(self.driver, self.block if array is None else array, **interface)

    def test_an_allocation_is_shared_once_and_computed_in_place(self):
        whole, part = self.on_device(), self.on_device(self.block[100:200].reshape(10, 10))
        self.assertEqual(self.gpu.sum(whole), self.block.sum(dtype=np.float64))
        np.testing.assert_array_equal(self.gpu.max(part, axis=1),
                                      self.block[100:200].reshape(10, 10).max(1))
        np.testing.assert_array_equal(self.gpu.cumsum(part, axis=0),
                                      self.block[100:200].reshape(10, 10).cumsum(0))
        counts, _ = self.gpu.histogram(whole, 10)
        np.testing.assert_array_equal(counts, np.full(10, 100))
        self.assertEqual(self.gpu.quantile(whole, 0.5), 499.5)
        self.assertEqual(self.gpu.topk(whole, 1).indices[0], 999)
        grouped = self.gpu.group(np.zeros(1000, np.int32)).agg(whole, "max")
        self.assertEqual(grouped.statistics["max"][0], 999)
        self.assertEqual(self.server.registered, 2, "the proof, and the allocation")
        self.assertEqual((self.driver.reads, set(self.driver.waits)), (0, {7}))
        del whole
        gc.collect()
        self.assertEqual(len(self.server.regions), 1)
        del part
        gc.collect()
        self.assertEqual(len(self.server.regions), 0, "unregistered before the memory may go")

    def test_dlpack(self):
        array = WithDlpack(self.block[10:20])
        self.assertEqual(self.gpu.sum(array), self.block[10:20].sum())
        self.assertEqual(array.stream, 1)
        self.assertEqual((self.server.registered, self.driver.reads), (2, 0))
        for dtype in ("i1", "u2", "f8"):
            other = np.arange(50, dtype=dtype)
            self.driver.add(other)
            self.assertEqual(self.gpu.max(WithDlpack(other)), 49)

    def test_streams_are_waited_for(self):
        for interface, expected in (({"stream": None}, []), ({"stream": 1}, [1]),
                                    ({"version": 2}, [7]),
                                    ({"version": 2, "stream": None}, [None])):
            with self.subTest(interface=interface):
                self.driver.waits.clear()
                self.gpu.sum(self.on_device(**interface))
                self.assertEqual(self.driver.waits, expected)

    def test_what_cannot_be_shared_is_copied(self):
        def total(connection=None):
            return (connection or self.gpu).sum(self.on_device())

        expected = self.block.sum(dtype=np.float64)
        self.driver.can_share = False
        self.driver.add(self.block)
        self.assertEqual(total(), expected)
        self.driver.can_share = True
        self.driver.add(self.block)
        cases = {"another GPU": FakeServer("GPU-y"), "another machine": FakeServer(),
                 "no room": FakeServer(), "no regions": FakeServer()}
        cases["another machine"].sees = False
        cases["no room"].error = gf.ResourceExhaustedError("full", "REGION_QUOTA")
        cases["no regions"].info = lambda: ("0", "cuda", [("GPU", 1, 1, "9.0", UUID)], {
            "region_count_max": 0})
        for name, server in cases.items():
            with self.subTest(name):
                reads = self.driver.reads
                self.assertEqual(total(Connection(server, name, shares_memory=True)), expected)
                self.assertEqual(self.driver.reads, reads + 1)
                self.assertEqual(server.regions, {})
        self.assertEqual(total(gf.local(1)), expected)
        self.assertEqual(total(Connection(self.server, "several servers")), expected)
        self.assertEqual(self.server.registered, 0)

    def test_a_server_that_has_lost_a_region_gets_another(self):
        array = self.on_device()
        self.gpu.sum(array)
        self.server.regions.clear()
        self.assertEqual(self.gpu.max(array), 999)
        self.assertEqual((self.server.registered, self.driver.reads), (3, 0))
        self.server.regions.clear()
        self.server.error = gf.UnavailableError("gone")
        self.assertEqual(self.gpu.max(array), 999)
        self.assertEqual(self.driver.reads, 1)

    def test_few_allocations_are_kept_and_none_after_the_end(self):
        arrays = []
        for i in range(40):
            block = np.full(8, i, np.int64)
            self.driver.add(block, 100 + i)
            arrays.append(self.on_device(block))
            self.assertEqual(self.gpu.sum(arrays[-1]), 8 * i)
            self.assertLessEqual(len(self.server.regions), 17)
        self.assertEqual(self.gpu.sum(arrays[0]), 0)
        self.gpu.close()
        self.assertEqual(self.server.regions, {})

    def test_other_layouts_and_kinds(self):
        square = self.block[:900].reshape(30, 30)
        turned = self.on_device(square.T, strides=square.T.strides)
        self.assertEqual(self.gpu.argmax(turned), np.argmax(square.T))
        self.assertEqual(self.gpu.sum(turned, dtype=np.int64), square.astype(np.int64).sum())
        self.assertEqual(self.gpu.sum(self.on_device(), dtype=np.int64), 499500)
        empty = self.on_device(np.zeros((0, 3), np.float32), data=(0, False))
        np.testing.assert_array_equal(self.gpu.sum(empty, axis=0), np.zeros(3, np.float32))
        truths = np.array([True, False, True])
        self.driver.add(truths)
        self.assertEqual(self.gpu.sum(self.on_device(truths)), 2)
        counts, _ = self.gpu.histogram(self.on_device(), "auto")
        np.testing.assert_array_equal(counts, np.histogram(self.block, "auto")[0])
        deep = self.block[:512].reshape((2,) * 9)
        np.testing.assert_array_equal(self.gpu.sum(self.on_device(deep), axis=(0, 2, 4, 6, 8)),
                                      deep.sum((0, 2, 4, 6, 8)))
        with self.assertRaises(TypeError):
            self.gpu.sum(self.on_device(np.zeros(3, np.complex64)))

    def test_wrong_calls_are_told(self):
        with self.assertRaises(ValueError):
            self.gpu.quantile(self.on_device(), 2)
        self.server.reduce = mock.Mock(side_effect=gf.InvalidArgumentError("no", "INVALID_FIELD"))
        with self.assertRaises(gf.InvalidArgumentError):
            # The server's judgement is raised, and not taken for a lost region.
            Connection(self.server, "fake").reduce(self.on_device(), ["sum"])


class RealServerTest(PackageTest):
    def test_a_server_without_a_gpu_gets_a_copy(self):
        driver = FakeDriver()
        block = np.arange(1000, dtype=np.int32)
        driver.add(block)
        with mock.patch.object(_device._cuda, "driver", lambda: driver):
            answer = self.gpu.reduce(OnDevice(driver, block), ["sum"])
        self.assertEqual(answer.sum, block.sum())
        self.assertEqual(answer.execution.transport, "inline")
        self.assertEqual(driver.reads, 1)
        with self.gpu.put(block) as kept:
            self.assertEqual(self.gpu.reduce(kept, ["sum"]).execution.transport, "in place")

    def test_no_region_of_a_handle_that_is_none(self):
        with self.assertRaises(gf.Error):
            self.gpu._native.register_device_region(b"x" * 64, 0, 4096)
        with self.assertRaises(gf.Error):
            self.gpu._native.unregister_region("none")


if __name__ == "__main__":
    unittest.main()
