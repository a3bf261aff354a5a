#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a GGUF file of each random checkpoint that make_families.py has made, with llama.cpp's own converter.

    python3 make_gguf.py LLAMA_CPP [NAME …]        (made with llama.cpp 0c1e57098, in llama-cpp-python 0.3.36)

LLAMA_CPP is its source folder. The checkpoints have no tokenizer, so the vocabulary is left out. Weights are stored as
the checkpoint has them. Each file is NAME/model.gguf.
"""
import json
import pathlib
import runpy
import shutil
import sys
import tempfile


def main():
    source = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).parent
    sys.path[:0] = [str(source), str(source / "gguf-py")]
    import conversion
    from conversion import base

    def without_vocabulary(self):
        self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

    names = sys.argv[2:] or [entry["name"] for entry in json.loads((here / "families.json").read_text())]
    for name in names:
        folder = here / name
        config = json.loads((folder / "config.json").read_text())
        kind = conversion.get_model_class(config["architectures"][0])
        # Mistral's has its converters within.
        kinds = [kind] + [inner for inner in vars(kind).values() if isinstance(inner, type)]
        for each in (ancestor for one in kinds for ancestor in one.__mro__):
            if "set_vocab" in vars(each):
                each.set_vocab = without_vocabulary
        out = "bf16" if config["dtype"] == "bfloat16" else "f32"
        with tempfile.TemporaryDirectory() as copy:
            for file in ("config.json", "model.safetensors"):
                shutil.copy(folder / file, copy)
            # Some converters count the tokens.
            vocabulary = {str(i): i for i in range(config["vocab_size"])}
            tokenizer = {"model": {"vocab": vocabulary}, "added_tokens": []}
            (pathlib.Path(copy) / "tokenizer.json").write_text(json.dumps(tokenizer))
            sys.argv = ["convert_hf_to_gguf.py", copy, "--outfile", str(folder / "model.gguf"), "--outtype", out]
            sys.argv += ["--model-name", name]
            runpy.run_path(str(source / "convert_hf_to_gguf.py"), run_name="__main__")


if __name__ == "__main__":
    main()
