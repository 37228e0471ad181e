"""Random scenarios of any model, as rows."""

from typing import Any

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.base.layout import Rows
from netcarlo.kernels.senders import KINDS, LINUX_KINDS, LINUX_RENO, OF_LINUX, UDP
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless.layout import WifiRows
from tests.twins.adhoc.scenarios import as_datagrams as manet_datagrams
from tests.twins.adhoc.scenarios import linux_manet_rows, manet_rows, sctp_manet_rows
from tests.twins.path.mobility.scenarios import mobile_rows, sctp_mobile_rows
from tests.twins.path.scenarios import (
    as_datagrams,
    as_linux,
    coupled_rows,
    mptcp_rows,
    sctp_rows,
    tcp_rows,
    with_delays,
    with_messages,
    with_reordering,
    with_tuning,
    with_varying,
)
from tests.twins.quic.scenarios import all_quic, all_quic_over_wireless, as_quic, migration_rows
from tests.twins.shared.arrival_scenarios import arrivals_rows, linux_arrivals_rows
from tests.twins.shared.scenarios import (
    all_sctp,
    gauged_rows,
    linux_shared_rows,
    managed_rows,
    shared_rows,
    varying_rows,
)
from tests.twins.wireless.edca.scenarios import edca_rows
from tests.twins.wireless.scenarios import all_linux as all_linux_over_wireless
from tests.twins.wireless.scenarios import all_mixed, arriving_rows, wifi_rows
from tests.twins.wireless.scenarios import all_sctp as all_sctp_over_wireless
from tests.twins.wireless.scenarios import failing_rows as failing_wifi_rows
from tests.twins.wireless.scenarios import gauged_rows as gauged_wifi_rows

AnyRows = Rows | WifiRows | ManetRows | SharedRows


def rows_of(name: str, count: int, *, seed: int) -> AnyRows:
    """Return about `count` random scenarios for the model of this name."""
    address = models.model(name).address
    family, sender, control, mobile = address.family, address.sender, address.control, address.mobile
    if address.delays:
        rows = rows_of(name.replace("_delays", ""), count, seed=seed)
        if isinstance(rows, WifiRows):
            return gauged_wifi_rows(rows, seed=seed)
        return gauged_rows(rows, seed=seed) if isinstance(rows, SharedRows) else with_delays(rows, seed=seed)
    if address.autotuning:
        rows = rows_of(name.removesuffix("_tuned"), count, seed=seed)
        assert isinstance(rows, Rows)
        return with_tuning(rows, seed=seed)
    if address.messages:
        rows = rows_of(name.removesuffix("_messages"), count, seed=seed)
        assert isinstance(rows, Rows)
        return with_messages(rows, seed=seed)
    if address.aqm:
        rows = rows_of(name.replace("_aqm", ""), count, seed=seed)
        assert isinstance(rows, SharedRows)
        return managed_rows(rows, seed=seed)
    if address.reordering:
        rows = rows_of(name.replace("_reordering", ""), count, seed=seed)
        assert isinstance(rows, Rows)
        return with_reordering(rows, seed=seed)
    if address.arrivals and family == "wireless":
        rows = rows_of(name.replace("_arrivals", ""), count, seed=seed)
        assert isinstance(rows, WifiRows)
        return arriving_rows(rows, seed=seed)
    if address.varying and family == "wireless":
        rows = rows_of(name.replace("_varying", ""), count, seed=seed)
        assert isinstance(rows, WifiRows)
        return failing_wifi_rows(rows, seed=seed)
    if address.varying and family == "shared":
        rows = rows_of(name.replace("_varying", ""), count, seed=seed)
        assert isinstance(rows, SharedRows)
        return varying_rows(rows, seed=seed)
    if address.varying and family == "path":
        rows = rows_of(name.replace("_varying", ""), count, seed=seed)
        assert isinstance(rows, Rows)
        return with_varying(rows, seed=seed)
    if family == "adhoc" and sender == "sctp":
        return sctp_manet_rows(count, seed=seed)
    if family == "adhoc" and sender == "linux":
        return linux_manet_rows(count, seed=seed)
    if family == "adhoc" and sender == "quic":
        return as_quic(manet_rows(count, seed=seed), seed=seed)
    if family == "adhoc" and sender == "udp":
        return manet_datagrams(manet_rows(count, seed=seed), seed=seed)
    if family == "adhoc":
        return manet_rows(count, seed=seed)
    if address.arrivals and sender == "linux":
        return linux_arrivals_rows(count, seed=seed, kind=LINUX_RENO + OF_LINUX.index(control))
    if address.arrivals:
        return arrivals_rows(count, seed=seed, linux=control == "linux")
    if family == "shared" and sender == "sctp":
        return all_sctp(count, seed=seed)
    if family == "shared" and sender == "quic":
        return all_quic(count, seed=seed)
    if family == "shared" and "linux" in (sender, control):
        linux = [LINUX_RENO + k for k, kind in enumerate(LINUX_KINDS) if kind.endswith(f"_{control}")]
        of_linux = list(range(LINUX_RENO, LINUX_RENO + len(LINUX_KINDS)))
        kinds = [UDP, *linux] if linux else [*range(len(KINDS)), *3 * of_linux]
        return linux_shared_rows(count, seed=seed, kinds=kinds)
    if family == "shared":
        kind = control or sender
        kinds = (UDP, KINDS.index(kind)) if kind in KINDS else range(len(KINDS))
        return shared_rows(count, seed=seed, kinds=kinds)
    make = edca_rows if address.edca else wifi_rows
    if family == "wireless" and sender == "sctp":
        return all_sctp_over_wireless(count, seed=seed, make=make)
    if family == "wireless" and sender == "quic":
        return all_quic_over_wireless(make(count, seed=seed, tcp=True), seed=seed)
    if family == "wireless" and sender == "linux":
        return all_linux_over_wireless(count, seed=seed, make=make)
    if family == "wireless" and sender == "mixed" and not address.fluid:
        return all_mixed(count, seed=seed, linux=control == "linux", make=make)
    if family == "wireless":
        return make(count, seed=seed, tcp=sender != "udp")
    if address.migration:
        return migration_rows(count, seed=seed)
    if sender == "mptcp":
        return coupled_rows(count, seed=seed) if control == "coupled" else mptcp_rows(count, seed=seed)
    if sender == "linux":
        return as_linux(mobile_rows(count, seed=seed) if mobile else tcp_rows(count, seed=seed), seed=seed)
    if sender == "quic":
        return as_quic(mobile_rows(count, seed=seed) if mobile else tcp_rows(count, seed=seed), seed=seed)
    if sender == "udp" and family == "path":
        return as_datagrams((mobile_rows if mobile else tcp_rows)(count, seed=seed), seed=seed)
    if mobile and sender == "sctp":
        return sctp_mobile_rows(count, seed=seed)
    if mobile:
        return mobile_rows(count, seed=seed)
    return sctp_rows(count, seed=seed) if sender == "sctp" else tcp_rows(count, seed=seed)


def kind_of(name: str) -> Any:
    """Return the class of a model's rows."""
    kinds = {"path": Rows, "wireless": WifiRows, "adhoc": ManetRows, "shared": SharedRows}
    return kinds[models.model(name).address.family]
