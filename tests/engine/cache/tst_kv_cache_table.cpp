// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the behaviour table. Rows A, C and D are known from other servers' caches; "tails" marks their
// form with partial tails cached. Rows S are the cases of spans.
#include "tests/engine/cache/cache_script.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

constexpr auto kNoRoomNow = Refusal::Reason::NoRoomNow;
constexpr auto kNeverFits = Refusal::Reason::NeverFits;

CacheConfig wholeBlocks(std::int32_t blockCount, std::int32_t blockSize = 16) {
  CacheConfig config;
  config.blockSize = blockSize;
  config.blockCount = blockCount;
  config.cacheTails = false;
  config.fingerprint = "model";
  return config;
}

CacheConfig withTails(std::int32_t blockCount, std::int32_t blockSize = 16) {
  CacheConfig config = wholeBlocks(blockCount, blockSize);
  config.cacheTails = true;
  return config;
}

CacheConfig switchedOff(std::int32_t blockCount, std::int32_t blockSize) {
  CacheConfig config = withTails(blockCount, blockSize);
  config.enabled = false;
  return config;
}

const Tokens kCommon = range(1000, 48);
const Tokens kA = range(100, 40);
const Tokens kB = range(200, 32);
const Tokens kC = range(300, 20);
const Tokens kQ = range(900, 10);
const Tokens kQ2 = range(950, 10);

RequestSpec salted(RequestSpec request, const std::string& salt) {
  request.salt = salt;
  return request;
}

RequestSpec generating(RequestSpec request, std::int32_t lookahead) {
  request.lookahead = lookahead;
  return request;
}

/// Every later step of the row finds this many events of the kind.
template <class Payload>
Step told(std::size_t count) {
  return [=](CacheDriver& driver) { same(driver.sink.all<Payload>().size(), count, "events of one kind"); };
}

Script a1() {
  return {start(prompt(1, kCommon + range(1, 7)), "-n -a -a -a", {1, 2, 3, 4})};
}
Script a2() {
  return a1() + Script{start(prompt(2, kCommon + range(11, 5)), "H H H -o", {1, 2, 3, 5})};
}
Script a3() {
  return a2() + Script{finish(1), finish(2)};
}
Script a4() {
  return a3() + Script{start(prompt(3, kCommon + range(21, 5)), "H H H -o", {1, 2, 3, 5})};
}

Script a8() {
  return {start(prompt(1, range(1, 87)), "-n -a -a -a -a -a"),
          start(prompt(2, range(201, 48)), "-n -a -a"),
          finish(1),
          freeOrder({6, 10, 5, 4, 3, 2, 1}),
          finish(2),
          freeOrder({6, 10, 5, 4, 3, 2, 1, 9, 8, 7}),
          start(prompt(3, range(1, 32) + range(601, 10)), "H H -o", {1, 2, 6}),
          freeCount(7)};
}

Script a16() {
  return {start(prompt(1, kCommon), "-n -a -a", {1, 2, 3}),
          run(prompt(2, kCommon + range(1, 48)), "H H H -n -a -a", {1, 2, 3, 4, 5, 6}),
          start(prompt(3, range(501, 64)), "-n -a -a -a", {7, 8, 9, 10}),
          references({1, 1, 1, 0, 0, 0}),
          refused(prompt(4, kCommon + range(1, 96)), kNoRoomNow, 6, 3),
          references({1, 1, 1, 0, 0, 0}),
          freeOrder({6, 5, 4})};
}

/// Two blocks of one content: the last block of a prompt is computed again by everyone.
Script duplicates() {
  return {start(prompt(1, range(1, 16)), "-n", {1}),
          start(prompt(2, range(1, 16)), "-l", {2}),
          finish(1),
          finish(2),
          freeOrder({1, 2}),
          fills({16, 16})};
}

/// The tokens of span A inside other texts.
Script s4() {
  const Tokens span = range(100, 16);
  return {run(spans(1, {span}, kQ), "-n | -n"),
          run(prompt(2, range(1, 16) + span + range(70, 2)), "-n -a -a"),
          run(spans(3, {span}, kQ2), "H | -t"), run(prompt(4, range(1, 16) + span + range(80, 2)), "H H -t"),
          run(prompt(5, span + range(90, 2)), "H -n")};
}

struct Row {
  const char* name;
  CacheConfig config;
  Script script;
};

std::vector<Row> serverRows() {
  return {
      {"A1", wholeBlocks(11), a1() + Script{references({1, 1, 1, 1}), fills({16, 16, 16, 0})}},
      {"A1 tails", withTails(11), a1() + Script{references({1, 1, 1, 1}), fills({16, 16, 16, 7})}},
      {"A2", wholeBlocks(11), a2() + Script{references({2, 2, 2, 1, 1}), freeCount(5)}},
      {"A2 tails", withTails(11),
       a1() + Script{start(prompt(2, kCommon + range(11, 5)), "H H H -t", {1, 2, 3, 5}),
                     references({2, 2, 2, 1, 1}), freeCount(5), fills({16, 16, 16, 7, 5})}},
      {"A3", wholeBlocks(11), a3() + Script{freeOrder({5, 4, 6, 7, 8, 9, 10, 3, 2, 1})}},
      {"A3 tails", withTails(11),
       a1() + Script{start(prompt(2, kCommon + range(11, 5)), "H H H -t"), finish(1), finish(2),
                     freeOrder({6, 7, 8, 9, 10, 4, 5, 3, 2, 1})}},
      {"A4", wholeBlocks(11), a4() + Script{freeCount(6), references({1, 1, 1, 0, 1, 0, 0, 0, 0, 0})}},
      {"A5", wholeBlocks(11),
       a4() + Script{finish(3),
                     start(prompt(4, range(5000, 160)), "-n -a -a -a -a -a -a -a -a -a",
                           {5, 4, 6, 7, 8, 9, 10, 3, 2, 1}),
                     freeOrder({})}},
      {"A7",
       wholeBlocks(11),
       {start(prompt(1, kCommon + range(1, 7), 23), "-n -a -a -a"), append(1, range(8, 4)), computeAll(1),
        fills({16, 16, 16, 0, 0}), append(1, range(12, 19)), computeAll(1), references({1, 1, 1, 1, 1, 0}),
        fills({16, 16, 16, 16, 0})}},
      {"A7 tails",
       withTails(11),
       {start(prompt(1, kCommon + range(1, 7), 23), "-n -a -a -a"), fills({16, 16, 16, 7, 0}),
        append(1, range(8, 4)), fills({16, 16, 16, 7, 0}), sending(computeAll(1), "grown:4 stored:4/11"),
        append(1, range(12, 19)), sending(computeAll(1), "grown:4 stored:4/16 stored:5/14"),
        references({1, 1, 1, 1, 1, 0}), fills({16, 16, 16, 16, 14})}},
      {"A8", wholeBlocks(11), a8()},
      {"A8 tails",
       withTails(11),
       {start(prompt(1, range(1, 87)), "-n -a -a -a -a -a"), start(prompt(2, range(201, 48)), "-n -a -a"),
        finish(1), freeOrder({10, 6, 5, 4, 3, 2, 1}), finish(2), freeOrder({10, 6, 5, 4, 3, 2, 1, 9, 8, 7})}},
      {"A9",
       wholeBlocks(2),
       {run(prompt(1, range(1, 16)), "-n", {1}), fills({16}),
        sending(start(prompt(2, range(51, 15)), "-o", {1}), "evicted:1 allocated:1 admitted"), fills({0})}},
      {"A9 tails",
       withTails(2),
       {run(prompt(1, range(1, 16)), "-n", {1}), fills({16}),
        sending(start(prompt(2, range(51, 15)), "-n", {1}), "evicted:1 allocated:1 admitted stored:1/15"),
        fills({15})}},
      {"A10",
       wholeBlocks(3),
       {run(prompt(1, range(1, 32)), "-n -a", {1, 2}),
        start(prompt(2, range(1, 16) + range(51, 16)), "H -t", {1, 2})}},
      {"A11",
       switchedOff(5, 4),
       {start(prompt(1, range(1, 6)), "-o -o", {1, 2}), start(prompt(2, range(1, 6)), "-o -o", {3, 4}),
        fills({0, 0, 0, 0}), refused(prompt(3, range(1, 6)), kNoRoomNow, 2, 0), finish(1),
        start(prompt(3, range(1, 6)), "-o -o", {1, 2})}},
      {"A12",
       wholeBlocks(11),
       {admit(prompt(1, range(1, 70)), "-n -a -a -a -a"), sending(compute(1, 40), "stored:1/16 stored:2/16"),
        fills({16, 16, 0, 0, 0}), sending(compute(1, 8), "stored:3/16"), fills({16, 16, 16, 0, 0})}},
      {"A15",
       wholeBlocks(31),
       {start(salted(prompt(1, kCommon + range(1, 7)), "salt1"), "-n -a -a -a"),
        start(salted(prompt(2, kCommon + range(11, 5)), "salt1"), "H H H -o"),
        start(salted(prompt(3, kCommon + range(11, 5)), "salt2"), "-n -a -a -a")}},
      {"A16", wholeBlocks(11), a16()},
      {"A17",
       wholeBlocks(11),
       {start(prompt(1, kCommon + range(1, 7)), "-n -a -a -a"), clear(false), fills({16, 16, 16}), finish(1),
        sending(clear(true), "cleared"), fills({0, 0, 0}), freeOrder({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
        run(prompt(2, kCommon), "-e -e -e")}},
      {"A19", wholeBlocks(3),
       duplicates() + Script{sending(start(prompt(3, range(51, 16)), "-n", {1}),
                                     "evicted:1 allocated:1 admitted stored:1/16"),
                             finish(3), freeOrder({2, 1}),
                             [](CacheDriver& driver) {
                               same(facts(driver, prompt(4, range(1, 20)), 0, 0).block, BlockId{2},
                                    "the other one");
                             },
                             start(prompt(5, range(71, 32)), "-n -a"), finish(5),
                             [](CacheDriver& driver) {
                               same(inShort(driver.cache.lookup(prompt(6, range(1, 20)))[0].blocks),
                                    std::string("-e -a"), "none left");
                             }}},
      {"A20",
       wholeBlocks(4),
       {sending(start(prompt(1, kCommon), "-n -a -a"),
                "allocated:1 allocated:2 allocated:3 admitted stored:1/16 stored:2/16 stored:3/16"),
        sending(finish(1), "released:3 released:2 released:1"),
        sending(start(prompt(2, range(1, 48)), "-n -a -a"),
                "evicted:3 allocated:3 evicted:2 allocated:2 evicted:1 allocated:1 admitted "
                "stored:3/16 stored:2/16 stored:1/16"),
        finish(2), sending(clear(true), "cleared")}},
      {"C3",
       wholeBlocks(5),
       {start(prompt(1, kCommon + range(1, 16)), "-n -a -a -a"),
        refused(prompt(2, kCommon + range(11, 7)), kNoRoomNow, 1, 0), told<trace::RequestAdmitted>(1),
        told<trace::BlockLookedUp>(4), finish(1), start(prompt(2, kCommon + range(11, 7)), "H H H -o"),
        told<trace::RequestAdmitted>(2), told<trace::BlockLookedUp>(8),
        [](CacheDriver& driver) {
          same(driver.sink.all<trace::RequestAdmitted>().back().cachedTokens, std::int64_t{48},
               "hits counted");
        }}},
      {"C7",
       wholeBlocks(4),
       {run(prompt(1, range(1, 16)), "-n", {1}), freeOrder({2, 3, 1}),
        start(prompt(2, range(51, 16)), "-n", {2}), admit(prompt(3, range(1, 18)), "H -o", {1, 3}), finish(3),
        start(prompt(4, range(71, 16)), "-n", {3}), refused(prompt(5, range(1, 18)), kNoRoomNow, 2, 1)}},
      {"D partial hit needs a copy",
       withTails(11),
       {run(prompt(1, range(1, 20)), "-n -a", {1, 2}),
        sending(admit(prompt(2, range(1, 19) + range(51, 5)), "H P3t", {1, 3}),
                "shared:1 shared:2 allocated:3 copied:2>3/3 admitted"),
        references({1, 1, 1}), sending(copied(2), "released:2"), references({1, 0, 1}),
        sending(computeAll(2), "stored:3/8")}},
      {"D registering again is nothing",
       withTails(11),
       {start(prompt(1, range(1, 20)), "-n -a"),
        sending([](CacheDriver& driver) { driver.cache.computed(1, 0, 20); }, "")}},
      {"D a longer tail takes the place of a shorter one",
       withTails(11),
       {start(prompt(1, range(1, 20), 2), "-n -a"), append(1, {21, 22}),
        sending(computeAll(1), "grown:2 stored:2/6"), finish(1), run(prompt(2, range(1, 21)), "H P4l")}},
      {"D promotion to a whole block",
       withTails(11, 4),
       {start(prompt(1, range(1, 6), 3), "-n -a"), append(1, {7, 8, 9}),
        sending(computeAll(1), "grown:2 stored:2/4 stored:3/1"), finish(1),
        run(prompt(2, range(1, 10)), "H H P1t")}},
      {"D a shared tail is copied before it grows",
       withTails(11, 4),
       {start(prompt(1, range(1, 6), 2), "-n -a", {1, 2}),
        admit(spans(2, {range(1, 6)}, {50}), "H H | -n", {1, 2, 3}), references({2, 2, 1}),
        sending(append(1, {7}), "allocated:4 copied:2>4/2"), sending(copied(1), "released:2"),
        references({2, 1, 1, 1}), sending(computeAll(1), "stored:4/3"), fills({4, 2, 0, 3})}},
      {"D a shared tail keeps its content",
       withTails(11, 4),
       {start(prompt(1, range(1, 5), 2), "-n -a", {1, 2}), append(1, {6}),
        admit(spans(2, {range(1, 5)}, {50}), "H H | -n", {1, 2, 3}), sending(computeAll(1), ""),
        fills({4, 1, 0}), computeAll(2), finish(2),
        sending([](CacheDriver& driver) { driver.cache.computed(1, 0, 6); }, "grown:2 stored:2/2")}},
  };
}

std::vector<Row> spanRows() {
  return {
      {"S1",
       withTails(31),
       {run(spans(1, {kA}, kQ), "-n -a -a | -n"), run(spans(2, {kC, kA}, kQ), "-n -a | R R R | -c"),
        [](CacheDriver& driver) {
          const trace::BlockLookedUp found = facts(driver, spans(3, {kB, kA}, kQ), 1, 2);
          same(found.base, std::int64_t{32}, "base");
          same(found.storedBase, std::int64_t{0}, "stored base");
          same(found.storedByRequest, RequestId{1}, "request");
          same(found.storedByNode, NodePath("/span/0"), "node");
          same(driver.sink.all<trace::RequestAdmitted>().back().relocatedTokens, std::int64_t{40},
               "relocated");
        }}},
      {"S2",
       withTails(41),
       {run(spans(1, {kA, kB, kC}, kQ), "-n -a -a | -n -a | -n -a | -n"),
        run(spans(2, {kC, kB, kA}, kQ), "R R | R R | R R R | -c"),
        run(spans(3, {kC, kB, kA}, kQ), "R R | R R | R R R | P9l")}},
      {"S3",
       withTails(41),
       {run(spans(1, {kA, kB}, kQ), "-n -a -a | -n -a | -n"), run(spans(2, {kC, kB}, kQ), "-n -a | R R | -c"),
        [](CacheDriver& driver) {
          same(facts(driver, spans(3, {kA, range(500, 32)}, kQ), 2, 0).contextDiffersAt, 1,
               "first other span");
          same(facts(driver, spans(4, {kB, kC}, kQ), 2, 0).contextDiffersAt, 0, "first other span");
        }}},
      {"S4", withTails(31), s4()},
      {"S5",
       withTails(41),
       {start(spans(1, {kC, kA}, kQ), "-n -a | -n -a -a | -n"),
        [](CacheDriver& driver) {
          CacheDriver alone(withTails(41));
          alone.run(prompt(1, kA + Tokens{1}));
          const auto inside = driver.sink.all<trace::BlockStored>();
          const auto first = alone.sink.all<trace::BlockStored>();
          for (std::size_t block = 0; block < 2; ++block) {
            CacheDriver::require(first[block].key == inside[2 + block].key,
                                 "the same content has the same key");
            CacheDriver::require(first[block].parent == inside[2 + block].parent, "and the same parent");
          }
        },
        run(prompt(2, kC + kA + Tokens{1}), "H P4t -a -a"), run(spans(3, {kA}, kQ), "R R R | -c")}},
      {"S6",
       withTails(11),
       {run(spans(1, {kA, kB, kC}, kQ), "-n -a -a | -n -a | -n -a | -n", {1, 2, 3, 4, 5, 6, 7, 8}),
        run(spans(2, {range(400, 40), kB, kC}, kQ), "-n -a -a | H H | H H | -c"),
        run(spans(3, {kA, kB, kC}, kQ), "H H -e | H H | H H | -e")}},
      {"S7",
       withTails(6),
       {sending(admit(spans(1, {kB, kB}, kQ), "-n -a | R R | -n", {1, 2, 1, 2, 3}),
                "allocated:1 allocated:2 shared:1 shared:2 allocated:3 admitted"),
        references({2, 2, 1}), computeAll(1),
        sending(finish(1), "released:3 released:2 released:1 released:2 released:1"),
        start(prompt(2, range(600, 33)), "-n -a -a", {4, 5, 3}), references({0, 0, 1, 1, 1}),
        refused(spans(3, {kB, kB}, kQ), kNoRoomNow, 3, 2), finish(2), freeOrder({2, 1, 3, 5, 4}),
        start(spans(3, {kB, kB}, kQ), "H H | R R | -e", {1, 2, 1, 2, 3})}},
      {"S8",
       withTails(31),
       {run(spans(1, {range(1, 5), range(11, 20)}, kQ), "-n | -n -a | -n"),
        run(spans(2, {range(1, 5), range(11, 20)}, kQ2), "H | H H | -t"),
        run(spans(3, {range(1, 4), range(11, 17)}, kQ), "H | R R | -c"),
        run(spans(4, {range(1, 6), range(11, 22)}, kQ), "P5t | R P4t | -c")}},
      {"S9",
       withTails(31),
       {sending(start(spans(1, {kA, kB}, kQ), "-n -a -a | -n -a | -n"),
                "allocated:1 allocated:2 allocated:3 allocated:4 allocated:5 allocated:6 admitted "
                "stored:1/16 stored:2/16 stored:3/8 stored:4/16 stored:5/16 stored:6/10"),
        [](CacheDriver& driver) {
          const auto stored = driver.sink.all<trace::BlockStored>();
          CacheDriver::require(stored[0].parent == rootKey(&xxh3Key, "model", "", {}),
                               "a span begins at the root");
          CacheDriver::require(stored[3].parent == stored[0].parent, "every span begins at the root");
          CacheDriver::require(stored[1].parent == stored[0].key, "its blocks are a chain");
          const std::vector<SeenKey> seen{{stored[2].key, 72, 0}, {stored[4].key, 32, 0}};
          CacheDriver::require(stored[5].parent == rootKey(&xxh3Key, "model", "", seen),
                               "the question begins with what it sees");
        }}},
      {"S10",
       withTails(6),
       {run(prompt(1, range(1, 80)), "-n -a -a -a -a", {1, 2, 3, 4, 5}), freeOrder({5, 4, 3, 2, 1}),
        sending(run(prompt(2, range(500, 20)), "-n -a", {5, 4}),
                "evicted:5 allocated:5 evicted:4 allocated:4 admitted stored:5/16 stored:4/4 released:4 "
                "released:5"),
        admit(prompt(3, range(1, 80)), "H H H -e -e"), finish(3),
        start(spans(4, {range(1, 48)}, range(700, 17)), "H H H | -n -a"), finish(4)}},
      {"S11",
       withTails(31),
       {run(spans(1, {kA}, kQ), "-n -a -a | -n"),
        [](CacheDriver& driver) {
          CacheConfig config = withTails(31);
          config.fingerprint = "another model";
          CacheDriver other(config);
          other.run(spans(1, {kA}, kQ));
          const auto mine = driver.sink.all<trace::BlockStored>();
          const auto others = other.sink.all<trace::BlockStored>();
          for (std::size_t block = 0; block < mine.size(); ++block) {
            CacheDriver::require(!(mine[block].key == others[block].key), "another model, another key");
            CacheDriver::require(!(mine[block].parent == others[block].parent),
                                 "another model, another root");
          }
        }}},
      {"S12",
       withTails(31),
       {run(salted(spans(1, {kA, kB}, kQ), "one"), "-n -a -a | -n -a | -n"),
        run(salted(spans(2, {kA, kB}, kQ), "two"), "-n -a -a | -n -a | -n"),
        run(salted(spans(3, {kB, kA}, kQ2), "one"), "R R | R R R | -n"),
        run(spans(4, {kA, kB}, kQ), "-n -a -a | -n -a | -n"),
        [](CacheDriver& driver) {
          const auto stored = driver.sink.all<trace::BlockStored>();
          for (std::size_t block = 0; block < 6; ++block) {
            CacheDriver::require(!(stored[block].key == stored[6 + block].key), "another salt, another key");
          }
        }}},
      {"growth is kept free",
       withTails(6, 4),
       {start(generating(prompt(1, range(1, 6)), 7), "-n -a"), freeCount(3),
        refused(prompt(2, range(50, 6)), kNoRoomNow, 2, 1), start(prompt(3, range(50, 4)), "-n"),
        append(1, range(7, 7)), freeCount(0), computeAll(1)}},
      {"never fits",
       withTails(6, 4),
       {refused(generating(prompt(1, range(1, 15)), 6), kNeverFits, 6, 5),
        start(generating(prompt(2, range(1, 15)), 5), "-n -a -a -a")}},
      {"never fits but for sharing",
       withTails(4, 4),
       {start(spans(1, {range(1, 8), range(1, 8), range(1, 8)}, {50}), "-n -a | R R | R R | -n")}},
  };
}

}  // namespace

Q_DECLARE_METATYPE(spanscope::cache::CacheConfig)
Q_DECLARE_METATYPE(spanscope::cache::test::Script)

class TestKvCacheTable : public QObject {
  Q_OBJECT

 private:
  static void fill(const std::vector<Row>& rows) {
    QTest::addColumn<CacheConfig>("config");
    QTest::addColumn<Script>("script");
    for (const Row& row : rows) QTest::newRow(row.name) << row.config << row.script;
  }

  static void play() {
    QFETCH(CacheConfig, config);
    QFETCH(Script, script);
    CacheDriver driver(config);
    std::size_t step = 0;
    try {
      for (; step < script.size(); ++step) script[step](driver);
    } catch (const std::exception& error) {
      QFAIL(qPrintable(QStringLiteral("step %1: %2").arg(step + 1).arg(QString::fromUtf8(error.what()))));
    }
  }

 private Q_SLOTS:
  void likeOtherServers_data() { fill(serverRows()); }
  void likeOtherServers() { play(); }
  void ofSpans_data() { fill(spanRows()); }
  void ofSpans() { play(); }
};

QTEST_APPLESS_MAIN(TestKvCacheTable)
#include "tst_kv_cache_table.moc"
