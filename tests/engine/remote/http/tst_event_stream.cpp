// SPDX-License-Identifier: GPL-3.0-or-later
// Server-sent events, in every way to cut and to end their lines.
#include "engine/base/error.h"
#include "engine/remote/chat/answer_reader.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using remote::EventStream;

namespace {

std::vector<std::string> eventsOf(const std::string& text, std::size_t step) {
  std::vector<std::string> events;
  EventStream stream([&](std::string_view data) { events.emplace_back(data); });
  for (std::size_t i = 0; i < text.size(); i += step) stream.add(std::string_view(text).substr(i, step));
  stream.end();
  return events;
}

}  // namespace

class TestEventStream : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reads_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("events");
    const auto row = [](const char* name, const char* text, const QStringList& events) {
      QTest::newRow(name) << QString::fromUtf8(text) << events;
    };
    row("one", "data: a\n\n", {"a"});
    row("two", "data: a\n\ndata: b\n\n", {"a", "b"});
    row("several lines", "data: a\ndata: b\n\n", {"a\nb"});
    row("no blank", "data:a\n\n", {"a"});
    row("one blank of two is the value's", "data:  a\n\n", {" a"});
    row("crlf", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"});
    row("cr", "data: a\r\rdata: b\r\r", {"a", "b"});
    row("comments", ": ping\n\ndata: a\n: ping\n\n", {"a"});
    row("other fields", "event: x\nid: 3\nretry: 5\ndata: a\n\n", {"a"});
    row("empty data", "data\n\ndata:\n\n", {"", ""});
    row("nothing between", "\n\n\n", {});
    row("no end", "data: a\n\ndata: b", {"a", "b"});
    row("byte order mark",
        "\xEF\xBB\xBF"
        "data: a\n\n",
        {"a"});
    row("longer names are others", "database: a\n\n", {});
    row("colons", "data: a: b\n\n", {"a: b"});
    row("done", "data: {}\n\ndata: [DONE]\n\n", {"{}", "[DONE]"});
  }
  void reads() {
    QFETCH(QString, text);
    QFETCH(QStringList, events);
    for (const std::size_t step : {1, 2, 3, 7, 1000}) {
      QStringList found;
      for (const std::string& event : eventsOf(text.toStdString(), step))
        found += QString::fromStdString(event);
      QCOMPARE(found, events);
    }
  }

  /// What servers send outside the specification: events divided by one line break, and lines that are no
  /// field.
  void otherThanTheStandard() {
    std::vector<std::string> events;
    std::vector<std::string> names;
    std::vector<std::string> stray;
    EventStream* reading = nullptr;
    EventStream stream(
        [&](std::string_view data) {
          events.emplace_back(data);
          names.push_back(reading->name());
        },
        {.isWhole = [](std::string_view data) { return data.ends_with('}'); },
         .stray = [&](std::string_view line) { stray.emplace_back(line); }});
    reading = &stream;
    stream.add(
        "data: {a}\ndata: {b\ndata: c}\n\nevent: error\ndata: {d}\n\ndata: {e}\nerror: {f}\nid: 1\nOops");
    stream.end();
    QVERIFY((events == std::vector<std::string>{"{a}", "{b\nc}", "{d}", "{e}"}));
    QVERIFY((names == std::vector<std::string>{"", "", "error", ""}));
    QVERIFY((stray == std::vector<std::string>{"error: {f}", "Oops"}));
  }

  /// However a stream is cut, the events are the same, and bytes that are none harm nothing.
  void garbageIsTheSameHoweverItIsCut() {
    testing::Random random(testing::testSeed(5));
    for (int i = 0; i < 300; ++i) {
      std::string text;
      constexpr std::string_view kBytes = "da\n\r:ta: \xEF\xBB\xBF\0x{}";
      while (random.below(60) != 0) text += random.below(4) == 0 ? 'd' : kBytes[random.below(kBytes.size())];
      if (random.below(2) == 0) text.insert(random.below(text.size() + 1), "\ndata: x\n\n");
      QVERIFY(eventsOf(text, 1) == eventsOf(text, 1 + random.below(40)));
    }
  }

  void endlessEventsAreRefused() {
    for (const char* line : {"data: ", ": "}) {
      EventStream stream([](std::string_view) { QFAIL("there was an event"); });
      const std::string piece(std::size_t{1} << 20U, 'x');
      stream.add(line);
      bool isRefused = false;
      for (std::size_t i = 0; i <= EventStream::kMostBytes / piece.size() && !isRefused; ++i) {
        try {
          stream.add(piece);
        } catch (const Failure& failure) {
          isRefused = failure.error().found.find("16777216 bytes") != std::string::npos;
        }
      }
      QVERIFY(isRefused);
    }
  }
};

SPANSCOPE_TEST(tst_event_stream, TestEventStream)
#include "tst_event_stream.moc"
