// SPDX-License-Identifier: GPL-3.0-or-later
// Which models are offered the adapter that comes with the program.
#include "engine/policy/policies.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/run_options.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;

namespace {

/// The sizes of SmolLM2-135M.
model::ModelConfig smolLm() {
  model::ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.vocabularySize = 49152;
  config.hiddenSize = 576;
  config.intermediateSize = 1536;
  config.layers = 30;
  config.heads = 9;
  config.keyValueHeads = 3;
  config.headSize = 64;
  return config;
}

}  // namespace

class TestOfferedAdapter : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void offeredWhereItFits_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("hidden");
    QTest::addColumn<int>("keyHeads");
    QTest::addColumn<bool>("isTrained");
    QTest::addColumn<bool>("isOffered");
    QTest::newRow("its model") << 30 << 576 << 3 << false << true;
    QTest::newRow("trained already") << 30 << 576 << 3 << true << false;
    QTest::newRow("a layer less") << 29 << 576 << 3 << false << false;
    QTest::newRow("a layer more") << 31 << 576 << 3 << false << false;
    QTest::newRow("wider") << 30 << 960 << 3 << false << false;
    QTest::newRow("other key heads") << 30 << 576 << 9 << false << false;
  }
  void offeredWhereItFits() {
    QFETCH(int, layers);
    QFETCH(int, hidden);
    QFETCH(int, keyHeads);
    QFETCH(bool, isTrained);
    QFETCH(bool, isOffered);
    model::ModelConfig config = smolLm();
    config.layers = layers;
    config.hiddenSize = hidden;
    config.keyValueHeads = keyHeads;
    config.blockAttention = isTrained;
    const std::optional<workbench::OfferedAdapter> offered = workbench::offeredAdapter(config);
    QCOMPARE(offered.has_value(), isOffered);
    if (!offered) return;
    QCOMPARE(offered->name(), std::string("smollm2-135m-block"));
    QCOMPARE(offered->base, std::string("SmolLM2-135M-Instruct"));
  }

  /// The default policy is for checkpoints and adapters that were trained for it.
  void theUsualPolicyIsOfTheModel() {
    using workbench::usualPolicyOf;
    const std::string untrained = SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/bf16_gqa_tied";
    workbench::RunSettings settings;
    QCOMPARE(usualPolicyOf(settings), workbench::standardPolicy());
    settings.model = untrained;
    QCOMPARE(usualPolicyOf(settings), std::string(policy::policyForAnyCheckpoint().name));
    QVERIFY(policy::findChoice(usualPolicyOf(settings)).has_value());
    settings.adapter = untrained + "/adapter";
    QCOMPARE(usualPolicyOf(settings), workbench::standardPolicy());
    settings = {};
    settings.model = "/nowhere/at/all";
    QCOMPARE(usualPolicyOf(settings), workbench::standardPolicy());
  }
};

SPANSCOPE_TEST(tst_offered_adapter, TestOfferedAdapter, QCoreApplication)
#include "tst_offered_adapter.moc"
