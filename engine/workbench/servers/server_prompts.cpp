// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_prompts.h"

#include "engine/export/export_target.h"
#include "engine/layout/layout.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/plan_options.h"

#include <algorithm>
#include <limits>

namespace spanscope::workbench {
namespace {

constexpr std::size_t kMostWritten = std::size_t{1} << 24U;  // tokens whose texts are remembered

/// Servers without span support get an inner prompt once, and its answer as a message.
plan::Plan chatPlan(const query::Node& query, const RunSettings& settings) {
  plan::PlanOptions options = document::planOptionsOf(settings);
  options.distribute = false;
  options.outputForm = plan::OutputForm::Recomputed;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) throw Failure(planned.problems.front());
  return std::move(*planned.plan);
}

std::int32_t mostOf(const plan::Step& step, const RunSettings& settings) {
  return step.maxTokens.value_or(0) > 0 ? *step.maxTokens : settings.maxTokens;
}

/// Returns ids for tokens that are not sampled yet. All ids are different.
std::vector<TokenId> unknownTokens(const plan::Step& step, const RunSettings& settings, TokenId& last) {
  std::vector<TokenId> unknown;
  for (std::int32_t i = 0; i < std::max(1, mostOf(step, settings)); ++i) unknown.push_back(--last);
  return unknown;
}

}  // namespace

std::vector<TokenId> expectedAnswer(std::optional<std::int32_t> maxTokens, std::size_t step) {
  // The choice of a slot depends on whether an answer has one word or a few sentences. The exact length has
  // little effect.
  constexpr std::int32_t kExpected = 40;
  const std::int32_t count = maxTokens.value_or(0) > 0 ? std::min(*maxTokens, kExpected) : kExpected;
  // Prompts use the ids −1, −2, … for their own unknown tokens.
  constexpr TokenId kFirst = std::numeric_limits<TokenId>::min();
  constexpr std::size_t kMostSteps = std::size_t{1} << 24U;
  std::vector<TokenId> tokens;
  for (std::int32_t i = 0; i < count; ++i)
    tokens.push_back(kFirst + static_cast<TokenId>(step % kMostSteps) * kExpected + i);
  return tokens;
}

std::vector<SentPrompt> sentOrder(const std::vector<ServerPrompt>& prompts, std::size_t atOnce) {
  std::vector<SentPrompt> order;
  for (std::size_t index = 0; index < prompts.size(); ++index) order.push_back({.index = index});
  if (atOnce <= 1) return order;
  std::stable_sort(order.begin(), order.end(), [&prompts](const SentPrompt& a, const SentPrompt& b) {
    return prompts[a.index].ply < prompts[b.index].ply;
  });
  std::size_t together = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool isSamePly = prompts[order[i].index].ply == prompts[order[i - 1].index].ply;
    together = isSamePly && together + 1 < atOnce ? together + 1 : 0;
    order[i].isBeside = together > 0;
  }
  return order;
}

const std::vector<TokenId>& ServerPrompt::tokens() const {
  return table.segments.front().tokens;
}

std::string chatRefusal(const query::Node& query) {
  const exports::ExportTarget& target = *exports::findExportTarget("chat");
  for (const exports::TargetRemark& remark : exports::exportRemarks(query, target, {.isSentHere = true})) {
    if (remark.effect == exports::Effect::Refused) return remark.text;
  }
  return {};
}

PromptWriter::PromptWriter(std::shared_ptr<const text::Tokenizer> tokenizer, const text::ChatTemplate& chat)
    : m_tokenizer(std::move(tokenizer)), m_chat(chat) {}

std::vector<ServerPrompt> PromptWriter::write(const query::Node& query, const RunSettings& settings,
                                              const std::stop_token& stop) {
  return write(query, settings, nullptr, stop);
}

std::vector<ServerPrompt> PromptWriter::write(const SentQuery& sent, const std::stop_token& stop) {
  const query::ParseResult parsed = query::parseJson(sent.queryJson);
  if (!parsed.query) throw Failure(errorAt("query", "an unreadable query", "the query of a run"));
  return write(*parsed.query, sent.settings, &sent, stop);
}

std::vector<ServerPrompt> PromptWriter::write(const query::Node& query, const RunSettings& settings,
                                              const SentQuery* sent, const std::stop_token& stop) {
  if (m_renderer == nullptr || m_written > kMostWritten) {
    m_renderer = std::make_unique<layout::MessageRenderer>(*m_tokenizer, m_chat);
    m_written = 0;
  }
  m_renderer->useLimits({.stop = stop});
  const plan::Plan plan = chatPlan(query, settings);
  std::vector<ServerPrompt> prompts;
  std::vector<layout::StepOutput> outputs(plan.steps.size());
  std::vector<bool> isAnswered(plan.steps.size());
  TokenId unknown = 0;
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    ServerPrompt prompt{.name = {step.node, step.copy}, .table = {}, .ply = step.ply};
    std::optional<SentAnswer> answer;
    if (sent != nullptr) {
      const auto found = sent->answers.find(prompt.name);
      if (found == sent->answers.end()) continue;
      answer = found->second;
    }
    if (!std::all_of(step.needs.begin(), step.needs.end(), [&](StepIndex need) { return isAnswered[need]; }))
      continue;
    isAnswered[i] = true;
    prompt.table = layout::layOut(step, outputs, *m_renderer, layout::Visibility::Full);
    if (prompt.table.segments.size() != 1 || prompt.tokens().empty()) continue;
    m_written += prompt.tokens().size();
    const std::vector<TokenId>& tokens = prompt.tokens();
    prompt.holdsAnswer = std::any_of(tokens.begin(), tokens.end(), [](TokenId token) { return token < 0; });
    outputs[i].table = prompt.table;
    if (answer) {
      prompt.answerTokens = sampledTokens(*answer, *m_tokenizer, m_chat);
      prompt.answer = std::move(*answer);
      outputs[i].tokens = prompt.answerTokens;
    } else {
      outputs[i].tokens = unknownTokens(step, settings, unknown);
      prompt.answerTokens = expectedAnswer(mostOf(step, settings), i);
      prompt.mostAnswerTokens = mostOf(step, settings);
    }
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

std::string promptModelId(const RunSettings& settings) {
  return settings.model + "\n" + settings.chatTemplate;
}

std::vector<TokenId> sampledTokens(const SentAnswer& answer, const text::Tokenizer& tokenizer,
                                   const text::ChatTemplate& chat) {
  std::vector<TokenId> tokens = tokenizer.encode(answer.text);
  if (!answer.endedItself) return tokens;
  const std::vector<TokenId> suffix = text::renderPieces(chat.answerSuffix, tokenizer);
  if (!suffix.empty()) tokens.push_back(suffix.front());
  return tokens;
}

}  // namespace spanscope::workbench
