// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces of the command line that need no model: tables, span table options, the view of a run.
#include "app/cli/option_values.h"
#include "app/cli/run_printer.h"
#include "app/cli/segments.h"
#include "app/cli/terminal_output.h"
#include "engine/run/run_result.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QTest>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;

class TestCliText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tableAlignsByCharacters();
  void numbersAreDecimalDigits_data();
  void numbersAreDecimalDigits();
  void shortNumbers_data();
  void shortNumbers();
  void segmentsBecomeASpanTable();
  void noSegmentsIsOneDependentOne();
  void badSegments_data();
  void badSegments();
  void viewShowsStepsInOrder();
  void viewMakesUpForLostTokens();
  void viewCountsSpans();
  void quietViewShowsOnlyMessages();
  void stepTableSaysWhatEndedEachStep();
  void tokensSumUpToThePrompt();
};

namespace {

plan::Plan planOf(std::size_t steps) {
  plan::Plan plan;
  for (std::size_t i = 0; i < steps; ++i) {
    plan::Step& step = plan.steps.emplace_back();
    step.node = "/g";
    step.copy = static_cast<std::uint32_t>(i);
  }
  return plan;
}

trace::Event makeEvent(RequestId request, trace::Payload payload) {
  trace::Event result;
  result.request = request;
  result.payload = std::move(payload);
  return result;
}

trace::Event token(RequestId request, const std::string& text) {
  trace::TokenGenerated payload;
  payload.text = text;
  return makeEvent(request, payload);
}

trace::Event finished(RequestId request, StepIndex step, const std::string& text) {
  return makeEvent(request,
                   trace::StepFinished{.step = step, .outcome = trace::StepOutcome::EndToken, .text = text});
}

struct Terminal {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams streams{.in = in, .out = out, .err = err};
};

}  // namespace

void TestCliText::tableAlignsByCharacters() {
  cli::TextTable table({{"name", cli::TextTable::Align::Left}, {"n"}});
  table.addRow({"é", "10"});
  table.addRow({"longer", "7"});
  table.addRow({"bare"});
  QCOMPARE(QString::fromStdString(table.text()),
           QString("  name     n\n  é       10\n  longer   7\n  bare\n"));
}

void TestCliText::numbersAreDecimalDigits_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("isWhole");
  QTest::addColumn<bool>("isDecimal");
  QTest::addColumn<double>("value");
  const auto row = [](const char* text, bool isWhole, bool isDecimal, double value = 0) {
    QTest::newRow(*text == 0 ? "nothing" : text) << QString(text) << isWhole << isDecimal << value;
  };
  row("0", true, true, 0);
  row("7", true, true, 7);
  row("1024", true, true, 1024);
  row("18446744073709551615", true, true, 18446744073709551615.0);
  row("18446744073709551616", false, true, 18446744073709551616.0);
  row("0.75", false, true, 0.75);
  row(".5", false, true, 0.5);
  row("0.05", false, true, 0.05);
  row("1e-3", false, true, 0.001);
  row("1e400", false, false);
  for (const char* wrong :
       {"",   "-1", "-0",  "+1",  "010", "00",       "00.5", "0x10", "1,0", " 1", "1 ",    "1\n",
        "1k", "x",  "nan", "NaN", "inf", "infinity", "-inf", ".",    "e1",  "1e", "1.5.2", "１"}) {
    row(wrong, false, false);
  }
}

void TestCliText::numbersAreDecimalDigits() {
  QFETCH(QString, text);
  QFETCH(bool, isWhole);
  QFETCH(bool, isDecimal);
  QFETCH(double, value);
  const auto whole = cli::parseWhole(text.toStdString());
  QCOMPARE(whole.has_value(), isWhole);
  if (whole) QCOMPARE(static_cast<double>(*whole), value);
  const auto decimal = cli::parseDecimal(text.toStdString());
  QCOMPARE(decimal.has_value(), isDecimal);
  if (decimal) QCOMPARE(*decimal, value);
}

void TestCliText::shortNumbers_data() {
  QTest::addColumn<double>("value");
  QTest::addColumn<QString>("text");
  QTest::newRow("zero") << 0.0 << "0";
  QTest::newRow("small whole") << 12.0 << "12";
  QTest::newRow("small") << 1.5 << "1.50";
  QTest::newRow("rounds to the next unit") << 999.7 << "1.00 k";
  QTest::newRow("millions") << 1440000.0 << "1.44 M";
  QTest::newRow("tens of giga") << 25.31e9 << "25.3 G";
  QTest::newRow("hundreds of giga") << 151.4e9 << "151 G";
}

void TestCliText::shortNumbers() {
  QFETCH(double, value);
  QFETCH(QString, text);
  QCOMPARE(QString::fromStdString(cli::shortNumber(value)), text);
}

void TestCliText::segmentsBecomeASpanTable() {
  const layout::SpanTable table = cli::parseSegments("i2,i1,d3", cli::parseIds("9,8,7,6,5,4"));
  QCOMPARE(table.segments.size(), std::size_t{3});
  QVERIFY(table.segments[0].independent);
  QVERIFY(table.segments[1].independent);
  QVERIFY(!table.segments[2].independent);
  QCOMPARE(table.segments[0].tokens, (std::vector<TokenId>{9, 8}));
  QCOMPARE(table.segments[2].tokens, (std::vector<TokenId>{6, 5, 4}));
  QCOMPARE(table.segments[1].base, std::int64_t{2});
  QCOMPARE(table.segments[2].base, std::int64_t{3});
  QVERIFY(table.segments[1].sees.empty());
  QCOMPARE(table.segments[2].sees, (std::vector<std::uint32_t>{0, 1}));
  QVERIFY(table.segments[0].scope != table.segments[1].scope);
}

void TestCliText::noSegmentsIsOneDependentOne() {
  const layout::SpanTable table = cli::parseSegments("", {1, 2, 3});
  QCOMPARE(table.segments.size(), std::size_t{1});
  QVERIFY(!table.segments[0].independent);
  QCOMPARE(table.tokenCount(), std::int64_t{3});
}

void TestCliText::badSegments_data() {
  QTest::addColumn<QString>("segments");
  QTest::newRow("too few tokens") << "i2";
  QTest::newRow("too many tokens") << "i2,d2";
  QTest::newRow("no length") << "i,d3";
  QTest::newRow("nothing between commas") << "i1,,d2";
  QTest::newRow("zero") << "i0,d3";
  QTest::newRow("negative") << "i-1,d4";
  QTest::newRow("another letter") << "x3";
  QTest::newRow("beyond 32 bits") << "d99999999999";
  QTest::newRow("sum beyond 32 bits") << "d2147483647,d2147483647";
}

void TestCliText::badSegments() {
  QFETCH(QString, segments);
  QVERIFY_EXCEPTION_THROWN(cli::parseSegments(segments.toStdString(), {1, 2, 3}), CLI::ValidationError);
}

void TestCliText::viewShowsStepsInOrder() {
  Terminal terminal;
  const plan::Plan plan = planOf(2);
  cli::RunPrinter view(terminal.streams, plan, false, "a.json", 16);
  view.take(makeEvent(7, trace::StepStarted{.step = 0, .copy = 0}));
  view.take(makeEvent(8, trace::StepStarted{.step = 1, .copy = 1}));
  view.take(token(8, "two "));
  view.take(token(7, "one "));
  QCOMPARE(QString::fromStdString(terminal.out.str()), QString("── step 0: /g (copy 1 of 2)\none "));
  view.take(token(8, "more"));
  view.take(finished(8, 1, "two more"));
  view.take(finished(7, 0, "one "));
  view.finish();
  QCOMPARE(QString::fromStdString(terminal.out.str()),
           QString("── step 0: /g (copy 1 of 2)\none \n\n── step 1: /g (copy 2 of 2)\ntwo more\n"));
}

void TestCliText::viewMakesUpForLostTokens() {
  Terminal terminal;
  const plan::Plan plan = planOf(1);
  cli::RunPrinter view(terminal.streams, plan, false, "a.json", 16);
  view.take(makeEvent(1, trace::StepStarted{}));
  view.take(token(1, "Mira"));
  view.take(finished(1, 0, "Mira lives in Lisbon."));
  view.finish();
  QCOMPARE(QString::fromStdString(terminal.out.str()), QString("Mira lives in Lisbon.\n"));
}

void TestCliText::viewCountsSpans() {
  Terminal terminal;
  const plan::Plan plan = planOf(1);
  cli::RunPrinter view(terminal.streams, plan, false, "a.json", 16);
  view.take(makeEvent(1, trace::StepStarted{}));
  std::vector<trace::SegmentInfo> segments(5);
  for (std::size_t s = 1; s < 5; ++s) segments[s].independent = true;
  view.take(makeEvent(1, trace::SpanTableLaidOut{.segments = std::move(segments)}));
  const auto lookup = [&](std::uint32_t segment, std::int32_t tokens, std::int64_t storedBase) {
    trace::BlockLookedUp block;
    block.segment = segment;
    block.tokens = tokens;
    block.wanted = 16;
    block.base = 100;
    block.storedBase = storedBase;
    view.take(makeEvent(1, block));
  };
  lookup(0, 16, 0);    // not independent: no span
  lookup(1, 16, 100);  // wholly found in place
  lookup(2, 16, 40);   // wholly found elsewhere
  lookup(2, 16, 40);
  lookup(3, 16, 40);  // partial hit
  lookup(3, 0, 0);
  lookup(4, 0, 0);  // not found
  view.take(finished(1, 0, ""));
  QCOMPARE(view.spans(), (cli::SpanCounts{.relocated = 1, .plain = 1, .partial = 1, .computed = 1}));
}

void TestCliText::quietViewShowsOnlyMessages() {
  Terminal terminal;
  const plan::Plan plan = planOf(1);
  cli::RunPrinter view(terminal.streams, plan, true, "a.json", 16);
  view.take(makeEvent(1, trace::StepStarted{}));
  view.take(token(1, "text"));
  view.take(makeEvent(0, trace::MessageLogged{.severity = Severity::Warning, .text = "mind this"}));
  view.take(finished(1, 0, "text"));
  view.finish();
  QCOMPARE(terminal.out.str(), std::string());
  QCOMPARE(QString::fromStdString(terminal.err.str()), QString("a.json: warning: mind this\n"));
}

void TestCliText::stepTableSaysWhatEndedEachStep() {
  run::RunResult result;
  for (const auto outcome :
       {trace::StepOutcome::EndToken, trace::StepOutcome::TokenLimit, trace::StepOutcome::ContextLimit,
        trace::StepOutcome::Stopped, trace::StepOutcome::Failed}) {
    run::StepResult& step = result.steps.emplace_back();
    step.step = static_cast<StepIndex>(result.steps.size() - 1);
    step.outcome = outcome;
  }
  std::istringstream table(
      cli::stepTable(planOf(result.steps.size()), result, std::vector<metrics::Totals>(result.steps.size())));
  std::vector<std::string> endings;
  for (std::string line; std::getline(table, line);) endings.push_back(line.substr(line.rfind(' ') + 1));
  QCOMPARE(endings, (std::vector<std::string>{"by", "end", "limit", "context", "stopped", "failed"}));
}

/// Each prompt token is in one column. Columns that only the policy needs are extra.
void TestCliText::tokensSumUpToThePrompt() {
  run::RunResult result;
  result.steps.emplace_back().metrics = {
      .step = 0, .promptTokens = 120, .cachedTokens = 100, .relocatedTokens = 30, .computedTokens = 20};
  std::vector<metrics::Totals> totals(1);
  totals[0].account = metrics::PromptAccount{
      .prompt = {.hit = 60, .relocated = 25, .computed = 15, .again = 5}, .beside = 15};
  totals[0].generatedTokens = 0;
  std::istringstream table(cli::stepTable(planOf(1), result, totals));
  std::string head;
  std::string row;
  std::getline(table, head);
  std::getline(table, row);
  const QString columns = QString::fromStdString(head).simplified();
  QStringList titles{QStringLiteral("step"), QStringLiteral("node")};
  for (const char* const id : {"prompt-tokens", "cached-tokens", "relocated-tokens", "tokens-computed-again",
                               "computed-tokens", "tokens-beside-the-prompt", "generated-tokens"})
    titles << QString::fromUtf8(metrics::get(id).shortName);
  QVERIFY2(columns.startsWith(titles.join(QLatin1Char(' '))), qPrintable(columns));
  QVERIFY2(QString::fromStdString(row).simplified().contains(QStringLiteral(" 105 85 25 5 15 15 0 ")),
           row.c_str());
  QCOMPARE(
      QString::fromStdString(cli::reuseSummary(totals, {})),
      QStringLiteral("relocated hits: 25 tokens; plain hits: 60 tokens; computed: 15 tokens of 105; %1: 5 "
                     "tokens; %2: 15 tokens")
          .arg(QString::fromUtf8(metrics::get("tokens-computed-again").shortName),
               QString::fromUtf8(metrics::get("tokens-beside-the-prompt").shortName)));
}

SPANSCOPE_TEST(tst_cli_text, TestCliText)
#include "tst_cli_text.moc"
