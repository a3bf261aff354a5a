// SPDX-License-Identifier: GPL-3.0-or-later
// Rows about requests that run, some with a model and some without.
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "tests/engine/behaviour/quiet_model.h"
#include "tests/engine/behaviour/table_row.h"
#include "tests/engine/run/session_fixture.h"

namespace spanscope::behaviour {

using namespace spanscope::cache;
using cache::test::range;
using metrics::LookupSums;
using run::Scheduler;

namespace {

void tooLongForThePool() {
  QuietModel model(withTails(11, 4));
  const RequestId request = model.submit(1, range(1, 45), 3);
  model.runAll();
  require(model.errors.contains(request), "the request fails");
  const std::string text = model.errors.at(request).message();
  // What would fit, what was asked for, and how many blocks are missing.
  for (const char* part : {"45 tokens", "12 blocks", "10 usable blocks", "about 8 tokens", "too few"})
    require(text.find(part) != std::string::npos, text + " has “" + part + "”");
  same(model.cache.freeBlocks(), std::int64_t{10}, "nothing was taken");
}

/// The second request waits for room through many passes.
void deferredManyTimes() {
  QuietModel model(withTails(6, 4));
  model.submit(1, range(1, 12), 8);
  const RequestId second = model.submit(1, range(50, 12), 2);
  model.runAll();
  same(model.admitted.size(), std::size_t{2}, "both ran");
  same(model.outcomes.size(), std::size_t{2}, "both ended");
  require(!model.sink.all<trace::RequestDeferred>().empty(), "the second was deferred");
  same(model.answers.at(second).size(), std::size_t{2}, "and answered");
  same(model.rates.admitted(), LookupSums{.requests = 2, .asked = 24, .found = 0}, "each counts once");
}

/// Cache hits after a preemption say nothing about reuse between requests.
void preemptedIsCountedApart() {
  QuietModel model(withTails(11, 4));
  for (int i = 0; i < 3; ++i) model.submit(1, range(1 + 100 * i, 8), 8);
  model.runAll();
  require(!model.preempted.empty(), "somebody gave way");
  same(model.rates.admitted(), LookupSums{.requests = 3, .asked = 24, .found = 0}, "each counts once");
  const auto resumed = model.rates.resumed();
  same(resumed.requests, static_cast<std::int64_t>(model.preempted.size()), "and apart when it goes on");
  require(resumed.found > 0 && resumed.found < resumed.asked,
          "finding " + std::to_string(resumed.found) + " of " + std::to_string(resumed.asked) + " again");
  same(model.rates.recent().sums().requests, std::int64_t{3}, "which the window leaves out");
  for (const auto& [request, answer] : model.answers)
    same(answer.size(), std::size_t{8}, "all were answered");
}

void resetWhileRequestsRun() {
  QuietModel model(withTails(40, 4));
  for (int i = 0; i < 3; ++i) model.submit(1, range(1 + 100 * i, 10), 6);
  for (int i = 0; i < 3; ++i) model.scheduler.pass({});
  const trace::PoolState before = model.cache.dump();
  require(!model.scheduler.clearCache(Scheduler::Running::Keep), "it is refused while requests run");
  require(model.cache.dump() == before, "and changes nothing");
  require(model.scheduler.clearCache(Scheduler::Running::Preempt), "unless they may be preempted");
  same(model.cache.freeBlocks(), std::int64_t{39}, "nobody holds a block");
  same(model.preempted.size(), std::size_t{3}, "all wait");
  model.admitted.clear();
  model.runAll();
  same(model.admitted, {1, 2, 3}, "and go on in their order");
  const std::vector<TokenId> expected{5000, 5001, 5002, 5003, 5004, 5005};
  for (const auto& [request, answer] : model.answers) same(answer, expected, "the reply is the same");
}

/// On a model, greedily.
void resetLeavesAnswersAsTheyAre() {
  const auto parsed =
      query::parseJson(R"({"plus":[{"repeat":{"n":3,"g":{"model":"m","max_tokens":24,"temperature":0,)"
                       R"("input":{"user":"Where does Mira live, and why?"}}}}]})");
  const plan::Plan plan = *plan::makePlan(*parsed.query, {}).plan;
  spanscope::test::RandomSession session({}, false);
  const run::RunResult expected = session.session->run(plan, {});
  session.session->clearCache();
  run::RunOptions options;
  int passes = 0;
  options.emptyCache = [&passes] { return ++passes % 2 == 0; };
  const run::RunResult found = session.session->run(plan, options);
  require(session.sink.all<trace::RequestPreempted>().size() > 3, "requests were sent back to wait");
  same(found.steps.size(), std::size_t{3}, "steps");
  for (std::size_t step = 0; step < 3; ++step)
    same(found.steps[step].tokens, expected.steps[step].tokens, "tokens of the reply");
}

/// Blocks are given back between passes only. A pass that is stopped has ended when its result is there, and
/// until then everything that it may write to is held.
void blocksOfAPassInFlight() {
  QuietModel model(withTails(40, 4));
  model.submit(1, range(1, 20), 4);
  model.submit(2, range(100, 10), 4);
  const auto heldBy = [&model](RequestId request) {
    std::int64_t held = 0;
    for (const BlockId block : model.cache.blocks(request, 0).blocks)
      held += model.cache.dump().blocks[static_cast<std::size_t>(block)].references;
    return held;
  };
  std::stop_source stop;
  int passes = 0;
  model.inFlight = [&] {
    ++passes;
    stop.request_stop();
    same(heldBy(1), std::int64_t{5}, "blocks of the first while the pass is computed");
    same(heldBy(2), std::int64_t{3}, "and of the second");
  };
  require(model.scheduler.pass(stop.get_token()) == Scheduler::Progress::Stopped, "the pass is stopped");
  same(passes, 1, "in its middle");
  same(model.cache.freeBlocks(), std::int64_t{31},
       "what it wrote to is held until somebody ends the requests");
  const std::vector<trace::BlockStored> stored = model.sink.all<trace::BlockStored>();
  same(stored.size(), std::size_t{0}, "and nothing of it can be found");
  model.scheduler.abort(1);
  same(model.cache.freeBlocks(), std::int64_t{36}, "blocks come back by request");
  same(heldBy(2), std::int64_t{3}, "the other one keeps its own");
  model.scheduler.abort(2);
  same(model.cache.freeBlocks(), std::int64_t{39}, "none is held");
  // Between passes they come back at once.
  model.inFlight = nullptr;
  model.submit(3, range(200, 20), 4);
  require(model.scheduler.pass({}) == Scheduler::Progress::Computed, "the pass finishes");
  model.scheduler.abort(3);
  same(model.cache.freeBlocks(), std::int64_t{39}, "none is held");
}

/// The blocks of a request that ends are free in the next pass, and not before.
void requestsThatEndInAPass() {
  QuietModel model(withTails(40, 4));
  model.submit(1, range(1, 8), 1);
  model.submit(1, range(100, 8), 6);
  std::vector<std::int64_t> freeInFlight;
  model.inFlight = [&] { freeInFlight.push_back(model.cache.freeBlocks()); };
  model.runAll();
  same(model.outcomes.size(), std::size_t{2}, "both ended");
  // The first one ends in the first pass; the second goes on to a third block.
  same(freeInFlight, {35, 36, 36, 36, 36, 35}, "free blocks while passes are computed");
  same(model.cache.freeBlocks(), std::int64_t{39}, "none is held after");
}

}  // namespace

TableRows requestRows() {
  return {{"B15 a prompt that is too long for the pool", tooLongForThePool},
          {"C2 deferred many times", deferredManyTimes},
          {"C4 preempted and resumed", preemptedIsCountedApart},
          {"C6 reset with running requests", resetWhileRequestsRun},
          {"C6 reset with running requests, on a model", resetLeavesAnswersAsTheyAre},
          {"C8 blocks of a pass in flight", blocksOfAPassInFlight},
          {"C8 requests that end in a pass", requestsThatEndInAPass}};
}

}  // namespace spanscope::behaviour
