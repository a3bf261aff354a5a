// SPDX-License-Identifier: GPL-3.0-or-later
// What who writes a lesson is offered: every figure, with its value, and claims that hold.
#include "engine/lesson/offers.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::worded;

namespace {

/// Run 1 computed 80 tokens; run 2 found 60 of 90. There is no third run yet.
const metrics::RunFacts* factsOfOffers(std::uint32_t run) {
  static const std::vector<metrics::RunFacts> runs = [] {
    std::vector<metrics::RunFacts> made(2);
    for (metrics::RunFacts& one : made) {
      one.requests.resize(1);
      one.outcome = trace::RunOutcome::Finished;
    }
    made[0].account.prompt.computed = 80;
    made[0].measured.timeToFirstToken = 0.08;
    made[0].answer = "  He said \"yes\".\nAnd more.";
    made[1].account.prompt.hit = 60;
    made[1].account.prompt.computed = 30;
    made[1].answer.assign(59, 'a');
    made[1].answer += "äöü and a tail";
    return made;
  }();
  return run >= 1 && run <= runs.size() ? &runs[run - 1] : nullptr;
}

OfferedMetric offered(std::uint32_t run, std::string_view name) {
  for (OfferedMetric& one : offeredMetrics(run, std::nullopt, factsOfOffers)) {
    if (metrics::lessonName(*one.metric) == name) return std::move(one);
  }
  return {};
}

QStringList comparisons(std::uint32_t run, std::string_view name) {
  QStringList list;
  for (const std::string& text : offeredComparisons(offered(run, name), factsOfOffers))
    list << QString::fromStdString(text);
  return list;
}

}  // namespace

class TestLessonOffers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyFigureIsOffered();
  void comparisonsOfAFigure_data();
  void comparisonsOfAFigure();
  void whatIsOfferedHolds();
};

void TestLessonOffers::everyFigureIsOffered() {
  const std::vector<OfferedMetric> all = offeredMetrics(2, std::nullopt, factsOfOffers);
  const auto ofRuns =
      std::count_if(metrics::all().begin(), metrics::all().end(),
                    [](const metrics::Metric& metric) { return metric.isOf(metrics::Scope::Run); });
  QCOMPARE(static_cast<std::ptrdiff_t>(all.size()), static_cast<std::ptrdiff_t>(ofRuns));
  for (const OfferedMetric& one : all) {
    QVERIFY(one.value.empty() || one.missing.empty());
    std::vector<Fault> faults;
    QVERIFY2(readExpression(one.expression, 0, faults), one.expression.c_str());
  }
  QCOMPARE(offered(2, "cached tokens").value, std::string("60"));
  QCOMPARE(offered(2, "cached tokens").expression, std::string("run 2: cached tokens"));
  QCOMPARE(offered(3, "cached tokens").missing, worded(std::string("run 3 <not-run>")));
  QCOMPARE(offered(2, "divergence").missing, std::string("the fidelity of run 2 was not measured"));
  for (const OfferedMetric& one : offeredMetrics(1, NodePath("/g/input"), factsOfOffers)) {
    QVERIFY(one.metric->isOf(metrics::Scope::Node));
    QVERIFY2(one.expression.ends_with(" of node:/g/input"), one.expression.c_str());
  }
}

void TestLessonOffers::comparisonsOfAFigure_data() {
  QTest::addColumn<int>("run");
  QTest::addColumn<QString>("metric");
  QTest::addColumn<QStringList>("expected");
  QTest::newRow("a count") << 2 << "cached tokens"
                           << QStringList{"run 2: cached tokens = 60", "run 2: cached tokens > 0",
                                          "run 2: cached tokens > run 1: cached tokens",
                                          "run 2: cached tokens != run 1: cached tokens"};
  QTest::newRow("nothing") << 1 << "cached tokens" << QStringList{"run 1: cached tokens = 0"};
  QTest::newRow("a share") << 2 << "hit rate"
                           << QStringList{"run 2: hit rate <= 0.67", "run 2: hit rate >= 0.66",
                                          "run 2: hit rate > 0", "run 2: hit rate > run 1: hit rate",
                                          "run 2: hit rate != run 1: hit rate"};
  QTest::newRow("a text up to its first quote")
      << 1 << "answer" << QStringList{"run 1: answer contains \"He said\""};
  QTest::newRow("a long text, at whole characters")
      << 2 << "answer"
      << QStringList{"run 2: answer contains \"" + QString(59, 'a') + "\"", "run 2: answer != run 1: answer"};
  QTest::newRow("a time") << 1 << "time to first token" << QStringList{};
  QTest::newRow("a run that is to come") << 3 << "cached tokens"
                                         << QStringList{"run 3: cached tokens > 0",
                                                        "run 3: cached tokens = 0",
                                                        "run 3: cached tokens = run 2: cached tokens",
                                                        "run 3: cached tokens > run 2: cached tokens",
                                                        "run 3: cached tokens < run 2: cached tokens",
                                                        "run 3: cached tokens != run 2: cached tokens"};
}

void TestLessonOffers::comparisonsOfAFigure() {
  QFETCH(int, run);
  QFETCH(QString, metric);
  QFETCH(QStringList, expected);
  QCOMPARE(comparisons(static_cast<std::uint32_t>(run), metric.toStdString()), expected);
}

void TestLessonOffers::whatIsOfferedHolds() {
  std::size_t count = 0;
  for (const std::uint32_t run : {1U, 2U}) {
    for (const OfferedMetric& metric : offeredMetrics(run, std::nullopt, factsOfOffers)) {
      if (metric.value.empty()) continue;
      for (const std::string& text : offeredComparisons(metric, factsOfOffers)) {
        std::vector<Fault> faults;
        const std::optional<Comparison> comparison = readComparison(text, 0, faults);
        QVERIFY2(comparison, text.c_str());
        const auto said = holds(*comparison, factsOfOffers);
        QVERIFY2(std::holds_alternative<Missing>(said) || std::get<bool>(said), text.c_str());
        ++count;
      }
    }
  }
  QVERIFY(count > 20);
}

SPANSCOPE_TEST(tst_lesson_offers, TestLessonOffers)
#include "tst_lesson_offers.moc"
