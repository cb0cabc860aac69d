"""Programs that write what lies outside of them."""

import numpy as np

COUNT = 0
LAST = None
BUFFER = np.zeros(3)
HISTORY = []
TABLE = {"f": np.sin}
STEPS = [np.sin]


def helper(v):
    return np.zeros(1)[0] + v


def counts(x):
    global COUNT
    COUNT += 1
    return helper(x[0]) * [COUNT, x[1]][1]


def deletes(x):
    global LAST
    LAST = helper
    f = LAST
    del LAST
    return f(x[0]) * x[1]


def appends(x):
    HISTORY.append(len(x))
    return helper(x[0]) * x[1]


def extends(x):
    TABLE["g"] = helper
    STEPS.append(helper)
    return TABLE["g"](x[0]) * STEPS[-1](x[1])


def buffered(x):
    BUFFER[:] = x
    return BUFFER.sum()


def by_globals(x):
    globals()["COUNT"] = 7
    return globals()["helper"](x[0]) * x[1] * COUNT


def attribute(x):
    attribute.calls = getattr(attribute, "calls", 0) + 1
    return helper(x[0]) * x[1]


def writes_and_looks(x):
    global COUNT
    COUNT = 3
    return x[0] * locals()["x"][1]


def writes_in_class(x):
    class Local:
        global COUNT
        COUNT = 4

    return x[0] * x[1]


def integers_made_floats(x):
    r = np.arange(3).astype(float)
    r[0] = x[0] * x[1]
    return r.sum()
