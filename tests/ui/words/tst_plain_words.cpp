// SPDX-License-Identifier: GPL-3.0-or-later
// Plain English everywhere: no text has a word or pattern of plain_words.txt, and no sentence is too long.
//
// Texts are the prose of README, manual and lessons, the metainfo, the string literals of the program, and
// the comments of headers. A file that is not clean yet is in plain_words_pending.txt. That list can only
// shrink: a file that has become clean must leave it. With SPANSCOPE_SHRINK_PENDING=1 in the environment this
// test removes such files from the list. Files that were moved or split may then take the free places.
// plain_words_exceptions.txt has phrases that are right in one file.
#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QIODevice>
#include <QList>
#include <QMap>
#include <QObject>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

namespace {

const QString kSource = QStringLiteral(SPANSCOPE_SOURCE_DIR);
const QString kFolder = kSource + QStringLiteral("/tests/ui/words/");
const QString kPending = kFolder + QStringLiteral("plain_words_pending.txt");
constexpr int kMostWords = 20;
constexpr int kMostShown = 20;

QString textOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Lines without comments ("#") and empty lines.
QStringList listIn(const QString& path) {
  QStringList lines;
  for (const QString& line : textOf(path).split(QLatin1Char('\n'))) {
    if (!line.isEmpty() && !line.startsWith(QLatin1Char('#'))) lines += line;
  }
  return lines;
}

struct Text {
  int line = 0;         ///< first line, from 1
  QString text;         ///< lines are separated by '\n'
  bool isCell = false;  ///< of a table
};

/// Paragraphs, list items, headings, cells and lines of the head ("---" to "---"); no code, no addresses of
/// links.
QList<Text> textsOfMarkdown(const QString& markdown) {
  static const QRegularExpression item(QStringLiteral("^\\s*([-*>]|\\d+\\.)\\s+"));
  static const QRegularExpression code(QStringLiteral("`[^`]*`"));
  static const QRegularExpression target(QStringLiteral("\\]\\([^)]*\\)"));
  static const QRegularExpression marks(QStringLiteral("[*_]{1,2}|!?\\["));
  QList<Text> texts;
  bool fenced = false;
  bool inHead = false;
  bool goesOn = false;
  int number = 0;
  for (QString line : markdown.split(QLatin1Char('\n'))) {
    ++number;
    if (line == QLatin1String("---") && (number == 1 || inHead)) {
      inHead = number == 1;
      continue;
    }
    if (line.startsWith(QLatin1String("```"))) fenced = !fenced;
    if (fenced || line.startsWith(QLatin1String("```")) || line.trimmed().isEmpty()) {
      goesOn = false;
      continue;
    }
    // One capital letter in the place of code: it may begin a sentence.
    line.replace(code, QStringLiteral("X")).replace(target, QString()).remove(marks);
    if (line.startsWith(QLatin1Char('|'))) {
      for (const QString& cell : line.split(QLatin1Char('|'))) texts.append({number, cell.trimmed(), true});
      goesOn = false;
    } else if (goesOn && !item.match(line).hasMatch() && !line.startsWith(QLatin1Char('#'))) {
      texts.last().text += QLatin1Char('\n') + line.trimmed();
    } else {
      goesOn = !inHead && !line.startsWith(QLatin1Char('#'));
      texts.append({number, line.remove(item).trimmed()});
    }
  }
  return texts;
}

/// The string literals of a C++ file, and with `comments` its comments instead. Adjacent literals, and
/// comments on consecutive lines, are one text.
QList<Text> textsOfCode(const QString& code, bool comments) {
  // Raw strings and characters are matched too, so that a quote in them begins nothing.
  static const QRegularExpression token(
      QStringLiteral(
          "R\"([^(\\s]*)\\(.*?\\)\\1\"|'(?:[^'\\\\\n]|\\\\.)+'|\"(?<string>(?:[^\"\\\\\n]|\\\\.)*)\""
          "|//[/!]?<?(?<comment>[^\n]*)|/\\*.*?\\*/"),
      QRegularExpression::DotMatchesEverythingOption);
  static const QRegularExpression escape(QStringLiteral("\\\\(n|t|x[0-9a-fA-F]+|.)"));
  static const QRegularExpression prose(QStringLiteral("[a-zA-Z]{2,}[,:;]? [a-z]{2,}"));
  static const QRegularExpression noProse(QStringLiteral("^(SPDX|namespace )"));
  QList<Text> texts;
  qsizetype end = -1;
  int line = 1;
  qsizetype counted = 0;
  for (auto found = token.globalMatch(code); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    line += static_cast<int>(QStringView(code).mid(counted, match.capturedStart() - counted).count('\n'));
    counted = match.capturedStart();
    const bool isComment = match.capturedStart(QStringLiteral("comment")) >= 0;
    const bool isString = match.capturedStart(QStringLiteral("string")) >= 0;
    if (comments ? !isComment : !isString) continue;
    QString text = match.captured(comments ? QStringLiteral("comment") : QStringLiteral("string"));
    // File dialogs separate filters by ";;". Each filter is a sentence of its own.
    if (!comments)
      text.replace(escape, QStringLiteral(" ")).replace(QStringLiteral(";;"), QStringLiteral(". "));
    const QString between = end < 0 ? QStringLiteral("x") : code.mid(end, match.capturedStart() - end);
    const bool isAdjacent =
        between.trimmed().isEmpty() && (!comments || between.count(QLatin1Char('\n')) <= 1);
    end = match.capturedEnd();
    if (isAdjacent && !texts.isEmpty() && !(comments && text.trimmed().isEmpty()))
      texts.last().text += (comments ? QStringLiteral("\n") + text.trimmed() : text);
    else
      texts.append({line, text});
  }
  QList<Text> kept;
  for (Text& text : texts) {
    text.text = text.text.trimmed();
    if (prose.match(text.text).hasMatch() && !noProse.match(text.text).hasMatch()) kept += text;
  }
  return kept;
}

QList<Text> textsIn(const QString& path) {
  QString text = textOf(kSource + QLatin1Char('/') + path);
  if (path.endsWith(QLatin1String(".md"))) return textsOfMarkdown(text);
  if (path.endsWith(QLatin1String(".xml"))) {
    static const QRegularExpression tag(QStringLiteral("<[^>]*>"));
    return textsOfMarkdown(text.replace(tag, QStringLiteral("\n")));
  }
  QList<Text> texts = textsOfCode(text, false);
  if (path.endsWith(QLatin1String(".h"))) texts += textsOfCode(text, true);
  return texts;
}

/// All files with texts, relative to the source.
QStringList filesWithTexts() {
  QStringList files{QStringLiteral("README.md"), QStringLiteral("packaging/spanscope.metainfo.xml")};
  const auto add = [&files](const char* folder, const QStringList& names) {
    QDirIterator each(kSource + QLatin1Char('/') + QLatin1String(folder), names, QDir::Files,
                      QDirIterator::Subdirectories);
    while (each.hasNext()) files += QDir(kSource).relativeFilePath(each.next());
  };
  for (const char* folder : {".github", "resources/manual", "resources/lessons"}) add(folder, {"*.md"});
  for (const char* folder : {"app", "engine", "kernels", "ui"}) add(folder, {"*.cpp", "*.h"});
  files.sort();
  return files;
}

struct Rule {
  QRegularExpression pattern;
  QString advice;
};

const QList<Rule>& rules() {
  static const QList<Rule> all = [] {
    QList<Rule> rules;
    for (const QString& line : listIn(kFolder + QStringLiteral("plain_words.txt")))
      rules.append({QRegularExpression(line.section(QLatin1Char('\t'), 0, 0),
                                       QRegularExpression::CaseInsensitiveOption),
                    line.section(QLatin1Char('\t'), 1)});
    return rules;
  }();
  return all;
}

/// "line: rule: excerpt" for everything in a text that breaks a rule.
QStringList faultsOf(const Text& text) {
  QStringList faults;
  const auto add = [&](qsizetype at, const QString& rule) {
    const int line = text.line + static_cast<int>(QStringView(text.text).left(at).count(u'\n'));
    faults += QStringLiteral("%1: %2: …%3…")
                  .arg(line)
                  .arg(rule, text.text.mid(std::max<qsizetype>(0, at - 20), 70).simplified());
  };
  for (const Rule& rule : rules()) {
    if (const auto match = rule.pattern.match(text.text); match.hasMatch())
      add(match.capturedStart(), QStringLiteral("“%1”: write %2").arg(match.captured(), rule.advice));
  }
  // A sentence may begin with a name in backticks. An item of a list in a comment is a sentence of its own.
  static const QRegularExpression end(
      QStringLiteral("[.!?:;]?(?=\n- )|[.!?:](?=\\s+(?:- )?[A-Z…“\"%{0-9`])|[.!?:]?$"));
  static const QRegularExpression word(QStringLiteral("[\\w%][\\w%'’.,-]*"));
  static const QRegularExpression inverted(
      QStringLiteral("^(What|Found|Computed|Of (each|the|these|them|those|a)|Left|Not known)\\b"));
  qsizetype from = 0;
  while (from < text.text.size()) {
    const QRegularExpressionMatch stop = end.match(text.text, from);
    const qsizetype to = stop.hasMatch() ? stop.capturedEnd() : text.text.size();
    const QString sentence = text.text.mid(from, std::max<qsizetype>(to - from, 1)).trimmed();
    int words = 0;
    for (auto each = word.globalMatch(sentence); each.hasNext(); each.next()) ++words;
    // A cell may be a list of names, such as those of columns.
    const bool isList = text.isCell && sentence.count(QLatin1Char(',')) > 4;
    if (words > kMostWords && !isList)
      add(from, QStringLiteral("a sentence of %1 words: write at most %2").arg(words).arg(kMostWords));
    if (sentence.count(QLatin1Char(';')) > 1) add(from, QStringLiteral("two semicolons: write a list"));
    if (sentence.endsWith(QLatin1Char('.')) && words > 4 && inverted.match(sentence).hasMatch())
      add(from, QStringLiteral("verb or clause first: begin with the subject"));
    from = std::max(to, from + 1);
  }
  return faults;
}

}  // namespace

class TestPlainWords : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void faultsAreFound_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("faults");
    const QString twenty = QStringLiteral("One two three four five six seven eight nine ten ").repeated(2);
    QTest::newRow("plain") << QStringLiteral("The cache reuses the common prefix.") << 0;
    QTest::newRow("word") << QStringLiteral("Whoever runs it is told.") << 2;
    QTest::newRow("part of a word") << QStringLiteral("Understand the outstanding standards.") << 0;
    QTest::newRow("allowed use") << QStringLiteral("It writes to standard error.") << 0;
    QTest::newRow("inverted") << QStringLiteral("Found is the beginning of it.") << 1;
    QTest::newRow("question") << QStringLiteral("What is the beginning of it?") << 0;
    QTest::newRow("twenty words") << twenty.trimmed() + QLatin1Char('.') << 0;
    QTest::newRow("one more") << twenty + QStringLiteral("eleven.") << 1;
    QTest::newRow("two sentences") << twenty.trimmed() + QStringLiteral(". ") + twenty << 0;
    QTest::newRow("two items") << twenty.trimmed() + QLatin1Char('\n') + QStringLiteral("- ") + twenty << 0;
    QTest::newRow("code first") << twenty.trimmed() + QStringLiteral(". `it` ") + twenty.left(60) << 0;
    QTest::newRow("semicolons") << QStringLiteral("One; two; three.") << 1;
  }
  void faultsAreFound() {
    QFETCH(QString, text);
    const QStringList found = faultsOf({1, text});
    QFETCH(int, faults);
    QVERIFY2(found.size() == faults, qPrintable(found.join('\n')));
  }

  void textsAreRead() {
    const QList<Text> prose = textsOfMarkdown(
        QStringLiteral("# A\none `told` [two](told.md)\nthree\n\n```\ntold\n```\n| a | b |\n- c\n  d\n"));
    QStringList read;
    for (const Text& text : prose) {
      if (!text.text.isEmpty()) read += QStringLiteral("%1 %2").arg(text.line).arg(text.text);
    }
    QCOMPARE(read, (QStringList{"1 # A", "2 one X two\nthree", "8 a", "8 b", "9 c\nd"}));
    read.clear();
    for (const Text& text : textsOfMarkdown(QStringLiteral("---\na: b\nc: d\n---\n\ne\nf\n")))
      read += QStringLiteral("%1 %2").arg(text.line).arg(text.text);
    QCOMPARE(read, (QStringList{"2 a: b", "3 c: d", "6 e\nf"}));
    const QString code = QStringLiteral(
        "/// It counts the\n/// tokens of it.\nint f();  ///< one more word\nauto s = \"two words \"\n \"of "
        "it\";\n"
        "// \"no text at all\"\nchar c = '\"';\nauto t = \"and the rest\";\nauto u = \"Texts (*.txt);;All "
        "files \"\n"
        "\"(*);;Nothing\";\n");
    read.clear();
    for (const bool comments : {true, false}) {
      for (const Text& text : textsOfCode(code, comments))
        read += QStringLiteral("%1 %2").arg(text.line).arg(text.text);
    }
    QCOMPARE(read,
             (QStringList{"1 It counts the\ntokens of it.", "3 one more word", "6 \"no text at all\"",
                          "4 two words of it", "8 and the rest", "9 Texts (*.txt). All files (*). Nothing"}));
  }

  /// What users read has American spelling, as in Qt's own texts.
  void spellingIsAmerican() {
    static const QRegularExpression british(
        QStringLiteral(
            "\\b(un)?(colour|behaviour|favourite|neighbour|honour|labour|flavour|centre|grey|licence|"
            "catalogue|cancelled|labelled|modelled|travelled|analyse|"
            "(maxim|minim|normal|quant|capital|recogn|summar|token|optim|initial|serial|organ|"
            "visual|util|priorit|synchron|general|special|memor|categor|emphas|random)is(e|ed|es|ing|"
            "ation))(s|d|ed|ing|hood)?\\b"),
        QRegularExpression::CaseInsensitiveOption);
    // Words that a user may search for, words of other programs, and questions with known results.
    const QStringList allowed{QStringLiteral("ui/commands/command_palette.cpp"),
                              QStringLiteral("engine/remote/chat/refused_fields.cpp"),
                              QStringLiteral("engine/experiment/probe_questions.cpp")};
    QStringList faults;
    for (const QString& path : filesWithTexts()) {
      if (allowed.contains(path)) continue;
      const bool isCode = path.endsWith(QLatin1String(".cpp")) || path.endsWith(QLatin1String(".h"));
      const QString whole = textOf(kSource + QLatin1Char('/') + path);
      for (const Text& text : isCode ? textsOfCode(whole, false) : textsIn(path)) {
        if (const auto match = british.match(text.text); match.hasMatch())
          faults << QStringLiteral("%1:%2: %3").arg(path).arg(text.line).arg(match.captured());
      }
    }
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
  }

  /// Every file that is not pending is clean, and every pending one is not.
  void textsArePlain() {
    QMap<QString, QStringList> allowed;
    QSet<QString> unused;
    for (const QString& line : listIn(kFolder + QStringLiteral("plain_words_exceptions.txt"))) {
      allowed[line.section(QLatin1Char('\t'), 0, 0)] += line.section(QLatin1Char('\t'), 1);
      unused += line;
    }
    const QStringList listed = listIn(kPending);
    QSet<QString> pending(listed.begin(), listed.end());
    QStringList faults;
    QStringList clean;
    for (const QString& path : filesWithTexts()) {
      QStringList here;
      for (Text text : textsIn(path)) {
        for (const QString& phrase : allowed.value(path)) {
          if (!text.text.contains(phrase)) continue;
          text.text.replace(phrase, QStringLiteral("X"));
          unused -= path + QLatin1Char('\t') + phrase;
        }
        for (const QString& fault : faultsOf(text)) here += path + QLatin1Char(':') + fault;
      }
      const bool isPending = pending.remove(path);
      if (isPending && here.isEmpty()) clean += path;
      if (!isPending) faults += here;
    }
    QString summary = faults.mid(0, kMostShown).join(QLatin1Char('\n'));
    if (faults.size() > kMostShown)
      summary += QStringLiteral("\nand %1 more").arg(faults.size() - kMostShown);
    if (const QString all = qEnvironmentVariable("SPANSCOPE_ALL_FAULTS"); !all.isEmpty()) {
      QFile file(all);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(faults.join(QLatin1Char('\n')).toUtf8());
    }
    clean += QStringList(pending.begin(), pending.end());  // files that are no more
    if (qEnvironmentVariableIsSet("SPANSCOPE_SHRINK_PENDING")) {
      QStringList left;
      for (const QString& path : listed) {
        if (!clean.contains(path)) left += path;
      }
      QSet<QString> added;
      for (const QString& fault : faults) added += fault.section(QLatin1Char(':'), 0, 0);
      if (left.size() + added.size() <= listed.size()) {
        left += QStringList(added.begin(), added.end());
        faults.clear();
      }
      left.sort();
      QFile file(kPending);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write("# Files with texts that are not plain yet. This list only shrinks.\n");
      file.write(left.join(QLatin1Char('\n')).toUtf8() + '\n');
      clean.clear();
    }
    clean.sort();
    QVERIFY2(faults.isEmpty(), qPrintable(QLatin1Char('\n') + summary));
    QVERIFY2(clean.isEmpty(), qPrintable(QStringLiteral("clean now, remove from plain_words_pending.txt (set "
                                                        "SPANSCOPE_SHRINK_PENDING=1 and run again):\n") +
                                         clean.join(QLatin1Char('\n'))));
    QVERIFY2(unused.isEmpty(), qPrintable(QStringLiteral("exceptions without a use: ") +
                                          QStringList(unused.begin(), unused.end()).join(QLatin1Char('\n'))));
  }
};

SPANSCOPE_TEST(tst_plain_words, TestPlainWords)
#include "tst_plain_words.moc"
