"""Does the code keep what was promised? Lower bounds, from runs of a mechanism, on what the house bounds from above.

The room is called ``auditing`` because ``epsilens.audit`` is the function. Its parts, in the order of a game:

``claims``      what is promised, as lines δ(ε)
``calls``       calls of somebody else's code, silent and within their time
``game``        runs: a fair coin, the mechanism on one of two inputs, whatever comes back
``entries``     what is inside an outcome
``outcomes``    whatever comes back, as columns of numbers and codes
``statistics``  what an attacker looks at in them
``events``      when the attacker speaks, learnt on past runs
``attack``      a score cut into cells, and the events of its tails: what is bet on
``betting``     evidence that holds whenever one stops
``bounds``      evidence of a number of runs fixed beforehand
``bands``       the two error rates of a score, at all cuts at once
``one_run``     many guesses about one run
``result``      the verdict and the bounds
``audit``       the whole game
``several``     audits on several pairs of inputs, which hold together
``pairs``       neighbouring tables made from a plan
``pipeline``    our own release as a source
``planned``     a plan's release held against the plan
``exact``       what a release really gives away between two tables, without a run
``tables``      neighbouring tables made from a table
``commands``    somebody else's command as a source
``workers``     somebody else's function as a source
``recorded``    outcomes kept in a file
``said``        claims said in a line
``outside``     somebody else's pipeline held against a claim

Anything that draws outcomes can be audited: an object with ``draw(bits)``, which returns one outcome for each bit, of
the first input where the bit is False and of the second where it is True
(:class:`~epsilens.auditing.sources.Source`), is given
to :func:`~epsilens.auditing.audit.audit_source` with a claim. Runs must be independent given their bits; what a
run returns may be of any type.
"""
