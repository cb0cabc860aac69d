"""``scipy.optimize.minimize`` in natural steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, OptionError
from ...replay import Compiled, compile
from ._constraints import bounds_of, constraints_of
from ._form import Form, formed
from ._methods import check_derivatives, method_named, options_for
from ._objective import evaluated
from ._point import Point
from ._result import Run, result_of
from ._round import Task, afresh, falls_for_ever, one_round
from ._scaling import Scaling, from_steps, natural, start_of, typical_sizes
from ._stop import StopTest, predicted_decrease
from ._verdict import FEW, constrained_end, second_look

__all__ = ["minimize"]

Array = NDArray[Any]

ROUNDS = 10
"""How often the scale is estimated anew at most."""

NEAR = 1e3
"""What the model may still promise, in roundings of f, where a method finds no decrease."""

COARSE = 1e-3
"""Part of the decrease promised at the last scale, below which SciPy's own tests, which
count in it, are too coarse."""

_OUTSIDE = ("callback", "limit")


def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    *,
    jac: None = None,
    hess: Any = None,
    hessp: None = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Mapping[str, Any] | None = None,
    rescale: str | Callable[[Array], Any] = "restart",
    scales: Any = None,
    budget: int | None = None,
    kwargs: Mapping[str, Any] | None = None,
    kinks: Literal["raise", "branch"] = "raise",
    numpy: Literal["rewrite"] | None = None,
) -> Any:
    """SciPy's ``minimize``, whatever units the variables and ``f`` have.

    Gradients and Hessian products come from the program. Each variable is counted in
    its natural step, which a cover of the Hessian gives at the start, and ``f`` in the
    decrease that such steps promise. SciPy's tolerances, which have units, do not
    decide. The iteration ends when neither the last iterations, continued as a
    geometric series, nor a step of the scaled model, ``sum((g / h)**2) / 2`` without
    bounds, gain more than the rounding of ``f`` (estimated from the tape). A search
    along a line (BFGS, L-BFGS-B, CG, Newton-CG) evaluates no point that by the slope
    could gain less than that, if the model promises no more, or a point before it was
    of that kind.

    Args:
        f: Program as in :func:`derivative_covers.compile`, with one output.
        x0: Start, shape ``(n,)``; moved into the bounds. Or a dictionary of numbers and
            arrays, which ``f``, the callback and functions of constraints take then;
            behind it lies a flat vector in its order, which bounds, Jacobians and
            Hessians of constraints, and linear ones are for.
        args: Further arguments of ``f``.
        method: ``"BFGS"``, ``"L-BFGS-B"``, ``"CG"``, ``"Newton-CG"``, ``"TNC"``,
            ``"SLSQP"``, ``"trust-constr"``, ``"trust-ncg"``, ``"trust-krylov"``,
            ``"trust-exact"`` or ``"dogleg"``. None: BFGS, with bounds L-BFGS-B, with
            constraints SLSQP.
        jac: None: gradients come from the program.
        hess: For trust-constr one of SciPy's quasi-Newton strategies in place of
            Hessian products; else None.
        hessp: None: Hessian products come from the program.
        bounds: SciPy's ``Bounds``, or a pair for each variable, in units.
        constraints: SciPy's ``LinearConstraint``, ``NonlinearConstraint`` or
            dictionaries, or a list of them, in units. Where they give no derivative, it
            comes from their program. Each row is divided by the norm of its gradient
            at the start, in scaled variables. Where one leaves its domain, its error is
            raised: bounds keep a method away from there.
        tol: Which part of ``|f|``, and of the decrease since the start, is not worth an
            iteration. None goes on to the rounding of ``f``.
        callback: As in SciPy: ``callback(xk)`` or ``callback(intermediate_result=...)``,
            with points in units. StopIteration
            ends, with trust-constr also a true result; ``callback(xk, state)`` there.
        options: SciPy's options of the method without tolerances and what prints, such
            as ``maxiter`` (``1000 n`` for methods that SciPy gives less) or ``maxcor``
            of L-BFGS-B (50 for up to 655 variables, of more what takes as much memory,
            but at least SciPy's 10). Sizes of trust regions count natural steps.
        rescale: When the scale is estimated anew. ``"restart"``: where the method finds
            no decrease any more, and the next round starts from there as long as it
            makes progress. ``"start"``: never. A function of ``x`` is asked, at the
            same times, for the step of each variable in place of the cover.
        scales: As in :func:`scaling`.
        budget: As in :func:`scaling`.
        kwargs: As in :func:`derivative_covers.tape_function`.
        kinks: As in :func:`derivative_covers.tape_function`.
        numpy: As in :func:`derivative_covers.tape_function`.

    Returns:
        SciPy's ``OptimizeResult``, in units, with ``x``, ``fun``, ``jac``, ``nit``,
        ``nfev`` (points at which value and gradient were computed), ``nhev``,
        ``success``, ``status`` and ``message``, and beside these

        - ``reason``: ``"converged"`` (by the tests above), ``"exhausted"`` (the method
          finds no decrease, and the model promises next to none), ``"stagnated"`` (it
          finds none where the model, or Newton's step, promises some), ``"saddle"``
          (converged, but ``f`` curves downwards in a direction), ``"unbounded"``
          (``f`` falls as far as floats reach, or is linear at the end and falls, with no
          bound in the way), ``"limit"``, ``"callback"``;
          with constraints, and with bounds in trust-constr, ``"stationary"``
          (trust-constr: the Lagrangian's gradient, the violation and the barrier are
          below 1e-9, or ``tol``, in scaled variables), ``"scipy"`` (SciPy's own tests
          decided) or ``"infeasible"`` (these ended where a constraint is violated by
          more than 1e-6 in scaled variables);
        - ``predicted_decrease``: what the model promises at ``x``, in units of ``f``, by
          the scale in use or, where this one alone speaks against an end, by one
          estimated there; for up to 100 variables also what Newton's step promises, if
          that is more. A run counts as converged up to a thousand roundings of ``f``.
          None with constraints, which the model does not know;
        - ``scale``: the step by which each variable was counted, in its units and in the
          form of ``x``: ``sqrt(unit) / h`` for a cover ``h``, where ``unit`` is what
          ``f`` was divided by; ``unscaled``: indices (in the flat vector) of variables
          without a curvature, whose step is a typical size;
        - ``names``: of the entries of the flat vector, if ``x0`` was a dictionary;
        - ``rescaled``: how often the scale was estimated anew; ``asked``: whether it
          depends on typical sizes; ``outside``: points where ``f`` could not be evaluated.

    Raises:
        OptionError: For a method, option or tolerance that cannot be used, and for
            bounds or constraints that the method does not take.
        ShapeError: If shapes do not fit, or ``f`` has several outputs.
        InputTypeError: If ``x0`` is a function, or a constraint is none.
        DomainError: If ``f`` or its cover is not finite at ``x0``. Elsewhere, a point
            where ``f`` is not finite sends the method back: a line search to a tenth
            of its step, a trust region to a smaller one.
        NondifferentiableError: If ``x0`` lies at a kink.
        MissingPackageError: If SciPy is not installed, on import.
        DerivativeError: As :func:`derivative_covers.compile`.

    Guarantee:
        With units of the variables that are powers of two, and of ``f`` that are powers
        of four, the iteration is the same bit for bit, as long as no variable starts at
        zero, or ``scales`` change along. With other units it is the same up to rounding,
        which long iterations amplify. With constraints, tests in scaled variables decide, SciPy's own or
        (trust-constr) that of ``"stationary"``: they do not depend on units, but on the
        start.

    Cost:
        One gradient a point, or a Hessian product where the method takes them; a cover
        at the start and at the end of each round; near the end one more sweep for the
        rounding of ``f``, and a Hessian of up to 100 variables.

    Source:
        Invariance under scaling of quasi-Newton methods: Dennis and Schnabel, Numerical
        Methods for Unconstrained Optimization (1983), chapter 7.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.interop.scipy import minimize
        >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
        >>> units = np.array([2.0**20, 2.0**-20])
        >>> a = minimize(rosenbrock, [-1.2, 1.0])
        >>> b = minimize(lambda z: rosenbrock(z / units), [-1.2, 1.0] * units)
        >>> a.reason, a.nfev == b.nfev, bool((a.x * units == b.x).all())
        ('converged', True, True)
        >>> bool(abs(a.x - 1).max() < 1e-8)
        True
    """
    if callback is not None and not callable(callback):
        msg = f"callback is of type {type(callback).__name__}; a function is needed."
        raise OptionError(msg)
    form, x0 = formed(x0)
    x, scales = start_of(x0), form.flat(scales, "scales")
    lb, ub = bounds_of(bounds, x.size)
    x = np.clip(x, lb, ub)
    given = [form.constraint(c) for c in constraints_of(constraints)]
    how = method_named(method, bounds is not None, bool(given))
    ends_itself = bool(given) or (how.name == "trust-constr" and bounds is not None)
    check_derivatives(how, jac, hess, hessp)
    settings = options_for(how, options, tol, ends_itself, x.size)
    g = form.taking(f, numpy)
    program = compile(g, x, args=args, kwargs=kwargs, kinks=kinks, numpy=numpy)
    sizes = typical_sizes(x, scales, lb, ub)
    estimate = _estimator(program, rescale, form, sizes, budget)
    point = _first(program, x)
    test = StopTest(program, point, tol)
    run = Run(test, estimate(point), (lb, ub), callback, form)
    run.counts.nfev = 1
    task = Task(how, settings, bounds is not None, given, hess, ends_itself)
    fixed = isinstance(rescale, str) and rescale == "start"
    found, point = _rounds(run, task, point, estimate, fixed)
    predicted = predicted_decrease(point, run.scaling, run.bounds)
    if not np.isfinite(run.test.worth(point)) and run.reason not in _OUTSIDE:
        run.reason = "unbounded"
    worth = NEAR * run.test.worth(point)
    outdated = run.reason == "converged" and predicted > run.test.worth(point)
    if outdated or (run.reason == "stagnated" and fixed):
        fresh = afresh(estimate, point)  # as the test did
        if fresh is not None:
            predicted = predicted_decrease(point, fresh, run.bounds)
    if run.reason == "stagnated" and predicted <= worth:
        run.reason = "exhausted"
    if run.reason in ("converged", "exhausted"):
        gain, downwards = second_look(run.scaling, point, run.bounds)
        predicted = max(predicted, gain)
        run.looked = point.x.size <= FEW
        if downwards:
            run.reason = "saddle"
        elif predicted > worth:
            run.reason = "stagnated"
        if falls_for_ever(run, point, estimate):
            run.reason = "unbounded"
    return result_of(run, point, None if given else predicted, found)


def _rounds(
    run: Run,
    task: Task,
    point: Point,
    estimate: Callable[[Point], Scaling],
    fixed: bool,
) -> tuple[Any, Point]:
    """SciPy's last result and the best point, from rounds with ever newer scales."""
    kept: tuple[Any, ...] = ()
    while True:
        start = point
        run.test.begin()
        found, point = one_round(run, task, point, estimate, fixed)
        if run.reason in ("", "rescale") and _at_limit(found):
            run.reason = "limit"
        if run.reason not in ("", "rescale", "stationary"):
            return found, point
        if task.ends_itself:
            ended = run.reason or constrained_end(run.violation, found)
            fine = ended == "stationary" or (ended == "scipy" and bool(found.success))
            if kept and not (fine and point.value < start.value):
                # A new scale brought nothing: SciPy's tests were fine enough before.
                found, run.reason, run.violation = kept
                return found, start
            run.reason = ended
            if not fine:
                return found, point
            kept = (found, ended, run.violation)
        else:
            run.reason = "stagnated"
        if fixed or run.rescaled == ROUNDS:
            return found, point
        old, fresh = run.scaling, afresh(estimate, point)
        if fresh is None:
            return found, point
        if task.ends_itself:
            # Its tests are a part of what a step promised where the scale is from.
            if not run.test.worth(point) < fresh.unit < COARSE * old.unit:
                return found, point
            run.scaling = fresh
        else:
            run.scaling = fresh
            gained = start.value - point.value
            if gained <= run.test.worth(point) and _alike(old.step, fresh.step):
                return found, point
        run.rescaled += 1


def _first(program: Compiled, x: Array) -> Point:
    """Value and gradient at the start.

    Raises:
        DomainError: If they are not finite.
        NondifferentiableError: At a kink, jump or tie.
    """
    found = evaluated(program, x)
    if found is None:
        program.gradient(x)  # raises what was caught
        msg = "the value or the gradient at x0 is not finite; start elsewhere."
        raise DomainError(msg)
    return found


def _estimator(
    program: Compiled,
    rescale: Any,
    form: Form,
    sizes: Array,
    budget: int | None,
) -> Callable[[Point], Scaling]:
    """How to find a scale at a point.

    Raises:
        OptionError: If ``rescale`` is neither a name nor a function.
    """
    if isinstance(rescale, str) and rescale in ("start", "restart"):
        return lambda point: natural(program, point.x, sizes, budget)
    if not callable(rescale):
        msg = f"rescale is {rescale!r}; it must be 'start', 'restart' or a function."
        raise OptionError(msg)

    def given(point: Point) -> Scaling:
        returned = form.flat(rescale(form.nested(point.x.copy())), "rescale(x)")
        step = np.asarray(returned, dtype=float)
        good = np.isfinite(step).all() and (step > 0).all()
        if step.shape != point.x.shape or not good:
            msg = (
                f"rescale returned {step!r:.80}; positive finite steps are needed, one "
                f"for each of {point.x.size} variables."
            )
            raise OptionError(msg)
        return from_steps(program, point, 1 / step, sizes)

    return given


def _alike(a: Array, b: Array) -> bool:
    """Whether steps are the same up to a factor for all, and a factor two for each."""
    ratio = a / b
    return bool(ratio.max() <= 2 * ratio.min())


def _at_limit(found: Any) -> bool:
    """Whether SciPy stopped at a number of iterations or evaluations."""
    said = str(getattr(found, "message", "")).lower()
    return any(word in said for word in ("maximum", "max. number", "limit"))
