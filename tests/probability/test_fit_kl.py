"""Both argmins of the KL divergence, against answers found in another way."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from separatrix.probability import Normal, fit_kl, kl_divergence

LINE = (-np.inf, np.inf)


def hills(weight, apart, variance=0.25):
    def density(x):
        return weight * Normal(-apart, variance).pdf(x) + (1 - weight) * Normal(apart, variance).pdf(x)

    return density


def reverse_by_trapezoids(weight, apart, mean, variance):
    """Spectrally accurate for a Gaussian times a smooth function."""
    z = np.linspace(-14, 14, 20_001)
    x = mean + math.sqrt(variance) * z
    left, right = (
        np.log(share) + stats.norm.logpdf(x, at, 0.5) for share, at in ((weight, -apart), (1 - weight, apart))
    )
    q = stats.norm.pdf(z)
    log_q = stats.norm.logpdf(z) - 0.5 * math.log(variance)
    return np.sum(q * (log_q - np.logaddexp(left, right))) * (z[1] - z[0])


@pytest.mark.parametrize(("weight", "apart"), [(0.5, 1.0), (0.7, 2.0), (0.1, 3.0)])
def test_forward_matches_the_moments(weight, apart):
    fit = fit_kl(hills(weight, apart), Normal, "forward", interval=LINE)
    mean = (1 - 2 * weight) * apart
    assert fit.law.mean == pytest.approx(mean, abs=1e-8)
    assert fit.law.variance == pytest.approx(0.25 + apart**2 - mean**2, abs=1e-7)
    assert fit.n_minima == 1
    for mean, variance in ((0.1, 1.0), (-0.1, 1.0), (0.0, 1.1), (0.0, 0.9)):
        rival = Normal(fit.law.mean + mean, fit.law.variance * variance)
        assert kl_divergence(hills(weight, apart), rival.pdf, interval=LINE) > fit.divergence


def test_reverse_settles_on_the_higher_peak_and_counts_the_others():
    density = hills(0.6, 2.0)
    fit = fit_kl(density, direction="reverse", interval=LINE)
    assert fit.law.mean == pytest.approx(-2.0, abs=0.01)
    # far apart, the best is one hill: log(1/0.6) above the other's mass
    assert fit.divergence == pytest.approx(math.log(1 / 0.6), abs=1e-3)
    assert [round(law.mean) for law, _ in fit.minima] == [-2, 2, 0]
    for law, divergence in fit.minima:
        assert divergence == pytest.approx(reverse_by_trapezoids(0.6, 2.0, law.mean, law.variance), abs=1e-6)
        found = minimize(
            lambda at: reverse_by_trapezoids(0.6, 2.0, at[0], math.exp(at[1])),
            [law.mean, math.log(law.variance)],
            method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-12},
        )
        np.testing.assert_allclose(found.x, [law.mean, math.log(law.variance)], atol=1e-3)


@pytest.mark.parametrize(("apart", "count"), [(0.5, 1), (1.0, 1), (1.5, 3), (3.0, 3)])
def test_what_is_called_a_minimum_is_no_saddle(apart, count):
    # two equal peaks: the middle is symmetric, so a search that starts there stays, saddle or not
    fit = fit_kl(hills(0.5, apart), direction="reverse", interval=LINE)
    assert fit.n_minima == count
    h = 1e-3
    for law, _ in fit.minima:
        value = {
            (i, j): reverse_by_trapezoids(0.5, apart, law.mean + i * h, law.variance * math.exp(j * h))
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
        }
        slope = np.array([value[1, 0] - value[-1, 0], value[0, 1] - value[0, -1]]) / (2 * h)
        mixed = (value[1, 1] - value[1, -1] - value[-1, 1] + value[-1, -1]) / 4
        across, up = (value[1, 0] + value[-1, 0], value[0, 1] + value[0, -1])
        bend = np.array([[across - 2 * value[0, 0], mixed], [mixed, up - 2 * value[0, 0]]]) / h**2
        np.testing.assert_allclose(slope, 0.0, atol=1e-4)
        assert np.linalg.eigvalsh(bend).min() > 0
    assert sorted(round(law.mean, 3) for law, _ in fit.minima)[count // 2] == 0.0


@pytest.mark.parametrize("law", [Normal(3.0, 4.0), Normal(-1e3, 1e-4)])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_normal_target_is_its_own_nearest(law, direction):
    fit = fit_kl(law, Normal, direction)
    assert fit.law.mean == pytest.approx(law.mean, abs=1e-5 * law.standard_deviation, rel=1e-9)
    assert fit.law.variance == pytest.approx(law.variance, rel=1e-5)
    assert fit.divergence == pytest.approx(0.0, abs=1e-8)
    assert fit.n_minima == 1


def test_the_reverse_fit_is_narrower_than_the_forward_fit_of_a_heavy_tail():
    forward, reverse = (fit_kl(stats.t(3), direction=way) for way in ("forward", "reverse"))
    assert reverse.law.variance < forward.law.variance
    assert forward.law.variance == pytest.approx(3.0, rel=1e-5)


def test_narrow_far_peaks_are_found_where_they_are_told():
    def log_density(x):
        return np.logaddexp(math.log(0.3) + Normal(-50, 1e-2).log_pdf(x), math.log(0.7) + Normal(50, 1e-2).log_pdf(x))

    near = [side * 50 + away for side in (-1, 1) for away in (-0.3, 0.0, 0.3)]
    fit = fit_kl(log_density, direction="reverse", interval=LINE, log=True, points=near)
    assert fit.law.mean == pytest.approx(50.0, abs=1e-4)
    assert fit.law.variance == pytest.approx(1e-2, rel=1e-3)
    assert fit.divergence == pytest.approx(math.log(1 / 0.7), abs=1e-6)
    assert any(law.mean == pytest.approx(-50.0, abs=1e-4) for law, _ in fit.minima)


def test_a_kink_gives_no_second_minimum():
    # E|x − 3| = s√(2/π) at the centre, so the reverse fit of Laplace(3, b) has s = b√(π/2)
    fit = fit_kl(stats.laplace(3, 2), direction="reverse")
    assert fit.law.mean == pytest.approx(3.0, abs=1e-6)
    assert fit.law.variance == pytest.approx(2 * math.pi, rel=1e-6)
    assert fit.n_minima == 1


def test_a_target_without_moments_has_a_reverse_fit_only():
    with pytest.raises(ValueError, match="no finite mean and variance"):
        fit_kl(stats.cauchy())
    # E[1/(1 + x²)] = 1/2 at the minimum
    s = fit_kl(stats.cauchy(), direction="reverse").law.standard_deviation
    expected = math.sqrt(math.pi / 2) / s * math.exp(0.5 / s**2) * math.erfc(math.sqrt(0.5) / s)
    assert expected == pytest.approx(0.5, abs=1e-6)


def test_functions_of_single_numbers_serve_too():
    def density(x: float) -> float:
        return math.exp(-0.5 * (x - 1.0) ** 2) / math.sqrt(2.0 * math.pi)

    assert fit_kl(density, direction="reverse", interval=LINE).law.mean == pytest.approx(1.0, abs=1e-5)


def test_an_infinite_reverse_divergence_is_refused():
    with pytest.raises(ValueError, match="is infinite"):
        fit_kl(stats.expon(), direction="reverse")
    assert fit_kl(stats.expon()).law.mean == pytest.approx(1.0)


def test_other_families_and_directions_are_refused():
    with pytest.raises(ValueError, match="family"):
        fit_kl(stats.norm(), family=dict)
    with pytest.raises(ValueError, match="sideways"):
        fit_kl(stats.norm(), direction="sideways")
