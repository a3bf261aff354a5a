// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values written to the paged pool, and copies of its blocks.
#include "kernels/cuda/pool/pool_kernels.h"
#include "tests/kernels/cuda/device_pool.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;

namespace {

struct Choice {
  int rows, heads, headSize, blockSize;
  bool isFloat;
};

void addChoices(std::uint64_t seed) {
  QTest::addColumn<int>("rows");
  QTest::addColumn<int>("heads");
  QTest::addColumn<int>("headSize");
  QTest::addColumn<int>("blockSize");
  QTest::addColumn<bool>("isFloat");
  const std::vector<int> rows{1, 2, 33, 200};
  const std::vector<int> heads{1, 2, 3, 8};
  const std::vector<int> sizes{2, 6, 32, 64, 80, 96, 128, 256};
  const std::vector<int> blockSizes{1, 5, 16, 128};
  Random random(seed);
  for (const auto& choice :
       pairwiseSample({rows.size(), heads.size(), sizes.size(), blockSizes.size(), 2}, random)) {
    const bool isFloat = choice[4] == 1;
    QTest::addRow("%d rows, %d heads of %d, blocks of %d, %s", rows[choice[0]], heads[choice[1]],
                  sizes[choice[2]], blockSizes[choice[3]], isFloat ? "f32" : "bf16")
        << rows[choice[0]] << heads[choice[1]] << sizes[choice[2]] << blockSizes[choice[3]] << isFloat;
  }
}

Choice fetchChoice() {
  QFETCH(int, rows);
  QFETCH(int, heads);
  QFETCH(int, headSize);
  QFETCH(int, blockSize);
  QFETCH(bool, isFloat);
  return {rows, heads, headSize, blockSize, isFloat};
}

}  // namespace

class TestCudaPoolKernels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void writesRotatedKeys_data() { addChoices(m_seed); }
  void writesRotatedKeys() {
    const Choice choice = fetchChoice();
    Random random(m_seed);
    EmulatedDevice card;
    const int blocks = choice.rows / choice.blockSize + 3;
    const auto width = static_cast<std::size_t>(choice.heads * choice.headSize);
    const auto rows = static_cast<std::size_t>(choice.rows);
    // Keys and values are beside each other in rows that hold something else too.
    const std::size_t stride = 2 * width + 8;
    const std::vector<Bf16> both = testing::toBf16(randomValues(random, rows * stride, 2));
    std::vector<std::int64_t> free(static_cast<std::size_t>(blocks * choice.blockSize));
    std::iota(free.begin(), free.end(), 0);
    std::map<std::int64_t, std::size_t> rowOfSlot;
    std::vector<std::int64_t> slots;
    std::vector<std::int32_t> locals;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t chosen = random.below(free.size());
      const bool isPadding = row % 7 == 3;
      slots.push_back(isPadding ? -1 : free[chosen]);
      if (!isPadding) rowOfSlot[free[chosen]] = row;
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(chosen));
      locals.push_back(static_cast<std::int32_t>(random.below(500)));
    }
    const RotaryAngles angles(choice.headSize, 500, 10000.0);
    const auto deviceBoth = card.upload(both);
    const auto deviceSlots = card.upload(slots);
    const auto deviceLocals = card.upload(locals);
    const auto deviceAngles = card.upload(angles.cosSin());
    const int padding = choice.headSize < 16 ? 16 - choice.headSize : 0;
    inEveryOrder(card, [&](const char* order) {
      DevicePool pool(card, {.isFloat = choice.isFloat,
                             .layers = 2,
                             .blocks = blocks,
                             .blockSize = choice.blockSize,
                             .heads = choice.heads,
                             .headSize = choice.headSize + padding,
                             .padding = padding});
      cuda::writeKeysValues(card.stream, {.keys = deviceBoth.data(),
                                          .values = deviceBoth.data() + width,
                                          .stride = static_cast<std::int64_t>(stride),
                                          .cosSin = deviceAngles.data(),
                                          .localIndices = deviceLocals.data(),
                                          .slots = deviceSlots.data(),
                                          .pool = pool.shape(),
                                          .layer = 1,
                                          .rows = choice.rows});
      const std::vector<float> keys = pool.downloadKeys();
      const std::vector<float> values = pool.downloadValues();
      const auto size = static_cast<std::size_t>(choice.headSize);
      for (int layer = 0; layer < 2; ++layer) {
        for (std::int64_t slot = 0; slot < std::int64_t{blocks} * choice.blockSize; ++slot) {
          const auto written = rowOfSlot.find(slot);
          for (int head = 0; head < choice.heads; ++head) {
            const std::size_t place = pool.placeOf(layer, slot, head);
            if (layer == 0 || written == rowOfSlot.end()) {
              for (std::size_t i = 0; i < size; ++i)
                QVERIFY2(std::isnan(keys[place + i]) && std::isnan(values[place + i]), order);
              continue;
            }
            const std::size_t row = written->second;
            const std::size_t from = row * stride + static_cast<std::size_t>(head) * size;
            const std::vector<float> key = toFloats(std::span(both).subspan(from, size));
            const std::vector<double> rotated = angles.rotate(key, locals[row]);
            for (std::size_t i = 0; i < size; ++i) {
              // Two products and a sum in f32 of cosines in f32, rounded to the pool's type.
              const double pairNorm = std::hypot(key[i % (size / 2)], key[i % (size / 2) + size / 2]);
              const double tolerance =
                  pairNorm * 0x1p-22 + (choice.isFloat ? 0 : std::abs(rotated[i]) * 0x1p-8);
              QVERIFY2(std::abs(static_cast<double>(keys[place + i]) - rotated[i]) <= tolerance, order);
              QCOMPARE(values[place + i], valueOf(both[from + width + i]));
            }
            for (std::size_t i = size; i < size + static_cast<std::size_t>(padding); ++i) {
              QVERIFY2(std::isnan(keys[place + i]) && std::isnan(values[place + i]), order);
            }
          }
        }
      }
    });
  }

  void copiesBlocks_data() { addChoices(m_seed + 1); }
  void copiesBlocks() {
    const Choice choice = fetchChoice();
    Random random(m_seed);
    EmulatedDevice card;
    DevicePool pool(card, {.isFloat = choice.isFloat,
                           .layers = 3,
                           .blocks = 8,
                           .blockSize = choice.blockSize,
                           .heads = choice.heads,
                           .headSize = choice.headSize});
    pool.fillAtRandom(random);
    std::vector<float> keys = pool.downloadKeys();
    std::vector<float> values = pool.downloadValues();
    const std::vector<cuda::BlockCopy> copies{{1, 6, choice.blockSize},
                                              {1, 2, std::min(choice.blockSize, 3)},
                                              {5, 0, 0},
                                              {7, 3, (choice.blockSize + 1) / 2}};
    for (const cuda::BlockCopy& copy : copies) {
      for (int layer = 0; layer < 3; ++layer) {
        for (int slot = 0; slot < copy.slots; ++slot) {
          for (int head = 0; head < choice.heads; ++head) {
            const std::size_t from =
                pool.placeOf(layer, std::int64_t{copy.source} * choice.blockSize + slot, head);
            const std::size_t to =
                pool.placeOf(layer, std::int64_t{copy.target} * choice.blockSize + slot, head);
            for (std::size_t i = 0; i < static_cast<std::size_t>(choice.headSize); ++i) {
              keys[to + i] = keys[from + i];
              values[to + i] = values[from + i];
            }
          }
        }
      }
    }
    cuda::BlockCopiesArguments arguments{.count = static_cast<int>(copies.size()), .pool = pool.shape()};
    std::copy(copies.begin(), copies.end(), arguments.copies);
    inEveryOrder(card, [&](const char* order) {
      cuda::copyBlocks(card.stream, arguments);
      QVERIFY2(pool.downloadKeys() == keys, order);
      QVERIFY2(pool.downloadValues() == values, order);
    });
  }

 private:
  std::uint64_t m_seed = testSeed(20251124);
};

SPANSCOPE_TEST(tst_pool_kernels, TestCudaPoolKernels)
#include "tst_pool_kernels.moc"
