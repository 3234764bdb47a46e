"""From preferences to exposures in one pass over a block, compiled, in single precision.

The exponential is what takes the time. Here it is a power of two: the whole part of the exponent goes into the exponent bits of a
float, the rest through a polynomial, so that the compiler can work on many cells at once; it is exact to within a few last bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

single = np.float32
LEAST = single(-126.0)
"""The least power of two with all its digits; what is smaller does not count."""
BIAS, DIGITS = np.int32(127), np.int32(23)
"""The exponent of 1 in a float, and how many binary digits come after it."""
C0, C1, C2, C3, C4, C5 = (
    single(c) for c in np.polynomial.Chebyshev.interpolate(np.exp2, 5, [0, 1]).convert(kind=np.polynomial.Polynomial).coef
)
"""2^x for x from 0 to 1 is C0 + C1 x + .. + C5 x^5, within 1e-7."""


@njit(cache=True, nogil=True, fastmath=True)
def expose(preferences, steepness, base, gain, slope, near, user, item, against):  # type: ignore[no-untyped-def]
    """Replace preferences x by exposures e f / (e f + against), e = 2^(steepness x^2), f = base + gain slope + near.

    preferences: (rows, columns), of users from `user` on and items from `item` on. steepness: below 0. gain: (rows,).
    base, slope, against: (columns,). near: (all users, all items), or without columns if there are no neighbours.
    """
    rows, columns = preferences.shape
    bits = np.empty(columns, np.int32)
    power = bits.view(np.float32)
    for row in range(rows):
        line = preferences[row]
        for column in range(columns):
            exponent = max(steepness * line[column] * line[column], LEAST)
            whole = np.floor(exponent)
            x = exponent - whole
            line[column] = C0 + x * (C1 + x * (C2 + x * (C3 + x * (C4 + x * C5))))
            bits[column] = (np.int32(whole) + BIAS) << DIGITS
        if near.shape[1]:
            close = near[user + row, item : item + columns]
            for column in range(columns):
                seen = line[column] * power[column] * (base[column] + close[column])
                line[column] = seen / (seen + against[column])
        else:
            for column in range(columns):
                seen = line[column] * power[column] * (base[column] + gain[row] * slope[column])
                line[column] = seen / (seen + against[column])
