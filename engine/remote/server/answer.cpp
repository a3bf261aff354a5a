// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/answer.h"

#include "engine/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <variant>

namespace spanscope::server {

std::string StopTexts::push(std::string_view text) {
  if (m_hasStopped) return {};
  m_held += text;
  std::size_t first = std::string::npos;
  for (const std::string& stop : m_texts) first = std::min(first, m_held.find(stop));
  if (first != std::string::npos) {
    m_hasStopped = true;
    m_held.resize(first);
    return std::exchange(m_held, {});
  }
  std::size_t kept = 0;
  for (const std::string& stop : m_texts) {
    for (std::size_t length = std::min(stop.size() - 1, m_held.size()); length > kept; --length) {
      if (!std::string_view(m_held).ends_with(std::string_view(stop).substr(0, length))) continue;
      kept = length;
    }
  }
  std::string sure = m_held.substr(0, m_held.size() - kept);
  m_held.erase(0, sure.size());
  return sure;
}

std::string StopTexts::finish() {
  return m_hasStopped ? std::string() : std::exchange(m_held, {});
}

const char* nameOf(FinishReason reason) {
  return reason == FinishReason::Stop ? "stop" : "length";
}

Answer::Answer(const plan::Plan& plan, const std::vector<std::string>& stops, std::size_t choicesPerPrompt,
               std::int32_t minTokens)
    : m_choicesPerPrompt(choicesPerPrompt), m_minTokens(minTokens) {
  for (const plan::ResultItem& item : plan.result) {
    const auto* step = std::get_if<StepIndex>(&item.value);
    if (step == nullptr) continue;
    m_choiceOfStep.emplace(*step, m_choices.size());
    m_choices.emplace_back(stops);
  }
}

void Answer::onEvent(const trace::Event& event) {
  const std::lock_guard lock(m_mutex);
  if (const auto* started = std::get_if<trace::StepStarted>(&event.payload)) {
    const auto choice = m_choiceOfStep.find(started->step);
    if (choice != m_choiceOfStep.end()) m_choiceOfRequest[event.request] = choice->second;
    return;
  }
  const auto found = m_choiceOfRequest.find(event.request);
  if (found == m_choiceOfRequest.end()) return;
  Choice& choice = m_choices[found->second];
  if (const auto* reported = std::get_if<trace::TokenAlternatives>(&event.payload)) {
    choice.alternatives = reported->tokens;
  } else if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload)) {
    take(choice, found->second, *token);
  } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
    if (admitted->resumed) return;
    choice.promptTokens = admitted->promptTokens;
    choice.cachedTokens = admitted->cachedTokens;
  } else if (const auto* step = std::get_if<trace::StepFinished>(&event.payload)) {
    take(choice, found->second, *step);
  }
}

void Answer::take(Choice& choice, std::size_t index, const trace::TokenGenerated& token) {
  if (choice.isFinished) return;
  ++choice.tokens;
  choice.bytes += token.text.size();
  AnswerPiece piece{.choice = index,
                    .text = choice.tokens <= m_minTokens ? token.text : choice.stopTexts.push(token.text),
                    .token = DrawnToken{.id = token.token,
                                        .probability = token.probability,
                                        .alternatives = std::exchange(choice.alternatives, {})}};
  if (choice.stopTexts.hasStopped()) {
    piece.finished = FinishReason::Stop;
    finish(choice);
  }
  m_pieces.push_back(std::move(piece));
  m_changed.notify_all();
}

void Answer::take(Choice& choice, std::size_t index, const trace::StepFinished& step) {
  if (choice.isFinished || step.outcome == trace::StepOutcome::Failed) return;
  // The kept bytes of the last character have no token.
  std::string rest;
  if (step.text.size() > choice.bytes) rest = choice.stopTexts.push(step.text.substr(choice.bytes));
  rest += choice.stopTexts.finish();
  if (step.outcome == trace::StepOutcome::Stopped && !choice.stopTexts.hasStopped()) {
    if (!rest.empty()) m_pieces.push_back({.choice = index, .text = std::move(rest)});
    return;
  }
  const bool isLimit = trace::endedByLimit(step.outcome) && !choice.stopTexts.hasStopped();
  m_pieces.push_back({.choice = index,
                      .text = std::move(rest),
                      .finished = isLimit ? FinishReason::Length : FinishReason::Stop});
  finish(choice);
  m_changed.notify_all();
}

void Answer::finish(Choice& choice) {
  choice.isFinished = true;
  ++m_finished;
}

void Answer::onEnd(const RunEnd& end) {
  const std::lock_guard lock(m_mutex);
  m_end = end;
  m_changed.notify_all();
}

Answer::News Answer::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(m_mutex);
  const auto isComplete = [this] { return m_finished == m_choices.size(); };
  m_changed.wait_for(lock, most, [&] { return !m_pieces.empty() || m_end || isComplete(); });
  return {.pieces = std::exchange(m_pieces, {}), .isComplete = isComplete(), .end = m_end};
}

AnswerUsage Answer::usage() const {
  const std::lock_guard lock(m_mutex);
  AnswerUsage usage;
  for (std::size_t i = 0; i < m_choices.size(); ++i) {
    usage.completionTokens += m_choices[i].tokens;
    if (i % m_choicesPerPrompt != 0) continue;
    usage.promptTokens += m_choices[i].promptTokens;
    usage.cachedTokens += m_choices[i].cachedTokens;
  }
  return usage;
}

std::string errorJson(const ApiError& error) {
  using Json = nlohmann::ordered_json;
  const auto orNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const Json json = {{"error",
                      {{"message", error.message},
                       {"type", error.type},
                       {"param", orNull(error.param)},
                       {"code", orNull(error.code)}}}};
  return compactJson(json);
}

ApiError outOfMemory() {
  return {
      .status = 503,
      .message =
          "There is not enough memory for this request. Send a smaller request, or fewer at the same time.",
      .type = "overloaded_error",
      .code = "out_of_memory"};
}

ApiError bodyTooLarge(std::size_t most) {
  return {.status = 413,
          .message = "The body may have at most " + std::to_string(most) + " bytes.",
          .code = "body_too_large"};
}

ApiError serverIsEnding() {
  return {.status = 503,
          .message = "This server is shutting down and accepts no new requests.",
          .type = "overloaded_error",
          .code = "server_is_ending"};
}

void refuseField(std::string param, std::string message, std::string code) {
  throw ApiFailure({.message = std::move(message), .param = std::move(param), .code = std::move(code)});
}

}  // namespace spanscope::server
