// SPDX-License-Identifier: GPL-3.0-or-later
// A client's request as a query with a plan. Open this file to change how requests become queries.
//
// Writes answers as JSON: chat completions and completions of OpenAI's API, whole and in pieces. Open this
// file to add a field of an answer.
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/call_bodies.h"
#include "engine/remote/server/engine.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// How the answer to a call is written.
enum class AnswerForm : std::uint8_t { Chat, Completion };

struct PlannedCall {
  std::string model;  ///< the client's name for the model
  query::Node query;
  std::shared_ptr<const plan::Plan> plan;
  run::RunOptions options;
  std::size_t choicesPerPrompt = 1;
  std::vector<std::string> stops;
  std::int32_t minTokens = 0;          ///< a stop text does not end a shorter answer
  AnswerForm form = AnswerForm::Chat;  ///< form of an answer in one piece
  bool logprobs = false;
  bool stream = false;
  bool includesUsage = false;
};

/// The rules for planning calls.
struct CallRules {
  run::RunOptions options{};  ///< options of every run
  plan::PlanOptions plan{};
  std::int32_t mostTokens = 0;   ///< max tokens of one answer; 0: the model's limit
  std::int32_t usualTokens = 0;  ///< max tokens of one answer without a limit in `options` and in the request
};

/// Each function throws ApiFailure. Calls without a seed use `randomSeed`.
PlannedCall planChat(const ChatCall& call, const CallRules& rules, std::uint64_t randomSeed);
PlannedCall planCompletion(const CompletionCall& call, const CallRules& rules, const ServedModel& model,
                           std::uint64_t randomSeed);
/// Plans the body of SPNL's endpoint. The body is JSON of a repeat or map (or generate) node. The prompt of
/// this node has messages and joins. Errors name the place in the body.
PlannedCall planQuery(std::string_view body, const CallRules& rules, std::uint64_t randomSeed);

/// Returns a template that writes the usual beginning of the model's prompts, then a text unchanged. The
/// template has the lifetime of the program.
const text::ChatTemplate& rawTemplate(const text::ChatTemplate& ofModel);

/// Returns a conversation as a query.
query::Node chatQuery(const std::vector<query::Message>& messages, const query::GenerateSettings& settings);

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
  /// The tokenizer must outlive this object.
  WholeReply(ReplyHead head, std::size_t choices, bool logprobs, const text::Tokenizer& tokenizer);

  void take(const AnswerPiece& piece);
  std::string json(const AnswerUsage& usage) const;

 private:
  struct Choice {
    std::string text;
    std::vector<AnswerPiece> tokens;  ///< tokens with texts; only for logprobs
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
  /// The tokenizer must outlive this object.
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
  std::vector<std::size_t> m_offsets;  ///< bytes of text so far, by choice
};

/// Returns an event of a stream.
std::string eventOf(const std::string& json);
inline constexpr char kDone[] = "data: [DONE]\n\n";

}  // namespace spanscope::server
