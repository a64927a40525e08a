"""The package in processes: threads, signals, fork, spawn, the end of the interpreter, memory."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

from package_case import PACKAGE, PackageTest, gf, run_python
import soak  # noqa: E402

CONNECT = "import sys, gridfold as gf, numpy as np; gpu = gf.connect(sys.argv[1]); "
# A connection to a server that never answers.
LATER = ("import sys, threading, time, gridfold as gf; "
         "gpu = gf.connect(sys.argv[1], connect_timeout=0); ")


class SilentServer:
    """Takes connections and says nothing."""

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self._listener.getsockname()[1]
        return self

    def __exit__(self, *_):
        self._listener.close()


class ProcessTest(PackageTest):
    def test_threads_share_a_connection(self):
        wrong = []

        def work(seed):
            array = np.random.default_rng(seed).integers(0, 100, 5000)
            for _ in range(50):
                if self.gpu.sum(array) != array.sum():
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertEqual(wrong, [])

    def test_other_threads_run_during_a_call(self):
        with SilentServer() as silent:
            result = run_python(LATER + """
count = 0
def work():
    global count
    for _ in range(20):
        time.sleep(0.01)
        count += 1
thread = threading.Thread(target=work)
thread.start()
try:
    gpu.options(timeout=1).sum([1])
except gf.Error:
    print(count)
""", silent.target)
        self.assertEqual(result.stdout.strip(), "20", result.stderr)

    def test_control_c_ends_a_call(self):
        with SilentServer() as silent:
            process = subprocess.Popen(
                [sys.executable, "-c", LATER + "print('calling', flush=True); gpu.sum([1])",
                 silent.target], env=dict(os.environ, PYTHONPATH=PACKAGE),
                # A test that a shell has started in the background ignores the signal.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdout.readline()
            time.sleep(0.3)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - start, 2)
        self.assertIn("KeyboardInterrupt", errors)

    def test_a_handler_that_returns_ends_no_call(self):
        with SilentServer() as silent:
            result = run_python(LATER + """
import signal
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    gpu.options(timeout=0.6).sum([1])
except gf.DeadlineExceededError:
    print('late')
""", silent.target)
        self.assertEqual(result.stdout.split(), ["alarm", "late"], result.stderr)

    def test_the_end_gives_up_calls_in_flight(self):
        with SilentServer() as silent:
            program = LATER + """
def call():
    try:
        gpu.sum([1])
    except gf.CancelledError:
        pass
for _ in range(8):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.2)
print(time.monotonic())
"""
            result = run_python(program, silent.target)
            end = time.monotonic()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertLess(end - float(result.stdout), 1)

    def test_a_fork_of_a_connected_process_is_told(self):
        result = run_python(CONNECT + """
import os
gpu.sum([1])
child = os.fork()
if child == 0:
    told = 0
    for call in (lambda: gpu.sum([1]), lambda: gf.connect(sys.argv[1])):
        try:
            call()
        except gf.FailedPreconditionError as error:
            told += "fork" in str(error)
    os._exit(told)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gpu.sum([1, 2]))
""", self.server.target)
        self.assertEqual(result.stdout.strip(), "2 3", result.stderr)

    def test_a_fork_of_a_connected_process_ends(self):
        for connect in ("(gpu := gf.connect(sys.argv[1])).sum([1, 2])", "asyncio.run(work())"):
            result = run_python("""
import asyncio, os, sys, gridfold as gf
async def work():
    global gpu
    gpu = await gf.aio.connect(sys.argv[1])
    return await gpu.sum([1, 2])
print(""" + connect + """, flush=True)
child = os.fork()
if child != 0:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""", self.server.target)
            self.assertEqual(result.stdout.split(), ["3", "0"], result.stderr)

    def test_a_fork_before_connecting_connects(self):
        result = run_python("""
import os, sys, gridfold as gf
child = os.fork()
os.write(1, f"{gf.connect(sys.argv[1]).sum([1, 2])}\\n".encode())  # Whole, beside the other's.
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""", self.server.target)
        self.assertEqual(result.stdout.split(), ["3", "3", "0"], result.stderr)

    def test_spawned_processes(self):
        program = CONNECT.replace("; gpu =", "\ndef work(target):\n    gpu =") + """
    return float(gpu.sum(np.ones(100)))
if __name__ == "__main__":
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [sys.argv[1]] * 4))
"""
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "program.py")
        path.write_text(program, encoding="utf-8")
        result = subprocess.run([sys.executable, path, self.server.target], timeout=60,
                                env=dict(os.environ, PYTHONPATH=PACKAGE), capture_output=True,
                                text=True)
        self.assertEqual(result.stdout.strip(), "[100.0, 100.0, 100.0, 100.0]", result.stderr)

    def test_a_hundred_thousand_calls_in_process_take_no_more_memory(self):
        local, array = gf.local(1), np.ones((4, 4), np.float32)

        def work(count):
            for _ in range(count // 4):
                local.sum(array)
                local.max(array, axis=0)
                local.histogram(array, 4, (0, 2))
                with self.assertRaises(ValueError):
                    local.nanargmin(array * np.nan)

        work(4000)
        before = soak.resident_kib()
        work(100_000)
        self.assertLess(soak.resident_kib() - before, 4096)

    def test_ten_thousand_calls_take_no_more_memory(self):
        client, server = soak.growth_kib(self.gpu, self.server.process_id, 10_000)
        print(f"10,000 calls: client {client} KiB more, server {server}", flush=True)
        self.assertLess(client, soak.CLIENT_KIB_MAX)
        self.assertLess(server, soak.SERVER_KIB_MAX)

    def test_time_of_the_import(self):
        program = ("import time, numpy; start = time.perf_counter(); import gridfold; "
                   "print(time.perf_counter() - start)")
        with tempfile.TemporaryDirectory() as bytecode:  # Which an installed package has.
            times = [float(run_python(program, PYTHONPYCACHEPREFIX=bytecode,
                                      PYTHONDONTWRITEBYTECODE="").stdout) for _ in range(6)]
        seconds = sorted(times[1:])[2]
        print(f"import gridfold, after NumPy: {seconds * 1000:.1f} ms", flush=True)
        self.assertLess(seconds, 2)


if __name__ == "__main__":
    unittest.main()
