// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/reply_replays.h"

#include "engine/base/error.h"
#include "engine/compute/sampling.h"
#include "engine/run/run_result.h"
#include "tests/support/equal_bits.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace spanscope::test {
namespace {

using testing::equalBits;

constexpr std::int32_t kAllRows = std::numeric_limits<std::int32_t>::max();

std::set<std::pair<std::uint64_t, std::uint64_t>> keysIn(const trace::PoolState& pool) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
  for (const trace::BlockState& block : pool.blocks) {
    if (block.cached) keys.emplace(block.key.high, block.key.low);
  }
  return keys;
}

/// Which token was not drawn from these logits; none if all were.
std::optional<std::size_t> otherDraw(const run::ReplayedAnswer& replayed, const ReportedReply& reported,
                                     const compute::SamplingSettings& settings) {
  for (std::size_t i = 0; i < reported.tokens.size(); ++i) {
    const compute::SampledToken drawn =
        compute::sampleRow({.logits = replayed.logits[i], .settings = settings, .index = i});
    if (drawn.token != reported.tokens[i] || std::bit_cast<std::uint32_t>(drawn.probability) !=
                                                 std::bit_cast<std::uint32_t>(reported.probabilities[i]))
      return i;
  }
  return std::nullopt;
}

run::AttentionReplayRequest attentionOf(const run::FinishedAnswer& answer, RunId run, std::int32_t layer) {
  run::AttentionReplayRequest request{.answer = answer, .layer = layer, .head = -1, .singleKeys = true};
  request.answer.run = run;
  return request;
}

/// The maps that a replay of a layer's attention sends.
std::vector<trace::AttentionMass> mapsOf(const AfterRun& after, const run::FinishedAnswer& answer,
                                         std::int32_t layer) {
  const std::size_t before = after.sink.events().size();
  after.session.replayAttention(attentionOf(answer, after.session.lastRun(), layer));
  std::vector<trace::AttentionMass> maps;
  for (std::size_t i = before; i < after.sink.events().size(); ++i) {
    if (const auto* mass = std::get_if<trace::ReplayedMass>(&after.sink.events()[i].payload))
      maps.push_back(mass->mass);
  }
  return maps;
}

/// By layer and row: rows that are computed together are reported together.
std::vector<trace::AttentionMass> inOrder(std::vector<trace::AttentionMass> maps) {
  std::sort(maps.begin(), maps.end(), [](const auto& a, const auto& b) {
    return std::pair(a.layer, a.row) < std::pair(b.layer, b.row);
  });
  return maps;
}

/// The differences of one answer; empty if there are none. Throws Failure where the warm session has no room.
std::string replayFault(const AfterRun& warm, const AfterRun& cold, const run::StepResult& step,
                        const run::StepResult& simulator, const ReplaySetting& setting) {
  const plan::Step& planned = setting.plan.steps[step.step];
  const compute::SamplingSettings settings{
      .temperature = planned.temperature, .topK = setting.topK, .topP = setting.topP, .seed = planned.seed};
  const run::FinishedAnswer answer = finishedAnswer(warm.record, step, setting.policy);
  const run::FinishedAnswer other = finishedAnswer(cold.record, simulator, setting.policy);
  const run::ReplayedAnswer found = warm.session.replayAnswer(answer, kAllRows);
  const run::ReplayedAnswer expected = cold.session.replayAnswer(other, kAllRows);
  if (found.logits.size() != step.tokens.size() || expected.logits.size() != step.tokens.size())
    return "another number of rows";
  if (const auto at = otherDraw(expected, cold.record.answerOf(simulator), settings))
    return "cold, token " + std::to_string(*at) + " was drawn from other numbers";
  if (const auto at = otherDraw(found, warm.record.answerOf(step), settings))
    return "token " + std::to_string(*at) + " was drawn from other numbers";
  for (std::size_t i = 0; i < found.logits.size(); ++i) {
    if (!equalBits(found.logits[i], expected.logits[i])) return "other logits of token " + std::to_string(i);
  }
  if (!(inOrder(found.attention) == inOrder(expected.attention))) return "other attention";
  const auto layer = static_cast<std::int32_t>(step.step % 3);
  const std::vector<trace::AttentionMass> maps = mapsOf(warm, answer, layer);
  if (!(maps == mapsOf(cold, other, layer))) return "other maps of layer " + std::to_string(layer);
  const ReportedReply& reported = warm.record.answerOf(step);
  for (const trace::AttentionMass& map : maps) {
    const auto recorded = reported.rows.find({map.layer, map.segment, map.row});
    if (recorded == reported.rows.end()) {
      if (setting.isRecorded) return "row " + std::to_string(map.row) + " was not recorded";
      continue;
    }
    if (recorded->second.keySpan == map.keySpan && !(recorded->second == map))
      return "row " + std::to_string(map.row) + " has another map than the run recorded";
  }
  return {};
}

}  // namespace

Differences checkReplays(AfterRun warm, AfterRun cold, const ReplaySetting& setting) {
  Differences found;
  const auto add = [&](const run::StepResult& step, const std::string& text) {
    found.push_back(
        {.run = 0, .subject = Subject::Replay, .text = "step " + std::to_string(step.step) + ": " + text});
  };
  const auto before = keysIn(warm.session.dumpPool());
  for (std::size_t i = 0; i < warm.record.result.steps.size() && found.empty(); ++i) {
    const run::StepResult& step = warm.record.result.steps[i];
    if (step.tokens.empty() || i >= cold.record.result.steps.size()) continue;
    try {
      const std::string fault = replayFault(warm, cold, step, cold.record.result.steps[i], setting);
      if (!fault.empty()) add(step, fault);
    } catch (const Failure& failure) {
      if (setting.hasRoom) add(step, failure.what());
    }
  }
  for (const AfterRun* after : {&warm, &cold}) {
    if (after->sink.error())
      found.push_back({.run = 0, .subject = Subject::Trace, .text = after->sink.error()->message()});
  }
  const trace::PoolState pool = warm.session.dumpPool();
  if (!(warm.sink.replay().pool().state() == pool))
    found.push_back({.run = 0, .subject = Subject::Trace, .text = "after replays, another pool"});
  if (setting.hasRoom) {
    const auto after = keysIn(pool);
    for (const auto& key : before) {
      if (after.contains(key)) continue;
      found.push_back({.run = 0, .subject = Subject::Replay, .text = "a block is not found any more"});
      break;
    }
  }
  for (const trace::BlockState& block : pool.blocks) {
    if (block.references == 0) continue;
    found.push_back({.run = 0, .subject = Subject::Leak, .text = "a block is held after replays"});
    break;
  }
  return found;
}

}  // namespace spanscope::test
