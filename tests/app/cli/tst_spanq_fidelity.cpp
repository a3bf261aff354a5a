// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq run --fidelity`.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using spanscope::product_text::says;
using spanscope::test::spanq;

namespace {

std::string example(const std::string& name) {
  return SPANSCOPE_SOURCE_DIR "/resources/queries/" + name;
}

json fidelityOf(const std::string& policy, const std::string& file) {
  const auto run = spanq({"run", "--fidelity", "--json", "--policy", policy, example(file)});
  if (run.code != 0) return {};
  return json::parse(run.out)["runs"][0]["fidelity"];
}

}  // namespace

class TestSpanqFidelity : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void prefixDiffersInNothing() {
    const json fidelity = fidelityOf("prefix", "judge-2.json");
    QVERIFY(!fidelity.is_null());
    QCOMPARE(fidelity["divergence_most_nats"].get<double>(), 0.0);
    QCOMPARE(fidelity["greedy_tokens_that_agree"].get<int>(), fidelity["tokens"].get<int>());
    QCOMPARE(fidelity["answers_with_same_tokens"].get<int>(), fidelity["answers_compared"].get<int>());
    for (const json& deviation : fidelity["attention_deviation_by_layer"])
      QCOMPARE(deviation.get<double>(), 0.0);
  }

  void everyStepAndTokenIsThere() {
    const json fidelity = fidelityOf("spans", "rag.json");
    QCOMPARE(fidelity["steps"].size(), std::size_t{1});
    const json& step = fidelity["steps"][0];
    QCOMPARE(step["by_token"].size(), step["tokens"].get<std::size_t>());
    double sum = 0;
    for (const json& token : step["by_token"]) sum += token["divergence_nats"].get<double>();
    QVERIFY(sum > 0);
    const double mean = step["divergence_mean_nats"].get<double>();
    QVERIFY(std::abs(mean - sum / static_cast<double>(step["by_token"].size())) < 1e-15);
    QVERIFY(step["full_answer"].get<std::string>().find("Biscuit") != std::string::npos);
  }

  void textSaysWhatItIsHeldAgainst() {
    const auto run = spanq({"run", "--fidelity", example("rag.json")});
    QCOMPARE(run.code, 0);
    QVERIFY(says(run.out, "<fidelity-heading>"));
    QVERIFY(run.out.find("8 of 8") != std::string::npos);
    QVERIFY(spanq({"run", example("rag.json")}).out.find("fidelity") == std::string::npos);
  }

  /// Under the fast arithmetic it is said too how far that is from f32, of the same text.
  void fastIsHeldAgainstF32() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("run.trace").toStdString();
    const auto run =
        spanq({"run", "--fidelity", "--arithmetic", "fast", "--trace", file, example("judge-2.json")});
    QCOMPARE(run.code, 0);
    QCOMPARE(run.err, std::string());
    QVERIFY(run.out.find("  full prefill under fast ≈ in f32: KL ") != std::string::npos);
    QVERIFY(spanq({"trace", "show", file}).out.find("arithmetic_measured") != std::string::npos);
    const auto printed =
        spanq({"run", "--fidelity", "--json", "--arithmetic", "fast", example("judge-2.json")});
    QCOMPARE(printed.code, 0);
    const json fidelity = json::parse(printed.out)["runs"][0]["fidelity"];
    const json& whole = fidelity["arithmetic_against_f32"];
    QCOMPARE(whole["arithmetic"].get<std::string>(), std::string("fast"));
    QCOMPARE(whole["tokens"].get<int>(), fidelity["tokens"].get<int>());
    // What is rounded to bf16 moves the next token little.
    QVERIFY(whole["divergence_most_nats"].get<double>() < 0.5);
    for (const json& step : fidelity["steps"])
      QCOMPARE(step["arithmetic_by_token"].size(), step["tokens"].get<std::size_t>());
    // In f32 there is nothing to compare.
    const auto exact = spanq({"run", "--fidelity", "--json", example("judge-2.json")});
    QVERIFY(exact.out.find("arithmetic_against_f32") == std::string::npos);
  }

  void isInTheTrace() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("run.trace").toStdString();
    QCOMPARE(spanq({"run", "--fidelity", "--trace", file, example("rag.json")}).code, 0);
    const auto shown = spanq({"trace", "show", file});
    QVERIFY(shown.out.find("fidelity_measured") != std::string::npos);
    QVERIFY(shown.out.find("8 of 8 tokens agree") != std::string::npos);
  }
};

SPANSCOPE_TEST(tst_spanq_fidelity, TestSpanqFidelity)
#include "tst_spanq_fidelity.moc"
