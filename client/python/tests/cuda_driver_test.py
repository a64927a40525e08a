"""What is asked of the CUDA driver, and what is made of its answers: a library stands in for it."""

import ctypes
import unittest
import uuid
from unittest import mock

import numpy as np

import package_case  # noqa: F401
from gridfold import _cuda

UUID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
# Of each device, by its number: what stands for it, and for its context.
DEVICES = {0: 70, 3: 73}
CONTEXTS = {70: 0x1000, 73: 0x2000}
ERROR_INVALID_VALUE = 1


class Memory:
    """An allocation of a device, in this machine's memory."""

    def __init__(self, device, identity, content, has_handle=True, is_managed=False):
        self.device, self.identity = device, identity
        self.has_handle, self.is_managed = has_handle, is_managed
        self.content = np.frombuffer(bytearray(content), np.uint8)
        self.base, self.size = self.content.ctypes.data, self.content.size


class FakeLibrary:
    """libcuda, as far as it is used. Every call is noted, with the current context."""

    def __init__(self, *memories):
        self.memories = {memory.base: memory for memory in memories}
        self.contexts = []  # The current one last.
        self.calls = []
        self.freed = []
        self.failing = None

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        function = getattr(type(self), "_" + name)

        def call(*arguments):
            self.calls.append((name, self.contexts[-1] if self.contexts else None))
            return ERROR_INVALID_VALUE if name == self.failing else function(self, *arguments) or 0
        return call

    def names(self):
        return [name for name, _ in self.calls]

    def _at(self, address):
        return next(memory for memory in self.memories.values()
                    if memory.base <= address < memory.base + memory.size)

    def _cuInit(self, flags):
        assert flags == 0

    def _cuDeviceGet(self, device, ordinal):
        device._obj.value = DEVICES[ordinal]

    def _cuDeviceGetUuid_v2(self, raw, device):
        raw[:] = UUID.int.to_bytes(16, "big")[:15] + bytes([device.value])

    def _cuDevicePrimaryCtxRetain(self, context, device):
        context._obj.value = CONTEXTS[device.value]

    def _cuCtxPushCurrent_v2(self, context):
        self.contexts.append(context.value)

    def _cuCtxPopCurrent_v2(self, context):
        context._obj.value = self.contexts.pop()

    def _cuPointerGetAttribute(self, value, attribute, address):
        memory = self._at(address.value)
        value._obj.value = {7: memory.identity, 8: memory.is_managed, 9: memory.device,
                            10: memory.has_handle}[attribute]

    def _cuMemGetAddressRange_v2(self, base, size, address):
        memory = self._at(address.value)
        base._obj.value, size._obj.value = memory.base, memory.size

    def _cuIpcGetMemHandle(self, handle, address):
        ctypes.memmove(handle, bytes([address.value % 251]) * 64, 64)

    def _cuCtxSynchronize(self):
        pass

    def _cuStreamSynchronize(self, stream):
        self.stream = stream.value

    def _cuMemcpyDtoH_v2(self, to, address, size):
        ctypes.memmove(to.value, address.value, size.value)

    def _cuMemAlloc_v2(self, address, size):
        memory = Memory(0, 99, bytes(size.value))
        self.memories[memory.base] = memory
        address._obj.value = memory.base

    def _cuMemcpyHtoD_v2(self, address, content, size):
        ctypes.memmove(address.value, content.value, size.value)

    def _cuMemFree_v2(self, address):
        self.freed.append(address.value)


class OlderLibrary(FakeLibrary):
    def __getattr__(self, name):
        if name == "cuDeviceGetUuid_v2":
            raise AttributeError(name)
        return super().__getattr__(name)

    _cuDeviceGetUuid = FakeLibrary._cuDeviceGetUuid_v2


class CudaDriverTest(unittest.TestCase):
    def setUp(self):
        self.memory = Memory(3, 1234, range(200))
        self.other = Memory(0, 1235, range(100, 200))
        self.library = FakeLibrary(self.memory, self.other)
        self.driver = _cuda.Driver(self.library)

    def tearDown(self):
        self.assertEqual(self.library.contexts, [], "the current context is what it was")

    def test_it_is_initialised_first(self):
        self.assertEqual(self.library.names(), ["cuInit"])

    def test_allocations(self):
        self.assertEqual(self.driver.allocation(self.memory.base + 17), _cuda.Allocation(
            self.memory.base, 200, 3, 1234, True))
        self.assertEqual(self.driver.allocation(self.other.base + 99), _cuda.Allocation(
            self.other.base, 100, 0, 1235, True))
        self.assertIn(("cuMemGetAddressRange_v2", 0x2000), self.library.calls)
        self.assertIn(("cuMemGetAddressRange_v2", 0x1000), self.library.calls)

    def test_what_can_be_shared(self):
        for has_handle, is_managed in [(True, False), (True, True), (False, False), (False, True)]:
            self.memory.has_handle, self.memory.is_managed = has_handle, is_managed
            self.assertIs(self.driver.allocation(self.memory.base).can_share,
                          has_handle and not is_managed)

    def test_handles(self):
        allocation = self.driver.allocation(self.memory.base + 5)
        self.assertEqual(self.driver.handle(allocation), bytes([self.memory.base % 251]) * 64)
        self.assertIn(("cuIpcGetMemHandle", 0x2000), self.library.calls)

    def test_uuids_are_written_as_nvidia_smi_does(self):
        self.assertEqual(self.driver.uuid(3), "GPU-00112233-4455-6677-8899-aabbccddee49")
        self.assertEqual(self.driver.uuid(0), "GPU-00112233-4455-6677-8899-aabbccddee46")

    def test_older_drivers_have_another_function_for_uuids(self):
        library = OlderLibrary()
        self.assertEqual(_cuda.Driver(library).uuid(3), "GPU-00112233-4455-6677-8899-aabbccddee49")
        self.assertEqual(library.names()[-1], "cuDeviceGetUuid")

    def test_waiting(self):
        self.driver.wait(3, None)
        self.assertEqual(self.library.calls[-2], ("cuCtxSynchronize", 0x2000))
        self.driver.wait(0, 77)
        self.assertEqual(self.library.calls[-2], ("cuStreamSynchronize", 0x1000))
        self.assertEqual(self.library.stream, 77)

    def test_reading(self):
        out = np.zeros(20, np.int16)
        self.driver.read(self.memory.base + 10, out)
        np.testing.assert_array_equal(out.view(np.uint8), np.arange(10, 50))
        self.assertIn(("cuMemcpyDtoH_v2", 0x2000), self.library.calls)

    def test_allocating(self):
        content = np.arange(5, dtype=np.uint64)
        address = self.driver.allocate(0, content)
        out = np.zeros_like(content)
        self.driver.read(address, out)
        np.testing.assert_array_equal(out, content)
        self.driver.free(0, address)
        self.assertEqual(self.library.freed, [address])
        for name in ("cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemFree_v2"):
            self.assertIn((name, 0x1000), self.library.calls)

    def test_a_context_is_retained_once(self):
        for _ in range(3):
            self.driver.wait(0, None)
            self.driver.wait(3, None)
        self.assertEqual(self.library.names().count("cuDevicePrimaryCtxRetain"), 2)

    def test_errors_name_the_function(self):
        self.library.failing = "cuMemGetAddressRange_v2"
        with self.assertRaisesRegex(_cuda.CudaError, "^cuMemGetAddressRange_v2: error 1$"):
            self.driver.allocation(self.memory.base)

    def test_there_is_none_without_a_library_or_a_gpu(self):
        failing = FakeLibrary()
        failing.failing = "cuInit"
        for loaded in [mock.Mock(side_effect=OSError), lambda _: failing, lambda _: object()]:
            with mock.patch.object(ctypes, "CDLL", loaded):
                self.assertIsNone(_cuda.driver.__wrapped__())
        with mock.patch.object(ctypes, "CDLL", lambda name: FakeLibrary() if name == "libcuda.so.1"
                               else None):
            self.assertIsInstance(_cuda.driver.__wrapped__(), _cuda.Driver)
