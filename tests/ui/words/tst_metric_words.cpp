// SPDX-License-Identifier: GPL-3.0-or-later
// The words of metrics in the window: every form is made from the table.
#include "tests/support/test_program.h"
#include "ui/words/metric_words.h"

#include <QObject>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestMetricWords : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyMetricHasWords() {
    for (const metrics::Metric& metric : metrics::all()) {
      QCOMPARE(metricName(metric.id), QString::fromUtf8(metric.name));
      QCOMPARE(metricTitle(metric.id).toLower(), metricName(metric.id).toLower());
      QVERIFY2(metricTitle(metric.id).at(0).isUpper(), metric.id);
      QVERIFY2(metricMeaning(metric.id).endsWith(QLatin1Char('.')), metric.id);
      QVERIFY2(metricHeading(metric.id).startsWith(metricName(metric.id)), metric.id);
      QCOMPARE(metricHeading(metric.id), QString::fromStdString(metrics::heading(metric)));
    }
  }

  /// The name of a count follows it, that of a time comes before it.
  void aValueHasItsName() {
    QVERIFY(metricPhrase("cached-tokens", 12).startsWith(QStringLiteral("12 ")));
    QVERIFY(metricPhrase("time-to-first-token", 0.0031).endsWith(QStringLiteral(" 3.1 ms")));
    QCOMPARE(metricPhrase("cached-tokens", QStringLiteral("3–5")),
             QStringLiteral("3–5 %1").arg(metricShortName("cached-tokens")));
    QVERIFY(metricShare("cached-tokens", 70, "prompt-tokens", 83).startsWith(QStringLiteral("70 of 83 ")));
    QVERIFY(metricLongTitle("time-to-first-token").contains(metricShortName("time-to-first-token")));
    QCOMPARE(metricLongTitle("cached-tokens"), metricTitle("cached-tokens"));
  }

  void noValueIsNoNumber() {
    const metrics::Metric& time = metrics::get("time-to-first-token");
    QCOMPARE(metricText(time, std::nullopt), QStringLiteral("–"));
    QCOMPARE(metricCell(time, std::nullopt), QString());
    QCOMPARE(metricCell(time, 0.0031), QStringLiteral("3.1"));
    QCOMPARE(metricCell(metrics::get("hit-rate"), 0.5), QStringLiteral("50"));
    QCOMPARE(metricCell(metrics::get("prompt-tokens"), 1e10), QStringLiteral("10000000000"));
  }
};

SPANSCOPE_TEST(tst_metric_words, TestMetricWords)
#include "tst_metric_words.moc"
