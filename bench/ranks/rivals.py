"""rivals.py - the programs of the rows: ours, by hand, over StarPU-MPI, over ScaLAPACK; what is not installed is said once, with its package.

Idea     All link with the same object of the work (steps.c, tiles.c), and over the same OpenBLAS with one thread.
         StarPU-MPI has a thread for messages beside its workers, both ask without a pause, and what is best for them differs: its placements are tried."""
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
from openblas import openblas  # noqa: E402

# Workers of a rank, and where its threads run.  Its thread for messages can carry out tasks between (STARPU_MPI_DRIVER_CALL_FREQUENCY), but not
# as the only worker of a rank: StarPU 1.3.10 then waits for ever where no message is under way.
PLACEMENTS = {"1 worker, bound": ("1", ["STARPU_WORKERS_GETBIND"], []),
              "1 worker, free": ("1", ["STARPU_WORKERS_NOBIND"], ["--bind-to", "none"]),
              "2 workers, free": ("2", ["STARPU_WORKERS_NOBIND"], ["--bind-to", "none"])}


class Rivals:
    def __init__(self, build, mpi):
        self.folder, self.ptoc, self.made = os.path.join(build, "bench", "ranks"), os.path.join(build, "bin", "ptoc"), {}
        os.makedirs(self.folder, exist_ok=True)
        self.mpicc, self.mpirun = ["%s.%s" % (name, mpi) if mpi else name for name in ("mpicc", "mpirun")]
        version = self.output_of([self.mpirun, "--version"])
        self.is_openmpi = "Open MPI" in version or "OpenRTE" in version
        # Ranks of Open MPI spin while they wait, unless they yield; it asks before it runs as root.
        options = ["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if self.is_openmpi else []
        self.launcher = [self.mpirun] + options + ["-np", "2"]
        version, coretype = openblas()
        self.blas = "OpenBLAS %s%s" % (version, " with OPENBLAS_CORETYPE=" + coretype if coretype else "")
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", **({"OPENBLAS_CORETYPE": coretype} if coretype else {}))

    @staticmethod
    def output_of(command):
        return subprocess.run(command, capture_output=True, text=True).stdout if shutil.which(command[0]) else ""

    def once(self, name, make):
        """The path that make() has made, or None; it is called once."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def work(self, name):
        """The object of steps.c or tiles.c."""
        return self.once(name, lambda: self.compiled(name, "-O3 -march=native -Wall -fPIC -c".split(), [name + ".c"], [], "libopenblas-dev"))

    def compiled(self, name, options, sources, libraries, package, compiler="gcc"):
        out = os.path.join(self.folder, name + (".o" if "-c" in options else ""))
        if not shutil.which(compiler):
            print("# no %s: %s is not installed (Debian: %s)" % (name, compiler, package), file=sys.stderr)
            return None
        done = subprocess.run([compiler, *options, *sources, *libraries, "-o", out], cwd=HERE, capture_output=True, text=True)
        if done.returncode != 0:
            reason = next((line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line), done.stderr.strip()[:300])
            print("# no %s: %s (Debian: %s)" % (name, reason, package), file=sys.stderr)
            return None
        return out

    def linked(self, name, work, libraries, package):
        if self.work(work) is None:
            return None
        return self.compiled(name, ["-std=gnu11", "-O2"], [name + ".c", self.work(work)], libraries, package, self.mpicc)

    def by_hand(self):
        return self.once("by_hand", lambda: self.linked("by_hand", "steps", [], "libopenmpi-dev openmpi-bin, or mpich"))

    def scalapack(self):
        mpi = "openmpi" if self.is_openmpi else "mpich"
        # OpenBLAS comes first, so that its functions are used whatever libblas.so.3 is.
        libraries = ["-Wl,--no-as-needed", "-lopenblas", "-lscalapack-" + mpi]
        return self.once("scalapack", lambda: self.linked("scalapack", "tiles", libraries, "libscalapack-%s-dev" % mpi))

    def starpu(self, name, work):
        def make():
            if not self.is_openmpi:
                print("# no StarPU-MPI: Debian's is for Open MPI only (libstarpu-dev)", file=sys.stderr)
                return False
            flags = shlex.split(self.output_of(["pkg-config", "--cflags", "--libs", "starpumpi-1.3", "starpu-1.3"]))
            if not flags:
                print("# no StarPU-MPI: pkg-config knows no starpumpi-1.3 (Debian: libstarpu-dev pkg-config)", file=sys.stderr)
            return flags
        flags = self.once("StarPU-MPI", make)
        return self.once(name, lambda: self.linked(name, work, flags + ["-lopenblas"], "libstarpu-dev")) if flags else None

    def ours(self, name, work, *options):
        out = os.path.join(self.folder, "_".join((name,) + options).replace("-D", "").replace("=", ""))
        if self.work(work) is None:
            return None
        words = ["build", "-w", *options, os.path.join(HERE, name + ".pto"), self.work(work), "-o", out]
        return self.once(out, lambda: subprocess.run([self.ptoc, *words], check=True) and out)

    def saved(self, name, array):
        path = os.path.join(self.folder, name + "_first.npy")
        np.save(path, array)
        return path

    def environment_of(self, placement):
        workers, on, _ = PLACEMENTS[placement]
        return dict(STARPU_SILENT="1", STARPU_HOME=self.folder, STARPU_NCPU=workers, STARPU_MPI_NOBIND="1", **{name: "1" for name in on})

    def launcher_of(self, placement):
        return self.launcher + PLACEMENTS[placement][2]
