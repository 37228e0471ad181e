"""Reception and carrier sensing in an 802.11 network: by hops, distance or received power."""

import math
from typing import Annotated, Literal

from netcarlo.schema import units
from netcarlo.schema.quantity import Length, Number, Quantity
from netcarlo.schema.record import Record

Reaches = Annotated[Number, Quantity(units.PLAIN, 1, 64, whole=True, unlimited=True)]
Decibel = Annotated[Number, Quantity(units.PLAIN, -200, 200)]


class Reach(Record):
    """Reception and carrier sensing in hops along the tree; `unlimited` includes all nodes.

    Defaults: `decode` is 1, or unlimited if `sense` is; `control` and `disturb` equal `sense`, and
    `disturb_control` equals `disturb`.
    """

    sense: Reaches = math.inf
    """Number of hops over which a node senses transmissions and defers to them."""
    decode: Reaches | None = None
    """Number of hops over which data frames are decoded. Default: 1, or unlimited if `sense` is."""
    control: Reaches | None = None
    """Number of hops over which control frames are decoded. Default: `sense`."""
    disturb: Reaches | None = None
    """Number of hops within which a transmission destroys a data frame. Default: `sense`."""
    disturb_control: Reaches | None = None
    """Number of hops within which a transmission destroys a control frame. Default: `disturb`."""


class Ranges(Record):
    """Reception and carrier sensing by distance.

    Defaults: `control` equals `decode`, `sense` equals `control`, `disturb` equals `sense`, and
    `disturb_control` equals `disturb`.
    """

    decode: Length
    """Distance up to which data frames are decoded."""
    control: Length | None = None
    """Distance up to which control frames are decoded. Default: `decode`."""
    sense: Length | None = None
    """Distance up to which a node senses transmissions and defers to them. Default: `control`."""
    disturb: Length | None = None
    """Distance within which a transmission destroys a data frame. Default: that of `sense`."""
    disturb_control: Length | None = None
    """Distance within which a transmission destroys a control frame. Default: `disturb`."""


class PathLoss(Record):
    """Reception and carrier sensing by received power: log-distance path loss with log-normal shadowing per
    pair.

    A transmission destroys a frame unless it is weaker than the weakest neighbour's signal by `capture_db`.
    With 802.11n and later the signal also determines the losses of each link, and the streams and the MCS of
    links without `mcs`.
    """

    power_dbm: Decibel = 16.0
    """Transmitted power [dBm]."""
    gateway_power_dbm: Decibel | None = None
    """Transmitted power of the gateway [dBm]. Default: `power_dbm`."""
    reference_db: Decibel | None = None
    """Path loss over the first metre [dB]. Default: 40; with 802.11n and later that of free space,
    40 at 2.4 GHz, 47 at 5 GHz and 48 at 6 GHz."""
    exponent: Annotated[Number, Quantity(units.PLAIN, 1, 8)] = 3.0
    """Path loss exponent: the loss grows by ten times this per decade of distance [dB]."""
    shadowing_db: Annotated[Number, Quantity(units.PLAIN, 0, 20)] = 0.0
    """Standard deviation of the normally distributed shadowing of every pair [dB]."""
    rooms: Annotated[Number, Quantity(units.LENGTH, 0.5, 1e4)] | None = None
    """Side of square rooms that walls separate, from coordinate 0 on. Default: no walls."""
    wall_db: Annotated[Number, Quantity(units.PLAIN, 0, 60)] = 5.0
    """Attenuation by each wall between two nodes [dB]."""
    decode_dbm: Decibel | None = None
    """Minimum power at which data frames are decoded [dBm]. Default: -72; with 802.11n and later that at
    which 10 % of MPDUs of 4096 B are lost at MCS 0."""
    control_dbm: Decibel | None = None
    """Minimum power at which control frames are decoded [dBm]. Default: -82; with 802.11n and later
    `decode_dbm`."""
    sense_dbm: Decibel | None = None
    """Minimum power at which a node senses transmissions and defers to them [dBm]. Default: -85; with 802.11n
    and later `control_dbm`."""
    capture_db: Decibel = 22.0
    """Capture threshold: a data frame survives a transmission that is weaker by this than the weakest
    neighbour's [dB]."""
    control_capture_db: Decibel = 10.0
    """Capture threshold of control frames, see `capture_db` [dB]."""
    receiver: Literal["typical", "minimum"] | None = None
    """Receivers (802.11n, ac, ax, be): limited by noise (`typical`), or with the minimum sensitivity that the
    standard allows (`minimum`). Default: `typical`."""
    noise_figure_db: Annotated[Number, Quantity(units.PLAIN, 0, 30)] | None = None
    """Noise figure of a typical receiver [dB] (802.11n, ac, ax, be). Default: 7."""
