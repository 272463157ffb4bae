__all__: list[str]

__version__: str

from . import attacks as attacks
from . import bridges as bridges
from . import mechanisms as mechanisms
from . import notions as notions
from . import papers as papers
from .assessment.assess import Assessment as Assessment
from .assessment.assess import assess as assess
from .attacks import correlated as correlated
from .auditing.audit import audit as audit
from .auditing.result import Audit as Audit
from .calibration.choose import Choice as Choice
from .calibration.choose import Choices as Choices
from .calibration.choose import choose as choose
from .calibration.sweep import Comparison as Comparison
from .calibration.sweep import Sweep as Sweep
from .calibration.sweep import compare as compare
from .calibration.sweep import sweep as sweep
from .data.correlation.estimation import Correlation as Correlation
from .data.correlation.estimation import correlate as correlate
from .data.scan.result import Scan as Scan
from .data.scan.scan import scan as scan
from .data.tables.resources import Memory as Memory
from .data.tables.resources import use_memory as use_memory
from .errors import EpsilensError as EpsilensError
from .errors import InputError as InputError
from .errors import LimitError as LimitError
from .errors import MissingExtra as MissingExtra
from .errors import NoSolutionError as NoSolutionError
from .experiment import Experiment as Experiment
from .ledger.ledger import Ledger as Ledger
from .mechanisms.batches import subsample as subsample
from .mechanisms.claims import Claim as Claim
from .mechanisms.claims import claim as claim
from .mechanisms.composition import compose as compose
from .mechanisms.composition import group as group
from .mechanisms.noise import gaussian as gaussian
from .mechanisms.noise import laplace as laplace
from .mechanisms.training import dpsgd as dpsgd
from .plan.starter import Start as Start
from .plan.starter import init as init
from .publish.answers import Published as Published
from .publish.release import release as release
