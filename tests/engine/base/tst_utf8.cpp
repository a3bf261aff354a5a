// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>

using namespace spanscope;

class TestUtf8 : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void validity_data();
  void validity();
  void firstInvalidByte_data();
  void firstInvalidByte();
  void everyCharacterIsWrittenAsItIsRead();
};

void TestUtf8::validity_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QByteArray>("valid");
  QTest::addColumn<int>("settled");
  const auto row = [](const char* name, const QByteArray& bytes, const QByteArray& valid, int settled) {
    QTest::newRow(name) << bytes << valid << settled;
  };
  row("empty", "", "", 0);
  row("ascii", "ab", "ab", 2);
  row("four bytes", "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", 4);
  row("stray continuation", "a\x80z", "a\xEF\xBF\xBDz", 3);
  row("overlong slash", "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD", 2);
  row("overlong three", "\xE0\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 3);
  row("surrogate", "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 3);
  row("above the last", "\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 4);
  row("cut short, then text", "\xE2\x96z", "\xEF\xBF\xBDz", 3);
  row("cut short at the end", "a\xE2\x96", "a\xEF\xBF\xBD", 1);
  row("lead at the end", "a\xF0", "a\xEF\xBF\xBD", 1);
  row("three of four", "\xF0\x9F\x98", "\xEF\xBF\xBD", 0);
}

void TestUtf8::validity() {
  QFETCH(QByteArray, bytes);
  QFETCH(QByteArray, valid);
  QFETCH(int, settled);
  const std::string text = bytes.toStdString();
  QCOMPARE(toValidUtf8(text), valid.toStdString());
  QCOMPARE(isValidUtf8(text), bytes == valid);
  QCOMPARE(settledUtf8Length(text), static_cast<std::size_t>(settled));
}

void TestUtf8::firstInvalidByte_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<int>("offset");
  const auto row = [](const char* name, const QByteArray& bytes, int offset) {
    QTest::newRow(name) << bytes << offset;
  };
  row("none", "eight is passed at once, and \xC3\xA9 is not", -1);
  row("first", "\xFFtext that goes on", 0);
  row("after eight", "12345678\xFF", 8);
  row("within the next eight", "12345678\xC3\xA9...\x80.....", 13);
  row("cut short at the end", "12345678\xC3", 8);
  row("cut short within", "1234567\xE2\x96.", 7);
}

void TestUtf8::firstInvalidByte() {
  QFETCH(QByteArray, bytes);
  QFETCH(int, offset);
  const std::size_t expected = offset < 0 ? std::string::npos : static_cast<std::size_t>(offset);
  QCOMPARE(findInvalidUtf8(bytes.toStdString()), expected);
}

void TestUtf8::everyCharacterIsWrittenAsItIsRead() {
  std::string text;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    text.clear();
    appendUtf8(text, c);
    const Utf8Step step = nextUtf8(text);
    const auto units = QChar::fromUcs4(c);
    if (step.kind == Utf8Step::Kind::Character && step.length == text.size() && countCharacters(text) == 1 &&
        QStringView(units).toUtf8().toStdString() == text)
      continue;
    QFAIL(qPrintable(QStringLiteral("U+%1").arg(static_cast<uint>(c), 4, 16, QLatin1Char('0'))));
  }
}

SPANSCOPE_TEST(tst_utf8, TestUtf8, QCoreApplication)
#include "tst_utf8.moc"
