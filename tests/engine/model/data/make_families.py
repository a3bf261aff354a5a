#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes small random checkpoints of the families beside Llama, and their logits, with transformers.

    python3 make_families.py [folder]        (made with transformers 5.24.0, torch 2.15.0)

config.json is the one that transformers writes. Everything else is as in make_logits.py; families.json lists the
cases.
"""
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from transformers import (MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

from make_logits import block_mask, logits, parse_segments, random_weights, save_weights

COMMON = dict(max_position_embeddings=256, rms_norm_eps=1e-6, bos_token_id=1, eos_token_id=2,
              attn_implementation="eager")


def rope(theta):
    return {"rope_type": "default", "rope_theta": theta}


CASES = {
    "qwen2_tied": (Qwen2ForCausalLM, "bfloat16", "d3,i17,i16,i1,d9", Qwen2Config(
        vocab_size=96, hidden_size=48, intermediate_size=72, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, tie_word_embeddings=True, rope_parameters=rope(1e6), **COMMON)),
    "qwen2_untied": (Qwen2ForCausalLM, "float32", "i7,d5,i6,d2", Qwen2Config(
        vocab_size=70, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, rope_parameters=rope(1e4), **COMMON)),
    "qwen3_tied": (Qwen3ForCausalLM, "bfloat16", "i20,i19,d21", Qwen3Config(
        vocab_size=100, hidden_size=40, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, tie_word_embeddings=True, rope_parameters=rope(1e6), **COMMON)),
    "qwen3_biases": (Qwen3ForCausalLM, "float32", "d1,i8,i8,i8,d6", Qwen3Config(
        vocab_size=64, hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=3,
        num_key_value_heads=1, head_dim=12, attention_bias=True, rope_parameters=rope(100.0), **COMMON)),
    "mistral": (MistralForCausalLM, "bfloat16", "i5,i4,d3,i9,d4", MistralConfig(
        vocab_size=80, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=24, sliding_window=None, rope_parameters=rope(1e6), **COMMON)),
}


def make(name, folder):
    kind, type_name, segment_text, config = CASES[name]
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    config.architectures = [kind.__name__]
    config.dtype = type_name
    state = random_weights(kind(config), getattr(torch, type_name), generator)
    config.save_pretrained(folder)
    save_weights(folder, state, 1)

    model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    segments = parse_segments(segment_text)
    count = sum(length for _, length in segments)
    ids = torch.randint(0, config.vocab_size, (count,), generator=generator).tolist()
    full = logits(model, ids)
    spans = logits(model, ids, block_mask(segments))
    assert torch.allclose(full, logits(model, ids, block_mask([(False, count)])), atol=1e-5)
    assert (full[-1] - spans[-1]).abs().max() > 1e-2 * full[-1].abs().max()
    save_file({"full": full.contiguous(), "spans": spans.contiguous()}, folder / "golden.safetensors")
    return {"name": name, "ids": ids, "segments": segment_text}


def main():
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    entries = []
    for name in CASES:
        shutil.rmtree(here / name, ignore_errors=True)
        entries.append(make(name, here / name))
    (here / "families.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
