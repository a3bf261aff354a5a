// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts on the command line: what `spanq explain --layouts` says of each is what runs with it then have.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::json;

namespace {

const std::string kRag = SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json";
const std::string kJudge = SPANSCOPE_SOURCE_DIR "/resources/queries/judge-2.json";

bool holds(const std::string& text, const std::string& words) {
  return says(text, words);
}

}  // namespace

class TestSpanqLayouts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comparisonIsWhatRunsHave() {
    const SpanqResult explained = spanq({"explain", "--json", "--layouts", kRag});
    QVERIFY2(explained.code == 0, explained.err.c_str());
    const Json rows = Json::parse(explained.out).at("layouts");
    QCOMPARE(rows.size(), std::size_t{9});
    for (const Json& row : rows) {
      const auto layout = row.at("layout").get<std::string>();
      const std::string blockSize = std::to_string(row.at("block_size").get<int>());
      const SpanqResult ran = spanq({"run", "--json", "--layout", layout, "--block-size", blockSize, kRag});
      QVERIFY2(ran.code == 0, ran.err.c_str());
      const Json report = Json::parse(ran.out);
      QCOMPARE(report.at("layout").get<std::string>(), layout);
      const Json& run = report.at("runs")[0];
      const Json& step = run.at("steps")[0];
      QCOMPARE(row.at("prompt").get<int>(), step.at("prompt").get<int>());
      QCOMPARE(row.at("computed").at("least").get<int>(), step.at("computed").get<int>());
      QCOMPARE(row.at("computed").at("most").get<int>(), step.at("computed").get<int>());
      QCOMPARE(run.contains("layout"), layout != "exact");
      if (layout == "exact") continue;
      for (const char* metric : {"prompt", "pads", "pad_blocks", "markers", "cropped", "exact_prompt"})
        QCOMPARE(run.at("layout").at(metric).get<int>(), row.at(metric).get<int>());
      // Two documents, the plus in the last child of the cross or before it, and the text after it.
      QVERIFY(row.at("markers").get<int>() >= 3);
      QCOMPARE(row.at("exact_prompt").get<int>(), rows[0].at("prompt").get<int>());
    }
  }

  /// Where only full blocks are kept, as servers do, pads save what half-filled blocks would cost.
  void padsPayWhereOnlyFullBlocksAreKept() {
    const Json rows = Json::parse(spanq({"explain", "--json", "--layouts", kRag}).out).at("layouts");
    const auto row = [&](const std::string& layout, int blockSize) {
      for (const Json& one : rows) {
        if (one.at("layout") == layout && one.at("block_size") == blockSize) return one;
      }
      return Json();
    };
    const auto swapped = [](const Json& one) { return one.at("swapped_full_blocks").at("least").get<int>(); };
    QVERIFY(swapped(row("padded", 16)) < swapped(row("exact", 16)));
    QVERIFY(row("padded", 16).at("computed").at("least") > row("exact", 16).at("computed").at("least"));
  }

  void saysWhatItIsExactAgainst() {
    const SpanqResult ran = spanq({"run", "--layout", "cropped", kRag});
    QVERIFY2(ran.code == 0, ran.err.c_str());
    QVERIFY(holds(ran.out, "policy spans, layout cropped ("));
    QVERIFY(holds(ran.out, "<over-padded-cropped>"));
    QVERIFY(holds(ran.out, " padding tokens in "));
    const SpanqResult plain = spanq({"run", kRag});
    QVERIFY(!holds(plain.out, "layout") && !holds(plain.out, " padding token"));
    const SpanqResult explained = spanq({"explain", "--predict", "--layout", "padded", kRag});
    QVERIFY(holds(explained.out, "policy spans, layout padded on spanlet"));
  }

  /// Nested generation: answers are cropped, and the text says so for all of them.
  void answersAreCropped() {
    const SpanqResult ran = spanq({"run", "--json", "--layout", "cropped", "--seed", "2", kJudge});
    QVERIFY2(ran.code == 0, ran.err.c_str());
    QVERIFY(Json::parse(ran.out).at("runs")[0].at("layout").at("cropped").get<int>() > 0);
    const SpanqResult text = spanq({"explain", "--layouts", kJudge});
    QVERIFY(holds(text.out, "<replies-at-their-longest>"));
  }

  void wrongNames() {
    const SpanqResult ran = spanq({"run", "--layout", "squeezed", kRag});
    QVERIFY(ran.code != 0);
    for (const char* name : {"exact", "padded", "cropped"}) QVERIFY2(holds(ran.err, name), ran.err.c_str());
    // The option implies a prediction.
    const SpanqResult padded = spanq({"explain", "--json", "--layout", "padded", kRag});
    QCOMPARE(padded.code, 0);
    QCOMPARE(padded.out, spanq({"explain", "--json", "--predict", "--layout", "padded", kRag}).out);
    QVERIFY(spanq({"explain", "--layouts", "--policy", "prefix", kRag}).code == 0);
  }
};

SPANSCOPE_TEST(tst_spanq_layouts, TestSpanqLayouts)
#include "tst_spanq_layouts.moc"
