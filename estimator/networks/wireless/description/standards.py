"""Fields that only some of the 802.11 standards have."""

from collections.abc import Iterator, Mapping
from typing import Any

from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.phy.tables import CATEGORIES, STANDARDS, tables
from netcarlo.schema.quantity import bounds

OLD_ONLY = {
    "cw_min": "write edca: {best_effort: {cw_min: 15}}",
    "cw_max": "write edca: {best_effort: {cw_max: 1023}}",
    "long_retry": "write short_retry, which limits all attempts",
    "preamble": "remove it",
    "protection": "remove it",
    "burst": "write edca: {best_effort: {txop: 4 ms}}",
    "gateway_burst": "write gateway_edca: {best_effort: {txop: 4 ms}}",
    "back_pressure": "remove it",
    "rates": "write mcs",
    "rate": "write mcs and streams",
    "answer_rate": "remove it",
    "survival": "remove it",
}
"""Fields that have no meaning with 802.11n, ac, ax and be, with remedies."""

NEW_ONLY = (
    "band", "channel", "streams", "mcs", "guard", "aggregation", "edca", "gateway_edca", "block_ack_request",
    "behaviour", "scheduler", "fq_codel",
)  # fmt: skip
"""Fields of a network that have a meaning only with 802.11n, ac, ax and be."""


def is_new(standard: str) -> bool:
    """Return True for 802.11n, ac, ax and be."""
    return standard in STANDARDS


def misplaced(wireless: Any) -> Iterator[str]:
    """Yield a line for each field that has no meaning with the standard of a network."""
    standard = wireless.standard
    if is_new(standard):
        known = defaults({"standard": standard, "band": wireless.band})
        for name, remedy in OLD_ONLY.items():
            usual = known.get(name, type(wireless).model_fields[name].default)
            if getattr(wireless, name) != usual:
                yield f"{name} has no meaning with {standard}; {remedy}"
        for name, link in wireless.directions():
            if link.rate is not None:
                yield f"{name}.rate has no meaning with {standard}; write mcs and streams"
        return
    given = [name for name in NEW_ONLY if getattr(wireless, name) is not None]
    given += [f"path_loss.{name}" for name in ("receiver", "noise_figure_db")
              if getattr(wireless.path_loss, name, None) is not None]  # fmt: skip
    given += [f"{name}.{field}" for name, link in wireless.directions()
              for field in ("mcs", "streams", "generation")
              if getattr(link, field, None) is not None]  # fmt: skip
    if wireless.rate_control == "minstrel":
        yield f"rate_control = minstrel is not supported with {standard}; write aarf, or standard: 802.11ax"
    given += [f"{name}.access" for name, flow in wireless.each_flow() if flow.access is not None]
    given += [f"{name}.saturated" for name, flow in wireless.each_flow() if flow.saturated]
    for name in given:
        yield f"{name} has no meaning with {standard}; remove it, or write standard: 802.11ax"


def above(wireless: Any) -> Iterator[str]:
    """Yield a line for each limit of aggregation that is above that of the standard."""
    limits = tables()["standards"][wireless.standard]
    amsdu = min((tables()["standards"][each]["amsdu"], each) for each in wireless.standards_used)
    aggregation = wireless.aggregation
    psdu = limits["psdu"], wireless.standard
    sizes = [("aggregation.amsdu", aggregation and aggregation.amsdu, amsdu),
             ("aggregation.ampdu", aggregation and aggregation.ampdu, psdu)]  # fmt: skip
    for record in ("edca", "gateway_edca"):
        for category in CATEGORIES if getattr(wireless, record) is not None else ():
            ampdu = getattr(getattr(wireless, record), category).ampdu
            sizes.append((f"{record}.{category}.ampdu", ampdu, psdu))
    for name, size, (most, standard) in sizes:
        if size is not None and bounds(size)[1] > most:
            value = f"can be {bounds(size)[1]:.0f} B"
            yield f"{name} {value}, above the limit of {standard}; write {most} B{' or less' if most else ''}"
    if aggregation is not None and (aggregation.block_ack or 0) > limits["window"]:
        what = f"aggregation.block_ack = {aggregation.block_ack} is above the limit of {wireless.standard}"
        yield f"{what}; write {limits['window']} or less"


def defaults(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields whose defaults depend on `standard` and `band`, given the user's data."""
    standard = str(data.get("standard"))
    if not is_new(standard):
        return dot11.DEFAULTS.get(standard, dot11.DEFAULTS["802.11g"])
    band = tables()["bands"].get(data.get("band", "5 GHz"), tables()["bands"]["5 GHz"])
    return {
        "slot": f"{band['slot']} ns", "sifs": f"{band['sifs']} ns", "cw_min": 15, "rate": None,
        "mac_overhead": "38 B", "queue": "500 packets",
    }  # fmt: skip
