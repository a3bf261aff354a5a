// SPDX-License-Identifier: GPL-3.0-or-later
// Tests name texts of the program by id (tests/support/product_text.h), so that each sentence can be reworded
// in one place. No test repeats four words of a text of the program, and each id is unique and used.
//
// text_ids_exceptions.txt has what is allowed: files whose texts are no sentences of the program, and
// phrases.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using spanscope::product_text::Literal;
using spanscope::product_text::literalsOf;
using spanscope::product_text::sourceFiles;
using spanscope::product_text::sourceText;
using spanscope::product_text::worded;

namespace {

constexpr qsizetype kRepeated = 4;  // words
constexpr int kMostShown = 40;
const QString kExceptions = QStringLiteral("tests/ui/words/text_ids_exceptions.txt");

struct Found {
  QString path;
  Literal literal;
  QString place() const { return path + QLatin1Char(':') + QString::number(literal.line); }
};

QList<Found> literalsBelow(const QStringList& folders) {
  QList<Found> found;
  for (const QString& folder : folders) {
    for (const QString& path : sourceFiles(folder)) {
      for (const Literal& literal : literalsOf(sourceText(path))) found.append({path, literal});
    }
  }
  return found;
}

const QList<Found>& productTexts() {
  static const QList<Found> texts = literalsBelow({"app", "engine", "kernels", "ui"});
  return texts;
}

const QList<Found>& testTexts() {
  static const QList<Found> texts = literalsBelow({"tests"});
  return texts;
}

/// The words of a text, in runs. Numbers, names with signs in them, places for arguments and quotes end a
/// run.
QList<QStringList> runsOf(const QString& text) {
  static const QRegularExpression space(QStringLiteral("\\s+"));
  static const QRegularExpression word(
      QStringLiteral("^([(“\"'‘«]*)([A-Za-z][A-Za-z'’-]*)([.,;:!?…)”\"'’»]*)$"));
  QList<QStringList> runs(1);
  for (const QString& part : text.split(space, Qt::SkipEmptyParts)) {
    const QRegularExpressionMatch match = word.match(part);
    if (!match.hasMatch() || !match.captured(1).isEmpty()) runs.append(QStringList());
    if (match.hasMatch()) runs.last().append(match.captured(2));
  }
  return runs;
}

QString wordsFrom(const QStringList& words, qsizetype at, qsizetype count = kRepeated) {
  return QStringList(words.mid(at, count)).join(QLatin1Char(' '));
}

/// Runs of the program's texts by each four words in them.
class ProductWords {
 public:
  explicit ProductWords(const QSet<QString>& leftOut) {
    for (const Found& found : productTexts()) {
      if (leftOut.contains(found.path)) continue;
      for (const QStringList& run : runsOf(found.literal.text)) {
        for (qsizetype at = 0; at + kRepeated <= run.size(); ++at)
          m_runs[wordsFrom(run, at)].append({run, at, found.place()});
      }
    }
  }

  /// What a run of a test repeats: six words of a text of the program, or four that are most of either.
  QString repeatedIn(const QStringList& run) const {
    for (qsizetype at = 0; at + kRepeated <= run.size(); ++at) {
      for (const Place& place : m_runs.value(wordsFrom(run, at))) {
        qsizetype same = 0;
        while (at + same < run.size() && place.at + same < place.run.size() &&
               run[at + same] == place.run[place.at + same])
          ++same;
        if (same >= 6 || same * 2 > place.run.size() || same == run.size())
          return QStringLiteral("“%1” is in %2").arg(wordsFrom(run, at, same), place.place);
      }
    }
    return {};
  }

 private:
  struct Place {
    QStringList run;
    qsizetype at = 0;
    QString place;
  };
  QHash<QString, QList<Place>> m_runs;
};

/// Names of test cases, and what is no text for a reader.
bool isNoSentence(const Literal& literal) {
  static const QSet<QString> names{"newRow", "addRow", "row", "addColumn"};
  static const QRegularExpression sql(QStringLiteral("^\\s*(SELECT|INSERT|DELETE|UPDATE|DROP|CREATE) "));
  return names.contains(literal.call) || sql.match(literal.text).hasMatch();
}

void report(const QStringList& faults) {
  if (faults.isEmpty()) return;
  QString text = QLatin1Char('\n') + faults.mid(0, kMostShown).join(QLatin1Char('\n'));
  if (faults.size() > kMostShown) text += QStringLiteral("\nand %1 more").arg(faults.size() - kMostShown);
  QFAIL(qPrintable(text));
}

}  // namespace

class TestTextIds : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void literalsAreRead() {
    const QString code = QStringLiteral(
        "#include \"a/b.h\"\n// \"not this\"\nrow(\"a name\", tr(/*id:two-parts*/ \"one \"\n "
        "\"\\\"two\\\"\\n\"), "
        "'\"', /*id:next*/ \"next\" /*id:last*/ \"\\xe2\\x80\\xa6\");");
    const QList<Literal> literals = literalsOf(code);
    QCOMPARE(literals.size(), 4);
    QCOMPARE(literals[0].call, QStringLiteral("row"));
    QCOMPARE(literals[0].line, 3);
    QCOMPARE(literals[1].id, QStringLiteral("two-parts"));
    QCOMPARE(literals[1].text, QStringLiteral("one \"two\"\n"));
    QCOMPARE(literals[2].id, QStringLiteral("next"));
    QCOMPARE(literals[3].text, QStringLiteral("…"));
  }

  void patternsAreFilled() {
    const Found* form = nullptr;
    for (const Found& found : productTexts()) {
      const QString& one = found.literal.text;
      if (!found.literal.id.isEmpty() && one.contains(QLatin1String("%2")) && one.back().isLetter())
        form = &found;
    }
    QVERIFY(form != nullptr);
    const QString text = form->literal.text.trimmed();
    const QString id = form->literal.id;
    QString filled = text;
    filled.replace(QLatin1String("%1"), QLatin1String("A")).replace(QLatin1String("%2"), QLatin1String("B"));
    QCOMPARE(worded(QStringLiteral("x <%1|A|B>").arg(id)), QStringLiteral("x ") + filled);
    QCOMPARE(worded(QStringLiteral("<%1> <no id>").arg(id)), text + QStringLiteral(" <no id>"));
    QVERIFY(spanscope::product_text::says(QStringLiteral("y ") + filled + QLatin1Char('.'),
                                          QStringLiteral("<%1>").arg(id)));
    QVERIFY(spanscope::product_text::matches(filled, QStringLiteral("<%1>").arg(id)));
    QVERIFY(!spanscope::product_text::matches(filled + QLatin1Char('.'), QStringLiteral("<%1>").arg(id)));
    QVERIFY(!spanscope::product_text::says(filled, QStringLiteral("<%1|C>").arg(id)));
    QVERIFY(spanscope::product_text::matches(QStringLiteral("a 1 b"), QStringLiteral("a … b")));
  }

  void idsAreUniqueAndUsed() {
    static const QRegularExpression reference(QStringLiteral("<([a-z0-9]+(?:-[a-z0-9]+)+)[|>]"));
    QHash<QString, QString> places;
    QStringList faults;
    for (const Found& found : productTexts()) {
      const QString id = found.literal.id;
      if (id.isEmpty()) continue;
      if (places.contains(id))
        faults += QStringLiteral("%1: the id %2 is in %3 too").arg(found.place(), id, places[id]);
      if (found.literal.text.trimmed().isEmpty()) faults += QStringLiteral("%1: no text").arg(found.place());
      places[id] = found.place();
    }
    QHash<QString, QString> unused = places;
    for (const Found& found : testTexts()) {
      for (auto each = reference.globalMatch(found.literal.text); each.hasNext();) {
        const QString id = each.next().captured(1);
        if (!places.contains(id))
          faults += QStringLiteral("%1: no text has the id %2").arg(found.place(), id);
        unused.remove(id);
      }
    }
    for (auto each = unused.constBegin(); each != unused.constEnd(); ++each)
      faults += QStringLiteral("%1: no test uses the id %2").arg(each.value(), each.key());
    faults.sort();
    report(faults);
  }

  void repeatedWordsAreFound() {
    const ProductWords product({});
    QStringList eight;
    for (const Found& found : productTexts()) {
      for (const QStringList& run : runsOf(found.literal.text)) {
        if (run.size() == 8) eight = run;
      }
    }
    QCOMPARE(eight.size(), 8);
    QVERIFY(!product.repeatedIn(eight.mid(1, 6)).isEmpty());
    QVERIFY(!product.repeatedIn(eight.mid(2, 4)).isEmpty());
    QVERIFY(product.repeatedIn(eight.mid(2, 3)).isEmpty());
    QVERIFY(product.repeatedIn({"no", "such", "words", "zzyzx"}).isEmpty());
  }

  void testsRepeatNoSentence() {
    QSet<QString> files;
    QSet<QString> phrases;
    for (const QString& line : sourceText(kExceptions).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
      if (line.startsWith(QLatin1Char('#'))) continue;
      (line.endsWith(QLatin1String(".cpp")) ? files : phrases).insert(line);
    }
    QVERIFY(!files.isEmpty());
    for (const QString& path : files) QVERIFY2(!sourceText(path).isEmpty(), qPrintable(path));
    const ProductWords product(files);
    QSet<QString> unused = phrases;
    QStringList faults;
    for (const Found& found : testTexts()) {
      if (files.contains(found.path) || isNoSentence(found.literal)) continue;
      for (const QStringList& run : runsOf(found.literal.text)) {
        const QString repeated = product.repeatedIn(run);
        if (repeated.isEmpty()) continue;
        const QString words = run.join(QLatin1Char(' '));
        bool isAllowed = false;
        for (const QString& phrase : phrases) {
          if (!words.contains(phrase)) continue;
          isAllowed = true;
          unused.remove(phrase);
        }
        if (!isAllowed) faults += found.place() + QStringLiteral(": ") + repeated;
      }
    }
    for (const QString& phrase : unused) faults += QStringLiteral("exception without a use: ") + phrase;
    report(faults);
  }
};

SPANSCOPE_TEST(tst_text_ids, TestTextIds)
#include "tst_text_ids.moc"
