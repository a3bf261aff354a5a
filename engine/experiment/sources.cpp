// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/sources.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

namespace spanscope::experiment {
namespace {

bool ranksOnTop(const std::vector<double>& values, const std::vector<std::int32_t>& needed) {
  if (needed.empty() || needed.back() >= static_cast<std::int32_t>(values.size())) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool isNeeded =
        std::find(needed.begin(), needed.end(), static_cast<std::int32_t>(i)) != needed.end();
    if (isNeeded) {
      least = std::min(least, values[i]);
    } else {
      most = std::max(most, values[i]);
    }
  }
  return least > most;
}

template <class Counts>
SourceCount countWhere(const std::vector<AskedQuestion>& asked, Counts counts) {
  SourceCount count;
  for (const AskedQuestion& question : asked) {
    if (!counts(question)) continue;
    ++(question.needed.size() == 1 ? count.one : count.two);
  }
  return count;
}

}  // namespace

std::uint64_t ReplySink::send(RunId /*run*/, RequestId /*request*/, const NodePath& /*node*/,
                              trace::Payload payload) {
  if (auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
    m_reply = {.segments = table->segments, .rows = {}};
  } else if (auto* row = std::get_if<trace::SegmentAttention>(&payload)) {
    m_reply.rows.push_back(std::move(*row));
  }
  return ++m_sequence;
}

ReadReply ReplySink::take() {
  return std::exchange(m_reply, {});
}

std::vector<AskedQuestion> askQuestions(run::Session& session, ReplySink& sink, const SourceWorld& world,
                                        std::int32_t questions, std::int32_t layers,
                                        const std::stop_token& stop) {
  run::RunOptions options;
  options.policy = policy::kSpans;
  options.observedLayers.resize(static_cast<std::size_t>(layers));
  std::iota(options.observedLayers.begin(), options.observedLayers.end(), 0);
  std::vector<AskedQuestion> asked;
  for (std::int32_t index = 0; index < questions; ++index) {
    const SourceQuestion question = sourceQuestion(world, index);
    plan::PlanResult planned = plan::makePlan(sourceQuery(question), {});
    if (!planned.plan) throw Failure(std::move(planned.problems.front()));
    session.clearCache();
    const run::RunResult result = session.run(*planned.plan, options, stop);
    if (result.error) throw Failure(*result.error);
    if (result.outcome == trace::RunOutcome::Stopped || stop.stop_requested()) {
      throw Failure({.file = {}, .place = "the questions", .found = "a stop", .expected = "their end"});
    }
    asked.push_back(
        {.needed = question.needed, .isRight = result.answer == question.answer, .reply = sink.take()});
  }
  return asked;
}

SourceCount countAsked(const std::vector<AskedQuestion>& asked) {
  return countWhere(asked, [](const AskedQuestion&) { return true; });
}

SourceCount countRight(const std::vector<AskedQuestion>& asked) {
  return countWhere(asked, [](const AskedQuestion& question) { return question.isRight; });
}

SourceCount countFound(const std::vector<AskedQuestion>& asked, const Reading& read) {
  return countWhere(asked, [&read](const AskedQuestion& question) {
    return question.isRight && ranksOnTop(read(question.reply), question.needed);
  });
}

std::vector<Head> bestHeads(const std::vector<AskedQuestion>& asked, std::size_t most) {
  std::vector<Head> all;
  for (const AskedQuestion& question : asked) {
    if (question.reply.rows.empty()) continue;
    const trace::SegmentAttention& any = question.reply.rows.front();
    for (const std::int32_t layer : any.layers) {
      for (std::int32_t head = 0; head < any.heads; ++head) all.push_back({layer, head});
    }
    break;
  }
  std::vector<Head> chosen;
  std::int32_t found = -1;
  while (chosen.size() < most) {
    const std::vector<Head> before = chosen;
    for (const Head& head : all) {
      if (std::find(before.begin(), before.end(), head) != before.end()) continue;
      std::vector<Head> tried = before;
      tried.push_back(head);
      const std::int32_t count = countFound(asked, headsMeasure(tried).read).both();
      if (count <= found) continue;
      found = count;
      chosen = std::move(tried);
    }
    if (chosen.size() == before.size()) break;
  }
  return chosen;
}

}  // namespace spanscope::experiment
