"""False claims that once passed, or true ones that once failed, because of a hole in a check; each with its reason."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from separatrix import separability
from separatrix.certificates.balance import balance_slack
from separatrix.certificates.sides import sides
from separatrix.certificates.witness import Balance, digests
from separatrix.core.errors import CertificateError, InputError
from separatrix.exact.arithmetic import null_space
from separatrix.solvers.alternative import Unsolved


def _refused(verdict, X, y):
    with pytest.raises(CertificateError):
        verdict.verify(X, y)


def test_a_dependence_with_a_huge_entry_on_a_zero_column():
    """⟨y, v⟩/2^length underflowed to zero, so any column "depended" on a column of zeros."""
    X = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    y = np.array([1, 1])
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.kind == "complete"
    huge = 2**2300
    rows = verdict.problem.signed_rows(X, y, None)
    pair = np.array([0, 1])
    forged = replace(
        verdict,
        kind="overlap",
        rank=1,
        basis=np.array([2]),
        dependences=((1, 0, huge), (0, 1, huge)),
        balance=Balance(pair, np.ones(2), np.array([2]), digests(rows.take(pair)), slack=0.5),
    )
    _refused(forged, X, y)


def test_sides_are_exact_where_the_direction_has_more_bits_than_exponents():
    """The second entry of the direction underflows in rounding, yet it decides the side."""
    X = np.array([[1e-298, -1e308], [1e-298, 1e308]])
    y = np.array([1, 1])
    rows = separability(X, y, fit_intercept=False).problem.signed_rows(X, y, None)
    direction = (2**2000, 1)
    truth = [sum(Fraction(a) * b for a, b in zip(row, direction, strict=True)) for row in X.tolist()]
    assert sides(rows, direction).signs.tolist() == [1 if value > 0 else -1 for value in truth] == [-1, 1]


def test_exact_ranks_are_not_raised_by_rounding():
    """Three times a column, rounded, is independent of the column itself."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(4)
    level = np.column_stack([values, values])
    X = np.vstack([level, level, [[1.0, 0.5]]])
    y = np.array([1] * 4 + [0] * 4 + [1])
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.kind == "quasi"
    which = np.arange(8)
    rows = verdict.problem.signed_rows(X, y, None)
    balance = Balance(which, np.full(8, 0.5), np.array([0, 1]), digests(rows.take(which)), (1,) * 8)
    _refused(replace(verdict, kind="overlap", balance=balance), X, y)


def test_one_null_vector_named_twice():
    """The same object twice was taken for two independent vectors: the rank of the rest looked lower."""
    # x₀ separates the first row; of the rest ±x₁ overlaps and x₂ separates the last row
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    y = np.ones(4, dtype=int)
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.kind == "quasi"
    assert verdict.separated_rows.tolist() == [0, 3]
    once = (1, 0, 0)
    forged = replace(verdict, integers=once, null=(once, once), separated=np.array([0]), margin=1.0, limits=None)
    _refused(forged, X, y)


def test_residues_of_the_smallest_numbers():
    """Exponents below −1047 were looked up before the beginning of a table."""
    tiny = 5e-324
    matrix = np.array([[1.0, 3.0, 2.0], [2.0, 6.0, 1.0], [5.0, 15.0, 3.0]]) * tiny
    found = null_space(matrix)
    assert found.basis.tolist() == [0, 2]
    assert found.vectors == [[-3, 1, 0]]
    assert null_space(np.array([[tiny, 1.0], [3 * tiny, 3.0]])).vectors == [[-(2**1074), 1]]


@pytest.mark.parametrize("power", [-1074, -1000, 1000])
def test_proofs_at_either_end_of_the_exponents(power):
    """A true verdict must verify: its sums were refused as too small."""
    X = np.ldexp(np.array([[1.0, 2.0], [-3.0, 1.0], [2.0, -5.0], [1.0, 1.0], [-1.0, -1.0]]), power)
    y = np.ones(5, dtype=int)
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.kind == "overlap"
    verdict.verify(X, y)


def test_slack_does_not_depend_on_powers_of_two():
    rows = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, 1.0], [0.0, -1.5]])
    columns, factors = np.array([900, -900]), np.array([-500, 300, 20, -700])
    moved = np.ldexp(rows, columns)
    assert balance_slack(moved, np.ones(4)) == balance_slack(rows, np.ones(4))
    shrunk = np.ldexp(rows, factors[:, None])
    assert balance_slack(shrunk, np.ldexp(1.0, -factors)) == balance_slack(rows, np.ones(4))


def test_rows_scaled_to_either_end():
    """Coordinates that overflow raised a ValueError from the linear program."""
    X = np.array([[1e300], [1e-300], [-1e300], [-3e-290]])
    y = np.array([1, 1, 0, 0])
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.kind == "complete"
    verdict.verify(X, y)
    wide = np.array([[1e-200, 1.0], [1e200, 3.0], [1e200, 1e-200], [-1e200, 2.0]])
    separability(wide, y, fit_intercept=False).verify(wide, y)


def test_distances_whose_squares_underflow():
    """The length of weights near 1e-200 came out as zero, and the margin as infinite."""
    X = np.array([[1e200], [3e200]])
    verdict = separability(X, [0, 1])
    assert 0 < verdict.margin <= 1e200 * (1 + 1e-12)


def test_labels_of_proofs_cannot_be_exchanged():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 1, 1, 2, 2])
    verdict = separability(X, y)
    pairs = dict(verdict.pairs)
    pairs[0, 1], pairs[1, 2] = pairs[1, 2], pairs[0, 1]
    for forged in (replace(verdict, pairs=pairs), replace(verdict, members=np.arange(6)[::-1])):
        with pytest.raises(CertificateError):
            forged.verify(X, y)
    assert verdict.verify(X, y) is verdict


def test_limits_of_complete_verdicts_are_checked():
    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    verdict = separability(X, y)
    assert verdict.coefficients["column 0"] == "+inf"
    _refused(replace(verdict, limits={"column 0": "finite", "intercept": "finite"}), X, y)


def test_margins_cannot_be_forged_by_underflow_or_overflow():
    X, y = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [1.0, 5.0]]), np.array([0, 0, 1, 1])
    best = separability(X, y).max_margin().verify(X, y)
    assert best.margin == pytest.approx(1.0)
    # the square of 1.6e-162 underflows to half of what it is
    _refused(replace(best, direction=np.array([1.6e-162, 0.0, 0.0]), margin=1.02, bound=0.0), X, y)
    # shares divided by an infinite sum are zero, and so was the distance of the hulls
    tilted = np.array([1.0, 0.3, 0.0])
    _refused(
        replace(best, direction=tilted, margin=0.6, bound=0.0, support=np.arange(4), multipliers=np.full(4, 1.7e308)),
        X,
        y,
    )
    _refused(replace(best, bound=-0.1), X, y)


@pytest.mark.parametrize("power", [-700, 700])
def test_margins_of_any_size_are_bracketed(power):
    X, y = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 5.0]]), np.array([0, 0, 1, 1])
    verdict = separability(np.ldexp(X, power), y)
    try:
        found = verdict.max_margin()
    except CertificateError:
        return  # too small or too large for floating point is said, not guessed
    truth = np.ldexp(1.0, power)
    assert found.margin <= truth * (1 + 1e-12)
    assert found.margin + found.bound >= truth * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_limits_do_not_depend_on_the_units_of_columns(seed):
    """Where coefficients run is the same for columns times powers of two; a tolerance once hid small columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    y = (X @ [1.0, 0.5, -0.2] > 0.1).astype(int)
    powers = rng.integers(-40, 40, 3)
    plain, scaled = separability(X, y), separability(np.ldexp(X, powers), y)
    assert plain.kind == scaled.kind == "complete"
    assert plain.coefficients == scaled.coefficients


def test_a_class_that_has_no_weight_is_left_out_of_softmax():
    X, y, weights = np.arange(8.0)[:, None], list("aabbccdd"), [1] * 6 + [0, 0]
    verdict = separability(X, y, sample_weight=weights)
    assert verdict.verify(X, y, weights).kind == separability(X[:6], y[:6]).kind


def test_the_closest_rows_may_all_be_of_one_class():
    X = np.concatenate([np.full(1000, -1.0), [3.0]])[:, None]
    verdict = separability(X, np.arange(1001) == 1000)
    lopsided = replace(verdict, integers=(4, 3))
    assert lopsided.max_margin().margin == pytest.approx(2.0)
    with pytest.raises(InputError, match="one class"):
        separability(X, np.ones(1001)).max_margin()


def test_what_the_linear_program_cannot_solve_is_solved_in_fractions(monkeypatch):
    """HiGHS may end without an answer on badly scaled rows; that was taken for the end of the budget."""

    def unsolved(*_):
        raise Unsolved

    monkeypatch.setattr("separatrix.models.separability.search.solve_alternative", unsolved)
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    verdict = separability(X, y)
    assert verdict.kind == "quasi"
    verdict.verify(X, y)
