// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cpu/aligned_buffer.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using cpu::AlignedBuffer;
using cpu::BufferArena;

class TestBufferArena : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Of all sizes, with the readable bytes after them: no buffer overlaps another.
  void buffersAreApart() {
    Random random(testSeed(20261127));
    BufferArena arena;
    std::vector<AlignedBuffer> buffers;
    for (int i = 0; i < 60; ++i) {
      const std::size_t bytes = random.below(i % 10 == 0 ? 2 * BufferArena::kPiece : 300000);
      buffers.push_back(arena.take(bytes, "weight"));
      QCOMPARE(buffers.back().size(), bytes);
      QCOMPARE(reinterpret_cast<std::uintptr_t>(buffers.back().as<std::byte>()) % AlignedBuffer::kAlignment,
               std::uintptr_t{0});
      std::memset(buffers.back().as<std::byte>(), i, bytes + AlignedBuffer::kTail);
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::byte* const first = buffers[i].as<std::byte>();
      QVERIFY(std::all_of(first, first + buffers[i].size(),
                          [&](std::byte byte) { return byte == static_cast<std::byte>(i); }));
    }
  }

  /// That is what it is for: weights of a layer lie side by side on the same pages.
  void smallOnesAreNeighbours() {
    BufferArena arena;
    const AlignedBuffer first = arena.take(1000, "weight");
    const AlignedBuffer second = arena.take(1000, "weight");
    QCOMPARE(second.as<std::byte>() - first.as<std::byte>(), 1536);
  }

  void buffersOutliveTheArena() {
    AlignedBuffer kept;
    {
      BufferArena arena;
      AlignedBuffer gone = arena.take(5000, "weight");
      kept = arena.take(5000, "weight");
      gone = AlignedBuffer();
    }
    std::memset(kept.as<std::byte>(), 7, kept.size());
    QCOMPARE(kept.size(), std::size_t{5000});
  }

  void movedOnesAreEmpty() {
    BufferArena arena;
    AlignedBuffer from = arena.take(10, "weight");
    const AlignedBuffer to = std::move(from);
    QCOMPARE(to.size(), std::size_t{10});
    QCOMPARE(from.size(), std::size_t{0});  // NOLINT(bugprone-use-after-move): that is what is tested
  }

  void absurdSizesAreRefused() {
    BufferArena arena;
    QVERIFY_EXCEPTION_THROWN(arena.take(std::numeric_limits<std::size_t>::max() - 5000, "weight"), Failure);
    QCOMPARE(arena.take(64, "weight").size(), std::size_t{64});
  }
};

SPANSCOPE_TEST(tst_buffer_arena, TestBufferArena)
#include "tst_buffer_arena.moc"
