"""Run the workloads named on the command line, or all of them, and print their tables."""

import argparse
import importlib
import warnings

from benchmarks.harness import Options, environment

WORKLOADS = {
    "w1": "benchmarks.w01_dense",
    "w2": "benchmarks.w02_float32",
    "w3": "benchmarks.w03_sparse",
    "w4": "benchmarks.w04_real",
    "w5": "benchmarks.w05_l1",
    "w16-l1": "benchmarks.w16_l1",
    "softmax": "benchmarks.w05b_softmax",
    "w16-softmax": "benchmarks.w16_softmax",
    "w6": "benchmarks.w06_lda",
    "w7": "benchmarks.w07_naive_bayes",
    "w8": "benchmarks.w08_perceptron",
    "w9": "benchmarks.w09_separability",
    "network": "benchmarks.network",
    "w11-ridge": "benchmarks.w11_ridge",
    "w12": "benchmarks.w12_predict",
    "w14": "benchmarks.w14_sgd",
    "w16": "benchmarks.w16_shapes",
    "threads": "benchmarks.threads",
    "growth": "benchmarks.growth",
    "memory": "benchmarks.memory",
    "prices": "benchmarks.prices",
    "w13": "benchmarks.w13_first_use",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all if none")
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: does everything run?")
    parser.add_argument("--slow", action="store_true", help="also the peers that take half a minute per fit")
    parser.add_argument("--repeats", type=int, metavar="N", help="rounds per race, instead of the workload's own")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    if arguments.repeats is not None and arguments.repeats < 1:
        parser.error(f"--repeats is {arguments.repeats}; it must be at least 1")
    options = Options(arguments.quick, arguments.slow, arguments.repeats)

    print(environment(), flush=True)
    for name in arguments.workloads or WORKLOADS:
        module = importlib.import_module(WORKLOADS[name])
        assert module.__doc__ is not None
        print(f"\n## {module.__doc__.splitlines()[0].rstrip('.')}", flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module.run(options)


if __name__ == "__main__":
    main()
