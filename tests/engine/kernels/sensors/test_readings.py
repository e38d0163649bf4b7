"""Each error of an instrument against the same written plainly in numpy, on a satellite that tumbles with an arm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_axis_angle, from_quaternion
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.validate import validate
from tests.validation.figures import figure

MODEL = "examples/space_manipulator.yaml"
JOINT, WRIST = "elbow_pitch", "shoulder_load"
DT = 2e-3


def errors(**given) -> SensorErrors:
    """Errors with numbers as vectors."""
    fields = {
        name: np.atleast_1d(np.array(value, dtype=float))
        if name in ("noise", "noise_density", "bias", "bias_walk", "scale", "saturation", "resolution", "misalignment")
        else value
        for name, value in given.items()
    }
    return SensorErrors(**fields)


def tumbling(*sensors: Sensor, seed: int = 5, dt: float = DT) -> lj.Simulation:
    """The arm on its satellite with these sensors beside ideal ones of the same names with ' true'."""
    system = lj.load(MODEL)
    ideal = tuple(replace(s, name=f"{s.name} true", errors=None) for s in sensors if s.type not in ("sun_sensor",))
    system = validate(replace(system, sensors=(*sensors, *ideal), alarms=(), seed=seed))
    simulation = lj.Simulation(system, dt=dt)
    v = simulation.v
    v[:3] = 0.3, -0.2, 0.4
    simulation.v = v
    simulation.command[JOINT] = 0.7
    return simulation


def body() -> str:
    return lj.load(MODEL).body_names[0]


def history(simulation: lj.Simulation, names: list[str], steps: int) -> dict[str, np.ndarray]:
    """Outputs at the start and after each of `steps` steps."""
    rows = {name: [np.copy(simulation.output[name])] for name in names}
    for _ in range(steps):
        simulation.step()
        for name in names:
            rows[name].append(np.copy(simulation.output[name]))
    return {name: np.array(values) for name, values in rows.items()}


@pytest.mark.parametrize(
    ("kind", "target", "size"),
    [("gyro", None, 3), ("accelerometer", None, 3), ("reaction", "shoulder_roll", 6), ("effort", JOINT, 1)],
)
def test_constant_errors(kind, target, size):
    given = {
        "scale": np.linspace(-0.02, 0.03, size),
        "bias": np.linspace(0.01, -0.05, size),
        "saturation": np.full(size, 0.4),
        "resolution": np.full(size, 1e-3),
    }
    turn = np.array([0.02, -0.03, 0.05]) if size > 1 else np.zeros(3)
    simulation = tumbling(Sensor("read", kind, target or body(), errors(misalignment=turn, **given)))
    seen = history(simulation, ["read", "read true"], 150)
    true = seen["read true"].reshape(-1, size)
    angle = np.linalg.norm(turn)
    if size > 1:  # components along the axes of the instrument, which are turned by the vector
        R = from_axis_angle(turn / angle, angle)
        true = np.concatenate([block @ R for block in np.split(true, size // 3, axis=1)], axis=1)
    expected = np.clip((1.0 + given["scale"]) * true + given["bias"], -0.4, 0.4)
    expected = np.floor(expected / 1e-3 + 0.5) * 1e-3
    read = seen["read"].reshape(-1, size)
    figure(
        "reading with scale, bias, misalignment, limits and steps",
        np.abs(read - expected).max(),
        oracle="the same in NumPy; a step of 1e-3",
        below=1.001e-3,
    )  # a number on the edge of a step may fall on either side
    figure(
        "share of readings that agree to 1e-12",
        np.mean(np.abs(read - expected) < 1e-12),
        oracle="the same in NumPy",
        above=0.99,
    )
    assert np.ptp(true) > 0.01


def test_an_encoder_wraps_and_counts():
    given = errors(resolution=[2.0 * math.pi / 4096], bias=[-0.3], wrap=2.0 * math.pi)
    seen = history(tumbling(Sensor("encoder", "position", JOINT, given)), ["encoder", "encoder true"], 400)
    expected = np.mod(
        np.round((seen["encoder true"] - 0.3) / (2.0 * math.pi / 4096)) * 2.0 * math.pi / 4096, 2 * math.pi
    )
    assert np.all((seen["encoder"] >= 0.0) & (seen["encoder"] < 2.0 * math.pi))
    figure(
        "encoder that wraps and counts",
        np.abs(seen["encoder"] - expected).max(),
        unit="rad",
        oracle="the same in NumPy",
        below=1e-9,
    )
    assert np.ptp(seen["encoder true"]) > 0.05


def test_a_resolver_shows_the_angle_of_its_windings():
    pairs, imbalance, quadrature = 3, 0.04, 0.02
    given = errors(pole_pairs=pairs, amplitude_imbalance=imbalance, quadrature=quadrature, wrap=2 * math.pi / pairs)
    seen = history(tumbling(Sensor("resolver", "position", JOINT, given)), ["resolver", "resolver true"], 400)
    electrical = pairs * seen["resolver true"]
    shown = np.arctan2(np.sin(electrical), (1.0 + imbalance) * np.cos(electrical + quadrature))
    difference = np.angle(np.exp(1j * (pairs * seen["resolver"] - shown)))
    figure("resolver", np.abs(difference).max(), unit="rad", oracle="angle of its windings", below=1e-12)
    assert np.abs(np.angle(np.exp(1j * (shown - electrical)))).max() > 5e-3  # the errors are there
    assert seen["resolver"].min() >= 0.0
    assert seen["resolver"].max() < 2 * math.pi / pairs


def test_noise_has_its_size_and_density_counts_with_the_rate():
    sensors = [Sensor("plain", "gyro", body(), errors(noise=[1e-3, 2e-3, 4e-3]))]
    sensors += [Sensor("dense", "gyro", body(), errors(noise_density=1e-4, rate=250.0))]
    seen = history(tumbling(*sensors), [name for s in sensors for name in (s.name, f"{s.name} true")], 3000)
    left = seen["plain"] - seen["plain true"]
    figure("size of noise", np.std(left, axis=0), [1e-3, 2e-3, 4e-3], unit="rad/s", oracle="its σ", rtol=0.05)
    fresh = np.flatnonzero(np.any(np.diff(seen["dense"], axis=0), axis=1)) + 1
    assert np.array_equal(fresh, np.arange(2, 3001, 2))  # every 4 ms
    left = (seen["dense"] - seen["dense true"])[fresh]
    figure(
        "size of noise by density",
        np.std(left),
        1e-4 * math.sqrt(250.0),
        unit="rad/s",
        oracle="density by √rate",
        rtol=0.05,
    )


def test_the_bias_walks():
    count, step = 60, 1e-3
    names = [f"gyro{i}" for i in range(count)]
    given = errors(bias_walk=3e-3)
    forgetful = [errors(bias_walk=3e-3, bias_time=0.02, rate=rate) for rate in (0.0, 60.0, 20.0)]
    sensors = [Sensor(name, "gyro", body(), given) for name in names]
    sensors += [Sensor(f"{n} forgets {k}", "gyro", body(), each) for n in names for k, each in enumerate(forgetful)]
    simulation = tumbling(*sensors, dt=step)
    found = []
    for steps in (100, 300):
        simulation.step(steps)
        out = simulation.output
        found.append(np.std([out[n] - out[f"{n} true"] for n in names]))
    lost = [np.std([out[f"{n} forgets {k}"] - out[f"{n} forgets {k} true"] for n in names]) for k in range(3)]
    figure(
        "size of a walking bias",
        found,
        [3e-3 * math.sqrt(0.1), 3e-3 * math.sqrt(0.4)],
        unit="rad/s",
        oracle="σ √t",
        rtol=0.2,
    )
    # of x' = -x/τ + σ w the variance settles at σ² τ / 2, however slowly it is sampled
    figure("size of a bias that forgets", lost, [3e-3 * math.sqrt(0.01)] * 3, unit="rad/s", oracle="σ √(τ/2)", rtol=0.2)


@pytest.mark.parametrize(("rate", "delay"), [(0.0, 0.0), (0.0, 7.3e-3), (130.0, 0.0), (130.0, 21e-3), (1e4, 3e-3)])
def test_samples_come_when_due_and_are_shown_when_their_delay_has_passed(rate, delay):
    simulation = tumbling(Sensor("read", "rate", JOINT, errors(rate=rate, delay=delay)))
    seen = history(simulation, ["read", "read true"], 300)
    times = DT * np.arange(301)
    if rate == 0.0:
        sampled = np.arange(301)
    else:
        sampled = np.flatnonzero(np.diff(np.floor(times * rate + 1e-9), prepend=-1.0))
    expected = []
    for time in times:
        shown = [i for i in sampled if times[i] + delay <= time + 1e-9]
        expected.append(seen["read true"][shown[-1] if shown else 0])
    assert np.array_equal(seen["read"], expected)


def test_a_star_tracker_turns_by_small_angles_and_is_blinded():
    noise = np.array([2e-3, 4e-3, 1e-2])
    sensors = (
        Sensor("tracker", "star_tracker", body(), errors(noise=noise, bias=[0.0, 0.01, 0.0])),
        Sensor("slow", "star_tracker", body(), errors(max_rate=0.3)),
        Sensor("dazzled", "star_tracker", body(), errors(sun_exclusion=1.2)),
    )
    simulation = tumbling(*sensors)
    names = ["tracker", "tracker true", "slow", "dazzled"]
    seen, rates = {name: [] for name in names}, []
    sun = np.array([1.0, 0.0, 0.0])
    for _ in range(3000):
        simulation.step()
        for name in names:
            seen[name].append(np.copy(simulation.output[name]))
        rates.append(np.linalg.norm(simulation.v[:3]))
    seen = {name: np.array(values) for name, values in seen.items()}
    left = []
    for shown, true in zip(seen["tracker"], seen["tracker true"]):
        assert np.linalg.norm(shown[:4]) == pytest.approx(1.0, abs=1e-14)
        R = from_quaternion(true[:4]).T @ from_quaternion(shown[:4])
        left.append(0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]))
    figure("bias of a star tracker", np.mean(left, axis=0), [0.0, 0.01, 0.0], unit="rad", oracle="its bias", atol=1e-3)
    figure("noise of a star tracker", np.std(left, axis=0), noise, unit="rad", oracle="its σ", rtol=0.06)
    assert np.array_equal(seen["slow"][:, 4], np.array(rates) <= 0.3)
    boresight = np.array([from_quaternion(true[:4])[:, 2] for true in seen["tracker true"]])
    clear = boresight @ sun <= math.cos(1.2)
    assert 0 < clear.sum() < len(clear)
    assert np.array_equal(seen["dazzled"][:, 4], clear)
    blind = np.flatnonzero(~clear[1:] & ~clear[:-1]) + 1
    assert np.array_equal(seen["dazzled"][blind, :4], seen["dazzled"][blind - 1, :4])  # what it saw last


def test_a_sun_sensor_sees_the_sun_in_its_own_axes():
    given = errors(noise=1e-3, field_of_view=2.0)
    simulation = tumbling(Sensor("sun", "sun_sensor", body(), given), Sensor("q", "node_orientation", body()))
    seen = history(simulation, ["sun", "q"], 3000)
    truth = np.array([from_quaternion(q).T @ [1.0, 0.0, 0.0] for q in seen["q"]])
    visible = truth[:, 2] >= math.cos(1.0)
    assert 0 < visible.sum() < len(visible)
    assert np.array_equal(seen["sun"][:, 3], visible)
    left = seen["sun"][visible, :3] - truth[visible]
    assert np.linalg.norm(seen["sun"][visible, :3], axis=1) == pytest.approx(1.0, abs=1e-14)
    figure(
        "noise of a sun sensor",
        np.sqrt(np.mean(np.sum(left**2, axis=1))),
        1e-3 * math.sqrt(2.0),
        oracle="σ √2",
        rtol=0.1,
    )


EVERYTHING = {"noise": 1e-2, "bias_walk": 1e-2, "rate": 130.0, "delay": 0.02}


def noisy(**given) -> lj.Simulation:
    kinds = ("gyro", "accelerometer", "star_tracker")
    return tumbling(*(Sensor(kind, kind, body(), errors(**EVERYTHING)) for kind in kinds), **given)


def test_runs_repeat_bit_for_bit():
    one, two = noisy(), noisy()
    one.step(300)
    for _ in range(300):
        two.step()
    assert np.array_equal(one.state, two.state)
    snapshot = one.snapshot()
    one.step(100)
    two.restore(snapshot)
    two.step(100)
    assert np.array_equal(one.output_vector, two.output_vector)
    one.reset()
    assert np.array_equal(one.state, lj.Simulation(one.system, dt=DT).state)


def test_another_seed_gives_other_noise_and_the_same_motion():
    one, two, three = noisy(), noisy(seed=6), noisy()
    three.parameters["noise.seed"] = 6.0
    for simulation in (one, two, three):
        simulation.step(50)
    assert np.array_equal(one.q, two.q)
    assert not np.any(one.output["gyro"] == two.output["gyro"])
    assert np.array_equal(two.output["gyro"], three.output["gyro"])


def test_the_initial_sample_follows_the_state_until_the_first_step():
    simulation = tumbling(Sensor("read", "gyro", body(), errors(rate=10.0, noise=1e-3)))
    first = simulation.output["read"] - simulation.output["read true"]
    v = simulation.v
    v[:3] = 0.1, 0.2, 0.3
    simulation.v = v
    again = simulation.output["read"]
    assert again - simulation.output["read true"] == pytest.approx(first, abs=1e-15)  # the same noise
    simulation.step()
    assert np.array_equal(simulation.output["read"], again)


def test_parameters_of_errors():
    simulation = tumbling(
        Sensor("read", "gyro", body(), errors(noise=1e-3)), Sensor("angle", "position", JOINT, errors(bias=0.1))
    )
    simulation.parameters["sensor.read.bias.y"] = 0.5
    simulation.parameters["sensor.angle.bias"] = 0.2
    simulation.step()
    left = simulation.output["read"] - simulation.output["read true"]
    assert left == pytest.approx([0.0, 0.5, 0.0], abs=1e-2)
    assert simulation.output["angle"] - simulation.output["angle true"] == pytest.approx(0.2, abs=1e-12)
    for name, value in (("sensor.read.noise.x", -1.0), ("noise.seed", 0.5), ("noise.seed", -1.0)):
        with pytest.raises(lj.ArgumentError, match=name):
            simulation.parameters[name] = value


def test_both_windings_of_a_resolver_are_noisy():
    """Of windings with noise σ the angle has σ over their amplitude and pole pairs, whatever the angle."""
    simulation = tumbling(Sensor("resolver", "position", JOINT, errors(pole_pairs=2, noise=1e-3, wrap=math.pi)))
    simulation.parameters["sensor.resolver.noise"] = 4e-3
    seen = history(simulation, ["resolver", "resolver true"], 3000)
    left = np.angle(np.exp(2j * (seen["resolver"] - seen["resolver true"]))) / 2.0
    assert np.ptp(seen["resolver true"]) > 0.3
    for part in np.array_split(left, 3):
        figure("noise of a resolver", np.std(part), 4e-3 / 2.0, unit="rad", oracle="σ over pole pairs", rtol=0.1)
