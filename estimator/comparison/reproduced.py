"""Sides from folders of reproduced studies: estimates of published numbers, and verdicts on claims."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from netcarlo.comparison.side import Side, cells, from_intervals, setting_fields, versions
from netcarlo.errors import InputError
from netcarlo.networks.outcome import ANY, Outcome
from netcarlo.schema import document as files


def of_folder(label: str, folder: Path) -> Side:
    """Return the side of the folder that `netcarlo reproduce` has written. Raises InputError if it is
    invalid."""
    try:
        table, claims = (
            pd.read_csv(StringIO(files.read_text(folder / name)), dtype=str, keep_default_na=False)
            for name in ("comparison.csv", "claims.csv")
        )
        about = json.loads(files.read_text(folder / "provenance.json"))
        places = list(table.columns[1 : table.columns.get_loc("metric")])
        setting = {"study": about["name"]} | versions(about["versions"], about.get("model_version"))
        setting |= {"seed": str(about["seed"]), "replications": str(about["replications"])}
        for name, text in about["scenarios"].items():
            scenario = setting_fields(files.read_value(text))
            setting |= {f"{name} {field}": value for field, value in scenario.items()}
        setting |= {
            f"claim {claim}": verdict
            for claim, verdict in zip(claims["claim"], claims["verdict"], strict=True)
        }
        known = table[table["estimate"] != ""]
        quantities: dict[str, Outcome] = {}
        tables: dict[str, pd.DataFrame] = {}
        for metric, part in known.groupby("metric", sort=False):
            metric = str(metric)
            quantities[metric] = Outcome(metric, None, None, "", ANY, unit=part["unit"].iloc[0])
            part = part.drop_duplicates(places)
            n, mean, low, high = (
                pd.to_numeric(part[c]).to_numpy(np.float64)
                for c in ("replications", "estimate", "ci_low", "ci_high")
            )
            at = cells(part[places].itertuples(index=False, name=None))
            tables[metric] = from_intervals(at, n.astype(np.int64), mean, low, high, n - 1)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{label}: is not a complete folder of a reproduced study ({type(error).__name__}: {error}); "
            "run netcarlo reproduce again"
        ) from None
    return Side(label, "study", setting, dict.fromkeys(places, ""), quantities, tables)
