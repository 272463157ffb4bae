"""The one object: two laws of one observation, and everything a person wants to know about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .catalogue.readings import find_reading
from .certificate import Certificate, certificate
from .checks import Array, Real, Several, float_or_array
from .errors import InputError
from .numerics.values import FrozenMapping, ValueSemantics
from .overview import USUAL, Overview, curves, experiment_repr, many_readings, overview
from .readings import curve, guesses
from .readings.law import Exactness, Law, ends, map_members
from .results import ChartLike, ChartsLike, Result, presenter
from .worlds import MEMBERSHIP, Worlds

if TYPE_CHECKING:
    from .laws.product import ProductFactor
    from .readings.law import Latent


_MOST_TIMES = 10**9
_LEAST_LEVEL = 1e-100  # of errors that μ looks at


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(ValueSemantics, Result):
    """A test between two laws of what the adversary observes.

    H0 is the world where the person is absent (or has the first value, or nobody tampered), H1 the other. ``law``
    represents the pair; ``origin`` (the builder's name in the catalogue) and ``parameters`` say where it comes from,
    ``worlds`` what is compared. ``notes`` and ``label`` are words for readers: no code acts on them, and experiments
    that differ in nothing else are equal. ``recipe`` is what a builder was given, where ``parameters`` do not say it.
    ``latent`` is what the answer depends on that the adversary does not know and that is the same in every answer:
    such experiments compose as one release of a vector, never as independent ones.

    >>> import epsilens as el
    >>> e = el.laplace(epsilon=1.0)
    >>> round(e.success(), 6), round(e.recall(0.1), 6), round(e.psi(), 4)
    (0.696735, 0.271828, 1.0301)
    """

    shown_as = "experiment"

    law: Law
    origin: str = "experiment"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    worlds: Worlds = MEMBERSHIP
    notes: tuple[str, ...] = field(default=(), compare=False)
    parts: tuple[tuple[Experiment, int], ...] = ()  # of a composition: what it is made of, and how often
    label: str = field(default="", compare=False)
    recipe: tuple[str, Mapping[str, Any]] | None = field(default=None, compare=False)  # what a builder was given
    latent: Latent | None = field(default=None, repr=False)  # what is unknown, and the same in every answer

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))

    @property
    def name(self) -> str:
        """What readers call it."""
        return self.label or self.origin

    @property
    def h0(self) -> str:
        """The first world in words."""
        return self.worlds.h0

    @property
    def h1(self) -> str:
        """The second world in words."""
        return self.worlds.h1

    def reverse(self) -> Experiment:
        """The same pair with the roles of H0 and H1 exchanged.

        Returns
        -------
        Experiment
            The reversed pair.
        """
        parts = tuple((part.reverse(), count) for part, count in self.parts)
        latent = None if self.latent is None else self.latent.reverse()
        return replace(self, law=self.law.reverse(), worlds=self.worlds.reverse(), parts=parts, latent=latent)

    @property
    def unknowns(self) -> tuple[Latent, ...]:
        """What this, or the answers it is made of, depend on that is unknown and drawn once for all of them."""
        found = (self.latent, *(part.latent for part, _ in self.parts))
        return tuple(latent for latent in found if latent is not None)

    def repeat(self, k: int, *, width: float | None = None) -> Experiment:
        """The same release k times, each with fresh noise; what is unknown of correlated records stays as it is.

        Parameters
        ----------
        k : int
            How many times, from 1 to 1e9.
        width : float, optional
            Relative width asked of each reading's bracket; 0.001 unless given.

        Returns
        -------
        Experiment
            The composition.

        Raises
        ------
        InputError
            If an argument lies outside its range.

        Examples
        --------
        >>> import epsilens as el
        >>> round(el.mechanisms.randomized_response(epsilon=1.0).repeat(100).epsilon(delta=1e-6), 6)
        83.530702
        """
        return compose_counted([(self, checks.integer("k", k, low=1, high=_MOST_TIMES))], width)

    def bracket(self, reading: str, **arguments: Any) -> tuple[Any, Any]:
        """(low, high) between which a reading surely lies; the reading itself is the riskier end, but for rounding.

        The ends of a closed form are rounded outward by what its arithmetic may lose, some units in the last place;
        they agree where the value is known exactly, as 0, 1, infinity and the ε of Laplace noise are. Where only a
        bound from above is known the low end is what the reading is without any release, unless a pair is known that
        is attained. The ends are of this pair of laws: of training (:func:`dpsgd`) that is the pair which dominates
        every training with these parameters, so the low end is no floor on a real one.

        Parameters
        ----------
        reading : str
            Name of a reading, or ``tradeoff``.
        **arguments : float or array_like
            Those of the reading.

        Returns
        -------
        (float, float) or (ndarray, ndarray)
            The lower and the upper end; equal, but for rounding, where the reading is exact.

        Raises
        ------
        InputError
            If the reading is unknown or does not take an argument.

        Examples
        --------
        >>> import epsilens as el
        >>> low, high = el.dpsgd(sigma=1.0, rate=0.01, steps=100).bracket("epsilon", delta=1e-5)
        >>> round(high, 2), low < high <= low * 1.001
        (0.72, True)
        >>> el.mechanisms.from_gdp(1.0).bracket("success")  # a claim says nothing from below
        (0.5, 0.691462461274...)
        >>> el.laplace(epsilon=1.0).bracket("epsilon")
        (1.0, 1.0)
        """
        asked = None if isinstance(reading, str) and reading == "tradeoff" else find_reading(reading)
        if asked is not None:
            arguments = asked.arguments(arguments)
        elif set(arguments) != {"fpr"}:
            raise InputError("a bracket of tradeoff takes fpr alone: give false-positive rates, such as fpr=0.05")
        if self.law.members is not None:
            return self._brackets(reading, arguments)
        value = np.asarray(getattr(self, reading)(**arguments))
        given = {name: checks.real(name, x, infinite=True) for name, x in arguments.items()}

        def read(law: Law, **at: Array) -> Array:
            return np.asarray(getattr(replace(self, law=law), reading)(**at))

        floor = asked.floor if asked is not None else lambda fpr: 1 - fpr
        loose = self.law.known is Exactness.BOUND or (asked is not None and asked.whole and self.law.pointwise)
        low, high = ends(self.law, reading, given, value, read, floor, loose, self.parameters.get("epsilon"))
        if self.law.known is Exactness.BRACKET:  # that of a trade-off is asked of the recall
            self.law.seen(*((1 - high, 1 - low) if asked is None else (low, high)))
        return float_or_array(low), float_or_array(high)

    def certificate(self, reading: str, **arguments: float) -> Certificate:
        """A reading and its bracket in a form that can be checked without this software.

        The independent checker (``python -m epsilens_checker FILE``) proves both ends in ball arithmetic from the
        noise alone, or refutes them.

        Parameters
        ----------
        reading : {"epsilon", "delta", "success", "advantage", "tradeoff"}
            Which reading.
        **arguments : float
            Those of the reading: delta, epsilon or fpr.

        Returns
        -------
        Certificate
            ``save`` writes it.

        Raises
        ------
        InputError
            If the reading is none of these, infinite, or of laws that the checker does not know.

        Examples
        --------
        >>> import epsilens as el
        >>> made = el.dpsgd(sigma=1.0, rate=0.01, steps=100).certificate("epsilon", delta=1e-5)
        >>> made.reading, made.at, round(made.upper, 2), len(made.releases)
        ('epsilon', 1e-05, 0.72, 1)
        """
        return certificate(self, reading, arguments)

    def _brackets(self, reading: str, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
        """Of each of many laws its own bracket."""
        laws, shape = self.law.members or ((), ())
        alone = [replace(self, law=law, parameters={}) for law in laws]
        given = [checks.real(name, value, infinite=True) for name, value in arguments.items()]
        self.fit(*given, np.empty(shape))

        def end(which: int) -> Array:
            def read(one: Experiment, *at: Array) -> Any:
                return one.bracket(reading, **dict(zip(arguments, at, strict=True)))[which]

            return map_members(alone, shape, read, given)

        return end(0), end(1)

    # -- the curve ----------------------------------------------------------------------------------------------

    @overload
    def tradeoff(self, fpr: Real) -> float: ...
    @overload
    def tradeoff(self, fpr: Several) -> Array: ...
    @overload
    def tradeoff(self, fpr: ArrayLike) -> float | Array: ...
    def tradeoff(self, fpr: ArrayLike) -> float | Array:
        """f(α): the least share of H1 missed by a test that flags a share α of H0.

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.tradeoff(self.fit(checks.probability("fpr", fpr))))

    @overload
    def roc(self, fpr: Real) -> float: ...
    @overload
    def roc(self, fpr: Several) -> Array: ...
    def roc(self, fpr: ArrayLike) -> float | Array:
        """The largest true-positive rate at a false-positive rate: 1 − f(fpr).

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.roc(self.fit(checks.probability("fpr", fpr))))

    @overload
    def recall(self, fpr: Real) -> float: ...
    @overload
    def recall(self, fpr: Several) -> Array: ...
    def recall(self, fpr: ArrayLike) -> float | Array:
        """The same as :meth:`roc`, in the words of paper 000.

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.roc(self.fit(checks.probability("fpr", fpr))))

    @overload
    def threshold(self, fpr: Real) -> float: ...
    @overload
    def threshold(self, fpr: Several) -> Array: ...
    def threshold(self, fpr: ArrayLike) -> float | Array:
        """How far beyond the answer of H0, towards that of H1, the best test at false-alarm rate α calls H1.

        In the answer's own units, for one number with Laplace or Gaussian noise (paper 000, Theorem 3).

        Parameters
        ----------
        fpr : float or array_like
            False-positive rate, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.

        Examples
        --------
        >>> import epsilens as el
        >>> round(el.laplace(epsilon=1.0).threshold(0.05), 6), round(el.gaussian(sigma=2.0).threshold(0.05), 6)
        (2.302585, 3.289707)
        """
        from .readings.curve import threshold

        return float_or_array(threshold(self.origin, self.parameters, self.fit(checks.probability("fpr", fpr))))

    @overload
    def attack_success(self, baseline: Real) -> float: ...
    @overload
    def attack_success(self, baseline: Several) -> Array: ...
    def attack_success(self, baseline: ArrayLike) -> float | Array:
        """The most any attack on a person can reach whose ``baseline`` is its success without their record.

        ``baseline`` is what the attack reaches against a release of the same data **without this person's record**; the
        bound is roc(baseline), and holds for re-identification, attribute inference and reconstruction alike. Success
        before any release is no such baseline: what the release says of everybody (smokers are often ill) also
        helps against people who are not in the data. roc is concave, so both numbers may be averages over targets.

        Parameters
        ----------
        baseline : float or array_like
            Success of the attack without the person's record, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.roc(self.fit(checks.probability("baseline", baseline))))

    def auc(self) -> float:
        """Area under the ROC curve: how often someone in the data scores above someone who is not.

        Returns
        -------
        float
            Exact, or the riskier end of a bracket; an array for many experiments at once.
        """
        return cast(float, float_or_array(self.law.auc()))

    def psi(self) -> float:
        """The smallest μ for which the experiment is μ-GDP; infinite where there is none.

        Returns
        -------
        float
            Exact, or the riskier end of a bracket; an array for many experiments at once.
        """
        return cast(float, float_or_array(self.law.psi()))

    @overload
    def mu(self, level: Real = 1e-6) -> float: ...
    @overload
    def mu(self, level: Several) -> Array: ...
    def mu(self, level: ArrayLike = 1e-6) -> float | Array:
        """ψ over the tests with at least a share ``level`` of false alarms and of misses; at level 0 it is ψ.

        No such test beats normal noise of this μ. ψ itself is ruled by outcomes however rare: of sampled training it is
        what it would be without sampling. What lies beyond the level is left out, so state it beside μ.

        Parameters
        ----------
        level : float or array_like, default 1e-06
            Least share of false alarms and of misses, 0 or from 1e-100 to 0.5.

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.

        Examples
        --------
        >>> import epsilens as el
        >>> e = el.dpsgd(sigma=9.4, rate=2**14 / 50_000, steps=2000)
        >>> round(e.mu(level=1e-6), 3), round(e.psi(), 3)
        (1.565, 4.758)
        """
        at = self.fit(checks.in_range("level", level, 0.0, 0.5))
        if np.any((at > 0) & (at < _LEAST_LEVEL)):
            raise InputError(f"level is below {_LEAST_LEVEL:g}: give a larger one, or 0 for ψ itself", "level")
        return float_or_array(curve.practical_mu(self.law, at))

    # -- guesses with a prior -----------------------------------------------------------------------------------

    @overload
    def success(self, prior: Real = 0.5) -> float: ...
    @overload
    def success(self, prior: Several) -> Array: ...
    def success(self, prior: ArrayLike = 0.5) -> float | Array:
        """How often the best guess is right when H1 has this prior probability.

        Parameters
        ----------
        prior : float or array_like, default 0.5
            Probability of H1 before the release, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(guesses.success(self.law, self.fit(checks.probability("prior", prior))))

    def advantage(self) -> float:
        """The largest true-positive rate minus false-positive rate: total variation, δ(0).

        Returns
        -------
        float
            Exact, or the riskier end of a bracket; an array for many experiments at once.
        """
        return cast(float, float_or_array(guesses.advantage(self.law)))

    @overload
    def posterior(self, prior: Real = 0.5) -> float: ...
    @overload
    def posterior(self, prior: Several) -> Array: ...
    def posterior(self, prior: ArrayLike = 0.5) -> float | Array:
        """The most certain the adversary can ever become of H1; of H0 that is ``reverse().posterior(1 - prior)``.

        Parameters
        ----------
        prior : float or array_like, default 0.5
            Probability of H1 before the release, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.

        Examples
        --------
        >>> import epsilens as el
        >>> e = el.laplace(epsilon=1.0)  # believed present 1 time of 10: at most 0.23 sure of it, but 0.96 of absence
        >>> round(e.posterior(0.1), 4), round(e.reverse().posterior(0.9), 4)
        (0.232, 0.9607)
        """
        return float_or_array(guesses.posterior(self.law, self.fit(checks.probability("prior", prior))))

    @overload
    def precision(self, fpr: Real, prior: Real = 0.5) -> float: ...
    @overload
    def precision(self, fpr: None = None, prior: Real = 0.5, *, recall: Real) -> float: ...
    @overload
    def precision(
        self, fpr: ArrayLike | None = None, prior: ArrayLike = 0.5, *, recall: ArrayLike | None = None
    ) -> float | Array: ...
    def precision(
        self, fpr: ArrayLike | None = None, prior: ArrayLike = 0.5, *, recall: ArrayLike | None = None
    ) -> float | Array:
        """Share of those flagged who are truly H1, at a false-positive rate ``fpr`` or at a ``recall``.

        Parameters
        ----------
        fpr : float or array_like, optional
            False-positive rate, in [0, 1]; or give `recall`.
        prior : float or array_like, default 0.5
            Probability of H1 before the release, in [0, 1].
        recall : float or array_like, optional
            True-positive rate, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        p = checks.probability("prior", prior)
        if (fpr is None) == (recall is None):
            raise InputError("precision needs either fpr or recall: give one of them")
        if recall is not None:
            r = checks.probability("recall", recall)
            self.fit(r, p)
            return float_or_array(guesses.precision_at_recall(self.law, r, p))
        assert fpr is not None
        a = checks.probability("fpr", fpr)
        self.fit(a, p)
        return float_or_array(guesses.precision(self.law, a, p))

    @overload
    def fbeta(self, beta: Real = 1.0, prior: Real = 0.5) -> float: ...
    @overload
    def fbeta(self, beta: Several, prior: ArrayLike = 0.5) -> Array: ...
    @overload
    def fbeta(self, beta: Real = 1.0, *, prior: Several) -> Array: ...
    @overload
    def fbeta(self, beta: ArrayLike = 1.0, prior: ArrayLike = 0.5) -> float | Array: ...
    def fbeta(self, beta: ArrayLike = 1.0, prior: ArrayLike = 0.5) -> float | Array:
        """The largest Fβ score over all adversaries (paper 000).

        Parameters
        ----------
        beta : float or array_like, default 1.0
            Weight of recall, from 1e-300 to 1e150.
        prior : float or array_like, default 0.5
            Probability of H1 before the release, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        b, p = checks.in_range("beta", beta, 1e-300, 1e150), checks.probability("prior", prior)
        self.fit(b, p)
        return float_or_array(self.law.fbeta(b, guesses.odds(p)))

    # -- the guarantee ------------------------------------------------------------------------------------------

    @overload
    def delta(self, epsilon: Real) -> float: ...
    @overload
    def delta(self, epsilon: Several) -> Array: ...
    def delta(self, epsilon: ArrayLike) -> float | Array:
        """The smallest δ for which (ε, δ)-DP holds between the two laws, in both orders.

        Parameters
        ----------
        epsilon : float or array_like
            ε ≥ 0.

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.worse_delta(self.fit(checks.at_least("epsilon", epsilon, 0.0))))

    @overload
    def epsilon(self, delta: Real = 0.0) -> float: ...
    @overload
    def epsilon(self, delta: Several) -> Array: ...
    def epsilon(self, delta: ArrayLike = 0.0) -> float | Array:
        """The smallest ε for which (ε, δ)-DP holds between the two laws, in both orders; infinite if none.

        Parameters
        ----------
        delta : float or array_like, default 0.0
            δ, in [0, 1].

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(self.law.worse_epsilon(self.fit(checks.probability("delta", delta))))

    @overload
    def renyi(self, order: Real) -> float: ...
    @overload
    def renyi(self, order: Several) -> Array: ...
    @overload
    def renyi(self, order: ArrayLike) -> float | Array: ...
    def renyi(self, order: ArrayLike) -> float | Array:
        """The Rényi divergence D_order(H0‖H1) in nats.

        Parameters
        ----------
        order : float or array_like
            Order of the divergence, from 0 to infinity.

        Returns
        -------
        float or ndarray
            Exact, or the riskier end of a bracket (:meth:`bracket`).

        Raises
        ------
        InputError
            If an argument lies outside its range.
        """
        return float_or_array(curve.renyi(self.law, self.fit(checks.at_least("order", order, 0.0, infinite=True))))

    def kl(self) -> float:
        """The Kullback–Leibler divergence D(H0‖H1) in nats.

        Returns
        -------
        float
            Exact, or the riskier end of a bracket; an array for many experiments at once.
        """
        return cast(float, float_or_array(self.law.kl()))

    def chernoff(self) -> float:
        """The Chernoff information: the exponent of the error over many repetitions.

        Returns
        -------
        float
            Exact, or the riskier end of a bracket; an array for many experiments at once.
        """
        return cast(float, float_or_array(curve.chernoff(self.law)))

    def fit(self, *arrays: Array) -> Array:
        """The first of the arguments, once all fit each other and the experiment's own arrays.

        Parameters
        ----------
        *arrays : ndarray
            Arguments of a reading.

        Returns
        -------
        ndarray
            The first of them.

        Raises
        ------
        InputError
            If shapes do not broadcast.
        """
        if not arrays:
            raise InputError("there is nothing to fit: give an array")
        if self.many or len(arrays) > 1:
            own = [v for v in self.parameters.values() if isinstance(v, np.ndarray)]
            try:
                np.broadcast_shapes(*(np.shape(a) for a in (*arrays, *own)))
            except ValueError:
                shapes = " and ".join(str(getattr(a, "shape", "of no array")) for a in (*arrays, *own))
                raise InputError(f"the arguments have shapes {shapes}: give shapes that broadcast") from None
        return arrays[0]

    @property
    def many(self) -> bool:
        """Whether this is many experiments at once, which no sentence can explain."""
        return self.law.members is not None or any(isinstance(v, np.ndarray) for v in self.parameters.values())

    # -- showing ------------------------------------------------------------------------------------------------

    @property
    def direction(self) -> str:
        """``exact``, or ``upper`` where a stated error is rounded against the defender."""
        return self.law.direction

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description: where it comes from, not its readings.

        Returns
        -------
        dict
            What can be written as JSON.
        """
        return {
            "name": self.name,
            "parameters": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in self.parameters.items()},
            "h0": self.h0,
            "h1": self.h1,
            "direction": self.direction,
            "notes": list(self.notes),
        }

    @overload
    def chart(self, name: str = "roc", *, against: Any = (), prior: float = 0.5, fpr: float = 0.1) -> ChartLike: ...

    @overload
    def chart(
        self, name: list[str] | tuple[str, ...], *, against: Any = (), prior: float = 0.5, fpr: float = 0.1
    ) -> ChartsLike: ...

    def chart(
        self,
        name: str | list[str] | tuple[str, ...] = "roc",
        *,
        against: Any = (),
        prior: float = 0.5,
        fpr: float = 0.1,
    ) -> ChartLike | ChartsLike:
        """A chart that shows itself in a notebook, or several where ``name`` is a list.

        It is ``roc``, ``tradeoff``, ``precision_recall``, ``profile`` (δ against ε), ``success`` or ``posterior``
        (against the prior), or ``renyi`` (against the order); a reading's name is its curve. ``against`` are other
        experiments to draw beside it, or a mapping from names to them. Alone, the first three mark the best guess at
        ``prior`` and what is found at the false-alarm rate ``fpr``. ``.save("x.svg")`` (or ``.png``, ``.pdf``,
        ``.html``, ``.json``) writes it, ``.plot(ax)`` draws it with matplotlib, ``.data`` holds its points and
        ``.spec`` its Vega-Lite definition.

        Parameters
        ----------
        name : str or sequence of str, default 'roc'
            Which curve, or several.
        against : sequence or mapping of Experiment, default ()
            Others to draw beside it.
        prior : float, default 0.5
            Where the best guess is marked, in [0, 1].
        fpr : float, default 0.1
            False-positive rate that is marked, in [0, 1].

        Returns
        -------
        chart or charts
            Shows itself in a notebook; ``save``, ``plot``, ``data`` and ``spec``.

        Raises
        ------
        InputError
            If there is no such chart.

        Examples
        --------
        >>> import epsilens as el
        >>> chart = el.laplace(epsilon=1.0).chart("roc", against=[el.gaussian(psi=1.0)])
        >>> sorted({point["series"] for point in chart.data})
        ['gaussian(sigma=1)', 'laplace(epsilon=1)', 'without the release']
        """
        prior, fpr = (
            float(checks.probability(key, checks.scalar(key, value))) for key, value in (("prior", prior), ("fpr", fpr))
        )
        drawn = [
            presenter().curves(curves(self, one, against=against, prior=prior, fpr=fpr))
            for one in (name if isinstance(name, list | tuple) else [name])
        ]
        return presenter().charts(drawn) if isinstance(name, list | tuple) else drawn[0]

    def frame(self, **arguments: float) -> Any:
        """Every reading as a pandas DataFrame, a row each.

        The arguments are those of ``explain``. Of many experiments at once there is a row for each, and a column for
        each parameter and reading.

        Parameters
        ----------
        **arguments : float
            Those of the readings: prior, fpr, delta, …

        Returns
        -------
        DataFrame
            A row a reading.

        Raises
        ------
        MissingExtra
            If pandas is not installed.

        Examples
        --------
        >>> import epsilens as el
        >>> f'{el.laplace(epsilon=1.0).frame().loc["success", "value"]:.6f}'
        '0.696735'
        """
        for name in arguments:
            if name not in USUAL:
                raise InputError(f"a frame takes no {name!r}: give one of {', '.join(USUAL)}", parameter=name)
        if self.many:
            return presenter().table(many_readings(self, {**USUAL, **arguments}))
        return presenter().frame(self.overview(**arguments))

    def overview(self, **arguments: float) -> Overview:
        """Every reading at once: what reports and tables are made of.

        Parameters
        ----------
        **arguments : float
            Those of the readings: prior, fpr, delta, …

        Returns
        -------
        Overview
            Numbers without words.
        """
        return overview(self, **arguments)

    def _shown(self, pictures: bool = False) -> Result:
        return self if self.many else self.overview()._shown(pictures)

    def __repr__(self) -> str:
        return experiment_repr(self)


def require_independent(experiment: Experiment) -> Experiment:
    """The experiment, where it adds up with others as a release of its own; refused where it shares unknowns."""
    if experiment.unknowns:
        raise InputError(
            f"{experiment.name} depends on {experiment.unknowns[0].unknown}, the same in every answer: it cannot stand "
            "as an independent release here, so give one of the noise alone, as el.laplace or el.gaussian build it"
        )
    return experiment


def product_factor(experiment: Experiment, count: int = 1) -> ProductFactor:
    """Its law as a factor of a product of independent answers."""
    from .laws.product import ProductFactor  # late, here and below: most experiments are never composed

    return ProductFactor(require_independent(experiment).law, count, experiment.name, not experiment.many)


def compose_counted(counted: Sequence[tuple[Experiment, int]], width: float | None = None) -> Experiment:
    """All of these observed together, each so many times: what :meth:`Experiment.repeat` and ``compose`` return."""
    from .laws.product import product, width_of

    asked = None if width is None else width_of(width)
    parts = tuple((part, k * times) for e, k in counted for part, times in (e.parts or ((e, 1),)))
    if asked is None and sum(k for _, k in parts) == 1:
        return counted[0][0]
    if any(part.latent is not None for part, _ in parts):
        return _joint(parts, counted[0][0].worlds)
    made = product([product_factor(part, k) for part, k in parts], asked)
    return Experiment(made.law, "composition", {"parts": made.total}, counted[0][0].worlds, (made.note,), parts)


def _joint(parts: tuple[tuple[Experiment, int], ...], worlds: Worlds) -> Experiment:
    """Answers that share something unknown, as one release of a vector."""
    answers = [(part.latent, k) for part, k in parts if part.latent is not None]
    alone = next((part for part, _ in parts if part.latent is None), None)
    first = answers[0][0]
    if alone is not None:
        raise InputError(
            f"{alone.name} does not say how it depends on {first.unknown}, which the other answers depend on: build "
            "its experiment from the same model, with weights for each record, and compose that"
        )
    law, note = first.joint(answers)
    return Experiment(law, "composition", {"parts": sum(k for _, k in parts)}, worlds, (note,), parts)
