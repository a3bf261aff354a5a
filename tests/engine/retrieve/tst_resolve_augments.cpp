// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json.h"
#include "engine/retrieve/resolve_augments.h"
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/engine/text/text_test_support.h"

#include <QTest>

#include <memory>

using namespace spanscope;
using namespace spanscope::retrieve;

class TestResolveAugments : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { m_tokenizer = text::loadTokenizer(text::test::bundledModel()); }
  void augmentBecomesAPlus();
  void pdfBytesAreRead();
  void nothingFoundIsAWarning();
  void problems_data();
  void problems();

 private:
  ResolvedAugments resolve(const query::Node& node, const RetrievalOptions& options = {}) const {
    LexicalIndex index;
    return resolveAugments(node, options, *m_tokenizer, index);
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
};

namespace {

query::Node user(std::string text) {
  return {query::Message{.role = query::Role::User, .text = std::move(text)}};
}

query::Node augment(query::Node body, std::string name, std::string text) {
  return {query::Augment{.embeddingModel = "e",
                         .body = std::move(body),
                         .document = {.name = std::move(name), .content = std::move(text)}}};
}

query::Node join(query::JoinKind kind, std::vector<query::Node> children) {
  return {query::Join{.kind = kind, .children = std::move(children)}};
}

const char* const kPeople = "Mira lives in Lisbon.\nTarek is a baker.\nOtto lives in Porto.\n";

}  // namespace

void TestResolveAugments::augmentBecomesAPlus() {
  const query::Node node = join(query::JoinKind::Cross,
                                {user("Before"), augment(user("Where does Mira live?"), "a.csv", kPeople)});
  const ResolvedAugments resolved = resolve(node);
  QVERIFY(resolved.query.has_value());
  QVERIFY(hasAugment(node) && !hasAugment(*resolved.query));
  // "Tarek is a baker." shares no word with the question.
  const query::Node expected =
      join(query::JoinKind::Cross,
           {user("Before"),
            join(query::JoinKind::Plus, {user("Mira lives in Lisbon."), user("Otto lives in Porto.")})});
  QCOMPARE(query::writeCanonical(*resolved.query), query::writeCanonical(expected));
  QCOMPARE(resolved.retrieved.size(), std::size_t{1});
  QCOMPARE(resolved.retrieved[0].node, NodePath("/cross/1"));
  RetrievalOptions one;
  one.fragments = 1;
  QCOMPARE(resolve(node, one).retrieved[0].fragments.size(), std::size_t{1});
  QVERIFY(resolve(user("a")).query == user("a"));
}

void TestResolveAugments::pdfBytesAreRead() {
  const std::string pdf = retrieve::test::pdfOf({"Mira lives in Lisbon.", "Tarek is a baker."});
  const query::Node node = {query::Augment{
      .embeddingModel = "e",
      .body = user("Who is a baker?"),
      .document = {.name = "a", .content = std::vector<std::uint8_t>(pdf.begin(), pdf.end())}}};
  const ResolvedAugments resolved = resolve(node);
  QVERIFY(resolved.query.has_value());
  QVERIFY(*resolved.query == join(query::JoinKind::Plus, {user("Tarek is a baker.")}));
}

void TestResolveAugments::nothingFoundIsAWarning() {
  const ResolvedAugments resolved = resolve(augment(user("quokka"), "a.csv", kPeople));
  QVERIFY(resolved.query == join(query::JoinKind::Plus, {}));
  QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  QCOMPARE(resolved.diagnostics[0].severity, query::Severity::Warning);
}

void TestResolveAugments::problems_data() {
  QTest::addColumn<QString>("json");
  QTest::addColumn<QString>("pointer");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const char* body, const char* document, const char* pointer,
                      const char* found) {
    const QString json = QStringLiteral(R"({"seq":[{"augment":{"embedding_model":"e","body":%1,"doc":%2}}]})")
                             .arg(QString::fromUtf8(body), QString::fromUtf8(document));
    QTest::newRow(name) << json << QString(pointer) << QString(found);
  };
  const char* const text = R"(["a.txt",{"Text":"t"}])";
  row("generate", R"({"plus":[{"user":"a"},{"g":{"model":"m","input":{"user":"a"}}}]})", text,
      "/seq/0/augment/body/plus/1", "an operator \"g\"");
  row("ask", R"({"ask":"What?"})", text, "/seq/0/augment/body", "an operator \"ask\"");
  row("document", R"({"user":"a"})", R"(["a.jsonl",{"Text":"{"}])", "/seq/0", "a.jsonl: line 1: \"{\"");
  row("no PDF", R"({"user":"a"})", R"(["a.pdf",{"Binary":[1,2]}])", "/seq/0",
      "a.pdf: bytes that are no PDF, or a damaged one");
}

void TestResolveAugments::problems() {
  QFETCH(QString, json);
  QFETCH(QString, pointer);
  QFETCH(QString, found);
  const auto parsed = query::parseJson(json.toStdString());
  QVERIFY(parsed.query.has_value());
  const ResolvedAugments resolved = resolve(*parsed.query);
  QVERIFY(!resolved.query.has_value());
  QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(resolved.diagnostics[0].pointer), pointer);
  QCOMPARE(QString::fromStdString(resolved.diagnostics[0].found), found);
  RetrievalOptions none;
  none.fragments = 0;
  QVERIFY(query::hasErrors(resolve(user("a"), none).diagnostics));
}

QTEST_GUILESS_MAIN(TestResolveAugments)
#include "tst_resolve_augments.moc"
