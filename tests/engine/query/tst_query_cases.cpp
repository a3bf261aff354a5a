// SPDX-License-Identifier: GPL-3.0-or-later
// Queries and chats as they are met elsewhere: each is read, or refused at its place, and what a query cannot
// hold is reported at its place.
#include "engine/query/query_form.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <string>

using namespace spanscope::query;

class TestQueryCases : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cases_data();
  void cases();
};

void TestQueryCases::cases_data() {
  QTest::addColumn<QStringList>("warnings");
  QTest::addColumn<QStringList>("errors");
  const auto read = [](const char* file, const QStringList& warnings = {}) {
    QTest::newRow(file) << warnings << QStringList{};
  };
  const auto refused = [](const char* file, const QStringList& errors) {
    QTest::newRow(file) << QStringList{} << errors;
  };
  // Places of what a query has no form for; the first is the whole, which is no query.
  read("chat-anthropic-system-list.json", {"1:1 ", "1:70 /system/0/cache_control"});
  read("chat-anthropic.json", {"1:1 "});
  refused("chat-completion-body.json", {"1:2 /model"});
  read("chat-developer.json", {"1:1 ", "1:38 /messages/0/role"});
  read("chat-max-completion.json", {"1:1 "});
  read("chat-name.json", {"1:1 ", "1:19 /0/name"});
  read("chat-nulls.json", {"1:1 ", "1:242 /logit_bias", "1:260 /user"});
  read("chat-ollama.json", {"1:1 ", "1:123 /options"});
  read("chat-parts.json", {"1:1 ", "1:57 /messages/0/content", "1:127 /messages/0/content/1/cache_control"});
  read("chat-reasoning.json", {"1:1 ", "1:61 /1/reasoning_content"});
  refused("chat-sharegpt.json", {"1:2 /conversations"});
  refused("json-big-num.json", {"1:32 /g/max_tokens"});
  refused("json-block-comment.json", {"1:1 "});
  read("json-bom.json");
  refused("json-comment.json", {"1:1 "});
  refused("json-float-int.json", {"1:32 /g/max_tokens"});
  refused("json-md-fence.json", {"1:1 "});
  refused("json-nan.json", {"1:48 /g/temperature"});
  refused("json-nul.json", {"1:106 "});
  refused("json-raw-newline.json", {"1:84 /g/input/cross/0/user"});
  refused("json-single-quotes.json", {"1:2 "});
  refused("json-smart-quotes.json", {"1:2 "});
  refused("json-surrogate.json", {"1:103 /g/input/cross/0/user"});
  refused("json-tab.json", {"1:84 /g/input/cross/0/user"});
  refused("json-trailing-comma.json", {"1:102 /g/input/cross"});
  refused("json-utf16be.json", {"1:1 "});
  refused("jsonl.json", {"2:1 "});
  refused("lisp-brackets.lisp", {"1:4 "});
  read("lisp-crlf.lisp");
  read("lisp-escape.lisp");
  refused("lisp-extra.lisp", {"1:53 "});
  refused("lisp-quote.lisp", {"1:2 "});
  refused("lisp-single.lisp", {"1:4 ", "1:15 "});
  refused("lisp-smart.lisp", {"1:4 ", "1:15 "});
  refused("yaml-alias.yaml", {"9:9 /g/input/cross/1"});
  refused("yaml-anchor.yaml", {"1:1 /defs"});
  read("yaml-binary.yaml", {"7:15 "});
  refused("yaml-brace.yaml", {"7:15 /g/input/cross/0/user", "7:22 /g/input/cross/0"});
  refused("yaml-colon.yaml", {"7:19 /g/input/cross/0"});
  refused("yaml-dup.yaml", {"4:3 /g/max_tokens"});
  refused("yaml-key-only.yaml", {"1:1 "});
  refused("yaml-nbsp.yaml", {"7:9 /g/input/cross/0"});
  refused("yaml-plain.yaml", {"1:1 "});
  for (const char* file : {"yaml-at.yaml", "yaml-exp.yaml", "yaml-inf.yaml", "yaml-null.yaml",
                           "yaml-num.yaml", "yaml-octal.yaml", "yaml-percent.yaml", "yaml-plus.yaml",
                           "yaml-star.yaml", "yaml-tilde.yaml", "yaml-true.yaml", "yaml-version.yaml"})
    refused(file, {"7:15 /g/input/cross/0/user"});
  for (const char* file :
       {"yaml-TRUE.yaml", "yaml-bom.yaml", "yaml-date.yaml", "yaml-dq.yaml", "yaml-emoji.yaml",
        "yaml-fold.yaml", "yaml-lit-indent.yaml", "yaml-lit-keep.yaml", "yaml-no.yaml", "yaml-off.yaml",
        "yaml-quote-apos.yaml", "yaml-tag.yaml", "yaml-tagnum.yaml", "yaml-yes.yaml"})
    read(file);
}

void TestQueryCases::cases() {
  QFETCH(QStringList, warnings);
  QFETCH(QStringList, errors);
  const QDir folder(QStringLiteral(SPANSCOPE_GOLDEN_DIR "/../cases/queries"));
  if (!folder.exists()) QSKIP("the folder of cases is not here");
  const std::string name = QTest::currentDataTag();
  QFile file(folder.filePath(QString::fromStdString(name)));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const std::string text = file.readAll().toStdString();
  const ParseResult result = parseQuery(text, queryFormOf(name, text));
  QStringList foundWarnings;
  QStringList foundErrors;
  for (const Diagnostic& one : result.diagnostics) {
    QStringList& list = one.severity == spanscope::Severity::Warning ? foundWarnings : foundErrors;
    list << QStringLiteral("%1:%2 %3")
                .arg(one.position.line)
                .arg(one.position.column)
                .arg(QString::fromStdString(one.pointer));
    QVERIFY(!one.found.empty() && !one.expected.empty());
  }
  if (errors.isEmpty()) QCOMPARE(foundWarnings, warnings);
  QCOMPARE(foundErrors, errors);
  QCOMPARE(result.query.has_value(), errors.isEmpty());
}

SPANSCOPE_TEST(tst_query_cases, TestQueryCases, QCoreApplication)
#include "tst_query_cases.moc"
