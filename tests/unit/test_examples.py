"""The examples run, find what is known or true, and draw their pictures."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from examples import bundle, cluster, enzyme, lorenz96, orings


@pytest.fixture
def printed(tmp_path, capsys):
    """Runs a small version of an example and returns what it printed."""

    def run(example):
        assert example.main(["--quick", "--out", str(tmp_path)]) == 0
        (picture,) = tmp_path.glob("*.png")
        assert picture.stat().st_size > 5000
        return capsys.readouterr().out

    return run


def test_enzyme_finds_the_published_fit_in_all_units(printed):
    assert printed(enzyme).count("0.06412 ") >= len(enzyme.UNITS)
    for units in enzyme.UNITS.values():
        _, scaled = enzyme.fits(units)
        assert scaled.x * units == pytest.approx(enzyme.PUBLISHED, rel=1e-4)


def test_orings_finds_the_published_fit(printed):
    text = printed(orings)
    assert "damage: 15.0429 -0.2322 t, deviance 20.315" in text
    assert "-2.0): True" in text


def test_cluster_reaches_the_known_energy(printed):
    (lowest,) = re.findall(r"Lowest: (-[\d.]+)", printed(cluster))
    assert float(lowest) == pytest.approx(cluster.LOWEST, abs=1e-6)


def test_bundle_explains_all_pictures(printed):
    (error,) = re.findall(r"least_squares, scaled +([\d.]+)", printed(bundle))
    assert float(error) < bundle.PIXEL_ERROR


def test_camera_is_the_published_model():
    """Against the rotation matrix and the formula of the data set, for one camera."""
    axis = np.array([0.3, -0.2, 0.1])
    K = np.array([[0, -0.1, -0.2], [0.1, 0, -0.3], [0.2, 0.3, 0]])
    angle = np.linalg.norm(axis)
    s, c = np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2
    point, shift = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, -9.0])
    seen = (np.eye(3) + s * K + c * K @ K) @ point + shift
    flat = -500 * seen[:2] / seen[2]
    bent = 1 + 1e-7 * flat @ flat + 1e-14 * (flat @ flat) ** 2
    camera = np.concatenate([axis, shift, [500.0, 1e-7, 1e-14]])
    assert bundle.project(camera[None], point[None])[0] == pytest.approx(bent * flat)


def test_lorenz96_comes_nearer_to_the_truth(printed):
    text = printed(lorenz96)
    for before, after in re.findall(r"start: ([\d.]+) -> ([\d.]+)", text):
        assert float(after) < float(before) / 2
    (forcing,) = re.findall(r"Forcing: 7 -> ([\d.]+)", text)
    assert float(forcing) == pytest.approx(lorenz96.FORCING, abs=0.5)


@pytest.mark.optional("jax", "sklearn")
def test_digits_are_read_better_after_two_epochs(printed):
    digits = import_module("examples.digits")
    for line in printed(digits).splitlines():
        if line.strip().startswith(tuple(digits.METHODS)):
            assert float(line.split()[-2].rstrip("%")) < 50


@pytest.mark.optional("jax", "optax", "optimistix")
def test_natural_steps_are_the_same_in_all_units(printed):
    text = printed(import_module("examples.natural_steps"))
    rows = [
        line.split(")", 1)[1].split() for line in text.splitlines() if "0, " in line
    ]
    assert len({row[1] for row in rows}) == 1
    assert len({tuple(row[-3:]) for row in rows}) == 1
