// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/template_facts.h"

#include "engine/base/error.h"
#include "engine/text/conversation.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace spanscope::workbench {
namespace {

struct Ranked {
  TemplateCandidate candidate;
  std::size_t pieces = 0;
};

Ranked rank(const text::ChatTemplate& chat, const TemplateFacts& facts) {
  const std::vector<std::string> pieces = text::controlPieces(chat);
  Ranked ranked{.candidate = {.chat = &chat, .missingPiece = {}, .isSpelled = facts.source.has_value()},
                .pieces = pieces.size()};
  for (const std::string& piece : pieces) {
    const bool isMissing = facts.tokenizer != nullptr && facts.tokenizer->controlId(piece) < 0;
    if (isMissing && ranked.candidate.missingPiece.empty()) ranked.candidate.missingPiece = piece;
    if (facts.source && facts.source->text.find(piece) == std::string::npos)
      ranked.candidate.isSpelled = false;
  }
  return ranked;
}

}  // namespace

TemplateFacts templateFacts(const checkpoint::Checkpoint& checkpoint) {
  TemplateFacts facts;
  try {
    facts.source = text::templateSource(checkpoint);
    facts.found = text::locateChatTemplate(checkpoint);
  } catch (const Failure& failure) {
    facts.problem = failure.error().message();
  }
  try {
    facts.tokenizer = text::loadTokenizer(checkpoint);
  } catch (const Failure& failure) {
    facts.tokenizerProblem = failure.error().message();
  }
  std::vector<Ranked> ranked;
  for (const text::ChatTemplate* chat : text::chatTemplates()) ranked.push_back(rank(*chat, facts));
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    const auto key = [](const Ranked& each) {
      return std::tuple(!each.candidate.missingPiece.empty(), !each.candidate.isSpelled,
                        each.candidate.isSpelled ? -static_cast<std::ptrdiff_t>(each.pieces) : 0);
    };
    return key(a) < key(b);
  });
  for (Ranked& each : ranked) facts.candidates.push_back(std::move(each.candidate));
  return facts;
}

std::string sampleConversation(const text::ChatTemplate& chat) {
  constexpr auto kSystem = static_cast<std::size_t>(query::Role::System);
  std::vector<text::ConversationMessage> messages = {{query::Role::User, "The capital of France?"},
                                                     {query::Role::Assistant, "Paris"},
                                                     {query::Role::User, "And of Peru?"}};
  if (chat.openingSystem.has_value() || chat.turns[kSystem].has_value())
    messages.insert(messages.begin(), {query::Role::System, "Answer in one word."});
  return text::spellConversation(chat, messages) + chat.answerLeading;
}

}  // namespace spanscope::workbench
