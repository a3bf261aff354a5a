// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using compute::KvShape;

namespace {

constexpr std::int32_t kTokens = 20;

/// Tokens 0 … kTokens − 1 with local indices 3, 4, … stored from slot `first` on.
struct Tokens {
  std::vector<float> keys;
  std::vector<float> values;
  compute::RotaryTable rotary;

  Tokens(const KvShape& shape, Random& random)
      : keys(randomValues(random, static_cast<std::size_t>(kTokens * shape.heads * shape.headSize))),
        values(randomValues(random, keys.size())) {
    for (std::int32_t pair = 0; pair < shape.headSize / 2; ++pair) {
      rotary.inverseFrequencies.push_back(std::pow(10000.0, -2.0 * pair / shape.headSize));
    }
  }

  void store(compute::Backend& backend, compute::KvStore& target, std::int32_t layer,
             std::int64_t first) const {
    const auto keyRows = backend.makeTensor();
    const auto valueRows = backend.makeTensor();
    const std::int64_t width = target.shape().headsOf(layer).elements();
    backend.upload(keys, kTokens, width, *keyRows);
    backend.upload(values, kTokens, width, *valueRows);
    std::vector<std::int32_t> locals(kTokens);
    std::iota(locals.begin(), locals.end(), 3);
    std::vector<std::int64_t> places(kTokens);
    std::iota(places.begin(), places.end(), first);
    storeTokens(backend, rotary, *keyRows, *valueRows, locals, places, layer, target);
  }
};

struct Slot {
  std::vector<float> key;
  std::vector<float> value;

  Slot(const compute::KvStore& store, std::int32_t layer, std::int64_t slot)
      : key(static_cast<std::size_t>(store.shape().headsOf(layer).elements())), value(key.size()) {
    store.read(layer, slot, key, value);
  }
  bool operator==(const Slot&) const = default;
};

/// Of two layers, with heads of a size that the device has.
KvShape shapeOf(compute::Backend& backend, int blockSize, bool isBf16) {
  return {
      2, 2 * kTokens + 4, blockSize, 3, takesHeads(backend, 10) ? 10 : 16, isBf16 ? DType::BF16 : DType::F32};
}

}  // namespace

class TestKvStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250104);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void storesRotatedKeys_data() {
    addDeviceColumns();
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<bool>("isBf16");
    for (const std::string& device : test::presentDevices()) {
      for (const int blockSize : {1, 2, 5, 16, 32, 1024}) {
        for (const bool isBf16 : {false, true}) {
          QTest::addRow("%s, blocks of %d, %s", device.c_str(), blockSize, isBf16 ? "bf16" : "f32")
              << QString::fromStdString(device) << qlonglong{0} << blockSize << isBf16;
        }
      }
    }
  }
  void storesRotatedKeys() {
    QFETCH(int, blockSize);
    QFETCH(bool, isBf16);
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make();
    const KvShape shape{2, 2 + kTokens / blockSize + 1,        blockSize,
                        3, takesHeads(*backend, 10) ? 10 : 16, isBf16 ? DType::BF16 : DType::F32};
    const Tokens tokens(shape, random);
    const double unit = activationUnit(*backend);
    ReferenceBackend reference;
    const auto actual = backend->makeKvStore(shape);
    const auto expected = reference.makeKvStore(shape);
    for (std::int32_t layer = 0; layer < 2; ++layer) {
      tokens.store(*backend, *actual, layer, blockSize);
      tokens.store(reference, *expected, layer, blockSize);
    }
    for (std::int64_t slot = blockSize; slot < blockSize + kTokens; ++slot) {
      const Slot have(*actual, 1, slot);
      const Slot want(*expected, 1, slot);
      // Values are stored as they are; normal ones are below 8.
      if (unit == 0x1p-24) {
        QCOMPARE(have.value, want.value);
      } else {
        const Comparison values = compareAbsolute(have.value, want.value, 8 * unit);
        QVERIFY2(values.ok, values.text().c_str());
      }
      // A key that was rotated in f32 may fall on the other side of a rounding to bf16.
      const Comparison comparison =
          compareAbsolute(have.key, want.key, std::max(16 * unit, isBf16 ? 4 * 0x1p-8 : 0.0));
      QVERIFY2(comparison.ok, comparison.text().c_str());
    }
  }

  void measuresDeviations_data() { storesRotatedKeys_data(); }
  void measuresDeviations() {
    QFETCH(int, blockSize);
    QFETCH(bool, isBf16);
    Random random(m_seed + 5);
    const DeviceInUse device;
    const auto backend = device.make();
    const KvShape shape{2, 2 + kTokens / blockSize + 1,        blockSize,
                        3, takesHeads(*backend, 10) ? 10 : 16, isBf16 ? DType::BF16 : DType::F32};
    const Tokens stored(shape, random);
    Tokens other(shape, random);
    // Every third row is as it is stored.
    const auto width = static_cast<std::size_t>(shape.heads * shape.headSize);
    for (std::size_t i = 0; i < other.keys.size(); ++i) {
      if (i / width % 3 != 0) continue;
      other.keys[i] = stored.keys[i];
      other.values[i] = stored.values[i];
    }
    ReferenceBackend reference;
    const auto measured = [&](compute::Backend& own, compute::StoredPart part) {
      const auto store = own.makeKvStore(shape);
      for (std::int32_t layer = 0; layer < 2; ++layer) stored.store(own, *store, layer, blockSize);
      const auto rows = own.makeTensor();
      const auto out = own.makeTensor();
      own.upload(part == compute::StoredPart::Keys ? other.keys : other.values, kTokens,
                 static_cast<std::int64_t>(width), *rows);
      compute::PassInputs inputs = plainRows(kTokens);
      std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), 3);
      std::iota(inputs.slots.begin(), inputs.slots.end(), blockSize);
      const auto pass =
          own.makePass({shape.heads, shape.heads, shape.headSize, 1.0F}, stored.rotary, shape, inputs);
      own.deviations(*pass, part, *rows, 1, *store, *out);
      own.finish(*pass);
      std::vector<float> found(kTokens);
      own.download(*out, found);
      return found;
    };
    for (const compute::StoredPart part : {compute::StoredPart::Keys, compute::StoredPart::Values}) {
      const std::vector<float> actual = measured(*backend, part);
      const std::vector<float> expected = measured(reference, part);
      for (std::size_t row = 0; row < kTokens; ++row) {
        if (row % 3 == 0) {
          QCOMPARE(actual[row], 0.0F);
          continue;
        }
        // Sums of squares of about 2 each: what rounding of inputs and stored numbers makes of them.
        const double unit = std::max(activationUnit(*backend), isBf16 ? 0x1p-8 : 0.0);
        const auto want = static_cast<double>(expected[row]);
        QVERIFY2(want > 1, qPrintable(QString::number(want)));
        QVERIFY2(std::abs(static_cast<double>(actual[row]) - want) <= 32 * unit * want,
                 qPrintable(
                     QString("row %1: %2, not %3").arg(row).arg(static_cast<double>(actual[row])).arg(want)));
      }
    }
  }

  void roundsToNearestEven_data() { addDevices(); }
  void roundsToNearestEven() {
    const DeviceInUse device;
    const auto backend = device.make(1);
    if (!takesHeads(*backend, 2)) QSKIP("no heads of 2 on this device");
    const KvShape shape{1, 2, 2, 1, 2, DType::BF16};
    const auto store = backend->makeKvStore(shape);
    const auto keys = backend->makeTensor();
    const auto values = backend->makeTensor();
    // Ties below and above an even place, and a NaN whose payload lies in the lower half.
    const std::vector<float> given{1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F, -0.1F,
                                   std::bit_cast<float>(0x7F800001U)};
    backend->upload(given, 2, 2, *keys);
    backend->upload(given, 2, 2, *values);
    const std::vector<std::int32_t> locals{0, 0};
    const std::vector<std::int64_t> places{2, 3};
    storeTokens(*backend, {{1.0}, 1.0F}, *keys, *values, locals, places, 0, *store);
    const Slot first(*store, 0, 2);
    const Slot second(*store, 0, 3);
    QCOMPARE(first.value, (std::vector<float>{1.0F, 1.0F + 0x1p-6F}));
    QCOMPARE(first.key, first.value);
    QCOMPARE(second.value[0], compute::floatFromBf16(compute::bf16FromFloat(-0.1F)));
    QVERIFY(std::isnan(second.value[1]));
  }

  void copiesSlotsOfAllLayers_data() { storesRotatedKeys_data(); }
  void copiesSlotsOfAllLayers() {
    QFETCH(int, blockSize);
    QFETCH(bool, isBf16);
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make(1);
    const KvShape shape = shapeOf(*backend, blockSize, isBf16);
    const auto store = backend->makeKvStore(shape);
    const Tokens source(shape, random);
    const Tokens other(shape, random);
    const std::int32_t last = shape.blocks - 1;
    // The source begins at block 1; the target contains a token of another text before.
    const std::int64_t targetSlot = std::int64_t{last} * blockSize;
    const std::int32_t slotCount = std::min(blockSize, kTokens);
    const std::int32_t copied = (slotCount + 1) / 2;
    for (std::int32_t layer = 0; layer < 2; ++layer) {
      source.store(*backend, *store, layer, blockSize);
      other.store(*backend, *store, layer, targetSlot + slotCount - kTokens);
    }
    const Slot kept(*store, 1, targetSlot + slotCount - 1);
    // A list is done in its order: what was copied on is what had been copied before.
    const std::int32_t between = last - 1;
    const std::vector<compute::BlockCopy> copies{{1, between, copied}, {between, last, copied}};
    backend->copyBlocks(copies, *store);
    for (std::int32_t layer = 0; layer < 2; ++layer) {
      for (std::int32_t slot = 0; slot < copied; ++slot) {
        QVERIFY(Slot(*store, layer, blockSize + slot) == Slot(*store, layer, targetSlot + slot));
      }
    }
    if (copied < slotCount) QVERIFY(Slot(*store, 1, targetSlot + slotCount - 1) == kept);
  }

  void goesThroughHostMemory_data() { storesRotatedKeys_data(); }
  /// Bit by bit, in the order that the interface states, and so that fewer slots are the beginning of more.
  void goesThroughHostMemory() {
    QFETCH(int, blockSize);
    QFETCH(bool, isBf16);
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make(1);
    const KvShape shape = shapeOf(*backend, blockSize, isBf16);
    const auto store = backend->makeKvStore(shape);
    const Tokens tokens(shape, random);
    const Tokens others(shape, random);
    const std::int32_t last = shape.blocks - 1;
    const std::int32_t filled = std::min(blockSize, kTokens);
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
      tokens.store(*backend, *store, layer, blockSize);
      others.store(*backend, *store, layer, std::int64_t{last} * blockSize + filled - kTokens);
    }
    const std::size_t slot = compute::slotBytes(shape);
    QCOMPARE(slot, std::size_t(2 * shape.layers * shape.heads * shape.headSize) * sizeOf(shape.type));
    std::vector<std::byte> whole(static_cast<std::size_t>(filled) * slot);
    const std::int32_t some = (filled + 1) / 2;
    std::vector<std::byte> part(static_cast<std::size_t>(some) * slot);
    const std::vector<compute::BlockToHost> reads{{1, filled, whole}, {1, some, part}};
    backend->readBlocks(reads, *store);
    QVERIFY(std::equal(part.begin(), part.end(), whole.begin()));

    std::size_t at = 0;
    const auto next = [&] {
      float value = 0;
      std::uint16_t half = 0;
      if (isBf16) {
        std::memcpy(&half, whole.data() + at, sizeof(half));
        value = compute::floatFromBf16(half);
      } else {
        std::memcpy(&value, whole.data() + at, sizeof(value));
      }
      at += sizeOf(shape.type);
      return value;
    };
    for (std::int32_t place = 0; place < filled; ++place) {
      for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
        const Slot expected(*store, layer, blockSize + place);
        for (const float value : expected.key) QCOMPARE(next(), value);
        for (const float value : expected.value) QCOMPARE(next(), value);
      }
    }

    // At an odd address, over the contents of the target; a neighbour of the target stays unchanged.
    std::vector<std::byte> moved(whole.size() + 1);
    std::copy(whole.begin(), whole.end(), moved.begin() + 1);
    const std::span<const std::byte> given = std::span(moved).subspan(1);
    const std::vector<compute::BlockFromHost> writes{{last, filled, given},
                                                     {last - 1, some, given.first(part.size())}};
    const Slot neighbour(*store, 1, std::int64_t{1} * blockSize);
    backend->writeBlocks(writes, *store);
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
      for (std::int32_t place = 0; place < filled; ++place) {
        const Slot expected(*store, layer, blockSize + place);
        QVERIFY(Slot(*store, layer, std::int64_t{last} * blockSize + place) == expected);
        if (place < some)
          QVERIFY(Slot(*store, layer, std::int64_t{last - 1} * blockSize + place) == expected);
      }
    }
    QVERIFY(Slot(*store, 1, std::int64_t{1} * blockSize) == neighbour);
  }

  void layersMayHaveOtherHeads_data() { addDevices(); }
  /// Layers of different heads do not overlap, are copied whole, and have their own part of host memory.
  void layersMayHaveOtherHeads() {
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make(1);
    constexpr int kBlockSize = 16;
    const KvShape shape{.layers = 3,
                        .blocks = 2 + 2 * kTokens / kBlockSize + 2,
                        .blockSize = kBlockSize,
                        .heads = 3,
                        .headSize = 16,
                        .type = DType::F32,
                        .byLayer = {{3, 16}, {1, 32}, {4, 8}}};
    QCOMPARE(compute::slotBytes(shape), std::size_t{2 * (48 + 32 + 32) * 4});
    if (activationUnit(*backend) != 0x1p-24) {  // a GPU
      QVERIFY_EXCEPTION_THROWN(backend->makeKvStore(shape), Failure);
      return;
    }
    const auto store = backend->makeKvStore(shape);
    std::vector<std::vector<Slot>> expected;
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
      // A store of this layer alone has the same keys and values.
      const auto [heads, headSize] = shape.headsOf(layer);
      const KvShape alone{1, shape.blocks, kBlockSize, heads, headSize, DType::F32};
      const auto other = backend->makeKvStore(alone);
      const Tokens tokens(alone, random);
      tokens.store(*backend, *other, 0, kBlockSize);
      tokens.store(*backend, *store, layer, kBlockSize);
      std::vector<Slot>& slots = expected.emplace_back();
      for (std::int64_t slot = 0; slot < kTokens; ++slot) slots.emplace_back(*other, 0, kBlockSize + slot);
    }
    const std::int32_t last = shape.blocks - 1;
    backend->copyBlocks(std::vector<compute::BlockCopy>{{1, last, kBlockSize}}, *store);
    std::vector<std::byte> bytes(kBlockSize * compute::slotBytes(shape));
    backend->readBlocks(std::vector<compute::BlockToHost>{{1, kBlockSize, bytes}}, *store);
    backend->writeBlocks(std::vector<compute::BlockFromHost>{{last - 1, kBlockSize, bytes}}, *store);
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
      const std::vector<Slot>& slots = expected[static_cast<std::size_t>(layer)];
      for (std::int64_t slot = 0; slot < kTokens; ++slot) {
        const Slot& own = slots[static_cast<std::size_t>(slot)];
        QVERIFY(Slot(*store, layer, kBlockSize + slot) == own);
        if (slot >= kBlockSize) continue;
        QVERIFY(Slot(*store, layer, std::int64_t{last} * kBlockSize + slot) == own);
        QVERIFY(Slot(*store, layer, std::int64_t{last - 1} * kBlockSize + slot) == own);
      }
    }
    KvShape wrong = shape;
    wrong.byLayer.pop_back();
    QVERIFY_EXCEPTION_THROWN(backend->makeKvStore(wrong), Failure);
    wrong = shape;
    wrong.byLayer[1] = {4, 16};
    QVERIFY_EXCEPTION_THROWN(backend->makeKvStore(wrong), Failure);
  }

  void refusesHostBlocks_data() { addDevices(); }
  void refusesHostBlocks() {
    const DeviceInUse device;
    const auto backend = device.make(1);
    const KvShape shape{1, 4, 8, 1, 16, DType::F32};
    const auto store = backend->makeKvStore(shape);
    std::vector<std::byte> bytes(9 * compute::slotBytes(shape));
    const auto refused = [&](BlockId block, std::int32_t slots, std::size_t size) {
      const std::span<std::byte> given = std::span(bytes).first(size);
      const std::vector<compute::BlockToHost> reads{{block, slots, given}};
      const std::vector<compute::BlockFromHost> writes{{block, slots, given}};
      QVERIFY_EXCEPTION_THROWN(backend->readBlocks(reads, *store), Failure);
      QVERIFY_EXCEPTION_THROWN(backend->writeBlocks(writes, *store), Failure);
    };
    const std::size_t slot = compute::slotBytes(shape);
    refused(4, 8, 8 * slot);
    refused(-1, 8, 8 * slot);
    refused(1, 9, 9 * slot);
    refused(1, -1, 0);
    refused(1, 8, 8 * slot - 1);
  }

  void refusesShapes_data() {
    QTest::addColumn<KvShape>("shape");
    QTest::newRow("no layers") << KvShape{0, 2, 16, 1, 4, DType::F32};
    QTest::newRow("no blocks") << KvShape{1, 0, 16, 1, 4, DType::F32};
    QTest::newRow("empty blocks") << KvShape{1, 2, 0, 1, 4, DType::F32};
    QTest::newRow("blocks too large") << KvShape{1, 2, 1025, 1, 4, DType::F32};
    QTest::newRow("no heads") << KvShape{1, 2, 16, 0, 4, DType::F32};
    QTest::newRow("odd head") << KvShape{1, 2, 16, 1, 5, DType::F32};
    QTest::newRow("f16") << KvShape{1, 2, 16, 1, 4, DType::F16};
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    QTest::newRow("size overflows") << KvShape{kMost, kMost, 1024, kMost, kMost - 1, DType::F32};
    QTest::newRow("more than the address space") << KvShape{1 << 20, kMost, 1024, 64, 128, DType::F32};
  }
  void refusesShapes() {
    QFETCH(KvShape, shape);
    for (const std::string& device : test::presentDevices()) {
      const auto backend = test::makeBackend(device, 1);
      QVERIFY_EXCEPTION_THROWN(backend->makeKvStore(shape), Failure);
    }
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_kv_store, TestKvStore)
#include "tst_kv_store.moc"
