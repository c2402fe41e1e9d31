"""A Bayesian network: a joint law as a product of conditional tables along a directed acyclic graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.probability.declaration import State, declare
from separatrix.probability.elimination import Factor, eliminate
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, refuse, whole

Event = Mapping[str, State]


@dataclass(frozen=True, eq=False)
class Answer:
    """P(variables | given), as a table with one axis for each variable asked for."""

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    probabilities: Vector
    given: Event

    def __getitem__(self, state: Any) -> float:
        """The probability of a state, or of one state for each variable."""
        chosen = state if len(self.variables) > 1 else (state,)
        if not isinstance(chosen, tuple) or len(chosen) != len(self.variables):
            refuse(f"{state!r} is not one state for each of {', '.join(self.variables)}.", "give them in this order.")
        places = tuple(
            _place(name, states, value) for name, states, value in zip(self.variables, self.states, chosen, strict=True)
        )
        return float(self.probabilities[places])

    def __str__(self) -> str:
        known = ", ".join(f"{name}={value}" for name, value in self.given.items())
        bar = f" | {known}" if known else ""
        lines = []
        for place in np.ndindex(*self.probabilities.shape):
            pairs = zip(self.variables, self.states, place, strict=True)
            event = ", ".join(f"{name}={states[k]}" for name, states, k in pairs)
            lines.append(f"P({event}{bar}) = {self.probabilities[place]:.5g}")
        return "\n".join(lines)


class BayesNet:
    """P(x₁, …, xₙ) = ∏ P(xᵢ | parents of xᵢ).

    ``tables`` maps each variable to its table: a row of probabilities for a variable
    without parents, else ``(parents, table)`` with one axis for each parent, in their
    order, and the variable's own states last. ``states`` names the states of a variable;
    unnamed ones are 0, 1, 2, … Parents may be named before they are declared.

    The graph must have no cycle, and every row of every table sums to one.

    >>> net = BayesNet({"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])})
    >>> print(net.factorisation())
    P(rain, wet) = P(rain) P(wet | rain)
    >>> print(net.query("rain", given={"wet": 1}))
    P(rain=0 | wet=1) = 0.33333
    P(rain=1 | wet=1) = 0.66667
    """

    def __init__(
        self,
        tables: Mapping[str, Any],
        states: Mapping[str, Sequence[State]] | None = None,
    ) -> None:
        declared = declare(tables, states or {})
        self.order, self.parents = declared.order, declared.parents
        self.states, self.tables = declared.states, declared.tables

    @staticmethod
    def binary(p: ArrayLike) -> Vector:
        """The table of a variable with states 0 and 1 from its probabilities of 1.

        >>> BayesNet.binary([0.25, 1.0])
        array([[0.75, 0.25],
               [0.  , 1.  ]])
        """
        positive = finite(p, "p")
        return np.stack([1.0 - positive, positive], axis=-1)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, as they were declared."""
        return tuple(self.tables)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The arrows, from parent to child."""
        return [(above, name) for name in self.tables for above in self.parents[name]]

    @property
    def n_parameters(self) -> int:
        """Free probabilities in the tables; the joint table would have ∏ states − 1."""
        return sum(table.size - table.size // table.shape[-1] for table in self.tables.values())

    def __repr__(self) -> str:
        return f"BayesNet({len(self.tables)} variables, {len(self.edges)} arrows, {self.n_parameters} parameters)"

    def factorisation(self) -> str:
        """The joint law as a product, parents first."""
        terms = (f"P({name} | {', '.join(self.parents[name])})" if self.parents[name] else f"P({name})"
                 for name in self.order)  # fmt: skip
        return f"P({', '.join(self.order)}) = {' '.join(terms)}"

    def query(self, target: str | Sequence[str], given: Event | None = None) -> Answer:
        """P(target | given), exactly, by variable elimination.

        Variables without target or evidence below them sum to one and are left out
        before anything is multiplied. Evidence of probability zero is refused.
        """
        wanted = tuple(target) if isinstance(target, (list, tuple)) else (target,)
        given = {} if given is None else given
        evidence = self._evidence(given)
        for name in wanted:
            self._known(name)
            if name in evidence:
                refuse(f"{name!r} is asked for and given.", "ask for variables that are not known.")
        if len(wanted) == 0 or len(set(wanted)) < len(wanted):
            refuse(f"{list(wanted)} is not a choice of variables.", "name at least one, and each only once.")
        joint = self._eliminate(wanted, evidence)
        total = float(joint.table.sum())
        if total == 0.0:
            refuse(f"The evidence {_written(given)} has probability zero.", "no law follows from what cannot happen.")
        return Answer(wanted, tuple(self.states[name] for name in wanted), joint.table / total, dict(given))

    def log_probability(self, event: Event) -> float:
        """Log P(event): −∞ for what cannot happen; right where the probability underflows."""
        joint = self._eliminate((), self._evidence(event))
        with np.errstate(divide="ignore"):
            return min(0.0, float(np.log(joint.table)) + joint.log_scale)

    def probability(self, event: Event) -> float:
        """P(event), the variables that are not named summed out.

        >>> BayesNet({"rain": [0.75, 0.25]}).probability({"rain": 1})
        0.25
        """
        joint = self._eliminate((), self._evidence(event))
        return min(1.0, float(joint.table * np.exp(joint.log_scale)))

    def sample(self, n: int, seed: int | None = None) -> dict[str, NDArray[Any]]:
        """Draw n times all variables, parents first."""
        rng = np.random.default_rng(seed)
        codes: dict[str, NDArray[np.intp]] = {}
        for name in self.order:
            edges = np.cumsum(self.tables[name], axis=-1)
            rows = edges[tuple(codes[above] for above in self.parents[name])]
            # u below the last edge: rounding never picks a state of probability zero at the end
            u = rng.random(whole(n)) * rows[..., -1]
            codes[name] = np.asarray((u[:, None] >= np.atleast_2d(rows)[..., :-1]).sum(axis=1))
        return {name: _column(self.states[name])[codes[name]] for name in self.tables}

    def _eliminate(self, keep: tuple[str, ...], evidence: dict[str, int]) -> Factor:
        needed, stack = set(), [*keep, *evidence]
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                stack.extend(self.parents[name])
        factors = [
            Factor((*self.parents[name], name), self.tables[name]).given(evidence)
            for name in self.order
            if name in needed
        ]
        return eliminate(factors, keep)

    def _evidence(self, given: Event) -> dict[str, int]:
        if not isinstance(given, Mapping):
            refuse(f"The evidence is {given!r}.", "give {variable: state}.")
        return {name: _place(name, self.states[self._known(name)], value) for name, value in given.items()}

    def _known(self, name: str) -> str:
        if not isinstance(name, str) or name not in self.tables:
            refuse(f"The network has no variable {name!r}.", f"it has {', '.join(map(str, self.tables))}.")
        return name


def _place(name: str, states: tuple[State, ...], value: State) -> int:
    try:
        return states.index(value)
    except ValueError:
        refuse(f"{name!r} has no state {value!r}.", f"its states are {', '.join(map(repr, states))}.")


def _written(event: Event) -> str:
    return ", ".join(f"{name}={value}" for name, value in event.items())


def _column(states: tuple[State, ...]) -> NDArray[Any]:
    names: NDArray[Any] = np.array(states) if len({type(state) for state in states}) == 1 else np.empty(0)
    if names.ndim != 1 or len(names) != len(states):
        names = np.empty(len(states), dtype=object)
        names[:] = list(states)
    return names
