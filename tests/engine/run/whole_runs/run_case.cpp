// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/run_case.h"

#include "engine/base/hash.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/engine/run/whole_runs/random_trees.h"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <utility>

namespace spanscope::test {
namespace {

constexpr std::int32_t kRoomyTokens = 4000;
constexpr std::array kEndingNames{"none", "few", "many"};
constexpr std::array kTierNames{"none", "host", "little host", "disk", "disk behind little host"};
constexpr std::array kObservedNames{"nothing", "answer", "everything"};
constexpr std::array kFormNames{"continuation", "anew", "reused"};

/// Any value of each parameter, small ones more often: models and documents are small.
policy::Choice choiceOf(const policy::Policy& policy, Dice& dice) {
  std::vector<double> values;
  for (const policy::Parameter& parameter : policy.parameters) {
    double value = parameter.standard;
    if (!parameter.words.empty()) {
      value = dice.below(static_cast<int>(parameter.words.size()));
    } else if (parameter.hasAll && dice.oneIn(6)) {
      value = std::numeric_limits<double>::infinity();
    } else if (parameter.isWhole) {
      // Of the first parameter any number of the size of a prompt, of others those of few layers.
      const int spread = &parameter == policy.parameters.data() ? (dice.oneIn(2) ? 4 : 20) : 2;
      value = std::min(parameter.most, parameter.least + dice.below(spread));
    } else {
      value = parameter.least + (parameter.most - parameter.least) * dice.below(9) / 8;
    }
    values.push_back(value);
  }
  return {policy, std::move(values)};
}

policy::Choice anyChoice(Dice& dice) {
  const auto all = policy::policies();
  return choiceOf(*all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))], dice);
}

layout::Layout anyLayout(Dice& dice) {
  const auto all = layout::layouts();
  return all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))].layout;
}

SessionChoice anySession(Dice& dice) {
  SessionChoice session;
  session.blockSize = dice.of(std::vector{1, 2, 3, 4, 4, 5, 8, 8, 16, 16, 32});
  if (dice.oneIn(4)) session.tiers = static_cast<Tiers>(1 + dice.below(4));
  // Tiers get what leaves the pool.
  const bool hasRoom = dice.oneIn(session.tiers == Tiers::None ? 3 : 8);
  const int tokens = dice.of(std::vector{30, 60, 90, 120, 160, 200, 260, 340});
  session.blocks = hasRoom ? roomyBlocks(session.blockSize) : 2 + tokens / session.blockSize + dice.below(8);
  session.rowsPerPass = dice.of(std::vector{1, 3, 7, 16, 37, 64, 512, 512});
  session.threads = dice.oneIn(6) ? 2 + dice.below(2) : 1;
  session.halfKeys = dice.oneIn(4);
  // Partial blocks make predictions uncertain: one of several is the source of a copy.
  session.tails = !dice.oneIn(session.tiers == Tiers::None ? 4 : 2);
  session.endings = static_cast<Endings>(dice.below(3));
  if (dice.oneIn(10)) session.positions = 60 + dice.below(160);
  return session;
}

QueryRun anyRun(Dice& dice, RandomTrees& trees, const QueryRun& usual) {
  QueryRun run = usual;
  run.query = trees.next();
  if (dice.oneIn(3)) run.policy = anyChoice(dice);
  if (dice.oneIn(4)) run.layout = anyLayout(dice);
  if (dice.oneIn(4)) run.outputForm = dice.oneIn(2) ? plan::OutputForm::Recomputed : plan::OutputForm::Reused;
  if (dice.oneIn(5)) run.distribute = !run.distribute;
  if (dice.oneIn(8)) run.fanIn = 2;
  run.mapReduce = run.fanIn > 0 && dice.oneIn(2);
  run.seed = static_cast<std::uint64_t>(dice.below(3));
  if (dice.oneIn(6)) run.topK = 1 + dice.below(20);
  if (dice.oneIn(6)) run.topP = 0.8F;
  if (dice.oneIn(5)) run.observed = dice.oneIn(2) ? Observed::Answer : Observed::Everything;
  run.isFirstOfSession = dice.oneIn(7);
  run.isCacheEmptied = dice.oneIn(12);
  if (dice.oneIn(12)) run.emptyEvery = 1 + dice.below(4);
  if (dice.oneIn(10)) run.stopAfter = 1 + dice.below(8);
  run.isReplayed = dice.oneIn(5);
  run.isPredictedAhead = dice.oneIn(4);
  return run;
}

const char* yes(bool is, const char* text) {
  return is ? text : "";
}

}  // namespace

std::int32_t roomyBlocks(std::int32_t blockSize) {
  // Every segment may end in a block of its own.
  return 200 + kRoomyTokens / blockSize;
}

RunCase makeRunCase(std::uint64_t seed) {
  Dice dice(mixBits(seed));
  RunCase all;
  all.seed = seed;
  all.warm = anySession(dice);
  all.warm.family = static_cast<std::size_t>(seed / kSeedsOfFamily) % familyConfigs().size();
  all.coldRowsPerPass = dice.of(std::vector{512, 512, 64, 5});
  all.coldThreads = dice.oneIn(12) ? 2 : 1;
  RandomTrees trees(dice);
  // Runs of a case are mostly alike, so that they reuse blocks of others.
  QueryRun usual;
  usual.policy = anyChoice(dice);
  if (!dice.oneIn(3)) usual.layout = anyLayout(dice);
  if (dice.oneIn(2)) usual.outputForm = plan::OutputForm::Reused;
  usual.distribute = !dice.oneIn(3);
  for (int i = 2 + dice.below(7); i > 0; --i) {
    if (!all.runs.empty() && dice.oneIn(3)) {
      const QueryRun earlier = dice.of(all.runs);
      all.runs.push_back(anyRun(dice, trees, usual));
      all.runs.back().query = earlier.query;
    } else {
      all.runs.push_back(anyRun(dice, trees, usual));
    }
  }
  all.runs.front().isFirstOfSession = true;
  return all;
}

std::string describe(const RunCase& all) {
  std::ostringstream out;
  const SessionChoice& warm = all.warm;
  out << "seed " << all.seed << ": " << warm.blocks << " blocks of " << warm.blockSize << ", "
      << warm.rowsPerPass << " rows a pass, threads " << warm.threads << ", "
      << (warm.halfKeys ? "bf16" : "f32") << (warm.tails ? ", tails" : ", no tails")
      << ", tiers: " << kTierNames[static_cast<std::size_t>(warm.tiers)]
      << ", end tokens: " << kEndingNames[static_cast<std::size_t>(warm.endings)] << ", context "
      << warm.positions << ", as " << familyConfigs()[warm.family].name << "; cold: " << all.coldRowsPerPass
      << " rows a pass, threads " << all.coldThreads << "\n";
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const QueryRun& run = all.runs[i];
    out << "  run " << i << ": " << run.policy.name() << ", " << layout::infoOf(run.layout).name
        << ", outputs " << kFormNames[static_cast<std::size_t>(run.outputForm)]
        << yes(!run.distribute, ", not distributed") << ", seed " << run.seed;
    if (run.fanIn > 0) out << ", locality " << run.fanIn << yes(run.mapReduce, " map-reduce");
    if (run.topK > 0) out << ", top-k " << run.topK;
    if (run.topP < 1) out << ", top-p " << run.topP;
    if (run.maxTokens != QueryRun().maxTokens) out << ", max tokens " << run.maxTokens;
    if (run.observed != Observed::Nothing)
      out << ", observes " << kObservedNames[static_cast<std::size_t>(run.observed)];
    out << yes(run.isFirstOfSession, ", in a new session") << yes(run.isCacheEmptied, ", emptied before");
    if (run.emptyEvery > 0) out << ", emptied every " << run.emptyEvery << " passes";
    if (run.stopAfter > 0) out << ", stopped after " << run.stopAfter << " passes";
    out << yes(run.isReplayed, ", replayed") << yes(run.isPredictedAhead, ", predicted ahead") << "\n    "
        << query::writeCanonical(run.query) << "\n";
  }
  return out.str();
}

}  // namespace spanscope::test
