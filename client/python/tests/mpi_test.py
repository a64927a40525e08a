"""gridfold.mpi with one to four ranks: the same bits, by objects and by words."""

import os
import shutil
import subprocess
import sys
import unittest

from package_case import PACKAGE

try:
    import mpi4py  # noqa: F401
    MISSING = "" if shutil.which("mpiexec") else "there is no mpiexec (openmpi-bin)"
except ImportError:
    MISSING = "mpi4py is not installed (python3-mpi4py)"

PROGRAM = """
import numpy as np, gridfold as gf
from mpi4py import MPI
comm = MPI.COMM_WORLD
x = np.random.default_rng(10).normal(size=999) * 10.0 ** np.random.default_rng(11).integers(-9, 9, 999)
begin, end = (999 * rank // comm.size for rank in (comm.rank, comm.rank + 1))
part = gf.Accumulator.of(x[begin:end], ["mean", "variance", "argmax"], first_index=begin)
whole = comm.reduce(part, gf.mpi.MERGE)
counts = gf.mpi.allreduce(comm, gf.Accumulator.of_histogram(x[begin:end], 20, (-5, 5)))
sums = gf.mpi.allreduce(comm, gf.Accumulator.of(x[begin:end], ["sum", "l2_norm"]))
search = gf.QuantileSearch(x.dtype, [0.1, 0.5])
while not search.is_done:
    search.add(comm.allreduce(search.count(x[begin:end])))
if comm.rank == 0:
    print(bytes(whole).hex(), bytes(counts).hex(), bytes(sums).hex(), search.result().tobytes().hex())
"""

ONE_PROCESS = """
import numpy as np, gridfold as gf
x = np.random.default_rng(10).normal(size=999) * 10.0 ** np.random.default_rng(11).integers(-9, 9, 999)
print(*(bytes(one).hex() for one in (gf.Accumulator.of(x, ["mean", "variance", "argmax"]),
                                     gf.Accumulator.of_histogram(x, 20, (-5, 5)),
                                     gf.Accumulator.of(x, ["sum", "l2_norm"]))),
      gf.local().quantile(x, [0.1, 0.5]).tobytes().hex())
"""


@unittest.skipIf(MISSING, MISSING)
class MpiTest(unittest.TestCase):
    def run_program(self, *command):
        environment = dict(os.environ, PYTHONPATH=PACKAGE, OMPI_MCA_rmaps_base_oversubscribe="1",
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_btl_vader_single_copy_mechanism="none")
        result = subprocess.run(command, env=environment, capture_output=True, text=True,
                                timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_any_number_of_ranks_gives_the_same_bits(self):
        expected = self.run_program(sys.executable, "-c", ONE_PROCESS)
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.run_program("mpiexec", "-n", str(ranks), sys.executable,
                                                  "-c", PROGRAM), expected)


if __name__ == "__main__":
    unittest.main()
