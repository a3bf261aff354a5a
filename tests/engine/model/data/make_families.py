#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes small random checkpoints of the families beside Llama, and their logits, with transformers.

    python3 make_families.py [folder [NAME …]]        (made with transformers 5.24.0, torch 2.15.0)

config.json is the one that transformers writes. Everything else is as in make_logits.py; families.json lists the
cases.
"""
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from transformers import (Cohere2Config, Cohere2ForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, Gemma4ForCausalLM, Gemma4TextConfig, Glm4Config, Glm4ForCausalLM,
                          GraniteConfig, GraniteForCausalLM, LlamaConfig, LlamaForCausalLM, Ministral3Config, Ministral3ForCausalLM, MistralConfig, MistralForCausalLM, Olmo2Config, Olmo2ForCausalLM,
                          Olmo3Config, Olmo3ForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM,
                          Qwen3Config, Qwen3ForCausalLM, SmolLM3Config, SmolLM3ForCausalLM)

from transformers import (GptOssConfig, GptOssForCausalLM, GraniteMoeConfig, GraniteMoeForCausalLM,
                          GraniteMoeSharedConfig, GraniteMoeSharedForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM)

from make_logits import block_mask, parse_segments, random_weights, save_weights

COMMON = dict(max_position_embeddings=256, rms_norm_eps=1e-6, bos_token_id=1, eos_token_id=2,
              attn_implementation="eager")


def rope(theta, **scaling):
    return {"rope_type": "default", "rope_theta": theta, **scaling}


def phi_rope(pairs):
    return {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1 + 0.05 * i for i in range(pairs)],
            "long_factor": [1 + 0.6 * i for i in range(pairs)], "original_max_position_embeddings": 40}


GEMMA4_LAYERS = ["sliding_attention", "sliding_attention", "full_attention"]
GEMMA4 = dict(vocab_size=90, hidden_size=32, intermediate_size=40, num_attention_heads=4, head_dim=12, global_head_dim=16,
              pad_token_id=0, sliding_window=8, tie_word_embeddings=True, rope_parameters={
                  "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                  "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}})
PHI = dict(vocab_size=88, hidden_size=64, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
           num_key_value_heads=2, pad_token_id=0)


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
    "mistral_window": (MistralForCausalLM, "float32", "i19,i4,d3,i7,d4", MistralConfig(
        vocab_size=72, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=1, sliding_window=11, rope_parameters=rope(1e4), **COMMON)),
    "ministral3": (Ministral3ForCausalLM, "float32", "d4,i22,i13,d14", Ministral3Config(
        vocab_size=72, hidden_size=32, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, pad_token_id=0, rope_parameters=rope(
            1e4, rope_type="yarn", factor=16.0, original_max_position_embeddings=16, beta_fast=32.0, beta_slow=1.0,
            mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.4), **COMMON)),
    "qwen2_window": (Qwen2ForCausalLM, "float32", "d2,i30,i13,d5", Qwen2Config(
        vocab_size=72, hidden_size=32, intermediate_size=40, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, use_sliding_window=True, sliding_window=7, max_window_layers=1,
        rope_parameters=rope(1e4), **COMMON)),
    "qwen3_yarn": (Qwen3ForCausalLM, "bfloat16", "i18,i25,d21", Qwen3Config(
        vocab_size=80, hidden_size=40, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, rope_parameters=rope(
            1e4, rope_type="yarn", factor=4.0, original_max_position_embeddings=64), **COMMON)),
    "llama_yarn": (LlamaForCausalLM, "float32", "i18,d5,i9,d8", LlamaConfig(
        vocab_size=60, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, rope_parameters=rope(
            5e3, rope_type="yarn", factor=8.0, original_max_position_embeddings=32, beta_fast=16.0, beta_slow=2.0,
            mscale=1.0, mscale_all_dim=0.7, truncate=False), **COMMON)),
    "llama_linear": (LlamaForCausalLM, "float32", "i12,i11,d8", LlamaConfig(
        vocab_size=60, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, rope_parameters=rope(1e4, rope_type="linear", factor=4.0), **COMMON)),
    "smollm3": (SmolLM3ForCausalLM, "bfloat16", "d2,i15,i21,d14", SmolLM3Config(
        vocab_size=84, hidden_size=32, intermediate_size=56, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, pad_token_id=0, tie_word_embeddings=True, rope_parameters=rope(5e4), **COMMON)),
    "granite": (GraniteForCausalLM, "bfloat16", "i15,i16,d12", GraniteConfig(
        vocab_size=84, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, embedding_multiplier=5.0, residual_multiplier=0.22, attention_multiplier=0.21,
        logits_scaling=3.0, tie_word_embeddings=True, rope_parameters=rope(1e5), **COMMON)),
    "olmo2": (Olmo2ForCausalLM, "bfloat16", "d4,i14,i15,d13", Olmo2Config(
        vocab_size=84, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, pad_token_id=0, rope_parameters=rope(5e5), **COMMON)),
    "olmo3": (Olmo3ForCausalLM, "float32", "d4,i24,i15,d6", Olmo3Config(
        vocab_size=84, hidden_size=32, intermediate_size=40, num_hidden_layers=4, num_attention_heads=2,
        num_key_value_heads=2, pad_token_id=0, sliding_window=9, rope_parameters={
            "sliding_attention": rope(1e4),
            "full_attention": rope(1e4, rope_type="yarn", factor=2.0, original_max_position_embeddings=128)},
        **COMMON)),
    "phi3_short": (Phi3ForCausalLM, "float32", "i12,i13,d11", Phi3Config(
        rope_parameters=phi_rope(6) | {"partial_rotary_factor": 0.75}, original_max_position_embeddings=40,
        **PHI, **COMMON)),
    "phi3_long": (Phi3ForCausalLM, "bfloat16", "i22,i23,d19", Phi3Config(
        rope_parameters=phi_rope(8), original_max_position_embeddings=40, tie_word_embeddings=True, **PHI,
        **COMMON)),
    "phi3_window": (Phi3ForCausalLM, "float32", "i32,i7,d6", Phi3Config(
        sliding_window=13, rope_parameters=rope(1e4), **PHI, **COMMON)),
    "gemma3": (Gemma3ForCausalLM, "bfloat16", "d3,i27,i15,d4", Gemma3TextConfig(
        vocab_size=90, hidden_size=32, intermediate_size=48, num_hidden_layers=7, num_attention_heads=4,
        num_key_value_heads=2, head_dim=12, pad_token_id=0, sliding_window=8, query_pre_attn_scalar=10,
        tie_word_embeddings=True, rope_parameters={
            "full_attention": rope(1e6, rope_type="linear", factor=8.0), "sliding_attention": rope(1e4)},
        **COMMON)),
    "glm4": (Glm4ForCausalLM, "bfloat16", "d3,i21,i14,d11", Glm4Config(
        vocab_size=84, hidden_size=32, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, attention_bias=True, pad_token_id=0,
        rope_parameters=rope(1e4, partial_rotary_factor=0.5), **COMMON)),
    "gemma2": (Gemma2ForCausalLM, "float32", "d3,i27,i15,d4", Gemma2Config(
        vocab_size=90, hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, head_dim=12, pad_token_id=0, sliding_window=8, query_pre_attn_scalar=10,
        attn_logit_softcapping=6.0, final_logit_softcapping=4.0, rope_parameters=rope(1e4), **COMMON)),
    "cohere2": (Cohere2ForCausalLM, "bfloat16", "d2,i23,i12,d10", Cohere2Config(
        vocab_size=84, hidden_size=32, intermediate_size=56, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, pad_token_id=0, sliding_window=9, layer_norm_eps=1e-5, logit_scale=0.25, rotary_pct=1.0,
        rope_parameters=rope(5e4), **COMMON)),
    # Embeddings for each layer, and layers without keys of their own.
    "gemma4": (Gemma4ForCausalLM, "bfloat16", "d3,i27,i15,d4", Gemma4TextConfig(
        num_hidden_layers=6, num_key_value_heads=1, layer_types=GEMMA4_LAYERS + GEMMA4_LAYERS,
        vocab_size_per_layer_input=90, hidden_size_per_layer_input=8, num_kv_shared_layers=3, use_double_wide_mlp=True,
        final_logit_softcapping=4.0, **GEMMA4, **COMMON)),
    # No such embeddings. Full layers have keys that are values too.
    "gemma4_same": (Gemma4ForCausalLM, "float32", "i30,i12,d7", Gemma4TextConfig(
        num_hidden_layers=3, num_key_value_heads=4, num_global_key_value_heads=2, attention_k_eq_v=True,
        layer_types=GEMMA4_LAYERS, hidden_size_per_layer_input=0, vocab_size_per_layer_input=90, **GEMMA4, **COMMON)),
}
GPT_OSS = dict(vocab_size=88, hidden_size=64, intermediate_size=32, num_attention_heads=4, num_key_value_heads=2,
               head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=9, rope_parameters=rope(
                   15e4, rope_type="yarn", factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                   original_max_position_embeddings=40))
CASES |= {
    "qwen3moe": (Qwen3MoeForCausalLM, "bfloat16", "d2,i16,i15,d14", Qwen3MoeConfig(
        vocab_size=92, hidden_size=32, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=12, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=24,
        norm_topk_prob=True, rope_parameters=rope(1e6), **COMMON)),
    "qwen3moe_raw": (Qwen3MoeForCausalLM, "float32", "i9,i8,d7", Qwen3MoeConfig(
        vocab_size=72, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=12, num_experts=5, num_experts_per_tok=2, moe_intermediate_size=16,
        norm_topk_prob=False, tie_word_embeddings=True, rope_parameters=rope(1e4), **COMMON)),
    "granitemoe": (GraniteMoeForCausalLM, "bfloat16", "i15,i16,d12", GraniteMoeConfig(
        vocab_size=84, hidden_size=32, intermediate_size=28, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, num_local_experts=6, num_experts_per_tok=2, embedding_multiplier=5.0,
        residual_multiplier=0.22, attention_multiplier=0.21, logits_scaling=3.0, tie_word_embeddings=True,
        rope_parameters=rope(1e5), **COMMON)),
    "granitemoeshared": (GraniteMoeSharedForCausalLM, "float32", "i15,i16,d12", GraniteMoeSharedConfig(
        vocab_size=84, hidden_size=32, intermediate_size=28, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, num_local_experts=6, num_experts_per_tok=2, shared_intermediate_size=20,
        embedding_multiplier=5.0, residual_multiplier=0.22, attention_multiplier=0.21, logits_scaling=3.0,
        tie_word_embeddings=True, rope_parameters=rope(1e5), **COMMON)),
    "gpt_oss": (GptOssForCausalLM, "float32", "d3,i21,i15,d6", GptOssConfig(
        num_hidden_layers=3, **GPT_OSS, **COMMON)),
    "gpt_oss_mxfp4": (GptOssForCausalLM, "bfloat16", "i14,i13,d4", GptOssConfig(
        num_hidden_layers=4, **GPT_OSS, **COMMON)),
}
# The length for which the longer divisors of LongRoPE are used; transformers chooses by the prompt.
CONTEXTS = {"phi3_long": 64}


def windows_of(config):
    """By kind of layer, the window that transformers gives its attention."""
    window = getattr(config, "sliding_window", None)
    if getattr(config, "use_sliding_window", True) is False:
        window = None
    kinds = getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    return {kind: window if kind == "sliding_attention" else None for kind in kinds}


def logits(model, ids, mask=None):
    """A mask is one for layers without a window; others see less."""
    if mask is not None:
        rows = torch.arange(len(ids))
        distance = rows[:, None] - rows[None]
        least = torch.finfo(torch.float32).min
        masks = {kind: mask if window is None else torch.where(distance < window, mask, least)
                 for kind, window in windows_of(model.config).items()}
        takes_kinds = hasattr(model.config, "layer_types")
        mask = masks if takes_kinds else next(iter(masks.values()))
    with torch.no_grad():
        positions = torch.arange(len(ids))[None]
        return model(torch.tensor([ids]), attention_mask=mask, position_ids=positions, use_cache=False).logits[0]


def as_stored(kind, state):
    """The tensors of experts as checkpoints on the hub have them; transformers keeps them together."""
    stored = {}
    for key, value in state.items():
        stem, _, part = key.rpartition(".experts.")
        if kind is Qwen3MoeForCausalLM and stem:
            names = ("gate_proj", "up_proj") if part == "gate_up_proj" else ("down_proj",)
            for expert, matrix in enumerate(value):
                for own, piece in zip(names, matrix.chunk(len(names))):
                    stored[f"{stem}.experts.{expert}.{own}.weight"] = piece.contiguous()
        elif kind in (GraniteMoeForCausalLM, GraniteMoeSharedForCausalLM) and ".block_sparse_moe." in key:
            stored[f"{stem}.{'input' if part == 'gate_up_proj' else 'output'}_linear.weight" if stem else
                   key.replace(".router.weight", ".router.layer.weight")] = value
        else:
            stored[key] = value
    return stored


def in_mxfp4(state, generator):
    """Random blocks instead of the experts' matrices."""
    stored = {}
    for key, value in state.items():
        if not key.endswith(("experts.gate_up_proj", "experts.down_proj")):
            stored[key] = value
            continue
        experts, columns, rows = value.shape
        shape = (experts, rows, columns // 32)
        stored[key + "_blocks"] = torch.randint(0, 256, (*shape, 16), generator=generator, dtype=torch.uint8)
        stored[key + "_scales"] = torch.randint(122, 125, shape, generator=generator, dtype=torch.uint8)
    return stored


def make(name, folder):
    kind, type_name, segment_text, config = CASES[name]
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    config.architectures = [kind.__name__]
    config.dtype = type_name
    state = random_weights(kind(config), getattr(torch, type_name), generator)
    if kind in (Gemma2ForCausalLM, Gemma3ForCausalLM):  # their norms hold their weights less 1
        state = {key: value - 1 if "norm" in key else value for key, value in state.items()}
    state = as_stored(kind, state)
    if kind is GptOssForCausalLM:  # large enough to matter
        state = {key: value * 3 if "sinks" in key else value for key, value in state.items()}
    if name.endswith("mxfp4"):
        state = in_mxfp4(state, generator)
        config.quantization_config = {"quant_method": "mxfp4", "modules_to_not_convert": []}
    state = {key: 1 + 0.2 * value if key.endswith("layer_scalar") else value for key, value in state.items()}
    if kind is Gemma4ForCausalLM:  # its scores have no factor
        state = {key: value / 2 if "q_norm" in key else value for key, value in state.items()}
    config.save_pretrained(folder)
    save_weights(folder, state, 1)

    model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").float().eval()
    segments = parse_segments(segment_text)
    count = sum(length for _, length in segments)
    ids = torch.randint(0, config.vocab_size, (count,), generator=generator).tolist()
    full = logits(model, ids)
    spans = logits(model, ids, block_mask(segments))
    assert torch.allclose(full, logits(model, ids, block_mask([(False, count)])), atol=1e-5)
    assert (full[-1] - spans[-1]).abs().max() > 1e-2 * full[-1].abs().max()
    save_file({"full": full.contiguous(), "spans": spans.contiguous()}, folder / "golden.safetensors")
    entry = {"name": name, "ids": ids, "segments": segment_text}
    return entry | ({"context": CONTEXTS[name]} if name in CONTEXTS else {})


def main():
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    known = here / "families.json"
    kept = {entry["name"]: entry for entry in json.loads(known.read_text())} if known.exists() else {}
    for name in sys.argv[2:] or CASES:
        shutil.rmtree(here / name, ignore_errors=True)
        kept[name] = make(name, here / name)
    entries = [kept[name] for name in CASES if name in kept]
    (here / "families.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
