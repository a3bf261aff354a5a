#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes GGUF files of every usual quantisation with llama.cpp's converter and its llama-quantize, and their logits.

    python3 make_quantised.py LLAMA_CPP LLAMA_QUANTIZE
    (made with llama.cpp 0c1e57098, in llama-cpp-python 0.3.36; transformers 5.24.0, torch 2.15.0)

LLAMA_CPP is the source folder, LLAMA_QUANTIZE the program. The checkpoint is random and small. Rows of 256 elements
get the formats of 256 elements a block; rows of 64 and 32 (those of attn_output and ffn_down) what llama-quantize
falls back to. quantised/TYPE.gguf is a file, and tensor TYPE of quantised/golden.safetensors the logits that
transformers computes in float32 with the file's weights, as the package gguf reads them, for the ids
(7 i + 3) mod 48, i = 0 … 23: [24][48].
"""
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

TYPES = ["Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_NL", "IQ4_XS", "Q3_K_M", "Q2_K"]
CONFIG = LlamaConfig(vocab_size=48, hidden_size=256, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4,
                     num_key_value_heads=2, head_dim=16, max_position_embeddings=256, rms_norm_eps=1e-6, bos_token_id=1,
                     eos_token_id=2, tie_word_embeddings=True, attn_implementation="eager",
                     rope_parameters={"rope_type": "default", "rope_theta": 1e4})
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
OF_LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
            "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
            "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def random_model():
    generator = torch.Generator().manual_seed(20261125)
    model = LlamaForCausalLM(CONFIG)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.randn(weight.shape, generator=generator)
            if weight.dim() == 1:
                weight.copy_(1 + 0.2 * values)
            else:
                # Some rows are larger than others, as in trained models, so that factors of blocks differ.
                spread = torch.exp(0.4 * torch.randn(weight.shape[0], 1, generator=generator))
                weight.copy_(values * spread / (1 if "embed" in name else weight.shape[1] ** 0.5))
    return model.to(torch.bfloat16)


def convert(source, checkpoint, out):
    import conversion

    def without_vocabulary(self):
        self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

    for each in conversion.get_model_class("LlamaForCausalLM").__mro__:
        if "set_vocab" in vars(each):
            each.set_vocab = without_vocabulary
    sys.argv = ["convert_hf_to_gguf.py", checkpoint, "--outfile", str(out), "--outtype", "bf16"]
    sys.argv += ["--model-name", "quantised"]
    runpy.run_path(str(source / "convert_hf_to_gguf.py"), run_name="__main__")


def weights_of(path):
    """By the names of transformers, in float32; rows of queries and keys in its order."""
    from gguf import GGUFReader, quants

    state = {}
    for tensor in GGUFReader(path).tensors:
        stem = tensor.name.removesuffix(".weight")
        name = OUTSIDE.get(stem) or "model.layers.0." + OF_LAYER[stem.removeprefix("blk.0.")]
        shape = [int(n) for n in reversed(tensor.shape.tolist())]
        values = torch.from_numpy(quants.dequantize(tensor.data, tensor.tensor_type).copy()).float().reshape(shape)
        if "attn_q" in stem or "attn_k" in stem:
            values = values.reshape(-1, CONFIG.head_dim // 2, 2, shape[1]).swapaxes(1, 2).reshape(shape)
        state[name + ".weight"] = values
    return state


def main():
    source, quantize = pathlib.Path(sys.argv[1]), sys.argv[2]
    sys.path[:0] = [str(source), str(source / "gguf-py")]
    folder = pathlib.Path(__file__).parent / "quantised"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    ids = torch.tensor([[(7 * i + 3) % CONFIG.vocab_size for i in range(24)]])
    golden = {}
    with tempfile.TemporaryDirectory() as checkpoint:
        random_model().save_pretrained(checkpoint)
        whole = pathlib.Path(checkpoint) / "whole.gguf"
        convert(source, checkpoint, whole)
        for kind in TYPES:
            path = folder / f"{kind}.gguf"
            subprocess.run([quantize, str(whole), str(path), kind, "1"], check=True)
            model = LlamaForCausalLM(CONFIG).float().eval()
            missing, surplus = model.load_state_dict(weights_of(path), strict=False)
            assert missing == ["lm_head.weight"] and not surplus
            model.tie_weights()
            with torch.no_grad():
                golden[kind] = model(ids, use_cache=False).logits[0].contiguous()
    save_file(golden, folder / "golden.safetensors")


if __name__ == "__main__":
    main()
