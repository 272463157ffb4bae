__all__: list[str]

from ..mechanisms.claims import from_dp as from_dp
from ..mechanisms.claims import from_gdp as from_gdp
from ..mechanisms.claims import from_rdp as from_rdp
from ..mechanisms.claims import from_zcdp as from_zcdp
from ..mechanisms.claims import to_gdp as to_gdp
from ..mechanisms.claims import to_rdp as to_rdp
from ..mechanisms.claims import to_zcdp as to_zcdp
from .accounting import from_event as from_event
from .accounting import from_pld as from_pld
from .accounting import to_event as to_event
from .accounting import to_pld as to_pld
from .measurements import from_measurement as from_measurement
from .measurements import to_measurement as to_measurement
from .training import loaded as loaded
from .training import opacus_accountant as opacus_accountant
from .training import trained as trained
