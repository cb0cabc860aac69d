"""``scipy.optimize.least_squares`` in natural steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...covers import cover_nls
from ...covers._arguments import RecordingOptions
from ...errors import DomainError, NondifferentiableError
from ._fit_options import (
    SINGLE,
    check_choices,
    check_count,
    fit_bounds,
)
from ._form import formed
from ._jacobian import Traced
from ._keywords import check_keywords
from ._package import optimize
from ._point import Point
from ._scaling import Scaling, from_steps, start_of, typical_sizes
from ._stop import predicted_decrease

__all__ = ["least_squares", "x_scale"]

Array = NDArray[Any]
EPS = float(np.finfo(float).eps)


def least_squares(
    r: Callable[..., Any],
    x0: Any,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    *,
    ftol: float | None = 1e-8,
    xtol: float | None = 1e-8,
    loss: Any = "linear",
    f_scale: float = 1.0,
    tr_solver: str | None = None,
    tr_options: dict[str, Any] | None = None,
    max_nfev: int | None = None,
    verbose: int = 0,
    scales: Any = None,
    ngroups: int | None = None,
    **recording: Unpack[RecordingOptions],
) -> Any:
    """SciPy's ``least_squares``, whatever units the variables have.

    The Jacobian comes from the program, and each variable is counted in the natural
    step that a cover of the Hessian of ``sum(r**2) / 2`` gives it at the start. SciPy's
    ``gtol`` has the units of a gradient and is not used; ``ftol`` and ``xtol`` are
    relative, and act on scaled variables.

    Args:
        r: Program as in :func:`derivative_covers.compile` that returns the residuals,
            of any shape.
        x0: Start within the bounds, shape ``(n,)`` or a dictionary, as in
            :func:`minimize`.
        bounds: SciPy's ``Bounds``, or a pair of lower and upper ones, in units. (A pair
            for each variable, as in :func:`minimize`, is ``Bounds(*zip(*pairs))``.)
        method: ``"trf"``, ``"dogbox"`` or ``"lm"``, which takes no bounds.
        ftol: Stop when the relative decrease of the cost is below it.
        xtol: Stop when a step is that small a part of the scaled variables.
        loss: As in SciPy.
        f_scale: As in SciPy.
        tr_solver: As in SciPy.
        tr_options: As in SciPy.
        max_nfev: Most evaluations of ``r``; None for ``1000 n``, ten times as many as
            SciPy allows.
        verbose: As in SciPy. The cost is in units, the other columns are scaled.
        scales: As in :func:`scaling`.
        ngroups: As in :func:`derivative_covers.cover_nls`, from which the scale comes;
            None for the tightest.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`derivative_covers.tape_function`.

    Returns:
        SciPy's ``OptimizeResult`` with ``x``, ``jac`` and ``grad`` in units and in the form of ``x0``, and
        ``scale``, ``unit``, ``unscaled`` and ``predicted_decrease`` as in
        :func:`minimize`. ``optimality`` is that of scaled variables. The message says
        where there is one residual for several variables, as of a sum of squares.

    Raises:
        OptionError: For a method, bounds or scales that cannot be used, a start outside
            of the bounds, and for SciPy's arguments that are not needed here.
        ShapeError: If shapes do not fit, or lm gets fewer residuals than variables.
        InputTypeError: If ``x0`` is a function.
        DomainError: If a residual is not finite at ``x0``. Elsewhere the step becomes
            shorter.
        DerivativeError: As :func:`derivative_covers.compile`.

    Guarantee:
        With other units of the variables the same iteration, to rounding, and bit for
        bit with powers of two, as long as no variable starts at zero, or ``scales``
        change along. Units of the
        residuals enter ``"trf"`` with bounds a little, by a number of SciPy's.

    Cost:
        A cover at the start, and a Jacobian (of the compiled program) a step.

    Source:
        Moré, The Levenberg-Marquardt algorithm (1978), on scaled variables; the scale
        is that of the whole Hessian, with the curvature of the residuals.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.interop.scipy import least_squares
        >>> t = np.linspace(0.0, 5.0, 40)
        >>> data = 3e6 * np.exp(-0.7 * t)
        >>> fit = least_squares(lambda x: x[0] * np.exp(-x[1] * t) - data, [1e6, 0.2])
        >>> fit.x.round(6), fit.success
        (array([3.e+06, 7.e-01]), True)
    """
    check_keywords(recording, "least_squares")
    check_choices(method, loss, tr_solver, max_nfev, verbose)
    form, x0 = formed(x0)
    x, scales = start_of(x0), form.flat(scales, "scales")
    lb, ub = fit_bounds(bounds, x, method)
    traced = Traced(form.taking(r, recording.get("numpy")), x, **recording)
    s = _scale(traced, x, typical_sizes(x, scales, lb, ub), ngroups)
    size = traced.value(x).size
    check_count(method, size, x.size)

    def to_units(y: Array) -> Array:
        return np.asarray(np.clip(s.to_units(y), lb, ub))

    def residuals(y: Array) -> Array:
        try:
            return traced.value(to_units(y))
        except (DomainError, NondifferentiableError):
            return np.full(size, np.inf)

    found = optimize.least_squares(
        residuals,
        np.clip(s.to_scaled(x), s.to_scaled(lb), s.to_scaled(ub)),
        jac=lambda y: traced.jacobian(to_units(y)) * s.step,
        bounds=(s.to_scaled(lb), s.to_scaled(ub)),
        method=method,
        ftol=ftol,
        xtol=xtol,
        gtol=EPS if method == "lm" else None,
        x_scale=1.0,
        loss=loss,
        f_scale=f_scale,
        tr_solver=tr_solver,
        tr_options={} if tr_options is None else tr_options,
        max_nfev=1000 * x.size if max_nfev is None else max_nfev,
        verbose=verbose,
    )
    gradient = found.grad / s.step
    point = Point(to_units(found.x), float(found.cost), gradient)
    found.x, found.grad = form.nested(point.x), form.nested(gradient)
    found.jac = form.nested(found.jac / s.step)
    found.active_mask = form.nested(found.active_mask)
    found.predicted_decrease = predicted_decrease(point, s, (lb, ub))
    found.scale, found.unit = form.nested(s.step), s.unit
    if form.names is not None:
        found.names = form.names
    found.unscaled, found.asked = s.unscaled, s.asked
    found.message += s.note(form)
    if size == 1 < x.size:
        found.message += " " + SINGLE.format(n=x.size)
    return found


def x_scale(
    r: Callable[..., Any],
    x0: Any,
    *,
    scales: Any = None,
    ngroups: int | None = None,
    **recording: Unpack[RecordingOptions],
) -> NDArray[Any]:
    """Natural steps of the variables of residuals: SciPy's ``x_scale``.

    For those who call ``scipy.optimize.least_squares`` themselves. SciPy's ``gtol``
    looks at unscaled gradients all the same: pass ``gtol=None``.

    Args:
        r: As in :func:`least_squares`.
        x0: As in :func:`least_squares`.
        scales: As in :func:`scaling`.
        ngroups: As in :func:`least_squares`.
        **recording: As in :func:`least_squares`.

    Returns:
        Positive array of shape ``(n,)``, in the units of ``x``; flat, as SciPy takes it,
        where ``x0`` is a dictionary.

    Raises:
        As :func:`least_squares`.

    Guarantee:
        Follows a change of units; exactly if that is by powers of two.

    Cost:
        Recording the residuals, and one cover.

    Source:
        :func:`derivative_covers.cover_nls`.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.interop.scipy import x_scale
        >>> steps = x_scale(lambda x: [1e6 * x[0] - 1.0, x[1] - 2.0], [0.0, 0.0])
        >>> print(f"{steps[0] / steps[1]:.1e}")
        1.0e-06
    """
    check_keywords(recording, "x_scale")
    form, x0 = formed(x0)
    x, scales = start_of(x0), form.flat(scales, "scales")
    traced = Traced(form.taking(r, recording.get("numpy")), x, **recording)
    return _scale(traced, x, typical_sizes(x, scales), ngroups).step


def _scale(traced: Traced, x: Array, sizes: Array, ngroups: int | None) -> Scaling:
    tape, outs = traced.tape(x)
    cover = cover_nls(tape, outs, ngroups=ngroups, scales=sizes)
    point = Point(x, float(cover.value), cover.gradient)
    return from_steps(traced.program, point, cover.h, sizes)
