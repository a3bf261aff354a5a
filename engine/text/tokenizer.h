// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of all tokenizers, and the function that loads one. Open this file first when you work with
// token ids.
// Makes the tokenizer of a GGUF file. Open this file when the tokenizer of a GGUF file is refused.
// Reads the `tokenizer.json` of Hugging Face checkpoints: one file that describes a tokenizer completely.
// Open this file when a tokenizer.json is refused.
#pragma once

#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf/gguf_file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The conditions for stopping an encoding.
struct EncodeLimits {
  /// Checked regularly: a Failure is thrown within milliseconds of a request.
  std::stop_token stop = {};
  /// Max number of ids that the caller needs.
  std::size_t mostTokens = std::numeric_limits<std::size_t>::max();
};

/// Gets ids during encoding. Returns false to stop.
using TokenSink = std::function<bool(std::span<const TokenId>)>;

/// The white space that a control piece takes from the text beside it.
struct TakenSpace {
  bool before = false;  ///< "lstrip" of tokenizer.json
  bool after = false;   ///< "rstrip" of tokenizer.json
};

/// Converts text to token ids and back. Implementations do not change after loading. Several threads may use
/// one tokenizer.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Returns the ids of a user's text. The result never has a control piece (chat delimiters, end of text,
  /// …), even if the text spells a control piece. The text should be UTF-8. Invalid bytes become U+FFFD
  /// first. Throws Failure for a text that the tokenizer cannot encode. Such a text has a character without
  /// any piece, or its expression takes too many steps.
  ///
  /// A text with more than limits.mostTokens ids is not encoded to its end. The result then has more than
  /// this number of ids, but not all ids.
  std::vector<TokenId> encode(std::string_view text, const EncodeLimits& limits = {}) const;
  /// Returns the number of ids of encode() without keeping the ids.
  std::size_t count(std::string_view text, const EncodeLimits& limits = {}) const;
  /// Passes the ids of encode() in order to `sink`, in batches. Stops if `sink` returns false.
  virtual void encodeTo(std::string_view text, const std::stop_token& stop, const TokenSink& sink) const = 0;

  /// Returns the id of the control piece with exactly this spelling, e.g. "<|user|>", or −1.
  virtual TokenId controlId(std::string_view piece) const = 0;

  /// Returns the bytes of an id. The bytes may be a fragment of a UTF-8 sequence (byte pieces). A control
  /// piece has no bytes.
  virtual std::string bytes(TokenId id) const = 0;

  /// Returns a token for display. Control pieces are spelled out, and bytes look like "<0xE2>".
  virtual std::string display(TokenId id) const = 0;

  virtual bool isControl(TokenId id) const = 0;
  /// Returns the white space that a control piece takes, if its file says so. Files in GGUF do not.
  virtual TakenSpace takenSpace(TokenId /*id*/) const { return {}; }
  virtual std::int32_t vocabularySize() const = 0;

  /// Returns the file from which the tokenizer was read, for errors. Empty if there is none.
  virtual std::string source() const { return {}; }

  /// Returns the joined bytes of all ids, without control pieces. U+FFFD replaces invalid UTF-8.
  std::string decode(const std::vector<TokenId>& ids) const;
};

/// Joins the bytes of streamed tokens into whole characters.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : m_tokenizer(&tokenizer) {}

  /// Returns the text that is complete after this token. Incomplete UTF-8 waits for more tokens.
  std::string push(TokenId id);
  /// Returns the rest, with U+FFFD for characters that stayed incomplete.
  std::string finish();

 private:
  const Tokenizer* m_tokenizer;
  std::string m_pending;
};

/// Loads the tokenizer of a checkpoint. Throws Failure. Reads the first of these files that exists:
/// - `tokenizer.json`, which is sufficient;
/// - `tokenizer.model` (sentencepiece);
/// - the only file *.gguf. If its pre-tokenizer is unknown, the `tokenizer.json` beside it, which must have
/// the
///   same pieces.
///
/// An unsupported feature of this file is an error. No other file is tried, because it could define other
/// ids.
std::unique_ptr<Tokenizer> loadTokenizer(const checkpoint::Checkpoint& checkpoint);

/// Returns the control piece that the tokenizer's own program puts after a text, or −1. A model of vectors
/// needs this piece if it uses the last token. Reads the post-processor of `tokenizer.json`, or the keys of
/// the GGUF file. Throws Failure for a damaged file.
TokenId finalTokenOf(const checkpoint::Checkpoint& checkpoint, const Tokenizer& tokenizer);

/// Makes the tokenizer of a GGUF file. Throws Failure for other kinds, for an unknown pre-tokenizer, and for
/// missing keys. A guess would give wrong ids. Supported kinds of `tokenizer.ggml.model`:
/// - byte-level BPE ("gpt2"), with a known `tokenizer.ggml.pre` (see GgufPreTokenizer);
/// - BPE with U+2581 for a space ("gemma4");
/// - sentencepiece with scores ("llama").
std::unique_ptr<Tokenizer> makeGgufTokenizer(const checkpoint::GgufMetadata& metadata);

/// Max size in bytes of a tokenizer.json.
inline constexpr std::size_t kMaxTokenizerJsonBytes = std::size_t{128} << 20U;

/// Reads a tokenizer with the model type BPE, Unigram or WordPiece. Truncation, padding and post-processor
/// are not read. These entries do not change the ids of a text, because the control pieces come from the chat
/// template. Everything else throws Failure with its name, line, column and JSON pointer. A partly understood
/// tokenizer would give wrong ids. Supported parts:
/// - the normalizers NFC, NFD, NFKC, NFKD, Prepend, Replace, Lowercase, Strip, StripAccents, BertNormalizer,
///   Precompiled and Sequence;
/// - the pre-tokenizers ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation,
///   BertPreTokenizer and Sequence;
/// - the matching decoders.
std::unique_ptr<Tokenizer> makeJsonTokenizer(std::string_view bytes, const std::string& file);

}  // namespace spanscope::text
