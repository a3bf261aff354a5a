// SPDX-License-Identifier: GPL-3.0-or-later
// A session that serves for a long time takes no more memory than one that has just filled its pool.
#include "engine/cache/kv_cache.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/trace/sink.h"
#include "tests/engine/run/random_tables.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <malloc.h>

#include <algorithm>
#include <random>

using namespace spanscope;

namespace {

constexpr int kRequests = 100'000;
constexpr int kWarm = 10'000;
constexpr std::int32_t kBlocks = 65;

/// Bytes that are allocated now; 0 where the allocator does not say.
std::uint64_t allocatedBytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

model::ModelConfig tiniest() {
  model::ModelConfig config = test::tinyConfig();
  config.hiddenSize = 8;
  config.intermediateSize = 8;
  config.layers = 1;
  config.heads = 1;
  config.keyValueHeads = 1;
  config.headSize = 8;
  return config;
}

}  // namespace

class TestMemoryBound : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The pool bounds the records about contents, for any queries: of each stored block its content and at
  /// most one root. Records of evicted contents have a max number.
  void contentsAreBoundedByThePool() {
    const std::uint32_t seed = 20261123;
    qInfo("seed %u", seed);
    cache::CacheConfig config;
    config.blockSize = 4;
    config.blockCount = kBlocks;
    trace::NoSink sink;
    cache::KvCache cache(config, sink);
    test::RandomTables tables(seed, 61, 23);
    std::size_t most = 0;
    std::uint64_t warm = 0;
    int refused = 0;
    for (int i = 1; i <= kRequests; ++i) {
      const layout::SpanTable table = tables.next(i % 4);
      cache::RequestSpec spec;
      spec.id = static_cast<RequestId>(i);
      spec.salt = i % 7 == 0 ? "tenant" : "";
      for (const layout::Segment& segment : table.segments) {
        cache::SegmentSpec& out = spec.segments.emplace_back();
        out.tokens = segment.tokens;
        out.base = segment.base;
        for (const std::uint32_t seen : segment.sees)
          out.sees.push_back({seen, segment.base - table.segments[seen].base, 0});
      }
      // Every request is another one than all before.
      for (int bits = i; bits > 0; bits /= 50) spec.segments.back().tokens.push_back(bits % 50);
      const auto admitted = cache.admit(spec);
      if (std::holds_alternative<cache::Refusal>(admitted)) {
        ++refused;
        continue;
      }
      cache.copied(spec.id);
      for (std::uint32_t segment = 0; segment < spec.segments.size(); ++segment)
        cache.computed(spec.id, segment, static_cast<std::int32_t>(spec.segments[segment].tokens.size()));
      cache.finish(spec.id);
      most = std::max(most, cache.contentCount());
      if (i == kWarm) warm = allocatedBytes();
    }
    const std::uint64_t end = allocatedBytes();
    qInfo("most contents %zu of a pool of %d blocks, %d refused, %.2f MB at %d requests, %.2f MB at %d", most,
          kBlocks - 1, refused, static_cast<double>(warm) / 1e6, kWarm, static_cast<double>(end) / 1e6,
          kRequests);
    QVERIFY(refused < kRequests / 10);
    QVERIFY2(most <= 2 * (kBlocks - 1), qPrintable(QString::number(most)));
    // 65536 remembered evictions, each in a list and in a table.
    QVERIFY(end < warm + 65536 * 128);
  }

  void aSessionTakesNoMoreThanWhenItsPoolWasFull() {
    const std::uint32_t seed = 7;
    qInfo("seed %u", seed);
    const model::ModelConfig shape = tiniest();
    const auto weights = model::makeRandomWeights(shape, 1);
    const auto backend = test::makeBackend("cpu", 1);
    model::Decoder decoder(shape, *weights, *backend);
    trace::NoSink sink;
    run::SessionConfig config;
    config.blockSize = 4;
    config.blockCount = kBlocks;
    run::Session session(config, decoder, *backend, "tiniest", "tiniest", nullptr, nullptr, sink);
    std::mt19937 random(seed);
    std::uint64_t warm = 0;
    for (int i = 1; i <= kRequests; ++i) {
      layout::SpanTable table;
      table.segments.resize(2);
      table.segments[0].independent = true;
      table.segments[0].tokens = {static_cast<TokenId>(random() % 61), 1, 2, 3, 4};
      table.segments[1].base = 5;
      table.segments[1].sees = {0};
      for (int bits = i; bits > 0; bits /= 50) table.segments[1].tokens.push_back(bits % 50);
      session.logits({.table = std::move(table)});
      if (i == kWarm) warm = allocatedBytes();
    }
    const std::uint64_t end = allocatedBytes();
    qInfo("%.2f MB at %d requests, %.2f MB at %d", static_cast<double>(warm) / 1e6, kWarm,
          static_cast<double>(end) / 1e6, kRequests);
    QVERIFY(end < warm + 65536 * 128);
  }
};

SPANSCOPE_TEST(tst_memory_bound, TestMemoryBound)
#include "tst_memory_bound.moc"
