// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/session_summarizer.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <cstdint>
#include <utility>

namespace spanscope::workbench {
namespace {

using query::Node;

constexpr std::int32_t kMaxTokens = 96;
/// Of the session's cache: enough for the groups of a call, of fragments of the usual size.
constexpr std::int32_t kBlocks = 1024;
constexpr const char* kTask = "Write a short summary of the texts. Keep names, places, numbers and dates.";

Node message(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

/// What is asked of one group: the texts do not see each other.
Node promptOf(const std::vector<std::string>& texts) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& text : texts) plus.children.push_back(message(query::Role::User, text));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(message(query::Role::System, kTask));
  cross.children.push_back(Node{std::move(plus)});
  cross.children.push_back(message(query::Role::User, kTask));
  return {std::move(cross)};
}

}  // namespace

SessionSummarizer::SessionSummarizer(ModelBundle& model) : m_model(model) {
  run::SessionConfig config;
  config.blockCount = kBlocks;
  m_session = makeSession(model, config, m_sink);
}

std::string SessionSummarizer::fingerprint() const {
  std::string text = "summary;";
  text += kTask;
  text += ";tokens=" + std::to_string(kMaxTokens);
  text += ";model=" + m_model.fingerprint;
  text += ";backend=" + m_model.backend->info().numericRevision;
  return text;
}

std::vector<std::string> SessionSummarizer::summarize(std::span<const std::vector<std::string>> groups,
                                                      std::stop_token stop) {
  query::Join par{.kind = query::JoinKind::Par, .children = {}};
  for (const std::vector<std::string>& texts : groups) {
    query::Generate generate;
    generate.settings.model = m_model.name;
    generate.settings.maxTokens = kMaxTokens;
    generate.settings.temperature = 0.0F;
    generate.input = promptOf(texts);
    par.children.push_back(Node{std::move(generate)});
  }
  plan::PlanResult planned = plan::makePlan(Node{std::move(par)}, {});
  if (!planned.plan) throw Failure(planned.problems.front());
  const run::RunResult result = m_session->run(*planned.plan, {}, std::move(stop));
  if (result.error) throw Failure(*result.error);
  if (result.outcome == trace::RunOutcome::Stopped) return {};
  std::vector<std::string> summaries;
  for (const run::StepResult& step : result.steps) summaries.push_back(step.text);
  if (summaries.size() != groups.size()) {
    throw Failure({{},
                   "summaries",
                   counted(summaries.size(), "answer"),
                   std::to_string(groups.size()) + ", one a group"});
  }
  return summaries;
}

}  // namespace spanscope::workbench
