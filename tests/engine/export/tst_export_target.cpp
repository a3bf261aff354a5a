// SPDX-License-Identifier: GPL-3.0-or-later
// Every row of the table of targets: what it writes, and that it takes no other choices than it says.
#include "engine/export/export_target.h"
#include "engine/query/json/json.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <string>

using namespace spanscope;
using namespace spanscope::exports;

namespace {

const char* const kQuery = R"J({"g":{"model":"spnl/m","max_tokens":4,"input":{"seq":[
    {"seq":[{"user":"s"}]},{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]}}})J";

query::Node queryOf(const char* json) {
  return *query::parseJson(json).query;
}

std::string written(const ExportTarget& target, const ExportSettings& settings, const char* json = kQuery) {
  const auto made = target.write(queryOf(json), settings);
  const auto* text = std::get_if<ExportedText>(&made);
  return text == nullptr ? "error: " + std::get<Error>(made).message() : text->text;
}

}  // namespace

class TestExportTarget : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesAndTitlesAreDistinct() {
    std::set<std::string> names;
    std::set<std::string> titles;
    for (const ExportTarget& target : exportTargets()) {
      QCOMPARE(findExportTarget(target.name), &target);
      names.insert(target.name);
      titles.insert(target.title);
      QVERIFY(std::string(target.suffix).starts_with('.') && !std::string(target.help).empty());
    }
    QCOMPARE(names.size(), exportTargets().size());
    QCOMPARE(titles.size(), exportTargets().size());
    QCOMPARE(findExportTarget("nothing"), nullptr);
    QVERIFY(targetsWith(ExportOption::Endpoint) == (std::vector<std::string>{"chat-curl", "curl", "python"}));
  }

  /// A choice that a target does not offer changes nothing of what it writes.
  void whatIsNotOfferedChangesNothing() {
    struct Choice {
      ExportOption option;
      ExportSettings settings;
    };
    ExportSettings base;
    const auto with = [&base](auto change) {
      ExportSettings settings = base;
      change(settings);
      return settings;
    };
    const Choice choices[] = {
        {ExportOption::Stage, with([](auto& s) { s.stage = ExportStage::Optimized; })},
        {ExportOption::Endpoint, with([](auto& s) { s.endpoint = "http://elsewhere/"; })},
        {ExportOption::Stream, with([](auto& s) { s.stream = false; })},
        {ExportOption::Seed, with([](auto& s) { s.seed = 7; })},
        {ExportOption::OneLine, with([](auto& s) { s.oneLine = true; })}};
    for (const ExportTarget& target : exportTargets()) {
      if (target.has(ExportOption::Tokens)) continue;
      const std::string plain = written(target, base);
      QVERIFY2(!plain.empty() && !plain.starts_with("error"), plain.c_str());
      for (const Choice& choice : choices) {
        // One chat request is written for readers, or on one line for programs.
        if (std::string(target.name) == "chat" && choice.option == ExportOption::OneLine) continue;
        QVERIFY2((written(target, choice.settings) != plain) == target.has(choice.option), target.name);
      }
    }
  }

  void whatCannotBeWrittenIsEmpty() {
    const char* const nothing = R"J({"user":"a"})J";
    QVERIFY(written(*findExportTarget("chat"), {}, nothing).empty());
    QVERIFY(written(*findExportTarget("spnl"), {.stage = ExportStage::Lowered}, nothing).empty());
  }

  void remarksAreThoseOfTheStage() {
    const query::Node query =
        queryOf(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}},{"user":"b"}]})J");
    const ExportTarget& spnl = *findExportTarget("spnl");
    QVERIFY(exportRemarks(query, spnl, {}) == targetRemarks(query, Target::Query));
    QVERIFY(exportRemarks(query, spnl, {.stage = ExportStage::Lowered}) ==
            targetRemarks(query, Target::Calls,
                          {.stage = ExportStage::Lowered,
                           .hasPlusMarker = false,
                           .hasCrossMarker = false,
                           .leavesOutNulls = true}));
  }

  void tokensTakeATokenizer() {
    QVERIFY_EXCEPTION_THROWN((void)findExportTarget("tokens")->write(queryOf(kQuery), {}),
                             std::invalid_argument);
  }
};

SPANSCOPE_TEST(tst_export_target, TestExportTarget)
#include "tst_export_target.moc"
