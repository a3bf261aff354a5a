// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/remote_trace.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"

#include <algorithm>

namespace spanscope::remote {
namespace {

/// The indices of the targets that answer requests, ascending.
std::set<std::size_t> askedTargets(const std::vector<RemoteTarget>& targets,
                                   const std::vector<std::size_t>& targetOf) {
  if (!targetOf.empty()) return {targetOf.begin(), targetOf.end()};
  return targets.empty() ? std::set<std::size_t>() : std::set<std::size_t>{0};
}

trace::PlanMade planOf(const std::vector<exports::ChatRequest>& requests, const std::string& explain) {
  trace::PlanMade plan;
  plan.explain = explain;
  std::map<NodePath, std::uint32_t> copies;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    trace::PlannedStep step{.step = static_cast<StepIndex>(i),
                            .node = requests[i].node,
                            .copy = copies[requests[i].node]++,
                            .ply = 0,
                            .needs = {}};
    for (const exports::ChatMessage& message : requests[i].messages) {
      if (message.answerOf) step.needs.push_back(static_cast<StepIndex>(*message.answerOf));
    }
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

trace::StepOutcome outcomeOf(const RemoteStep& step) {
  if (!step.brokenBy.empty())
    return step.isStopped ? trace::StepOutcome::Stopped : trace::StepOutcome::Failed;
  return isTokenLimit(step.answer.finish) ? trace::StepOutcome::TokenLimit : trace::StepOutcome::EndToken;
}

}  // namespace

RemoteTrace::RemoteTrace(trace::Sink& sink, RemoteRunInfo info, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher* also)
    : m_sink(sink),
      m_info(std::move(info)),
      m_targets(targets),
      m_targetOf(targetOf),
      m_requests(requests),
      m_also(also),
      m_plan(planOf(requests, m_info.explain)) {}

void RemoteTrace::begin() {
  const std::string titles = titlesOf(m_targets, m_targetOf);
  std::string models;
  std::set<std::string> named;
  for (std::size_t i = 0; i < m_requests.size(); ++i) {
    const RemoteTarget& target = m_targets[m_targetOf.empty() ? 0 : m_targetOf[i]];
    if (target.local) continue;
    const std::string& wanted = target.server.model.empty() ? m_requests[i].model : target.server.model;
    const std::string model = servedName(target, m_requests[i].model).value_or(wanted);
    if (named.insert(model).second) models += (models.empty() ? "" : ", ") + model;
  }
  m_sink.send(
      0, 0, {},
      trace::SessionStarted{.program = m_info.program, .model = models, .backend = titles, .pool = {}});
  sendToRun(trace::RunStarted{.queryJson = m_info.queryJson, .policy = titles, .seed = m_info.seed});
  for (const std::size_t index : askedTargets(m_targets, m_targetOf)) {
    const RemoteTarget& target = m_targets[index];
    if (target.local) {
      sendToRun(trace::ServerChosen{.name = target.name,
                                    .kind = "embedded",
                                    .title = "Spanscope",
                                    .version = {},
                                    .address = "this program",
                                    .reportsCached = true});
      continue;
    }
    const ServerKindInfo& kind = infoOf(target.facts.kind);
    sendToRun(trace::ServerChosen{.name = target.name,
                                  .kind = kind.name,
                                  .title = kind.title,
                                  .version = target.facts.version,
                                  .address = rootOf(target.server.url),
                                  .reportsCached = target.protocol->reporting(kind) == CacheReporting::Always,
                                  .reportsProgress = kind.sendsProgress,
                                  .takesQueries = target.facts.takes("spnl")});
  }
  for (const auto& [node, retrieved] : m_info.retrieved) m_sink.send(m_info.run, 0, node, retrieved);
  sendToRun(m_plan);
  for (const std::string& warning : m_info.warnings)
    sendToRun(trace::MessageLogged{.severity = Severity::Warning, .text = warning});
}

void RemoteTrace::end(const RemoteResult& result) {
  sendToRun(trace::RunFinished{.outcome = result.isStopped ? trace::RunOutcome::Stopped
                                          : result.error   ? trace::RunOutcome::Failed
                                                           : trace::RunOutcome::Finished,
                               .answer = answerOf(m_requests, result)});
}

void RemoteTrace::stepBegins(std::size_t request) {
  m_begun.insert(request);
  send(request,
       trace::StepStarted{.step = static_cast<StepIndex>(request), .copy = m_plan.steps[request].copy});
  if (m_also != nullptr) m_also->stepBegins(request);
}

void RemoteTrace::sends(std::size_t request, std::size_t target, const std::string& model,
                        std::size_t bytes) {
  send(request, trace::RequestSent{.server = m_targets[target].name, .model = model, .bytes = bytes});
  if (!m_targets[target].local) {
    send(request, trace::MessageLogged{.severity = Severity::Note,
                                       .text = "Sent by " + (m_changed.contains(target)
                                                                 ? std::string(m_changed.at(target)->title)
                                                                 : protocolText(m_targets[target]))});
  }
  if (m_also != nullptr) m_also->sends(request, target, model, bytes);
}

void RemoteTrace::orders(std::size_t request, const SentOrder& order) {
  send(request, trace::MessageLogged{.severity = Severity::Note, .text = orderText(order, m_info.names)});
  if (m_also != nullptr) m_also->orders(request, order);
}

void RemoteTrace::changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                                  const Protocol& now) {
  m_changed[target] = &now;
  send(request, trace::MessageLogged{.severity = Severity::Warning,
                                     .text = changeText(m_targets[target], refusal, now)});
  if (m_also != nullptr) m_also->changesProtocol(request, target, refusal, now);
}

void RemoteTrace::promptProgress(std::size_t request, const PromptProgress& progress) {
  const bool isSound =
      progress.cached >= 0 && progress.cached <= progress.processed && progress.processed <= progress.total;
  if (isSound)
    send(request, trace::PromptReported{
                      .total = progress.total, .cached = progress.cached, .processed = progress.processed});
  if (m_also != nullptr) m_also->promptProgress(request, progress);
}

void RemoteTrace::text(std::size_t request, const std::string& piece) {
  send(request, trace::TextReceived{piece});
  if (m_also != nullptr) m_also->text(request, piece);
}

void RemoteTrace::fails(std::size_t request, const Error& error) {
  const trace::MessageLogged message{.severity = Severity::Error, .text = error.message()};
  // An error before the first request belongs to the run.
  if (m_begun.contains(request))
    send(request, message);
  else
    sendToRun(message);
  if (m_also != nullptr) m_also->fails(request, error);
}

void RemoteTrace::stepEnds(const RemoteStep& step) {
  const trace::ServerReported reported = reportOf(step, m_targets[step.target]);
  send(step.request, reported);
  if (step.counted > 1 && step.answer.generatedTokens) {
    send(step.request,
         trace::MessageLogged{.severity = Severity::Note,
                              .text = "The server counted " + counted(*step.answer.generatedTokens, "token") +
                                      " of " + counted(step.counted, "reply", "replies") + " together"});
  }
  if (!step.warning.empty())
    send(step.request, trace::MessageLogged{.severity = Severity::Warning, .text = step.warning});
  // A step has metrics only if all numbers are known, because metrics cannot express unknown numbers.
  if (step.brokenBy.empty() && reported.isCachedKnown() && reported.promptTokens &&
      reported.generatedTokens) {
    const double first = step.timeToFirstToken.value_or(0);
    const std::int64_t generated = *reported.generatedTokens;
    send(step.request, trace::StepMetrics{.step = reported.step,
                                          .promptTokens = *reported.promptTokens,
                                          .cachedTokens = reported.cachedTokens,
                                          .computedTokens = *reported.promptTokens - reported.cachedTokens,
                                          .generatedTokens = generated,
                                          .timeToFirstToken = first,
                                          .interTokenLatency =
                                              generated > 1 ? (step.timeToLastText.value_or(first) - first) /
                                                                  static_cast<double>(generated - 1)
                                                            : 0});
  }
  send(step.request,
       trace::StepFinished{.step = reported.step, .outcome = outcomeOf(step), .text = step.answer.text});
  if (m_also != nullptr) m_also->stepEnds(step);
}

void RemoteTrace::send(std::size_t request, trace::Payload payload) {
  m_sink.send(m_info.run, idOf(request), m_requests[request].node, std::move(payload));
}

void RemoteTrace::sendToRun(trace::Payload payload) {
  m_sink.send(m_info.run, 0, {}, std::move(payload));
}

RequestId RemoteTrace::idOf(std::size_t request) const {
  return m_info.lastRequest + 1 + static_cast<RequestId>(request);
}

std::string titlesOf(const std::vector<RemoteTarget>& targets, const std::vector<std::size_t>& targetOf) {
  std::string titles;
  for (const std::size_t index : askedTargets(targets, targetOf))
    titles += (titles.empty() ? "" : ", ") + titleOf(targets[index]);
  return titles;
}

trace::ServerReported reportOf(const RemoteStep& step, const RemoteTarget& target) {
  trace::ServerReported reported{.step = static_cast<StepIndex>(step.request),
                                 .server = target.name,
                                 .model = step.answer.model,
                                 .promptTokens = step.answer.promptTokens,
                                 .cached = step.cached.state,
                                 .cachedTokens = step.cached.tokens,
                                 .generatedTokens = step.answer.generatedTokens,
                                 .timeToFirstToken = step.timeToFirstToken,
                                 .seconds = step.seconds,
                                 .finish = step.answer.finish,
                                 .brokenBy = step.brokenBy};
  if (step.counted != 1) reported.generatedTokens.reset();
  if (reported.promptTokens && reported.cachedTokens > *reported.promptTokens) {
    reported.cached = CachedState::NotReported;
    reported.cachedTokens = 0;
  }
  return reported;
}

std::string answerOf(const std::vector<exports::ChatRequest>& requests, const RemoteResult& result) {
  std::set<std::size_t> needed;
  for (const exports::ChatRequest& request : requests) {
    for (const exports::ChatMessage& message : request.messages) {
      if (message.answerOf) needed.insert(*message.answerOf);
    }
  }
  std::string answer;
  bool isFirst = true;
  for (const RemoteStep& step : result.steps) {
    if (needed.contains(step.request)) continue;
    answer += (isFirst ? "" : "\n") + step.answer.text;
    isFirst = false;
  }
  return answer;
}

}  // namespace spanscope::remote
