"""Directions without spread within the classes decide first: the limit of Gaussian classes as their spread vanishes."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from separatrix import LinearDiscriminantAnalysis, SeparationWarning

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning")


def solve(matrix, side):
    """Gauss in fractions; ``side`` is a list of columns."""
    d = len(matrix)
    rows = [list(matrix[i]) + [column[i] for column in side] for i in range(d)]
    for k in range(d):
        pivot = next(i for i in range(k, d) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(d):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [[rows[i][d + c] for i in range(d)] for c in range(len(side))]


def limiting_scores(X, y, points, epsilon=Fraction(1, 10**40)):
    """Log-joint densities of Gaussian classes with covariance Σ + εD, without the constant and the priors; exact."""
    rows = [[Fraction(float(value)) for value in row] for row in X]
    classes = sorted(set(y))
    d, n = len(rows[0]), len(rows)
    members = {k: [row for row, label in zip(rows, y, strict=True) if label == k] for k in classes}
    means = {k: [sum(row[j] for row in part) / len(part) for j in range(d)] for k, part in members.items()}
    centre = [sum(means[k][j] for k in classes) / len(classes) for j in range(d)]
    sigma = [
        [sum((r[i] - means[k][i]) * (r[j] - means[k][j]) for k in classes for r in members[k]) / n for j in range(d)]
        for i in range(d)
    ]
    for j in range(d):
        between = sum((means[k][j] - centre[j]) ** 2 for k in classes) / len(classes)
        sigma[j][j] += epsilon * ((sigma[j][j] + between) or 1)
    points = [[Fraction(float(value)) for value in point] for point in points]
    gaps = [[[p - m for p, m in zip(point, means[k], strict=True)] for k in classes] for point in points]
    solved = iter(solve(sigma, [gap for each in gaps for gap in each]))
    return [[-sum(a * b for a, b in zip(gap, next(solved), strict=True)) / 2 for gap in each] for each in gaps]


def dummies(seed, n=30):
    """The class is made from two of the columns."""
    draw = np.random.default_rng(seed)
    kind = np.append([0, 1, 2, 0, 1, 2], draw.integers(0, 3, n - 6))
    X = np.column_stack([draw.integers(-5, 6, (n, 2)), kind == 1, kind == 2]).astype(float)
    return X, (kind == 0).astype(int), draw


def three(seed, n=36):
    """Class 2 stands apart along a direction without spread; 0 and 1 overlap in the rest."""
    draw = np.random.default_rng(seed)
    y = np.append([0, 1, 2] * 3, draw.integers(0, 3, n - 9))
    X = draw.integers(-4, 5, (n, 3)).astype(float)
    X[:, 1] += y == 1
    X[:, 2] = X[:, 0] - 2 * X[:, 1] + 5 * (y == 2)
    return X, y, draw


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("data", [dummies, three])
def test_the_decision_is_the_limit_of_gaussian_classes(data, seed):
    X, y, draw = data(seed)
    model = LinearDiscriminantAnalysis().fit(X, y)
    far = np.vstack([X[:8], draw.integers(-9, 10, (12, X.shape[1])) * 1.0])
    truth = limiting_scores(X, y, far)
    shares = model.predict_proba(far)
    for scores, share in zip(truth, shares, strict=True):
        best = max(scores)
        behind = [best - score > 10**20 for score in scores]
        assert [bool(value == 0.0) for value in share] == behind
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (model.predict(X) == y).all() or len(set(y)) == 3


@pytest.mark.parametrize("seed", range(4))
def test_classes_that_share_a_place_are_told_apart_by_the_rest(seed):
    X, y, _ = three(seed)
    model = LinearDiscriminantAnalysis().fit(X, y)
    rows = X[y != 2]
    found = model.predict_log_proba(rows)
    truth = limiting_scores(X, y, rows)
    logs = np.log(model.priors_)
    for got, scores in zip(found, truth, strict=True):
        assert got[1] - got[0] == pytest.approx(float(scores[1] - scores[0]) + logs[1] - logs[0], rel=1e-9, abs=1e-9)
        assert got[2] == -np.inf


def test_the_warning_names_the_columns_of_the_direction():
    pandas = pytest.importorskip("pandas")
    X, y, _ = dummies(0)
    table = pandas.DataFrame(X, columns=["roe", "sales", "finance", "utility"])
    with pytest.warns(SeparationWarning, match="decide first.*: finance, utility"):
        model = LinearDiscriminantAnalysis().fit(table, y)
    assert model.separating_ == ["finance", "utility"]
    assert model.dropped_ == ["utility"]
    assert "decides first, of the columns: finance, utility" in str(model.certificate_)
    model.certificate_.verify(table, y)
    assert (model.predict(table) == y).all()
    assert set(model.predict_proba(table).ravel()) == {0.0, 1.0}
    assert set(model.decision_function(table)) == {-np.inf, np.inf}


@pytest.mark.parametrize("data", [dummies, three])
def test_sparse_rows_and_pieces_decide_alike(data):
    X, y, draw = data(3, n=200)
    dense = LinearDiscriminantAnalysis().fit(X, y)
    sparse = LinearDiscriminantAnalysis().fit(scipy.sparse.csr_array(X), y)
    pieces = LinearDiscriminantAnalysis()
    for part in np.array_split(np.arange(200), 3):
        pieces.partial_fit(X[part], y[part], classes=np.unique(y))
    far = np.vstack([X, draw.integers(-9, 10, (50, X.shape[1])) * 1.0])
    for other in (sparse, pieces):
        np.testing.assert_allclose(other.predict_proba(far), dense.predict_proba(far), atol=1e-9)
        assert other.separating_ == dense.separating_
        other.certificate_.verify(X, y)
    sparse.certificate_.verify(scipy.sparse.csr_array(X), y)


def test_units_of_columns_do_not_matter():
    X, y, draw = dummies(5)
    scale, far = np.ldexp(1.0, [3, -20, 9, -4]), draw.integers(-9, 10, (50, 4)) * 1.0
    plain, scaled = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X * scale, y)
    assert plain.separating_ == scaled.separating_
    np.testing.assert_array_equal(plain.predict(far), scaled.predict(far * scale))


def test_priors_decide_only_where_nothing_else_does():
    X, y, _ = dummies(1)
    model = LinearDiscriminantAnalysis(priors=[0.999999, 0.000001]).fit(X, y)
    assert (model.predict(X) == y).all()
    # halfway between the places the rest decides
    half = X[:1].copy()
    half[0, 2:] = [0.25, 0.25]
    assert np.isfinite(model.decision_function(half)).all()


def test_shrinkage_gives_every_direction_a_spread():
    X, y, _ = dummies(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
    assert model.separating_ == []
    assert np.isfinite(model.decision_function(X)).all()


def test_near_dependence_with_a_spread_of_its_own_decides_nothing():
    """A column that differs from another by little, in all classes alike: left out, and no wall."""
    draw = np.random.default_rng(0)
    y = np.arange(200) % 2
    x = draw.normal(size=200)
    X = np.column_stack([x + y, x + y + 1e-6 * (draw.normal(size=200) + y)])
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.dropped_ == ["column 1"]
    assert model.separating_ == []
    model.certificate_.verify(X, y)


def test_columns_that_are_the_class():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array(["a", "a", "b", "b"])
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict_proba([[-3.0], [0.5], [9.0]]).tolist() == [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    assert model.separating_ == ["column 0"]
    model.certificate_.verify(X, y)


def test_distances_are_measured_from_the_wall():
    X, y, draw = dummies(4)
    model = LinearDiscriminantAnalysis().fit(X, y)
    far = np.vstack([X, draw.integers(-9, 10, (20, 4)) * 1.0])
    distances = model.signed_distance(far)
    np.testing.assert_array_equal(np.sign(distances), np.sign(model.decision_function(far)))
    onto = model.project(far)
    np.testing.assert_allclose(model.signed_distance(onto), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(far - onto, axis=1), np.abs(distances), atol=1e-12)
    assert model.origin_distance_ == pytest.approx(abs(model.signed_distance(np.zeros((1, 4)))[0]))
    # class 1 has neither dummy, class 0 one of them: x₂ + x₃ = ½ is halfway
    np.testing.assert_allclose(distances, (0.5 - far[:, 2] - far[:, 3]) / np.sqrt(2.0), atol=1e-9)
