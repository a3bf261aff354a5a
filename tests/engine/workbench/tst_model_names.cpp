// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/model_names.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::workbench;

class TestModelNames : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aNameMeansACheckpoint() {
    QVERIFY(meansModel("spanlet", "spanlet"));
    QVERIFY(meansModel("spnl/spanlet", "spanlet"));
    QVERIFY(meansModel("/models/spanlet", "spanlet"));
    QVERIFY(meansModel("/models/spanlet-Q4.gguf", "spanlet-Q4"));
    QVERIFY(meansModel("/hub/models--org--spanlet/snapshots/0123abcd", "spanlet"));
    QVERIFY(!meansModel("/models/spanlet-Q4.gguf", "spanlet"));
    QVERIFY(meansModel("", "spanlet"));
    QVERIFY(!meansModel("spanlet", "smollm2"));
    QVERIFY(!meansModel("spanlet/", "spanlet"));
    QVERIFY(meansModel("spanlet", "spanlet + taught"));
    QVERIFY(!meansModel("taught", "spanlet + taught"));
    QVERIFY(!meansModel("spanle", "spanlet + taught"));
    // The name of a GGUF file often ends with the type of the weights.
    for (const char* file : {"spanlet.Q4_1", "spanlet-Q4_K_M", "spanlet-q8_0", "spanlet-IQ4_XS",
                             "spanlet.F16", "spanlet-bf16", "spanlet-Q4_0 + taught"})
      QVERIFY2(meansModel("spnl/spanlet", file), file);
    for (const char* file : {"spanlet-Q", "spanlet-Qwen3", "spanlet-3", "spanlet-Q9_0", "spanlet-instruct"})
      QVERIFY2(!meansModel("spnl/spanlet", file), file);
    QVERIFY(!meansModel("spanlet.Q8_0", "spanlet.Q4_1"));
    QCOMPARE(adaptedName("spanlet", "/adapters/taught/"), std::string("spanlet + taught"));
    RunSettings settings;
    settings.model = "/models/smollm2";
    settings.adapter = "/adapters/block";
    QCOMPARE(modelNameOf(settings), std::string("smollm2 + block"));
  }

  void otherModelsAreNamedOnce() {
    const auto read = query::parseJson(R"({"g": {"model": "openai/gpt", "input": {"plus": [
        {"g": {"model": "spnl/spanlet", "input": {"user": "a"}}},
        {"g": {"model": "{model}", "input": {"user": "a"}}},
        {"g": {"model": "openai/gpt", "input": {"user": "b"}}},
        {"g": {"model": "llama", "input": {"user": "b"}}}]}}})");
    QVERIFY(read.query);
    const std::vector<std::string> expected{"openai/gpt", "llama"};
    QCOMPARE(otherModels(*read.query, "spanlet"), expected);
  }

  void standsForSeveral() {
    RunSettings settings;
    QVERIFY(stoodFor(settings).empty());
    standFor(settings, "openai/gpt");
    standFor(settings, "llama");
    standFor(settings, "llama");
    QCOMPARE(settings.standsFor, std::string("openai/gpt, llama"));
    const std::vector<std::string> expected{"openai/gpt", "llama"};
    QCOMPARE(stoodFor(settings), expected);
    settings.standsFor = " , a b ,,c";
    const std::vector<std::string> loose{"a b", "c"};
    QCOMPARE(stoodFor(settings), loose);
  }
};

SPANSCOPE_TEST(tst_model_names, TestModelNames, QCoreApplication)
#include "tst_model_names.moc"
