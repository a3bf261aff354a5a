// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "tests/engine/cache/cache_script.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

CacheConfig pool(std::int32_t blockCount, std::int32_t blockSize = 4) {
  CacheConfig config;
  config.blockSize = blockSize;
  config.blockCount = blockCount;
  return config;
}

/// Plays a script and says which step failed.
#define PLAY(driver, ...)                                                                                  \
  do {                                                                                                     \
    const Script script = __VA_ARGS__;                                                                     \
    std::size_t step = 0;                                                                                  \
    try {                                                                                                  \
      for (; step < script.size(); ++step) script[step](driver);                                           \
    } catch (const std::exception& error) {                                                                \
      QFAIL(qPrintable(QStringLiteral("step %1: %2").arg(step + 1).arg(QString::fromUtf8(error.what())))); \
    }                                                                                                      \
  } while (false)

}  // namespace

Q_DECLARE_METATYPE(spanscope::cache::CacheConfig)
Q_DECLARE_METATYPE(spanscope::cache::RequestSpec)

class TestKvCache : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // ---- what a lookup says
  // --------------------------------------------------------------------------------------

  void saysWhereTokensDiffer() {
    CacheDriver driver(pool(20));
    RequestSpec first = prompt(1, range(1, 10));
    first.run = 7;
    PLAY(driver, {run(first, "-n -a -a")});
    const trace::BlockLookedUp found = facts(driver, prompt(2, {1, 2, 3, 4, 5, 6, 99, 8, 9}), 0, 1);
    QCOMPARE(found.outcome, trace::LookupOutcome::Partial);
    QCOMPARE(found.reason, trace::MissReason::TokensDiffer);
    QCOMPARE(found.block, 2);
    QCOMPARE(found.tokens, 2);
    QCOMPARE(found.wanted, 4);
    QCOMPARE(found.differsAt, 6);
    QCOMPARE(found.tokenWanted, 99);
    QCOMPARE(found.tokenStored, 7);
    QCOMPARE(found.storedByRun, RunId{7});
    QCOMPARE(found.storedByRequest, RequestId{1});
    QCOMPARE(found.storedByNode, NodePath("/g"));
    // The stored partial block simply ends.
    const trace::BlockLookedUp ended = facts(driver, prompt(2, range(1, 12)), 0, 2);
    QCOMPARE(ended.tokens, 2);
    QCOMPARE(ended.differsAt, 10);
    QCOMPARE(ended.tokenStored, -1);
    // Nothing in common, but the same beginning.
    const trace::BlockLookedUp other = facts(driver, prompt(2, {1, 2, 3, 4, 50, 51, 52, 53, 54}), 0, 1);
    QCOMPARE(other.outcome, trace::LookupOutcome::Miss);
    QCOMPARE(other.reason, trace::MissReason::TokensDiffer);
    QCOMPARE(other.differsAt, 4);
    QCOMPARE(other.tokenStored, 5);
  }

  void saysWhichEventEvicted() {
    CacheDriver driver(pool(4));
    PLAY(driver, {run(prompt(1, range(1, 10)), "-n -a -a"), run(prompt(2, range(50, 7)), "-n -a")});
    const auto& events = driver.sink.events();
    const trace::BlockLookedUp evicted = facts(driver, prompt(3, range(1, 10)), 0, 1);
    QCOMPARE(evicted.reason, trace::MissReason::Evicted);
    const auto* removed = std::get_if<trace::BlockRemoved>(&events.at(evicted.evictedBy - 1).payload);
    QVERIFY(removed);
    QCOMPARE(removed->block, 2);
    QCOMPARE(events.at(evicted.evictedBy - 1).request, RequestId{2});
    // Once it is stored again that is forgotten.
    PLAY(driver, {run(prompt(3, range(1, 10)), "H -e -e"), admit(prompt(4, range(1, 10)), "H H -l")});
  }

  /// After the user has emptied the cache, a miss has the reason in what the cache has now.
  void clearedContentIsNotEvicted() {
    CacheDriver driver(pool(8));
    PLAY(driver, {run(prompt(1, range(1, 10)), "-n -a -a")});
    driver.cache.clear();
    QCOMPARE(facts(driver, prompt(2, range(1, 10)), 0, 0).reason, trace::MissReason::Evicted);
    // The first two tokens are the same, so the difference is the reason.
    std::vector<TokenId> other = range(1, 2);
    for (const TokenId token : range(40, 8)) other.push_back(token);
    PLAY(driver, {run(prompt(2, other), "-n -a -a")});
    const trace::BlockLookedUp differs = facts(driver, prompt(3, range(1, 10)), 0, 0);
    QCOMPARE(differs.reason, trace::MissReason::TokensDiffer);
  }

  void evictedContentThatHadGrownIsKnownByItsShorterForms() {
    CacheDriver driver(pool(3));
    PLAY(driver, {start(prompt(1, range(1, 2), 2), "-n"), append(1, {3}), computeAll(1), append(1, {4}),
                  computeAll(1), finish(1), run(prompt(2, range(50, 8)), "-n -a"),
                  admit(prompt(3, {1, 2, 3}), "-e")});
  }

  void saysWhatIsSeenDifferently() {
    CacheDriver driver(pool(40));
    const RequestSpec first = spans(1, {range(1, 8), range(11, 8), range(21, 8)}, range(31, 6));
    PLAY(driver, {run(first, "-n -a | -n -a | -n -a | -n -a")});
    const auto differsAt = [&driver](const RequestSpec& request) {
      const trace::BlockLookedUp found = facts(driver, request, request.segments.size() - 1, 0);
      return found.reason == trace::MissReason::ContextDiffers ? found.contextDiffersAt : -1;
    };
    QCOMPARE(differsAt(spans(2, {range(1, 8), range(11, 8), range(41, 8)}, range(31, 6))), 2);
    QCOMPARE(differsAt(spans(2, {range(21, 8), range(11, 8), range(1, 8)}, range(31, 6))), 0);
    QCOMPARE(differsAt(prompt(2, range(31, 6))), 0);
    RequestSpec less = first;
    less.segments.back().sees[1].visibleBegin = 1;
    QCOMPARE(differsAt(less), 1);
    RequestSpec further = first;
    further.segments.back().sees[2].distance += 1;
    QCOMPARE(differsAt(further), 2);
    RequestSpec fewer = first;
    fewer.segments.back().sees.pop_back();
    QCOMPARE(differsAt(fewer), 2);
    QCOMPARE(differsAt(first), -1);
    RequestSpec tenant = fewer;
    tenant.salt = "tenant";
    QCOMPARE(facts(driver, tenant, 3, 0).reason, trace::MissReason::NeverSeen);
  }

  /// Where the model scales queries by their position, a chain is that of its places, too.
  void placesCountWhereQueriesAreScaled_data() {
    QTest::addColumn<qint64>("positionStep");
    QTest::addColumn<qint64>("base");
    QTest::addColumn<bool>("isFound");
    QTest::newRow("no scale") << qint64{0} << qint64{4000} << true;
    QTest::newRow("before the first step") << qint64{100} << qint64{90} << true;
    QTest::newRow("ends at the step") << qint64{100} << qint64{92} << true;
    QTest::newRow("crosses the step") << qint64{100} << qint64{93} << false;
    QTest::newRow("behind it") << qint64{100} << qint64{140} << false;
    QTest::newRow("begins before 0, as long as a step") << qint64{8} << qint64{-3} << true;
    QTest::newRow("begins before 0, longer than a step") << qint64{7} << qint64{-3} << false;
  }
  void placesCountWhereQueriesAreScaled() {
    QFETCH(qint64, positionStep);
    QFETCH(qint64, base);
    QFETCH(bool, isFound);
    CacheConfig config = pool(40);
    config.positionStep = positionStep;
    CacheDriver driver(config);
    PLAY(driver, {run(spans(1, {range(1, 8)}, range(31, 6)), "-n -a | -n -a")});
    RequestSpec moved = spans(2, {range(1, 8)}, range(51, 6));
    moved.segments.front().base = base;
    const trace::BlockLookedUp found = facts(driver, moved, 0, 0);
    QCOMPARE(found.outcome != trace::LookupOutcome::Miss, isFound);
    if (!isFound) {
      QCOMPARE(found.reason, trace::MissReason::ContextDiffers);
      QCOMPARE(found.contextDiffersAt, -1);
    }
    // Stored there, it is found there again.
    CacheDriver there(config);
    moved.segments.back().base = base + 8;
    PLAY(there, {run(moved, "-n -a | -n -a")});
    moved.id = 3;
    QVERIFY(facts(there, moved, 0, 0).outcome != trace::LookupOutcome::Miss);
  }

  /// A text that grows over a step is not that of another place.
  void whatGrowsKeepsItsPlace() {
    CacheConfig config = pool(40);
    config.positionStep = 20;
    CacheDriver driver(config);
    const auto at = [](RequestId id, std::int64_t base) {
      RequestSpec request = prompt(id, range(1, 8));
      request.segments.front().base = base;
      return request;
    };
    PLAY(driver, {run(at(1, 4), "-n -a")});
    QVERIFY(facts(driver, at(2, 4), 0, 0).outcome != trace::LookupOutcome::Miss);
    QCOMPARE(facts(driver, at(2, 0), 0, 0).contextDiffersAt, -1);
    QCOMPARE(facts(driver, at(2, 0), 0, 0).reason, trace::MissReason::ContextDiffers);
  }

  void tailsEndInsideLongerBlocks() {
    CacheDriver driver(pool(40));
    PLAY(driver, {run(prompt(1, range(1, 7)), "-n -a", {1, 2}),
                  run(spans(2, {range(1, 6)}, {50}), "H H | -n", {1, 2, 3}),
                  run(spans(3, {range(1, 3)}, {50}), "H | -c", {1, 4}), fills({4, 3, 1, 1})});
  }

  void saysWhetherWhatIsFoundStandsElsewhere() {
    CacheDriver driver(pool(40));
    const auto admitted = [&driver](const RequestSpec& spec) {
      return driver.admit(spec) && driver.cache.standsElsewhere(spec.id);
    };
    QVERIFY(!admitted(spans(1, {range(1, 6), range(1, 7)}, {50})));
    PLAY(driver, {copied(1), computeAll(1)});
    // The partial block 5, 6 is a hit where it was stored, but 5, 6, 7 begins with it and is after it.
    QVERIFY(admitted(spans(2, {range(1, 6)}, {51})));
    QVERIFY(!admitted(spans(3, {range(1, 7)}, {52})));
    // As long as another request is computing 5, 6, 8, this may be what is found.
    CacheDriver other(pool(40));
    PLAY(other, {run(spans(1, {range(1, 6)}, {50}), "-n -a | -n")});
    QVERIFY(other.admit(spans(2, {{1, 2, 3, 4, 5, 6, 8}}, {51})));
    QVERIFY(!other.cache.standsElsewhere(2));
    QVERIFY(other.admit(spans(3, {range(1, 6)}, {52})));
    QVERIFY(other.cache.standsElsewhere(3));
    PLAY(other, {copied(2), computeAll(2)});
    QVERIFY(!other.cache.standsElsewhere(3));
  }

  void emptySegmentsAreSeen() {
    CacheDriver driver(pool(20));
    PLAY(driver, {run(spans(1, {range(1, 6), {}}, range(31, 6)), "-n -a | -n -a"),
                  run(spans(2, {range(1, 6), {}}, range(31, 7)), "H H | H P2t"),
                  run(spans(3, {range(1, 6)}, range(31, 7)), "H H | -c -a")});
  }

  // ---- sharing, copying, growing
  // -------------------------------------------------------------------------------

  void equalSegmentsShareBlocksNotYetComputed() {
    CacheDriver driver(pool(20));
    PLAY(driver, {admit(spans(1, {range(1, 6), range(1, 6), range(1, 4) + Tokens{9, 9}}, {50}),
                        "-n -a | R R | R -n | -n", {1, 2, 1, 2, 1, 3, 4}),
                  references({3, 2, 1, 1})});
    const trace::BlockLookedUp own = driver.sink.all<trace::BlockLookedUp>()[2];
    QCOMPARE(own.block, 1);
    QCOMPARE(own.storedByRequest, RequestId{1});
    QCOMPARE(own.storedByNode, NodePath("/span/0"));
    QCOMPARE(driver.sink.all<trace::RequestAdmitted>()[0].cachedTokens, std::int64_t{10});
    PLAY(driver, {computeAll(1), finish(1), freeCount(19)});
  }

  void tailsShareEarlierBlocksNotYetComputed() {
    CacheDriver driver(pool(20));
    const RequestSpec request = spans(1, {range(1, 7), range(1, 6), range(1, 2)}, {50});
    QCOMPARE(driver.cache.blocksTogether({&request, 1}), std::int64_t{3});
    PLAY(driver, {admit(request, "-n -a | R R | R | -n", {1, 2, 1, 2, 1, 3}), references({3, 2, 1}),
                  computeAll(1), finish(1), freeCount(19)});
    // A later content that goes on has a block of its own.
    const RequestSpec reversed = spans(2, {range(1, 2), range(1, 7)}, {50});
    QCOMPARE(driver.cache.blocksTogether({&reversed, 1}), std::int64_t{4});
  }

  /// A request that fits only beside what earlier requests happened to leave is refused from the start.
  void whetherARequestFitsDoesNotDependOnWhatIsFound() {
    const RequestSpec request = spans(2, {range(1, 2), range(1, 7)}, {50});
    CacheDriver empty(pool(4));
    PLAY(empty, {refused(request, Refusal::Reason::NeverFits, 4, 3)});
    CacheDriver driver(pool(4));
    PLAY(driver, {run(spans(1, {range(1, 7)}, {50}), "-n -a | -n", {1, 2, 3}),
                  refused(request, Refusal::Reason::NeverFits, 4, 3)});
  }

  void copiesAreLeftOutWhereTheyWouldNotFit() {
    CacheDriver driver(pool(4));
    PLAY(driver, {run(prompt(1, range(1, 12)), "-n -a -a", {1, 2, 3}),
                  run(prompt(2, range(1, 8) + Tokens{9, 10, 50, 51}), "H H -t", {1, 2, 3}),
                  run(prompt(3, range(1, 8) + Tokens{9, 10, 50, 51}), "H H -l", {1, 2, 3})});
    CacheDriver roomy(pool(5));
    PLAY(roomy, {run(prompt(1, range(1, 12)), "-n -a -a", {1, 2, 3}),
                 run(prompt(2, range(1, 8) + Tokens{9, 10, 50, 51}), "H H P2t", {1, 2, 4})});
  }

  void sharersPayForTheCopyOfAGrowingTail() {
    CacheDriver driver(pool(6));
    PLAY(driver, {start(prompt(1, range(1, 6), 10), "-n -a", {1, 2}), freeCount(3),
                  refused(spans(2, {range(1, 6)}, {50}), Refusal::Reason::NoRoomNow, 2, 1)});
    CacheDriver roomier(pool(7));
    PLAY(roomier,
         {start(prompt(1, range(1, 6), 10), "-n -a", {1, 2}),
          start(spans(2, {range(1, 6)}, {50}), "H H | -n", {1, 2, 3}),
          refused(prompt(3, {60}), Refusal::Reason::NoRoomNow, 1, 0), append(1, range(7, 10)), copied(1),
          freeCount(0), computeAll(1), finish(2), run(prompt(3, range(1, 3)), "P2l"), finish(1)});
  }

  void aTailMayBeCopiedMoreThanOnce() {
    CacheDriver driver(pool(20));
    PLAY(driver, {start(prompt(1, {1}, 3), "-n", {1}), start(spans(2, {{1}}, {50}), "H | -n", {1, 2}),
                  sending(append(1, {2}), "allocated:3 copied:1>3/1"), copied(1), computeAll(1),
                  start(spans(3, {{1, 2}}, {50}), "H | -c", {3, 4}),
                  sending(append(1, {3}), "allocated:5 copied:3>5/2"), sending(append(1, {4}), ""), copied(1),
                  computeAll(1), fills({1, 1, 2, 1, 4}), finish(1), finish(2), finish(3)});
  }

  void contentThatCouldNotBeStoredIsStoredLater() {
    CacheDriver driver(pool(11));
    PLAY(driver, {start(prompt(1, range(1, 7), 3), "-n -a", {1, 2}), append(1, {8}),
                  admit(spans(2, {range(1, 7)}, {50}), "H H | -n", {1, 2, 3}), sending(computeAll(1), ""),
                  append(1, {9}), sending(computeAll(1), "stored:4/1"), fills({4, 3, 0, 1}), finish(2),
                  append(1, {10}), sending(computeAll(1), "grown:2 stored:2/4 grown:4 stored:4/2"), finish(1),
                  admit(prompt(3, range(1, 10)), "H H P1l")});
  }

  void ofEqualBlocksTheOneInUseIsShared() {
    CacheDriver driver(pool(6));
    PLAY(driver,
         {start(prompt(1, range(1, 4)), "-n", {1}), start(prompt(2, range(1, 4)), "P3l", {2}), finish(1),
          freeOrder({3, 4, 5, 1}), admit(prompt(3, range(1, 5)), "H -n", {2, 3}), freeOrder({4, 5, 1})});
  }

  void aConversationGoesOn() {
    CacheDriver driver(pool(30));
    PLAY(driver, {start(prompt(1, range(1, 6), 9), "-n -a"), append(1, range(7, 5)), computeAll(1), finish(1),
                  run(prompt(2, range(1, 11) + range(50, 4)), "H H P3t -a"),
                  run(prompt(3, range(1, 14)), "H H P3t -a")});
  }

  void whatWasNotComputedIsNotFound() {
    CacheDriver driver(pool(10));
    PLAY(driver, {admit(prompt(1, range(1, 11)), "-n -a -a"), compute(1, 6), finish(1), fills({4, 0, 0}),
                  freeOrder({2, 3, 4, 5, 6, 7, 8, 9, 1}), admit(prompt(2, range(1, 11)), "H -n -a")});
  }

  // ---- waiting
  // -------------------------------------------------------------------------------------------------

  void wholeBlocksAreComputedOnce() {
    CacheDriver driver(pool(30));
    const RequestSpec second = spans(2, {range(1, 9)}, {60});
    PLAY(driver, {admit(spans(1, {range(1, 9)}, {50}), "-n -a -a | -n"), waits(second, 1), compute(1, 5),
                  waits(second, 1), compute(1, 3), waits(second, 1), compute(1, 1),
                  admit(second, "H H H | -n"), admit(spans(3, {range(1, 9)}, {61}), "H H H | -n")});
  }

  void withoutTailsOnlyWholeBlocksAreWaitedFor() {
    CacheConfig config = pool(30);
    config.cacheTails = false;
    CacheDriver driver(config);
    const RequestSpec second = spans(2, {range(1, 9)}, {60});
    PLAY(driver, {admit(spans(1, {range(1, 9)}, {50}), "-n -a -a | -o"), waits(second, 1), compute(1, 8),
                  admit(second, "H H -o | -o")});
  }

  void theBeginningOfABlockIsComputedOnce() {
    CacheDriver driver(pool(30));
    const RequestSpec longer = prompt(2, {1, 2, 3, 70, 71});
    const RequestSpec other = prompt(3, {80, 81});
    PLAY(driver, {admit(prompt(1, range(1, 9)), "-n -a -a"), waits(longer, 1), admit(other, "-n"),
                  compute(1, 4), admit(longer, "P3t -a")});
  }

  void aRequestThatIsPreemptedIsWaitedForNoLonger() {
    CacheDriver driver(pool(30));
    const RequestSpec second = prompt(2, range(1, 9));
    PLAY(driver, {admit(prompt(1, range(1, 8)), "-n -a"), compute(1, 4), waits(second, 1),
                  [](CacheDriver& d) { d.preempt(1); }, admit(second, "H -n -a")});
  }

  void waitingEndsWithTheOtherRequest() {
    CacheDriver driver(pool(30));
    const RequestSpec second = prompt(2, range(1, 9));
    PLAY(driver, {admit(prompt(1, range(1, 8)), "-n -a"), waits(second, 1), compute(1, 4), waits(second, 1),
                  finish(1), admit(second, "H -n -a")});
  }

  void copiesOfAPromptWaitForAllButItsLastToken() {
    CacheDriver driver(pool(30));
    PLAY(driver, {admit(prompt(1, range(1, 4)), "-n"), waits(prompt(2, range(1, 4)), 1), finish(1),
                  admit(prompt(2, range(1, 4)), "-n"), waits(spans(3, {range(1, 4)}, {50}), 2), computeAll(2),
                  admit(prompt(4, range(1, 4)), "P3l"), admit(spans(3, {range(1, 4)}, {50}), "H | -n")});
  }

  // ---- growing without room that was kept, and giving way
  // --------------------------------------------------------------------------

  void growsAsLongAsBlocksAreFree() {
    CacheDriver driver(pool(4));
    PLAY(driver, {start(prompt(1, range(1, 6)), "-n -a"), append(1, range(7, 6)), freeCount(0),
                  hasNoRoom(1, 13), computeAll(1), hasNoRoom(1, 13), finish(1)});
  }

  void whatIsKeptForOthersIsNotTaken() {
    CacheDriver driver(pool(5));
    PLAY(driver, {start(prompt(1, range(1, 4)), "-n"), start(prompt(2, range(11, 4), 5), "-n"), freeCount(2),
                  hasNoRoom(1, 5), append(2, range(15, 5)), freeCount(0), finish(2), append(1, {5})});
  }

  void aSharedTailIsNotCopiedWithoutRoom() {
    CacheDriver driver(pool(4));
    PLAY(driver, {start(prompt(1, range(1, 6)), "-n -a"), start(spans(2, {range(1, 6)}, {50}), "H H | -n"),
                  freeCount(0), hasNoRoom(1, 7), finish(2), append(1, {7})});
  }

  void whoGaveWayFindsWhatItComputed() {
    CacheDriver driver(pool(10));
    PLAY(driver, {start(prompt(1, range(1, 6)), "-n -a"), append(1, {7, 8, 9}), computeAll(1),
                  resume(1, {10}, "H H P1t", 0), computeAll(1), finish(1)});
  }

  void whatWasEvictedMeanwhileIsComputedAgain() {
    CacheDriver driver(pool(5));
    PLAY(driver, {start(prompt(1, range(1, 9)), "-n -a -a"), [](CacheDriver& d) { d.preempt(1); },
                  start(prompt(2, range(21, 8)), "-n -a"), finish(2),
                  [](CacheDriver& d) {
                    RequestSpec again = prompt(1, range(1, 10));
                    again.computedBefore = {9};
                    admit(again, "H H -n")(d);
                    same(d.sink.all<trace::RequestAdmitted>().back().recomputedTokens, std::int64_t{1},
                         "tokens computed again");
                  }});
  }

  void spareBlocksHaveToBeLeftOver() {
    CacheDriver driver(pool(5));
    const RequestSpec request = prompt(2, range(11, 5));
    driver.run(prompt(1, range(1, 4)));
    QVERIFY(std::holds_alternative<Refusal>(driver.cache.admit(request, 3)));
    const auto refusal = std::get<Refusal>(driver.cache.admit(request, 3));
    QCOMPARE(refusal.neededBlocks, std::int64_t{5});
    QCOMPARE(refusal.availableBlocks, std::int64_t{4});
    QVERIFY(std::holds_alternative<Admission>(driver.cache.admit(request, 2)));
  }

  // ---- wrong use, settings
  // -------------------------------------------------------------------------------------

  void configurations_data() {
    QTest::addColumn<CacheConfig>("config");
    QTest::addColumn<bool>("good");
    QTest::newRow("smallest") << pool(2, 1) << true;
    QTest::newRow("largest block") << pool(2, 1024) << true;
    QTest::newRow("no token a block") << pool(10, 0) << false;
    QTest::newRow("negative block") << pool(10, -1) << false;
    QTest::newRow("block too large") << pool(10, 1025) << false;
    QTest::newRow("only the null block") << pool(1) << false;
    QTest::newRow("negative count") << pool(-5) << false;
    QTest::newRow("too many blocks") << pool((1 << 24) + 1, 1) << false;
    QTest::newRow("too many slots") << pool(1 << 24, 128) << false;
  }

  void configurations() {
    QFETCH(CacheConfig, config);
    QFETCH(bool, good);
    const CacheConfig any = pool(2);
    ReplayingSink sink(any);
    if (good) {
      QCOMPARE(KvCache(config, sink).freeBlocks(), std::int64_t{config.blockCount - 1});
    } else {
      QVERIFY_EXCEPTION_THROWN(KvCache(config, sink), Failure);
    }
  }

  void senselessRequests_data() {
    QTest::addColumn<RequestSpec>("request");
    const RequestSpec good = spans(9, {range(1, 6)}, {50});
    const auto row = [&good](const char* name, const std::function<void(RequestSpec&)>& change) {
      RequestSpec request = good;
      change(request);
      QTest::newRow(name) << request;
    };
    row("no number", [](RequestSpec& request) { request.id = 0; });
    row("no segment", [](RequestSpec& request) { request.segments.clear(); });
    row("nothing to compute", [](RequestSpec& request) { request.segments.back().tokens.clear(); });
    row("negative growth", [](RequestSpec& request) { request.lookahead = -1; });
    row("sees itself", [](RequestSpec& request) { request.segments[1].sees[0].segment = 1; });
    row("sees a later one", [](RequestSpec& request) { request.segments[0].sees.push_back({1, 0, 0}); });
    row("sees what is not there", [](RequestSpec& request) { request.segments[1].sees[0].segment = 7; });
    row("sees from before", [](RequestSpec& request) { request.segments[1].sees[0].visibleBegin = -1; });
    row("sees from behind", [](RequestSpec& request) { request.segments[1].sees[0].visibleBegin = 7; });
  }

  void senselessRequests() {
    QFETCH(RequestSpec, request);
    CacheDriver driver(pool(10));
    QVERIFY_EXCEPTION_THROWN(driver.cache.admit(request), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(driver.cache.lookup(request), std::logic_error);
    QVERIFY(driver.sink.events().empty());
    QCOMPARE(driver.cache.contentCount(), std::size_t{0});
  }

  void wrongUse() {
    CacheDriver driver(pool(10));
    KvCache& cache = driver.cache;
    PLAY(driver, {admit(prompt(1, range(1, 6), 1), "-n -a")});
    const trace::PoolState before = cache.dump();
    const std::size_t events = driver.sink.events().size();
    QVERIFY_EXCEPTION_THROWN(cache.admit(prompt(1, range(1, 6))), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.computed(2, 0, 1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.computed(1, 1, 1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.computed(1, 0, 7), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.computed(1, 0, -1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.append(2, 1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.blocks(2, 0), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.blocks(1, 1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.copied(2), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cache.finish(2), std::logic_error);
    QCOMPARE(cache.dump(), before);
    QCOMPARE(driver.sink.events().size(), events);
    QVERIFY(cache.append(1, 7).has_value());
  }

  void upperBound() {
    CacheDriver driver(pool(10));
    QCOMPARE(driver.cache.blocksPerRequest(prompt(1, range(1, 8))), std::int64_t{2});
    QCOMPARE(driver.cache.blocksPerRequest(prompt(1, range(1, 8), 1)), std::int64_t{3});
    QCOMPARE(driver.cache.blocksPerRequest(spans(1, {range(1, 5), range(1, 5)}, {7}, 3)), std::int64_t{5});
    RequestSpec huge = prompt(1, {1}, std::numeric_limits<std::int32_t>::max());
    QCOMPARE(driver.cache.blocksPerRequest(huge), std::int64_t{1} << 29);
    PLAY(driver, {refused(huge, Refusal::Reason::NeverFits, std::int64_t{1} << 29, 9)});
  }

  void collidingKeysDoNotServeWrongData() {
    CacheDriver driver(pool(40), [](std::span<const std::uint8_t>) { return trace::BlockKey{3, 3}; });
    PLAY(driver, {run(spans(1, {range(1, 8), range(11, 8)}, range(31, 5)), "-n -a | -n -a | -n -a"),
                  run(spans(2, {range(11, 8), range(1, 8)}, range(31, 5)), "R R | R R | -c -a"),
                  run(spans(3, {range(1, 8), range(51, 8)}, range(31, 5)), "H H | -n -a | -c -a"),
                  run(prompt(4, range(61, 8)), "-n -a")});
  }
};

SPANSCOPE_TEST(tst_kv_cache, TestKvCache)
#include "tst_kv_cache.moc"
