// SPDX-License-Identifier: GPL-3.0-or-later
// What the README tells a person to type exists: commands, options and files.
#include "tests/app/cli/spanq_process.h"

#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QtTest>

#include <string>
#include <vector>

using spanscope::test::spanq;

class TestReadme : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void commandsExist_data();
  void commandsExist();
  void everyCommandIsShown();
  void foldersExist();
};

namespace {

const QString kSource = SPANSCOPE_SOURCE_DIR;

QString readme() {
  QFile file(kSource + "/README.md");
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Lines of code blocks that a person types: they begin with "$ ".
QStringList typedLines() {
  QStringList lines;
  bool code = false;
  for (const QString& line : readme().split('\n')) {
    if (line.startsWith("```")) code = !code;
    if (code && line.startsWith("$ ")) lines.append(line.mid(2));
  }
  return lines;
}

/// "spanq bench abba --shape 21m" → {"bench", "abba"}.
std::vector<std::string> commandOf(const QStringList& words) {
  std::vector<std::string> command = {words.value(1).toStdString()};
  if (QStringList{"trace", "model", "bench"}.contains(words.value(1)))
    command.push_back(words.value(2).toStdString());
  return command;
}

}  // namespace

void TestReadme::commandsExist_data() {
  QTest::addColumn<QString>("line");
  for (const QString& line : typedLines()) QTest::newRow(qPrintable(line)) << line;
  QVERIFY(!typedLines().isEmpty());
}

void TestReadme::commandsExist() {
  QFETCH(QString, line);
  const QStringList words = line.split(' ', Qt::SkipEmptyParts);
  if (words[0] != "spanq") {
    QVERIFY2(QFileInfo::exists(kSource + "/" + words[0]) || !words[0].contains('/'), qPrintable(words[0]));
    return;
  }
  std::vector<std::string> arguments = commandOf(words);
  arguments.emplace_back("--help");
  const auto help = spanq(arguments);
  QCOMPARE(help.code, 0);
  for (const QString& word : words) {
    if (word.startsWith("-")) {
      QVERIFY2(QString::fromStdString(help.out).contains(QRegularExpression("[ ,]" + word + "[ ,=:]")),
               qPrintable(word));
    } else if (word.startsWith("resources/") && !word.contains('*')) {
      QVERIFY2(QFileInfo::exists(kSource + "/" + word), qPrintable(word));
    }
  }
}

void TestReadme::everyCommandIsShown() {
  const QString shown = typedLines().join('\n');
  for (const char* command : {"validate", "explain", "run", "export", "trace show", "trace stats",
                              "model show", "model logits", "bench abba", "bench speed", "bench needle"}) {
    QVERIFY2(shown.contains(QString("spanq ") + command), command);
  }
  QVERIFY(shown.contains("packaging/run"));
  QVERIFY(shown.contains("packaging/test"));
}

void TestReadme::foldersExist() {
  QRegularExpressionMatchIterator places = QRegularExpression(
                                               "`((?:app|engine|kernels|tests|resources|packaging)/"
                                               "[\\w./-]+)`")
                                               .globalMatch(readme());
  QVERIFY(places.hasNext());
  while (places.hasNext()) {
    const QString place = places.next().captured(1);
    QVERIFY2(QFileInfo::exists(kSource + "/" + place), qPrintable(place));
  }
}

QTEST_APPLESS_MAIN(TestReadme)
#include "tst_readme.moc"
