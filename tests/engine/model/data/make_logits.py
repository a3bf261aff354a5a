#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the small random Llama checkpoints of this folder and their logits, with transformers.

    python3 make_logits.py [folder]        (made with transformers 5.23.0, torch 2.15.0)

Each case is a folder with a checkpoint as a person would download it and golden.safetensors with

    full   [tokens, vocabulary]  f32, plain causal attention
    spans  [tokens, vocabulary]  f32, block attention: an independent segment sees only itself, a dependent one
                                 sees everything before it; positions are those of the whole prompt

golden.json lists the token ids and the segments of all cases ("i5,i4,d3": independent 5, independent 4, dependent 3).
Logits are computed in f32 on the weights as they are stored, that is after rounding.
"""
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}

# form: how config.json states the rotary embedding; "older" as transformers 4 writes it, "newer" as 5 does.
CASES = {
    "f32_untied": dict(dtype="float32", vocab=60, hidden=32, inner=56, layers=2, heads=4, kv=2, form="older"),
    "f32_mha_tied": dict(dtype="float32", vocab=64, hidden=32, inner=44, layers=2, heads=4, kv=4, tied=True, form="newer"),
    "bf16_gqa_tied": dict(dtype="bfloat16", vocab=128, hidden=48, inner=72, layers=2, heads=8, kv=2, tied=True, form="newer"),
    "bf16_mqa_untied": dict(dtype="bfloat16", vocab=100, hidden=40, inner=72, layers=2, heads=5, kv=1, form="older"),
    "f16_llama3": dict(dtype="float16", vocab=80, hidden=48, inner=64, layers=2, heads=4, kv=2, llama3=True, theta=500000.0, form="older", eps=1e-5),
    "bf16_llama3_sharded": dict(dtype="bfloat16", vocab=112, hidden=48, inner=64, layers=2, heads=4, kv=2, tied=True, llama3=True, theta=500000.0, form="newer", shards=3),
    "f32_wide_heads_biases": dict(dtype="float32", vocab=72, hidden=24, inner=40, layers=2, heads=3, kv=3, head=16, biases=True, form="older", theta=100.0),
}
SEGMENTS = {
    "f32_untied": "i5,i4,d3",
    "f32_mha_tied": "d2,i6,i1,d4",
    "bf16_gqa_tied": "d3,i17,i16,i1,d9",
    "bf16_mqa_untied": "i7,d5,i6,d2",
    "f16_llama3": "i20,i19,d21",
    "bf16_llama3_sharded": "i33,i30,d5",
    "f32_wide_heads_biases": "d1,i8,i8,i8,d6",
}


def parse_segments(text):
    return [(part[0] == "i", int(part[1:])) for part in text.split(",")]


def model_config(case):
    rope = {"rope_type": "default", "rope_theta": case.get("theta", 10000.0)}
    if case.get("llama3"):
        rope |= {"rope_type": "llama3", **LLAMA3}
    return LlamaConfig(
        vocab_size=case["vocab"],
        hidden_size=case["hidden"],
        intermediate_size=case["inner"],
        num_hidden_layers=case["layers"],
        num_attention_heads=case["heads"],
        num_key_value_heads=case["kv"],
        head_dim=case.get("head", case["hidden"] // case["heads"]),
        max_position_embeddings=256,
        rms_norm_eps=case.get("eps", 1e-6),
        tie_word_embeddings=case.get("tied", False),
        attention_bias=case.get("biases", False),
        mlp_bias=case.get("biases", False),
        rope_parameters=rope,
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation="eager",
    )


def config_file(case):
    """config.json as that version of transformers writes it; each form also leaves out what has its default."""
    fields = {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": case.get("biases", False),
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": case["hidden"],
        "initializer_range": 0.02,
        "intermediate_size": case["inner"],
        "max_position_embeddings": 256,
        "mlp_bias": case.get("biases", False),
        "model_type": "llama",
        "num_attention_heads": case["heads"],
        "num_hidden_layers": case["layers"],
        "num_key_value_heads": case["kv"],
        "pretraining_tp": 1,
        "rms_norm_eps": case.get("eps", 1e-6),
        "tie_word_embeddings": case.get("tied", False),
        "use_cache": True,
        "vocab_size": case["vocab"],
    }
    theta = case.get("theta", 10000.0)
    if "head" in case or case["form"] == "newer":
        fields["head_dim"] = case.get("head", case["hidden"] // case["heads"])
    if case["form"] == "older":
        fields |= {"torch_dtype": case["dtype"], "transformers_version": "4.45.0"}
        fields |= {"rope_theta": theta, "rope_scaling": {**LLAMA3, "rope_type": "llama3"} if case.get("llama3") else None}
    else:
        fields |= {"dtype": case["dtype"], "pad_token_id": None, "transformers_version": "5.23.0"}
        rope = {"rope_theta": theta, "rope_type": "llama3" if case.get("llama3") else "default"}
        fields["rope_parameters"] = rope | (LLAMA3 if case.get("llama3") else {})
    return json.dumps(dict(sorted(fields.items())), indent=2) + "\n"


def random_weights(model, dtype, generator):
    """Larger than an initialisation would make them, so that attention is far from uniform."""
    state = {}
    for name, value in model.state_dict().items():
        noise = torch.randn(value.shape, generator=generator)
        if "norm" in name:
            new = 1 + 0.2 * noise
        elif name.endswith(".bias"):
            new = 0.3 * noise
        elif "q_proj" in name or "k_proj" in name:
            new = 2.5 * noise / value.shape[1] ** 0.5
        else:
            new = 1.3 * noise / value.shape[-1] ** 0.5
        state[name] = new.to(dtype)
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    return state


def save_weights(folder, state, shards):
    if shards == 1:
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(state)
    weight_map = {}
    for shard in range(shards):
        part = names[shard::shards]
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        save_file({name: state[name] for name in part}, folder / file, metadata={"format": "pt"})
        weight_map |= {name: file for name in part}
    size = sum(value.numel() * value.element_size() for value in state.values())
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(weight_map.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def block_mask(segments):
    """Added to the scores: 0 where a row may look, the least float elsewhere."""
    count = sum(length for _, length in segments)
    mask = torch.full((count, count), torch.finfo(torch.float32).min)
    begin = 0
    for independent, length in segments:
        for row in range(begin, begin + length):
            mask[row, begin if independent else 0 : row + 1] = 0
        begin += length
    return mask[None, None]


def logits(model, ids, mask=None):
    with torch.no_grad():
        positions = torch.arange(len(ids))[None]
        return model(torch.tensor([ids]), attention_mask=mask, position_ids=positions, use_cache=False).logits[0]


def make(name, case, folder):
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    dtype = getattr(torch, case["dtype"])
    config = model_config(case)
    state = random_weights(LlamaForCausalLM(config), dtype, generator)
    (folder / "config.json").write_text(config_file(case))
    save_weights(folder, state, case.get("shards", 1))

    # Read it all back, the way a user of the checkpoint would.
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    segments = parse_segments(SEGMENTS[name])
    count = sum(length for _, length in segments)
    ids = torch.randint(0, case["vocab"], (count,), generator=generator).tolist()
    full = logits(model, ids)
    spans = logits(model, ids, block_mask(segments))

    # The mask has to have been taken: an explicit causal one changes nothing, and a first independent segment is
    # what it is alone.
    assert torch.equal(full, logits(model, ids, block_mask([(False, count)]))) or torch.allclose(
        full, logits(model, ids, block_mask([(False, count)])), atol=1e-5)
    independent, length = segments[0]
    assert torch.allclose(spans[:length], logits(model, ids[:length]), atol=1e-5)
    assert (full[-1] - spans[-1]).abs().max() > 1e-2 * full[-1].abs().max()
    if case.get("llama3"):
        plain = model_config({**case, "llama3": False})
        other = LlamaForCausalLM(plain).eval()
        other.load_state_dict(model.state_dict())
        assert (logits(other, ids)[-1] - full[-1]).abs().max() > 1e-2 * full[-1].abs().max()

    save_file({"full": full.contiguous(), "spans": spans.contiguous()}, folder / "golden.safetensors")
    return {"name": name, "ids": ids, "segments": SEGMENTS[name]}


def main():
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    entries = []
    for name, case in CASES.items():
        shutil.rmtree(here / name, ignore_errors=True)
        entries.append(make(name, case, here / name))
        size = sum(file.stat().st_size for file in (here / name).iterdir())
        print(name, size, "bytes")
    (here / "golden.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
