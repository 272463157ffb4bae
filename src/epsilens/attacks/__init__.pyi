__all__: list[str]

from . import correlated as correlated
from .composite_knowledge import above as above
from .composite_knowledge import worst_pair as worst_pair
from .differencing_queries import differencing as differencing
from .differencing_queries import differencing_average as differencing_average
from .differencing_queries import differencing_median as differencing_median
from .identification import Identification as Identification
from .identification import identify as identify
from .knowledge import Knowledge as Knowledge
from .misspecification import mistaken as mistaken
from .misspecification import observed as observed
from .tampering_detection import chernoff_bound as chernoff_bound
from .tampering_detection import detect as detect
from .tampering_detection import detect_series as detect_series
from .tampering_detection import detected_bias as detected_bias
from .tampering_detection import epsilon_to_detect as epsilon_to_detect
from .tampering_detection import hidden_bias as hidden_bias
from .tampering_detection import kl_bound as kl_bound
from .tampering_detection import privacy_distortion as privacy_distortion
from .tampering_detection import tampering as tampering
from .tampering_detection import watch as watch
