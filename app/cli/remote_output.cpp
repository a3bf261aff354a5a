// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/remote_output.h"

#include "app/cli/bench_report.h"
#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/metrics/metric_table.h"
#include "engine/remote/protocol.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>

namespace spanscope::cli {

namespace {

/// "/g/input/cross/0 (copy 2 of 4)"
std::string stepName(const std::vector<exports::ChatRequest>& requests, std::size_t request) {
  const NodePath& node = requests[request].node;
  return (node.empty() ? "the root" : node) + remote::copyText(remote::copyOf(requests, request));
}

/// What ended an answer.
std::string endOf(const remote::RemoteStep& step) {
  if (!step.brokenBy.empty()) return step.isStopped ? "a stop" : "an error";
  return step.answer.finish.empty() ? "its end" : step.answer.finish;
}

std::string countText(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "not said";
}

}  // namespace

void AnswerPrinter::stepBegins(std::size_t request) {
  m_answers[request].hasBegun = true;
  if (request == m_turn) writeHead();
}

void AnswerPrinter::changesProtocol(std::size_t /*request*/, std::size_t target, const Error& refusal,
                                    const remote::Protocol& now) {
  showProgress(m_context, "");
  m_context.streams.err << "warning: " << remote::changeText(m_targets[target], refusal, now) << '\n'
                        << std::flush;
}

void AnswerPrinter::promptProgress(std::size_t request, const remote::PromptProgress& progress) {
  if (request != m_turn) return;
  showProgress(m_context, "prompt: " + std::to_string(progress.processed) + " of " +
                              counted(progress.total, "token") + ", " + std::to_string(progress.cached) +
                              " of them cached");
}

void AnswerPrinter::text(std::size_t request, const std::string& piece) {
  m_answers[request].text += piece;
  m_answers[request].hasText = true;
  if (request == m_turn) writeText();
}

void AnswerPrinter::fails(std::size_t /*request*/, const Error& error) {
  showProgress(m_context, "");
  if (m_isInLine && m_context.streams.outIsTerminal) m_context.streams.out << '\n' << std::flush;
  m_isInLine = false;
  m_context.streams.err << error.message() << '\n' << std::flush;
}

void AnswerPrinter::stepEnds(const remote::RemoteStep& step) {
  Answer& answer = m_answers[step.request];
  if (!answer.hasText && !step.answer.text.empty()) text(step.request, step.answer.text);
  answer.hasEnded = true;
  while (m_turn < m_answers.size() && m_answers[m_turn].hasEnded) pass();
}

void AnswerPrinter::end() {
  while (m_turn < m_answers.size()) pass();
}

/// Ends the answer whose turn it is, and begins the next one.
void AnswerPrinter::pass() {
  Answer& answer = m_answers[m_turn];
  writeText();
  if (!m_isSilent && answer.hasText) m_context.streams.out << '\n' << std::flush;
  m_isInLine = false;
  if (++m_turn == m_answers.size() || !m_answers[m_turn].hasBegun) return;
  writeHead();
  writeText();
}

void AnswerPrinter::writeHead() {
  if (!m_isSilent && m_requests.size() > 1)
    m_context.streams.out << "── " << stepName(m_requests, m_turn) << '\n' << std::flush;
}

void AnswerPrinter::writeText() {
  Answer& answer = m_answers[m_turn];
  showProgress(m_context, "");
  if (answer.text.empty()) return;
  if (!m_isSilent) {
    m_context.streams.out << answer.text << std::flush;
    m_isInLine = answer.text.back() != '\n';
  }
  answer.text.clear();
}

std::string stepsText(const std::vector<exports::ChatRequest>& requests, const remote::RemoteResult& result,
                      const remote::RemoteTarget& target) {
  const remote::ServerKindInfo& kind = remote::infoOf(target.facts.kind);
  TextTable table({{"node", TextTable::Align::Left},
                   {metrics::get("prompt-tokens").shortName},
                   {metrics::get("cached-tokens").shortName},
                   {metrics::get("generated-tokens").shortName},
                   {"first text ms"},
                   {"all ms"},
                   {"ended by", TextTable::Align::Left}});
  bool isMissing = false;
  for (const remote::RemoteStep& step : result.steps) {
    // A request that failed says nothing of how the server is set up.
    isMissing |= step.cached.state == remote::CachedState::NotReported && !step.cached.isInconsistent &&
                 step.counted > 0 && step.brokenBy.empty();
    const auto ofStep = [&step](std::string text) { return step.counted == 0 ? "above" : std::move(text); };
    table.addRow({stepName(requests, step.request), ofStep(countText(step.answer.promptTokens)),
                  ofStep(remote::cachedText(step.cached)),
                  ofStep(countText(step.answer.generatedTokens) +
                         (step.counted > 1 && step.answer.generatedTokens
                              ? " in " + counted(step.counted, "reply", "replies")
                              : "")),
                  step.timeToFirstToken ? fixed(*step.timeToFirstToken * kMilliseconds, 1) : "–",
                  fixed(step.seconds * kMilliseconds, 1), endOf(step)});
  }
  std::string text = "\n" + table.text();
  text += "  sent by " + remote::protocolText(target) + "\n";
  if (isMissing && target.protocol->reporting(kind) == remote::CacheReporting::IfAsked) {
    text += std::string("  ") + kind.title + " does not report cached tokens" +
            (kind.zeroIsSilent ? ", or found none" : "") + ": " + kind.advice + "\n";
  }
  return text;
}

nlohmann::ordered_json stepsJson(const std::vector<exports::ChatRequest>& requests,
                                 const remote::RemoteResult& result) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (const remote::RemoteStep& step : result.steps) {
    Json& entry = steps.emplace_back();
    entry["node"] = requests[step.request].node;
    if (const remote::CopyNumber copy = remote::copyOf(requests, step.request); copy.all > 1)
      entry["copy"] = copy.number;
    entry["model"] = step.answer.model;
    entry["text"] = step.answer.text;
    if (!step.answer.reasoning.empty()) entry["reasoning"] = step.answer.reasoning;
    const auto count = [&entry](const char* name, const std::optional<std::int64_t>& value) {
      entry[name] = value ? Json(*value) : Json(nullptr);
    };
    count("prompt_tokens", step.answer.promptTokens);
    count("cached_tokens", step.answer.cachedTokens);
    if (step.answer.writtenTokens) entry["cache_written_tokens"] = *step.answer.writtenTokens;
    entry["cached"] = remote::cachedText(step.cached);
    count("generated_tokens", step.answer.generatedTokens);
    if (step.counted != 1) entry["counted_replies"] = step.counted;
    entry["first_text_ms"] =
        step.timeToFirstToken ? Json(*step.timeToFirstToken * kMilliseconds) : Json(nullptr);
    entry["all_ms"] = step.seconds * kMilliseconds;
    entry["finish"] = step.answer.finish;
    if (!step.brokenBy.empty()) entry["broken_by"] = step.brokenBy;
    if (!step.warning.empty()) entry["warning"] = step.warning;
  }
  return steps;
}

std::string factsText(const remote::ServerFacts& facts) {
  const remote::ServerKindInfo& kind = remote::infoOf(facts.kind);
  std::string text = std::string(kind.title) + (facts.version.empty() ? "" : " " + facts.version) + "\n";
  if (facts.listsModels) {
    TextTable table({{"model", TextTable::Align::Left}, {"context"}});
    for (const remote::ServedModel& model : facts.models)
      table.addRow({model.name, model.context ? std::to_string(*model.context) : "not said"});
    text += table.text();
  } else {
    text += "  models: not reported\n";
  }
  std::string cached;
  switch (kind.cached) {
    case remote::CacheReporting::Always:
      cached = "reported";
      break;
    case remote::CacheReporting::IfAsked:
      cached = std::string("reported with an option: ") + kind.advice;
      break;
    case remote::CacheReporting::Never:
      cached = "cannot be reported";
      break;
  }
  text += "  cached tokens: " + cached + "\n";
  text += std::string("  progress of a prompt: ") + (kind.sendsProgress ? "reported" : "not reported") + "\n";
  text += std::string("  span queries: ") +
          (facts.takes("spnl") ? "taken at /v1/query/execute" : "not taken") + "\n";
  std::string titles;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) titles += (titles.empty() ? "" : ", ") + std::string(protocol->name);
  }
  text += "  protocols: " + (titles.empty() ? "none" : titles) + "\n";
  if (facts.slots) {
    text += "  slots: " + std::to_string(*facts.slots);
    if (facts.cache.slotTokens) text += ", of " + counted(*facts.cache.slotTokens, "token");
    text += "\n";
  }
  if (facts.cache.blockSize) text += "  blocks: of " + counted(*facts.cache.blockSize, "token") + "\n";
  if (facts.cache.cacheTokens)
    text += "  cache: room for " + counted(*facts.cache.cacheTokens, "token") + "\n";
  if (!facts.cache.findsPrefixes.value_or(true)) text += "  cache: no prefix caching\n";
  return text;
}

nlohmann::ordered_json factsJson(const remote::ServerFacts& facts) {
  nlohmann::ordered_json json;
  json["kind"] = remote::infoOf(facts.kind).name;
  if (!facts.version.empty()) json["version"] = facts.version;
  json["models"] = nlohmann::ordered_json::array();
  for (const remote::ServedModel& model : facts.models) {
    auto& entry = json["models"].emplace_back();
    entry["name"] = model.name;
    if (model.context) entry["context"] = *model.context;
  }
  json["takes_queries"] = facts.takes("spnl");
  json["protocols"] = nlohmann::ordered_json::array();
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) json["protocols"].push_back(protocol->name);
  }
  if (facts.slots) json["slots"] = *facts.slots;
  if (facts.cache.slotTokens) json["slot_tokens"] = *facts.cache.slotTokens;
  if (facts.cache.blockSize) json["block_size"] = *facts.cache.blockSize;
  if (facts.cache.cacheTokens) json["cache_tokens"] = *facts.cache.cacheTokens;
  if (facts.cache.findsPrefixes) json["finds_prefixes"] = *facts.cache.findsPrefixes;
  return json;
}

}  // namespace spanscope::cli
