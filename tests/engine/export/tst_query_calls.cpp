// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as calls of a span server: which calls, in which order, and their contents after the answers are
// known.
#include "engine/export/chat_requests.h"
#include "engine/export/feature_table.h"
#include "engine/query/json/json.h"
#include "engine/spnl/request_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::exports;

namespace {

query::Node queryOf(const QByteArray& json) {
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  if (!parsed.query) qFatal("not a query: %s", json.constData());
  return *parsed.query;
}

QByteArray asking(const QByteArray& input) {
  return R"({"g":{"model":"spnl/m","max_tokens":9,"temperature":0.3,"input":)" + input + "}}";
}

/// The bodies of all calls, where request i is answered by "r<i>".
QStringList bodiesOf(const QByteArray& json) {
  const QueryCalls made = queryCalls(queryOf(json));
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < made.requests.size(); ++i) answers.push_back("r" + std::to_string(i));
  QStringList bodies;
  for (const QueryCall& call : made.calls)
    bodies += QString::fromStdString(query::writeCanonical(queryBody(call, answers, "m")));
  return bodies;
}

QString body(const QByteArray& input, int count = 1) {
  return QString::fromStdString(query::writeCanonical(
      queryOf(R"({"repeat":{"n":)" + QByteArray::number(count) +
              R"(,"g":{"model":"m","max_tokens":9,"temperature":0.3,"input":)" + input + "}}}")));
}

}  // namespace

class TestQueryCalls : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bodies_data() {
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QStringList>("bodies");
    const QByteArray spans =
        R"({"cross":[{"system":"s"},{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]})";
    QTest::newRow("spans are sent as they stand") << asking(spans) << QStringList{body(spans)};
    const QByteArray nested =
        R"({"seq":[{"seq":[{"user":"a"},{"user":"c"}]},{"plus":[{"plus":[{"user":"b"}]}]}]})";
    QTest::newRow("joins are not rewritten") << asking(nested) << QStringList{body(nested)};
    QTest::newRow("copies are one call")
        << QByteArray(R"({"repeat":{"n":3,"g":{"model":"spnl/m","max_tokens":9,"temperature":0.3,)"
                      R"("input":{"user":"a"}}}})")
        << QStringList{body(R"({"user":"a"})", 3)};
    QTest::newRow("a map is one call")
        << QByteArray(R"({"map":{"metadata":{"model":"spnl/m","max_tokens":4},"inputs":["a","a","b"]}})")
        << QStringList{QString::fromStdString(query::writeCanonical(
               queryOf(R"({"map":{"metadata":{"model":"m","max_tokens":4},"inputs":["a","a","b"]}})")))};
    QTest::newRow("a reply is a message")
        << asking("{\"cross\":[" + asking(R"({"user":"a"})") + R"(,{"user":"q"}]})")
        << QStringList{body(R"({"user":"a"})"), body(R"({"cross":[{"assistant":"r0"},{"user":"q"}]})")};
    QTest::newRow("under plus a reply stands behind its prompt")
        << asking("{\"cross\":[{\"plus\":[" + asking(R"({"user":"a"})") + "," + asking(R"({"user":"b"})") +
                  R"(]},{"user":"q"}]})")
        << QStringList{body(R"({"user":"a"})"), body(R"({"user":"b"})"),
                       body(R"({"cross":[{"plus":[{"seq":[{"user":"a"},{"assistant":"r0"}]},)"
                            R"({"seq":[{"user":"b"},{"assistant":"r1"}]}]},{"user":"q"}]})")};
    QTest::newRow("what has no tokens is left out")
        << asking(R"({"cross":[{"print":"p"},{"user":""},{"user":"q"}]})")
        << QStringList{body(R"({"cross":[{"user":"q"}]})")};
  }
  void bodies() {
    QFETCH(QByteArray, query);
    QFETCH(QStringList, bodies);
    QCOMPARE(bodiesOf(query), bodies);
    for (const QString& each : bodiesOf(query)) QVERIFY(spnl::isServerBody(queryOf(each.toUtf8())));
  }

  /// A query that is one call is sent as it is exported for the endpoint.
  void oneCallIsWhatIsExported() {
    const query::Node whole = queryOf(asking(
        R"({"cross":[{"plus":[{"user":"a"},{"seq":[{"user":"b"},{"assistant":"c"}]}]},{"user":"q"}]})"));
    const QueryCalls made = queryCalls(whole);
    QCOMPARE(made.calls.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(query::writeCanonical(queryBody(made.calls[0], {}, "m"))),
             QString::fromStdString(query::writeCanonical(spnl::requestFor(whole))));
  }

  void callsAnswerAllRequests() {
    const QueryCalls made = queryCalls(queryOf(
        R"({"g":{"model":"m","input":{"cross":[{"repeat":{"n":3,"g":{"model":"m","input":{"user":"a"}}}},)"
        R"({"map":{"metadata":{"model":"m"},"inputs":["x","y"]}},{"user":"q"}]}}})"));
    QCOMPARE(made.requests.size(), std::size_t{6});
    std::size_t next = 0;
    std::vector<std::size_t> counts;
    for (const QueryCall& call : made.calls) {
      QCOMPARE(call.first, next);
      next += call.count;
      counts.push_back(call.count);
    }
    QCOMPARE(next, made.requests.size());
    QVERIFY((counts == std::vector<std::size_t>{3, 2, 1}));
  }

  /// More copies than one body may ask for are several calls.
  void manyCopiesAreSeveralCalls() {
    QByteArray children;
    for (int i = 0; i < 2; ++i)
      children +=
          QByteArray(i > 0 ? "," : "") + R"({"repeat":{"n":200,"g":{"model":"m","input":{"user":"a"}}}})";
    const QueryCalls made = queryCalls(queryOf("{\"seq\":[" + children + "]}"));
    std::size_t total = 0;
    for (const QueryCall& call : made.calls) {
      QVERIFY(call.count <= 255);
      total += call.count;
    }
    QCOMPARE(total, std::size_t{400});
  }

  void whatCannotBeSentIsSaid_data() {
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<bool>("isRefused");
    QTest::addColumn<QString>("said");
    QTest::newRow("nested generates are sent one after the other")
        << asking("{\"cross\":[" + asking(R"({"user":"a"})") + R"(,{"user":"q"}]})") << false << "";
    QTest::newRow("several at the root")
        << "{\"seq\":[" + asking(R"({"user":"a"})") + "," + asking(R"({"user":"b"})") + "]}" << false << "";
    QTest::newRow("an augment")
        << asking(R"({"augment":{"embedding_model":"m","body":{"user":"q"},"doc":["a.txt",{"Text":"t"}]}})")
        << true << "augment";
    QTest::newRow("nothing to generate") << QByteArray(R"({"user":"a"})") << true << "without generate";
    QTest::newRow("an empty prompt") << asking(R"({"seq":[]})") << true << "no message";
    QTest::newRow("a monad is left out")
        << "{\"seq\":[{\"monad\":" + asking(R"({"user":"a"})") + "}," + asking(R"({"user":"b"})") + "]}"
        << false << "monad";
  }
  void whatCannotBeSentIsSaid() {
    QFETCH(QByteArray, query);
    QFETCH(bool, isRefused);
    QFETCH(QString, said);
    bool refused = false;
    QStringList texts;
    for (const TargetRemark& remark : targetRemarks(queryOf(query), Target::Request, {.isSentHere = true})) {
      refused |= remark.effect == Effect::Refused;
      if (remark.effect != Effect::Note) texts += QString::fromStdString(remark.text);
    }
    QVERIFY2(refused == isRefused, qPrintable(texts.join(QLatin1Char('\n'))));
    if (said.isEmpty())
      QVERIFY2(texts.isEmpty(), qPrintable(texts.join(QLatin1Char('\n'))));
    else
      QVERIFY2(texts.join(QLatin1Char('\n')).contains(said), qPrintable(texts.join(QLatin1Char('\n'))));
  }
};

SPANSCOPE_TEST(tst_query_calls, TestQueryCalls)
#include "tst_query_calls.moc"
