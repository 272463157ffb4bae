__all__: list[str]

from .chains import Chain as Chain
from .chains import chain as chain
from .networks import Network as Network
from .networks import network as network
from .networks import table as table
from .networks import tree as tree
from .normal_records import NormalRecords as NormalRecords
from .normal_records import normal as normal
from .records import RecordContribution
from .records import Worst as Worst
from .records import worst_of as worst_of
from .tables import JointTable
from .temporal_leakage import Temporal as Temporal
from .temporal_leakage import backward as backward
from .temporal_leakage import forward as forward
from .temporal_leakage import limit as limit
from .temporal_leakage import temporal as temporal

Contribution = RecordContribution
Table = JointTable
