"""Code paths of NumPy and OpenBLAS that this processor can run: what differs from them in the last bit decides nothing.

`python -m tests.code_paths` prints the environment variables of the one with the oldest instructions, for `.ci/run`.
"""

from __future__ import annotations

import platform

import numpy as np

#: kernels of OpenBLAS by the features that they need, oldest first
CORES = {
    "x86_64": (("Prescott", "SSE3"), ("Sandybridge", "AVX"), ("Haswell", "AVX2"), ("SkylakeX", "AVX512_SKX")),
    "aarch64": (("ARMV8", "ASIMD"), ("NEOVERSEN1", "ASIMDHP")),
}


def code_paths() -> list[dict[str, str]]:
    """Environments, oldest instructions first: each core of OpenBLAS with those of NumPy's features that it has too."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    features = {name for name, present in __cpu_features__.items() if present}
    optional = [name for name in __cpu_dispatch__ if name in features]
    cores = [name for name, needed in CORES.get(platform.machine(), ()) if needed in features]
    shares = np.linspace(0, len(optional), len(cores)).astype(int) if len(cores) > 1 else [0]
    return [
        {"OPENBLAS_CORETYPE": core, "NPY_DISABLE_CPU_FEATURES": " ".join(optional[kept:])}
        for core, kept in zip(cores, shares)
    ]


if __name__ == "__main__":
    print("\t".join(f"{name}={value}" for name, value in code_paths()[0].items()))
