__all__: list[str]

from .chains import Chain as Chain
from .chains import chain as chain
from .joint_normal.records import NormalRecords as NormalRecords
from .joint_normal.records import normal as normal
from .joint_table import table as table
from .over_time import Temporal as Temporal
from .over_time import backward as backward
from .over_time import forward as forward
from .over_time import limit as limit
from .over_time import temporal as temporal
from .risk import Contribution as Contribution
from .risk import Worst as Worst
from .risk import worst_of as worst_of
from .tables import Table as Table
from .trees import Network as Network
from .trees import network as network
from .trees import tree as tree
