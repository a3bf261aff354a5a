// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the facts for choosing a chat template for a checkpoint with an unknown one. Open this file to
// show another fact.
#pragma once

#include "engine/checkpoint/checkpoint.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// A template that could be chosen.
struct TemplateCandidate {
  const text::ChatTemplate* chat = nullptr;  ///< not null; has the lifetime of the program
  std::string missingPiece;                  ///< a control piece that the tokenizer lacks; empty: none
  bool isSpelled = false;  ///< the checkpoint's own template contains all control pieces of `chat`
};

struct TemplateFacts {
  std::optional<text::TemplateSource> source;    ///< the checkpoint's own; nothing: unreadable
  std::optional<text::FoundChatTemplate> found;  ///< its entry in the table, or its program; nothing: none
  std::string problem;                           ///< the reason why nothing was found
  std::unique_ptr<text::Tokenizer> tokenizer;    ///< null: unreadable
  std::string tokenizerProblem;                  ///< the reason
  /// Templates with all pieces come first, and templates with more pieces before others. Templates that the
  /// tokenizer cannot write come last.
  std::vector<TemplateCandidate> candidates;
};

/// Reads template and tokenizer of the checkpoint. The result reports faults of template and tokenizer.
TemplateFacts templateFacts(const checkpoint::Checkpoint& checkpoint);

/// Returns a short conversation as the template writes it, with control pieces spelled out. The conversation
/// has a system message if the template has a turn for system messages. Two turns of the user follow, with an
/// answer between these turns. Throws Failure if Jinja refuses this conversation.
std::string sampleConversation(const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
