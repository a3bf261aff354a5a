#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in spanlet.json what transformers answers with the bundled checkpoint, greedily.

    python3 make_spanlet.py ../../../../resources/models/spanlet        (transformers 5.23.0, sentencepiece 0.2.3)

Each entry holds a prompt with its segments, its text, and the answers' ids with plain causal attention (full) and with
the mask that independent segments mean (spans).
"""
import json
import pathlib
import sys

import sentencepiece
import torch
from transformers import LlamaForCausalLM

from make_logits import block_mask, logits

DOCUMENTS = [
    "Mira lives in Lisbon. Mira plays the cello. The lamp gave little light.",
    "Tarek is a baker. The pet of Tarek is called Biscuit.",
    "Nadia was born in May. Nadia works at Initech.",
]
QUESTIONS = [
    ([0, 1, 2], "Where does Mira live?"),
    ([2, 0, 1], "Where does Mira live?"),
    ([1, 0, 2], "What is the name of the pet of Tarek?"),
    ([0, 2, 1], "Where does Otto live?"),
]
END = 7


def message(pieces, role, text):
    marker = {"user": "<|user|>", "assistant": "<|assistant|>"}[role]
    return [pieces.piece_to_id(marker)] + pieces.encode(" " + text) + [END]


def answer(model, ids, segments):
    """The ids that follow, the end token included; what is generated belongs to the last segment."""
    given = list(ids)
    for _ in range(32):
        grown = segments[:-1] + [(segments[-1][0], segments[-1][1] + len(given) - len(ids))]
        given.append(int(logits(model, given, block_mask(grown))[-1].argmax()))
        if given[-1] == END:
            break
    return given[len(ids) :]


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    pieces = sentencepiece.SentencePieceProcessor(str(folder / "tokenizer.model"))
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    entries = []
    for order, question in QUESTIONS:
        parts = [message(pieces, "user", DOCUMENTS[i]) for i in order]
        tail = message(pieces, "user", question) + [pieces.piece_to_id("<|assistant|>")]
        segments = [(True, len(part)) for part in parts] + [(False, len(tail))]
        ids = sum(parts, []) + tail
        entry = {
            "text": question,
            "ids": ids,
            "segments": ",".join(("i" if independent else "d") + str(length) for independent, length in segments),
            "full": answer(model, ids, [(False, len(ids))]),
            "spans": answer(model, ids, segments),
        }
        print(question, "|", pieces.decode(entry["full"]), "|", pieces.decode(entry["spans"]))
        entries.append(entry)
    target = pathlib.Path(__file__).parent / "spanlet.json"
    target.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
