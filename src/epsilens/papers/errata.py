"""What the five papers print that does not hold, in plain mathematics, each with a line of Python that shows it.

The checks are expressions that anyone can run after three lines of imports (:data:`PREFACE`):

>>> holds(ERRATA["000"][0])
True
"""

from __future__ import annotations

from .ashena2021.errata import ERRATA as ASHENA
from .erratum import Erratum
from .kaissis2022.errata import ERRATA as KAISSIS
from .li2019.errata import ERRATA as LI
from .liu2019.errata import ERRATA as LIU
from .unsal2022.errata import ERRATA as UNSAL

ERRATA: dict[str, tuple[Erratum, ...]] = {"000": LIU, "001": ASHENA, "002": KAISSIS, "003": UNSAL, "004": LI}
