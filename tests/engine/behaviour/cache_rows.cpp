// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that are known from other servers' caches. "tails" marks their form with cached partial blocks.
#include "engine/trace/pool_replay.h"
#include "engine/trace/sink.h"
#include "tests/engine/behaviour/table_row.h"

namespace spanscope::behaviour {

using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

constexpr auto kNoRoomNow = Refusal::Reason::NoRoomNow;
constexpr auto kNeverFits = Refusal::Reason::NeverFits;

struct Row {
  const char* name;
  CacheConfig config;
  Script script;
};

const Tokens kCommon = range(1000, 48);

/// Every later step of the row finds this many events of the kind.
template <class Payload>
Step reported(std::size_t count) {
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

std::vector<Row> serverRows() {
  return {
      {"A1 prefill", wholeBlocks(11), a1() + Script{references({1, 1, 1, 1}), fills({16, 16, 16, 0})}},
      {"A1 prefill, tails cached", withTails(11),
       a1() + Script{references({1, 1, 1, 1}), fills({16, 16, 16, 7})}},
      {"A2 the same prefix while the first runs", wholeBlocks(11),
       a2() + Script{references({2, 2, 2, 1, 1}), freeCount(5)}},
      {"A2 the same prefix while the first runs, tails cached", withTails(11),
       a1() + Script{start(prompt(2, kCommon + range(11, 5)), "H H H -t", {1, 2, 3, 5}),
                     references({2, 2, 2, 1, 1}), freeCount(5), fills({16, 16, 16, 7, 5})}},
      {"A3 free both", wholeBlocks(11), a3() + Script{freeOrder({5, 4, 6, 7, 8, 9, 10, 3, 2, 1})}},
      {"A3 free both, tails cached", withTails(11),
       a1() + Script{start(prompt(2, kCommon + range(11, 5)), "H H H -t"), finish(1), finish(2),
                     freeOrder({6, 7, 8, 9, 10, 4, 5, 3, 2, 1})}},
      {"A4 the same prefix after both are free", wholeBlocks(11),
       a4() + Script{freeCount(6), references({1, 1, 1, 0, 1, 0, 0, 0, 0, 0})}},
      {"A5 an unrelated prompt takes every block", wholeBlocks(11),
       a4() + Script{finish(3),
                     start(prompt(4, range(5000, 160)), "-n -a -a -a -a -a -a -a -a -a",
                           {5, 4, 6, 7, 8, 9, 10, 3, 2, 1}),
                     freeOrder({})}},
      {"A7 decode",
       wholeBlocks(11),
       {start(prompt(1, kCommon + range(1, 7), 23), "-n -a -a -a"), append(1, range(8, 4)), computeAll(1),
        fills({16, 16, 16, 0, 0}), append(1, range(12, 19)), computeAll(1), references({1, 1, 1, 1, 1, 0}),
        fills({16, 16, 16, 16, 0})}},
      {"A7 decode, tails cached",
       withTails(11),
       {start(prompt(1, kCommon + range(1, 7), 23), "-n -a -a -a"), fills({16, 16, 16, 7, 0}),
        append(1, range(8, 4)), fills({16, 16, 16, 7, 0}), sending(computeAll(1), "grown:4 stored:4/11"),
        append(1, range(12, 19)), sending(computeAll(1), "grown:4 stored:4/16 stored:5/14"),
        references({1, 1, 1, 1, 1, 0}), fills({16, 16, 16, 16, 14})}},
      {"A8 evict", wholeBlocks(11), a8()},
      {"A8 evict, tails cached",
       withTails(11),
       {start(prompt(1, range(1, 87)), "-n -a -a -a -a -a"), start(prompt(2, range(201, 48)), "-n -a -a"),
        finish(1), freeOrder({10, 6, 5, 4, 3, 2, 1}), finish(2), freeOrder({10, 6, 5, 4, 3, 2, 1, 9, 8, 7})}},
      {"A9 block reuse",
       wholeBlocks(2),
       {run(prompt(1, range(1, 16)), "-n", {1}), fills({16}),
        sending(start(prompt(2, range(51, 15)), "-o", {1}), "evicted:1 allocated:1 admitted"), fills({0})}},
      {"A9 block reuse, tails cached",
       withTails(2),
       {run(prompt(1, range(1, 16)), "-n", {1}), fills({16}),
        sending(start(prompt(2, range(51, 15)), "-n", {1}), "evicted:1 allocated:1 admitted stored:1/15"),
        fills({15})}},
      {"A10 what is found is not evicted",
       wholeBlocks(3),
       {run(prompt(1, range(1, 32)), "-n -a", {1, 2}),
        start(prompt(2, range(1, 16) + range(51, 16)), "H -t", {1, 2})}},
      {"A11 caching disabled",
       switchedOff(5, 4),
       {start(prompt(1, range(1, 6)), "-o -o", {1, 2}), start(prompt(2, range(1, 6)), "-o -o", {3, 4}),
        fills({0, 0, 0, 0}), refused(prompt(3, range(1, 6)), kNoRoomNow, 2, 0), finish(1),
        start(prompt(3, range(1, 6)), "-o -o", {1, 2})}},
      {"A12 cache whole blocks",
       wholeBlocks(11),
       {admit(prompt(1, range(1, 70)), "-n -a -a -a -a"), sending(compute(1, 40), "stored:1/16 stored:2/16"),
        fills({16, 16, 0, 0, 0}), sending(compute(1, 8), "stored:3/16"), fills({16, 16, 16, 0, 0})}},
      {"A15 salt",
       wholeBlocks(31),
       {start(salted(prompt(1, kCommon + range(1, 7)), "salt1"), "-n -a -a -a"),
        start(salted(prompt(2, kCommon + range(11, 5)), "salt1"), "H H H -o"),
        start(salted(prompt(3, kCommon + range(11, 5)), "salt2"), "-n -a -a -a")}},
      {"A16 not enough blocks", wholeBlocks(11), a16()},
      {"A17 reset",
       wholeBlocks(11),
       {start(prompt(1, kCommon + range(1, 7)), "-n -a -a -a"), clear(false), fills({16, 16, 16}), finish(1),
        sending(clear(true), "cleared"), fills({0, 0, 0}), freeOrder({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
        run(prompt(2, kCommon), "-e -e -e")}},
      {"A19 evict one of two blocks of the same content", wholeBlocks(3),
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
      {"A20 events",
       wholeBlocks(4),
       {sending(start(prompt(1, kCommon), "-n -a -a"),
                "allocated:1 allocated:2 allocated:3 admitted stored:1/16 stored:2/16 stored:3/16"),
        sending(finish(1), "released:3 released:2 released:1"),
        sending(start(prompt(2, range(1, 48)), "-n -a -a"),
                "evicted:3 allocated:3 evicted:2 allocated:2 evicted:1 allocated:1 admitted "
                "stored:3/16 stored:2/16 stored:1/16"),
        finish(2), sending(clear(true), "cleared")}},
      {"C3 a refusal is not counted",
       wholeBlocks(5),
       {start(prompt(1, kCommon + range(1, 16)), "-n -a -a -a"),
        refused(prompt(2, kCommon + range(11, 7)), kNoRoomNow, 1, 0), reported<trace::RequestAdmitted>(1),
        reported<trace::BlockLookedUp>(4), finish(1), start(prompt(2, kCommon + range(11, 7)), "H H H -o"),
        reported<trace::RequestAdmitted>(2), reported<trace::BlockLookedUp>(8),
        [](CacheDriver& driver) {
          same(driver.sink.all<trace::RequestAdmitted>().back().cachedTokens, std::int64_t{48},
               "hits counted");
        }}},
      {"C7 a free hit is reserved, not allocated",
       wholeBlocks(4),
       {run(prompt(1, range(1, 16)), "-n", {1}), freeOrder({2, 3, 1}),
        start(prompt(2, range(51, 16)), "-n", {2}), admit(prompt(3, range(1, 18)), "H -o", {1, 3}), finish(3),
        start(prompt(4, range(71, 16)), "-n", {3}), refused(prompt(5, range(1, 18)), kNoRoomNow, 2, 1)}},
      {"A27 a request that could never fit whole",
       wholeBlocks(6),
       {refused(generating(prompt(1, range(1, 200)), 56), kNeverFits, 16, 5), freeCount(5)}},
      {"A21 an event names the chain, though its last block is not stored",
       withTails(11, 4),
       {start(prompt(1, range(1, 7), 3), "-n -a", {1, 2}), append(1, {8}),
        // Another reference to the partial block keeps it from being stored whole.
        admit(spans(2, {range(1, 7)}, {50}), "H H | -n", {1, 2, 3}), sending(computeAll(1), ""),
        append(1, {9}), sending(computeAll(1), "stored:4/1"),
        [](CacheDriver& driver) {
          const trace::BlockStored stored = driver.sink.all<trace::BlockStored>().back();
          trace::BlockKey chain = rootKey(&xxh3Key, "model", "", {});
          chain = blockKey(&xxh3Key, chain, range(1, 4));
          chain = blockKey(&xxh3Key, chain, range(5, 4));
          CacheDriver::require(stored.parent == chain, "the parent is the chain");
          for (const trace::BlockState& block : driver.cache.dump().blocks)
            CacheDriver::require(!block.cached || !(block.key == chain), "which stands in no block");
        }}},
      {"B13 lookahead of 2",
       wholeBlocks(6, 4),
       {start(generating(prompt(1, range(1, 3)), 2), "-o", {1}), freeCount(4),
        refused(prompt(2, range(50, 16)), kNoRoomNow, 4, 3), append(1, {4, 5}), freeCount(3),
        start(prompt(2, range(50, 12)), "-n -a -a")}},
      {"B13 lookahead of 4",
       wholeBlocks(6, 4),
       {start(generating(prompt(1, range(1, 3)), 4), "-o", {1}), freeCount(4),
        refused(prompt(2, range(50, 16)), kNoRoomNow, 4, 3), append(1, {4, 5, 6, 7}), freeCount(3),
        start(prompt(2, range(50, 12)), "-n -a -a")}},
      {"D boundary: without tails, what is not a whole block has no key",
       wholeBlocks(11, 4),
       {start(prompt(1, range(1, 6)), "-n -a"), sending(computeAll(1), ""), fills({4, 0}), finish(1),
        run(prompt(2, range(1, 7)), "H -o")}},
      {"D boundary: with tails, a tail of any length has one",
       withTails(11, 4),
       {run(prompt(1, range(1, 5)), "-n -a"), run(prompt(2, range(1, 6)), "H P1t"),
        run(prompt(3, range(1, 7)), "H P2t")}},
      {"D reachable: a partial entry makes a block reachable without allocation",
       withTails(11, 4),
       {run(prompt(1, range(1, 7)), "-n -a", {1, 2}),
        sending(admit(spans(2, {range(1, 6)}, {50}), "H H | -n", {1, 2, 3}),
                "shared:1 shared:2 allocated:3 admitted")}},
      {"D copy: a partial hit takes a block more, and both stay referenced until the copy is done",
       withTails(11),
       {run(prompt(1, range(1, 20)), "-n -a", {1, 2}),
        sending(admit(prompt(2, range(1, 19) + range(51, 5)), "H P3t", {1, 3}),
                "shared:1 shared:2 allocated:3 copied:2>3/3 admitted"),
        references({1, 1, 1}), sending(copied(2), "released:2"), references({1, 0, 1}),
        sending(computeAll(2), "stored:3/8")}},
      {"D again: storing the same once more is nothing",
       withTails(11),
       {start(prompt(1, range(1, 20)), "-n -a"),
        sending([](CacheDriver& driver) { driver.cache.computed(1, 0, 20); }, "")}},
      {"D longer: a longer tail takes the place of a shorter one",
       withTails(11),
       {start(prompt(1, range(1, 20), 2), "-n -a"), append(1, {21, 22}),
        sending(computeAll(1), "grown:2 stored:2/6"), finish(1), run(prompt(2, range(1, 21)), "H P4l")}},
      {"D promotion: a partial block that becomes full loses its old key",
       withTails(11, 4),
       {start(prompt(1, range(1, 6), 3), "-n -a"), append(1, {7, 8, 9}),
        sending(computeAll(1), "grown:2 stored:2/4 stored:3/1"), finish(1),
        run(prompt(2, range(1, 10)), "H H P1t")}},
      {"D shared: a shared tail is copied before it grows",
       withTails(11, 4),
       {start(prompt(1, range(1, 6), 2), "-n -a", {1, 2}),
        admit(spans(2, {range(1, 6)}, {50}), "H H | -n", {1, 2, 3}), references({2, 2, 1}),
        sending(append(1, {7}), "allocated:4 copied:2>4/2"), sending(copied(1), "released:2"),
        references({2, 1, 1, 1}), sending(computeAll(1), "stored:4/3"), fills({4, 2, 0, 3})}},
      {"D shared: a shared tail keeps its content",
       withTails(11, 4),
       {start(prompt(1, range(1, 5), 2), "-n -a", {1, 2}), append(1, {6}),
        admit(spans(2, {range(1, 5)}, {50}), "H H | -n", {1, 2, 3}), sending(computeAll(1), ""),
        fills({4, 1, 0}), computeAll(2), finish(2),
        sending([](CacheDriver& driver) { driver.cache.computed(1, 0, 6); }, "grown:2 stored:2/2")}},
  };
}

/// A6. Who asks to see every token's result computes all of it, whatever is stored.
void observedPrompts() {
  trace::NoSink sink;
  KvCache cache(wholeBlocks(21), sink);
  const auto blocksOf = [&cache](RequestSpec spec, std::int64_t cached) {
    const auto admitted = cache.admit(spec);
    CacheDriver::require(std::holds_alternative<Admission>(admitted), "there is room");
    same(std::get<Admission>(admitted).cachedTokens, cached, "cached tokens");
    cache.copied(spec.id);
    cache.computed(spec.id, 0, static_cast<std::int32_t>(spec.segments[0].tokens.size()));
    return cache.blocks(spec.id, 0).blocks;
  };
  RequestSpec first = prompt(1, kCommon + range(1, 7));
  first.alwaysFrom = 0;
  RequestSpec second = prompt(3, kCommon + range(21, 7));
  second.alwaysFrom = 0;
  same(blocksOf(first, 0), Blocks{1, 2, 3, 4}, "blocks of the first");
  same(blocksOf(prompt(2, kCommon + range(11, 5)), 48), Blocks{1, 2, 3, 5}, "a usual request finds them");
  cache.finish(2);
  const Blocks own = blocksOf(second, 0);
  const trace::PoolState pool = cache.dump();
  for (std::size_t block = 0; block < 3; ++block) {
    const auto mine = static_cast<std::size_t>(own[block]);
    CacheDriver::require(mine > 4, "blocks of its own");
    CacheDriver::require(pool.blocks[mine].key == pool.blocks[block + 1].key, "with the same keys");
    same(pool.blocks[mine].references, 1, "references of its own");
    same(pool.blocks[block + 1].references, 1, "references of the first");
  }
}

/// A18. Statistics are made from events: where nobody listens there are none, and nothing else changes.
void nobodyListens() {
  CacheDriver driver(withTails(11));
  trace::NoSink silence;
  KvCache silent(withTails(11), silence);
  for (const RequestSpec& spec :
       {prompt(1, kCommon + range(1, 7)), prompt(2, kCommon + range(11, 5)), prompt(3, range(1, 90))}) {
    driver.run(spec);
    CacheDriver::require(std::holds_alternative<Admission>(silent.admit(spec)), "it is admitted");
    silent.copied(spec.id);
    silent.computed(spec.id, 0, static_cast<std::int32_t>(spec.segments[0].tokens.size()));
    silent.finish(spec.id);
  }
  CacheDriver::require(silent.dump() == driver.cache.dump(), "the pool is the same");
}

/// A24. A later reader gets the stored state, and the state does not change.
void reportedLater() {
  CacheDriver driver(withTails(11));
  driver.run(prompt(1, kCommon + range(1, 7)));
  const std::size_t events = driver.sink.events().size();
  const trace::PoolState reported = driver.cache.dump();
  CacheDriver::require(driver.cache.dump() == reported && driver.sink.events().size() == events,
                       "telling changes nothing and sends nothing");
  trace::PoolReplay late(reported);
  driver.run(prompt(2, kCommon + range(11, 5)));
  for (std::size_t index = events; index < driver.sink.events().size(); ++index)
    CacheDriver::require(!late.apply(driver.sink.events()[index]), "later events follow from it");
  CacheDriver::require(late.state() == driver.cache.dump(), "and give the state");
}

}  // namespace

TableRows cacheRows() {
  TableRows rows;
  for (const Row& row : serverRows()) rows.push_back(scripted(row.name, row.config, row.script));
  rows.push_back({"A6 a prompt that is observed is computed whole, in blocks of its own", observedPrompts});
  rows.push_back({"A18 statistics off", nobodyListens});
  rows.push_back({"A24 what is stored is told again", reportedLater});
  return rows;
}

}  // namespace spanscope::behaviour
