// SPDX-License-Identifier: GPL-3.0-or-later
// The policy sparse: which blocks each generated token reads, worked out in double precision row by row; that
// with all blocks it is block attention to the bit; and that what it leaves out changes nothing for others.
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/trace_values.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/engine/run/random_tables.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <random>

using namespace spanscope;
using namespace spanscope::testing;
using namespace spanscope::test;
using layout::SpanTable;

namespace {

constexpr std::int32_t kBlockSize = 4;

/// The rows of a prompt, followed by those of the answer.
struct AnswerRows {
  AnswerRows(const SpanTable& table, const std::vector<TokenId>& answer) : prompt(table), rows(table) {
    bases.reserve(rows.count());
    for (const std::size_t s : rows.segments) bases.push_back(table.segments[s].base);
    const auto last = static_cast<std::uint32_t>(table.segments.size() - 1);
    for (const TokenId token : answer) {
      std::vector<std::size_t> sees = rows.sees.back();
      sees.push_back(rows.count());
      rows.locals.push_back(rows.locals.back() + 1);
      rows.positions.push_back(rows.positions.back() + 1);
      rows.tokens.push_back(token);
      rows.isOuter.push_back(true);
      rows.segments.push_back(last);
      rows.sees.push_back(std::move(sees));
      bases.push_back(table.segments.back().base);
    }
  }

  PromptRows prompt;
  PromptRows rows;
  std::vector<std::int64_t> bases;  ///< of each row's segment
};

/// The rows that key head `head` of row `row` reads: those of the first and the last block that it sees, and
/// of the blocks in which its queries could score most.
std::vector<std::size_t> readRows(const PlainTransformer& plain, const AnswerRows& answer, std::int32_t layer,
                                  const Numbers& hidden, std::size_t row, std::size_t head, std::size_t most,
                                  const std::vector<Numbers>& localKeys) {
  const model::ModelConfig shape = test::tinyConfig();
  const auto size = static_cast<std::size_t>(shape.headSize);
  const auto group = static_cast<std::size_t>(shape.heads / shape.keyValueHeads);
  // Blocks in view order, each a list of rows.
  std::vector<std::vector<std::size_t>> blocks;
  const auto blockOf = [&](std::size_t key) {
    return std::pair(answer.rows.segments[key], answer.rows.locals[key] / kBlockSize);
  };
  for (const std::size_t key : answer.rows.sees[row]) {
    if (blocks.empty() || blockOf(blocks.back().back()) != blockOf(key)) blocks.emplace_back();
    blocks.back().push_back(key);
  }
  if (blocks.size() <= most) return answer.rows.sees[row];
  std::vector<std::pair<double, std::size_t>> bounds;
  for (std::size_t block = 1; block + 1 < blocks.size(); ++block) {
    const std::int64_t base = answer.bases[blocks[block].front()];
    const Numbers queries = plain.query(layer, hidden, answer.rows.positions[row] - base);
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t own = head * group; own < (head + 1) * group; ++own) {
      double bound = 0;
      for (std::size_t i = 0; i < size; ++i) {
        double element = -std::numeric_limits<double>::infinity();
        for (const std::size_t key : blocks[block])
          element = std::max(element, queries[own * size + i] * localKeys[key][head * size + i]);
        bound += element;
      }
      highest = std::max(highest, bound);
    }
    bounds.emplace_back(-highest, block);
  }
  std::sort(bounds.begin(), bounds.end());
  std::vector<bool> isRead(blocks.size(), false);
  isRead.front() = true;
  isRead.back() = true;
  for (std::size_t i = 0; i + 2 < most; ++i) isRead[bounds[i].second] = true;
  std::vector<std::size_t> rows;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    if (isRead[block]) rows.insert(rows.end(), blocks[block].begin(), blocks[block].end());
  }
  return rows;
}

/// Logits of the prompt's last row and of all generated ones but the last.
std::vector<Numbers> reference(const PlainTransformer& plain, const AnswerRows& answer, std::size_t most) {
  const PromptRows& rows = answer.rows;
  const auto heads = static_cast<std::size_t>(test::tinyConfig().keyValueHeads);
  std::vector<Numbers> hidden;
  for (const TokenId token : rows.tokens) hidden.push_back(plain.embed(token));
  for (std::int32_t layer = 0; layer < plain.layers(); ++layer) {
    std::vector<KeyValue> own;
    std::vector<Numbers> localKeys;
    for (std::size_t row = 0; row < rows.count(); ++row) {
      own.push_back(plain.keyValue(layer, hidden[row], rows.positions[row]));
      localKeys.push_back(plain.keyValue(layer, hidden[row], rows.locals[row]).key);
    }
    for (std::size_t row = 0; row < rows.count(); ++row) {
      std::vector<std::vector<const KeyValue*>> seen(heads);
      for (std::size_t head = 0; head < heads; ++head) {
        const bool chooses = row >= answer.prompt.count();
        const std::vector<std::size_t> read =
            chooses ? readRows(plain, answer, layer, hidden[row], row, head, most, localKeys)
                    : rows.sees[row];
        for (const std::size_t key : read) seen[head].push_back(&own[key]);
      }
      hidden[row] = plain.next(layer, hidden[row], rows.positions[row], seen);
    }
  }
  std::vector<Numbers> logits;
  for (std::size_t row = answer.prompt.count() - 1; row + 1 < rows.count(); ++row)
    logits.push_back(plain.logits(hidden[row]));
  return logits;
}

run::FinishedAnswer finished(const SpanTable& table, const std::vector<TokenId>& tokens, const char* policy) {
  run::FinishedAnswer answer;
  answer.segments = run::spanTableEvent(table, nullptr).segments;
  answer.tokens = tokens;
  answer.policy = *policy::findChoice(policy);
  return answer;
}

std::vector<std::vector<TokenId>> answersOf(SpanletSession& spanlet, const plan::Plan& plan,
                                            const char* policy) {
  run::RunOptions options;
  options.policy = *policy::findChoice(policy);
  options.maxTokens = 24;
  std::vector<std::vector<TokenId>> answers;
  for (const run::StepResult& step : spanlet.session->run(plan, options).steps)
    answers.push_back(step.tokens);
  return answers;
}

}  // namespace

class TestSparse : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_seed = test::policyTestSeed(20251123); }

  void isAsDefined_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<int>("most");
    for (const int most : {2, 3, 5, 8, 20})
      QTest::addRow("sparse(%d)", most) << QString("sparse(%1)").arg(most) << most;
    QTest::newRow("sparse(all)") << "sparse(all)" << 1'000'000;
  }
  void isAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(QString, policy);
    QFETCH(int, most);
    TinySession tiny(2, poolOf(600, 13, kBlockSize));
    const PlainTransformer plain(test::tinyConfig(), *tiny.weights);
    RandomTables tables(m_seed, test::tinyConfig().vocabularySize, 11);
    std::mt19937_64 random(m_seed);
    double farthest = 0;
    for (int i = 0; i < 8; ++i) {
      const SpanTable table = tables.next(1 + i % 3);
      std::vector<TokenId> tokens(14);
      for (TokenId& token : tokens)
        token =
            static_cast<TokenId>(random() % static_cast<std::uint64_t>(test::tinyConfig().vocabularySize));
      const AnswerRows rows(table, tokens);
      const run::ReplayedAnswer found =
          tiny.session->replayAnswer(finished(table, tokens, qPrintable(policy)), 0);
      const std::vector<Numbers> expected = reference(plain, rows, static_cast<std::size_t>(most));
      const std::vector<Numbers> dense = reference(plain, rows, std::numeric_limits<std::size_t>::max());
      QCOMPARE(found.logits.size(), tokens.size());
      for (std::size_t at = 0; at < tokens.size(); ++at) {
        const double error = relative(found.logits[at], expected[at]);
        QVERIFY2(error < kClose,
                 qPrintable(QString("prompt %1, token %2 is off by %3").arg(i).arg(at).arg(error)));
        farthest = std::max(farthest, relative(found.logits[at], dense[at]));
      }
      QVERIFY(relative(found.logits[0], dense[0]) < kClose);  // the prompt reads all
    }
    QVERIFY2(most > 1000 ? farthest < kClose : farthest > 100 * kClose,
             qPrintable(QString::number(farthest)));
  }

  void allBlocksAreBlockAttention_data() {
    QTest::addColumn<QString>("query");
    for (const char* query : {"rag.json", "rag-swapped.json", "judge-4.json"}) QTest::newRow(query) << query;
  }
  void allBlocksAreBlockAttention() {
    QFETCH(QString, query);
    const plan::Plan plan = bundledPlan(query);
    SpanletSession spanlet;
    const auto expected = answersOf(spanlet, plan, "spans");
    QVERIFY(!expected.empty() && !expected.front().empty());
    QCOMPARE(answersOf(spanlet, plan, "sparse(all)"), expected);
    QCOMPARE(answersOf(spanlet, plan, "sparse(100000)"), expected);
  }

  /// Decoding beside others, or put through the model in one go, gives the same bits.
  void rowsDependOnThemselvesAlone() {
    TinySession decoded(1, poolOf(600, 512, kBlockSize));
    TinySession chunked(2, poolOf(600, 5, kBlockSize));
    RandomTables tables(m_seed + 1, test::tinyConfig().vocabularySize, 11);
    for (int i = 0; i < 40; ++i) {
      const SpanTable table = tables.next(1 + i % 3);
      const std::vector<TokenId> tokens{3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
      const auto expected = decoded.session->replayAnswer(finished(table, tokens, "sparse(4)"), 0);
      const auto found = chunked.session->replayAnswer(finished(table, tokens, "sparse(4)"), 0);
      QCOMPARE(found.logits.size(), expected.logits.size());
      for (std::size_t at = 0; at < tokens.size(); ++at)
        QVERIFY(equalBits(found.logits[at], expected.logits[at]));
    }
  }

  /// What is replayed is what was drawn from.
  void answersAreReplayedAsTheyWere() {
    const plan::Plan plan = bundledPlan("rag.json");
    SpanletSession spanlet(poolOf(2000, 512, kBlockSize));
    run::RunOptions options;
    options.policy = *policy::findChoice("sparse(6)");
    options.maxTokens = 24;
    const run::RunResult result = spanlet.session->run(plan, options);
    QVERIFY(!result.error);
    const auto tables = spanlet.sink.all<trace::SpanTableLaidOut>();
    QCOMPARE(tables.size(), result.steps.size());
    for (std::size_t step = 0; step < tables.size(); ++step) {
      run::FinishedAnswer answer;
      answer.segments = tables[step].segments;
      answer.tokens = result.steps[step].tokens;
      answer.policy = options.policy;
      const run::ReplayedAnswer replayed = spanlet.session->replayAnswer(answer, 0);
      for (std::size_t at = 0; at < answer.tokens.size(); ++at) {
        const std::vector<float>& logits = replayed.logits[at];
        const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
        QCOMPARE(static_cast<TokenId>(best), answer.tokens[at]);
      }
    }
  }

  /// Keys and values of generated tokens are not those of block attention: nobody finds them.
  void generatedTokensAreNotFound() {
    const plan::Plan plan = bundledPlan("rag.json");
    const auto cachedAfter = [&](const char* policy) {
      SpanletSession spanlet(poolOf(2000, 512, kBlockSize));
      run::RunOptions options;
      options.policy = *policy::findChoice(policy);
      options.maxTokens = 24;
      const run::RunResult result = spanlet.session->run(plan, options);
      SpanTable table = run::spanTableOf(spanlet.sink.all<trace::SpanTableLaidOut>().back().segments,
                                         spanlet.config.vocabularySize);
      const std::vector<TokenId>& answer = result.steps.back().tokens;
      const std::int64_t prompt = table.tokenCount();
      table.segments.back().tokens.insert(table.segments.back().tokens.end(), answer.begin(), answer.end());
      return spanlet.session->logits({.table = table}).cachedTokens - prompt;
    };
    QVERIFY(cachedAfter("spans") > 0);
    QCOMPARE(cachedAfter("sparse(6)"), std::int64_t{0});
  }

  void whoGivesWayGoesOnAsItWas() {
    std::int64_t preemptions = 0;
    for (std::uint32_t round = 0; round < 12; ++round) {
      const auto seed = static_cast<std::uint32_t>(m_seed) + round;
      const auto expected = randomAnswers("sparse(4)", seed, 2000, preemptions);
      QVERIFY(!expected.empty());
      QVERIFY(expected != randomAnswers("spans", seed, 2000, preemptions) || round > 0);
      for (const std::int32_t blocks : {12, 16, 20, 26, 32}) {
        const auto found = randomAnswers("sparse(4)", seed, blocks, preemptions);
        if (!found.empty()) QCOMPARE(found, expected);
      }
    }
    QVERIFY2(preemptions > 0, "nobody gave way");
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_sparse, TestSparse)
#include "tst_sparse.moc"
