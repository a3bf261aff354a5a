// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/telling/scenario_story.h"

#include "engine/base/counted.h"
#include "engine/query/json/json.h"
#include "engine/twin/servers.h"

#include <nlohmann/json.hpp>

namespace spanscope::twin {
namespace {

constexpr RunId kScenarioRun = 1;

NodePath pathOf(StepIndex step) {
  return "/par/" + std::to_string(step);
}

}  // namespace

CacheObserver& ScenarioStory::begin(std::string setup, const CacheShape& shape) {
  m_teller.emplace(
      ToldSession{.program = toldProgram(m_server), .setup = std::move(setup), .model = {}, .shape = shape},
      [](TokenId token) { return std::to_string(token); });
  m_runStarted = m_teller->tell({.run = kScenarioRun}, trace::RunStarted{});
  m_planMade = m_teller->tell({.run = kScenarioRun}, trace::PlanMade{});
  return *m_teller;
}

void ScenarioStory::start(const std::string& request, std::span<const TokenId> prompt) {
  const auto step = static_cast<StepIndex>(m_titles.size());
  m_titles.push_back(request + ": a prompt of " + counted(prompt.size(), "token"));
  const ToldRequest told{.run = kScenarioRun, .request = step + 1, .node = pathOf(step), .step = step};
  m_running[request] = told;
  m_teller->follow(request, told);
  m_teller->tell(told, trace::StepStarted{.step = step, .copy = 0});
  trace::SegmentInfo segment;
  segment.node = told.node;
  segment.tokens.assign(prompt.begin(), prompt.end());
  for (const TokenId token : prompt) segment.texts.push_back(m_teller->shown(token));
  segment.runs.push_back({.count = static_cast<std::int32_t>(prompt.size()),
                          .source = trace::TokenSource::Text,
                          .node = told.node + "/g/input"});
  m_teller->tell(told, trace::SpanTableLaidOut{.segments = {std::move(segment)}});
}

void ScenarioStory::say(const std::string& request, std::string text) {
  const auto running = m_running.find(request);
  if (running == m_running.end()) return;
  m_teller->tell(running->second, trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
}

void ScenarioStory::finish(const std::string& request, trace::StepOutcome outcome) {
  const auto running = m_running.find(request);
  if (running == m_running.end()) return;
  m_teller->tell(running->second,
                 trace::StepFinished{.step = running->second.step, .outcome = outcome, .text = {}});
  m_running.erase(running);
}

std::vector<trace::Event> ScenarioStory::events() {
  if (!m_teller) return {};
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  trace::PlanMade plan;
  for (StepIndex step = 0; step < m_titles.size(); ++step) {
    plan.steps.push_back({.step = step, .node = pathOf(step), .copy = 0, .ply = 0, .needs = {}});
    steps.push_back({{"g", {{"model", m_server.name}, {"input", {{"user", m_titles[step]}}}}}});
  }
  const std::string text =
      Json{{"par", std::move(steps)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  const query::ParseResult parsed = query::parseJson(text);
  m_teller->amend(m_runStarted,
                  trace::RunStarted{.queryJson = parsed.query ? query::writeCanonical(*parsed.query) : text,
                                    .policy = toldPolicy(m_server.title),
                                    .seed = 0});
  m_teller->amend(m_planMade, std::move(plan));
  m_teller->tell({.run = kScenarioRun},
                 trace::RunFinished{
                     .outcome = m_running.empty() ? trace::RunOutcome::Finished : trace::RunOutcome::Stopped,
                     .answer = {}});
  return m_teller->events();
}

}  // namespace spanscope::twin
