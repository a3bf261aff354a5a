// SPDX-License-Identifier: GPL-3.0-or-later
// The prompts of a query as servers get them that take chat completions: each step is one conversation, in
// the order in which steps are sent, written by the model's chat template.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/query/query.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

/// A step of a query: its node, and the number of the copy.
using StepName = std::pair<NodePath, std::uint32_t>;

/// What a step said.
struct SentReply {
  std::string text;
  bool endedItself = true;  ///< with an end token, and not because it was long enough
  std::string server{};     ///< that gave it, by its name in the person's list; empty: the embedded engine
  std::optional<std::int64_t> promptTokens{};  ///< as the server counted them; none: not said
  bool operator==(const SentReply&) const = default;
};

/// A query that was run, whoever answered it.
struct SentQuery {
  RunId run = 0;          ///< no two have the same
  std::string queryJson;  ///< as it was run
  RunSettings settings;
  std::map<StepName, SentReply> replies;  ///< steps that are not here have no answer
  bool operator==(const SentQuery&) const = default;
};

struct ServerPrompt {
  StepName name;
  layout::SpanTable table;  ///< one segment, with its parts
  bool holdsReply = false;  ///< which has yet to be sampled: negative tokens, as many as it may have
  std::uint32_t ply = 0;    ///< plan::Step::ply
  SentReply reply{};        ///< of a query that was run
  /// Of it, as sampled; of one that is not run yet, negative tokens, as many as one may expect.
  std::vector<TokenId> replyTokens{};
  std::int32_t mostReplyTokens = 0;  ///< of one that is not run yet: its limit; 0: none

  const std::vector<TokenId>& tokens() const;
};

/// Unknown tokens in place of a reply that has yet to be sampled, as many as one may expect of a step. They
/// are negative, all different, and in no prompt. `step`: its number among those that one cache gets.
std::vector<TokenId> expectedReply(std::optional<std::int32_t> maxTokens, std::size_t step);

/// A prompt by its index, in the order in which a server gets them.
struct SentPrompt {
  std::size_t index = 0;
  bool isBeside = false;  ///< twin::Request::isBeside
  bool operator==(const SentPrompt&) const = default;
};
/// The order for a server that gets `atOnce` requests of a run at the same time: one ply after the other,
/// unless that is 1.
std::vector<SentPrompt> sentOrder(const std::vector<ServerPrompt>& prompts, std::size_t atOnce);

/// Why the query cannot be sent as chat completions, in a sentence; empty: it can.
std::string chatRefusal(const query::Node& query);

/// Writes prompts with one tokenizer and one chat template. It keeps the ids of all texts, so that the next
/// query that is almost the same is quickly written. Not thread-safe.
class PromptWriter {
 public:
  /// `chat` lives as long as the program.
  PromptWriter(std::shared_ptr<const text::Tokenizer> tokenizer, const text::ChatTemplate& chat);

  /// Prompts of a query that is not run yet. Throws Failure where it cannot be planned, and where a text
  /// cannot be written.
  std::vector<ServerPrompt> write(const query::Node& query, const RunSettings& settings,
                                  const std::stop_token& stop);
  /// The prompts of a query that was run, with their replies; without steps that have no answer, and what
  /// needs them. Throws as write().
  std::vector<ServerPrompt> write(const SentQuery& sent, const std::stop_token& stop);

 private:
  std::vector<ServerPrompt> write(const query::Node& query, const RunSettings& settings,
                                  const SentQuery* sent, const std::stop_token& stop);

  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::unique_ptr<layout::MessageRenderer> m_renderer;
  std::size_t m_written = 0;  ///< tokens since the renderer was made
};

/// Names the tokenizer and the chat template that a document's prompts are written with.
std::string promptModelId(const RunSettings& settings);

/// The ids of a reply as a server has sampled them: its text, and the end token where it ended itself.
std::vector<TokenId> sampledTokens(const SentReply& reply, const text::Tokenizer& tokenizer,
                                   const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
