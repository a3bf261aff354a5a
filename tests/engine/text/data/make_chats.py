#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders conversations with the chat templates of checkpoints, as Jinja renders them for Hugging Face.

    python3 make_chats.py folder > chats.jsonl        (made with jinja2 3.1.6, xxhash)

`folder` holds one NAME.jinja for each entry of the table, or NAME.b.jinja, NAME.c.jinja … for other forms; whole, or
in older rows, of templates that also write tools, the part that writes plain turns. They are others' text and stay out of this repository; what they
give is a fact. A NAME with "no-think" is rendered without thinking. A conversation that a template refuses is left out. "fingerprint" is that of the template.
"""
import datetime
import json
import pathlib
import random
import re
import sys

import xxhash
from jinja2.sandbox import ImmutableSandboxedEnvironment

TOKENS = {"llama-3": ("<|begin_of_text|>", "<|eot_id|>"), "gemma": ("<bos>", "<eos>"),
          "tulu-3": ("<|begin_of_text|>", "<|end_of_text|>"), "olmo-2": ("<|endoftext|>", "<|endoftext|>")}
TEXTS = ["You are a helpful assistant", "Hello", "Hi there", "Who are you?", "   I am an assistant   ", "Two\nlines\n",
         "\n\n", "", "Olá, é 日本 😀", "\u00a0 spaces\u2003\u001f\t", "quotes ' and \" and {{ braces }}"]
ROLES = [["user"], ["system", "user"], ["user", "assistant", "user"], ["system", "user", "assistant", "user"],
         ["system", "user", "assistant", "user", "assistant", "user"], ["user", "user"], ["system", "system", "user"],
         ["user", "system", "user"], ["user", "assistant", "user", "assistant", "user"]]


class Refused(Exception):
    pass


def refuse(reason):
    raise Refused(reason)


def fingerprint(source):
    """Of the text with line ends written as they are and no white space around it."""
    canonical = source.replace("\\n", "\n").strip(" \t\r\n")
    return f"{xxhash.xxh3_64_intdigest(canonical.encode()):016x}"


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = datetime.date(2024, 7, 26).strftime
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")):
        name = re.sub(r"\.[b-z]$", "", path.stem)
        family = next((f for f in TOKENS if name.startswith(f)), None)
        bos, eos = TOKENS.get(family, ("<s>", "</s>"))
        source = path.read_text(encoding="utf-8")
        rng = random.Random(name)
        conversations = [[{"role": role, "content": rng.choice(TEXTS)} for role in roles] for roles in ROLES * 2]
        conversations.append([{"role": "system", "content": ""}, {"role": "user", "content": "Hello"}])
        for messages in conversations:
            try:
                text = environment.from_string(source).render(messages=messages, add_generation_prompt=True,
                                                              bos_token=bos, eos_token=eos,
                                                              enable_thinking="no-think" not in name)
            except Refused:
                continue
            row = {"name": name, "fingerprint": fingerprint(source),
                   "messages": [[m["role"], m["content"]] for m in messages], "text": text}
            print(json.dumps(row))


if __name__ == "__main__":
    main()
