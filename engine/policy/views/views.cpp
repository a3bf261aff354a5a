// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/views/views.h"

#include "engine/base/translation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace spanscope::policy {

namespace {

/// The node around the generate nodes of a team: a plus, repeat or map.
NodePath listAround(const plan::Step& step) {
  static constexpr std::string_view kPlus = "/plus/";
  const std::size_t at = step.node.rfind(kPlus);
  return at == NodePath::npos ? step.node : step.node.substr(0, at + kPlus.size() - 1);
}

std::vector<std::vector<StepIndex>> teams(const plan::Plan& plan) {
  std::map<std::pair<std::uint32_t, NodePath>, std::vector<StepIndex>> together;
  for (StepIndex i = 0; i < plan.steps.size(); ++i)
    together[{plan.steps[i].ply, listAround(plan.steps[i])}].push_back(i);
  std::vector<std::vector<StepIndex>> teams;
  for (auto& [place, steps] : together) {
    if (steps.size() > 1) teams.push_back(std::move(steps));
  }
  return teams;
}

ComputePlan planRows(const layout::SpanTable& /*table*/, std::span<const double> /*values*/, bool isInTeam) {
  if (!isInTeam) return {};
  return {.answer = std::make_shared<ViewOfOthers>()};
}

}  // namespace

constinit const Policy kViews = {
    .name = "views",
    .brief = forTranslation("Policies", "parallel answers attend to each other; for experiments"),
    .help = forTranslation("Policies",
                           "Like spans, but the generate nodes of a plus run together. Each node reads the "
                           "current answers of the other nodes"),
    .asIn = "Hogwild!",
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::Spans>,
    .planRows = &planRows,
    .teams = &teams};

namespace {

/// Returns the position in the last segment at which the template's header of the answer begins.
std::int32_t turnOf(const Answer& answer) {
  const std::vector<layout::TokenRun>& runs = answer.table->segments.back().runs;
  const bool hasTurn = !runs.empty() && runs.back().source == layout::TokenRun::Source::Template;
  return answer.from - (hasTurn ? std::clamp(runs.back().count, 0, answer.from) : 0);
}

/// Returns the number of rows of another answer that a row reads after `row` rows of its own.
std::int32_t seenOf(const Answer& other, std::int32_t row) {
  return std::min(row + 1, other.wanted);
}

}  // namespace

std::vector<std::size_t> ViewOfOthers::next(std::span<const Answer> answers) const {
  std::vector<std::size_t> next = AnswerRows::next(answers);
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (const std::size_t i : next) least = std::min(least, answers[i].computed);
  std::erase_if(next, [&](std::size_t i) { return answers[i].computed != least; });
  return next;
}

std::int64_t ViewOfOthers::positionOf(std::span<const Answer> answers, std::size_t own,
                                      std::int32_t row) const {
  std::int64_t position = AnswerRows::positionOf(answers, own, row);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i != own) position += answers[i].from - turnOf(answers[i]) + seenOf(answers[i], row);
  }
  return position;
}

void ViewOfOthers::addKeys(compute::QueryRun& run, std::span<const Answer> answers, std::size_t own,
                           std::int32_t row, std::int32_t count) const {
  const Answer& answer = answers[own];
  const std::int32_t turn = turnOf(answer);
  run.keys.push_back({.blocks = *answer.blocks, .begin = 0, .end = turn, .base = run.base, .causal = false});
  std::int64_t position = run.base + turn;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == own) continue;
    const Answer& other = answers[i];
    const std::int32_t from = turnOf(other);
    const std::int32_t end = other.from + seenOf(other, row);
    run.keys.push_back(
        {.blocks = *other.blocks, .begin = from, .end = end, .base = position - from, .causal = false});
    position += end - from;
  }
  run.base = position - turn;
  run.keys.push_back({.blocks = *answer.blocks,
                      .begin = turn,
                      .end = answer.from + row + count,
                      .base = run.base,
                      .causal = true});
}

std::vector<double> ViewOfOthers::joinMass(compute::RunMass& run, std::size_t sees) const {
  // The ranges in order: those of the `sees` segments, the own prompt, each of the other answers, the own
  // answer.
  const std::size_t ranges = run.keyBlocks.size();
  const auto width = static_cast<std::size_t>(std::accumulate(run.keyBlocks.begin(), run.keyBlocks.end(), 0));
  const std::size_t heads = ranges == 0 ? 0 : run.first.size() / ranges;
  const auto before = static_cast<std::size_t>(
      std::accumulate(run.keyBlocks.begin(), run.keyBlocks.begin() + static_cast<std::ptrdiff_t>(sees), 0));
  const auto prompt = static_cast<std::size_t>(run.keyBlocks[sees]);
  const auto own = static_cast<std::size_t>(run.keyBlocks.back());
  std::vector<double> taken(ranges - sees - 2, 0.0);
  std::vector<float> mass;
  std::vector<float> first;
  for (std::size_t head = 0; head < heads; ++head) {
    const auto at = run.mass.begin() + static_cast<std::ptrdiff_t>(head * width);
    mass.insert(mass.end(), at, at + static_cast<std::ptrdiff_t>(before));
    auto other = at + static_cast<std::ptrdiff_t>(before + prompt);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const auto end = other + run.keyBlocks[sees + 1 + i];
      taken[i] = std::accumulate(other, end, taken[i]);
      other = end;
    }
    for (std::size_t block = 0; block < own; ++block) {
      const float ofPrompt = block < prompt ? at[static_cast<std::ptrdiff_t>(before + block)] : 0.0F;
      mass.push_back(other[static_cast<std::ptrdiff_t>(block)] + ofPrompt);
    }
    const auto firsts = run.first.begin() + static_cast<std::ptrdiff_t>(head * ranges);
    first.insert(first.end(), firsts, firsts + static_cast<std::ptrdiff_t>(sees + 1));
    if (prompt == 0) first.back() = firsts[static_cast<std::ptrdiff_t>(ranges - 1)];
  }
  run.mass = std::move(mass);
  run.first = std::move(first);
  run.keyBlocks.erase(run.keyBlocks.begin() + static_cast<std::ptrdiff_t>(sees), run.keyBlocks.end() - 1);
  return taken;
}

std::optional<trace::Payload> ViewOfOthers::report(std::int32_t index, std::span<const Answer> answers,
                                                   std::size_t own, std::span<const float> shares) const {
  trace::TeammateAttention event{.index = index, .requests = {}, .mass = {shares.begin(), shares.end()}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i != own) event.requests.push_back(answers[i].request);
  }
  return event;
}

}  // namespace spanscope::policy
