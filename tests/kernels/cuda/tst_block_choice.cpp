// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of the keys of whole blocks, and when. Which blocks rows read is tested with the backend.
#include "kernels/cuda/attention/block_choice.h"
#include "tests/kernels/cuda/device_pool.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::testing;

namespace {

constexpr int kBlocks = 8;
constexpr int kBlockSize = 4;
constexpr int kHeads = 2;
constexpr int kHeadSize = 22;
constexpr int kLayers = 2;

/// A row that sees blocks 1 to 7, of the last three slots, and may read 4 of them.
class Choice {
 public:
  Choice(EmulatedDevice& card, bool isFloat, Random& random)
      : m_card(card),
        m_pool(card, {.isFloat = isFloat,
                      .layers = kLayers,
                      .blocks = kBlocks,
                      .blockSize = kBlockSize,
                      .heads = kHeads,
                      .headSize = 32,
                      .padding = 32 - kHeadSize}),
        m_bounds(card.empty<std::byte>(kLayers * kBlocks * kHeads * 2 * 32 * m_pool.shape().elementBytes())),
        m_bounded(card.upload(std::vector<std::uint8_t>(kLayers * kBlocks * kHeads))),
        m_queries(card.upload(testing::toBf16(randomValues(random, 2 * kHeads * kHeadSize)))),
        m_angles(kHeadSize, 50, 10000),
        m_cosSin(card.upload(m_angles.cosSin())) {
    for (int block = 1; block < kBlocks; ++block) {
      m_blocks.push_back({.row = 0,
                          .block = block,
                          .begin = 0,
                          .end = block + 1 == kBlocks ? kBlockSize - 1 : kBlockSize,
                          .rotation = 27});
    }
    m_blocks.emplace_back();  // has nothing to do
  }

  DevicePool& pool() { return m_pool; }
  std::vector<std::uint8_t> bounded() { return m_card.download(m_bounded); }
  void forget(int block) {
    std::vector<std::uint8_t> notes = bounded();
    for (int head = 0; head < kHeads; ++head)
      notes[static_cast<std::size_t>(m_pool.shape().headOf(1, block, head))] = 0;
    m_card.stream.copyToDevice(m_bounded.data(), notes.data(), notes.size());
    m_card.stream.synchronize();
  }

  /// Bounds of what the row scores in each block, by key head.
  std::vector<float> run(bool keeps) {
    cuda::KeyValuePool pool = m_pool.shape();
    if (keeps) pool.bounds = m_bounds.data();
    pool.bounded = m_bounded.data();
    const auto blocks = m_card.upload(m_blocks);
    const auto rows =
        m_card.upload(std::vector<cuda::ChoiceRow>{{.first = 0, .count = kBlocks - 1, .most = 4}});
    const auto bounds = m_card.upload(std::vector<float>(kHeads * m_blocks.size()));
    const auto chosen = m_card.upload(std::vector<std::uint8_t>(kHeads * m_blocks.size()));
    cuda::chooseBlocks(m_card.stream, {.queries = m_queries.data(),
                                       .queryStride = 2 * kHeads * kHeadSize,
                                       .queryHeads = 2 * kHeads,
                                       .pool = pool,
                                       .layer = 1,
                                       .blocks = blocks.data(),
                                       .blockCount = static_cast<int>(m_blocks.size()),
                                       .rows = rows.data(),
                                       .rowCount = 1,
                                       .cosSin = m_cosSin.data(),
                                       .bounds = bounds.data(),
                                       .chosen = chosen.data()});
    return m_card.download(bounds);
  }

 private:
  EmulatedDevice& m_card;
  DevicePool m_pool;
  DeviceArray<std::byte> m_bounds;
  DeviceArray<std::uint8_t> m_bounded;
  DeviceArray<cuda::Bf16> m_queries;
  RotaryAngles m_angles;
  DeviceArray<float> m_cosSin;
  std::vector<cuda::ChoiceBlock> m_blocks;
};

}  // namespace

class TestBlockChoice : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void wholeBlocksAreMeasuredOnce_data() {
    QTest::addColumn<bool>("isFloat");
    QTest::newRow("f32") << true;
    QTest::newRow("bf16") << false;
  }
  void wholeBlocksAreMeasuredOnce() {
    QFETCH(bool, isFloat);
    const std::uint64_t seed = testSeed(20251201);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    EmulatedDevice card;
    Random random(seed);
    Choice choice(card, isFloat, random);
    choice.pool().fillAtRandom(random);
    const std::vector<float> measured = choice.run(false);
    QVERIFY(choice.bounded() == std::vector<std::uint8_t>(kLayers * kBlocks * kHeads));
    inEveryOrder(card, [&](const char* order) { QVERIFY2(choice.run(true) == measured, order); });
    const cuda::KeyValuePool& shape = choice.pool().shape();
    const std::vector<std::uint8_t> notes = choice.bounded();
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int block = 0; block < kBlocks; ++block) {
        for (int head = 0; head < kHeads; ++head) {
          const bool isKept = layer == 1 && block > 0 && block + 1 < kBlocks;
          QCOMPARE(notes[static_cast<std::size_t>(shape.headOf(layer, block, head))], isKept ? 1 : 0);
        }
      }
    }

    // Other keys without a notification: only the last block is measured again.
    choice.pool().fillAtRandom(random);
    const std::vector<float> now = choice.run(false);
    choice.forget(3);
    const std::vector<float> kept = choice.run(true);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::size_t place = i % kBlocks;  // of a head: blocks 1 to 7, and the one with nothing to do
      const bool isAnew = place + 1 == 3 || place + 2 >= kBlocks;
      QCOMPARE(kept[i], isAnew ? now[i] : measured[i]);
    }
    QVERIFY(now != measured);
  }
};

SPANSCOPE_TEST(tst_block_choice, TestBlockChoice)
#include "tst_block_choice.moc"
