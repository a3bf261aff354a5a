// SPDX-License-Identifier: GPL-3.0-or-later
// The cases of spans, which other servers do not have.
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

const Tokens kA = range(100, 40);
const Tokens kB = range(200, 32);
const Tokens kC = range(300, 20);
const Tokens kQ = range(900, 10);
const Tokens kQ2 = range(950, 10);

/// The tokens of span A inside other texts.
Script s4() {
  const Tokens span = range(100, 16);
  return {run(spans(1, {span}, kQ), "-n | -n"),
          run(prompt(2, range(1, 16) + span + range(70, 2)), "-n -a -a"),
          run(spans(3, {span}, kQ2), "H | -t"), run(prompt(4, range(1, 16) + span + range(80, 2)), "H H -t"),
          run(prompt(5, span + range(90, 2)), "H -n")};
}

std::vector<Row> rowsOfSpans() {
  return {
      {"S1 the same span at another position",
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
      {"S2 spans in another order",
       withTails(41),
       {run(spans(1, {kA, kB, kC}, kQ), "-n -a -a | -n -a | -n -a | -n"),
        run(spans(2, {kC, kB, kA}, kQ), "R R | R R | R R R | -c"),
        run(spans(3, {kC, kB, kA}, kQ), "R R | R R | R R R | P9l")}},
      {"S3 the question behind another span",
       withTails(41),
       {run(spans(1, {kA, kB}, kQ), "-n -a -a | -n -a | -n"), run(spans(2, {kC, kB}, kQ), "-n -a | R R | -c"),
        [](CacheDriver& driver) {
          same(facts(driver, spans(3, {kA, range(500, 32)}, kQ), 2, 0).contextDiffersAt, 1,
               "first other span");
          same(facts(driver, spans(4, {kB, kC}, kQ), 2, 0).contextDiffersAt, 0, "first other span");
        }}},
      {"S4 ordinary text with the tokens of a span", withTails(31), s4()},
      {"S5 a span inside a prompt and alone",
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
      {"S6 a miss in one span",
       withTails(11),
       {run(spans(1, {kA, kB, kC}, kQ), "-n -a -a | -n -a | -n -a | -n", {1, 2, 3, 4, 5, 6, 7, 8}),
        run(spans(2, {range(400, 40), kB, kC}, kQ), "-n -a -a | H H | H H | -c"),
        run(spans(3, {kA, kB, kC}, kQ), "H H -e | H H | H H | -e")}},
      {"S7 a span twice in one request",
       withTails(6),
       {sending(admit(spans(1, {kB, kB}, kQ), "-n -a | R R | -n", {1, 2, 1, 2, 3}),
                "allocated:1 allocated:2 shared:1 shared:2 allocated:3 admitted"),
        references({2, 2, 1}), computeAll(1),
        sending(finish(1), "released:3 released:2 released:1 released:2 released:1"),
        start(prompt(2, range(600, 33)), "-n -a -a", {4, 5, 3}), references({0, 0, 1, 1, 1}),
        refused(spans(3, {kB, kB}, kQ), kNoRoomNow, 3, 2), finish(2), freeOrder({2, 1, 3, 5, 4}),
        start(spans(3, {kB, kB}, kQ), "H H | R R | -e", {1, 2, 1, 2, 3})}},
      {"S8 spans shorter than a block",
       withTails(31),
       {run(spans(1, {range(1, 5), range(11, 20)}, kQ), "-n | -n -a | -n"),
        run(spans(2, {range(1, 5), range(11, 20)}, kQ2), "H | H H | -t"),
        run(spans(3, {range(1, 4), range(11, 17)}, kQ), "H | R R | -c"),
        run(spans(4, {range(1, 6), range(11, 22)}, kQ), "P5t | R P4t | -c")}},
      {"S9 events of a span",
       withTails(31),
       {sending(start(spans(1, {kA, kB}, kQ), "-n -a -a | -n -a | -n"),
                "allocated:1 allocated:2 allocated:3 allocated:4 allocated:5 allocated:6 admitted "
                "stored:1/16 stored:2/16 stored:3/8 stored:4/16 stored:5/16 stored:6/10"),
        [](CacheDriver& driver) {
          const auto stored = driver.sink.all<trace::BlockStored>();
          CacheDriver::require(stored[0].parent == rootKey(&xxh3Key, "model", "", {}),
                               "the root is the parent of the first span");
          CacheDriver::require(stored[3].parent == stored[0].parent, "all spans have the root as parent");
          CacheDriver::require(stored[1].parent == stored[0].key, "its blocks are a chain");
          const std::vector<SeenKey> seen{{stored[2].key, 72, 0}, {stored[4].key, 32, 0}};
          CacheDriver::require(stored[5].parent == rootKey(&xxh3Key, "model", "", seen),
                               "the question begins with what it sees");
        }}},
      {"S10 the tail of a span goes first",
       withTails(6),
       {run(prompt(1, range(1, 80)), "-n -a -a -a -a", {1, 2, 3, 4, 5}), freeOrder({5, 4, 3, 2, 1}),
        sending(run(prompt(2, range(500, 20)), "-n -a", {5, 4}),
                "evicted:5 allocated:5 evicted:4 allocated:4 admitted stored:5/16 stored:4/4 released:4 "
                "released:5"),
        admit(prompt(3, range(1, 80)), "H H H -e -e"), finish(3),
        start(spans(4, {range(1, 48)}, range(700, 17)), "H H H | -n -a"), finish(4)}},
      {"S11 another model",
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
      {"S12 a salt at every root",
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
      {"B13 growth is kept free",
       withTails(6, 4),
       {start(generating(prompt(1, range(1, 6)), 7), "-n -a"), freeCount(3),
        refused(prompt(2, range(50, 6)), kNoRoomNow, 2, 1), start(prompt(3, range(50, 4)), "-n"),
        append(1, range(7, 7)), freeCount(0), computeAll(1)}},
      {"A27 never fits",
       withTails(6, 4),
       {refused(generating(prompt(1, range(1, 15)), 6), kNeverFits, 6, 5),
        start(generating(prompt(2, range(1, 15)), 5), "-n -a -a -a")}},
      {"S7 never fits but for sharing",
       withTails(4, 4),
       {start(spans(1, {range(1, 8), range(1, 8), range(1, 8)}, {50}), "-n -a | R R | R R | -n")}},
  };
}

}  // namespace

TableRows spanRows() {
  TableRows rows;
  for (const Row& row : rowsOfSpans()) rows.push_back(scripted(row.name, row.config, row.script));
  return rows;
}

}  // namespace spanscope::behaviour
