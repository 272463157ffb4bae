"""Data loaders of PyTorch and Opacus are read as they draw, and a loader that is no Poisson sampler is told so."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
from tests.laws.oracles import upward

import epsilens as el
from epsilens.bridges import loaded, opacus_accountant, trained
from epsilens.bridges.training import BatchOrder, LoaderDraws, loader_draws, loader_training

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and Opacus warn of much that is not ours

N, BATCH, PASSES = 200, 20, 10


@pytest.fixture
def people(opacus: Any) -> Any:
    import torch

    torch.manual_seed(0)
    return torch.utils.data.TensorDataset(torch.randn(N, 4), torch.randn(N, 1))


def plain(people: Any, **given: Any) -> Any:
    import torch

    return torch.utils.data.DataLoader(people, **{"batch_size": BATCH, "shuffle": True, **given})


def private(opacus: Any, people: Any, epochs: int = 2, accountant: str = "", **given: Any) -> Any:
    """An engine that trained a linear model over the loader, and what it warned of."""
    import torch

    model = torch.nn.Linear(4, 1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        engine = opacus.PrivacyEngine(accountant=accountant or opacus_accountant())
        model, optimizer, batches = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=given.pop("loader", plain(people)),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            **given,
        )
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            ((model(x) - y) ** 2).mean().backward()
            optimizer.step()
    engine.batches = batches
    return engine, [str(one.message) for one in said]


@pytest.mark.always
def test_what_loaders_do(opacus: Any, people: Any) -> None:
    import torch

    assert loader_draws(plain(people)) == LoaderDraws(BatchOrder.SHUFFLED, N, BATCH, PASSES, 0.1)
    assert loader_draws(plain(people, batch_size=30)) == LoaderDraws(BatchOrder.SHUFFLED, N, 30, 7, 0.15)
    assert loader_draws(plain(people, batch_size=30, drop_last=True)) == LoaderDraws(
        BatchOrder.SHUFFLED, N, 30, 6, 0.15, False
    )
    assert loader_draws(plain(people, shuffle=False)) == LoaderDraws(BatchOrder.IN_ORDER, N, BATCH, PASSES, 0.1)
    drawn = torch.utils.data.RandomSampler(people, replacement=True)
    assert loader_draws(plain(people, shuffle=None, sampler=drawn)).way is BatchOrder.WITH_REPLACEMENT
    coins = opacus.data_loader.DPDataLoader.from_data_loader(plain(people))
    assert loader_draws(coins) == LoaderDraws(BatchOrder.POISSON, N, BATCH, PASSES, 0.1)
    assert loader_draws(coins).warning == ""
    for way in (BatchOrder.SHUFFLED, BatchOrder.WITH_REPLACEMENT, BatchOrder.IN_ORDER):
        assert "poisson_sampling=False" in LoaderDraws(way, N, BATCH, PASSES, 0.1).warning


def test_what_is_not_known_is_refused(opacus: Any, people: Any) -> None:
    import torch

    with pytest.raises(el.InputError, match="loader is a list: give a DataLoader"):
        loader_draws([1, 2])
    odd = torch.utils.data.WeightedRandomSampler([1.0] * N, N)
    with pytest.raises(el.InputError, match="draws its batches by a WeightedRandomSampler"):
        loader_draws(plain(people, shuffle=None, sampler=odd))
    with pytest.raises(el.InputError, match="draws its batches by a NoneType"):
        loader_draws(plain(people, batch_size=None, shuffle=None))
    with pytest.raises(el.InputError, match="so many epochs or so many steps"):
        loaded(plain(people), sigma=1.0)
    with pytest.raises(el.InputError, match="epochs is -1"):
        loaded(plain(people), sigma=1.0, epochs=-1)


def test_training_over_a_loader(opacus: Any, people: Any) -> None:
    shuffled = loaded(plain(people), sigma=1.0, epochs=3)
    same = el.dpsgd(sigma=1.0, n=N, batch=BATCH, epochs=3, batches="shuffled")
    assert shuffled == same
    assert loaded(plain(people), sigma=1.0, steps=30) == same
    poisson = loaded(opacus.data_loader.DPDataLoader.from_data_loader(plain(people)), sigma=1.0, epochs=3)
    assert poisson == el.dpsgd(sigma=1.0, rate=0.1, steps=30)
    assert poisson.epsilon(1e-5) < shuffled.bracket("epsilon", delta=1e-5)[0]
    # in order: everyone in one known batch of each epoch
    assert loaded(plain(people, shuffle=False), sigma=2.0, epochs=4).psi() == pytest.approx(1.0)
    assert loaded(plain(people, shuffle=False), sigma=2.0, epochs=4, neighbours="replace").psi() == pytest.approx(2.0)
    # who is left out at the end of an epoch is not in it: nothing is known from below
    short = loaded(plain(people, batch_size=30, drop_last=True), sigma=1.0, epochs=3)
    assert short.bracket("advantage") == (0.0, upward(el.gaussian(psi=math.sqrt(3)).advantage()))


def test_noise_that_changes() -> None:
    loop = LoaderDraws(BatchOrder.SHUFFLED, N, BATCH, PASSES, 0.1)
    even = loader_training(loop, [(1.0, 0.1, 10), (2.0, 0.1, 20)])
    assert even.psi() == pytest.approx(math.sqrt(1 + 2 / 4))
    uneven = loader_training(loop, [(1.0, 0.1, 5), (2.0, 0.1, 15)])
    low, high = uneven.bracket("advantage")
    # half of the first pass has the one noise, half the other; the second pass has the lower
    told = (el.gaussian(psi=math.sqrt(1.25)).advantage() + el.gaussian(psi=math.sqrt(0.5)).advantage()) / 2
    assert told <= high <= told * 1.002 < el.gaussian(psi=math.sqrt(2)).advantage()
    same = el.dpsgd(sigma=2.0, n=N, batch=BATCH, epochs=2, batches="shuffled")
    assert low >= same.bracket("advantage")[0]
    # gradients accumulated over two batches
    joined = loader_training(loop, [(1.0, 0.2, 10)])
    assert joined.parameters["batch"] == 2 * BATCH
    assert joined.psi() == pytest.approx(math.sqrt(2))
    mixed = loader_training(loop, [(1.0, 0.1, 10), (1.0, 0.2, 5)])
    assert mixed.bracket("advantage")[0] == 0
    assert mixed.psi() >= math.sqrt(2)
    assert loader_training(
        LoaderDraws(BatchOrder.IN_ORDER, N, BATCH, PASSES, 0.1), [(1.0, 0.1, 5), (2.0, 0.1, 10)]
    ).psi() == pytest.approx(math.sqrt(2))


def test_an_engine_tells_its_accountant(opacus: Any, people: Any) -> None:
    engine, said = private(opacus, people, poisson_sampling=False)
    assert any("cuts shuffled data into batches" in one for one in said)
    assert engine.accountant.history == [(1.0, 0.1, 2 * PASSES)]
    known = el.dpsgd(sigma=1.0, n=N, batch=BATCH, epochs=2, batches="shuffled")
    assert engine.get_epsilon(1e-5) == known.epsilon(1e-5)
    assert engine.accountant.risk("success") == known.success()
    # Opacus's own accountants call the same loop Poisson, and report less than an attack reaches
    other, _ = private(opacus, people, accountant="prv", poisson_sampling=False)
    assert other.get_epsilon(1e-5) < known.bracket("epsilon", delta=1e-5)[0]
    again = type(engine.accountant)()
    again.load_state_dict(engine.accountant.state_dict())
    assert again.loop == engine.accountant.loop
    assert again.get_epsilon(1e-5) == engine.get_epsilon(1e-5)


def test_an_engine_with_coins_is_quiet(opacus: Any, people: Any) -> None:
    engine, said = private(opacus, people)
    assert not any("this loader" in one for one in said)
    assert engine.accountant.loop.way is BatchOrder.POISSON
    assert engine.get_epsilon(1e-5) == el.dpsgd(sigma=1.0, rate=0.1, steps=20).epsilon(1e-5)
    assert loader_draws(engine.batches).rate == pytest.approx(0.1)


def test_a_loader_nobody_knows_gives_no_number(opacus: Any, people: Any) -> None:
    import torch

    odd = plain(people, shuffle=None, sampler=torch.utils.data.WeightedRandomSampler([1.0] * N, N))
    engine, said = private(opacus, people, loader=odd, poisson_sampling=False)
    assert any("of which nothing is known" in one for one in said)
    with pytest.raises(el.InputError, match="of which nothing is known"):
        engine.get_epsilon(1e-5)


def test_two_loaders_are_two_trainings(opacus: Any, people: Any) -> None:
    engine, _ = private(opacus, people, epochs=1, poisson_sampling=False)
    engine.accountant.reads(plain(people, batch_size=50))
    with pytest.raises(el.InputError, match="two loaders"):
        engine.get_epsilon(1e-5)


def test_a_history_over_a_loader(opacus: Any, people: Any) -> None:
    made = trained([(1.0, 0.1, 20)], loader=plain(people))
    assert made == el.dpsgd(sigma=1.0, n=N, batch=BATCH, epochs=2, batches="shuffled")
    assert (
        trained([(1.0, 0.1, 20)], loader=LoaderDraws(BatchOrder.POISSON, N, BATCH, PASSES, 0.1)).law
        == trained([(1.0, 0.1, 20)]).law
    )
