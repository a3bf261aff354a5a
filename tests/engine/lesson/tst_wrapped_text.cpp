// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of lessons in a terminal.
#include "engine/lesson/filled.h"
#include "tests/support/test_program.h"

#include <QTest>

using spanscope::lesson::wrapped;

class TestWrappedText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void fills_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("lines");
    const auto row = [](const char* name, const char* text, const char* lines) {
      QTest::newRow(name) << QString::fromUtf8(text) << QString::fromUtf8(lines);
    };
    row("short lines are joined", "position\n31 of it.", "position 31 of it.");
    row("long ones are cut", "aaaa bbbb cccc dddd eeee ffff", "aaaa bbbb cccc dddd\neeee ffff");
    row("a word longer than a line", "a bbbbbbbbbbbbbbbbbbbbbbbbbb c", "a\nbbbbbbbbbbbbbbbbbbbbbbbbbb\nc");
    row("paragraphs stay apart", "a\nb\n\nc\n", "a b\n\nc\n");
    row("characters count, not bytes", "ääää öööö üüüü ßßßß", "ääää öööö üüüü ßßßß");
    row("items", "- aaaa bbbb cccc dddd eeee\n- f\n  g\n12. h",
        "- aaaa bbbb cccc\n  dddd eeee\n- f g\n12. h");
    row("code stays", "```\na\nb\n```\nc\nd", "```\na\nb\n```\nc d");
    row("indented code stays", "    a\n    b", "    a\n    b");
    row("tables stay", "| a | b |\n|---|---|\n| a very long row of cells | c |",
        "| a | b |\n|---|---|\n| a very long row of cells | c |");
    row("headings and quotations stay", "# A\n> b\n> c", "# A\n> b\n> c");
    row("a forced break", "a  \nb", "a\nb");
    row("a number that begins a line is no item", "in\n31 tokens", "in 31 tokens");
    row("nothing", "", "");
  }
  void fills() {
    QFETCH(QString, text);
    QFETCH(QString, lines);
    QCOMPARE(QString::fromStdString(wrapped(text.toStdString(), 20)), lines);
    if (text.contains(QStringLiteral("  \n"))) return;
    // What was wrapped stays as it is.
    QCOMPARE(QString::fromStdString(wrapped(lines.toStdString(), 20)), lines);
  }
};

SPANSCOPE_TEST(tst_wrapped_text, TestWrappedText)
#include "tst_wrapped_text.moc"
