#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes LoRA adapters of random values for checkpoints that make_families.py and make_logits.py have made.

    python3 make_adapters.py        (made with transformers 5.24.0, torch 2.15.0)

NAME/adapter has PEFT's layout: adapter_config.json and adapter_model.safetensors; golden.safetensors in it holds the
logits of the model with the merged weights W + scale · B · A, as transformers computes them, full and block-masked, for
the ids and segments of the checkpoint's own entry.
"""
import json
import pathlib
import shutil

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

from make_logits import block_mask, logits, parse_segments

CASES = {
    "bf16_gqa_tied": dict(rank=3, alpha=6, targets=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                                                    "down_proj"], dtype=torch.bfloat16),
    "llama_linear": dict(rank=2, alpha=4, targets=["q_proj", "k_proj", "v_proj", "gate_proj", "down_proj"],
                         dtype=torch.float32),
    # Queries, keys and values in one matrix, gate and up in another, and 12 of each head's 16 elements turned.
    "phi3_short": dict(rank=2, alpha=4, targets=["qkv_proj", "o_proj", "gate_up_proj", "down_proj"],
                       dtype=torch.float32),
    "qwen3_biases": dict(rank=4, alpha=5, rslora=True, targets=["q_proj", "v_proj", "down_proj"], dtype=torch.float32),
}


def make(name, case, entry, here):
    folder = here / name / "adapter"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    generator = torch.Generator().manual_seed(sum(map(ord, name)) + 1)
    model = AutoModelForCausalLM.from_pretrained(here / name, dtype=torch.float32, attn_implementation="eager").eval()
    rank = case["rank"]
    scale = case["alpha"] / (rank**0.5 if case.get("rslora") else rank)
    tensors = {}
    for key, module in model.named_modules():
        if key.split(".")[-1] not in case["targets"]:
            continue
        rows, columns = module.weight.shape
        down = (torch.randn(rank, columns, generator=generator) / columns**0.5).to(case["dtype"])
        up = (torch.randn(rows, rank, generator=generator) * 0.3).to(case["dtype"])
        tensors[f"base_model.model.{key}.lora_A.weight"] = down
        tensors[f"base_model.model.{key}.lora_B.weight"] = up
        with torch.no_grad():
            module.weight += scale * up.float() @ down.float()
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": name, "r": rank,
              "lora_alpha": case["alpha"], "lora_dropout": 0.0, "bias": "none", "target_modules": case["targets"],
              "fan_in_fan_out": False, "use_rslora": case.get("rslora", False), "block_attention": True}
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=1) + "\n")
    full = logits(model, entry["ids"])
    spans = logits(model, entry["ids"], block_mask(parse_segments(entry["segments"])))
    save_file({"full": full.contiguous(), "spans": spans.contiguous()}, folder / "golden.safetensors")


def main():
    here = pathlib.Path(__file__).parent
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    entries = {}
    for file in ("golden.json", "families.json"):
        entries |= {entry["name"]: entry for entry in json.loads((here / file).read_text())}
    for name, case in CASES.items():
        make(name, case, entries[name], here)


if __name__ == "__main__":
    main()
