"""Bayesian networks: the lectures' numbers, and exact answers by brute force in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from separatrix.probability import BayesNet
from separatrix.probability.elimination import elimination_order


@pytest.fixture
def job_offer():
    return BayesNet(
        {
            "E": BayesNet.binary(0.6),
            "G": BayesNet.binary(0.8),
            "I": (["E", "G"], BayesNet.binary([[0.0, 0.4], [0.6, 0.9]])),
            "O": (["I"], BayesNet.binary([0.0, 0.2])),
        }
    )


def test_job_offer_has_the_right_answers_not_the_decks(job_offer):
    assert job_offer.query("I")[1] == pytest.approx(0.632)
    assert job_offer.query("O")[1] == pytest.approx(0.1264)
    assert job_offer.query("E", given={"O": 1})[1] == pytest.approx(0.504 / 0.632)
    assert round(job_offer.query("E", given={"O": 1})[1], 5) == 0.79747
    assert job_offer.probability({"E": 1, "G": 1, "I": 1}) == pytest.approx(0.432)
    assert job_offer.factorisation() == "P(E, G, I, O) = P(E) P(G) P(I | E, G) P(O | I)"
    assert job_offer.n_parameters == 1 + 1 + 4 + 2
    assert job_offer.edges == [("E", "I"), ("G", "I"), ("I", "O")]


def test_explaining_away(job_offer):
    once = job_offer.query("E", given={"I": 1})[1]
    assert job_offer.query("E", given={"I": 1, "G": 1})[1] < once
    assert job_offer.query("E", given={"G": 1})[1] == pytest.approx(0.6)


# random networks with tables in 1/12ths, so that floats and fractions mean the same law


@st.composite
def networks(draw):
    n = draw(st.integers(1, 6))
    names = draw(st.permutations([f"v{k}" for k in range(n)]))
    sizes = [draw(st.integers(1, 3)) for _ in range(n)]
    exact, parents = {}, {}
    for k, name in enumerate(names):
        above = [names[j] for j in range(k) if draw(st.booleans())][:3]
        parents[name] = tuple(above)
        rows = {}
        for place in product(*(range(sizes[names.index(other)]) for other in above)):
            cuts = sorted(draw(st.integers(0, 12)) for _ in range(sizes[k] - 1))
            rows[place] = [Fraction(b - a, 12) for a, b in zip([0, *cuts], [*cuts, 12], strict=True)]
        exact[name] = rows
    return names, dict(zip(names, sizes, strict=True)), parents, exact


def net_of(case) -> BayesNet:
    names, sizes, parents, exact = case
    tables = {}
    for name in sorted(names):  # declared in another order than that of the arrows
        table = np.zeros((*(sizes[above] for above in parents[name]), sizes[name]))
        for place, row in exact[name].items():
            table[place] = [float(share) for share in row]
        tables[name] = (parents[name], table) if parents[name] else table
    return BayesNet(tables)


def joint(case):
    names, sizes, parents, exact = case
    for states in product(*(range(sizes[name]) for name in names)):
        at = dict(zip(names, states, strict=True))
        p = Fraction(1)
        for name in names:
            p *= exact[name][tuple(at[above] for above in parents[name])][at[name]]
        yield at, p


@settings(deadline=None)
@given(networks(), st.data())
def test_queries_equal_the_sum_over_the_whole_joint_table(case, data):
    net, names, sizes = net_of(case), case[0], case[1]
    targets = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    known = data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    given_ = {name: data.draw(st.integers(0, sizes[name] - 1)) for name in known if name not in targets}
    sums, total = {}, Fraction(0)
    for at, p in joint(case):
        if all(at[name] == value for name, value in given_.items()):
            key = tuple(at[name] for name in targets)
            sums[key] = sums.get(key, Fraction(0)) + p
            total += p
    assert net.probability(given_) == pytest.approx(float(total), abs=1e-12)
    if total == 0:
        with pytest.raises(ValueError, match="probability zero"):
            net.query(targets, given_)
        assert net.log_probability(given_) == -np.inf
        return
    answer = net.query(targets, given_)
    for key, p in sums.items():
        assert answer[key if len(targets) > 1 else key[0]] == pytest.approx(float(p / total), abs=1e-12)
    assert answer.probabilities.sum() == pytest.approx(1.0)


def chain(n, stay=0.9):
    table = [[stay, 1 - stay], [1 - stay, stay]]
    return BayesNet({"x0": [0.5, 0.5]} | {f"x{k}": ([f"x{k - 1}"], table) for k in range(1, n)})


def test_a_chain_of_forty_is_a_matrix_power():
    net = chain(40)
    power = np.linalg.matrix_power([[0.9, 0.1], [0.1, 0.9]], 39)
    assert net.query("x39", given={"x0": 0})[0] == pytest.approx(power[0, 0])
    assert net.query("x0", given={"x39": 1})[1] == pytest.approx(power[1, 1])
    assert elimination_order([(f"x{k}", f"x{k + 1}") for k in range(39)], ["x39"])[:2] == ["x0", "x1"]


def test_long_evidence_does_not_underflow():
    net = chain(3000, stay=0.2)
    stuck = {f"x{k}": 0 for k in range(3000)}
    assert net.log_probability(stuck) == pytest.approx(np.log(0.5) + 2999 * np.log(0.2))
    last = stuck.pop("x2999")
    assert net.query("x2999", given=stuck)[last] == pytest.approx(0.2)


def test_barren_variables_cost_nothing():
    # thirty children of thirty roots would need a table of 2³⁰ entries, were they not left out
    roots = {f"r{k}": [0.5, 0.5] for k in range(16)}
    table = np.full((2,) * 16 + (2,), 0.5)
    net = BayesNet(roots | {f"c{k}": (list(roots), table) for k in range(3)})
    assert net.query("r3")[0] == 0.5


def test_a_query_too_large_is_refused_and_not_tried():
    leaf = {f"c{a}-{b}": ([f"r{a}", f"r{b}"], np.full((3, 3, 2), 0.5)) for a in range(20) for b in range(a)}
    net = BayesNet({f"r{k}": [0.2, 0.3, 0.5] for k in range(20)} | leaf)
    with pytest.raises(ValueError, match="entries"):
        net.query("r0", given=dict.fromkeys(leaf, 1))


def test_draws_follow_the_joint_law(job_offer):
    draws = job_offer.sample(100_000, seed=3)
    code = 8 * draws["E"] + 4 * draws["G"] + 2 * draws["I"] + draws["O"]
    counts = np.bincount(code, minlength=16)
    events = [dict(zip("EGIO", states, strict=True)) for states in product((0, 1), repeat=4)]
    expected = 100_000 * np.array([job_offer.probability(event) for event in events])
    assert counts[expected == 0].sum() == 0
    likely = expected > 0
    assert stats.chisquare(counts[likely], expected[likely]).pvalue > 0.001
    again = job_offer.sample(100_000, seed=3)
    assert all((draws[name] == again[name]).all() for name in draws)


def test_states_may_have_names():
    net = BayesNet(
        {"sky": [0.5, 0.3, 0.2], "mood": (["sky"], [[0.1, 0.9], [0.5, 0.5], [0.8, 0.2]])},
        states={"sky": ["clear", "cloudy", "storm"], "mood": ["bad", "good"]},
    )
    assert net.query("mood", given={"sky": "storm"})["bad"] == pytest.approx(0.8)
    both = net.query(["sky", "mood"])
    assert both["clear", "good"] == pytest.approx(0.45)
    assert "P(mood=bad | sky=storm) = 0.8" in str(net.query("mood", given={"sky": "storm"}))
    assert set(net.sample(50, seed=0)["mood"]) == {"bad", "good"}


def test_tables_given_stay_the_users():
    table = np.array([0.5, 0.5])
    net = BayesNet({"A": table})
    table[0] = 7.0
    assert net.query("A")[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        net.tables["A"][0] = 7.0


ROOT = {"A": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BayesNet({}), "no variables"),
        (lambda: BayesNet({1: [0.5, 0.5]}), "names are strings"),
        (lambda: BayesNet({"A": (["B"], np.eye(2)), "B": (["A"], np.eye(2))}), "A → B → A|B → A → B"),
        (lambda: BayesNet({"A": (["A"], np.eye(2))}), "A → A"),
        (lambda: BayesNet({"A": (["B"], np.eye(2))}), "'A' has the parent 'B'"),
        (lambda: BayesNet(ROOT | {"B": (["A", "A"], np.eye(2))}), "'B' names a parent twice"),
        (lambda: BayesNet(ROOT | {"B": (["A"], [0.5, 0.5])}), r"'B' has the shape \(2,\)"),
        (lambda: BayesNet(ROOT | {"B": (["A"], [[0.5, 0.5], [0.5, 0.4]])}), r"P\(B \| A=1\) sums to 0.9"),
        (lambda: BayesNet({"A": [0.5, 0.4]}), r"P\(A\) sums to 0.9"),
        (lambda: BayesNet({"A": [1.5, -0.5]}), "negative"),
        (lambda: BayesNet({"A": [np.nan, 1.0]}), "table of 'A' has a NaN"),
        (lambda: BayesNet({"A": 0.5}), "'A' holds no probabilities"),
        (lambda: BayesNet(ROOT, states={"A": ["x"]}), "'A' has 2 states"),
        (lambda: BayesNet(ROOT, states={"Z": ["x"]}), "'Z'"),
        (lambda: BayesNet(ROOT).query("Z"), "no variable 'Z'"),
        (lambda: BayesNet(ROOT).query("A", given={"A": 1}), "asked for and given"),
        (lambda: BayesNet(ROOT).query([]), "at least one"),
        (lambda: BayesNet(ROOT).query(3), "no variable 3"),
        (lambda: BayesNet(ROOT).query("A", given=["B"]), "variable: state"),
        (lambda: BayesNet(ROOT, states={"A": [[1], [2]]}), "states of 'A'"),
        (lambda: BayesNet(ROOT).sample(-1), "n is -1"),
        (lambda: BayesNet(ROOT).query("A")[7], "'A' has no state 7"),
        (lambda: BayesNet(ROOT).probability({"A": "yes"}), "'A' has no state 'yes'"),
        (lambda: BayesNet(ROOT | {"B": (["A"], np.eye(2))}).query("A", {"B": 2}), "'B' has no state 2"),
        (lambda: BayesNet({"A": [1.0, 0.0], "B": (["A"], np.eye(2))}).query("B", {"A": 1}), "A=1 has probability zero"),
    ],
)
def test_mistakes_name_the_variable(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n\nHint: " in str(caught.value)
