#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes weight_formats.json: what the package gguf (numpy) makes of random blocks of every packed format.

    make_weight_formats.py > weight_formats.json

A format has the SHA-256 of the values (f32, little-endian) of many blocks, and the first values of the first
block for people. The blocks are those of SplitMix64 from a seed; the exponents of their factors are made small
enough to be finite.
"""
import hashlib
import json

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

BLOCKS = 100_000
SEED = 20261124
# Bytes of a block at which factors stand.
FACTORS = {
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
    "MXFP4": [],
}


def random_bytes(count):
    """The first `count` bytes of the numbers of SplitMix64, little-endian."""
    steps = np.arange(1, (count + 7) // 8 + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(SEED) + steps * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return z.astype("<u8").view(np.uint8)[:count].copy()


formats = {}
for name, places in FACTORS.items():
    kind = GGMLQuantizationType[name]
    elements, size = GGML_QUANT_SIZES[kind]
    blocks = random_bytes(BLOCKS * size).reshape(BLOCKS, size)
    for place in places:
        blocks[:, place + 1] &= 0xBF
    if name == "MXFP4":  # its factors are powers of two
        blocks[:, 0] = blocks[:, 0] & 0x1F | 0x60
    values = quants.dequantize(blocks, kind).astype("<f4")
    formats[name] = {
        "ggufType": int(kind),
        "elements": elements,
        "bytes": size,
        "sha256": hashlib.sha256(values.tobytes()).hexdigest(),
        "first": [float(v) for v in values.reshape(-1)[:8]],
    }
print(json.dumps({"seed": SEED, "blocks": BLOCKS, "formats": formats}, indent=1))
