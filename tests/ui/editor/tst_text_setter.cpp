// SPDX-License-Identifier: GPL-3.0-or-later
// Held to what Qt itself makes of the same text, in room of every width.
#include "tests/support/test_program.h"
#include "ui/editor/canvas_style.h"
#include "ui/theme/theme.h"

#include <QFontMetricsF>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>
#include <QTextLayout>

using namespace spanscope::ui;

class TestTextSetter : public QObject {
  Q_OBJECT

  static QFont font(int pixels) {
    QFont font = Theme().interfaceFont();
    font.setPixelSize(pixels);
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
  }

  static QStringList texts() {
    const QString sentence = QStringLiteral("Report 12. A letter for Mira came late in autumn. ");
    return {QStringLiteral("user · document 7"),
            QStringLiteral("AVA To, fi ffl “Wave”"),
            QStringLiteral("naïve Größe e\u0301tude"),
            QStringLiteral("日本語の文書は行を分けることができる。"),
            QStringLiteral("مرحبا بالعالم في الوثيقة"),
            QStringLiteral("mixed שלום and back again"),
            QStringLiteral("a 😀 face and 👩‍👩‍👧 three"),
            QStringLiteral("Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen"),
            QStringLiteral("iiiiiiiiiiiiiiiillllllllllllllllllllllllllllllll.................."),
            sentence.repeated(40),
            QStringLiteral("…"),
            QStringLiteral("x")};
  }

  /// Line by line as Qt breaks the whole text.
  static QStringList brokenByQt(const QString& text, const QFont& font, double width, int lines,
                                double lastWidth) {
    QStringList result;
    QTextLayout layout(text, font);
    layout.beginLayout();
    while (result.size() < lines) {
      QTextLine line = layout.createLine();
      if (!line.isValid()) break;
      line.setLineWidth(width);
      const bool last = result.size() == lines - 1;
      const QString shown = last ? text.mid(line.textStart()) : text.mid(line.textStart(), line.textLength());
      result.append(
          QFontMetricsF(font).elidedText(shown.trimmed(), Qt::ElideRight, last ? lastWidth : width));
    }
    layout.endLayout();
    return result;
  }

 private Q_SLOTS:
  void linesAreCutWhereQtCutsThem() {
    TextSetter setter;
    for (const int pixels : {11, 12}) {
      const QFont used = font(pixels);
      for (const QString& text : texts()) {
        for (double width = 0; width < 400; width += 3.7) {
          const TextLine line = setter.line(text, used, width);
          const QString expected = QFontMetricsF(used).elidedText(text, Qt::ElideRight, width);
          QCOMPARE(line.text, expected);
          QVERIFY(std::abs(line.width - QFontMetricsF(used).horizontalAdvance(expected)) < 0.05);
          QCOMPARE(line.runs.isEmpty(), expected.isEmpty());
          for (const QGlyphRun& run : line.runs) {
            QVERIFY(run.boundingRect().left() > -3);
            QVERIFY(run.boundingRect().right() < line.width + 3);
          }
        }
      }
    }
  }

  void textsAreBrokenWhereQtBreaksThem() {
    TextSetter setter;
    const QFont used = font(12);
    for (const QString& text : texts()) {
      for (const int lines : {1, 2, 3, 7}) {
        for (double width = 40; width < 300; width += 9.3) {
          QStringList found;
          for (const TextLine& line : setter.lines(text, used, width, lines, width - 20))
            found.append(line.text);
          QCOMPARE(found, brokenByQt(text, used, width, lines, width - 20));
        }
      }
    }
  }

  void nothingIsMadeOfNothing() {
    TextSetter setter;
    QCOMPARE(setter.line({}, font(12), 100).width, 0.0);
    QVERIFY(setter.lines({}, font(12), 100, 3).empty());
    QVERIFY(setter.lines(QStringLiteral("text"), font(12), 100, 0).empty());
  }

  void whatIsKeptIsOfItsTextAndFont() {
    TextSetter setter;
    const QString text = QStringLiteral("A letter for Mira");
    const double small = setter.widthOf(text, font(11));
    QVERIFY(setter.widthOf(text, font(22)) > 1.8 * small);
    QFont bold = font(11);
    bold.setWeight(QFont::Bold);
    QVERIFY(setter.widthOf(text, bold) != small);
    QVERIFY(setter.widthOf(text + QStringLiteral("!"), font(11)) > small);
    QCOMPARE(setter.widthOf(text, font(11)), small);
  }

  void whatWasDroppedIsMadeAgain() {
    TextSetter setter;
    const QFont used = font(12);
    const QString first = QStringLiteral("the first of very many texts");
    const TextLine before = setter.line(first, used, 90);
    for (int i = 0; i < 3000; ++i) (void)setter.line(QStringLiteral("text number %1").arg(i), used, 60);
    const TextLine after = setter.line(first, used, 90);
    QCOMPARE(after.text, before.text);
    QCOMPARE(after.width, before.width);
    QCOMPARE(after.runs, before.runs);
  }
};

SPANSCOPE_TEST(tst_text_setter, TestTextSetter, QApplication)
#include "tst_text_setter.moc"
