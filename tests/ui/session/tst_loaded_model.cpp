// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of a model is what was loaded.
#include "engine/model/weights.h"
#include "engine/workbench/model_bundle.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/session/model_choices.h"

#include <QTest>

#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

class TestLoadedModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Biases among them.
  void countsEveryParameter_data() {
    QTest::addColumn<bool>("tied");
    QTest::addColumn<bool>("biases");
    for (const bool tied : {false, true}) {
      for (const bool biases : {false, true})
        QTest::addRow("%s, %s", tied ? "tied" : "untied", biases ? "biases" : "none") << tied << biases;
    }
  }
  void countsEveryParameter() {
    QFETCH(bool, tied);
    QFETCH(bool, biases);
    const auto bundle = std::make_shared<workbench::ModelBundle>();
    bundle->config.vocabularySize = 100;
    bundle->config.hiddenSize = 32;
    bundle->config.intermediateSize = 48;
    bundle->config.layers = 2;
    bundle->config.heads = 4;
    bundle->config.keyValueHeads = 2;
    bundle->config.headSize = 8;
    bundle->config.tiedEmbeddings = tied;
    bundle->config.attentionBias = biases;
    bundle->config.outputBias = biases;
    bundle->config.mlpBias = biases;
    bundle->device = test::cpuBackends().choose("cpu");
    bundle->backend = bundle->device.kind.make({.threads = 1});
    const auto weights = model::makeRandomWeights(bundle->config, 1);
    bundle->decoder = std::make_unique<model::Decoder>(bundle->config, *weights, *bundle->backend);
    double expected = 100 * 32 * (tied ? 1 : 2) + 32;
    expected += 2 * (32 * 32 * 2 + 32 * 16 * 2 + 3 * 32 * 48 + 2 * 32);
    if (biases) expected += 2 * (32 + 16 + 16 + 32 + 48 + 48 + 32);
    QCOMPARE(loadedModelOf(bundle).parameters, expected);
  }
};

SPANSCOPE_TEST(tst_loaded_model, TestLoadedModel, QCoreApplication)
#include "tst_loaded_model.moc"
