"""``make portability``: the whole suite as other processors would run it, one line for each.

What differs between processors is not the rows but the last digits: OpenBLAS has kernels of its own for each
(``OPENBLAS_CORETYPE``), NumPy its vectorised functions (``NPY_DISABLE_CPU_FEATURES``), the C library its versions with
and without fused multiply-add (``GLIBC_TUNABLES``), and this library two versions of its kernels (the folder given
has them built for plain x86-64 alone). Each processor runs with one and with two threads. What this machine cannot
run is named and left out; so is a processor for which OpenBLAS has the kernels of another. The logs lie in
``build/portability``. Exit status 1 if any test failed anywhere.
"""

import json
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

LOGS = Path("build/portability")
WIDE = {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}
NEEDS = {"Nehalem": {"sse4_2"}, "Haswell": {"avx2", "fma"}, "Zen": {"avx2", "fma"}, "SkylakeX": {"avx2", "fma"} | WIDE}
NO_FUSED = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"}

ASK = """
import json, numpy, scipy.linalg, threadpoolctl
from numpy._core import _multiarray_umath as compiled
from separatrix.kernels import _kernels
blas = sorted({i.get("architecture") or "?" for i in threadpoolctl.threadpool_info() if i["user_api"] == "blas"})
features = [f for f in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(f)]
print(json.dumps({"blas": blas, "features": features, "multiversioned": _kernels.multiversioned}))
"""


@dataclass
class Machine:
    """A processor to imitate: its name, its threads and the environment that does it."""

    name: str
    threads: int
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        count = str(self.threads)
        return {**os.environ, "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, **self.settings}

    def ask(self) -> dict:
        """What BLAS, NumPy and the kernels say they run."""
        done = subprocess.run([sys.executable, "-c", ASK], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{self.name} cannot be asked:\n{done.stderr}")
        return json.loads(done.stdout)

    def run(self, options: list[str]) -> bool:
        """The suite; prints its summary, and what failed."""
        log = LOGS / f"{self.name.replace(' ', '-')}-{self.threads}.log"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        begin = time.monotonic()
        with log.open("w") as file:
            status = subprocess.run(command, env=self.environment, stdout=file, stderr=subprocess.STDOUT).returncode
        lines = log.read_text().splitlines() or ["nothing was printed"]
        counts = re.sub(r" in [\d.]+s.*|=", "", lines[-1]).strip()
        seconds = time.monotonic() - begin
        print(f"{self.name:14} {self.threads} thread{'s'[: self.threads - 1]:1}  {counts}, {seconds:.0f} s", flush=True)
        for line in lines if status else []:
            if line.startswith(("FAILED", "ERROR")):
                print(f"    {line}", flush=True)
        return status == 0


def flags() -> set[str]:
    """What this processor says it can do."""
    try:
        return set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()


def machines(plain: Path, wanted: list[str]) -> list[Machine]:
    """Those that this one can imitate; the others are named."""
    have, own = flags(), Machine("own", 1).ask()
    off = {name: [f for f in own["features"] if name == "Nehalem" or "512" in f or "V4" in f] for name in NEEDS}
    off["SkylakeX"] = []
    chosen, seen = [], {}
    for name, needs in NEEDS.items():
        if wanted and name not in wanted:
            continue
        if missing := needs - have:
            print(f"{name:14} left out: this processor has no {', '.join(sorted(missing))}")
            continue
        settings = {"OPENBLAS_CORETYPE": name, "NPY_DISABLE_CPU_FEATURES": " ".join(off[name])}
        settings |= NO_FUSED if name == "Nehalem" else {}
        runs = ", ".join(Machine(name, 1, settings).ask()["blas"])
        if runs in seen:
            print(f"{name:14} left out: this OpenBLAS runs the kernels of {runs} there, as for {seen[runs]}")
            continue
        if runs != name:
            print(f"{name:14} is run by this OpenBLAS as {runs}")
        seen[runs] = name
        chosen += [Machine(name, threads, settings) for threads in (1, 2)]
    if not wanted or "plain" in wanted:
        if platform.machine() in ("x86_64", "AMD64"):
            settings = {"SEPARATRIX_KERNELS": str(plain.resolve()), "PYTHONPATH": str(Path("tests/door").resolve())}
            settings |= {"NPY_DISABLE_CPU_FEATURES": " ".join(own["features"])} | NO_FUSED
            machine = Machine("plain kernels", 2, settings)
            if machine.ask()["multiversioned"]:
                raise SystemExit(f"The kernels in {plain} are not built for plain x86-64 alone.")
            chosen.append(machine)
        else:
            print("plain kernels  left out: this processor is no x86-64")
    return chosen or [Machine("this one", threads) for threads in (1, 2)]


if __name__ == "__main__":
    folder, workers, *only = sys.argv[1:]
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes = [machine.run(["-n", workers]) for machine in machines(Path(folder), only)]
    print(f"{sum(outcomes)} of {len(outcomes)} green")
    sys.exit(not outcomes or not all(outcomes))
