// SPDX-License-Identifier: GPL-3.0-or-later
// Compares whole runs with their definition in double precision, row by row, under each policy that masks or
// links, in each layout, with recomputed and reused outputs. Answers hold the delimiters of the layouts,
// which are ordinary tokens there.
#include "engine/layout/message_renderer.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/engine/run/whole_runs/plain_prompt.h"
#include "tests/engine/run/whole_runs/random_trees.h"
#include "tests/engine/run/whole_runs/run_record.h"
#include "tests/engine/run/whole_runs/tiny_models.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QTest>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace spanscope;
using layout::Layout;
using plan::OutputForm;
using test::PlainMask;
using test::PlainPolicy;
using test::PlainPrompts;
using test::PlainRow;
using test::relative;

namespace {

constexpr std::int32_t kBlockSize = 5;

struct Row {
  const char* policy;
  PlainPolicy plain;
};

const std::vector<Row>& policyRows() {
  static const std::vector<Row> rows{{"prefix", {.mask = PlainMask::Causal}},
                                     {"spans", {.mask = PlainMask::Spans}},
                                     {"shared-prefix", {.mask = PlainMask::BehindPrefix}},
                                     {"link(1)", {.mask = PlainMask::Linked, .linked = 1}},
                                     {"link(4)", {.mask = PlainMask::Linked, .linked = 4}}};
  return rows;
}

/// Documents and answers after a beginning, one in another, and twice in a row.
constexpr const char* kNested =
    R"({"g":{"model":"m","max_tokens":4,"temperature":0,"input":{"cross":[{"system":"Answer + shortly."},)"
    R"({"plus":[{"user":"Mira lives in Lisbon."},{"cross":[{"user":"Two pets:"},{"plus":[)"
    R"({"user":"Biscuit @ home"},{"assistant":"Pepper sleeps all day."}]},{"user":"and no more"}]},)"
    R"({"g":{"model":"m","max_tokens":5,"temperature":0.9,"input":{"cross":[{"plus":[)"
    R"({"user":"Nils owns a clock."}]},{"user":"Who owns it?"}]}}}]},{"user":"First."},)"
    R"({"g":{"model":"m","max_tokens":3,"temperature":0.9,"input":{"user":"Say < something."}}},)"
    R"({"plus":[{"user":"Mira lives in Lisbon."},{"user":"The last one."}]},{"user":"Who is it?"}]}}})";

/// Where a step's rows are not those of the table that the run laid out; empty if they are.
std::string otherRows(const std::vector<PlainRow>& rows, const std::vector<trace::SegmentInfo>& table) {
  std::size_t row = 0;
  for (const trace::SegmentInfo& segment : table) {
    for (std::size_t j = static_cast<std::size_t>(segment.visibleBegin);
         j < segment.tokens.size() && !segment.hidden; ++j, ++row) {
      if (row >= rows.size()) return "rows that are too many";
      if (rows[row].token != segment.tokens[j]) return "row " + std::to_string(row) + ": another token";
      if (rows[row].position != segment.base + static_cast<std::int64_t>(j))
        return "row " + std::to_string(row) + ": another position";
    }
  }
  return row == rows.size() ? std::string() : "rows that are missing";
}

}  // namespace

class TestPlainPrompts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_seed = test::policyTestSeed(20261123); }

  void runsAreAsDefined_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<int>("layout");
    QTest::addColumn<bool>("isReused");
    for (std::size_t policy = 0; policy < policyRows().size(); ++policy) {
      for (const layout::LayoutInfo& info : layout::layouts()) {
        for (const bool isReused : {false, true})
          QTest::addRow("%s, %s, outputs %s", policyRows()[policy].policy, info.name,
                        isReused ? "reused" : "anew")
              << static_cast<int>(policy) << static_cast<int>(info.layout) << isReused;
      }
    }
  }
  void runsAreAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(int, policy);
    QFETCH(int, layout);
    QFETCH(bool, isReused);
    const Row& row = policyRows()[static_cast<std::size_t>(policy)];
    const model::ModelConfig shape = m_models.config(test::Endings::Few, 4096);
    const testing::PlainTransformer plain(shape, m_models.weights());
    layout::MessageRenderer renderer(m_models.tokenizer(), m_models.chat());
    renderer.useLayout(static_cast<Layout>(layout), kBlockSize);
    const layout::MarkerTokens marks = layout::markerTokens(m_models.tokenizer());
    test::WatchingSink sink;
    run::Session session(test::poolOf(2000, 37, kBlockSize), m_models.decoder(test::Endings::Few, 4096, 1),
                         m_models.backend(1), m_models.weights().fingerprint(), "random",
                         &m_models.tokenizer(), &m_models.chat(), sink);
    test::Dice dice(m_seed);
    test::RandomTrees trees(dice);
    std::int64_t marksInAnswers = 0;
    std::int64_t reused = 0;
    std::int64_t cached = 0;
    for (int query = 0; query < 8; ++query) {
      plan::PlanOptions planning;
      planning.outputForm = isReused ? OutputForm::Reused : OutputForm::Recomputed;
      planning.distribute = query % 2 == 0;
      const query::Node tree = query < 2 ? *query::parseJson(kNested).query : trees.next();
      const auto plan = plan::makePlan(tree, planning).plan;
      QVERIFY(plan);
      run::RunOptions options;
      options.policy = *policy::findChoice(row.policy);
      options.layout = static_cast<Layout>(layout);
      options.maxTokens = 5;
      sink.beginRun(0);
      run::RunResult result = session.run(*plan, options);
      QVERIFY2(!result.error, result.error ? result.error->message().c_str() : "");
      const test::RunRecord record(std::move(result), sink.events());
      std::vector<std::vector<TokenId>> answers(plan->steps.size());
      for (const run::StepResult& step : record.result.steps) {
        answers[step.step] = step.tokens;
        cached += step.metrics.cachedTokens;
        marksInAnswers += std::count_if(step.tokens.begin(), step.tokens.end(), [&](TokenId token) {
          return token == marks.plus || token == marks.cross || token == marks.pad;
        });
      }
      const PlainPrompts prompts(*plan, answers, renderer, plain, row.plain);
      for (const run::StepResult& step : record.result.steps) {
        const QString where = QString("query %1, step %2: ").arg(query).arg(step.step);
        const std::vector<PlainRow>& rows = prompts.prompt(step.step);
        const std::string other = otherRows(rows, record.answerOf(step).prompt);
        QVERIFY2(other.empty(),
                 qPrintable(where + QString::fromStdString(other + "\n" + query::writeCanonical(tree))));
        reused +=
            std::count_if(rows.begin(), rows.end(), [](const PlainRow& r) { return r.answer.has_value(); });
        const std::vector<testing::Numbers> expected = prompts.logits(step.step);
        const run::ReplayedAnswer found =
            session.replayAnswer(test::finishedAnswer(record, step, options.policy), 0);
        QCOMPARE(found.logits.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const double error = relative(found.logits[i], expected[i]);
          QVERIFY2(error < test::kClose,
                   qPrintable(where + QString("token %1 is off by %2\n").arg(i).arg(error) +
                              QString::fromStdString(query::writeCanonical(tree))));
        }
      }
    }
    QVERIFY(marksInAnswers > 0);
    QVERIFY(cached > 0);
    QCOMPARE(reused > 0,
             isReused && (row.plain.mask == PlainMask::Spans || row.plain.mask == PlainMask::Linked));
  }

  /// Each run of a model with windows reports them, and no other does.
  void windowsAreTold_data() {
    QTest::addColumn<std::size_t>("family");
    const std::vector<test::NamedConfig> families = test::familyConfigs();
    for (std::size_t family = 0; family < families.size(); ++family)
      QTest::newRow(families[family].name) << family;
  }
  void windowsAreTold() {
    QFETCH(std::size_t, family);
    test::WatchingSink sink;
    run::Session session(test::poolOf(200, 37, kBlockSize),
                         m_models.decoder(test::Endings::Few, 4096, 1, family), m_models.backend(1),
                         m_models.weights(family).fingerprint(), "random", &m_models.tokenizer(),
                         &m_models.chat(), sink);
    const auto plan = plan::makePlan(*query::parseJson(kNested).query, {}).plan;
    std::vector<std::int32_t> expected;
    const model::ModelConfig config = m_models.config(test::Endings::Few, 4096, family);
    for (std::int32_t layer = 0; layer < config.layers; ++layer)
      expected.push_back(config.kind(config.kindOf(layer)).window);
    const bool hasAny = std::any_of(expected.begin(), expected.end(), [](auto window) { return window > 0; });
    for (int run = 0; run < 2; ++run) {
      sink.beginRun(0);
      run::RunOptions options;
      options.maxTokens = 2;
      QVERIFY(!session.run(*plan, options).error);
      std::vector<std::vector<std::int32_t>> reported;
      for (const trace::Event& event : sink.events()) {
        if (const auto* report = std::get_if<trace::WindowsReported>(&event.payload))
          reported.push_back(report->windows);
      }
      std::vector<std::vector<std::int32_t>> wanted;
      if (hasAny) wanted.push_back(expected);
      QVERIFY(reported == wanted);
    }
  }

 private:
  std::uint64_t m_seed = 0;
  test::TinyModels m_models;
};

SPANSCOPE_TEST(tst_plain_prompts, TestPlainPrompts)
#include "tst_plain_prompts.moc"
