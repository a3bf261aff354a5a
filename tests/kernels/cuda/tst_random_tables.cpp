// SPDX-License-Identifier: GPL-3.0-or-later
// A whole decoder on the emulated card, on random span tables with scopes three deep, against the decoder in
// double precision.
#include "engine/experiment/table_pass.h"
#include "engine/model/decoder.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "tests/engine/run/random_tables.h"
#include "tests/support/compare.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;

namespace {

/// Of all logits of a table: what bf16 through all layers may be off.
constexpr double kNormError = 0.02;
constexpr int kDepth = 3;

model::ModelConfig smallConfig() {
  model::ModelConfig config = model::namedShape("3m");
  config.vocabularySize = 96;
  config.hiddenSize = 64;
  config.intermediateSize = 96;
  config.layers = 3;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 32;
  return config;
}

struct Model {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::WeightSource> weights = model::makeRandomWeights(smallConfig(), 3);
  std::unique_ptr<model::Decoder> decoder;

  explicit Model(std::unique_ptr<compute::Backend> device) : backend(std::move(device)) {
    decoder = std::make_unique<model::Decoder>(smallConfig(), *weights, *backend);
  }
  std::vector<float> logits(const layout::SpanTable& table, compute::DType type) const {
    std::vector<float> all;
    const auto give = [&](std::int64_t, std::span<const float> logits) {
      all.insert(all.end(), logits.begin(), logits.end());
    };
    experiment::computeTable(*decoder, *backend, table, give, {}, type);
    return all;
  }
};

/// The same tokens, each of them seen by all that follow.
layout::SpanTable flattened(const layout::SpanTable& table) {
  layout::Segment whole;
  for (const layout::Segment& segment : table.segments)
    whole.tokens.insert(whole.tokens.end(), segment.tokens.begin(), segment.tokens.end());
  return {.segments = {whole}};
}

}  // namespace

class TestRandomTables : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void logitsEqualTheReference_data() {
    QTest::addColumn<bool>("isFloat");
    QTest::newRow("keys and values in bf16") << false;
    QTest::newRow("keys and values in f32") << true;
  }
  void logitsEqualTheReference() {
    QFETCH(bool, isFloat);
    const compute::DType type = isFloat ? compute::DType::F32 : compute::DType::BF16;
    const std::uint64_t seed = testSeed(20251126);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    const Model card(cuda::makeCudaBackend(cuda::CudaOptions()));
    const Model reference(std::make_unique<ReferenceBackend>());
    test::RandomTables tables(seed, smallConfig().vocabularySize, 20);
    double worst = 0;
    std::uint32_t deepest = 0;
    // The reference is slow; SPANSCOPE_RANDOM_TABLES lets it do more.
    const int count = std::max(6, qEnvironmentVariableIntValue("SPANSCOPE_RANDOM_TABLES"));
    for (int i = 0; i < count; ++i) {
      const layout::SpanTable table = tables.next(kDepth);
      for (const layout::Segment& segment : table.segments) deepest = std::max(deepest, segment.depth);
      const std::vector<float> expected = reference.logits(table, type);
      const double error = relativeError(card.logits(table, type), expected);
      QVERIFY2(error <= kNormError, qPrintable(QString("table %1: %2 of the norm").arg(i).arg(error)));
      worst = std::max(worst, error);
      // The measure distinguishes one mask from the other.
      const bool hasSpans = std::any_of(table.segments.begin(), table.segments.end(),
                                        [](const auto& segment) { return segment.independent; });
      if (hasSpans && table.segments.size() > 4)
        QVERIFY(relativeError(card.logits(flattened(table), type), expected) > 2 * kNormError);
    }
    qInfo("at worst %.4f of the norm", worst);
    QCOMPARE(deepest, std::uint32_t{kDepth});
  }
};

SPANSCOPE_TEST(tst_random_tables, TestRandomTables)
#include "tst_random_tables.moc"
