#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes small tokenizers of every supported kind and texts with their ids, with Hugging Face tokenizers.

    python3 make_tokenizers.py [folder [texts]]        (made with tokenizers 0.23.3)

Each case is a folder with a tokenizer.json and cases.jsonl, one {"text": …, "ids": […]} a line. Ids are those of the
text alone, with markers taken for text (encode_special_tokens), for that is what a person's text is here. With more
texts the same program makes the input of a long comparison: SPANSCOPE_TOKENIZER_CASES=folder tst_bpe_tokenizer.
"""
import base64
import json
import pathlib
import random
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
CASED = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
POSSESSIVE = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
              r"|\s+(?!\S)|\s+")

WORDS = ["the", "The", "THE", " of", "Mira", " lives", " in", "Lisbon", "tokens", "don't", "I'LL", "we've", "it'S",
         "'\u017f", "'s", "'re", "'d", "123", "4567", "1,000.50", "\u0661\u0662", "\u2167", "\u00bd", "naïve",
         "nai\u0308ve", "Cửa", "C\u01b0\u0309a", "Việt", "\u1e9b\u0323", "\ufb01ne", "\u212b", "\u1100\u1161\u11a8",
         "日本語", "ひらがな", "カタカナ", "한국어", "русский", "Ελληνικά", "ខ្មែរ", "हिन्दी", "עברית", "العربية",
         "😀", "👩\u200d👩\u200d👧", "🇵🇹", "\u20e3", "\u0301", "\u0301\u0323\u0301",
         " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u1680", "\u180e", "\u2003", "\u2028",
         "\u200b", "\u3000", "\u0085", "\u000b", "\u0000", "\ufeff", "\ufffd",
         "!", "...", "?!", "--", "/", "//", "\\", "{\"a\": [1]}", "<b>", "def f(x):", "    return x", "a_b", "#",
         "<|end|>", "<|end", "|>", "<|user|>", "<think>", "</think>", "<tool>", "<wide>", "<word>", "x<word>",
         " <word> ", "<wide>  ", "  <wide>", "  <tool>  ", "<unk>", "<0x41>", "\u2581", "\u2581the", "é", "ÀÉ"]
# Nothing that was assigned lately: libraries come with tables of different ages.
RANGES = [(0x20, 0x7E), (0xA1, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x620, 0x669),
          (0x904, 0x96F), (0xE01, 0xE5B), (0x1780, 0x17E9), (0x1E00, 0x1EFF), (0x2010, 0x2060), (0x2070, 0x209C),
          (0x20A0, 0x20BF), (0x2100, 0x218B), (0x2190, 0x2426), (0x2460, 0x24FF), (0x3041, 0x30FF), (0x3200, 0x32FE),
          (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xF900, 0xFA2D), (0xFB00, 0xFB06), (0xFE30, 0xFE4F), (0xFF01, 0xFFEE),
          (0x10300, 0x10323), (0x1D400, 0x1D7CB), (0x1F600, 0x1F64F), (0x20000, 0x20100)]


def any_character(rng):
    while True:
        character = chr(rng.randint(*rng.choice(RANGES)))
        if unicodedata.category(character) not in ("Cn", "Cs"):
            return character


def any_text(rng):
    parts = []
    for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 13))):
        kind = rng.random()
        if kind < 0.65:
            parts.append(rng.choice(WORDS))
        elif kind < 0.8:
            parts.append("".join(any_character(rng) for _ in range(rng.randint(1, 4))))
        elif kind < 0.9:
            parts.append("".join(chr(rng.randint(0x20, 0x7E)) for _ in range(rng.randint(1, 8))))
        else:
            parts.append(rng.choice(WORDS) * rng.randint(2, 6))
    return "".join(parts)


def train(tokenizer, size, initial=None, special=("<unk>", "<|end|>", "<|user|>")):
    rng = random.Random(size)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=initial or [],
                                  limit_alphabet=400, show_progress=False)
    tokenizer.train_from_iterator((any_text(rng) for _ in range(3000)), trainer)
    return tokenizer


def byte_level(pre, normalizer=None, size=460, **bpe):
    tokenizer = Tokenizer(models.BPE(**bpe))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.ByteLevel()
    return train(tokenizer, size, pre_tokenizers.ByteLevel.alphabet())


def split_then_bytes(*expressions):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in expressions]
                                   + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def with_added(tokenizer):
    tokenizer.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=True),
                          AddedToken("<tool>", normalized=False, lstrip=True, rstrip=True),
                          AddedToken("<wide>", normalized=True, rstrip=True),
                          AddedToken("<word>", normalized=False, single_word=True),
                          AddedToken("nai\u0308ve", normalized=True)])
    return tokenizer


def byte_pieces():
    return [f"<0x{byte:02X}>" for byte in range(256)]


def sentencepiece_like():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return train(tokenizer, 800, None, ["<unk>", "<|end|>"] + byte_pieces())


def metaspace(scheme, fuse):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return train(tokenizer, 500)


def character_map():
    """A small table of a sentencepiece model, in base64."""
    import io
    import tempfile

    import sentencepiece
    rules = {"\uff21": "A", "\uff22": "B", "\u2460": "1", "\ufb01": "fi", "\u2026": "...", "\u3000": " ", "\u00a0": " ",
             "\t": " ", "\u00bd": "1/2", "e\u0301": "\u00e9", "nai\u0308": "na\u00ef", "\ufeff": "", "\u200b": "",
             "\u1e9b\u0323": "\u1e69"}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as table:
        for key, value in rules.items():
            table.write(" ".join(f"{ord(c):X}" for c in key) + "\t" + " ".join(f"{ord(c):X}" for c in value) + "\n")
        table.flush()
        model = io.BytesIO()
        rng = random.Random(7)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([" ".join(w for w in rng.choices(WORDS, k=6) if "\0" not in w) for _ in range(400)]),
            model_writer=model, vocab_size=300, hard_vocab_limit=False, normalization_rule_tsv=table.name,
            minloglevel=2)
    proto = sentencepiece.sentencepiece_model_pb2.ModelProto() if hasattr(sentencepiece, "sentencepiece_model_pb2") else None
    if proto is None:
        from sentencepiece import sentencepiece_model_pb2
        proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def unigram(pre, normalizer, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.Metaspace()
    rng = random.Random(11)
    special = ["<unk>", "<|end|>"] + (byte_pieces() if byte_fallback else [])
    trainer = trainers.UnigramTrainer(vocab_size=700, special_tokens=special, unk_token="<unk>", show_progress=False)
    # Few characters, so that the pieces cover them all. A marker in a text would become a second piece.
    words = [word for word in WORDS if not any(piece in word for piece in special)]
    tokenizer.train_from_iterator(("".join(rng.choices(words, k=8)) for _ in range(1500)), trainer)
    return tokenizer


def with_map_and_bytes(document):
    """Puts the table before the other normalizers, and lets bytes stand for unknown characters."""
    table = {"type": "Precompiled", "precompiled_charsmap": character_map()}
    document["normalizer"] = {"type": "Sequence", "normalizers": [table, document["normalizer"]]}
    document["model"]["byte_fallback"] = True
    byte_pieces_are_no_markers(document)


def word_piece(normalizer, pre):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=12))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.WordPiece()
    rng = random.Random(13)
    trainer = trainers.WordPieceTrainer(vocab_size=700, special_tokens=["[UNK]", "<|end|>"], limit_alphabet=300,
                                        show_progress=False)
    tokenizer.train_from_iterator((any_text(rng) for _ in range(1500)), trainer)
    return tokenizer


def splits():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split("\n", "merged_with_previous"),
                                   pre_tokenizers.Split(Regex(r"[\p{Lu}\u0301]"), "merged_with_next"),
                                   pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True),
                                   pre_tokenizers.Digits(individual_digits=False),
                                   pre_tokenizers.Split("o", "contiguous"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)])
    normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s\s+"), " "),
                                       normalizers.Replace("--", "\u2014")])
    return byte_level(pre, normalizer)


def old_style_merges(document):
    document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]


def without_merges_of_markers(document):
    """Merges by which a text could become a marker: Spanscope never makes them, the library does."""
    markers = {token["content"] for token in document["added_tokens"] if token["special"]}
    merges = document["model"].get("merges")
    if merges is None:
        return
    document["model"]["merges"] = [pair for pair in merges if "".join(pair) not in markers]


def byte_pieces_are_no_markers(document):
    document["added_tokens"] = [t for t in document["added_tokens"] if t["content"] not in byte_pieces()]


def cases():
    yield "gpt2", byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)), old_style_merges
    yield "prefix_space", byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True)), None
    yield "llama3", byte_level(split_then_bytes(LLAMA3), ignore_merges=True), None
    yield "qwen2", with_added(byte_level(split_then_bytes(QWEN2), normalizers.NFC())), None
    yield "starcoder", with_added(byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                             pre_tokenizers.ByteLevel(add_prefix_space=False)]))), None
    yield "cased", byte_level(split_then_bytes(CASED), normalizers.NFKD()), None
    yield "possessive", byte_level(split_then_bytes(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", POSSESSIVE),
                                   normalizers.NFD()), None
    yield "sentencepiece", with_added(sentencepiece_like()), byte_pieces_are_no_markers
    yield "metaspace_first", with_added(metaspace("first", True)), None
    yield "metaspace_always", metaspace("always", False), old_style_merges
    yield "splits", splits(), None
    yield "unigram", with_added(unigram(pre_tokenizers.Metaspace(), normalizers.Sequence(
        [normalizers.Strip(left=False, right=True), normalizers.Lowercase()]))), None
    yield "unigram_map", unigram(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
                                 normalizers.StripAccents(), True), with_map_and_bytes
    yield "wordpiece", with_added(word_piece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())), None
    yield "wordpiece_cased", word_piece(normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False),
                                        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(),
                                                                 pre_tokenizers.Punctuation()])), None


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "tokenizers")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    for name, tokenizer, change in cases():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        document = json.loads(tokenizer.to_str())
        without_merges_of_markers(document)
        if change is not None:
            change(document)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
        tokenizer = Tokenizer.from_str(text)
        tokenizer.encode_special_tokens = True
        rng = random.Random(name)
        with open(folder / "cases.jsonl", "w", encoding="utf-8") as lines:
            for text in ["", "a"] + [any_text(rng) for _ in range(count)]:
                # The library finds markers among the pieces of this model. Spanscope never makes them of a text.
                if document["model"]["type"] == "Unigram" and ("<unk>" in text or "<|end|>" in text):
                    continue
                ids = tokenizer.encode(text, add_special_tokens=False).ids
                lines.write(json.dumps({"text": text, "ids": ids}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
