"""Many trials of a ledger under four writers that are killed: ``python -m scripts.ledger_trials 1000 [--on postgres]``.

With ``--releases`` they are whole releases, by three processes, from the plan to the file. It says how many writers
died at which step, and what was not as it should be; the exit code is 1 if anything was not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines.server import running
from tests.ledger.trials import Trial, run_trial
from tests.publish.trials import run_release_trial

_BATCH = 25  # trials in one ledger: a longer one takes longer to read


@contextmanager
def _places(on: str) -> Iterator[Iterator[str]]:
    """A new ledger for each batch."""
    if on == "sqlite":
        with tempfile.TemporaryDirectory(prefix="ledger-trials-") as folder:
            yield (f"{folder}/{k}.db" for k in range(10**9))
        return
    with running() as server:

        def emptied() -> Iterator[str]:
            while True:
                with server.connect() as connection:
                    connection.execute("DROP TABLE IF EXISTS epsilens_ledger")
                yield server.url()

        yield emptied()


def main() -> int:
    """Run them, and say what came of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("trials", type=int)
    asked.add_argument("--on", choices=["sqlite", "postgres"], default="sqlite")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--releases", action="store_true", help="whole releases, from the plan to the file")
    given = asked.parse_args()
    died: Counter[str] = Counter()
    reserved = refused = again = 0
    wrong: list[Trial] = []
    began = time.monotonic()
    with _places(given.on) as places, tempfile.TemporaryDirectory(prefix="release-trials-") as folder:
        url = ""
        for k in range(given.trials):
            if k % _BATCH == 0:
                url = next(places)
            seed = given.seed + k
            trial = run_release_trial(url, seed, Path(folder)) if given.releases else run_trial(url, seed)
            died.update(trial.died)
            reserved, refused, again = reserved + trial.reserved, refused + trial.refused, again + trial.again
            if trial.wrong:
                wrong.append(trial)
                print(f"trial {trial.seed}: {trial.wrong}", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{given.on}: {given.trials} trials of {'releases' if given.releases else 'lines'} in {seconds:.0f} s, "
        f"{reserved} reserved, {refused} refused, {again} asked for again; killed {sum(died.values())}: "
        f"{dict(sorted(died.items()))}; wrong in {len(wrong)}"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
