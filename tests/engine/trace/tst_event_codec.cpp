// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_codec.h"
#include "tests/engine/trace/random_value.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

using namespace spanscope;
using namespace spanscope::trace;
using spanscope::product_text::worded;

namespace {

constexpr std::size_t kPayloads = std::variant_size_v<Payload>;
constexpr std::uint64_t kPlenty = 1U << 28;

void addPayloadRows() {
  QTest::addColumn<int>("index");
  test::RandomValue random(1);
  for (std::size_t i = 0; i < kPayloads; ++i) {
    QTest::newRow(eventName(random.payload(i))) << static_cast<int>(i);
  }
}

Event randomEvent(test::RandomValue& random, std::size_t index) {
  Event event;
  random.fill(event.sequence);
  random.fill(event.time);
  event.time &= std::numeric_limits<std::int64_t>::max();
  random.fill(event.session);
  random.fill(event.run);
  random.fill(event.request);
  random.fill(event.node);
  event.payload = random.payload(index);
  return event;
}

std::vector<std::uint8_t> bytesOf(const Event& event) {
  ByteWriter writer;
  EventCursor cursor;
  encodeEvent(writer, cursor, event);
  return writer.bytes();
}

/// The error's text; empty if it could be read.
std::string errorOf(std::span<const std::uint8_t> bytes, std::uint64_t budgetBytes = kPlenty) {
  MemoryBudget budget(budgetBytes);
  ByteReader reader(bytes, budget);
  EventCursor cursor;
  Event event;
  try {
    decodeEvent(reader, cursor, event);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestEventCodec : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void roundTrip_data() { addPayloadRows(); }
  void roundTrip();
  void truncated_data() { addPayloadRows(); }
  void truncated();
  void streamOfEvents();
  void extremes();
  void refused_data();
  void refused();
  void memoryIsBounded();
  void numbersHaveOneForm();
  void json_data() { addPayloadRows(); }
  void json();
  void jsonValues();
  void schemaNamesEverything();
  void smallestEvent();
  void readableSchemas();
};

void TestEventCodec::roundTrip() {
  QFETCH(int, index);
  test::RandomValue random(test::testSeed(11) + static_cast<std::uint64_t>(index));
  for (int i = 0; i < 200; ++i) {
    const Event event = randomEvent(random, static_cast<std::size_t>(index));
    const std::vector<std::uint8_t> bytes = bytesOf(event);
    MemoryBudget budget(kPlenty);
    ByteReader reader(bytes, budget);
    EventCursor cursor;
    Event read;
    decodeEvent(reader, cursor, read);
    QCOMPARE(reader.remaining(), std::size_t{0});
    QVERIFY(read == event);
    QCOMPARE(cursor.sequence, event.sequence);
    QCOMPARE(cursor.time, event.time);
    QVERIFY(bytesOf(read) == bytes);
  }
}

void TestEventCodec::truncated() {
  QFETCH(int, index);
  test::RandomValue random(5);
  for (int i = 0; i < 5; ++i) {
    const std::vector<std::uint8_t> bytes = bytesOf(randomEvent(random, static_cast<std::size_t>(index)));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      QVERIFY(!errorOf(std::span(bytes).first(size)).empty());
    }
  }
}

void TestEventCodec::streamOfEvents() {
  const std::vector<Event> events = test::simulatedTrace(3, 300);
  ByteWriter writer;
  EventCursor cursor;
  for (const Event& event : events) encodeEvent(writer, cursor, event);
  MemoryBudget budget(kPlenty);
  ByteReader reader(writer.bytes(), budget);
  EventCursor readCursor;
  for (const Event& event : events) {
    Event read;
    decodeEvent(reader, readCursor, read);
    QVERIFY(read == event);
  }
  QCOMPARE(reader.remaining(), std::size_t{0});
}

void TestEventCodec::extremes() {
  Event event;
  event.sequence = std::numeric_limits<std::uint64_t>::max();
  event.time = std::numeric_limits<std::int64_t>::max();
  AttentionMass mass;
  mass.mass = {std::numeric_limits<float>::infinity(), -0.0F, std::numeric_limits<float>::denorm_min(),
               std::bit_cast<float>(0x7FC12345U)};
  event.payload = mass;
  const std::vector<std::uint8_t> bytes = bytesOf(event);
  MemoryBudget budget(kPlenty);
  ByteReader reader(bytes, budget);
  EventCursor cursor;
  Event read;
  decodeEvent(reader, cursor, read);
  QCOMPARE(read.sequence, event.sequence);
  QCOMPARE(read.time, event.time);
  const auto& values = std::get<AttentionMass>(read.payload).mass;
  QCOMPARE(values.size(), mass.mass.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    QCOMPARE(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(mass.mass[i]));
  }
}

void TestEventCodec::refused_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("message");
  const auto event = [](const Payload& payload, const QByteArray& content) {
    return QByteArray(1, static_cast<char>(payload.index())) + QByteArray("\x01\x00\x00\x00\x00\x00", 6) +
           content;
  };
  QTest::newRow("nothing") << QByteArray() << "event: Spanscope found the end, but needs more bytes";
  QTest::newRow("no such kind")
      << QByteArray("\xff")
      << QStringLiteral("event: Spanscope found kind 255, but needs a kind below %1").arg(kPayloads);
  QTest::newRow("session of 33 bits")
      << QByteArray("\x0e\x01\x00\x80\x80\x80\x80\x10\x00\x00\x00", 11)
      << "cache_cleared.session: Spanscope found 4294967296, but needs a number of 32 bits";
  QTest::newRow("number of 65 bits")
      << QByteArray("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11)
      << worded("cache_cleared.sequence: Spanscope found <number-more-bits>, but needs a number of 64 bits");
  QTest::newRow("time of 64 bits")
      << QByteArray("\x0e\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12)
      << worded("cache_cleared.time: Spanscope found <time-more-bits>, but needs nanoseconds in 63 bits");
  QTest::newRow("leading zeros")
      << QByteArray("\x0e\x81\x00\x00\x00\x00\x00\x00", 8)
      << worded(
             "cache_cleared.sequence: Spanscope found <number-leading-zeros>, but needs the shortest form");
  QTest::newRow("node that lies about its length")
      << QByteArray("\x0e\x01\x00\x00\x00\x00\xff\xff\xff\xff\x0f", 11)
      << worded(
             "cache_cleared.node: Spanscope found a count of 4294967295, but needs at most "
             "0<bytes-left-can>");
  QTest::newRow("list that lies about its length")
      << event(BlockStored{},
               QByteArray(36, '\0') + QByteArray("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10))
      << worded(
             "block_stored.tokens: Spanscope found a count of 18446744073709551615, but needs at most "
             "0<bytes-left-can>");
  QTest::newRow("no such outcome") << event(RunFinished{}, QByteArray("\x03\x00", 2))
                                   << "run_finished.outcome: Spanscope found 3, but needs a number below 3";
  QTest::newRow("bool that is none") << event(BatchComputed{}, QByteArray("\x01\x01\x00\x00\x00\x02\x00", 7))
                                     << "batch_computed.decode: Spanscope found 2, but needs 0 or 1";
  QTest::newRow("token of 33 bits")
      << event(TokenGenerated{}, QByteArray("\x00\xfe\xff\xff\xff\x1f\x00\x00", 8))
      << "token_generated.token: Spanscope found 4294967295, but needs a number of 32 bits";
}

void TestEventCodec::refused() {
  QFETCH(QByteArray, bytes);
  QFETCH(QString, message);
  const std::span span(reinterpret_cast<const std::uint8_t*>(bytes.constData()),
                       static_cast<std::size_t>(bytes.size()));
  QCOMPARE(QString::fromStdString(errorOf(span)), message);
}

void TestEventCodec::memoryIsBounded() {
  // Segments take about 200 bytes in memory and 11 in the file.
  SpanTableLaidOut table;
  table.segments = std::vector<SegmentInfo>(10000);
  const std::vector<std::uint8_t> bytes = bytesOf(Event{1, 0, 0, 0, 0, {}, table});
  QVERIFY(bytes.size() < 150000);
  QVERIFY(errorOf(bytes, 10000 * sizeof(SegmentInfo)).empty());
  QVERIFY(errorOf(bytes, 10000 * sizeof(SegmentInfo) - 1).find("bytes more memory") != std::string::npos);
  const std::vector<std::uint8_t> text =
      bytesOf(Event{1, 0, 0, 0, 0, {}, MessageLogged{{}, std::string(100, 'x')}});
  QVERIFY(errorOf(text, 99).find("bytes more memory") != std::string::npos);
  QVERIFY(errorOf(text, 100).empty());
}

void TestEventCodec::numbersHaveOneForm() {
  for (int shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t value : {std::uint64_t{1} << shift, (std::uint64_t{1} << shift) - 1}) {
      ByteWriter writer;
      writer.number(value);
      writer.signedNumber(static_cast<std::int64_t>(value));
      writer.signedNumber(-static_cast<std::int64_t>(value >> 1));
      MemoryBudget none(0);
      ByteReader reader(writer.bytes(), none);
      QCOMPARE(reader.number(), value);
      QCOMPARE(reader.signedNumber(), static_cast<std::int64_t>(value));
      QCOMPARE(reader.signedNumber(), -static_cast<std::int64_t>(value >> 1));
      QCOMPARE(reader.remaining(), std::size_t{0});
    }
  }
}

void TestEventCodec::json() {
  QFETCH(int, index);
  test::RandomValue random(21);
  for (int i = 0; i < 20; ++i) {
    const Event event = randomEvent(random, static_cast<std::size_t>(index));
    const std::string line = jsonLine(event);
    QVERIFY(line.find('\n') == std::string::npos);
    const auto object = nlohmann::ordered_json::parse(line);
    QCOMPARE(object["sequence"].get<std::uint64_t>(), event.sequence);
    QCOMPARE(object["time"].get<std::int64_t>(), event.time);
    QCOMPARE(object["event"].get<std::string>(), std::string(eventName(event.payload)));
    std::vector<std::string> names;
    std::visit(
        [&names](const auto& payload) {
          fields([&names](const char* name, const auto&) { names.emplace_back(name); }, payload);
        },
        event.payload);
    std::vector<std::string> keys;
    for (const auto& [key, value] : object["data"].items()) keys.push_back(key);
    QVERIFY(keys == names);
  }
}

void TestEventCodec::jsonValues() {
  BlockStored stored;
  stored.block = 3;
  stored.key = {0x0123456789ABCDEFU, 0xFU};
  stored.base = -5;
  stored.tokens = {1, 2};
  const Event event{7, 1500, 1, 2, 4, "/g", stored};
  QCOMPARE(
      QString::fromStdString(jsonLine(event)),
      QString(
          R"({"sequence":7,"time":1500,"session":1,"run":2,"request":4,"node":"/g","event":"block_stored",)"
          R"("data":{"block":3,"key":"0123456789abcdef000000000000000f",)"
          R"("parent":"00000000000000000000000000000000","segment":0,"virtualIndex":0,"base":-5,)"
          R"("tokens":[1,2]}})"));
  const Event bad{1, 0, 1, 0, 0, {}, MessageLogged{Severity::Warning, "\xff"}};
  QVERIFY(jsonLine(bad).find("{\"severity\":\"warning\",\"text\":\"\xEF\xBF\xBD\"}") != std::string::npos);
  const Event ended{
      2,
      0,
      1,
      0,
      0,
      {},
      JobEnded{.kind = "turn", .arguments = {}, .problem = {}, .result = {.bytes = std::string("\x05\xff")}}};
  QVERIFY(jsonLine(ended).find(
              "\"arguments\":\"\",\"outcome\":\"finished\",\"problem\":\"\",\"result\":\"05ff\"") !=
          std::string::npos);
}

void TestEventCodec::schemaNamesEverything() {
  const std::string schema = schemaText();
  std::set<std::string> names;
  test::RandomValue random(1);
  for (std::size_t i = 0; i < kPayloads; ++i) {
    const std::string name = eventName(random.payload(i));
    QVERIFY2(names.insert(name).second, name.c_str());
    QVERIFY2(schema.find(name + "{") != std::string::npos, name.c_str());
  }
  QVERIFY(schema.find("outcome:enum(hit,relocated,partial,miss,);") != std::string::npos);
  QVERIFY(schema.find("tokens:list(i32);") != std::string::npos);
}

void TestEventCodec::smallestEvent() {
  QCOMPARE(bytesOf(Event{1, 0, 0, 0, 0, {}, CacheCleared{}}).size(), kMinimumEventBytes);
}

void TestEventCodec::readableSchemas() {
  constexpr std::uint64_t kOfTwentySixPayloads = 0xBDBC772FDC7AEF8BU;
  QVERIFY(isReadableSchema(schemaFingerprint()));
  QVERIFY(isReadableSchema(kOfTwentySixPayloads));
  constexpr std::uint64_t kWithReportsOfFortyNinePayloads = 0xC99DEC7894F02ADEU;
  QVERIFY(isReadableSchema(kWithReportsOfFortyNinePayloads));
  QVERIFY(!isReadableSchema(schemaFingerprint() + 1));
  QVERIFY(!isReadableSchema(0));
}

SPANSCOPE_TEST(tst_event_codec, TestEventCodec)
#include "tst_event_codec.moc"
