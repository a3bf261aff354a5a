// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of KV events: the bytes of a live vLLM, both forms, and damaged bytes.
#include "engine/base/error.h"
#include "engine/remote/watch/event_batch.h"
#include "tests/engine/remote/watch/recorded_events.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::watch;

namespace {

using Json = nlohmann::json;

std::string packedJson(const Json& json) {
  const std::vector<std::uint8_t> bytes = Json::to_msgpack(json);
  return {bytes.begin(), bytes.end()};
}

KvEvent onlyEvent(const Json& event) {
  KvBatch batch = readBatch(packedJson(Json::array({1.5, Json::array({event}), 0})));
  return batch.events.size() == 1 ? batch.events.front() : KvEvent(KvCleared{});
}

}  // namespace

class TestEventBatch : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void recorded();
  void whatWeWrite();
  void arrays();
  void hashes();
  void unknownParts();
  void batches();
  void damaged();
  void cutAnywhere();
};

/// The decoded lines of the recording are from another program.
void TestEventBatch::recorded() {
  const auto messages = recordedMessages(SPANSCOPE_GOLDEN_DIR "/vllm-events/events.bin.gz");
  const auto lines = gzipLines(SPANSCOPE_GOLDEN_DIR "/vllm-events/events.jsonl.gz");
  if (messages.empty() || lines.empty()) QSKIP("golden/vllm-events is not there");
  QCOMPARE(messages.size(), lines.size());
  std::size_t stored = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json line = Json::parse(lines[i]);
    const KvBatch batch = readBatch(messages[i].payload);
    QCOMPARE(messages[i].number, line["seq"].get<std::uint64_t>());
    QCOMPARE(batch.time, line["batch"][0].get<double>());
    QCOMPARE(batch.rank, std::optional<std::int64_t>(0));
    QCOMPARE(batch.events.size(), line["batch"][1].size());
    for (std::size_t k = 0; k < batch.events.size(); ++k) {
      const Json& event = line["batch"][1][k];
      if (const auto* block = std::get_if<KvBlocksStored>(&batch.events[k])) {
        ++stored;
        QCOMPARE(event["type"].get<std::string>(), std::string("BlockStored"));
        QVERIFY(block->hashes == event["block_hashes"].get<std::vector<std::uint64_t>>());
        QVERIFY(block->tokens == event["token_ids"].get<std::vector<TokenId>>());
        QCOMPARE(block->parent.has_value(), !event["parent_block_hash"].is_null());
        QCOMPARE(block->blockSize, 32);
        QCOMPARE(block->medium, std::optional<std::string>("GPU"));
        QCOMPARE(block->kind, std::optional<std::string>("full_attention"));
      } else if (const auto* removed = std::get_if<KvBlocksRemoved>(&batch.events[k])) {
        QVERIFY(removed->hashes == event["block_hashes"].get<std::vector<std::uint64_t>>());
      } else {
        QCOMPARE(event["type"].get<std::string>(), std::string("AllBlocksCleared"));
      }
    }
  }
  QVERIFY(stored > 100);
}

void TestEventBatch::whatWeWrite() {
  const KvBatch batch{
      .time = 1.25,
      .events = {KvBlocksStored{.hashes = {1, 0xFFFFFFFFFFFFFFFF},
                                .parent = 7,
                                .tokens = {1, 2, 300, 70'000},
                                .blockSize = 2,
                                .loraId = 3,
                                .loraName = "law",
                                .extraKeys = std::vector<KvExtraKeys>{{}, std::vector<std::string>{"a"}},
                                .group = 1,
                                .kind = "full_attention"},
                 KvBlocksRemoved{.hashes = {5}, .group = 0}, KvCleared{}},
      .rank = 2};
  const KvBatch read = readBatch(packed(batch));
  QCOMPARE(read.time, batch.time);
  QCOMPARE(read.rank, batch.rank);
  QVERIFY(read.events == batch.events);
}

/// The form of vLLM 0.23 and SGLang grew at its end.
void TestEventBatch::arrays() {
  const Json stored = Json::array({"BlockStored", {11, 12}, 10, {1, 2, 3, 4}, 2, nullptr});
  QVERIFY(
      onlyEvent(stored) ==
      KvEvent(KvBlocksStored{
          .hashes = {11, 12}, .parent = 10, .tokens = {1, 2, 3, 4}, .blockSize = 2, .medium = std::nullopt}));
  Json longer = stored;
  for (const Json& value : {Json("CPU"), Json("law"), Json::array({nullptr, {"salt", 3}}), Json(4),
                            Json("sliding_window"), Json(128), Json("later")})
    longer.push_back(value);
  QVERIFY(
      onlyEvent(longer) ==
      KvEvent(KvBlocksStored{.hashes = {11, 12},
                             .parent = 10,
                             .tokens = {1, 2, 3, 4},
                             .blockSize = 2,
                             .medium = "CPU",
                             .loraName = "law",
                             .extraKeys = std::vector<KvExtraKeys>{{}, std::vector<std::string>{"salt", "3"}},
                             .group = 4,
                             .kind = "sliding_window"}));
  QVERIFY(onlyEvent(Json::array({"BlockRemoved", {11}})) ==
          KvEvent(KvBlocksRemoved{.hashes = {11}, .medium = std::nullopt}));
  QVERIFY(onlyEvent(Json::array({"BlockRemoved", {11}, "GPU", 1})) ==
          KvEvent(KvBlocksRemoved{.hashes = {11}, .group = 1}));
  QVERIFY(onlyEvent(Json::array({"AllBlocksCleared"})) == KvEvent(KvCleared{}));
}

/// A hash is an integer with or without a sign, or bytes whose last 64 bits count.
void TestEventBatch::hashes() {
  const Json bytes = Json::binary({1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9});
  const Json event = Json::array({"BlockStored", Json::array({-1, bytes}), bytes, {1}, 1, nullptr});
  const KvEvent read = onlyEvent(event);
  QVERIFY(std::get<KvBlocksStored>(read).hashes ==
          (std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 9}));
  QCOMPARE(std::get<KvBlocksStored>(read).parent, std::optional<std::uint64_t>(9));
}

void TestEventBatch::unknownParts() {
  Json event{{"zzz", {{"a", {1, 2.5, nullptr, true}}}},
             {"type", "BlockRemoved"},
             {"block_hashes", {3}},
             {"session_id", "s"},
             {"medium", "GPU"}};
  QVERIFY(onlyEvent(event) == KvEvent(KvBlocksRemoved{.hashes = {3}}));
  const Json other{{"type", "BlockMoved"}, {"block_hashes", {3}}};
  const KvBatch batch = readBatch(packedJson(Json::array({1, Json::array({other, event}), 0, "new"})));
  QCOMPARE(batch.events.size(), std::size_t{1});
  QCOMPARE(batch.time, 1.0);
}

void TestEventBatch::batches() {
  QCOMPARE(readBatch(packedJson(Json::array({2.5, Json::array()}))).rank, std::optional<std::int64_t>());
  QCOMPARE(readBatch(packedJson(Json::array({2.5, Json::array(), nullptr}))).rank,
           std::optional<std::int64_t>());
  QCOMPARE(readBatch(packedJson(Json::array({2.5, Json::array(), 3}))).rank, std::optional<std::int64_t>(3));
}

void TestEventBatch::damaged() {
  const Json noSize{{"type", "BlockStored"}, {"block_hashes", {1}}, {"token_ids", {1}}};
  const Json hugeSize{{"type", "BlockStored"}, {"block_hashes", {1}}, {"block_size", std::int64_t{1} << 40}};
  Json deep = 1;
  for (int i = 0; i < 100; ++i) deep = Json::array({deep});
  const std::vector<std::string> wrong{
      "",
      packedJson(1),
      packedJson(Json::array({1.0})),
      packedJson(Json::array({"now", Json::array()})),
      packedJson(Json::array({std::numeric_limits<double>::infinity(), Json::array()})),
      packedJson(Json::array({1.0, 2})),
      packedJson(Json::array({1.0, Json::array({Json::array()})})),
      packedJson(Json::array({1.0, Json::array({Json::object()})})),
      packedJson(Json::array({1.0, Json::array({noSize})})),
      packedJson(Json::array({1.0, Json::array({hugeSize})})),
      packedJson(Json::array({1.0, Json::array(), 0, deep})),
      packedJson(Json::array({1.0, Json::array()})) + "x",
      // An array of 2^32 − 1 elements in a few bytes.
      std::string("\x93\x01\xdd\xff\xff\xff\xff\x01", 8),
      std::string("\xc1", 1),
  };
  for (const std::string& bytes : wrong) QVERIFY_EXCEPTION_THROWN(readBatch(bytes), Failure);
}

void TestEventBatch::cutAnywhere() {
  const std::string whole = packed(
      {.time = 1,
       .events = {KvBlocksStored{.hashes = {1, 2}, .parent = 3, .tokens = {1, 2, 3, 4}, .blockSize = 2},
                  KvBlocksRemoved{.hashes = {1}}}});
  for (std::size_t size = 0; size < whole.size(); ++size)
    QVERIFY_EXCEPTION_THROWN(readBatch(whole.substr(0, size)), Failure);
  // Other bytes give a batch or an error.
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(random());
    changed[random() % changed.size()] = static_cast<char>(random());
    try {
      readBatch(changed);
    } catch (const Failure&) {
      continue;
    }
  }
}

SPANSCOPE_TEST(tst_event_batch, TestEventBatch)
#include "tst_event_batch.moc"
