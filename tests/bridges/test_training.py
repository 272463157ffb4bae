"""An Opacus training with our accountant in its engine; and what is said when the packages are missing."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.bridges import from_event, from_measurement, from_pld, opacus_accountant, to_event, to_pld, trained

# torch and Opacus take seconds to import, and warn of much that is not ours
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SIGMA, RATE, STEPS = 1.0, 0.1, 30


@pytest.fixture
def engine(opacus: Any) -> Any:
    """A linear model trained for three epochs on 200 people, 20 of them a batch."""
    return _train(opacus, opacus_accountant())


def _train(opacus: Any, accountant: str) -> Any:
    import torch

    torch.manual_seed(0)
    people = torch.utils.data.TensorDataset(torch.randn(200, 4), torch.randn(200, 1))
    model = torch.nn.Linear(4, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = opacus.PrivacyEngine(accountant=accountant)
        model, optimizer, batches = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(people, batch_size=20),
            noise_multiplier=SIGMA,
            max_grad_norm=1.0,
        )
        for _ in range(3):
            for x, y in batches:
                optimizer.zero_grad()
                ((model(x) - y) ** 2).mean().backward()
                optimizer.step()
    engine.trained = model, optimizer
    return engine


def test_training_reports_its_risk(opacus: Any, engine: Any) -> None:
    accountant = engine.accountant
    assert accountant.history == [(SIGMA, RATE, STEPS)]
    assert len(accountant) == STEPS
    assert accountant.mechanism() == "epsilens"
    known = el.dpsgd(sigma=SIGMA, rate=RATE, steps=STEPS)
    epsilon = engine.get_epsilon(delta=1e-5)
    assert epsilon == known.epsilon(1e-5)
    prv = opacus.accountants.PRVAccountant()
    prv.history = [(SIGMA, RATE, STEPS)]
    low, _ = known.bracket("epsilon", delta=1e-5)
    assert low <= prv.get_epsilon(1e-5)
    assert epsilon == pytest.approx(prv.get_epsilon(1e-5), abs=0.02)  # its own error is 0.01
    assert accountant.risk() == known.success()
    assert accountant.risk("roc", fpr=0.01) == known.roc(0.01)
    assert accountant.report().sentence.startswith("An adversary")
    with pytest.raises(el.InputError, match="no reading"):
        accountant.risk("x")
    with pytest.raises(el.InputError, match="delta"):
        accountant.get_epsilon(2.0)


def test_state_is_kept(opacus: Any, engine: Any) -> None:
    again = type(engine.accountant)()
    assert again.get_epsilon(1e-5) == 0.0  # nothing has happened yet
    again.load_state_dict(engine.accountant.state_dict())
    assert again.get_epsilon(1e-5) == engine.accountant.get_epsilon(1e-5)
    again.step(noise_multiplier=2.0, sample_rate=RATE)
    assert again.history == [(SIGMA, RATE, STEPS), (2.0, RATE, 1)]
    assert engine.accountant.history == [(SIGMA, RATE, STEPS)]
    assert again.get_epsilon(1e-5) > engine.accountant.get_epsilon(1e-5)
    with pytest.raises(ValueError, match="rdp"):
        again.load_state_dict(opacus.accountants.RDPAccountant().state_dict())
    model, optimizer = engine.trained
    stored = io.BytesIO()
    engine.save_checkpoint(path=stored, module=model, optimizer=optimizer)
    stored.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = opacus.PrivacyEngine(accountant="epsilens")
        other.load_checkpoint(path=stored, module=model, optimizer=optimizer)
    assert other.accountant.history == [(SIGMA, RATE, STEPS)]


def test_noise_is_found_for_a_target(opacus: Any) -> None:
    from opacus.accountants.utils import get_noise_multiplier

    asked = {"target_epsilon": 3.0, "target_delta": 1e-5, "sample_rate": 0.05, "steps": 100}
    mine = get_noise_multiplier(accountant=opacus_accountant(), **asked)
    assert trained([(mine, 0.05, 100)]).epsilon(1e-5) <= 3.0
    assert mine == pytest.approx(get_noise_multiplier(accountant="prv", **asked), rel=0.02)


def test_histories_at_their_edges() -> None:
    assert trained([]).advantage() == 0.0
    assert trained([(1.0, 0.0, 10)]).advantage() == 0.0
    assert trained([(0.0, 0.5, 1)]).advantage() == 1.0
    assert trained([(1.0, 1.5, 4)]).psi() == 2.0  # everyone, four times
    assert trained([(1e15, 0.5, 1)]).advantage() <= 1e-11
    assert 0 < trained([(1.0, 1e-20, 1)]).advantage() <= 1e-11
    mixed = trained([(1.0, 0.01, 100), (2.0, 0.02, 50)])
    assert mixed.epsilon(1e-5) == pytest.approx(
        el.dpsgd(schedule={"sigma": [1.0, 2.0], "rate": [0.01, 0.02], "steps": [100, 50]}).epsilon(1e-5), rel=1e-12
    )
    for row in ("x", (1.0, 0.1), (-1.0, 0.1, 1), (1.0, np.nan, 1), (1.0, 0.1, 1.5)):
        with pytest.raises(el.InputError):
            trained([row])


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("dp_accounting", "accounting", lambda: from_pld(None)),
        ("dp_accounting", "accounting", lambda: to_pld(el.mechanisms.pure(epsilon=1.0))),
        ("dp_accounting", "accounting", lambda: from_event(None)),
        ("dp_accounting", "accounting", lambda: to_event(el.laplace(epsilon=1.0))),
        ("opendp", "opendp", lambda: from_measurement(None, 1.0)),
        ("opacus", "opacus", opacus_accountant),
    ],
)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str, extra: str, call: Any) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(el.MissingExtra, match=rf"pip install 'epsilens\[{extra}\]'"):
        call()


@pytest.mark.parametrize("history", [None, 3])
def test_a_history_is_rows(history: Any) -> None:
    with pytest.raises(el.InputError, match=f"history is {history}: give rows of .noise multiplier"):
        trained(history)


def test_an_engine_and_its_accountant_are_read(opacus: Any, engine: Any) -> None:
    known = el.dpsgd(sigma=SIGMA, rate=RATE, steps=STEPS)
    other = opacus.PrivacyEngine(accountant="rdp")
    other.accountant.history = [(SIGMA, RATE, STEPS)]
    for given in (engine, engine.accountant, other, other.accountant):
        assert trained(given).law == known.law
    shuffled = trained(other, loader=_loader(shuffle=True))
    assert shuffled.parameters["batches"] == "shuffled"
    with pytest.raises(el.InputError, match="or Opacus's engine or accountant"):
        trained(opacus)


def test_an_engine_whose_batches_are_no_samples_says_so(opacus: Any, engine: Any) -> None:
    engine.accountant.loop = None
    engine.accountant.reads(_loader(shuffle=True))
    assert trained(engine).parameters["batches"] == "shuffled"


def _loader(**options: Any) -> Any:
    import torch

    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(200, 4)), batch_size=20, **options)
