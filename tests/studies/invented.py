"""Small study of invented numbers, made of data only."""

from pathlib import Path

STUDY = """\
title: An invented study
source: Nobody
question: Does it work?
replications: 4
seed: 3
scenario: link.yaml
conditions:
  protocol: {label: Protocol, set: {transport.protocol: "{}"}}
  loss: {label: Loss, unit: "%", set: {hops.0.loss: "{} %"}}
metrics:
  goodput: {value: goodput_bps, unit: Mbit/s}
  gain: {value: "100 * (goodput / goodput[protocol=reno] - 1)", unit: "%"}
claims:
  C1:
    text: NewReno delivers more.
    source: table 1
    rule: goodput[protocol=newreno] > goodput[protocol=reno] - 1
    evidence: "{goodput[protocol=newreno]:.3f} and {goodput[protocol=reno]:.3f} Mbit/s"
tables:
  - {table: "1", title: Goodput, metrics: [goodput], rows: [protocol], columns: [loss]}
figures:
  - {figure: "2", title: Goodput, metric: goodput, x: loss, series: [protocol], where: {}}
tolerance:
  - {metric: goodput, mean_error: 9}
  - {claims: as expected}
explanations:
  - {where: {metric: gain}, note: Invented.}
"""

PUBLISHED = """\
table,protocol,loss,metric,published
1,reno,0.5,goodput,1.4
1,newreno,0.5,goodput,1.5
1,reno,2,goodput,0.8
1,newreno,2,goodput,0.9
,newreno,2,gain,12
"""

SCENARIO = """\
name: link
duration: 5 s
transport: {protocol: reno}
hops: [{rate: 2 Mbit/s, delay: 20 ms, queue: 20 packets}]
"""


def write(folder: Path, *, study: str = STUDY, published: str = PUBLISHED, scenario: str = SCENARIO) -> Path:
    """Write the study into a folder, and return the folder."""
    folder.mkdir()
    for name, text in (("study.yaml", study), ("published.csv", published), ("link.yaml", scenario)):
        (folder / name).write_text(text)
    return folder


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with replacements, each of which must apply."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
