#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the words of texts under every pre-tokenizer that llama.cpp knows for GGUF files.

    python3 make_gguf_splits.py LLAMA_CPP/src/llama-vocab.cpp [texts [seed]] > gguf_splits.json

(made with tokenizers 0.23.3 and the llama.cpp of llama-cpp-python 0.3.36, 24 texts)

Names and expressions are read from llama.cpp's source. Where a comment gives the original expression of the models'
tokenizer.json, that expression counts: llama.cpp adapts some of them to its own engine. Hugging Face's tokenizers split
the texts, each expression splitting the words of the one before. The result has the texts, and for each name the
lengths in bytes of the words of each text. With more texts the same program makes the input of a long comparison:
SPANSCOPE_SPLIT_CASES=file engine_text tst_gguf_pre_tokenizer.
"""
import json
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_tokenizers import any_text  # noqa: E402
from tokenizers import Regex, pre_tokenizers  # noqa: E402

# llama.cpp has code in place of these expressions, or names them only in the models' own files.
CASED = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
KIMI = "|".join([r"[\p{Han}]+", r"[^\r\n\p{L}\p{N}]?" + CASED + "*" + SMALL + "+" + SUFFIX,
                 r"[^\r\n\p{L}\p{N}]?" + CASED + "+" + SMALL + "*" + SUFFIX, r"\p{N}{1,3}",
                 r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
BY_HAND = {r"\p{Han}+": KIMI, r"\p{AFMoE_digits}": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"}
# llama.cpp's expression of GPT-2 lacks its last part, which its code has.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
# This name belongs to another kind of vocabulary, which loses white space.
LEFT_OUT = {"whitespace"}

MORE = ["HelloWorld", "ÀÉÎôü", "ÉcoleÀParis", "СловоНовое", "O'Neill's", "YOU'RE", "l'été", "12345678", "1234567abc",
        "½123", "x١٢٣٤٥", "3.14159", "²³", "漢字1234", "ひらがな漢字ABC", "한국어abc", "हिन्दीमें", "ไทย123", "a/b//c\n/",
        "!!\n\n/x", "#include <x>\n", "<sentinel:12>", "IMGIMGABAZ", "a`b^c~d|e$f+g=h", "¿Qué?", "—dash—", "…", "，。、",
        "one two  three   four", " \n \t\n", "     " * 9, "\u3000\u3000x", "ﬁne", "ǅungla", "ʰaʷ", "\u0301\u0301",
        "a\u0301b\u0323C", "I'm we'll he'D", "'ve 'S", "x^2+y_1", "\u00b5m \u00aa\u00ba", "ː", "𐐀𐐨", "ＡＢｃ", "Ⅷ"]


def unescape(text):
    """The expression of a literal. llama.cpp spells out both cases of contractions."""
    text = text.encode().decode("unicode_escape").encode("latin1").decode()
    return text.replace("(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])", "(?i:'s|'t|'re|'ve|'m|'ll|'d)")


def expressions_by_type(source):
    body = source[source.index("struct llm_tokenizer_bpe : llm_tokenizer"):]
    body = body[:body.index("struct llm_tokenizer_bpe_session")]
    found, types = {}, []
    pattern = r"case LLAMA_VOCAB_PRE_TYPE_(\w+):|(default):|((?:\s*//[^\n]*\n)*)\s*regex_exprs = \{(.*?)\};"
    for case, default, before, exprs in re.findall(pattern, body, re.S):
        if case or default:
            types.append(case or "DEFAULT")
            continue
        result, original = [], None
        for line in (before + exprs).split("\n"):
            literals = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
            if line.strip().startswith("//"):
                # "FIXME" lines and names are no expressions; an expression has an escape.
                if literals and "\\" in literals[-1] and not re.search("same|Note|FIXME", line):
                    original = unescape(literals[-1])
            elif literals:
                result.append(original or BY_HAND.get(unescape(literals[0]), unescape(literals[0])))
                original = None
        result = [e + r"|\s+" if e == GPT2 else e for e in result]
        found.update((kind, result) for kind in types)
        types = []
    # An adaptation of the same original expression. Only that of GPT-4o has the original in a comment.
    found["GRANITE_EMB_MULTI"] = found["GPT4O"]
    return found


def names_by_type(source):
    body = source[source.index("// for now, only BPE models have pre-tokenizers"):]
    body = body[:body.index("type == LLAMA_VOCAB_TYPE_SPM")]
    names, waiting = {}, []
    for name, kind in re.findall(r'tokenizer_pre == "([^"]+)"|pre_type = LLAMA_VOCAB_PRE_TYPE_(\w+);', body):
        if name:
            waiting.append(name)
        else:
            names.update((each, kind) for each in waiting)
            waiting = []
    return {name: kind for name, kind in names.items() if name not in LEFT_OUT}


def lengths(expressions, text):
    splitter = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in expressions])
    return [len(word.encode()) for word, _ in splitter.pre_tokenize_str(text)]


def main():
    source = pathlib.Path(sys.argv[1]).read_text()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "splits")
    texts = ["".join(rng.choice(("", any_text(rng), rng.choice(MORE), rng.choice(MORE))) for _ in range(5))
             for _ in range(count)]
    kinds, names = expressions_by_type(source), names_by_type(source)
    words = {kind: [lengths(kinds[kind], text) for text in texts] for kind in sorted(set(names.values()))}
    json.dump({"texts": texts, "types": names, "words": words}, sys.stdout, ensure_ascii=False,
              separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
