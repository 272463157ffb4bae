__all__: list[str]

from . import examples as examples
from .conversion import Conversion as Conversion
from .conversion import ConversionStep
from .conversion import convert as convert
from .conversion import promise as promise
from .conversion import promises as promises
from .conversion import sure as sure
from .definitions import blowfish as blowfish
from .definitions import dependent as dependent
from .definitions import dependent_groups as dependent_groups
from .definitions import diameter as diameter
from .definitions import dp as dp
from .definitions import inferential as inferential
from .definitions import membership as membership
from .definitions import mutual_information as mutual_information
from .definitions import pufferfish as pufferfish
from .implications import IMPLICATIONS as IMPLICATIONS
from .implications import NOTIONS as NOTIONS
from .implications import REFUTED as REFUTED
from .implications import Conditions as Conditions
from .implications import Implication as Implication
from .implications import Notion as Notion
from .implications import Refuted as Refuted
from .implications import find as find
from .mechanism import FiniteMechanism
from .mechanism import laplace_sum as laplace_sum
from .mechanism import noisy_sum as noisy_sum
from .mechanism import product as product
from .mechanism import randomized_response as randomized_response
from .mechanism import uniform as uniform

Mechanism = FiniteMechanism
Step = ConversionStep
