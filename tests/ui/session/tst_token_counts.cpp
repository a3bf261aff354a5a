// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens of a text are counted once for all who ask, and anew with another tokenizer.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "ui/session/problem_finder.h"
#include "ui/session/token_counts.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A token for each byte.
class ByteTokenizer final : public text::Tokenizer {
 public:
  std::vector<TokenId> encode(std::string_view text) const override {
    ++calls;
    return {text.begin(), text.end()};
  }
  TokenId controlId(std::string_view) const override { return -1; }
  std::string bytes(TokenId id) const override { return {static_cast<char>(id)}; }
  std::string display(TokenId id) const override { return bytes(id); }
  bool isControl(TokenId) const override { return false; }
  std::int32_t vocabularySize() const override { return 256; }

  mutable int calls = 0;
};

}  // namespace

class TestTokenCounts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachTextIsCountedOnce() {
    const auto tokenizer = std::make_shared<ByteTokenizer>();
    TokenCounts counts(tokenizer);
    for (int round = 0; round < 3; ++round) {
      QCOMPARE(counts.count("four"), std::int64_t{4});
      QCOMPARE(counts.count(""), std::int64_t{0});
    }
    QCOMPARE(tokenizer->calls, 2);
    // Not everything is kept, and nothing becomes wrong by that.
    for (int i = 0; i < 25'000; ++i)
      QCOMPARE(counts.count(std::string(static_cast<std::size_t>(i % 7), 'a') + std::to_string(i)) > 0, true);
    QCOMPARE(counts.count("four"), std::int64_t{4});
  }

  void anotherTokenizerCountsAnew() {
    const auto one = std::make_shared<ByteTokenizer>();
    const auto other = std::make_shared<ByteTokenizer>();
    const auto counts = countsOf(one, nullptr);
    QCOMPARE(countsOf(one, counts), counts);
    QVERIFY(countsOf(other, counts) != counts);
    QCOMPARE(countsOf(other, counts)->tokenizer(), std::shared_ptr<const text::Tokenizer>(other));
    QVERIFY(countsOf(nullptr, counts)->tokenizer() == nullptr);
  }

  void findersShareWhatTheyCount() {
    const auto parsed = query::parseJson(
        R"({"g":{"model":"m","input":{"cross":[{"system":"Be kind."},{"user":"Who are you?"}]}}})");
    const document::Document document = document::fromQuery(*parsed.query);
    const auto tokenizer = std::make_shared<ByteTokenizer>();
    const auto counts = std::make_shared<TokenCounts>(tokenizer);
    ProblemFinder first;
    ProblemFinder second;
    const auto problems = first.find(document, tokenizer, counts);
    const int calls = tokenizer->calls;
    QVERIFY(calls > 0);
    QCOMPARE(second.find(document, tokenizer, counts).size(), problems.size());
    QCOMPARE(tokenizer->calls, calls);
    // By themselves they remember, too.
    ProblemFinder alone;
    alone.find(document, tokenizer);
    const int counted = tokenizer->calls;
    QVERIFY(counted > calls);
    alone.find(document, tokenizer);
    QCOMPARE(tokenizer->calls, counted);
  }
};

SPANSCOPE_TEST(tst_token_counts, TestTokenCounts)
#include "tst_token_counts.moc"
