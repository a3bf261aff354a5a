// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of the reported values. Developers look at the measurements themselves.
#include "engine/experiment/abba.h"
#include "engine/experiment/speed.h"
#include "engine/experiment/statistics.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QTest>

using namespace spanscope;

class TestBenchFigures : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void summaryOfNothingIsZero();
  void summaryTakesMedianAndQuartiles();
  void costsOfOneLayer();
  void promptCountsCausalKeys();
  void generationReadsWeightsOnceAToken();
  void testNames();
  void abbaPoolHoldsEverything();
  void abbaFloorByHand();
  void arithmeticThatADeviceLacks();
};

namespace {

/// Shapes with distinct factors, so that a mixed-up one shows.
model::ModelConfig smallConfig() {
  model::ModelConfig config;
  config.vocabularySize = 11;
  config.hiddenSize = 6;
  config.intermediateSize = 7;
  config.layers = 3;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 5;
  return config;
}

// By hand: 3·(6·20 + 2·6·10 + 20·6 + 3·6·7) = 3·486 weights in the layers, 11·6 in the output matrix.
constexpr double kLayerWeights = 1458;
constexpr double kOutputWeights = 66;
constexpr double kAttentionPerKey = 4 * 3 * 20;
constexpr double kKeyValueBytes = 2 * 3 * 10 * 4;

}  // namespace

void TestBenchFigures::summaryOfNothingIsZero() {
  const experiment::Summary summary = experiment::summarize({});
  QCOMPARE(summary.median, 0.0);
  QCOMPARE(summary.upper, 0.0);
}

void TestBenchFigures::summaryTakesMedianAndQuartiles() {
  const experiment::Summary odd = experiment::summarize({5, 1, 3, 2, 4});
  QCOMPARE(odd.median, 3.0);
  QCOMPARE(odd.lower, 2.0);
  QCOMPARE(odd.upper, 4.0);
  QCOMPARE(odd.samples, (std::vector<double>{5, 1, 3, 2, 4}));
  const experiment::Summary even = experiment::summarize({4, 1, 3, 2});
  QCOMPARE(even.median, 2.5);
  QCOMPARE(even.lower, 1.75);
  QCOMPARE(experiment::summarize({7}).upper, 7.0);
}

void TestBenchFigures::costsOfOneLayer() {
  const experiment::ModelCost cost = experiment::costOf(smallConfig(), 2, 4);
  QCOMPARE(cost.layerFlops, 2 * kLayerWeights);
  QCOMPARE(cost.outputFlops, 2 * kOutputWeights);
  QCOMPARE(cost.attentionFlops, kAttentionPerKey);
  QCOMPARE(cost.weightBytes, 2 * (kLayerWeights + kOutputWeights));
  QCOMPARE(cost.keyValueBytes, kKeyValueBytes);
}

void TestBenchFigures::promptCountsCausalKeys() {
  const experiment::ModelCost cost = experiment::costOf(smallConfig(), 2, 4);
  // Three rows after ten tokens read 11, 12 and 13 keys.
  QCOMPARE(experiment::promptFlops(cost, 10, 3),
           3 * 2 * kLayerWeights + 2 * kOutputWeights + kAttentionPerKey * (11 + 12 + 13));
}

void TestBenchFigures::generationReadsWeightsOnceAToken() {
  const experiment::ModelCost cost = experiment::costOf(smallConfig(), 4, 4);
  QCOMPARE(experiment::generationBytes(cost, 10, 2),
           2 * 4 * (kLayerWeights + kOutputWeights) + kKeyValueBytes * (11 + 12));
}

void TestBenchFigures::testNames() {
  using Kind = experiment::SpeedTest::Kind;
  QCOMPARE((experiment::SpeedTest{.kind = Kind::Prompt, .count = 512, .depth = 0}.name()),
           std::string("pp512"));
  QCOMPARE((experiment::SpeedTest{.kind = Kind::Generation, .count = 64, .depth = 4096}.name()),
           std::string("tg64 @ d4096"));
}

void TestBenchFigures::abbaPoolHoldsEverything() {
  experiment::AbbaOptions options;
  options.documentTokens = {64, 100};
  options.documents = 3;
  options.systemTokens = 17;
  options.questionTokens = 16;
  // 2 blocks of system, 3·7 of documents, room for questions to pass, the null block.
  QVERIFY(experiment::abbaBlocks(options, 16) >= 2 + 3 * 7 + 2 + 1);
  QVERIFY(experiment::abbaBlocks(options, 16) < 100);
}

void TestBenchFigures::abbaFloorByHand() {
  experiment::AbbaRow row;
  row.expectedCachedTokens = 1000;
  row.alone.seconds.median = 0.25;
  const experiment::ModelCost cost{.attentionFlops = 64, .keyValueBytes = 256};
  compute::MachineRates machine;
  machine.flops = 1e6;
  machine.bytesPerSecond = 512'000;
  // 1000 tokens of 256 bytes, once; 32 rows, each with 64 operations a token.
  experiment::AbbaFloor floor = experiment::abbaFloor(row, 32, cost, machine);
  QCOMPARE(floor.readSeconds, 0.5);
  QCOMPARE(floor.multiplySeconds, 2.048);
  QCOMPARE(floor.seconds(), 0.75);
  QCOMPARE(floor.boundSeconds(), 2.298);
  // Fewer rows are multiplied while the keys are read.
  floor = experiment::abbaFloor(row, 1, cost, machine);
  QCOMPARE(floor.boundSeconds(), floor.seconds());
}

void TestBenchFigures::arithmeticThatADeviceLacks() {
  using compute::MachineRates;
  const MachineRates machine{.flops = 100, .byteOperations = 400};
  QCOMPARE(machine.arithmetic(&MachineRates::flops), 100.0);
  QCOMPARE(machine.arithmetic(&MachineRates::byteOperations), 400.0);
  QCOMPARE(machine.arithmetic(&MachineRates::bf16Flops), 100.0);
}

SPANSCOPE_TEST(tst_bench_figures, TestBenchFigures)
#include "tst_bench_figures.moc"
