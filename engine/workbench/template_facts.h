// SPDX-License-Identifier: GPL-3.0-or-later
// What a person needs to know to choose a chat template for a checkpoint whose own is not known.
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
  const text::ChatTemplate* chat = nullptr;  ///< not null; lives as long as the program
  std::string missingPiece;                  ///< a control piece that the tokenizer lacks; empty: it has all
  bool isSpelled = false;  ///< all of its control pieces stand in the checkpoint's own template
};

struct TemplateFacts {
  std::optional<text::TemplateSource> source;    ///< the checkpoint's own; nothing: it cannot be read
  std::optional<text::FoundChatTemplate> found;  ///< which of the table it is; nothing: none
  std::string problem;                           ///< why nothing was found
  std::unique_ptr<text::Tokenizer> tokenizer;    ///< null: it cannot be read
  std::string tokenizerProblem;                  ///< why
  /// Likeliest first: those that are spelled, of them those with most pieces; last, those that the tokenizer
  /// cannot write.
  std::vector<TemplateCandidate> candidates;
};

/// Reads template and tokenizer of the checkpoint. Faults of both are told in the result.
TemplateFacts templateFacts(const checkpoint::Checkpoint& checkpoint);

/// A short conversation as the template writes it, control pieces spelled out: a system message if the
/// template has a turn for it, two of the user, and a reply between them.
std::string sampleConversation(const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
