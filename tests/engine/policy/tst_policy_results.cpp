// SPDX-License-Identifier: GPL-3.0-or-later
// What runs under each policy compute: what its definition says, worked out in double precision row by row;
// and the same bits whether it was reused or computed.
#include "engine/layout/layout.h"
#include "engine/policy/blend/blend.h"
#include "engine/policy/link/link.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/engine/run/random_tables.h"
#include "tests/support/sanitized.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QTest>

#include <algorithm>
#include <functional>

using namespace spanscope;
using namespace spanscope::testing;
using namespace spanscope::test;
using layout::SpanTable;
using layout::Visibility;

namespace {

/// A sanitizer looks for other mistakes than wrong bits, and takes ten times as long.
constexpr int kPromptsOfSanitizer = 300;

SpanTable oneSegment(const PromptRows& rows) {
  SpanTable table;
  layout::Segment& segment = table.segments.emplace_back();
  segment.tokens = rows.tokens;
  return table;
}

/// link(n) by its definition: everything by block attention; then the first n rows of each document, and the
/// tokens around the documents, once more with attention to all of the newest keys and values before them.
Numbers linkReference(const PlainTransformer& plain, const PromptRows& rows, std::int32_t n) {
  const PlainTransformer::Forward spans = plain.forward(rows.tokens, rows.positions, rows.sees);
  std::vector<bool> isComputed(rows.count());
  for (std::size_t i = 0; i < rows.count(); ++i) isComputed[i] = rows.isOuter[i] || rows.locals[i] < n;
  std::vector<Numbers> hidden;
  for (const TokenId token : rows.tokens) hidden.push_back(plain.embed(token));
  for (std::int32_t layer = 0; layer < plain.layers(); ++layer) {
    std::vector<KeyValue> own = spans.keyValues[static_cast<std::size_t>(layer)];
    for (std::size_t i = 0; i < rows.count(); ++i) {
      if (isComputed[i]) own[i] = plain.keyValue(layer, hidden[i], rows.positions[i]);
    }
    for (std::size_t i = 0; i < rows.count(); ++i) {
      if (!isComputed[i]) continue;
      std::vector<const KeyValue*> seen;
      for (std::size_t j = 0; j <= i; ++j) seen.push_back(&own[j]);
      hidden[i] = plain.next(layer, hidden[i], rows.positions[i], seen);
    }
  }
  return plain.logits(hidden.back());
}

Numbers maskedReference(const PlainTransformer& plain, const PromptRows& rows) {
  return plain.logits(plain.forward(rows.tokens, rows.positions, rows.sees).hidden.back());
}

/// How a policy makes the table of a prompt; `number` counts the prompts.
using TableMaker = std::function<SpanTable(RandomTables& tables, int number)>;

struct NamedMaker {
  const char* name;
  TableMaker make;
  const char* rows = "spans";  ///< the policy that plans the rows of the table
};

std::vector<NamedMaker> makers() {
  const auto shaped = [](Visibility visibility) {
    return [visibility](RandomTables& tables, int number) { return tables.next(number % 4, visibility); };
  };
  const auto linked = [](std::int32_t n) {
    return [n](RandomTables& tables, int number) { return policy::linkedTable(tables.next(number % 4), n); };
  };
  return {{"spans", shaped(Visibility::Spans)},
          {"shared-prefix", shaped(Visibility::SpansBehindPrefix)},
          {"spans-no-reposition", shaped(Visibility::SpansAtOneBase)},
          {"sparse(3)", shaped(Visibility::Spans), "sparse(3)"},
          {"link(1)", linked(1)},
          {"link(5)", linked(5)},
          {"link(all)", linked(policy::kWholeDocuments)},
          {"blend(0.3)",
           [](RandomTables& tables, int number) { return policy::blendedTable(tables.next(number % 4)); },
           "blend(0.3)"},
          {"prefix",
           [](RandomTables& tables, int number) { return oneSegment(PromptRows(tables.next(number % 4))); }}};
}

}  // namespace

class TestPolicyResults : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_seed = test::policyTestSeed(20250214); }

  void masksAreAsDefined_data() {
    QTest::addColumn<int>("visibility");
    QTest::newRow("spans") << static_cast<int>(Visibility::Spans);
    QTest::newRow("shared-prefix") << static_cast<int>(Visibility::SpansBehindPrefix);
    QTest::newRow("spans-no-reposition") << static_cast<int>(Visibility::SpansAtOneBase);
  }
  void masksAreAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(int, visibility);
    TinySession tiny(2, poolOf(400, 13));
    const PlainTransformer plain(test::tinyConfig(), *tiny.weights);
    RandomTables tables(m_seed, test::tinyConfig().vocabularySize, 11);
    for (int i = 0; i < 12; ++i) {
      const SpanTable table = tables.next(1 + i % 3, static_cast<Visibility>(visibility));
      const Numbers expected = maskedReference(plain, PromptRows(table));
      const double error = relative(tiny.session->logits({.table = table}).logits.front(), expected);
      QVERIFY2(error < kClose, qPrintable(QString("prompt %1 is off by %2").arg(i).arg(error)));
    }
  }

  void linkIsAsDefined_data() {
    QTest::addColumn<int>("n");
    for (const int n : {0, 1, 3, 7, 100}) QTest::addRow("link(%d)", n) << n;
  }
  void linkIsAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(int, n);
    TinySession tiny(2, poolOf(600, 13));
    const PlainTransformer plain(test::tinyConfig(), *tiny.weights);
    RandomTables tables(m_seed + 1, test::tinyConfig().vocabularySize, 11);
    double farthest = 0;
    for (int i = 0; i < 12; ++i) {
      const SpanTable spans = tables.next(1 + i % 3);
      const PromptRows rows(spans);
      const SpanTable linked = policy::linkedTable(spans, n);
      QCOMPARE(linked.tokenCount(), spans.tokenCount());
      const std::vector<float> found = tiny.session->logits({.table = linked}).logits.front();
      const double error = relative(found, linkReference(plain, rows, n));
      QVERIFY2(error < kClose, qPrintable(QString("prompt %1 is off by %2").arg(i).arg(error)));
      farthest = std::max(farthest, relative(found, causalReference(plain, rows)));
    }
    // What it departs from a full prefill by is seen, or this would show nothing.
    if (n == 100) {
      QVERIFY2(farthest < kClose, qPrintable(QString::number(farthest)));
    } else {
      QVERIFY2(farthest > 100 * kClose, qPrintable(QString::number(farthest)));
    }
  }

  void reuseIsBitIdentical_data() {
    QTest::addColumn<int>("maker");
    QTest::addColumn<int>("family");
    const std::vector<NamedMaker> all = makers();
    const std::vector<test::NamedConfig> families = test::familyConfigs();
    for (std::size_t family = 0; family < families.size(); ++family) {
      for (std::size_t i = 0; i < all.size(); ++i)
        QTest::addRow("%s on %s", all[i].name, families[family].name)
            << static_cast<int>(i) << static_cast<int>(family);
    }
  }
  /// Prompts that have much in common, in a pool that is too small for all of them.
  void reuseIsBitIdentical() {
    QFETCH(int, maker);
    QFETCH(int, family);
    const NamedMaker named = makers()[static_cast<std::size_t>(maker)];
    const policy::Choice rows = *policy::findChoice(named.rows);
    const int prompts = SPANSCOPE_ADDRESS_SANITIZER || SPANSCOPE_THREAD_SANITIZER ? kPromptsOfSanitizer
                        : family == 0                                             ? 2000
                                                                                  : 600;
    const model::ModelConfig shape = test::familyConfigs()[static_cast<std::size_t>(family)].config;
    TinySession warm(1, poolOf(260, 37), shape);
    TinySession cold(1, poolOf(260, 512), shape);
    std::int64_t cached = 0;
    for (int i = 0; i < prompts; ++i) {
      // Few runs of tokens for many prompts, so that most are seen before.
      RandomTables tables(m_seed + static_cast<std::uint64_t>(i % 40), test::tinyConfig().vocabularySize, 7);
      SpanTable prompt;
      for (int skipped = 0; skipped <= i % 7; ++skipped) prompt = named.make(tables, i + skipped);
      cold.session->clearCache();
      const run::LogitsRequest request{.table = prompt, .rows = rows.planRows(prompt, false)};
      const auto expected = cold.session->logits(request);
      const auto found = warm.session->logits(request);
      QVERIFY2(equalBits(found.logits.front(), expected.logits.front()),
               qPrintable(QString("prompt %1, %2 tokens cached").arg(i).arg(found.cachedTokens)));
      cached += found.cachedTokens;
    }
    QVERIFY2(cached > prompts / 4, qPrintable(QString("only %1 tokens were reused").arg(cached)));
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_policy_results, TestPolicyResults)
#include "tst_policy_results.moc"
