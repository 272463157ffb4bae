__all__: list[str]

from . import correlated as correlated
from .differencing_queries import differencing as differencing
from .differencing_queries import differencing_average as differencing_average
from .differencing_queries import differencing_median as differencing_median
from .empirical import observed as observed
from .identification import Identification as Identification
from .identification import identify as identify
from .knowledge.composite import above as above
from .knowledge.composite import worst_pair as worst_pair
from .knowledge.knowledge import Knowledge as Knowledge
from .misspecification import mistaken as mistaken
from .tampering_detection.detection import detect as detect
from .tampering_detection.detection import detect_series as detect_series
from .tampering_detection.detection import watch as watch
from .tampering_detection.hiding import detected_bias as detected_bias
from .tampering_detection.hiding import epsilon_to_detect as epsilon_to_detect
from .tampering_detection.hiding import hidden_bias as hidden_bias
from .tampering_detection.tampering import chernoff_bound as chernoff_bound
from .tampering_detection.tampering import kl_bound as kl_bound
from .tampering_detection.tampering import privacy_distortion as privacy_distortion
from .tampering_detection.tampering import tampering as tampering
