// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_form.h"
#include "tests/support/test_program.h"

#include <QString>
#include <QTest>

using namespace spanscope;
using query::QueryForm;

class TestUnkeptParts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void finds_data();
  void finds();
};

void TestUnkeptParts::finds_data() {
  QTest::addColumn<QueryForm>("form");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QList<qsizetype>>("lines");  // of the warnings
  const auto yaml = [](const char* name, const char* text, const QList<qsizetype>& lines) {
    QTest::newRow(name) << QueryForm::Yaml << QString::fromUtf8(text) << lines;
  };
  yaml("yaml: nothing", "user: Hi\n", {});
  yaml("yaml: a line", "# mine\nuser: Hi\n", {1});
  yaml("yaml: at the end of a line", "user: Hi # mine\n", {1});
  yaml("yaml: two are one warning", "user: Hi # mine\n# more\n", {1});
  yaml("yaml: no space before", "user: Hi#there\n", {});
  yaml("yaml: in double quotes", "user: \"Hi # \\\" # there\"\n", {});
  yaml("yaml: after double quotes", "user: \"Hi # there\" # mine\n", {1});
  yaml("yaml: in single quotes", "user: 'it''s # this'\n", {});
  yaml("yaml: quotes within a word", "user: it's # mine\n", {1});
  yaml("yaml: lines of a block", "seq:\n- user: |\n    # Heading\n\n    text # more\n- user: b\n", {});
  yaml("yaml: a folded block", "user: >-\n  a\n   # b\n", {});
  yaml("yaml: an indented block", "user: |2\n    # b\n  a\n", {});
  yaml("yaml: after a block", "seq:\n- user: |\n    # Heading\n# mine\n- user: b\n", {4});
  yaml("yaml: beside the sign of a block", "user: | # mine\n  text\n", {1});
  yaml("yaml: in a list in brackets", "seq: [user: a, # mine\n user: \"#\"]\n", {1});
  yaml("yaml: an anchor", "seq:\n- &a\n  user: a\n- user: &b b\n", {2});
  yaml("yaml: an anchor before quotes", "user: &a \"x # y\"\n", {1});
  yaml("yaml: byte order mark", "\xEF\xBB\xBF# mine\nuser: \"Hi # x\"\n", {1});
  yaml("yaml: wide characters before quotes", "user: \"\xC3\xA9\xE2\x82\xAC # x\" # mine\n", {1});
  const auto lisp = [](const char* name, const char* text, const QList<qsizetype>& lines) {
    QTest::newRow(name) << QueryForm::Lisp << QString::fromUtf8(text) << lines;
  };
  lisp("lisp: nothing", "(seq (user \"a ; b\") (file \"x\"))", {});
  lisp("lisp: a comment", "; mine\n(user \"a\\\" ; b\")", {1});
  lisp("lisp: foreach", "(seq\n (foreach i 1 3 (user (format \"{i}\"))))", {2});
  lisp("lisp: a file as text", "(user (file \"a.txt\"))", {1});
  QTest::newRow("json") << QueryForm::Json << QStringLiteral(R"({"user": "# a ; b"})") << QList<qsizetype>{};
}

void TestUnkeptParts::finds() {
  QFETCH(QueryForm, form);
  QFETCH(QString, text);
  QFETCH(QList<qsizetype>, lines);
  QList<qsizetype> found;
  for (const query::Diagnostic& part : query::unkeptParts(text.toStdString(), form)) {
    QCOMPARE(part.severity, Severity::Warning);
    QVERIFY(!part.found.empty());
    found << static_cast<qsizetype>(part.position.line);
  }
  QCOMPARE(found, lines);
}

SPANSCOPE_TEST(tst_unkept_parts, TestUnkeptParts)
#include "tst_unkept_parts.moc"
