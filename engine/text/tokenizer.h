// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// When to let go of a text that is being encoded.
struct EncodeLimits {
  /// Asked all the time: within milliseconds of a request, Failure is thrown.
  std::stop_token stop = {};
  /// How many ids are of interest.
  std::size_t mostTokens = std::numeric_limits<std::size_t>::max();
};

/// Takes ids as they are made. False: no more are wanted.
using TokenSink = std::function<bool(std::span<const TokenId>)>;

/// Text to token ids and back. Implementations are immutable after loading and safe to use from several
/// threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids of a user's text. Never yields a control piece (chat markers, end of text, …), whatever the text
  /// spells. Text must be UTF-8; what is not is replaced by U+FFFD first. Throws Failure for a text that the
  /// tokenizer cannot encode: a character without any piece, an expression that takes too many steps.
  ///
  /// Of a text with more than limits.mostTokens ids it returns more than so many, and not all: what cannot
  /// fit anyhow is not encoded to its end.
  std::vector<TokenId> encode(std::string_view text, const EncodeLimits& limits = {}) const;
  /// How many ids encode() would return, without keeping them.
  std::size_t count(std::string_view text, const EncodeLimits& limits = {}) const;
  /// As encode(), piece by piece: the ids in order, until all were given or `sink` wants no more.
  virtual void encodeTo(std::string_view text, const std::stop_token& stop, const TokenSink& sink) const = 0;

  /// Id of the control piece that is spelled exactly so, e.g. "<|user|>"; −1 if there is none.
  virtual TokenId controlId(std::string_view piece) const = 0;

  /// The bytes that an id stands for: possibly part of a UTF-8 sequence (byte pieces), empty for a control
  /// piece.
  virtual std::string bytes(TokenId id) const = 0;

  /// How a single token is shown to a person: control pieces spelled out, bytes as "<0xE2>".
  virtual std::string display(TokenId id) const = 0;

  virtual bool isControl(TokenId id) const = 0;
  virtual std::int32_t vocabularySize() const = 0;

  /// The file that it was read from, for errors; empty if there is none.
  virtual std::string source() const { return {}; }

  /// Bytes of all ids joined, control pieces left out, invalid UTF-8 replaced by U+FFFD.
  std::string decode(const std::vector<TokenId>& ids) const;
};

/// Joins the bytes of streamed tokens into whole characters.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : m_tokenizer(&tokenizer) {}

  /// Text that is complete after this token; incomplete UTF-8 is held back.
  std::string push(TokenId id);
  /// What is still held back, with U+FFFD for what never became whole.
  std::string finish();

 private:
  const Tokenizer* m_tokenizer;
  std::string m_pending;
};

/// Loads the tokenizer of a model directory: of `tokenizer.json`, which alone says everything, where there is
/// one, else of `tokenizer.model` (sentencepiece), else of the one file *.gguf. What the chosen file asks for
/// and is not supported is an error: another file is not tried, it could say something else. Throws Failure.
std::unique_ptr<Tokenizer> loadTokenizer(const std::filesystem::path& directory);

}  // namespace spanscope::text
