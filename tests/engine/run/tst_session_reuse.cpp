// SPDX-License-Identifier: GPL-3.0-or-later
// Reused values equal computed values, bit for bit, and the events report the whole state of the pool.
#include "engine/run/run_options.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/random_tables.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/equal_bits.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace spanscope;
using spanscope::test::blocksOf;
using spanscope::test::RandomTables;
using spanscope::test::TinySession;
using spanscope::testing::equalBits;

class TestSessionReuse : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reusedEqualsColdBitForBit_data() {
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("rowsPerPass");
    QTest::addColumn<int>("threads");
    QTest::addColumn<double>("poolRequests");
    QTest::addColumn<bool>("bf16");
    QTest::newRow("blocks of 16, whole prompts") << 16 << 512 << 2 << 8.0 << false;
    QTest::newRow("blocks of 4, chunks of 7") << 4 << 7 << 1 << 3.0 << false;
    QTest::newRow("blocks of 5, single rows") << 5 << 1 << 2 << 2.0 << false;
    QTest::newRow("tiny pool") << 4 << 16 << 3 << 1.2 << false;
    QTest::newRow("tiny pool, blocks of 2") << 2 << 64 << 2 << 1.2 << false;
    QTest::newRow("bf16 keys and values") << 8 << 11 << 2 << 4.0 << true;
    QTest::newRow("one block a span") << 32 << 512 << 1 << 4.0 << false;
  }
  void reusedEqualsColdBitForBit() {
    QFETCH(int, blockSize);
    QFETCH(int, rowsPerPass);
    QFETCH(int, threads);
    QFETCH(double, poolRequests);
    QFETCH(bool, bf16);
    const std::uint64_t seed = testing::testSeed(20240611);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));

    RandomTables tables(seed, test::tinyConfig().vocabularySize, 23);
    std::vector<layout::SpanTable> prompts;
    for (int i = 0; i < 60; ++i) prompts.push_back(tables.next(i % 4));

    std::int64_t largest = 0;
    for (const auto& prompt : prompts) largest = std::max(largest, blocksOf(prompt, blockSize));
    run::SessionConfig config;
    config.blockSize = blockSize;
    config.rowsPerPass = rowsPerPass;
    config.kvType = bf16 ? compute::DType::BF16 : compute::DType::F32;
    // The null block, the possible copy of a partial block, and room for this number of the largest request.
    config.blockCount = 2 + static_cast<int>(std::ceil(static_cast<double>(largest) * poolRequests));
    TinySession warm(threads, config);

    // The cold runs use other threads, chunks and an empty pool, so that agreement says something about all
    // of them.
    run::SessionConfig coldConfig = config;
    coldConfig.blockCount = 2 + static_cast<int>(2 * largest);
    coldConfig.rowsPerPass = 512;
    TinySession cold(1, coldConfig);

    std::int64_t cached = 0;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 120; ++i) {
      const auto& prompt = prompts[random() % prompts.size()];
      cold.session->clearCache();
      const auto expected = cold.session->logits({.table = prompt});
      const auto found = warm.session->logits({.table = prompt});
      QCOMPARE(expected.cachedTokens >= 0 && found.logits.size() == 1, true);
      QVERIFY2(equalBits(found.logits.front(), expected.logits.front()),
               qPrintable(QString("prompt %1, %2 of %3 tokens cached")
                              .arg(i)
                              .arg(found.cachedTokens)
                              .arg(prompt.tokenCount())));
      cached += found.cachedTokens;
    }
    QVERIFY2(cached > 500, qPrintable(QString("only %1 tokens were reused").arg(cached)));
  }

  void everyTokenOfAColdRunIsComputed() {
    RandomTables tables(testing::testSeed(20240611) + 1, test::tinyConfig().vocabularySize, 23);
    TinySession tiny(2, {});
    for (int i = 0; i < 10; ++i) {
      tiny.session->clearCache();
      const auto prompt = tables.next(0);
      const auto result = tiny.session->logits({.table = prompt, .everyToken = true});
      QCOMPARE(static_cast<std::int64_t>(result.logits.size()), prompt.tokenCount());
    }
  }

  void replayGivesTheEnginesPoolAtEveryStep() {
    const std::uint64_t seed = testing::testSeed(20240611) + 2;
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    RandomTables tables(seed, test::tinyConfig().vocabularySize, 23);
    run::SessionConfig config;
    config.blockSize = 4;
    config.blockCount = 120;
    config.rowsPerPass = 13;
    TinySession tiny(2, config);

    trace::Replay replay;
    const auto apply = [&replay](const trace::Event& event) {
      const auto error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    };
    for (const auto& event : tiny.sink.events) apply(event);
    QCOMPARE(replay.pool().state(), tiny.session->dumpPool());
    int compared = 0;
    tiny.sink.onEvent = [&](const trace::Event& event) {
      apply(event);
      if (!std::holds_alternative<trace::BatchComputed>(event.payload)) return;
      QCOMPARE(replay.pool().state(), tiny.session->dumpPool());
      ++compared;
    };
    std::int64_t evicted = 0;
    for (int i = 0; i < 80; ++i) {
      try {
        tiny.session->logits({.table = tables.next(i % 4)});
      } catch (const Failure&) {
        // Prompts larger than the pool are refused; that must leave the pool as it was, too.
      }
      QCOMPARE(replay.pool().state(), tiny.session->dumpPool());
    }
    for (const auto& removed : tiny.sink.all<trace::BlockRemoved>()) {
      if (removed.reason == trace::RemovalReason::Evicted) ++evicted;
    }
    QVERIFY(compared > 100);
    QVERIFY(evicted > 20);
  }

  void promptThatNeverFitsSaysByHowMuch() {
    run::SessionConfig config;
    config.blockSize = 4;
    config.blockCount = 11;
    TinySession tiny(1, config);
    layout::SpanTable table;
    table.segments.resize(1);
    table.segments[0].tokens.assign(45, 3);
    const auto before = tiny.session->dumpPool();
    try {
      tiny.session->logits({.table = table});
      QFAIL("a prompt of 45 tokens was admitted to a pool of 40");
    } catch (const Failure& failure) {
      QVERIFY2(QString::fromUtf8(failure.what()).contains("45 tokens"), failure.what());
      QVERIFY2(QString::fromUtf8(failure.what()).contains("too few"), failure.what());
    }
    QCOMPARE(tiny.session->dumpPool(), before);
  }
};

SPANSCOPE_TEST(tst_session_reuse, TestSessionReuse)
#include "tst_session_reuse.moc"
