// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_codec.h"
#include "engine/trace/replay.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_format.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <random>
#include <utility>

using namespace spanscope;
using namespace spanscope::trace;
using spanscope::product_text::worded;

namespace {

using Bytes = std::vector<std::uint8_t>;

const TraceHeader kHeader{"spanscope test", 1'700'000'000'000};

TraceWriteOptions smallChunks(std::uint32_t events = 7) {
  TraceWriteOptions options;
  options.eventsPerChunk = events;
  return options;
}

/// What reading says; empty if all is well.
std::string errorOf(const Bytes& bytes, const TraceLimits& limits = {}) {
  try {
    const TraceFile file = readTrace(bytes, "t", limits);
    return file.warnings.empty() ? "" : "warning: " + file.warnings.front().message();
  } catch (const Failure& failure) {
    return failure.what();
  }
}

bool isPrefix(const std::vector<Event>& part, const std::vector<Event>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

auto filesIn(const QTemporaryDir& folder) {
  const std::filesystem::path path(folder.path().toStdString());
  return std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator());
}

struct FoundRecord {
  std::size_t offset = 0;
  RecordHeader header;
};

std::vector<FoundRecord> recordsOf(const Bytes& bytes) {
  std::vector<FoundRecord> records;
  for (std::size_t offset = kPreambleBytes; offset + kTrailerBytes < bytes.size();) {
    const RecordHeader header = decodeRecordHeader(std::span(bytes).subspan(offset, RecordHeader::kBytes));
    records.push_back({offset, header});
    offset += RecordHeader::kBytes + header.storedBytes;
  }
  return records;
}

/// Bytes with record `index` replaced by one with this header and content, its checksum in order.
Bytes withRecord(const Bytes& bytes, std::size_t index,
                 const std::function<void(RecordHeader&, Bytes&)>& change) {
  const FoundRecord record = recordsOf(bytes).at(index);
  const auto content = bytes.begin() + static_cast<std::ptrdiff_t>(record.offset + RecordHeader::kBytes);
  RecordHeader header = record.header;
  Bytes stored(content, content + header.storedBytes);
  change(header, stored);
  const auto encoded = encodeRecordHeader(header, stored);
  Bytes result(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(record.offset));
  result.insert(result.end(), encoded.begin(), encoded.end());
  result.insert(result.end(), stored.begin(), stored.end());
  result.insert(result.end(), content + record.header.storedBytes, bytes.end());
  return result;
}

/// Replaces a record's content by other bytes, compressed.
Bytes withContent(const Bytes& bytes, std::size_t index,
                  const std::function<void(RecordHeader&, Bytes&)>& change) {
  return withRecord(bytes, index, [&](RecordHeader& header, Bytes& stored) {
    Bytes raw = RecordDecompressor().decompress(stored, header.rawBytes);
    change(header, raw);
    stored = compressRecord(raw, 3);
    header.rawBytes = static_cast<std::uint32_t>(raw.size());
    header.storedBytes = static_cast<std::uint32_t>(stored.size());
  });
}

/// Without the end, so that offsets and sizes may change.
Bytes withoutEnd(const Bytes& bytes) {
  return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(recordsOf(bytes).back().offset));
}

std::filesystem::path inside(const QTemporaryDir& folder, const char* name) {
  return std::filesystem::path(folder.path().toStdString()) / name;
}

QByteArray contentOf(const std::filesystem::path& path) {
  QFile file(QString::fromStdString(path.string()));
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Milliseconds of processor time, so that a busy machine does not matter.
class CpuTimer {
 public:
  long restart() {
    const std::clock_t now = std::clock();
    return static_cast<long>(1000.0 * static_cast<double>(now - std::exchange(m_start, now)) /
                             CLOCKS_PER_SEC);
  }

 private:
  std::clock_t m_start = std::clock();
};

}  // namespace

class TestTraceFile : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void roundTrip_data();
  void roundTrip();
  void sequencesMayJump();
  void cutAnywhere();
  void flippedAnywhere();
  void damaged_data();
  void damaged();
  void bombs();
  void lyingIndex();
  void limits();
  void keyframesOfBeforeAreSkipped();
  void eventsFromAnywhere();
  void writerNamesFileLast();
  void diedWriter();
  void slowEventsReachTheFile();
  void refusedEvents();
  void unwritable();
  void notAFile();
  void filesWithoutLaterEventsOpen();
  void millionEvents();
};

void TestTraceFile::roundTrip_data() {
  QTest::addColumn<int>("steps");
  QTest::addColumn<quint32>("eventsPerChunk");
  QTest::newRow("none") << -1 << 7U;
  QTest::newRow("session only") << 0 << 7U;
  QTest::newRow("some chunks") << 100 << 7U;
  QTest::newRow("an event a chunk") << 100 << 1U;
  QTest::newRow("large chunks") << 3000 << 4096U;
}

void TestTraceFile::roundTrip() {
  QFETCH(int, steps);
  QFETCH(quint32, eventsPerChunk);
  const std::vector<Event> events = steps < 0 ? std::vector<Event>() : test::simulatedTrace(4, steps);
  const QTemporaryDir folder;
  const std::filesystem::path path = inside(folder, "a.trace");
  writeTrace(path, events, kHeader, smallChunks(eventsPerChunk));
  const TraceFile file = readTrace(path);
  QVERIFY(file.header == kHeader);
  QVERIFY(file.events == events);
  QVERIFY(file.warnings.empty());

  const Bytes bytes = traceBytes(events, kHeader, smallChunks(eventsPerChunk));
  QCOMPARE(QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())),
           contentOf(path));
  TraceReader reader(path);
  QCOMPARE(reader.eventCount(), std::uint64_t{events.size()});
  QCOMPARE(reader.firstSequence(), std::uint64_t{events.empty() ? 0U : 1U});
  QCOMPARE(reader.lastSequence(), std::uint64_t{events.size()});
  // A header, the chunks and an index.
  QCOMPARE(recordsOf(bytes).size(), 2 + (events.size() + eventsPerChunk - 1) / eventsPerChunk);
}

void TestTraceFile::sequencesMayJump() {
  std::vector<Event> events = test::simulatedTrace(4, 50);
  for (std::size_t i = 10; i < events.size(); ++i) events[i].sequence += 1'000'000'000'000;
  events.back().sequence = std::numeric_limits<std::uint64_t>::max();
  events.back().time = std::numeric_limits<std::int64_t>::max();
  const TraceFile file = readTrace(traceBytes(events, kHeader, smallChunks()), "t");
  QVERIFY(file.events == events);
}

void TestTraceFile::cutAnywhere() {
  const std::vector<Event> events = test::simulatedTrace(5, 40, 6);
  const Bytes bytes = traceBytes(events, kHeader, smallChunks(9));
  const std::size_t headerEnd = recordsOf(bytes).at(1).offset;
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      const TraceFile file = readTrace(cut, "t");
      QVERIFY(size >= headerEnd);
      QCOMPARE(file.warnings.size(), std::size_t{1});
      QVERIFY(isPrefix(file.events, events));
      QVERIFY(file.events.size() >= most);
      most = file.events.size();
    } catch (const Failure& failure) {
      QVERIFY2(size < headerEnd, failure.what());
      QCOMPARE(failure.error().file, std::string("t"));
      QVERIFY(failure.error().place.starts_with("byte "));
    }
  }
  QCOMPARE(most, events.size());
}

void TestTraceFile::flippedAnywhere() {
  const std::uint64_t seed = test::testSeed(31);
  std::mt19937_64 random(seed);
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes whole = traceBytes(events, kHeader, smallChunks(9));
  const Bytes cut = withoutEnd(whole);
  for (const Bytes& bytes : {whole, cut}) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      Bytes flipped = bytes;
      flipped[i] = static_cast<std::uint8_t>(flipped[i] ^ (1U << (random() % 8)));
      try {
        const TraceFile file = readTrace(flipped, "t");
        QVERIFY(!file.warnings.empty());
        QVERIFY(isPrefix(file.events, events));
        // A finished file is only read in part where what makes it finished was damaged.
        QVERIFY(&bytes == &cut || bytes == cut || i + kTraceEnd.size() >= bytes.size());
      } catch (const Failure& failure) {
        QCOMPARE(failure.error().file, std::string("t"));
        QVERIFY(!failure.error().place.empty());
      }
    }
  }
}

void TestTraceFile::damaged_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("message");
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes whole = traceBytes(events, kHeader, smallChunks(9));
  const Bytes open = withoutEnd(whole);
  const auto row = [](const char* name, const Bytes& bytes, const std::string& message) {
    QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(bytes.data()),
                                      static_cast<qsizetype>(bytes.size()))
                        << worded(QString::fromStdString(message));
  };
  const auto changed = [](Bytes bytes, std::size_t at, std::uint8_t value) {
    bytes.at(at) = value;
    return bytes;
  };
  const std::vector<FoundRecord> records = recordsOf(whole);
  const std::string second = "t: byte " + std::to_string(records.at(2).offset);

  row("empty", {}, "t: byte 0: Spanscope found 0 bytes, but needs <trace-file-least> 24");
  row("magic", changed(whole, 1, 'X'),
      "t: byte 0: Spanscope found other first bytes, but needs <first-bytes-trace>");
  row("version", changed(whole, 8, 2), "t: byte 8: Spanscope found version 2, but needs version 1");
  row("reserved", changed(whole, 12, 1), "t: byte 12: Spanscope found 1, but needs 0");
  row("schema", changed(whole, 16, static_cast<std::uint8_t>(whole[16] + 1)),
      "t: byte 16: Spanscope found <trace-other-fields>, but needs <fields-version-program>");
  row("header checksum", changed(whole, records[0].offset + RecordHeader::kBytes + 12, 0xFF),
      "t: byte 24: Spanscope found <content-not-fit>, but needs <content-written>");
  row("header kind", withRecord(whole, 0, [](RecordHeader& h, Bytes&) { h.kind = RecordKind::Chunk; }),
      "t: byte 24: Spanscope found a chunk, but needs a header");
  row("header kind unknown", changed(whole, 24, 9),
      "t: byte 24, kind: Spanscope found 9, but needs <kind-record>");
  row("chunk content",
      changed(whole, records[2].offset + RecordHeader::kBytes + 5,
              static_cast<std::uint8_t>(whole[records[2].offset + RecordHeader::kBytes + 5] + 1)),
      "t: chunk 2: Spanscope found <content-not-fit>, but needs <content-written>");
  row("chunk checksum",
      changed(whole, records[2].offset + 50, static_cast<std::uint8_t>(whole[records[2].offset + 50] + 1)),
      "t: chunk 2: Spanscope found <content-not-fit>, but needs <content-written>");
  row("chunk count", withRecord(whole, 2, [](RecordHeader& h, Bytes&) { ++h.count; }),
      "t: chunk 2: Spanscope found <record-index-not>, but needs <index-says>");
  row("chunk content in an open file",
      changed(open, records[2].offset + RecordHeader::kBytes + 5,
              static_cast<std::uint8_t>(open[records[2].offset + RecordHeader::kBytes + 5] + 1)),
      "warning: " + second +
          ": Spanscope found <content-not-fit>, but needs <content-written><stands-before-whole>");
  row("no end", open,
      "warning: t: byte " + std::to_string(open.size()) +
          ": Spanscope found <recording-not-ended>, but needs <end-stands-before>");
  row("more events than there are",
      withRecord(open, 2, [](RecordHeader& h, Bytes&) { h.count = 4'000'000'000U; }),
      "t: chunk 2: Spanscope found 4000000000 events, but needs at most ");
  row("an event more", withRecord(open, 2, [](RecordHeader& h, Bytes&) { ++h.count; }),
      "t: chunk 2, event 10, event: Spanscope found the end, but needs more bytes");
  row("an event fewer", withRecord(open, 2, [](RecordHeader& h, Bytes&) { --h.count; }),
      "t: chunk 2: Spanscope found ");
  row("other sequence", withRecord(open, 2, [](RecordHeader& h, Bytes&) { ++h.lastSequence; }),
      "t: chunk 2: Spanscope found <other-sequence-numbers>, but needs <those-header>");
  row("sequence that goes back", withRecord(open, 2, [](RecordHeader& h, Bytes&) { h.firstSequence = 2; }),
      "warning: " + second +
          worded(std::string(
              ": Spanscope found <sequence-numbers-times>, but needs <ascending-numbers-times>; ")));
  row("time that goes back", withRecord(open, 2, [](RecordHeader& h, Bytes&) { h.firstTime = -1; }),
      "warning: " + second +
          worded(std::string(
              ": Spanscope found <sequence-numbers-times>, but needs <ascending-numbers-times>; ")));
  row("chunk without events", withRecord(open, 2, [](RecordHeader& h, Bytes&) { h.count = 0; }),
      "warning: " + second +
          worded(std::string(": Spanscope found a chunk of 0 events, but needs <chunk-events-keyframe>")));
  row("header twice", withRecord(open, 2, [](RecordHeader& h, Bytes&) { h.kind = RecordKind::Header; }),
      "warning: " + second + ": Spanscope found a header of 9 events, but needs <chunk-events-keyframe>");
  row("not compressed", withRecord(open, 2, [](RecordHeader&, Bytes& stored) { stored[0] ^= 1; }),
      "t: chunk 2: Spanscope found <content-not-compressed>, but needs <zstd-frame-states>");
  row("broken frame", withRecord(open, 2, [](RecordHeader&, Bytes& stored) { stored.back() ^= 0xFF; }),
      "t: chunk 2");
  row("frame and more",
      withRecord(open, 2,
                 [](RecordHeader& h, Bytes& stored) {
                   stored.push_back(0);
                   ++h.storedBytes;
                 }),
      "t: chunk 2: Spanscope found <frame-not-fill>, but needs <whole-zstd-frame>");
  row("content of an unknown kind", withContent(open, 2, [](RecordHeader&, Bytes& raw) { raw[0] = 200; }),
      "t: chunk 2, event 1, event: Spanscope found kind 200, but needs a kind below " +
          std::to_string(std::variant_size_v<Payload>));
  row("bytes left over", withContent(open, 2, [](RecordHeader&, Bytes& raw) { raw.push_back(0); }),
      "t: chunk 2: Spanscope found 1 byte more, but needs the end");
  row("bytes after the header's content",
      withContent(open, 0, [](RecordHeader&, Bytes& raw) { raw.push_back(0); }),
      "t: byte 24: Spanscope found 1 byte more, but needs the end");
}

void TestTraceFile::damaged() {
  QFETCH(QByteArray, bytes);
  QFETCH(QString, message);
  const QString found = QString::fromStdString(errorOf(Bytes(bytes.begin(), bytes.end())));
  QVERIFY2(found.startsWith(message), qPrintable(found));
}

void TestTraceFile::bombs() {
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes open = withoutEnd(traceBytes(events, kHeader, smallChunks(9)));
  // A few bytes that become a gigabyte: refused before anything is allocated for them.
  const Bytes zeros(1U << 20);
  const Bytes honest = withRecord(open, 1, [&](RecordHeader& h, Bytes& stored) {
    stored = compressRecord(zeros, 3);
    h.storedBytes = static_cast<std::uint32_t>(stored.size());
    h.rawBytes = 1U << 30;
  });
  QVERIFY(errorOf(honest).find("1073741824 bytes of content, but needs at most 268435456") !=
          std::string::npos);
  const Bytes lying = withRecord(open, 1, [&](RecordHeader& h, Bytes& stored) {
    stored = compressRecord(zeros, 3);
    h.storedBytes = static_cast<std::uint32_t>(stored.size());
    h.rawBytes = 100;
  });
  QVERIFY(errorOf(lying).find("chunk 1: Spanscope found a frame of 1048576 bytes, but needs 100 bytes") !=
          std::string::npos);
}

void TestTraceFile::lyingIndex() {
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes whole = traceBytes(events, kHeader, smallChunks(9));
  const std::size_t indexAt = recordsOf(whole).size() - 1;
  const auto withEntries = [&](const std::function<void(std::vector<IndexEntry>&)>& change) {
    Bytes bytes = withContent(whole, indexAt, [&](RecordHeader&, Bytes& raw) {
      MemoryBudget budget(1U << 20);
      ByteReader reader(raw, budget);
      std::vector<IndexEntry> entries;
      readValue(reader, entries);
      change(entries);
      ByteWriter writer;
      writeValue(writer, entries);
      raw = writer.bytes();
    });
    return errorOf(bytes);
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  using Entries = std::vector<IndexEntry>;
  QCOMPARE(withEntries([](Entries&) {}), std::string());
  QVERIFY(contains(withEntries([](Entries& e) { e[1].offset += 1; }), "t: chunk 1"));
  QVERIFY(contains(withEntries([](Entries& e) { e[1].offset = e[0].offset; }), "t: index, entry 2"));
  QVERIFY(contains(withEntries([](Entries& e) { e[1].offset = 1ULL << 63; }), "t: index, entry 2"));
  QVERIFY(contains(withEntries([](Entries& e) { e.erase(e.begin()); }), "t: index, entry 1"));
  QVERIFY(contains(withEntries([](Entries& e) { e.erase(e.begin() + 1); }), "t: chunk 1"));
  QVERIFY(contains(withEntries([](Entries& e) { e.pop_back(); }), "t: chunk "));
  QVERIFY(contains(withEntries([](Entries& e) { e.clear(); }), "t: index"));
  QVERIFY(contains(withEntries([](Entries& e) { ++e[2].count; }), "t: chunk 3"));
  QVERIFY(contains(withEntries([](Entries& e) { e[2].count = 4'000'000'000U; }), "t: chunk 3"));
  QVERIFY(contains(withEntries([](Entries& e) { e[2].kind = RecordKind::Index; }), "t: index, entry 3"));
  QVERIFY(contains(withEntries([](Entries& e) { e[2].firstSequence = 1; }), "t: index, entry 3"));
  QVERIFY(contains(withEntries([](Entries& e) { e[2].lastTime = 0; }), "t: index, entry 3"));

  Bytes moved = whole;
  moved[moved.size() - kTrailerBytes] ^= 1;
  QVERIFY(contains(errorOf(moved), "t: index"));
  moved[moved.size() - kTrailerBytes + 6] = 0xFF;
  QVERIFY(contains(errorOf(moved), "t: byte "));
}

void TestTraceFile::limits() {
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes bytes = traceBytes(events, kHeader, smallChunks(9));
  TraceLimits few;
  few.memoryBytes = events.size() * sizeof(Event) / 2;
  QVERIFY(errorOf(bytes, few).find("bytes more memory") != std::string::npos);
  TraceLimits small;
  small.chunkBytes = 64;
  QVERIFY(errorOf(bytes, small).find("bytes of content, but needs at most 64") != std::string::npos);
}

/// Older programs wrote states between the chunks.
void TestTraceFile::keyframesOfBeforeAreSkipped() {
  const std::vector<Event> events = test::simulatedTrace(6, 60, 6);
  const Bytes open = withoutEnd(traceBytes(events, kHeader, smallChunks(9)));
  const FoundRecord second = recordsOf(open).at(2);
  const Bytes stored = compressRecord(Bytes(100, 7), 3);
  RecordHeader keyframe = second.header;
  keyframe.kind = RecordKind::Keyframe;
  keyframe.count = 0;
  keyframe.firstSequence = keyframe.lastSequence = second.header.firstSequence - 1;
  keyframe.firstTime = keyframe.lastTime = second.header.firstTime;
  keyframe.rawBytes = 100;
  keyframe.storedBytes = static_cast<std::uint32_t>(stored.size());
  const auto encoded = encodeRecordHeader(keyframe, stored);
  Bytes old = open;
  old.insert(old.begin() + static_cast<std::ptrdiff_t>(second.offset), stored.begin(), stored.end());
  old.insert(old.begin() + static_cast<std::ptrdiff_t>(second.offset), encoded.begin(), encoded.end());
  QVERIFY(readTrace(old, "t").events == events);
  QVERIFY(TraceReader(old, "t").eventsFrom(1, events.size()) == events);
  // Its checksum counts all the same.
  old[second.offset + RecordHeader::kBytes] ^= 1;
  QVERIFY(readTrace(old, "t").events.size() < events.size());
}

void TestTraceFile::eventsFromAnywhere() {
  std::vector<Event> events = test::simulatedTrace(8, 100, 12);
  for (std::size_t i = 30; i < events.size(); ++i) events[i].sequence += 100;
  for (std::size_t i = 0; i < events.size(); ++i) events[i].time = static_cast<std::int64_t>(i / 3) * 10;
  TraceReader reader(traceBytes(events, kHeader, smallChunks()), "t");
  for (std::uint64_t from = 0; from < events.back().sequence + 3; ++from) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{20}, events.size() + 5}) {
      auto first =
          std::find_if(events.begin(), events.end(), [&](const Event& e) { return e.sequence >= from; });
      const auto count = std::min(limit, static_cast<std::size_t>(events.end() - first));
      const std::vector<Event> expected(first, first + static_cast<std::ptrdiff_t>(count));
      QVERIFY(reader.eventsFrom(from, limit) == expected);
    }
  }
}

void TestTraceFile::writerNamesFileLast() {
  const QTemporaryDir folder;
  const std::filesystem::path path = inside(folder, "a.trace");
  const std::vector<Event> events = test::simulatedTrace(8, 50);
  writeTrace(path, std::span(events).first(3), kHeader);
  const QByteArray old = contentOf(path);
  TraceWriter writer(path, kHeader, smallChunks());
  for (const Event& event : events) writer.append(event);
  QCOMPARE(contentOf(path), old);
  QVERIFY(std::filesystem::exists(writer.partPath()));
  writer.finish();
  writer.finish();
  QCOMPARE(filesIn(folder), 1);
  QVERIFY(readTrace(path).events == events);

  TraceWriter discarded(path, kHeader);
  discarded.append(events.front());
  discarded.discard();
  QCOMPARE(filesIn(folder), 1);
  QVERIFY(readTrace(path).events == events);
}

void TestTraceFile::diedWriter() {
  const QTemporaryDir folder;
  const std::filesystem::path path = inside(folder, "a.trace");
  const std::filesystem::path copy = inside(folder, "copy");
  const std::vector<Event> events = test::simulatedTrace(8, 50);
  {
    TraceWriter writer(path, kHeader, smallChunks(10));
    for (const Event& event : std::span(events).first(25)) writer.append(event);
    // The file that a program leaves if it dies here.
    std::filesystem::copy_file(writer.partPath(), copy);
    const TraceFile salvaged = readTrace(copy);
    QCOMPARE(salvaged.events.size(), std::size_t{20});
    QVERIFY(isPrefix(salvaged.events, events));
    QCOMPARE(salvaged.warnings.size(), std::size_t{1});
    QCOMPARE(salvaged.warnings.front().file, copy.string());
  }
  // One that is only torn down leaves nothing.
  QCOMPARE(filesIn(folder), 1);
}

void TestTraceFile::slowEventsReachTheFile() {
  const QTemporaryDir folder;
  const std::filesystem::path path = inside(folder, "a.trace");
  TraceWriter writer(path, kHeader);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    writer.append(Event{i, static_cast<std::int64_t>(i) * 400'000'000, 1, 0, 0, {}, MessageLogged{{}, "x"}});
  }
  // A chunk lasts a second: 0.4 to 1.2 s, 1.6 to 2.4 s, 2.8 to 3.6 s; the last event waits.
  QCOMPARE(readTrace(writer.partPath()).events.size(), std::size_t{9});
  writer.flush();
  QCOMPARE(readTrace(writer.partPath()).events.size(), std::size_t{10});
  writer.finish();
}

void TestTraceFile::refusedEvents() {
  Bytes bytes;
  TraceEncoder encoder(
      [&](std::span<const std::uint8_t> more) { bytes.insert(bytes.end(), more.begin(), more.end()); },
      kHeader);
  const auto event = [](std::uint64_t sequence, std::int64_t time) {
    return Event{sequence, time, 1, 0, 0, {}, MessageLogged{{}, "x"}};
  };
  const auto refuses = [&](const Event& e) {
    try {
      encoder.append(e);
    } catch (const Failure& failure) {
      return failure.error().place == "event " + std::to_string(e.sequence);
    }
    return false;
  };
  QVERIFY(refuses(event(0, 0)));
  QVERIFY(refuses(event(1, -1)));
  encoder.append(event(5, 10));
  QVERIFY(refuses(event(4, 10)));
  QVERIFY(refuses(event(6, 9)));
  Event large = event(6, 11);
  large.payload = MessageLogged{{}, std::string(TraceLimits().chunkBytes, 'x')};
  QVERIFY(refuses(large));
  encoder.append(event(6, 11));
  encoder.finish();
  QVERIFY(refuses(event(7, 12)));
  const TraceFile file = readTrace(bytes, "t");
  QVERIFY(file.events == (std::vector<Event>{event(5, 10), event(6, 11)}));
}

void TestTraceFile::unwritable() {
  const QTemporaryDir folder;
  const std::filesystem::path missing = inside(folder, "missing") / "a.trace";
  try {
    writeTrace(missing, {});
    QFAIL("a folder that is not there went unnoticed");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, missing.string());
  }
  if (!std::filesystem::exists("/dev/full")) QSKIP("no /dev/full here");
  const std::vector<Event> events = test::simulatedTrace(8, 50);
  const std::filesystem::path path = inside(folder, "full");
  std::filesystem::create_symlink("/dev/full", path);
  try {
    writeTrace(path, events);
    QFAIL("a full disk went unnoticed");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, path.string());
    QCOMPARE(failure.error().found, worded(std::string("<system-reports> No space left on device.")));
  }
  // The device is written to, never replaced.
  QVERIFY(std::filesystem::is_symlink(path));
  QCOMPARE(filesIn(folder), 1);

  std::filesystem::create_directories(inside(folder, "taken"));
  QVERIFY_EXCEPTION_THROWN(TraceWriter(inside(folder, "taken"), kHeader), Failure);
  QCOMPARE(filesIn(folder), 2);
}

void TestTraceFile::notAFile() {
  const QTemporaryDir folder;
  const std::filesystem::path path(folder.path().toStdString());
  for (const std::filesystem::path& bad : {path, path / "missing"}) {
    try {
      readTrace(bad);
      QFAIL("no file was read");
    } catch (const Failure& failure) {
      QCOMPARE(failure.error().file, bad.string());
      QCOMPARE(failure.error().expected, std::string("a trace file"));
    }
  }
}

/// A file of a program that did not have the events which were added since.
void TestTraceFile::filesWithoutLaterEventsOpen() {
  const TraceFile file = readTrace(SPANSCOPE_TEST_DATA_DIR "/without_segment_attention.trace");
  QVERIFY(file.warnings.empty());
  Replay replay;
  for (const Event& event : file.events) {
    const std::optional<Error> error = replay.apply(event);
    QVERIFY2(!error, error ? error->message().c_str() : "");
  }
  const RequestState& request = replay.progress().requests.at(1);
  QCOMPARE(QString::fromStdString(request.text), QString("The pet of Tarek is Biscuit."));
  QCOMPARE(request.promptTokens, std::int64_t{83});
}

void TestTraceFile::millionEvents() {
  constexpr std::size_t kEvents = 1'000'000;
  const QTemporaryDir folder;
  const std::filesystem::path path = inside(folder, "million.trace");
  test::ListSink sink;
  test::SimulatedEngine engine(sink, 1, 2000, 16);
  engine.start();
  while (sink.events.size() < kEvents) engine.step();

  CpuTimer timer;
  writeTrace(path, sink.events, kHeader);
  const long written = timer.restart();
  const TraceFile file = readTrace(path);
  const long read = timer.restart();
  QVERIFY(file.events == sink.events);

  qInfo("%zu events, processor time: %ld ms to write %llu bytes, %ld ms to read", file.events.size(), written,
        static_cast<unsigned long long>(std::filesystem::file_size(path)), read);
  QVERIFY(read < 10'000);
}

SPANSCOPE_TEST(tst_trace_file, TestTraceFile)
#include "tst_trace_file.moc"
