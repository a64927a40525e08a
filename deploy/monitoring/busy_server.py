"""A small server, and load that leaves a mark on everything that it counts.

GRIDFOLD_SERVER_BINARY is the server, GRIDFOLD_PYTHON_STUBS where protoc has written the stubs.
"""

import contextlib
import os
import pathlib
import sys
import threading
import time
import urllib.request

import grpc
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, os.environ["GRIDFOLD_PYTHON_STUBS"])
sys.path.insert(0, str(ROOT / "client" / "python"))
import server_process  # noqa: E402
from gridfold.v1 import array_pb2  # noqa: E402
from gridfold.v1 import array_service_pb2 as arrays  # noqa: E402
from gridfold.v1 import array_service_pb2_grpc  # noqa: E402
from gridfold.v1 import compute_service_pb2 as compute  # noqa: E402
from gridfold.v1 import compute_service_pb2_grpc  # noqa: E402
from gridfold.v1 import region_service_pb2 as regions  # noqa: E402
from gridfold.v1 import region_service_pb2_grpc  # noqa: E402

# So little that a handful of callers fills the queue.
OPTIONS = ["--lanes", "1", "--cpu-threads", "1", "--max-queued-jobs", "8", "--max-streams", "1",
           "--resident-bytes", "64MiB", "--allow-regions"]
SMALL = np.arange(1024, dtype=np.float32)
LARGE = np.tile(SMALL, 256)
RESIDENT_ELEMENTS = 8 << 20
STREAMED = array_pb2.StreamedArray(element_type=array_pb2.ELEMENT_TYPE_FLOAT32)
START_SECONDS_MAX = 60
REGION = f"/gridfold-monitoring-{os.getpid()}"


def source(array):
    return array_pb2.ArraySource(inline_array=array_pb2.InlineArray(
        element_type=array_pb2.ELEMENT_TYPE_FLOAT32, data=array.tobytes()))


def reduction(array_source):
    return compute.ReduceArrayRequest(array=array_source,
                                      statistics=[compute.STATISTIC_VARIANCE])


class BusyServer:
    """A server under load, from `with` to its end; metrics are at `metrics_address`."""

    def __init__(self, metrics_address):
        self._metrics_address = metrics_address
        self._server = server_process.ServerProcess(*OPTIONS, metrics_address=metrics_address)
        self._ending = threading.Event()

    def __enter__(self):
        with contextlib.ExitStack() as ends:
            ends.enter_context(self._server)
            self._channel = ends.enter_context(grpc.insecure_channel(
                self._server.target, options=[("grpc.max_receive_message_length", -1)]))
            self._compute = compute_service_pb2_grpc.ComputeServiceStub(self._channel)
            ends.callback(pathlib.Path("/dev/shm" + REGION).unlink, missing_ok=True)
            self._hold_memory()
            ends.callback(self._ending.set)  # Lets go of streams; once more before the join below.
            self._stream = self._hold_stream()
            thread = threading.Thread(target=self._call_until_end)
            thread.start()
            ends.callback(thread.join)
            ends.callback(self._ending.set)
            self._ends = ends.pop_all()
        return self

    def __exit__(self, *_):
        self._ends.close()

    def _hold_memory(self):
        """An array and a region, for the whole time."""
        store = array_service_pb2_grpc.ArrayServiceStub(self._channel)
        self._create_array = store.CreateArray
        store.CreateArray(arrays.CreateArrayRequest(
            name="held", element_type=array_pb2.ELEMENT_TYPE_FLOAT32, shape=[RESIDENT_ELEMENTS]))
        pathlib.Path("/dev/shm" + REGION).write_bytes(SMALL.tobytes())
        region_service_pb2_grpc.RegionServiceStub(self._channel).RegisterRegion(
            regions.RegisterRegionRequest(
                name="held", size_bytes=SMALL.nbytes,
                posix_shared_memory=regions.PosixSharedMemory(object_name=REGION)))

    def _hold_stream(self):
        """A stream that stays, and has its place before another asks for it."""
        stream = self._open_stream()
        deadline = time.monotonic() + START_SECONDS_MAX
        while b"gridfold_streams_open 1" not in self._metrics():
            if time.monotonic() > deadline:
                raise TimeoutError("the stream does not open")
            time.sleep(0.05)
        return stream

    def _metrics(self):
        with urllib.request.urlopen(f"http://{self._metrics_address}/metrics", timeout=30) as page:
            return page.read()

    def _open_stream(self, timeout=None):
        def messages():
            yield compute.ReduceStreamRequest(request=compute.ReduceArrayRequest(
                array=array_pb2.ArraySource(streamed_array=STREAMED),
                statistics=[compute.STATISTIC_SUM]), data=b"\0")
            # Not yet an element: nothing that a full queue could refuse.
            self._ending.wait()
        return self._compute.ReduceStream.future(messages(), timeout=timeout)

    def _call_until_end(self):
        while not self._ending.is_set():
            # A sum that does not fit: a job that fails, while the queue has room for it.
            self._compute.ReduceArray.future(compute.ReduceArrayRequest(
                array=array_pb2.ArraySource(inline_array=array_pb2.InlineArray(
                    element_type=array_pb2.ELEMENT_TYPE_INT64,
                    data=np.full(2, 2**62, np.int64).tobytes())),
                statistics=[compute.STATISTIC_SUM])).code()
            # More than the queue takes, of what is long, large and small; some with little time.
            resident = array_pb2.ArraySource(resident_array=array_pb2.ResidentArray(name="held"))
            calls = [self._compute.ReduceArray.future(reduction(array), timeout=timeout)
                     for array in (resident, source(LARGE), source(SMALL))
                     for timeout in (10, 10, 0.02, 10)]
            calls += [
                self._compute.ScanArray.future(compute.ScanArrayRequest(
                    array=source(LARGE), operation=compute.SCAN_OPERATION_SUM)),
                self._compute.ComputeHistogram.future(compute.ComputeHistogramRequest(
                    array=source(LARGE),
                    bins=[compute.BinSpecification(even=compute.EvenBins(
                        bin_count=10, lower_bound=0, upper_bound=1024))])),
                # No room for either.
                self._create_array.future(arrays.CreateArrayRequest(
                    element_type=array_pb2.ELEMENT_TYPE_FLOAT32, shape=[1 << 30])),
                self._open_stream(timeout=1),
            ]
            calls[0].cancel()
            for call in calls:
                call.code()  # When it has ended.
            time.sleep(0.02)
