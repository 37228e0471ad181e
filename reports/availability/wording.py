"""Wording of `netcarlo availability`: the share of the year in which goals are met, and states."""

import math

from netcarlo.estimation.availability import Availability
from netcarlo.schema.readable import listed, quantity, trimmed
from netcarlo.schema.readable import with_nines as percent
from netcarlo.schema.units import YEAR

_UNITS = ((2 * 86400.0, 86400.0, "days"), (3600.0, 3600.0, "h"), (60.0, 60.0, "min"), (0.0, 1.0, "s"))
_NINES = ("", "one nine", "two nines", "three nines", "four nines", "five nines", "six nines")


def sentence(found: Availability) -> str:
    """Return the answer: `99.952 % of the year (95 % CI 99.949 to 99.954 %), that is 4.2 h of bad service a
    year (4.0 to 4.5 h).`"""
    share = found.share
    ends = f"{percent(share.ci_low)} to {percent(share.ci_high)} %"
    missed, low, high = (time((1 - part) * YEAR) for part in (share.probability, share.ci_high, share.ci_low))
    return (
        f"{percent(share.probability)} % of the year (95 % CI {ends}), that is {missed} of bad "
        f"service a year ({low} to {high})"
    )


def meaning(found: Availability) -> str:
    """Return the definition of good service, and how it was measured."""
    scenario = found.scenario
    warm_up = "" if not scenario.warm_up else f" after {quantity(scenario.warm_up, 's')} of warm-up"
    rare = [
        f"{each.name}{each.where and f' ({each.where})'} {trimmed(each.outages.expected(YEAR))} times "
        f"a year, {time(each.outages.mttr)} each on average"
        for each in scenario.network.rare_outages()
    ]
    return (
        f"Good service: {' and '.join(found.goals)} in a run of {quantity(scenario.duration, 's')}{warm_up} "
        f"at any moment of the year. Outages: {'; '.join(rare)}"
    )


def causes(found: Availability) -> str:
    """Return how much of the bad service is seen with an outage, and how much without one."""
    part = found.outages
    mean, low, high = (time(each * YEAR) for each in (part.probability, part.ci_low, part.ci_high))
    row = found.states.iloc[0]
    n, bad = int(row["n"]), round((1 - row["probability"]) * row["n"])
    most = time(row["share"] * (1 - row["ci_low"]) * YEAR)
    return (
        f"Around outages: {mean} ({low} to {high}). Without an outage: {bad:,} of {n:,} runs are bad, "
        f"which is at most {most} a year"
    )


def nines(found: Availability) -> str:
    """Return how many nines are met, and how many are not: `Three nines (8.76 h a year) are met, four nines
    (52.6 min) are not`."""
    low, high = found.share.ci_low, found.share.ci_high
    met = max((k for k in range(len(_NINES)) if low >= 1 - 10.0**-k), default=0)
    missed = min((k for k in range(met + 1, len(_NINES)) if high < 1 - 10.0**-k), default=0)

    def named(k: int) -> str:
        return f"{_NINES[k]} ({time(10.0**-k * YEAR)} a year)"

    texts = [f"{named(met)} {'is' if met == 1 else 'are'} met"] if met else []
    open_ = [_NINES[k] for k in range(met + 1, missed or len(_NINES))]
    texts += [f"{listed(open_)} are not decided"] if open_ and missed else []
    texts += [f"{named(missed)} {'is' if missed == 1 else 'are'} not"] if missed else []
    text = ", ".join(texts)
    return text[:1].upper() + text[1:]


def rows(found: Availability) -> list[dict[str, str]]:
    """Return the table of states, as texts."""
    return [
        {
            "state": str(state),
            "a year": time(row["share"] * YEAR),
            "good service": f"{percent(row['probability'])} %",
            "95 % CI": f"{percent(row['ci_low'])} to {percent(row['ci_high'])}",
            "bad a year": time(row["missed_s"]),
            "runs": f"{int(row['n']):,}",
        }
        for state, row in found.states.iterrows()
    ]


def spent(found: Availability) -> str:
    """Return the number of replications, and how many random moments of the year would be as precise."""
    plain_ = found.brute_force
    text = f"{found.replications:,} replications"
    if plain_ > 1.5 * found.replications and math.isfinite(plain_):
        text += f"; as precise as {float(f'{plain_:.2g}'):,.0f} at random moments of the year"
    return text


def time(seconds: float) -> str:
    """Return a time of up to a year: `4.2 h`, `53 min`, `12 s`."""
    factor, name = unit(seconds)
    return f"{trimmed(seconds / factor)} {name}"


def unit(seconds: float) -> tuple[float, str]:
    """Return the unit in which a time is written: its length [s] and its name."""
    return next((factor, name) for least, factor, name in _UNITS if seconds >= least)
