// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever the layout: what is reused has the bits of what is computed, and a run says what its layout did.
#include "engine/layout/layout.h"
#include "engine/metrics/token_account.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/trace_values.h"
#include "tests/engine/run/random_queries.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>

using namespace spanscope;
using layout::Layout;
using layout::LayoutInfo;
using spanscope::product_text::worded;
using test::RandomSession;

namespace {

std::uint32_t testSeed() {
  const QByteArray given = qgetenv("SPANSCOPE_TEST_SEED");
  const std::uint32_t seed = given.isEmpty() ? 20261123U : given.toUInt();
  qInfo("SPANSCOPE_TEST_SEED=%u", seed);
  return seed;
}

run::SessionConfig pool(std::int32_t blockSize, std::int32_t blocks, bool tails) {
  run::SessionConfig config;
  config.blockSize = blockSize;
  config.blockCount = blocks;
  config.cacheTails = tails;
  return config;
}

plan::Plan planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  const auto made = plan::makePlan(*parsed.query, {});
  return *made.plan;
}

void addLayouts() {
  QTest::addColumn<int>("layout");
  for (const LayoutInfo& info : layout::layouts()) QTest::newRow(info.name) << static_cast<int>(info.layout);
}

constexpr char kRag[] =
    R"({"g":{"model":"m","max_tokens":4,"temperature":0,"input":{"cross":[{"system":"Answer."},)"
    R"({"plus":[{"user":"Mira lives in Lisbon by the sea."},{"assistant":"Tarek plays the cello in Porto."}]},)"
    R"({"user":"Who lives in Lisbon?"}]}}})";

}  // namespace

class TestLayoutReuse : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reuseIsBitIdentical_data() { addLayouts(); }
  /// Random queries that share documents, in a pool too small for all of them.
  void reuseIsBitIdentical() {
    QFETCH(int, layout);
    test::RandomQueries queries(testSeed());
    RandomSession warm(pool(4, 120, true), true);
    RandomSession cold(pool(4, 120, true), true);
    layout::MessageRenderer renderer(*warm.tokenizer, *warm.chat);
    renderer.useLayout(static_cast<Layout>(layout), 4);
    std::int64_t cached = 0;
    std::size_t marks = 0;
    for (int i = 0; i < 250; ++i) {
      const plan::Plan plan = planOf(queries.single());
      for (const auto visibility : {layout::Visibility::Spans, layout::Visibility::Full}) {
        const layout::SpanTable table = layout::layOut(plan.steps.front(), {}, renderer, visibility);
        marks += run::layoutEvent(table, nullptr).runs.size();
        cold.session->clearCache();
        const auto expected = cold.session->logits({.table = table});
        const auto found = warm.session->logits({.table = table});
        QCOMPARE(found.logits.front().size(), expected.logits.front().size());
        QVERIFY2(std::memcmp(found.logits.front().data(), expected.logits.front().data(),
                             expected.logits.front().size() * sizeof(float)) == 0,
                 qPrintable(QString("prompt %1, %2 tokens cached").arg(i).arg(found.cachedTokens)));
        cached += found.cachedTokens;
      }
    }
    QVERIFY2(cached > 1000, qPrintable(QString::number(cached)));
    QCOMPARE(marks > 0, static_cast<Layout>(layout) != Layout::Exact);
  }

  void answersAreTheSameFromTheCache_data() { addLayouts(); }
  /// Nested generation, whole runs: once more, and with an empty cache.
  void answersAreTheSameFromTheCache() {
    QFETCH(int, layout);
    test::RandomQueries queries(testSeed() + 1);
    RandomSession random(pool(4, 4000, true), true);
    run::RunOptions options;
    options.layout = static_cast<Layout>(layout);
    for (int i = 0; i < 12; ++i) {
      const plan::Plan plan = planOf(queries.nested());
      const run::RunResult warm = random.session->run(plan, options);
      const run::RunResult again = random.session->run(plan, options);
      random.session->clearCache();
      const run::RunResult cold = random.session->run(plan, options);
      QVERIFY(warm.outcome == trace::RunOutcome::Finished);
      QCOMPARE(again.answer, warm.answer);
      QCOMPARE(cold.answer, warm.answer);
    }
  }

  /// With only whole blocks kept, padding saves the cost of partial blocks.
  void padsMakeWholeBlocks() {
    const plan::Plan plan = planOf(kRag);
    std::map<Layout, trace::StepMetrics> again;
    for (const LayoutInfo& info : layout::layouts()) {
      RandomSession random(pool(16, 400, false), false);
      run::RunOptions options;
      options.layout = info.layout;
      random.session->run(plan, options);
      const run::RunResult second = random.session->run(plan, options);
      again[info.layout] = second.steps.front().metrics;
    }
    const auto question = [](const trace::StepMetrics& metrics) { return metrics.computedTokens; };
    // Only the tokens after the cross marker are recomputed.
    QVERIFY(question(again[Layout::Padded]) < question(again[Layout::Exact]));
    QCOMPARE(question(again[Layout::Cropped]), question(again[Layout::Padded]));
    // What is cropped of a block that is not full makes room for pads.
    QCOMPARE(again[Layout::Padded].promptTokens, again[Layout::Cropped].promptTokens);
  }

  void runsTellOfTheirLayout() {
    RandomSession random(pool(4, 400, true), false);
    run::RunOptions options;
    random.session->run(planOf(kRag), options);
    QVERIFY(random.sink.all<trace::LayoutChosen>().empty());
    QVERIFY(random.sink.all<trace::LayoutApplied>().empty());
    options.layout = Layout::Cropped;
    random.sink.events.clear();
    random.session->run(planOf(kRag), options);
    const auto chosen = random.sink.all<trace::LayoutChosen>();
    QCOMPARE(chosen.size(), std::size_t{1});
    QCOMPARE(chosen.front().layout, std::string("cropped"));
    QCOMPARE(chosen.front().blockSize, 4);
    const auto applied = random.sink.all<trace::LayoutApplied>();
    const auto tables = random.sink.all<trace::SpanTableLaidOut>();
    QCOMPARE(applied.size(), std::size_t{1});
    const metrics::LayoutMetrics layout = metrics::layoutMetrics(applied.front(), tables.front().segments, 4);
    QCOMPARE(layout.markers, 3);  // two children of the plus, and the last child of the cross
    QVERIFY2(layout.pads > 0 && layout.padBlocks > 0 && layout.padBlocks <= 3,
             metrics::layoutText(layout).c_str());
    QVERIFY(layout.cropped > 0);
    std::int64_t tokens = 0;
    for (const trace::SegmentInfo& segment : tables.front().segments)
      tokens += static_cast<std::int64_t>(segment.tokens.size());
    QCOMPARE(layout.tokens, tokens);
    // Words and figures are those of the exact layout.
    options.layout = Layout::Exact;
    random.sink.events.clear();
    random.session->run(planOf(kRag), options);
    std::int64_t exact = 0;
    const auto plain = random.sink.all<trace::SpanTableLaidOut>();
    for (const trace::SegmentInfo& segment : plain.front().segments)
      exact += static_cast<std::int64_t>(segment.tokens.size());
    QCOMPARE(layout.exactTokens(), exact);
    for (const trace::LayoutRun& run : applied.front().runs) {
      const trace::SegmentInfo& segment = tables.front().segments[run.segment];
      for (std::int32_t i = run.begin; i < run.begin + run.count; ++i) {
        const trace::LayoutChosen& own = chosen.front();
        QCOMPARE(segment.tokens[static_cast<std::size_t>(i)], run.role == trace::LayoutRole::Pad ? own.pad
                                                              : run.role == trace::LayoutRole::PlusMarker
                                                                  ? own.plus
                                                                  : own.cross);
      }
    }
  }

  /// A layout shows only the tokens in the view, not those that a policy hides or repeats.
  void policiesApplyOnTop_data() {
    QTest::addColumn<QString>("policy");
    std::vector<std::string> names{"link(3)", "link(all)", "blend(0.3)"};
    for (const policy::Policy* policy : policy::policies()) names.push_back(policy::Choice(*policy).name());
    for (const std::string& name : names) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void policiesApplyOnTop() {
    QFETCH(QString, policy);
    RandomSession random(pool(4, 400, true), false);
    run::RunOptions options;
    options.layout = Layout::Cropped;
    random.session->run(planOf(kRag), options);
    const metrics::LayoutMetrics expected =
        metrics::layoutMetrics(random.sink.all<trace::LayoutApplied>().front(),
                               random.sink.all<trace::SpanTableLaidOut>().front().segments, 4);
    random.sink.events.clear();
    options.policy = *policy::findChoice(policy.toStdString());
    const run::RunResult result = random.session->run(planOf(kRag), options);
    QVERIFY(result.outcome == trace::RunOutcome::Finished);
    const metrics::LayoutMetrics found =
        metrics::layoutMetrics(random.sink.all<trace::LayoutApplied>().front(),
                               random.sink.all<trace::SpanTableLaidOut>().front().segments, 4);
    QVERIFY(found == expected);
  }

  void wordsOfTheFigures() {
    metrics::LayoutMetrics layout{.tokens = 106, .pads = 17, .padBlocks = 9, .markers = 12, .cropped = 23};
    QCOMPARE(metrics::layoutText(layout),
             worded(std::string(
                 "17 padding tokens in 9 blocks, 12 delimiter tokens, 23 tokens truncated: 6.0 % more "
                 "<than-exact-layout>")));
    QCOMPARE(metrics::layoutText({.tokens = 1, .pads = 1, .padBlocks = 1, .markers = 0, .cropped = 1}),
             worded(std::string(
                 "1 padding token in 1 block, 0 delimiter tokens, 1 token truncated: <many-tokens-exact>")));
  }
};

SPANSCOPE_TEST(tst_layout_reuse, TestLayoutReuse)
#include "tst_layout_reuse.moc"
