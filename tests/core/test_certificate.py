"""Plain values, equality and pickles that every certificate shares."""

import datetime
import json
import math
import pickle
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from separatrix.core.certificate import Certificate, Claim, stated_array, stated_number
from separatrix.core.errors import CertificateError, InputError
from separatrix.core.plain_values import plain, same


@dataclass(frozen=True, eq=False)
class Guess(Claim):
    bound: float
    point: np.ndarray = field(default_factory=lambda: np.zeros(2))
    integers: tuple[int, ...] = ()
    tol: float = 1.0
    kind: str = "guess"
    KINDS = ("guess",)
    TOLD = ("tol",)

    @property
    def met(self):
        return bool(same(self.bound, 0.5))

    def _rederive(self, X, y, sample_weight):
        if isinstance(X, Exception):
            raise X
        if not same(self.point, X):
            raise CertificateError("no")


simple = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.dates(),
    st.datetimes(),
    st.fractions(),
    st.sampled_from([np.float32(1.5), np.int8(3), np.datetime64("2020-01-01T12"), np.bool_(True), np.longdouble(2)]),
    arrays.arrays(
        st.sampled_from([np.float64, np.int32, np.bool_, "U3", "S3", "M8[D]"]),
        arrays.array_shapes(min_dims=0, max_dims=2, max_side=3),
    ),
)
values = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.dates()), inner, max_size=3),
        st.tuples(inner, inner),
        st.builds(Guess, bound=inner, point=inner),
    ),
    max_leaves=8,
)


@given(values)
def test_json_takes_every_plain_value(value):
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == plain(value)


@given(values)
def test_a_value_is_the_same_as_its_copy(value):
    assert same(value, pickle.loads(pickle.dumps(value)))
    assert not same(value, [value])


@given(values, values)
def test_equality_is_symmetric_and_never_raises(one, other):
    assert same(one, other) == same(other, one)


def test_plain_values_by_the_rules():
    assert plain([math.nan, math.inf, -math.inf]) == ["nan", "inf", "-inf"]
    assert plain(np.array(["2020-02-29"], dtype="M8[ns]")) == ["2020-02-29T00:00:00.000000000"]
    assert plain(datetime.date(2020, 2, 29)) == "2020-02-29"
    assert plain(np.array([b"a", b"\xff"])) == ["a", "\\xff"]
    assert plain(Fraction(-3, 4)) == "-3/4"
    assert plain(2**64) == "0x10000000000000000"
    assert plain({1: "a", (1, "b"): 2}) == {"1": "a", "[1, 'b']": 2}


def test_a_claim_with_numbers_too_long_to_print():
    claim = Guess(math.inf, np.array([np.nan, 1.0]), (7**9000, -(7**9000)))
    json.dumps(claim.to_dict(), allow_nan=False)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(claim, protocol=protocol))
        assert copy == claim
        assert hash(copy) == hash(claim)


def test_claims_are_compared_by_value():
    claim = Guess(0.5, np.array([np.nan, 1.0]))
    assert claim == replace(claim, point=claim.point.copy())
    for other in (replace(claim, point=np.array([0.0, 1.0])), replace(claim, bound=math.nan), "guess", None):
        assert claim != other
    assert isinstance(claim, Certificate)
    assert claim.told == {"tol": 1.0}
    assert claim.to_dict() == {
        "kind": "guess", "bound": 0.5, "met": True, "point": ["nan", 1.0], "integers": [], "told": {"tol": 1.0}
    }  # fmt: skip


@pytest.mark.parametrize(
    "error", [TypeError("x"), IndexError(), InputError("x"), OverflowError(), np.linalg.LinAlgError(), KeyError("a")]
)
def test_only_certificate_errors_leave_verify(error):
    with pytest.raises(CertificateError):
        Guess(1.0).verify(error, None)
    with pytest.raises(CertificateError, match="kind"):
        replace(Guess(1.0), kind="optimum").verify(np.zeros(2), None)
    claim = Guess(1.0)
    assert claim.verify(np.zeros(2), None) is claim


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, None, "1", True, np.zeros(1), 1j])
def test_numbers_that_cannot_be_stated(value):
    with pytest.raises(CertificateError):
        stated_number(value, "bound", least=0.0)


@pytest.mark.parametrize("value", [None, [0.0, 1.0], np.zeros(3), np.array([0.0, np.nan]), np.zeros(2, dtype=int)])
def test_arrays_that_cannot_be_held(value):
    with pytest.raises(CertificateError):
        stated_array(value, "point", (2,))
