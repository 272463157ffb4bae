"""Released code that breaks its claim, each case beside a correct twin: what ``epsilens audit --catalogue`` runs.

``case``            what a case is, and what was found in it
``of_numpy``        noise in doubles
``sparse``          sparse vector, as published and as corrected
``of_diffprivlib``  noise, sums and a regression of diffprivlib
``of_opendp``       OpenDP's noise against what is claimed for it
``of_opacus``       Opacus's batch size
``of_twins``        correct noise of PyDP and Tumult Core
``catalogue``       all of them, and how they are run

The libraries cannot all be installed together. A case whose library is missing is skipped and says how to install it.
"""
