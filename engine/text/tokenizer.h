// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"

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

/// When to stop encoding a text.
struct EncodeLimits {
  /// Checked all the time: Failure is thrown within milliseconds of a request.
  std::stop_token stop = {};
  /// How many ids the caller needs at most.
  std::size_t mostTokens = std::numeric_limits<std::size_t>::max();
};

/// Gets ids as they are made. Returns false if it wants no more.
using TokenSink = std::function<bool(std::span<const TokenId>)>;

/// Converts text to token ids and back. Implementations do not change after loading and may be used by
/// several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids of a user's text. Never yields a control piece (chat markers, end of text, …), whatever the text
  /// spells. The text should be UTF-8; invalid parts are replaced by U+FFFD first. Throws Failure for a text
  /// that the tokenizer cannot encode: a character without any piece, or an expression that takes too many
  /// steps.
  ///
  /// If the text has more than limits.mostTokens ids, it returns more than so many ids, but not all: a text
  /// that cannot fit is not encoded to its end.
  std::vector<TokenId> encode(std::string_view text, const EncodeLimits& limits = {}) const;
  /// The number of ids that encode() would return; does not keep them.
  std::size_t count(std::string_view text, const EncodeLimits& limits = {}) const;
  /// Like encode(), in portions: passes the ids in order to `sink`, until there are no more or `sink` returns
  /// false.
  virtual void encodeTo(std::string_view text, const std::stop_token& stop, const TokenSink& sink) const = 0;

  /// Id of the control piece with exactly this spelling, e.g. "<|user|>"; −1 if there is none.
  virtual TokenId controlId(std::string_view piece) const = 0;

  /// The bytes that an id stands for. They may be part of a UTF-8 sequence (byte pieces). They are empty for
  /// a control piece.
  virtual std::string bytes(TokenId id) const = 0;

  /// A token as a person sees it: control pieces are spelled out, bytes look like "<0xE2>".
  virtual std::string display(TokenId id) const = 0;

  virtual bool isControl(TokenId id) const = 0;
  virtual std::int32_t vocabularySize() const = 0;

  /// The file from which the tokenizer was read, for errors; empty if there is none.
  virtual std::string source() const { return {}; }

  /// The joined bytes of all ids, without control pieces; invalid UTF-8 is replaced by U+FFFD.
  std::string decode(const std::vector<TokenId>& ids) const;
};

/// Joins the bytes of streamed tokens into whole characters.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : m_tokenizer(&tokenizer) {}

  /// The text that is complete after this token; incomplete UTF-8 is held back.
  std::string push(TokenId id);
  /// The rest that was held back, with U+FFFD for characters that stayed incomplete.
  std::string finish();

 private:
  const Tokenizer* m_tokenizer;
  std::string m_pending;
};

/// Loads the tokenizer of a checkpoint: from `tokenizer.json`, which is sufficient, if it exists; else
/// from `tokenizer.model` (sentencepiece); else from the only file *.gguf. If the chosen file needs something
/// that is not supported, this is an error: no other file is tried, because it could say something else.
/// Throws Failure.
std::unique_ptr<Tokenizer> loadTokenizer(const checkpoint::Checkpoint& checkpoint);

}  // namespace spanscope::text
