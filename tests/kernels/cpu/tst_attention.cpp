// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/cpu_backend.h"
#include "tests/kernels/cpu/attention_scene.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/compare.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Rows of a scene cut at random.
std::vector<std::int32_t> randomChunks(std::int32_t rows, Random& random) {
  std::vector<std::int32_t> chunks;
  while (rows > 0) {
    chunks.push_back(static_cast<std::int32_t>(random.between(1, rows)));
    rows -= chunks.back();
  }
  return chunks;
}

QString failure(const Scene& scene, const Comparison& comparison) {
  return QString::fromStdString(comparison.text() + " in " + scene.text());
}

/// Checks results and mass of a scene against the reference; empty if all is well.
QString differs(compute::Backend& backend, const Scene& scene) {
  ReferenceBackend reference;
  const SceneResult actual = runScene(backend, scene);
  const SceneResult expected = runScene(reference, scene);
  const Comparison out = compareAbsolute(actual.out, expected.out, outTolerance(scene));
  if (!out.ok) return failure(scene, out);
  for (std::size_t i = 0; i < expected.mass.size(); ++i) {
    if (actual.mass[i].keyBlocks != expected.mass[i].keyBlocks ||
        actual.mass[i].keySpan != expected.mass[i].keySpan)
      return "key blocks differ in " + failure(scene, {});
    const Comparison mass = compareAbsolute(actual.mass[i].mass, expected.mass[i].mass,
                                            weightTolerance(scene) * scene.shape.rows);
    if (!mass.ok) return "mass: " + failure(scene, mass);
    const Comparison first = compareAbsolute(actual.mass[i].first, expected.mass[i].first,
                                             weightTolerance(scene) * scene.shape.rows);
    if (!first.ok) return "mass on first keys: " + failure(scene, first);
  }
  return {};
}

}  // namespace

class TestAttention : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250102);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void equalsReference_data() {
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("headSize");
    QTest::addColumn<int>("group");
    for (const int blockSize : {1, 2, 5, 16, 32, 100}) {
      for (const int headSize : {2, 6, 16, 64, 128}) {
        for (const int group : {1, 4, 8}) {
          QTest::addRow("blocks of %d, heads of %d, %d to a key head", blockSize, headSize, group)
              << blockSize << headSize << group;
        }
      }
    }
  }
  void equalsReference() {
    QFETCH(int, blockSize);
    QFETCH(int, headSize);
    QFETCH(int, group);
    Random random(m_seed);
    const auto backend = cpu::makeCpuBackend({2});
    for (const DType type : {DType::F32, DType::BF16}) {
      for (const std::int32_t rows : {1, 23}) {
        const Scene scene =
            makeScene({2 * group, 2, headSize, blockSize, type, 3, rows == 1 ? 200 : 70, rows}, random);
        const QString difference = differs(*backend, scene);
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
      }
    }
  }

  void equalsReferenceOnEachInstructionSet_data() { addInstructionSets(); }
  void equalsReferenceOnEachInstructionSet() {
    QFETCH(qlonglong, target);
    const UseInstructionSet use(target);
    Random random(m_seed + 1);
    const auto backend = cpu::makeCpuBackend({2});
    QCOMPARE(backend->info().instructionSet, std::string(hwy::TargetName(target)));
    for (int i = 0; i < 60; ++i) {
      const Scene scene = makeScene(randomShape(random), random);
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  void dependsOnTheRowAlone_data() { addInstructionSets(); }
  void dependsOnTheRowAlone() {
    QFETCH(qlonglong, target);
    const UseInstructionSet use(target);
    Random random(m_seed + 2);
    const auto one = cpu::makeCpuBackend({1});
    const auto two = cpu::makeCpuBackend({2});
    const auto three = cpu::makeCpuBackend({3});
    for (int i = 0; i < 40; ++i) {
      const Scene scene = makeScene(randomShape(random), random);
      const std::vector<float> expected = runScene(*one, scene).out;
      const auto check = [&](compute::Backend& backend, const Presentation& presentation, const char* what) {
        if (sameBits(runScene(backend, scene, presentation).out, expected)) return true;
        qWarning("%s: other bits in %s", what, scene.text().c_str());
        return false;
      };
      const std::int32_t rows = scene.shape.rows;
      QVERIFY(check(*two, {}, "two threads"));
      QVERIFY(check(*three, {}, "three threads"));
      QVERIFY(check(*two, {.blockSeed = 1 + random.next(), .chunks = {}}, "other blocks"));
      QVERIFY(check(*two, {.shift = random.between(-5000, 100000), .chunks = {}}, "another base"));
      QVERIFY(check(*two, {.chunks = randomChunks(rows, random), .reversed = true}, "chunks in one pass"));
      QVERIFY(check(*two, {.chunks = randomChunks(rows, random), .onePassPerChunk = true},
                    "a pass for each chunk"));
      const std::vector<std::int32_t> single(static_cast<std::size_t>(rows), 1);
      QVERIFY(check(*two, {.chunks = single, .onePassPerChunk = true}, "row by row"));
    }
  }

  void massSumsToRows() {
    Random random(m_seed + 3);
    const auto backend = cpu::makeCpuBackend({2});
    for (int i = 0; i < 60; ++i) {
      const Scene scene = makeScene(randomShape(random), random);
      for (const compute::RunMass& mass : runScene(*backend, scene).mass) {
        const std::size_t blocks = mass.mass.size() / static_cast<std::size_t>(scene.shape.queryHeads);
        for (std::size_t head = 0; head < static_cast<std::size_t>(scene.shape.queryHeads); ++head) {
          double sum = 0;
          for (std::size_t block = 0; block < blocks; ++block) {
            sum += static_cast<double>(mass.mass[head * blocks + block]);
          }
          QVERIFY2(std::abs(sum / scene.shape.rows - 1) < 1e-5, scene.text().c_str());
        }
      }
    }
  }

  void massAskedForOrNotGivesTheSame() {
    Random random(m_seed + 4);
    const Scene scene = makeScene({4, 2, 16, 16, DType::F32, 1, 20, 10}, random);
    const auto backend = cpu::makeCpuBackend({2});
    const compute::KvShape shape{1, 5, 16, 2, 16, DType::F32};
    const auto store = backend->makeKvStore(shape);
    const SceneSegment& segment = scene.segments[0];
    const auto keys = backend->makeTensor();
    const auto values = backend->makeTensor();
    const auto queries = backend->makeTensor();
    const auto out = backend->makeTensor();
    backend->upload(segment.keys, segment.tokens, 32, *keys);
    backend->upload(segment.values, segment.tokens, 32, *values);
    backend->upload(scene.queries, 10, 64, *queries);
    std::vector<std::int32_t> locals;
    std::vector<std::int64_t> places;
    for (std::int32_t token = 0; token < segment.tokens; ++token) {
      locals.push_back(token);
      places.push_back(16 + token);
    }
    backend->storeKeysValues(*keys, *values, scene.rotary, locals, places, 0, *store);
    const compute::KeyRange range{{1, 2, 3}, 0, segment.tokens, 0, true};
    const compute::QueryRun run{0, 10, scene.firstLocal(), 0, {range}};
    const auto plan = backend->planAttention(scene.attention(), scene.rotary, shape, std::span(&run, 1));
    std::vector<float> with(640);
    std::vector<float> without(640);
    std::vector<compute::RunMass> mass;
    const compute::MassRequest request{.runs = {0}, .keySpans = {}};
    backend->attend(*plan, *queries, *store, 0, *out, &request, &mass);
    backend->download(*out, with);
    backend->attend(*plan, *queries, *store, 0, *out, nullptr, nullptr);
    backend->download(*out, without);
    QVERIFY(sameBits(with, without));
    QCOMPARE(mass.size(), std::size_t{1});
  }

  void largeScoresStayFinite() {
    Random random(m_seed + 5);
    const auto backend = cpu::makeCpuBackend({2});
    Scene scene = makeScene({2, 2, 16, 16, DType::F32, 3, 100, 10}, random);
    for (float& value : scene.queries) value *= 200;
    for (const float value : runScene(*backend, scene).out) QVERIFY(std::isfinite(value));
  }

  void distantPositionsKeepTheirPrecision() {
    // Half a million positions away the angle itself has lost bits in f32; the distance has not.
    Random random(m_seed + 6);
    const auto backend = cpu::makeCpuBackend({2});
    Scene scene = makeScene({4, 2, 64, 16, DType::F32, 3, 60, 10}, random);
    scene.segments[0].base = -500000;
    scene.segments[1].base = 700000;
    const QString difference = differs(*backend, scene);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void rowWithoutKeysGivesZero() {
    const auto backend = cpu::makeCpuBackend({1});
    const compute::KvShape shape{1, 2, 16, 1, 4, DType::F32};
    const auto store = backend->makeKvStore(shape);
    const auto queries = backend->makeTensor();
    const auto out = backend->makeTensor();
    backend->upload(std::vector<float>{1, 2, 3, 4}, 1, 4, *queries);
    const compute::KeyRange range{{}, 0, 0, 0, false};
    const compute::QueryRun run{0, 1, 0, 0, {range}};
    const auto plan = backend->planAttention({1, 1, 4, 0.5F}, {{1.0, 0.1}, 1}, shape, std::span(&run, 1));
    backend->attend(*plan, *queries, *store, 0, *out, nullptr, nullptr);
    std::vector<float> result(4);
    backend->download(*out, result);
    QCOMPARE(result, std::vector<float>(4, 0.0F));
  }

 private:
  static void addInstructionSets() {
    QTest::addColumn<qlonglong>("target");
    for (const std::int64_t target : availableInstructionSets()) {
      QTest::addRow("%s", hwy::TargetName(target)) << static_cast<qlonglong>(target);
    }
  }

  std::uint64_t m_seed = 0;
};

QTEST_APPLESS_MAIN(TestAttention)
#include "tst_attention.moc"
