"""Fit real data, raw as it is, and prove how close to the optimum the fit is."""

import time
import warnings

import numpy as np
import sklearn.linear_model
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import CertificateError, LogisticRegression, Perceptron, separability


def best_of(run, count=7):
    """The shortest of several runs, in milliseconds, and the last result."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times), result


def average_objective(X, y, model):
    """The objective both libraries minimise, divided by the number of rows."""
    margins = np.where(y == 1, 1.0, -1.0) * (X @ model.coef_[0] + model.intercept_[0])
    return np.logaddexp(0.0, -margins).mean() + 0.5 * np.square(model.coef_).sum() / len(y)


def main():
    """Print the demonstration."""
    data = load_breast_cancer()
    X, y = data.data, data.target
    largest = np.abs(X).max(axis=0)
    print(f"Breast cancer, {X.shape[0]} rows x {X.shape[1]} columns, raw: columns reach from "
          f"{largest.min():.3g} to {largest.max():.5g}.\n")  # fmt: skip

    ours_ms, ours = best_of(lambda: LogisticRegression().fit(X, y))
    print("The largest weights, in units of each column's standard deviation:")
    standardised = ours.coef_[0] * X.std(axis=0)
    for j in np.argsort(-np.abs(standardised))[:6]:
        bar = "#" * round(4 * abs(standardised[j]))
        print(f"  {data.feature_names[j]:<22} {standardised[j]:+7.3f}  {bar}")

    print(f"\nCertificate: {ours.certificate_}")
    ours.certificate_.verify(X, y)
    print("  re-checked from the data: holds")
    try:
        ours.certificate_.verify(X, 1 - y)
    except CertificateError as error:
        print(f"  against flipped labels:   {str(error).splitlines()[0]}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs_ms, theirs = best_of(lambda: sklearn.linear_model.LogisticRegression().fit(X, y))
    best = average_objective(X, y, ours)
    excess = average_objective(X, y, theirs) / best - 1.0
    print("\n                         milliseconds   above the optimum")
    print(f"  separatrix             {ours_ms:12.1f}   {ours.certificate_.relative:.0e} at most, certified")
    print(f"  scikit-learn's default {theirs_ms:12.1f}   {excess:.0%}, not converged")

    verdict = separability(X, y)
    print(f"\nIs it separable? {verdict}")
    verdict.verify(X, y)
    print("  re-checked row by row, exactly: holds")
    print(f"  {verdict.max_margin()}")
    setosa = Perceptron(shuffle=False).fit(load_iris().data, load_iris().target == 0)
    print(f"\nThe perceptron on iris, setosa against the rest: {setosa.certificate_}")


if __name__ == "__main__":
    main()
