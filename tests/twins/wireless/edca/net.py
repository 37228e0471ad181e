"""Network with EDCA under construction: nodes with functions and agreements."""

from collections.abc import Sequence
from enum import IntEnum

from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Function
from tests.twins.wireless.scenarios import Columns, Net

VOICE, VIDEO, BEST_EFFORT, BACKGROUND = CATEGORIES = range(4)


class EdcaNet(Net):
    def __init__(self) -> None:
        super().__init__()
        self.category = BEST_EFFORT  # of the flows to add, including acknowledgements
        self.wanted: dict[tuple[int, int], Columns] = {}  # functions by node and category
        self.pairs: dict[tuple[int, int, int], Columns] = {}  # agreements by node, category and link
        self.hops: list[tuple[int, int, int]] = []  # key in `pairs` of each word of the paths

    def function(self, node: int, category: int, **columns: int) -> None:
        self.wanted[node, category] = {"NODE": node, "CATEGORY": category} | columns

    def agreement(self, category: int, link: int, **columns: int) -> None:
        self.pairs[self.links[link]["FROM"], category, link] = {"LINK": link, "PSDU": ENDLESS} | columns

    def flow(self, *, forth: Sequence[int], back: Sequence[int] = (), **columns: int) -> None:
        super().flow(forth=forth, back=back, **columns, CATEGORY=self.category)
        self.hops += [(self.links[link]["FROM"], self.category, link) for link in (*forth, *back)]

    def tables(self) -> list[tuple[type[IntEnum], list[Columns]]]:
        functions, agreements = sorted(self.wanted), sorted(self.pairs)
        for n, node in enumerate(self.nodes):
            own = [k for k, (of, _) in enumerate(functions) if of == n]
            node |= {"FIRST_FUNCTION": own[0] if own else 0, "FUNCTIONS": len(own)}
        of_functions = [self.wanted[key] for key in functions]
        of_agreements = [
            self.pairs[key] | {"FUNCTION": functions.index(key[:2]), "REVERSE": self._reverse(*key)}
            for key in agreements
        ]
        return [*super().tables(), (Function, of_functions), (Agreement, of_agreements)]

    def _reverse(self, node: int, category: int, link: int) -> int:
        """Return the agreement of the category in the opposite direction, or NOBODY."""
        keys = sorted(self.pairs)
        to = self.links[link]["TO"]
        opposite = [key for key in keys if key[:2] == (to, category) and self.links[key[2]]["TO"] == node]
        return keys.index(opposite[0]) if opposite else NOBODY

    def words(self, radio: Columns) -> list[int]:
        radio["PATH_WORDS"] = len(self.paths)
        numbers = {key: k for k, key in enumerate(sorted(self.pairs))}
        return [*self.paths, *(numbers[hop] for hop in self.hops)]
