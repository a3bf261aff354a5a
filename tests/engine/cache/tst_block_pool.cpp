// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/block_pool.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <stdexcept>
#include <vector>

using namespace spanscope;
using namespace spanscope::cache;

namespace {

using Blocks = std::vector<BlockId>;

/// One step of a table row.
struct Step {
  enum class What { Take, Share, ReleaseFront, ReleaseBack };
  What what = What::Take;
  BlockId block = kNullBlock;  ///< for Take: the block that must come
};

constexpr auto kTake = Step::What::Take;
constexpr auto kShare = Step::What::Share;
constexpr auto kFront = Step::What::ReleaseFront;
constexpr auto kBack = Step::What::ReleaseBack;

/// The free list from its front through `after`, which must agree with freeOrder.
Blocks walk(const BlockPool& pool) {
  Blocks blocks;
  for (BlockId block = pool.front(); block != kNullBlock; block = pool.after(block)) blocks.push_back(block);
  return blocks;
}

}  // namespace

Q_DECLARE_METATYPE(std::vector<Step>)
Q_DECLARE_METATYPE(std::vector<spanscope::BlockId>)

class TestBlockPool : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void freeOrder_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<std::vector<Step>>("steps");
    QTest::addColumn<Blocks>("order");

    QTest::newRow("new") << 6 << std::vector<Step>{} << Blocks{1, 2, 3, 4, 5};
    QTest::newRow("null block only") << 1 << std::vector<Step>{} << Blocks{};
    QTest::newRow("B3 pop the front") << 6 << std::vector<Step>{{kTake, 1}} << Blocks{2, 3, 4, 5};
    QTest::newRow("B3 remove from the middle")
        << 6 << std::vector<Step>{{kTake, 1}, {kShare, 3}} << Blocks{2, 4, 5};
    QTest::newRow("B3 append") << 6 << std::vector<Step>{{kTake, 1}, {kShare, 3}, {kBack, 3}}
                               << Blocks{2, 4, 5, 3};
    QTest::newRow("B3 pop all")
        << 6 << std::vector<Step>{{kTake, 1}, {kTake, 2}, {kTake, 3}, {kTake, 4}, {kTake, 5}} << Blocks{};
    QTest::newRow("B4 append one to empty") << 2 << std::vector<Step>{{kTake, 1}, {kBack, 1}} << Blocks{1};
    QTest::newRow("B4 prepend one to empty") << 2 << std::vector<Step>{{kTake, 1}, {kFront, 1}} << Blocks{1};
    QTest::newRow("B4 append three") << 5 << std::vector<Step>{{kTake, 1}, {kTake, 2}, {kTake, 3},
                                                               {kBack, 3}, {kBack, 1}, {kBack, 2}}
                                     << Blocks{4, 3, 1, 2};
    QTest::newRow("B4 prepend three")
        << 5 << std::vector<Step>{{kTake, 1}, {kTake, 2}, {kTake, 3}, {kFront, 3}, {kFront, 1}, {kFront, 2}}
        << Blocks{2, 1, 3, 4};
    QTest::newRow("B5 pop, remove, append")
        << 6 << std::vector<Step>{{kTake, 1}, {kShare, 4}, {kBack, 1}, {kTake, 2}, {kBack, 4}, {kFront, 2}}
        << Blocks{2, 3, 5, 1, 4};
    QTest::newRow("first and last removed") << 4 << std::vector<Step>{{kShare, 1}, {kShare, 3}} << Blocks{2};
    QTest::newRow("second reference keeps it out")
        << 3 << std::vector<Step>{{kTake, 1}, {kShare, 1}, {kBack, 1}} << Blocks{2};
  }

  void freeOrder() {
    QFETCH(int, count);
    QFETCH(std::vector<Step>, steps);
    QFETCH(Blocks, order);
    BlockPool pool(count);
    for (const Step& step : steps) {
      switch (step.what) {
        case kTake:
          QCOMPARE(pool.take(), step.block);
          break;
        case kShare:
          pool.share(step.block);
          break;
        case kFront:
          pool.release(step.block, FreeEnd::Front);
          break;
        case kBack:
          pool.release(step.block, FreeEnd::Back);
          break;
      }
    }
    QCOMPARE(pool.freeOrder(), order);
    QCOMPARE(walk(pool), order);
    QCOMPARE(pool.freeCount(), static_cast<std::int64_t>(order.size()));
    QCOMPARE(pool.front(), order.empty() ? kNullBlock : order.front());
  }

  void references() {
    BlockPool pool(3);
    QCOMPARE(pool.references(1), 0);
    QCOMPARE(pool.take(), 1);
    QCOMPARE(pool.references(1), 1);
    QCOMPARE(pool.share(1), 2);
    QCOMPARE(pool.release(1, FreeEnd::Back), 1);
    QCOMPARE(pool.release(1, FreeEnd::Back), 0);
    QCOMPARE(pool.share(2), 1);
  }

  void misuseChangesNothing() {
    QVERIFY_EXCEPTION_THROWN(BlockPool(0), std::logic_error);
    BlockPool pool(3);
    pool.take();
    QVERIFY_EXCEPTION_THROWN(pool.release(2, FreeEnd::Back), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.release(0, FreeEnd::Back), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.share(0), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.share(3), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.share(-1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.after(1), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(pool.reset(), std::logic_error);
    pool.take();
    QVERIFY_EXCEPTION_THROWN(pool.take(), std::logic_error);
    QCOMPARE(pool.freeOrder(), Blocks{});
    pool.release(2, FreeEnd::Back);
    pool.release(1, FreeEnd::Back);
    QCOMPARE(pool.freeOrder(), (Blocks{2, 1}));
    pool.reset();
    QCOMPARE(pool.freeOrder(), (Blocks{1, 2}));
  }

  void evictionMemoryIsBounded() {
    EvictionMemory memory(3);
    const auto key = [](std::uint64_t number) { return trace::BlockKey{number, ~number}; };
    for (std::uint64_t number = 1; number <= 5; ++number) memory.remember(key(number), 100 + number);
    QCOMPARE(memory.size(), std::size_t{3});
    QVERIFY(!memory.find(key(2)));
    QCOMPARE(memory.find(key(3)).value(), std::uint64_t{103});
    memory.forget(key(4));
    QVERIFY(!memory.find(key(4)));
    memory.remember(key(3), 200);
    memory.remember(key(6), 201);
    QCOMPARE(memory.find(key(3)).value(), std::uint64_t{200});
    QVERIFY(memory.size() <= 3);
    for (std::uint64_t number = 0; number < 1000; ++number) {
      memory.remember(key(7), 300 + number);
      memory.forget(key(7));
    }
    QCOMPARE(memory.size(), std::size_t{0});
  }
};

SPANSCOPE_TEST(tst_block_pool, TestBlockPool)
#include "tst_block_pool.moc"
