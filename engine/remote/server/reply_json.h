// SPDX-License-Identifier: GPL-3.0-or-later
// Writes answers as JSON: chat completions and completions of OpenAI's API, whole and in pieces. Open this
// file to add a field of an answer.
#pragma once

#include "engine/remote/server/answer.h"
#include "engine/remote/server/planned_call.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::server {

/// The fields that every object of one answer has.
struct ReplyHead {
  std::string id;            ///< "chatcmpl-…", "cmpl-…"
  std::int64_t created = 0;  ///< seconds since 1970
  std::string model;
  std::string fingerprint;
  AnswerForm form = AnswerForm::Chat;
};

/// Collects an answer that is sent in one piece.
class WholeReply {
 public:
  /// The tokenizer must outlive it.
  WholeReply(ReplyHead head, std::size_t choices, bool logprobs, const text::Tokenizer& tokenizer);

  void take(const AnswerPiece& piece);
  std::string json(const AnswerUsage& usage) const;

 private:
  struct Choice {
    std::string text;
    std::vector<AnswerPiece> tokens;  ///< with their texts; only for logprobs
    FinishReason finished = FinishReason::Stop;
  };

  ReplyHead m_head;
  bool m_logprobs;
  const text::Tokenizer& m_tokenizer;
  std::vector<Choice> m_choices;
};

/// Writes the pieces of a stream as server-sent events.
class StreamedReply {
 public:
  /// The tokenizer must outlive it.
  StreamedReply(ReplyHead head, std::size_t choices, bool logprobs, bool includesUsage,
                const text::Tokenizer& tokenizer);

  /// Returns the text before the first piece; may be empty.
  std::string begin();
  /// Returns one or two events, or nothing if the piece has no text yet.
  std::string take(const AnswerPiece& piece);
  /// Returns the last events: the usage, if requested, and "[DONE]".
  std::string end(const AnswerUsage& usage);

 private:
  ReplyHead m_head;
  std::size_t m_choices;
  bool m_logprobs;
  bool m_includesUsage;
  const text::Tokenizer& m_tokenizer;
  std::vector<std::size_t> m_offsets;  ///< by choice, bytes of text so far
};

/// Returns an event of a stream.
std::string eventOf(const std::string& json);
inline constexpr char kDone[] = "data: [DONE]\n\n";

}  // namespace spanscope::server
