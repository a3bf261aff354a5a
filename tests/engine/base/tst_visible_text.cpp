// SPDX-License-Identifier: GPL-3.0-or-later
// Text from outside as a terminal and a log may show it.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QChar>
#include <QCoreApplication>
#include <QObject>
#include <QString>
#include <QTest>

#include <string>
#include <string_view>

using namespace spanscope;

class TestVisibleText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void controlsAreSpelledOut_data();
  void controlsAreSpelledOut();
  void everyControlIsFound();
  void whatIsShownStaysAsItIs();
  void errorsStandOnOneLine();
};

void TestVisibleText::controlsAreSpelledOut_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("streamed");
  QTest::addColumn<QByteArray>("oneLine");
  const auto row = [](const char* name, const QByteArray& text, const QByteArray& streamed,
                      const QByteArray& oneLine) { QTest::newRow(name) << text << streamed << oneLine; };
  const auto same = [&row](const char* name, const QByteArray& text) { row(name, text, text, text); };
  same("nothing", "");
  same("text", "Mira lives in Lisbon.");
  same("text beyond ASCII", "Zoë – 日本語 🙂");
  same("backslashes", R"(C:\new\u001b)");
  same("direction marks and joiners", "\xE2\x80\x8E\xE2\x80\x8D");
  row("line and tab", "a\n\tb", "a\n\tb", R"(a\n\tb)");
  row("carriage return", "ab\rc", R"(ab\rc)", R"(ab\rc)");
  row("colour", "\x1b[31mred", R"(\u001b[31mred)", R"(\u001b[31mred)");
  row("bell, backspace, delete", "\a\b\x7f", R"(\u0007\u0008\u007f)", R"(\u0007\u0008\u007f)");
  row("zero", QByteArray("a\0b", 3), R"(a\u0000b)", R"(a\u0000b)");
  row("C1 as a character",
      "\xC2\x9B"
      "31m",
      R"(\u009b31m)", R"(\u009b31m)");
  row("first and last of C1", "\xC2\x80\xC2\x9F\xC2\xA0", "\\u0080\\u009f\xC2\xA0", "\\u0080\\u009f\xC2\xA0");
  row("C1 as a byte",
      "\x9B"
      "31m",
      R"(\x9b31m)", R"(\x9b31m)");
  row("directions",
      "\xE2\x80\xAE"
      "gnp\xE2\x81\xA6"
      "x",
      R"(\u202egnp\u2066x)", R"(\u202egnp\u2066x)");
  row("separators",
      "a\xE2\x80\xA8"
      "b\xE2\x80\xA9",
      R"(a\u2028b\u2029)", R"(a\u2028b\u2029)");
  row("no UTF-8", "a\xFF\xC3(", R"(a\xff\xc3()", R"(a\xff\xc3()");
  row("cut character", "a\xE2\x82", R"(a\xe2\x82)", R"(a\xe2\x82)");
  row("surrogate", "\xED\xA0\x80", R"(\xed\xa0\x80)", R"(\xed\xa0\x80)");
}

void TestVisibleText::controlsAreSpelledOut() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, streamed);
  QFETCH(QByteArray, oneLine);
  QCOMPARE(QByteArray::fromStdString(onOneLine(text.toStdString())), oneLine);
  // What was made visible stays as it is.
  QCOMPARE(QByteArray::fromStdString(onOneLine(onOneLine(text.toStdString()))), oneLine);
  // Wherever a stream cuts it.
  const std::string bytes = text.toStdString();
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      VisibleText visible;
      std::string shown;
      visible.append(shown, std::string_view(bytes).substr(0, first));
      visible.append(shown, std::string_view(bytes).substr(first, second - first));
      visible.append(shown, std::string_view(bytes).substr(second));
      visible.finish(shown);
      QCOMPARE(QByteArray::fromStdString(shown), streamed);
    }
  }
}

void TestVisibleText::everyControlIsFound() {
  // Unicode's own list: everything of the categories Cc, Zl and Zp, and the characters that set a direction.
  for (char32_t character = 0; character < 0x11'0000; ++character) {
    if (character >= 0xD800 && character < 0xE000) continue;
    const QChar::Category category = QChar::category(character);
    const QChar::Direction direction = QChar::direction(character);
    const bool setsDirection =
        direction == QChar::DirLRE || direction == QChar::DirLRO || direction == QChar::DirRLE ||
        direction == QChar::DirRLO || direction == QChar::DirPDF || direction == QChar::DirLRI ||
        direction == QChar::DirRLI || direction == QChar::DirFSI || direction == QChar::DirPDI;
    const bool expected = category == QChar::Other_Control || category == QChar::Separator_Line ||
                          category == QChar::Separator_Paragraph || setsDirection;
    const std::string text = QString::fromUcs4(&character, 1).toStdString();
    if (isControl(text) != expected) QFAIL(qPrintable(QString::number(character, 16)));
  }
}

void TestVisibleText::whatIsShownStaysAsItIs() {
  VisibleText visible;
  std::string shown;
  visible.append(shown, "caf\xC3");
  QCOMPARE(shown, std::string("caf"));
  visible.append(shown, "\xA9");
  QCOMPARE(shown, std::string("café"));
}

void TestVisibleText::errorsStandOnOneLine() {
  const Error error{.file = "a\nb.json: fine", .place = "\x1b[2J", .found = "\xC2\x9Bm", .expected = "\xFF"};
  QCOMPARE(error.message(),
           std::string(R"(a\nb.json: fine: \u001b[2J: Spanscope found \u009bm, but needs \xff)"));
}

SPANSCOPE_TEST(tst_visible_text, TestVisibleText, QCoreApplication)
#include "tst_visible_text.moc"
