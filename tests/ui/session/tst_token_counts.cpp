// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens of a text are counted once for all callers, and again with another tokenizer.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "ui/session/problem_finder.h"
#include "ui/session/token_counts.h"

#include <QTest>

#include <atomic>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A token for each byte.
class ByteTokenizer final : public text::Tokenizer {
 public:
  void encodeTo(std::string_view text, const std::stop_token& stop,
                const text::TokenSink& sink) const override {
    ++calls;
    for (const char c : text) {
      const TokenId id = c;
      if (!stop.stop_requested() && sink({&id, 1})) continue;
      ++ended;
      throw Failure(errorAt("text", "a stop", "none"));
    }
  }
  TokenId controlId(std::string_view) const override { return -1; }
  std::string bytes(TokenId id) const override { return {static_cast<char>(id)}; }
  std::string display(TokenId id) const override { return bytes(id); }
  bool isControl(TokenId) const override { return false; }
  std::int32_t vocabularySize() const override { return 256; }

  mutable std::atomic<int> calls = 0;
  mutable std::atomic<int> ended = 0;  ///< before the end of the text
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
    QCOMPARE(tokenizer->calls.load(), 2);
    // Not everything is kept, and nothing becomes wrong by that.
    for (int i = 0; i < 25'000; ++i)
      QCOMPARE(counts.count(std::string(static_cast<std::size_t>(i % 7), 'a') + std::to_string(i)) > 0, true);
    QCOMPARE(counts.count("four"), std::int64_t{4});
  }

  /// The window continues while a long text is counted, and is notified of the count.
  void longTextsAreCountedBesideTheWindow() {
    const auto tokenizer = std::make_shared<ByteTokenizer>();
    TokenCounts counts(tokenizer);
    int reported = 0;
    counts.onCounted([&reported] { ++reported; });
    const std::string text(TokenCounts::kCountedAtOnce + 1, 'a');
    for (int round = 0; round < 3; ++round) QVERIFY(!counts.count(text));
    QVERIFY(!counts.count(text + "b"));
    QCOMPARE(counts.count("four"), std::int64_t{4});
    QTRY_COMPARE(reported, 2);
    QCOMPARE(counts.count(text), static_cast<std::int64_t>(text.size()));
    QCOMPARE(counts.count(text + "b"), static_cast<std::int64_t>(text.size() + 1));
    QCOMPARE(tokenizer->calls.load(), 3);
  }

  /// Nobody waits for the rest of a count that nobody wants any more.
  void endsWithTheTokenizer() {
    const auto tokenizer = std::make_shared<ByteTokenizer>();
    {
      TokenCounts counts(tokenizer);
      QVERIFY(!counts.count(std::string(200'000'000, 'a')));
      QTRY_COMPARE(tokenizer->calls.load(), 1);
    }
    QTRY_COMPARE_WITH_TIMEOUT(tokenizer->ended.load(), 1, 1000);
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
    QCOMPARE(tokenizer->calls.load(), calls);
    // Alone they remember, too.
    ProblemFinder alone;
    alone.find(document, tokenizer);
    const int counted = tokenizer->calls;
    QVERIFY(counted > calls);
    alone.find(document, tokenizer);
    QCOMPARE(tokenizer->calls.load(), counted);
  }
};

SPANSCOPE_TEST(tst_token_counts, TestTokenCounts, QCoreApplication)
#include "tst_token_counts.moc"
