// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/kv_places.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace spanscope;
using cpu::KvPlaces;

class TestKvPlaces : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsFillTheLayer_data() {
    QTest::addColumn<int>("blocks");
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("heads");
    QTest::newRow("many") << 200 << 16 << 3;
    QTest::newRow("fewer than lie together") << 5 << 16 << 4;
    QTest::newRow("as many as lie together") << 64 << 16 << 2;
    QTest::newRow("one slot") << 1300 << 1 << 3;
    QTest::newRow("an odd size") << 100 << 24 << 5;
    QTest::newRow("large") << 7 << 1024 << 2;
    QTest::newRow("one head") << 90 << 16 << 1;
  }
  /// Each part of a head has a place of its own, and none is left over.
  void partsFillTheLayer() {
    QFETCH(int, blocks);
    QFETCH(int, blockSize);
    QFETCH(int, heads);
    const std::int64_t elements = std::int64_t{8} * blockSize;
    const KvPlaces places(blocks, blockSize, heads, elements);
    std::vector<std::int64_t> all;
    for (int block = 0; block < blocks; ++block) {
      for (int head = 0; head < heads; ++head) all.push_back(places.of(block, head));
    }
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) QCOMPARE(all[i], static_cast<std::int64_t>(i) * elements);
  }

  /// That is what it is for: attention reads a head of 512 slots from one end to the other.
  void blocksOfAHeadFollowEachOther() {
    const std::int64_t elements = 16 * 64;
    const KvPlaces places(1000, 16, 8, elements);
    for (int head = 0; head < 8; ++head) {
      for (int block = 64; block < 95; ++block)
        QCOMPARE(places.of(block + 1, head) - places.of(block, head), elements);
    }
  }

  /// A short conversation touches no more memory than its blocks have.
  void firstBlocksLieInFront() {
    const std::int64_t elements = 16 * 64;
    const KvPlaces places(4096, 16, 8, elements);
    for (int block = 0; block < 32; ++block) {
      for (int head = 0; head < 8; ++head) QVERIFY(places.of(block, head) < 32 * 8 * elements);
    }
  }
};

SPANSCOPE_TEST(tst_kv_places, TestKvPlaces)
#include "tst_kv_places.moc"
