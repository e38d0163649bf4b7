"""Disturbed links: delays to the bit, shares of lost, doubled and late messages, the same run from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.device import Link
from limberjack.hil.devices.uri import device_from, twin_from
from limberjack.hil.executive import Executive
from limberjack.hil.link_faults import Disturbance, DisturbedDevice, LinkFault, disturbance, together
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import At, SetFault, Timeline
from tests.hil.links import WIRING, free_port, law, pendulum

FRAMES = 60


class Echo:
    """A device that answers at once with the number of signals it has got."""

    def __init__(self) -> None:
        self.name, self.link, self.heard = "echo", Link(), []

    def open(self, wiring) -> None:
        self.heard.clear()

    def send(self, frame, time, signals) -> None:
        self.heard.append(signals[0])

    def receive(self, time, commands) -> bool:
        commands[:] = self.heard[-1] if self.heard else -1.0
        return bool(self.heard)

    def answer(self, time, commands, limit_s) -> bool:
        return self.receive(time, commands)

    def close(self) -> None:
        pass


def run(fault: Disturbance, seed: int, count: int = 4000) -> tuple[Echo, DisturbedDevice, list[float]]:
    """Numbered signals through a fault of the signals."""
    echo, applied = Echo(), []
    device, commands = DisturbedDevice(echo, seed), np.zeros(1)
    device.disturb(fault)
    device.open(WIRING)
    for frame in range(count):
        device.send(frame, frame * 0.001, np.array([float(frame)]))
        device.receive(frame * 0.001, commands)
        applied.append(commands[0])
    return echo, device, applied


@pytest.mark.parametrize("way", ["signals", "commands"])
def test_a_delay_of_five_frames_is_the_loop_with_old_commands(way, tmp_path):
    simulation, uri = pendulum(tmp_path), f"udp://127.0.0.1:{free_port()}"
    device = DisturbedDevice(device_from(uri, "servo"), 1)
    device.disturb(**{way: Disturbance(latency_s=5 * simulation.dt)})
    mounted = mount(device, Signals(simulation), simulation, ["q.*", "v.*"], ["motor"])
    with twin_from(uri, mounted.wiring, law):
        Executive(simulation, paced=False, devices=[mounted], answer_limit_s=20.0).run(FRAMES * simulation.dt)
    late = simulation.q[0], simulation.v[0]
    simulation.reset()
    commands = [0.0] * 5
    for _ in range(FRAMES):
        commands.append(law(0.0, np.array([simulation.q[0], simulation.v[0]]))[0])
        simulation.command["motor"] = commands.pop(0)
        simulation.step(1)
    assert late == (simulation.q[0], simulation.v[0])


def test_lost_and_doubled_messages_come_in_their_shares():
    count = 4000
    echo, device, _ = run(Disturbance(loss=0.3), 7, count)
    assert device.lost_signals + len(echo.heard) == count
    assert abs(device.lost_signals - 0.3 * count) < 5.0 * np.sqrt(count * 0.3 * 0.7)
    echo, _, _ = run(Disturbance(duplicate=0.2), 7, count)
    assert abs(len(echo.heard) - 1.2 * count) < 5.0 * np.sqrt(count * 0.2 * 0.8)
    assert sorted(set(echo.heard)) == list(range(count))


def test_reordered_messages_arrive_late_and_none_is_lost():
    echo, _, _ = run(Disturbance(reorder=0.1, reorder_s=0.0025), 3)
    heard = np.array(echo.heard)
    late = np.sum(heard[1:] < heard[:-1])
    assert 250 < late < 550
    assert np.array_equal(np.sort(heard), np.arange(len(heard)))
    assert len(heard) >= 4000 - 3


def test_the_same_seed_gives_the_same_run_and_another_does_not():
    fault = Disturbance(0.002, 0.004, loss=0.1, duplicate=0.1, reorder=0.1, reorder_s=0.01)
    first, second, other = (run(fault, seed, 500)[0].heard for seed in (5, 5, 6))
    assert first == second != other


def test_messages_under_way_are_bounded():
    echo, device, _ = run(Disturbance(latency_s=3600.0), 1, 5000)
    assert (len(echo.heard), device.lost_signals) == (0, 5000 - 4096)


def test_a_fault_of_a_link_on_a_timeline(tmp_path):
    simulation, echo = pendulum(tmp_path), Echo()
    device = DisturbedDevice(echo, 1)
    mounted = mount(device, Signals(simulation), simulation, ["q.*"], ["motor"])
    fault = LinkFault("gap", device, signals=Disturbance(loss=1.0))
    timeline = Timeline([At(0.010, SetFault(fault)), At(0.015, SetFault(fault, active=False))])
    Executive(simulation, paced=False, devices=[mounted], timeline=timeline).run(0.030)
    assert (device.lost_signals, len(echo.heard)) == (5, 31 - 5)


def test_faults_of_one_link_act_together_and_each_ends_alone():
    echo = Echo()
    device, commands = DisturbedDevice(echo, 1), np.zeros(1)
    late = LinkFault("late", device, signals=Disturbance(latency_s=0.002))
    later = LinkFault("later", device, signals=Disturbance(latency_s=0.003))
    deaf = LinkFault("deaf", device, commands=Disturbance(loss=1.0))
    device.open(WIRING)
    arrived = []
    for frame in range(40):
        changes = {5: late.set, 10: later.set, 12: deaf.set, 20: late.clear, 30: deaf.clear, 35: later.clear}
        if frame in changes:
            changes[frame](None, 0.0)
        device.send(frame, 0.001 * frame, np.array([float(frame)]))
        came = device.receive(0.001 * frame, commands)
        arrived.append((len(echo.heard), came))
    # newest heard: at once, 2 frames later, 5, then 3 again once the first fault has gone
    heard = np.array([count for count, _ in arrived])
    assert list(heard[[4, 9, 19, 29, 39]]) == [5, 8, 15, 27, 40]
    assert [came for _, came in arrived] == [not 12 <= frame < 30 for frame in range(40)]


def test_probabilities_together():
    found = together([Disturbance(loss=0.5, jitter_s=1.0), Disturbance(loss=0.5, reorder=0.2, reorder_s=0.1)])
    assert found == Disturbance(loss=0.75, jitter_s=1.0, reorder=0.2, reorder_s=0.1)
    assert together([Disturbance(latency_s=3600.0)] * 2).latency_s == 3600.0
    assert together([]) == Disturbance()


def test_late_signals_report_when_they_set_out():
    stamps = []

    class Stamped(Echo):
        def send(self, frame, time, signals) -> None:
            stamps.append((time, signals[0]))

    device = DisturbedDevice(Stamped(), 1)
    device.disturb(Disturbance(latency_s=0.004))
    device.open(WIRING)
    for frame in range(10):
        device.send(frame, 0.001 * frame, np.array([0.001 * frame]))
    assert len(stamps) == 6
    assert all(time == signal for time, signal in stamps)


def test_errors():
    for settings, words in (
        ({"loss": 1.5}, "probability"),
        ({"latency_s": -1.0}, "seconds"),
        ({"reorder": 0.5}, "reorder_s"),
        ({"los": 0.5}, "did you mean 'loss'"),
        ({"loss": float("nan")}, "give a number"),
    ):
        with pytest.raises(lj.ArgumentError, match=words):
            disturbance(settings)
