"""Does the code keep what was promised? Lower bounds, from runs of a mechanism, on what the house bounds from above.

The package is called ``auditing`` because ``epsilens.audit`` is the function. Its parts, in the order of a game:

``claims``          what is promised, as lines δ(ε)
``sources``         runs: a fair coin, the mechanism on one of two inputs, silent and within its time
``external``        somebody else's command or function as a source, and outcomes kept in a file
``outcomes``        whatever comes back, as columns of numbers and codes
``scores``          what an attacker looks at in them, cut into cells and the events of its tails
``betting``         events learnt on past runs, and evidence that holds whenever one stops
``bounds``          evidence of a number of runs fixed beforehand, and bands of the two error rates
``canaries``        many guesses about one run
``result``          the verdict and the bounds, of one pair of inputs and of several
``audit``           the whole game
``pairs``           neighbouring tables made from a plan or from a table
``pipelines``       a plan's release, or somebody else's pipeline, held against a claim
``case_catalogue``  released code that breaks its claim

Anything that draws outcomes can be audited: an object with ``draw(bits)``, which returns one outcome for each bit, of
the first input where the bit is False and of the second where it is True
(:class:`~epsilens.auditing.sources.OutcomeSource`), is given
to :func:`~epsilens.auditing.audit.audit_source` with a claim. Runs must be independent given their bits; what a
run returns may be of any type.
"""
