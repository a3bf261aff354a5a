// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "tests/kernels/attention_scene.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/equal_bits.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;

namespace {

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
  const double unit = activationUnit(backend);
  const SceneResult actual = runScene(backend, scene);
  const SceneResult expected = runScene(reference, scene);
  const Comparison out = compareAbsolute(actual.out, expected.out, outTolerance(scene, unit));
  if (!out.ok) return failure(scene, out);
  // A device may have other kernels for what nobody looks at.
  Presentation unobserved;
  unobserved.observed = false;
  const std::vector<float> plain = runScene(backend, scene, unobserved).out;
  const Comparison other = compareAbsolute(plain, expected.out, outTolerance(scene, unit));
  if (!other.ok) return "unobserved: " + failure(scene, other);
  if (unit > 0x1p-24 && !(relativeError(plain, expected.out) <= 8 * unit))
    return QString::number(relativeError(plain, expected.out)) +
           " of the norm, unobserved: " + failure(scene, other);
  // What tensors round is seen in all elements together sooner than in one.
  if (unit > 0x1p-24 && !(relativeError(actual.out, expected.out) <= 8 * unit))
    return QString::number(relativeError(actual.out, expected.out)) + " of the norm, " + failure(scene, out);
  for (std::size_t i = 0; i < expected.mass.size(); ++i) {
    if (actual.mass[i].keyBlocks != expected.mass[i].keyBlocks ||
        actual.mass[i].keySpan != expected.mass[i].keySpan)
      return "key blocks differ in " + failure(scene, {});
    const Comparison mass = compareAbsolute(actual.mass[i].mass, expected.mass[i].mass,
                                            weightTolerance(scene, unit) * scene.shape.rows);
    if (!mass.ok) return "mass: " + failure(scene, mass);
    const Comparison first = compareAbsolute(actual.mass[i].first, expected.mass[i].first,
                                             weightTolerance(scene, unit) * scene.shape.rows);
    if (!first.ok) return "mass on first keys: " + failure(scene, first);
  }
  return {};
}

/// So that all devices choose by the same numbers.
void roundToBf16(Scene& scene) {
  const auto round = [](std::vector<float>& values) {
    for (float& value : values) value = compute::floatFromBf16(compute::bf16FromFloat(value));
  };
  round(scene.queries);
  for (SceneSegment& segment : scene.segments) {
    round(segment.keys);
    round(segment.values);
  }
}

/// A random scene with heads that the device has.
Scene randomScene(compute::Backend& backend, Random& random) {
  SceneShape shape = randomShape(random);
  while (!takesHeads(backend, shape.headSize)) shape = randomShape(random);
  if (random.below(2) == 0) shape.window = static_cast<std::int32_t>(random.between(1, 90));
  if (random.below(3) == 0) shape.positionScale = {.beta = 0.4F, .step = random.between(1, 60)};
  if (random.below(3) == 0) shape.softCap = 0.5F + static_cast<float>(random.between(0, 5));
  return makeScene(shape, random);
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
    addDeviceColumns();
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("headSize");
    QTest::addColumn<int>("group");
    for (const std::string& device : test::presentDevices()) {
      for (const int blockSize : {1, 2, 5, 16, 32, 100}) {
        for (const int headSize : {2, 6, 16, 64, 128}) {
          for (const int group : {1, 4, 8}) {
            QTest::addRow("%s, blocks of %d, heads of %d, %d to a key head", device.c_str(), blockSize,
                          headSize, group)
                << QString::fromStdString(device) << qlonglong{0} << blockSize << headSize << group;
          }
        }
      }
    }
  }
  void equalsReference() {
    QFETCH(int, blockSize);
    QFETCH(int, headSize);
    QFETCH(int, group);
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make();
    if (!takesHeads(*backend, headSize)) QSKIP("no heads of this size on this device");
    for (const DType type : {DType::F32, DType::BF16}) {
      for (const std::int32_t rows : {1, 23}) {
        const Scene scene =
            makeScene({2 * group, 2, headSize, blockSize, type, 3, rows == 1 ? 200 : 70, rows}, random);
        const QString difference = differs(*backend, scene);
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
      }
    }
  }

  void equalsReferenceOnEachDevice_data() { addDevices(); }
  void equalsReferenceOnEachDevice() {
    const DeviceInUse device;
    Random random(m_seed + 1);
    const auto backend = device.make();
    QFETCH(qlonglong, target);
    if (target > 0) QCOMPARE(backend->info().instructionSet, testing::shownName(target));
    for (int i = 0; i < device.rounds(60); ++i) {
      const Scene scene = randomScene(*backend, random);
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  void dependsOnTheRowAlone_data() { addDevices(); }
  void dependsOnTheRowAlone() {
    const DeviceInUse device;
    Random random(m_seed + 2);
    const auto one = device.make(1);
    const auto two = device.make(2);
    const auto three = device.make(3);
    if (!one->info().rowsAreBitEqual) QSKIP("rows need not be bit-equal on this device");
    for (int i = 0; i < device.rounds(40); ++i) {
      Scene scene = randomScene(*one, random);
      if (i % 2 == 1) scene.shape.mostBlocks = 2 + i % 7;
      scene.shape.positionScale = {};  // another base would be another problem
      const std::vector<float> expected = runScene(*one, scene).out;
      const auto check = [&](compute::Backend& backend, const Presentation& presentation, const char* what) {
        if (equalBits(runScene(backend, scene, presentation).out, expected)) return true;
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

  /// Few rows may be split along their keys, many are not: rows of long segments, all at once and one by one.
  void longSegmentsDependOnTheRowAlone_data() { addDevices(); }
  void longSegmentsDependOnTheRowAlone() {
    const DeviceInUse device;
    Random random(m_seed + 20);
    const auto one = device.make(1);
    const auto three = device.make(3);
    if (!one->info().rowsAreBitEqual) QSKIP("rows need not be bit-equal on this device");
    for (int i = 0; i < device.rounds(12); ++i) {
      SceneShape shape = randomShape(random);
      while (!takesHeads(*one, shape.headSize)) shape = randomShape(random);
      shape.blockSize = std::array{16, 24, 64, 100}[static_cast<std::size_t>(i % 4)];
      shape.mostTokens = 1700;
      shape.segments = 1 + i % 3;
      shape.rows = 30;
      shape.mostBlocks = 0;
      shape.window = i % 4 == 3 ? 700 : 0;
      shape.positionScale = {};
      const Scene scene = makeScene(shape, random);
      const std::vector<float> expected = runScene(*one, scene).out;
      const std::vector<std::int32_t> single(static_cast<std::size_t>(shape.rows), 1);
      for (compute::Backend* const backend : {one.get(), three.get()}) {
        QVERIFY2(
            equalBits(runScene(*backend, scene, {.chunks = single, .onePassPerChunk = true}).out, expected),
            scene.text().c_str());
        QVERIFY2(equalBits(runScene(*backend, scene, {.blockSeed = random.next(), .chunks = single}).out,
                           expected),
                 scene.text().c_str());
      }
      const QString difference = differs(*three, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  /// Less than a block, cuts inside of tiles and between them, over several segments, and wider than all.
  void windowsEqualReference_data() {
    addDeviceColumns();
    QTest::addColumn<int>("window");
    QTest::addColumn<int>("rows");
    for (const std::string& device : test::presentDevices()) {
      for (const int window : {1, 3, 15, 16, 17, 63, 64, 65, 200, 300, 1000}) {
        for (const int rows : {1, 23, 70}) {
          QTest::addRow("%s, %d rows, a window of %d", device.c_str(), rows, window)
              << QString::fromStdString(device) << qlonglong{0} << window << rows;
        }
      }
    }
  }
  void windowsEqualReference() {
    QFETCH(int, window);
    QFETCH(int, rows);
    const DeviceInUse device;
    Random random(m_seed + 8);
    const auto backend = device.make();
    for (const DType type : {DType::F32, DType::BF16}) {
      Scene scene = makeScene({4, 2, 64, 16, type, 4, 200, rows}, random);
      // One after the other, so that windows end in each.
      std::int64_t base = 0;
      for (SceneSegment& segment : scene.segments) {
        segment.base = base;
        base += segment.tokens;
      }
      scene.shape.window = window;
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  void windowsWiderThanAllChangeNothing_data() { addDevices(); }
  void windowsWiderThanAllChangeNothing() {
    const DeviceInUse device;
    Random random(m_seed + 8);
    const auto backend = device.make();
    Scene scene = makeScene({4, 2, 64, 16, DType::BF16, 3, 60, 20}, random);
    const std::vector<float> all = runScene(*backend, scene).out;
    for (const std::int32_t window : {1 << 20, std::numeric_limits<std::int32_t>::max()}) {
      scene.shape.window = window;
      QVERIFY(equalBits(runScene(*backend, scene).out, all));
    }
    scene.shape.window = 3;
    QVERIFY(!equalBits(runScene(*backend, scene).out, all));
  }

  void scaledPositionsEqualReference_data() {
    addDeviceColumns();
    QTest::addColumn<int>("step");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("mostBlocks");
    for (const DeviceVariant& variant : deviceVariants()) {
      for (const int step : {1, 7, 64, 100000}) {
        for (const int rows : {1, 5, 40}) {
          for (const int mostBlocks : {0, 3}) {
            QTest::addRow("%s, %d rows, of all blocks but for %d, steps of %d", variant.name.c_str(), rows,
                          mostBlocks, step)
                << QString::fromStdString(variant.device) << qlonglong{variant.target} << step << rows
                << mostBlocks;
          }
        }
      }
    }
  }
  void scaledPositionsEqualReference() {
    QFETCH(int, step);
    QFETCH(int, rows);
    QFETCH(int, mostBlocks);
    const DeviceInUse device;
    Random random(m_seed + 9);
    const auto backend = device.make();
    for (const DType type : {DType::F32, DType::BF16}) {
      Scene scene = makeScene({4, 2, 64, 16, type, 3, 200, rows}, random);
      roundToBf16(scene);
      scene.shape.mostBlocks = mostBlocks;
      scene.shape.positionScale = {.beta = 0.5F, .step = step};
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  /// From a cap that bounds nearly every score to one that bounds none.
  void cappedScoresEqualReference_data() {
    addDeviceColumns();
    QTest::addColumn<double>("cap");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("mostBlocks");
    for (const DeviceVariant& variant : deviceVariants()) {
      for (const double cap : {0.1, 50.0}) {
        for (const int rows : {1, 40}) {
          for (const int mostBlocks : {0, 3}) {
            QTest::addRow("%s, %d rows, of all blocks but for %d, a cap of %g", variant.name.c_str(), rows,
                          mostBlocks, cap)
                << QString::fromStdString(variant.device) << qlonglong{variant.target} << cap << rows
                << mostBlocks;
          }
        }
      }
    }
  }
  void cappedScoresEqualReference() {
    QFETCH(double, cap);
    QFETCH(int, rows);
    QFETCH(int, mostBlocks);
    const DeviceInUse device;
    Random random(m_seed + 10);
    const auto backend = device.make();
    for (const DType type : {DType::F32, DType::BF16}) {
      // Short segments share tiles, and long segments have several.
      for (const std::int32_t tokens : {12, 200}) {
        Scene scene = makeScene({4, 2, 64, 16, type, 4, tokens, std::min(rows, tokens / 2)}, random);
        roundToBf16(scene);
        scene.shape.mostBlocks = mostBlocks;
        const std::vector<float> uncapped = runScene(*backend, scene).out;
        scene.shape.softCap = static_cast<float>(cap);
        const QString difference = differs(*backend, scene);
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
        QVERIFY(!equalBits(runScene(*backend, scene).out, uncapped));
      }
    }
  }

  void massSumsToRows_data() { addDevices(); }
  void massSumsToRows() {
    const DeviceInUse device;
    Random random(m_seed + 3);
    const auto backend = device.make();
    const double tolerance = std::max(1e-5, 64 * activationUnit(*backend));
    for (int i = 0; i < device.rounds(60); ++i) {
      const Scene scene = randomScene(*backend, random);
      for (const compute::RunMass& mass : runScene(*backend, scene).mass) {
        const std::size_t blocks = mass.mass.size() / static_cast<std::size_t>(scene.shape.queryHeads);
        for (std::size_t head = 0; head < static_cast<std::size_t>(scene.shape.queryHeads); ++head) {
          double sum = 0;
          for (std::size_t block = 0; block < blocks; ++block) {
            sum += static_cast<double>(mass.mass[head * blocks + block]);
          }
          QVERIFY2(std::abs(sum / scene.shape.rows - 1) < tolerance, scene.text().c_str());
        }
      }
    }
  }

  void massAskedForOrNotGivesTheSame_data() { addDevices(); }
  void massAskedForOrNotGivesTheSame() {
    const DeviceInUse device;
    Random random(m_seed + 4);
    const Scene scene = makeScene({4, 2, 16, 16, DType::F32, 1, 20, 10}, random);
    const auto backend = device.make();
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
    storeTokens(*backend, scene.rotary, *keys, *values, locals, places, 0, *store);
    compute::PassInputs inputs = plainRows(10);
    std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), scene.firstLocal());
    inputs.runs = {{0, 10, 0, {{{1, 2, 3}, 0, segment.tokens, 0, true}}}};
    inputs.mass.runs = {0};
    const auto pass = backend->makePass(scene.attention(), scene.rotary, shape, inputs);
    backend->attend(*pass, *queries, *store, 0, true, *out);
    backend->fetch(*pass, *out);
    backend->attend(*pass, *queries, *store, 0, false, *out);
    backend->fetch(*pass, *out);
    const compute::PassResults results = backend->finish(*pass);
    QCOMPARE(results.fetched.size(), std::size_t{2});
    QVERIFY(equalBits(results.fetched[0], results.fetched[1]));
    QCOMPARE(results.mass.size(), std::size_t{1});
    QCOMPARE(results.mass[0].runs.size(), std::size_t{1});
  }

  /// Rows that are apart in their segment attend to tokens up to their own places, as they do among the
  /// others.
  void scatteredRowsSeeUpToTheirOwnPlaces_data() { addDevices(); }
  void scatteredRowsSeeUpToTheirOwnPlaces() {
    const DeviceInUse device;
    const auto backend = device.make();
    ReferenceBackend reference;
    for (int i = 0; i < device.rounds(20); ++i) {
      Random random(m_seed + 100 + static_cast<std::uint64_t>(i));
      const Scene scene = randomScene(*backend, random);
      Presentation some;
      for (std::int32_t row = 0; row < scene.shape.rows; ++row) {
        if (random.below(3) == 0) some.rows.push_back(row);
      }
      if (some.rows.empty()) some.rows.push_back(scene.shape.rows - 1);
      const std::vector<float> actual = runScene(*backend, scene, some).out;
      const Comparison apart = compareAbsolute(actual, runScene(reference, scene, some).out,
                                               outTolerance(scene, activationUnit(*backend)));
      QVERIFY2(apart.ok, qPrintable(failure(scene, apart)));
      if (!backend->info().rowsAreBitEqual) continue;
      const std::vector<float> all = runScene(*backend, scene).out;
      const std::size_t width = all.size() / static_cast<std::size_t>(scene.shape.rows);
      for (std::size_t at = 0; at < some.rows.size(); ++at) {
        const auto row = static_cast<std::size_t>(some.rows[at]);
        QVERIFY2(
            std::memcmp(actual.data() + row * width, all.data() + row * width, width * sizeof(float)) == 0,
            scene.text().c_str());
      }
    }
  }

  /// Rows that may not read all blocks read the first, the last and those in which they could score most.
  void readsTheBestBlocks_data() { addDevices(); }
  void readsTheBestBlocks() {
    const DeviceInUse device;
    Random random(m_seed + 5);
    const auto backend = device.make();
    int narrower = 0;
    for (int i = 0; i < device.rounds(60); ++i) {
      Scene scene = randomScene(*backend, random);
      if (activationUnit(*backend) > 0x1p-24) roundToBf16(scene);
      const std::vector<float> all = runScene(*backend, scene).out;
      scene.shape.mostBlocks = static_cast<std::int32_t>(random.between(2, 12));
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
      if (!equalBits(runScene(*backend, scene).out, all)) ++narrower;
      scene.shape.mostBlocks = 1 << 20;
      QVERIFY2(equalBits(runScene(*backend, scene).out, all), scene.text().c_str());
    }
    QVERIFY(narrower > 0);
  }

  /// What a row reads follows from the keys as they are now, not as they were when a block was first chosen.
  void choosesByWhatIsStoredNow_data() { addDevices(); }
  void choosesByWhatIsStoredNow() {
    const DeviceInUse device;
    const auto backend = device.make();
    // Eight blocks of one token. The row may read the first, the last and one more.
    constexpr std::int32_t kTokens = 8;
    const compute::KvShape shape{1, 2 * kTokens, 1, 1, 2, DType::F32};
    const compute::AttentionShape attention{1, 1, 2, 1.0F};
    const compute::RotaryTable rotary{.inverseFrequencies = {0.0}};
    const auto store = backend->makeKvStore(shape);
    const auto keys = backend->makeTensor();
    const auto values = backend->makeTensor();
    const auto queries = backend->makeTensor();
    const auto out = backend->makeTensor();
    std::vector<BlockId> blocks(kTokens);
    std::iota(blocks.begin(), blocks.end(), 1);
    const auto write = [&](std::int32_t token, float key) {
      backend->upload(std::vector<float>{key, 0}, 1, 2, *keys);
      backend->upload(std::vector<float>{static_cast<float>(token), 0}, 1, 2, *values);
      storeTokens(*backend, rotary, *keys, *values, {token}, {blocks[static_cast<std::size_t>(token)]}, 0,
                  *store);
    };
    const auto read = [&] {
      compute::PassInputs inputs = plainRows(1);
      inputs.localIndices = {kTokens - 1};
      compute::QueryRun& run = inputs.runs.emplace_back();
      run.rowCount = 1;
      run.keys = {{.blocks = blocks, .begin = 0, .end = kTokens, .base = 0, .causal = true}};
      run.mostBlocks = 3;
      backend->upload(std::vector<float>{50, 0}, 1, 2, *queries);
      const auto pass = backend->makePass(attention, rotary, shape, inputs);
      backend->attend(*pass, *queries, *store, 0, false, *out);
      backend->fetch(*pass, *out);
      return backend->finish(*pass).fetched.at(0).at(0);
    };
    for (std::int32_t token = 0; token < kTokens; ++token) write(token, token == 3 ? 1.0F : -1.0F);
    QCOMPARE(read(), 3.0F);
    write(5, 2.0F);
    QCOMPARE(read(), 5.0F);
    backend->copyBlocks(std::vector<compute::BlockCopy>{{blocks[1], blocks[5], 1}}, *store);
    QCOMPARE(read(), 3.0F);
    std::vector<std::byte> bytes(compute::slotBytes(shape));
    write(0, 3.0F);
    backend->readBlocks(std::vector<compute::BlockToHost>{{blocks[0], 1, bytes}}, *store);
    write(0, -1.0F);
    backend->writeBlocks(std::vector<compute::BlockFromHost>{{blocks[4], 1, bytes}}, *store);
    QCOMPARE(read(), 0.0F);  // what token 4 now holds of token 0
  }

  /// A sink counts once per row, whatever the number of segments, chunks or other rows.
  void sinksCountOncePerRow_data() { addDevices(); }
  void sinksCountOncePerRow() {
    const DeviceInUse device;
    const auto backend = device.make();
    Random random(m_seed + 9);
    for (int i = 0; i < device.rounds(60); ++i) {
      Scene scene = randomScene(*backend, random);
      const std::vector<float> without = runScene(*backend, scene).out;
      scene.sinks = randomValues(random, static_cast<std::size_t>(scene.shape.queryHeads), 4);
      if (i % 5 == 0) scene.sinks.front() = 300;  // leaves nothing to the keys
      if (i % 5 == 1) scene.sinks.front() = -300;
      if (!backend->info().takesSinks) {
        QVERIFY_EXCEPTION_THROWN(runScene(*backend, scene), Failure);
        continue;
      }
      const QString difference = differs(*backend, scene);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
      const std::vector<float> with = runScene(*backend, scene).out;
      // The only sink can be too small to count.
      if (i % 5 != 1 || scene.shape.queryHeads > 1) QVERIFY(!equalBits(with, without));
      if (!backend->info().rowsAreBitEqual) continue;
      Presentation chunks;
      chunks.chunks = randomChunks(scene.shape.rows, random);
      QVERIFY2(equalBits(runScene(*backend, scene, chunks).out, with), scene.text().c_str());
    }
  }

  void largeScoresStayFinite_data() { addDevices(); }
  void largeScoresStayFinite() {
    const DeviceInUse device;
    Random random(m_seed + 5);
    const auto backend = device.make();
    Scene scene = makeScene({2, 2, 16, 16, DType::F32, 3, 100, 10}, random);
    for (float& value : scene.queries) value *= 200;
    for (const float value : runScene(*backend, scene).out) QVERIFY(std::isfinite(value));
  }

  void distantPositionsKeepTheirPrecision_data() { addDevices(); }
  void distantPositionsKeepTheirPrecision() {
    const DeviceInUse device;
    // Half a million positions away the angle itself has lost bits in f32; the distance has not.
    Random random(m_seed + 6);
    const auto backend = device.make();
    Scene scene = makeScene({4, 2, 64, 16, DType::F32, 3, 60, 10}, random);
    scene.segments[0].base = -500000;
    scene.segments[1].base = 700000;
    const QString difference = differs(*backend, scene);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void rowWithoutKeysGivesZero_data() { addDevices(); }
  void rowWithoutKeysGivesZero() {
    const DeviceInUse device;
    const auto backend = device.make(1);
    const compute::KvShape shape{1, 2, 16, 1, 16, DType::F32};
    const auto store = backend->makeKvStore(shape);
    const auto queries = backend->makeTensor();
    const auto out = backend->makeTensor();
    backend->upload(std::vector<float>(16, 1.0F), 1, 16, *queries);
    compute::PassInputs inputs = plainRows(1);
    inputs.runs = {{0, 1, 0, {{{}, 0, 0, 0, false}}}};
    const auto pass =
        backend->makePass({1, 1, 16, 0.5F}, {{1.0, 0.5, 0.3, 0.2, 0.1, 0.03, 0.01, 0.001}, 1}, shape, inputs);
    backend->attend(*pass, *queries, *store, 0, false, *out);
    backend->finish(*pass);
    std::vector<float> result(16);
    backend->download(*out, result);
    QCOMPARE(result, std::vector<float>(16, 0.0F));
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_attention, TestAttention)
#include "tst_attention.moc"
