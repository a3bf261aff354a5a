// SPDX-License-Identifier: GPL-3.0-or-later
// The needle experiment's documents, how its answers are read, and the pictures of benchmarks.
#include "engine/experiment/chart.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/statistics.h"
#include "engine/query/json/json.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace spanscope;

class TestNeedle : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void documentsAreTheSameAgain();
  void namesAreDistinct();
  void hayIsAsLongAsAsked_data();
  void hayIsAsLongAsAsked();
  void queryHoldsEveryDocument();
  void namesAreListed_data();
  void namesAreListed();
  void causesAreCounted();
  void wilsonIntervals_data();
  void wilsonIntervals();
  void sharesEndAtTheirEnds();
  void lineChartHasItsMarks();
  void heatChartHasItsCells();
  void heatChartHasRoomForNames();
};

namespace {

std::vector<std::string> textsOf(const std::vector<experiment::NeedleDocument>& documents) {
  std::vector<std::string> texts;
  for (const experiment::NeedleDocument& document : documents) texts.push_back(document.text);
  return texts;
}

/// Elements by name, and all text; nothing if it is not well-formed.
struct Picture {
  std::map<QString, int> elements;
  QStringList texts;
  bool wellFormed = false;
};

Picture parse(const std::string& svg) {
  Picture picture;
  QXmlStreamReader xml(QByteArray::fromStdString(svg));
  while (!xml.atEnd()) {
    if (xml.readNext() == QXmlStreamReader::StartElement) ++picture.elements[xml.name().toString()];
    if (xml.isCharacters() && !xml.isWhitespace()) picture.texts += xml.text().toString();
  }
  picture.wellFormed = !xml.hasError();
  return picture;
}

}  // namespace

void TestNeedle::documentsAreTheSameAgain() {
  experiment::NeedleOptions options;
  options.seed = 7;
  const auto texts = textsOf(experiment::needleDocuments(options, 20, 3));
  QCOMPARE(textsOf(experiment::needleDocuments(options, 20, 3)), texts);
  QVERIFY(textsOf(experiment::needleDocuments(options, 20, 4)) != texts);
  QVERIFY(textsOf(experiment::needleDocuments(options, 30, 3)) != texts);
  options.seed = 8;
  QVERIFY(textsOf(experiment::needleDocuments(options, 20, 3)) != texts);
}

void TestNeedle::namesAreDistinct() {
  experiment::NeedleOptions options;
  options.documents = experiment::kMostNeedles;
  std::set<std::string> names;
  for (const experiment::NeedleDocument& document : experiment::needleDocuments(options, 0, 0)) {
    names.insert(document.name);
    QCOMPARE(document.text, "I am a cat, and my name is " + document.name + ".");
  }
  QCOMPARE(static_cast<std::int32_t>(names.size()), experiment::kMostNeedles);
}

void TestNeedle::hayIsAsLongAsAsked_data() {
  QTest::addColumn<int>("words");
  for (const int words : {0, 1, 10, 57, 400}) QTest::addRow("%d", words) << words;
}

void TestNeedle::hayIsAsLongAsAsked() {
  QFETCH(int, words);
  constexpr int kFirstSentence = 8;
  constexpr int kLongestSentence = 8;
  for (const experiment::NeedleDocument& document : experiment::needleDocuments({}, words, 0)) {
    const auto blanks = std::count(document.text.begin(), document.text.end(), ' ');
    const int hay = static_cast<int>(blanks) + 1 - kFirstSentence;
    QVERIFY(hay >= words && hay < words + kLongestSentence);
    QCOMPARE(document.text.back(), '.');
  }
}

void TestNeedle::queryHoldsEveryDocument() {
  const auto documents = experiment::needleDocuments({}, 10, 0);
  const query::Node query = experiment::needleQuery(documents);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const query::Node* node = query::nodeAt(query, "/g/input/cross/1/plus/" + std::to_string(i));
    QVERIFY(node != nullptr && node->as<query::Message>() != nullptr);
    QCOMPARE(node->as<query::Message>()->text, documents[i].text);
  }
}

void TestNeedle::namesAreListed_data() {
  QTest::addColumn<QString>("answer");
  QTest::addColumn<QStringList>("names");
  QTest::newRow("array") << R"(["Tom", "Max"])" << QStringList{"Tom", "Max"};
  QTest::newRow("none") << "[]" << QStringList{};
  QTest::newRow("nothing") << "" << QStringList{};
  QTest::newRow("among words") << R"(They are "Tom" and "Max".)" << QStringList{"Tom", "Max"};
  QTest::newRow("cut off") << R"(["Tom", "Ma)" << QStringList{"Tom"};
  QTest::newRow("twice") << R"(["Tom", "Tom"])" << QStringList{"Tom", "Tom"};
  QTest::newRow("without quotes") << "[Tom, Max]" << QStringList{};
}

void TestNeedle::namesAreListed() {
  QFETCH(QString, answer);
  QFETCH(QStringList, names);
  QStringList listed;
  for (const std::string& name : experiment::listedNames(answer.toStdString()))
    listed += QString::fromStdString(name);
  QCOMPARE(listed, names);
}

void TestNeedle::causesAreCounted() {
  experiment::NeedleRow row;
  row.misses = {{.trial = 0, .document = 1, .name = "Tom", .cause = experiment::MissCause::LostCombining},
                {.trial = 0, .document = 2, .name = "Max", .cause = experiment::MissCause::Missed},
                {.trial = 1, .document = 2, .name = "Leo", .cause = experiment::MissCause::Missed}};
  QCOMPARE(row.missesBy(experiment::MissCause::Missed), 2);
  QCOMPARE(row.missesBy(experiment::MissCause::LostCombining), 1);
  QCOMPARE(row.missesBy(experiment::MissCause::NotRun), 0);
}

void TestNeedle::wilsonIntervals_data() {
  QTest::addColumn<int>("successes");
  QTest::addColumn<int>("trials");
  QTest::addColumn<double>("low");
  QTest::addColumn<double>("high");
  // By hand from (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.959964.
  QTest::newRow("half of ten") << 5 << 10 << 0.2366 << 0.7634;
  QTest::newRow("none of ten") << 0 << 10 << 0.0 << 0.2775;
  QTest::newRow("all of ten") << 10 << 10 << 0.7225 << 1.0;
  QTest::newRow("90 of 100") << 90 << 100 << 0.8256 << 0.9448;
  QTest::newRow("no trials") << 0 << 0 << 0.0 << 1.0;
}

void TestNeedle::wilsonIntervals() {
  QFETCH(int, successes);
  QFETCH(int, trials);
  QFETCH(double, low);
  QFETCH(double, high);
  const experiment::ShareInterval interval = experiment::wilsonInterval(successes, trials);
  QVERIFY(std::abs(interval.low - low) < 5e-5);
  QVERIFY(std::abs(interval.high - high) < 5e-5);
}

/// Not at 2.8e-17, which would be reported as a number.
void TestNeedle::sharesEndAtTheirEnds() {
  for (int trials = 1; trials <= 200; ++trials) {
    QVERIFY(experiment::wilsonInterval(0, trials).low == 0);
    QVERIFY(experiment::wilsonInterval(trials, trials).high == 1);
    QVERIFY(experiment::wilsonInterval(1, trials).low > 0);
  }
}

void TestNeedle::lineChartHasItsMarks() {
  experiment::LineChart chart;
  chart.texts = {.title = "a < b & \"c\"", .subtitle = "s", .xLabel = "x", .yLabel = "y"};
  chart.series = {
      {.name = "one", .points = {{0, {0.5, 0.4, 0.6, 9}}, {10, {0.2, 0.1, 0.3, 9}}, {20, {0, 0, 0.1, 9}}}},
      {.name = "two", .points = {{0, {1, 0.9, 1, 9}}, {10, {0.9, 0.8, 1, 9}}}},
      {.name = "alone", .points = {{10, {0.1, 0, 0.2, 9}}}}};
  chart.x = experiment::placesAxis({0, 10, 20}, false);
  chart.y = experiment::shareAxis();
  Picture picture = parse(experiment::chartSvg(chart));
  QVERIFY(picture.wellFormed);
  QCOMPARE(picture.elements["polyline"], 2);      // a line needs two points
  QCOMPARE(picture.elements["circle"], 3 + 1);    // the first series' marks, and its own in the legend
  QCOMPARE(picture.elements["rect"], 2 + 1 + 1);  // the second's, and the ground
  QCOMPARE(picture.elements["polygon"], 1 + 1);
  QVERIFY(picture.texts.contains("a < b & \"c\""));
  for (const char* text : {"0 %", "100 %", "10", "two", "x", "y"})
    QVERIFY2(picture.texts.contains(text), text);
}

void TestNeedle::heatChartHasItsCells() {
  experiment::HeatChart chart;
  chart.texts = {.title = "t", .subtitle = "s", .xLabel = "x", .yLabel = "y"};
  chart.rows = {"0 %", "100 %"};
  chart.columns = {"5", "6", "7"};
  const auto cell = experiment::shareCell;
  const std::vector<std::vector<std::optional<experiment::HeatMapCell>>> cells{
      {cell(0), cell(0.5), cell(1)}, {cell(0.25), std::nullopt, cell(0.755)}};
  chart.scale = experiment::shareScale();
  chart.panels = {{.title = "left", .cells = cells}, {.title = "right", .cells = cells}};
  const Picture picture = parse(experiment::chartSvg(chart));
  QVERIFY(picture.wellFormed);
  for (const char* text : {"0", "50", "100", "25", "76", "–", "left", "right", "5"}) {
    QVERIFY2(picture.texts.contains(QString::fromUtf8(text)), text);
  }
  QCOMPARE(picture.texts.count("76"), 2);
}

/// Names of rows are to the right of the label of their axis, at any length.
void TestNeedle::heatChartHasRoomForNames() {
  experiment::HeatChart chart;
  const experiment::HeatMapCell cell = experiment::shareCell(0.5);
  chart.rows = {"a", "a measure of eighteen", "b"};
  chart.columns = {"5"};
  chart.panels = {{.title = {}, .cells = {{cell}, {cell}, {cell}}}};
  QXmlStreamReader xml(QByteArray::fromStdString(experiment::chartSvg(chart)));
  double end = 0;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement || xml.name() != QLatin1String("text")) continue;
    const double x = xml.attributes().value(QLatin1String("x")).toDouble();
    if (xml.readElementText() == QLatin1String("a measure of eighteen")) end = x;
  }
  QVERIFY2(end >= 34 + 21 * 6, qPrintable(QString::number(end)));
}

SPANSCOPE_TEST(tst_needle, TestNeedle)
#include "tst_needle.moc"
