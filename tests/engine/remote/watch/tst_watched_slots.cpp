// SPDX-License-Identifier: GPL-3.0-or-later
// The slots of a llama-server as a trace.
#include "engine/base/error.h"
#include "engine/remote/watch/watched_slots.h"
#include "engine/trace/recorder.h"
#include "engine/trace/replay.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::watch;

namespace {

constexpr std::int64_t kSlotSecond = 1'000'000'000;
const WatchedServer kServer{
    .program = "llama.cpp b1", .address = "http://here", .model = "m", .countsTokens = true};

struct TracedSlots {
  explicit TracedSlots(const std::vector<SlotReport>& first)
      : recorder({.keepEvents = true, .clock = {}}), slots(recorder, kServer, first) {}

  trace::Replay replayed() const {
    trace::Replay replay;
    for (const trace::Event& event : recorder.events()) {
      if (const std::optional<Error> error = replay.apply(event)) qFatal("%s", error->message().c_str());
    }
    return replay;
  }

  trace::Recorder recorder;
  WatchedSlots slots;
};

const SlotReport kEmpty{.id = 0, .context = 64};

}  // namespace

class TestWatchedSlots : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers();
  void wrongAnswers();
  void aRequest();
  void reuse();
  void idleAtFirst();
  void severalSlots();
  void newerServer();
  void shortRequest();
  void otherRequests();
  void idleSlotIsEmptied();
  void lostServer();
};

/// An answer of llama-server 0c1e570, shortened.
void TestWatchedSlots::answers() {
  const std::string json = R"([{"id":0,"n_ctx":1024,"speculative":false,"is_processing":true,"id_task":5,
      "n_prompt_tokens":40,"n_prompt_tokens_processed":8,"n_prompt_tokens_cache":16,
      "params":{"n_predict":-1},"next_token":[{"has_next_token":true,"n_remain":-1,"n_decoded":3}]},
      {"id":1,"n_ctx":1024,"speculative":false,"is_processing":false}])";
  const std::vector<SlotReport> slots = readSlots(json);
  QCOMPARE(slots.size(), std::size_t{2});
  QVERIFY(slots[0] == (SlotReport{.id = 0,
                                  .context = 1024,
                                  .isProcessing = true,
                                  .task = 5,
                                  .prompt = 40,
                                  .processed = 8,
                                  .cached = 16,
                                  .generated = 3}));
  QVERIFY(slots[1] == (SlotReport{.id = 1, .context = 1024}));
}

void TestWatchedSlots::wrongAnswers() {
  for (const char* const wrong : {"", "{}", "3", "[1,"}) QVERIFY_EXCEPTION_THROWN(readSlots(wrong), Failure);
  const std::vector<SlotReport> slots = readSlots(
      R"([1, {"id":-4,"n_ctx":-1,"n_prompt_tokens":-5,"n_prompt_tokens_cache":99,"next_token":[]}])");
  QCOMPARE(slots.size(), std::size_t{1});
  QVERIFY(slots[0] == SlotReport());
}

void TestWatchedSlots::aRequest() {
  TracedSlots traced({kEmpty});
  SlotReport now = kEmpty;
  now.isProcessing = true;
  now.task = 1;
  // The server has not read the prompt, so it reports the length of the previous prompt.
  now.prompt = 72;
  traced.slots.take({now}, -kSlotSecond);
  QVERIFY(!traced.replayed().progress().requests.at(1).reported);
  QCOMPARE(traced.replayed().progress().requests.at(1).promptTokens, std::int64_t{0});
  now.prompt = 40;
  now.processed = 16;
  traced.slots.take({now}, 0);
  QCOMPARE(traced.replayed().pool().blocks()[1].references, 1);
  now.processed = 40;
  traced.slots.take({now}, kSlotSecond);
  now.generated = 10;
  traced.slots.take({now}, 2 * kSlotSecond);
  now.isProcessing = false;
  traced.slots.take({now}, 3 * kSlotSecond);
  traced.slots.end(4 * kSlotSecond);
  const trace::Replay replay = traced.replayed();
  const trace::RequestState& request = replay.progress().requests.at(1);
  QCOMPARE(request.promptTokens, std::int64_t{40});
  QCOMPARE(request.cachedTokens, std::int64_t{0});
  QCOMPARE(request.reported->generatedTokens, std::optional<std::int64_t>(10));
  QCOMPARE(request.reported->timeToFirstToken, std::optional<double>(3));
  QCOMPARE(request.reported->seconds, 4.0);
  // 40 tokens of the prompt and 9 of the answer are computed: 3 blocks of 16, and a token.
  QCOMPARE(replay.pool().cachedCount(), std::size_t{4});
  QCOMPARE(replay.pool().blocks()[4].fill, 1);
  QCOMPARE(replay.pool().freeCount(), std::size_t{4});
  QCOMPARE(traced.slots.tasks(), std::uint64_t{1});
}

/// The second request keeps the first 20 tokens of the slot.
void TestWatchedSlots::reuse() {
  TracedSlots traced({kEmpty});
  SlotReport now{.context = 64, .isProcessing = false, .task = 1, .prompt = 48, .processed = 48};
  traced.slots.take({now}, 0);
  now = {.context = 64, .isProcessing = true, .task = 2, .prompt = 40, .processed = 10, .cached = 20};
  traced.slots.take({now}, 1);
  trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().evicted, std::uint64_t{1});
  QCOMPARE(replay.progress().requests.at(2).cachedTokens, std::int64_t{20});
  QVERIFY(replay.progress().requests.at(2).blocks.at({0, 0}).outcome == trace::LookupOutcome::Hit);
  QVERIFY(replay.progress().requests.at(2).blocks.at({0, 1}).outcome == trace::LookupOutcome::Partial);
  now.processed = 20;
  now.isProcessing = false;
  traced.slots.take({now}, 2);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{3});
  QCOMPARE(traced.replayed().pool().blocks()[3].fill, 8);
  // More cached tokens than the slot had: the server filled the slot from its host memory.
  now = {.context = 64, .isProcessing = true, .task = 3, .prompt = 64, .processed = 1, .cached = 63};
  traced.slots.take({now}, 3);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{4});
}

/// A slot keeps the content of a request that ended before the watch began.
void TestWatchedSlots::idleAtFirst() {
  const SlotReport idle{.context = 64, .task = 9, .prompt = 33, .processed = 33, .generated = 1};
  TracedSlots traced({idle});
  traced.slots.take({idle}, 0);
  const trace::Replay replay = traced.replayed();
  QVERIFY(replay.progress().requests.empty());
  QCOMPARE(replay.pool().cachedCount(), std::size_t{3});
  QCOMPARE(replay.pool().blocks()[3].fill, 1);
}

void TestWatchedSlots::severalSlots() {
  TracedSlots traced({kEmpty, kEmpty});
  SlotReport busy = kEmpty;
  busy.task = 4;
  busy.isProcessing = true;
  busy.prompt = busy.processed = 17;
  traced.slots.take({kEmpty, busy}, 0);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().requests.at(1).node, std::string("/par/1"));
  QCOMPARE(replay.pool().blocks()[5].references, 1);
}

/// The reports of llama-server in October 2026: "prompt" counts the tokens in the slot, and an idle slot has
/// no counts. The totals contain the request, so the trace has the request once.
void TestWatchedSlots::newerServer() {
  TracedSlots traced({kEmpty});
  traced.slots.count({}, 0);
  traced.slots.take({{.context = 64, .isProcessing = true, .task = 7, .prompt = 38, .cached = 20}}, 0);
  traced.slots.take({{.context = 64,
                      .isProcessing = true,
                      .task = 7,
                      .prompt = 43,
                      .processed = 18,
                      .cached = 20,
                      .generated = 6}},
                    1);
  traced.slots.count({.prompt = 38, .cached = 20}, 2);
  traced.slots.take({{.context = 64, .task = 7, .prompt = 47}}, 3);
  traced.slots.count({.prompt = 38, .cached = 20}, 4);
  traced.slots.take({{.context = 64, .task = 7, .prompt = 47}}, 5);
  traced.slots.count({.prompt = 38, .cached = 20}, 6);
  traced.slots.count({.prompt = 38, .cached = 20}, 7);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().requests.size(), std::size_t{1});
  const trace::RequestState& request = replay.progress().requests.at(1);
  QCOMPARE(request.reported->promptTokens, std::optional<std::int64_t>(38));
  QCOMPARE(request.reported->cachedTokens, std::int64_t{20});
  QCOMPARE(request.reported->generatedTokens, std::optional<std::int64_t>(10));
  QCOMPARE(replay.pool().blocks()[3].fill, 47 - 32);
}

/// A request between two reports has the counts of the totals.
void TestWatchedSlots::shortRequest() {
  TracedSlots traced({kEmpty});
  traced.slots.count({.prompt = 100, .cached = 10}, 0);
  const std::vector<SlotReport> idle{{.context = 64, .task = 3, .prompt = 33}};
  traced.slots.take(idle, 1);
  traced.slots.count({.prompt = 130, .cached = 15}, 2);
  QVERIFY(!traced.replayed().progress().requests.at(1).reported);
  traced.slots.take(idle, 3);
  traced.slots.count({.prompt = 130, .cached = 15}, 4);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().requests.size(), std::size_t{1});
  const trace::RequestState& request = replay.progress().requests.at(1);
  QCOMPARE(request.reported->promptTokens, std::optional<std::int64_t>(30));
  QCOMPARE(request.reported->cachedTokens, std::int64_t{5});
  QCOMPARE(request.reported->generatedTokens, std::optional<std::int64_t>(4));
  QVERIFY(!request.reported->timeToFirstToken);
  QCOMPARE(replay.pool().blocks()[3].fill, 1);
  // Without totals, the counts stay unknown.
  traced.slots.take({{.context = 64, .task = 4, .prompt = 20}}, 5);
  traced.slots.take({{.context = 64, .task = 4, .prompt = 20}}, 6 + WatchedSlots::kPatience);
  const trace::Replay later = traced.replayed();
  QVERIFY(!later.progress().requests.at(2).reported->promptTokens);
  QCOMPARE(later.pool().blocks()[2].fill, 4);
  QVERIFY(!later.pool().blocks()[3].cached);
}

/// The totals of several short requests cannot be divided.
void TestWatchedSlots::otherRequests() {
  TracedSlots traced({kEmpty, kEmpty});
  traced.slots.count({}, 0);
  const std::vector<SlotReport> idle{{.context = 64, .task = 3, .prompt = 33},
                                     {.context = 64, .task = 4, .prompt = 20}};
  traced.slots.take(idle, 1);
  for (const std::int64_t time : {2, 3}) traced.slots.count({.prompt = 50, .cached = 15}, time);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().requests.size(), std::size_t{3});
  QVERIFY(!replay.progress().requests.at(1).reported->promptTokens);
  QCOMPARE(replay.progress().requests.at(3).node, std::string("/par/2"));
  QCOMPARE(replay.progress().requests.at(3).promptTokens, std::int64_t{50});
}

/// A newer server moves the content of an idle slot to its host memory.
void TestWatchedSlots::idleSlotIsEmptied() {
  TracedSlots traced({{.context = 64, .task = 9, .prompt = 33}});
  traced.slots.take({{.context = 64, .task = 9, .prompt = 0}}, 0);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{0});
}

void TestWatchedSlots::lostServer() {
  TracedSlots traced({kEmpty});
  const SlotReport busy{.context = 64, .isProcessing = true, .task = 1, .prompt = 40, .processed = 40};
  traced.slots.take({busy}, 0);
  for (const std::int64_t time : {1, 2}) traced.slots.lose("gone", time);
  const trace::Replay lost = traced.replayed();
  QCOMPARE(lost.progress().requests.at(1).reported->brokenBy, std::string("gone"));
  QVERIFY(lost.progress().requests.at(1).phase == trace::RequestPhase::Finished);
  QCOMPARE(lost.pool().cachedCount(), std::size_t{0});
  QCOMPARE(lost.pool().blocks()[1].references, 0);
  // The new process counts its tasks from the start.
  traced.slots.take({busy}, 3);
  QCOMPARE(traced.slots.tasks(), std::uint64_t{2});
}

SPANSCOPE_TEST(tst_watched_slots, TestWatchedSlots)
#include "tst_watched_slots.moc"
