// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of the backend, with and without its mass, on shapes that are whole in nothing: a sample in which
// every two values of rows, keys, heads, groups, blocks and types meet.
#include "kernels/cuda/backend/cuda_backend.h"
#include "tests/kernels/attention_scene.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/compare.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;

Q_DECLARE_METATYPE(spanscope::testing::SceneShape)

namespace {

constexpr double kUnit = 0x1p-8;
/// Of all results of a scene: queries and keys are rounded, and weights and results.
constexpr double kNormError = 4 * kUnit;

std::int64_t productsOf(const SceneShape& shape) {
  const std::int64_t keys = shape.segments * shape.mostTokens / 2 + shape.rows;
  return keys * shape.rows * shape.queryHeads * shape.headSize;
}

}  // namespace

class TestRaggedShapes : public QObject {
  Q_OBJECT

 private:
  std::uint64_t m_seed = testSeed(20251125);
  double m_worst = 0;

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void attentionEqualsReference_data() {
    QTest::addColumn<SceneShape>("shape");
    const std::vector<std::int32_t> rows{1, 2, 15, 16, 17, 63, 64, 65, 250, 1000};
    const std::vector<std::int32_t> keys{1, 31, 64, 257, 1300, 5000};
    const std::vector<std::int32_t> sizes{32, 64, 80, 96, 128, 256};
    const std::vector<std::int32_t> groups{1, 2, 3, 5, 8, 16};
    const std::vector<std::int32_t> blockSizes{1, 3, 16, 32, 128};
    const std::vector<std::int32_t> segments{1, 2, 5};
    Random random(m_seed);
    // The emulation does some ten million products a second; SPANSCOPE_MILLION_PRODUCTS lets it do more.
    const std::int64_t most =
        std::max(4, qEnvironmentVariableIntValue("SPANSCOPE_MILLION_PRODUCTS")) * std::int64_t{1'000'000};
    const auto add = [](const SceneShape& shape) {
      QTest::addRow("%d rows, %d times up to %d keys, %d heads of %d on %d, blocks of %d, %s", shape.rows,
                    shape.segments, shape.mostTokens, shape.queryHeads, shape.headSize, shape.keyHeads,
                    shape.blockSize, compute::nameOf(shape.type))
          << shape;
    };
    for (const auto& choice : pairwiseSample(
             {rows.size(), keys.size(), sizes.size(), groups.size(), blockSizes.size(), segments.size(), 2},
             random)) {
      SceneShape shape;
      shape.rows = rows[choice[0]];
      shape.headSize = sizes[choice[2]];
      shape.keyHeads = choice[1] < 2 ? 2 : 1;
      shape.queryHeads = shape.keyHeads * groups[choice[3]];
      shape.blockSize = blockSizes[choice[4]];
      shape.segments = segments[choice[5]];
      shape.mostTokens = std::max(1, keys[choice[1]] / shape.segments);
      shape.type = choice[6] == 0 ? DType::BF16 : DType::F32;
      while (productsOf(shape) > most && (shape.rows > 1 || shape.mostTokens > 1)) {
        if (shape.rows > shape.mostTokens * shape.segments / 4)
          shape.rows = (shape.rows + 1) / 2;
        else
          shape.mostTokens = (shape.mostTokens + 1) / 2;
      }
      add(shape);
    }
    // What that cuts down, at its full length.
    add({.queryHeads = 1,
         .keyHeads = 1,
         .headSize = 32,
         .blockSize = 3,
         .type = DType::BF16,
         .segments = 2,
         .mostTokens = 100,
         .rows = 1000});
    add({.queryHeads = 2,
         .keyHeads = 1,
         .headSize = 64,
         .blockSize = 1,
         .type = DType::BF16,
         .segments = 3,
         .mostTokens = 2000,
         .rows = 33});
    add({.queryHeads = 16,
         .keyHeads = 1,
         .headSize = 256,
         .blockSize = 128,
         .type = DType::F32,
         .segments = 3,
         .mostTokens = 2500,
         .rows = 1});
  }
  void attentionEqualsReference() {
    QFETCH(SceneShape, shape);
    Random random(m_seed);
    const Scene scene = makeScene(shape, random);
    ReferenceBackend reference;
    const SceneResult expected = runScene(reference, scene);
    const auto card = cuda::makeCudaBackend(cuda::CudaOptions());
    for (const bool observed : {false, true}) {
      Presentation presentation;
      presentation.observed = observed;
      const SceneResult actual = runScene(*card, scene, presentation);
      const Comparison out = compareAbsolute(actual.out, expected.out, outTolerance(scene, kUnit));
      QVERIFY2(out.ok, (out.text() + " in " + scene.text()).c_str());
      // Single elements may be off by as much where one key has all the weight; all of them together are not.
      const double error = relativeError(actual.out, expected.out);
      QVERIFY2(error <= kNormError, (std::to_string(error) + " of the norm in " + scene.text()).c_str());
      m_worst = std::max(m_worst, error);
      for (std::size_t i = 0; i < actual.mass.size(); ++i) {
        const double tolerance = weightTolerance(scene, kUnit) * shape.rows;
        const Comparison mass = compareAbsolute(actual.mass[i].mass, expected.mass[i].mass, tolerance);
        QVERIFY2(mass.ok, ("mass: " + mass.text() + " in " + scene.text()).c_str());
        const Comparison first = compareAbsolute(actual.mass[i].first, expected.mass[i].first, tolerance);
        QVERIFY2(first.ok, ("mass: " + first.text() + " in " + scene.text()).c_str());
      }
    }
  }

  void cleanupTestCase() { qInfo("at worst %.4f of the norm", m_worst); }
};

SPANSCOPE_TEST(tst_ragged_shapes, TestRaggedShapes)
#include "tst_ragged_shapes.moc"
