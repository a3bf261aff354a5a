// SPDX-License-Identifier: GPL-3.0-or-later
// The words of metrics in the window: every form is made from the table.
#include "tests/support/test_program.h"
#include "ui/words/metric_words.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
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

  /// "%1 cached", or the name of a metric alone, comes from the table and never from a literal.
  void noViewWordsAMetric() {
    // Words that also mean something else: "%1 stored" is a time, a position is not always a node's, and a
    // partial block is not always a partial hit.
    const QStringList ambiguous{QStringLiteral("position"), QStringLiteral("prompts"),
                                QStringLiteral("blocks"),   QStringLiteral("model"),
                                QStringLiteral("policy"),   QStringLiteral("layers"),
                                QStringLiteral("answer"),   QStringLiteral("prompt"),
                                QStringLiteral("stored"),   QStringLiteral("partial")};
    QStringList words;
    QStringList names;
    for (const metrics::Metric& metric : metrics::all()) {
      for (const char* const own : {metric.name, metric.shortName}) {
        const QString word = QString::fromUtf8(own);
        if (!ambiguous.contains(word)) words += QRegularExpression::escape(word);
      }
      if (metricName(metric.id).contains(QLatin1Char(' ')))
        names += QRegularExpression::escape(metricName(metric.id));
    }
    const QRegularExpression value(QStringLiteral("%\\d\\s(?:%1)\\b").arg(words.join(QLatin1Char('|'))));
    const QRegularExpression title(QStringLiteral("^(?:%1)$").arg(names.join(QLatin1Char('|'))),
                                   QRegularExpression::CaseInsensitiveOption);
    const QRegularExpression text(QStringLiteral("\\btr\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"\\s*)+)\\)"));
    QStringList faults;
    int texts = 0;
    for (const char* const folder : {"editor", "session", "views", "window"}) {
      QDirIterator each(QStringLiteral(SPANSCOPE_SOURCE_DIR "/ui/") + QLatin1String(folder),
                        {QStringLiteral("*.cpp")}, QDir::Files, QDirIterator::Subdirectories);
      while (each.hasNext()) {
        QFile file(each.next());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString code = QString::fromUtf8(file.readAll());
        for (auto found = text.globalMatch(code); found.hasNext();) {
          static const QRegularExpression seam(QStringLiteral("\"\\s*\"|^\"|\"\\s*$"));
          const QString literal = found.next().captured(1).remove(seam);
          ++texts;
          if (value.match(literal).hasMatch() || title.match(literal).hasMatch())
            faults += QStringLiteral("%1: %2").arg(file.fileName(), literal);
        }
      }
    }
    QVERIFY(texts > 1000);
    QVERIFY(value.match(QStringLiteral("%1 %2").arg(QStringLiteral("%1"), metricShortName("cached-tokens")))
                .hasMatch());
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
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
