"""Exact bounds for the mean of independent values between 0 and 1, by a mixture of bets.

A bet on "the mean is above m" multiplies its capital with 1 + g (x / m - 1) for each value x, where g is the staked share. Were the
mean m or less, the expected capital after any number of values would be at most 1, so capital 20 has a chance of at most 1 in 20
(Ville; Waudby-Smith and Ramdas, 2024, J. R. Stat. Soc. B 86, 1). The capital is averaged over seven stakes fixed in advance, so
the order of the values plays no part. An upper bound is a lower bound of 1 - x.
"""

import math
from collections import Counter

# Stake and weight. Upwards, rare events are looked for; downwards, mostly that they hardly ever occur.
UP = [(0.01, 2 / 12), (0.03, 3 / 12), (0.1, 3 / 12), (0.25, 2 / 12), (0.5, 1 / 12), (0.75, 1 / 12)]
DOWN = [(0.01, 1 / 12), (0.03, 1 / 12), (0.1, 1 / 12), (0.25, 1 / 12), (0.5, 1 / 12), (0.75, 1 / 12), (0.97, 6 / 12)]


def p_above(values, mean, stakes=UP):
    """Probability at most of such values if their mean were `mean` or less. `values` counts each value."""
    if mean <= 0:
        return 1.0 if not any(x > 0 for x in values) else 0.0
    if mean >= 1:
        return 1.0
    logs = []
    for stake, weight in stakes:
        logs.append(math.log(weight) + sum(n * math.log(max(1 + stake * (x / mean - 1), 1e-300)) for x, n in values.items()))
    most = max(logs)
    capital = most + math.log(sum(math.exp(value - most) for value in logs))
    return math.exp(-max(capital, 0.0))


def p_below(values, mean):
    return p_above(turned(values), 1 - mean, DOWN)


def turned(values):
    result = Counter()
    for x, n in values.items():
        result[1 - x] += n
    return result


def lower(values, level=0.975, stakes=UP):
    if not any(x > 0 for x in values):
        return 0.0
    low, high = 0.0, sum(x * n for x, n in values.items()) / sum(values.values())
    for _ in range(40):
        middle = (low + high) / 2
        if p_above(values, middle, stakes) <= 1 - level:
            low = middle
        else:
            high = middle
    return low


def upper(values, level=0.975):
    return 1 - lower(turned(values), level, DOWN)


def holm(p_values):
    """Adjusted p-values of one family, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, running = [1.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = running
    return adjusted
