// SPDX-License-Identifier: GPL-3.0-or-later
// One table of terms: the manual's page says the same, and every term that code asks for is there.
#include "tests/support/test_program.h"
#include "ui/words/glossary.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using namespace spanscope::ui;

namespace {

const QString kSource = QStringLiteral(SPANSCOPE_SOURCE_DIR);

QString textOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

class TestGlossary : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void termsAreTold() {
    QSet<QString> ids;
    QSet<QString> words;
    for (const Term& term : glossary()) {
      ids.insert(term.id);
      words.insert(term.word);
      QVERIFY2(term.meaning.endsWith(QLatin1Char('.')), qPrintable(term.word));
      QVERIFY2(term.meaning.size() < 200, qPrintable(term.word));
    }
    QCOMPARE(static_cast<std::size_t>(ids.size()), glossary().size());
    QCOMPARE(static_cast<std::size_t>(words.size()), glossary().size());
    for (const char* wanted : {"plus", "cross", "closure", "ply", "relocated", "block-attention", "exactness",
                               "fidelity", "ttft", "itl"})
      QVERIFY2(findTerm(QString::fromLatin1(wanted)) != nullptr, wanted);
    QCOMPARE(explain(u"ttft").left(6), QStringLiteral("TTFT: "));
    QCOMPARE(explain(u"nothing"), QStringLiteral("nothing"));
  }

  /// Line by line, and nothing else in its tables.
  void thePageSaysTheSame() {
    QStringList rows;
    for (const QString& line :
         textOf(kSource + QStringLiteral("/resources/manual/glossary.md")).split(QLatin1Char('\n'))) {
      if (line.startsWith(QLatin1String("| ")) && line != QLatin1String("| word | meaning |")) rows << line;
    }
    QStringList wanted;
    for (const Term& term : glossary()) wanted << QStringLiteral("| %1 | %2 |").arg(term.word, term.meaning);
    QCOMPARE(rows, wanted);
  }

  void whatCodeExplainsIsThere() {
    static const QRegularExpression call(QStringLiteral("explain\\(u\"([^\"]+)\"\\)"));
    int found = 0;
    QDirIterator files(kSource + QStringLiteral("/ui"), {QStringLiteral("*.cpp")}, QDir::Files,
                       QDirIterator::Subdirectories);
    while (files.hasNext()) {
      const QString text = textOf(files.next());
      for (auto match = call.globalMatch(text); match.hasNext(); ++found) {
        const QString id = match.next().captured(1);
        QVERIFY2(findTerm(id) != nullptr, qPrintable(id));
      }
    }
    QVERIFY(found > 10);
  }
};

SPANSCOPE_TEST(tst_glossary, TestGlossary)
#include "tst_glossary.moc"
