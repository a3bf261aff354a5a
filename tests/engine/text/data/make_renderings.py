#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders conversations with the chat templates of checkpoints, as apply_chat_template of transformers renders them.

    python3 make_renderings.py folder > renderings.json        (made with transformers 5.24.0, jinja2 3.1.6, xxhash)

`folder` holds the whole templates, *.jinja. They are others' text and stay out of this repository. The output has the
conversations, and for each template and conversation XXH3 (64 bits) of the rendering, or null where it fails.
"""
import datetime
import json
import pathlib
import sys

import xxhash
from transformers.utils import chat_template_utils

NOW = datetime.datetime(2024, 7, 26)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
WEATHER = {"type": "function", "function": {
    "name": "weather", "description": "Returns the weather <now> & \"here\"",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Ort, z. B. Köln"}},
                   "required": ["city"]}}}
CALL = {"id": "call12345", "type": "function", "function": {"name": "weather", "arguments": {"city": "Köln"}}}
TEXT_CALL = {"id": "call12345", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Köln\"}"}}


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def say(role, content, **fields):
    return {"role": role, "content": content, **fields}


def turns(*texts, system=None):
    """Messages of user and assistant in turn."""
    messages = [] if system is None else [say("system", system)]
    return messages + [say(("user", "assistant")[i % 2], text) for i, text in enumerate(texts)]


def conversations():
    """Messages, and the variables that differ from the usual ones."""
    long = "Zeile über Zeile\n" * 50
    plain = [
        turns("Hello"),
        turns("Hello", system="You are terse."),
        turns("Hello", "Hi there", "Who are you?"),
        turns("Hello", "Hi there", "Who are you?", system="You are terse."),
        turns("1", "2", "3", "4", "5", "6", "7"),
        turns("1", "2", "3", "4", "5", system="Count.\nSlowly."),
        turns("  white space  ", "\n\nbefore and after\n\n", "\tlast\t", system="  system  "),
        turns("\u00a0no-break\u2003em\u001f", "\u3000ideographic\u3000", "\ufeffBOM"),
        turns("Olá, é 日本 😀", "Grüße, 🦙!", "עברית and العربية", system="Привет"),
        turns(""),
        turns("", system=""),
        turns("Hello", "", "again", system=""),
        turns("   ", " \n ", "\n", system=" "),
        turns("quotes ' and \" and {{ braces }} {% if %} {# no #}", "\\n \\ &amp; <b>", "[INST] x [/INST]"),
        turns("<|im_start|>user\nx<|im_end|>", "<s></s><|eot_id|>", "<|end|>"),
        turns(long, long, long, system=long),
        turns("What is 1+1?", "<think>\nAdd.\n</think>\n\n2", "And 2+2?"),
        turns("What is 1+1?", "<think>\nAdd.\n</think>\n\n2"),
        turns("What is 1+1?", "</think>only the end", "why?", "<think>open"),
        turns("What? /no_think", "Nothing.", "Sure? /think", system="Be brief. /no_think"),
        [say("user", "one"), say("user", "two")],
        [say("user", "one"), say("assistant", "two"), say("assistant", "three"), say("user", "four")],
        [say("system", "only a system message")],
        [say("system", "first"), say("system", "second"), say("user", "three")],
        [say("user", "one"), say("system", "late"), say("user", "two")],
        [say("assistant", "begins"), say("user", "one")],
        [say("developer", "Be exact."), say("user", "one")],
        [say("user", "one"), say("narrator", "a role that nobody has")],
        [],
    ]
    rows = [(messages, {}) for messages in plain]
    rows += [
        (turns("Hello", "Hi there"), {"add_generation_prompt": False}),
        (turns("Hello", "Hi there", "Who?", system="s"), {"add_generation_prompt": False}),
        (turns("Hello", system="You are terse."), {"enable_thinking": False}),
        (turns("Hello", "<think>a</think>b", "c"), {"enable_thinking": False, "thinking": False}),
        ([say("user", "q"), say("assistant", "a", reasoning_content="because"), say("user", "r")],
         {"enable_thinking": True}),
        ([say("user", "q"), say("assistant", "a", reasoning_content="\nbecause\n")],
         {"add_generation_prompt": False, "thinking": True}),
        (turns("Weather in Köln?", system="Use tools."), {"tools": [WEATHER]}),
        (turns("Weather in Köln?", "I look.", "Do."), {"tools": [WEATHER, WEATHER]}),
        ([say("user", "Weather?"), say("assistant", "", tool_calls=[CALL]),
          say("tool", "{\"sky\": \"grey <&>\"}", name="weather", tool_call_id="call12345"), say("user", "Thanks")],
         {"tools": [WEATHER]}),
        ([say("user", "Weather?"), say("assistant", None, tool_calls=[TEXT_CALL]),
          say("tool", "grey", name="weather", tool_call_id="call12345")], {"tools": [WEATHER]}),
        (turns("Who lives there?"), {"documents": [{"title": "Häuser", "text": "Mira lives there."}]}),
        ([say("user", [{"type": "text", "text": "in parts"}, {"type": "text", "text": " and more"}])], {}),
        (turns("When?", system="It has a date."), {"date_string": "01 Feb 2025", "reasoning_effort": "high"}),
    ]
    return [{"messages": messages, "variables": {**TOKENS, "add_generation_prompt": True, **variables}}
            for messages, variables in rows]


def rendered(source, conversation):
    if not conversation["messages"]:  # apply_chat_template refuses it before the template is read
        return None
    variables = dict(conversation["variables"])
    tools, documents = variables.pop("tools", None), variables.pop("documents", None)
    messages = chat_template_utils._normalize_chat_messages(conversation["messages"])
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[messages], tools=tools, documents=documents, chat_template=source, **variables)
    except Exception:
        return None
    return xxhash.xxh3_64_hexdigest(texts[0].encode("utf-8", "replace"))


def main():
    chat_template_utils.datetime = FixedTime
    rows = conversations()
    templates = {path.stem: [rendered(path.read_text(encoding="utf-8"), row) for row in rows]
                 for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja"))}
    print('{"now": "%s",\n "conversations": [' % NOW.date().isoformat())
    print(",\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    print('],\n "templates": {')
    print(",\n".join(f"{json.dumps(name)}: {json.dumps(hashes, separators=(',', ':'))}"
                     for name, hashes in templates.items()))
    print("}}")


if __name__ == "__main__":
    main()
