// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/watched_runs.h"

#include "engine/base/json_text.h"
#include "engine/query/json/json.h"
#include "engine/trace/predicted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace spanscope::watch {

WatchedRuns::WatchedRuns(trace::Sink& sink, WatchedServer server, const std::vector<std::string>& kinds)
    : m_sink(sink), m_server(std::move(server)), m_copies(kinds.size(), 0) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    steps.push_back({{"g", {{"model", m_server.model}, {"input", {{"user", kinds[i]}}}}}});
    m_nodes.push_back(kinds.size() == 1 ? "" : "/par/" + std::to_string(i));
  }
  const Json query = kinds.size() == 1 ? steps.front() : Json{{"par", std::move(steps)}};
  m_queryJson = compactJson(query);
  const query::ParseResult parsed = query::parseJson(m_queryJson);
  if (parsed.query) m_queryJson = query::writeCanonical(*parsed.query);
}

void WatchedRuns::openSession(trace::PoolState pool) {
  m_sink.send(0, 0, {},
              trace::SessionStarted{.program = m_server.program + std::string(trace::kWatchedMark),
                                    .model = m_server.model,
                                    .backend = m_server.address,
                                    .pool = std::move(pool)});
}

void WatchedRuns::open(std::int64_t now) {
  if (m_isOpen && now - m_begin < kTime) return;
  close();
  ++m_run;
  m_isOpen = true;
  m_begin = now;
  std::ranges::fill(m_copies, 0);
  send(trace::RunStarted{.queryJson = m_queryJson, .policy = m_server.program, .seed = 0});
  trace::PlanMade plan;
  for (StepIndex step = 0; step < m_nodes.size(); ++step)
    plan.steps.push_back({.step = step, .node = m_nodes[step], .needs = {}});
  send(std::move(plan));
}

void WatchedRuns::tick(std::int64_t now) {
  if (m_isOpen && now - m_begin >= kTime) close();
}

void WatchedRuns::close() {
  if (!m_isOpen) return;
  m_isOpen = false;
  send(trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = {}});
}

RequestId WatchedRuns::begin(StepIndex kind) {
  const RequestId request = ++m_lastRequest;
  send(m_run, request, kind, trace::StepStarted{.step = kind, .copy = m_copies[kind]++});
  return request;
}

std::uint64_t WatchedRuns::send(RunId run, RequestId request, StepIndex kind, trace::Payload payload) {
  return m_sink.send(run, request, m_nodes[kind], std::move(payload));
}

std::uint64_t WatchedRuns::send(trace::Payload payload) {
  return m_sink.send(m_run, 0, {}, std::move(payload));
}

void WatchedRuns::say(Severity severity, std::string text, std::int64_t now) {
  open(now);
  send(trace::MessageLogged{.severity = severity, .text = std::move(text)});
}

bool TokenGrowth::take(const TokenTotals& totals) {
  const std::optional<TokenTotals> before = std::exchange(m_totals, totals);
  m_last = {};
  if (!before) return true;
  if (totals.prompt <= before->prompt || totals.cached < before->cached) return false;
  m_last.prompt = totals.prompt - before->prompt;
  m_last.cached = std::min(m_last.prompt, totals.cached - before->cached);
  m_sum.prompt += m_last.prompt;
  m_sum.cached += m_last.cached;
  return false;
}

void writeTotals(WatchedRuns& runs, StepIndex kind, const TokenTotals& growth, std::int64_t now) {
  if (growth.prompt <= 0) return;
  const std::int64_t prompt = growth.prompt;
  const std::int64_t cached = growth.cached;
  runs.open(now);
  const RunId run = runs.run();
  const RequestId request = runs.begin(kind);
  runs.send(run, request, kind, trace::RequestAdmitted{.promptTokens = prompt, .cachedTokens = cached});
  runs.send(run, request, kind,
            trace::ServerReported{
                .step = kind,
                .server = runs.server().program,
                .model = runs.server().model,
                .promptTokens = prompt,
                .cached = cached > 0 ? trace::CachedState::Found : trace::CachedState::MeasuredZero,
                .cachedTokens = cached,
                .generatedTokens = {},
                .timeToFirstToken = {},
                .finish = {},
                .brokenBy = {}});
  runs.send(run, request, kind,
            trace::StepFinished{.step = kind, .outcome = trace::StepOutcome::EndToken, .text = {}});
}

}  // namespace spanscope::watch
