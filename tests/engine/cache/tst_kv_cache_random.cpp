// SPDX-License-Identifier: GPL-3.0-or-later
// Random requests on small pools. The driver holds everything the cache says against what it works out
// itself.
#include "tests/engine/cache/cache_driver.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdlib>
#include <random>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

trace::BlockKey collidingKey(std::span<const std::uint8_t>) {
  return {1, 1};
}

unsigned seedOfRun() {
  const char* given = std::getenv("SPANSCOPE_TEST_SEED");
  return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20260217U;
}

/// Makes requests that share much with each other, and takes random steps with them.
class RandomClient {
 public:
  RandomClient(const CacheConfig& config, KeyHash hash, unsigned seed)
      : m_random(seed), m_config(config), m_driver(config, hash) {
    const int documents = 3 + pick(6);
    for (int index = 0; index < documents; ++index) {
      std::vector<TokenId> document = tokens(pick(4 * config.blockSize + 2));
      // Some begin like others.
      if (index > 0 && pick(2) == 0) {
        std::vector<TokenId> start = m_documents[static_cast<std::size_t>(pick(index))];
        start.resize(start.size() - static_cast<std::size_t>(pick(static_cast<int>(start.size()) + 1)));
        document.insert(document.begin(), start.begin(), start.end());
      }
      m_documents.push_back(std::move(document));
    }
    for (int index = 0; index < 4; ++index) m_questions.push_back(tokens(1 + pick(2 * config.blockSize)));
  }

  void step() {
    const int choice = pick(20);
    if (choice < 6 || m_driver.live().empty()) {
      start();
    } else if (choice < 7 && m_driver.live().size() > 1) {
      m_driver.finish(someone());
    } else {
      advance(someone());
    }
  }

  void endAll() {
    while (!m_driver.live().empty()) m_driver.finish(someone());
    CacheDriver::require(m_driver.cache.clear(), "the cache is cleared when nothing runs");
    m_driver.check();
    CacheDriver::require(m_driver.cache.contentCount() == 0, "nothing is left");
  }

  int refusals = 0;
  int admissions = 0;
  int neverFits = 0;
  int waits = 0;
  int preemptions = 0;
  int resumptions = 0;
  const CacheDriver& driver() const { return m_driver; }

 private:
  int pick(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }

  std::vector<TokenId> tokens(int count) {
    std::vector<TokenId> result;
    for (int index = 0; index < count; ++index) result.push_back(pick(3));
    return result;
  }

  RequestId someone() {
    auto entry = m_driver.live().begin();
    std::advance(entry, pick(static_cast<int>(m_driver.live().size())));
    return entry->first;
  }

  RequestSpec makeRequest() {
    RequestSpec request;
    if (!m_history.empty() && pick(4) == 0) {
      // A conversation that goes on, or the same prompt once more.
      request = m_history[static_cast<std::size_t>(pick(static_cast<int>(m_history.size())))];
      std::vector<TokenId>& last = request.segments.back().tokens;
      const std::vector<TokenId> more =
          pick(2) == 0 ? tokens(pick(m_config.blockSize)) : std::vector<TokenId>{};
      last.insert(last.end(), more.begin(), more.end());
    } else {
      const int count = pick(5);
      std::int64_t base = 0;
      for (int index = 0; index <= count; ++index) {
        SegmentSpec segment;
        const bool last = index == count;
        const std::vector<std::vector<TokenId>>& texts = last ? m_questions : m_documents;
        segment.tokens = texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
        segment.base = base;
        segment.node = "/" + std::to_string(index);
        const int sight = last ? 1 + pick(3) : pick(4);
        for (int other = 0; other < index; ++other) {
          if (sight == 0 || (sight == 2 && pick(2) == 0)) continue;
          if (!last && sight != 1) continue;
          const SegmentSpec& seen = request.segments[static_cast<std::size_t>(other)];
          const int length = static_cast<int>(seen.tokens.size());
          segment.sees.push_back(
              {static_cast<std::uint32_t>(other), base - seen.base, pick(8) == 0 ? pick(length + 1) : 0});
        }
        base += static_cast<std::int64_t>(segment.tokens.size());
        request.segments.push_back(std::move(segment));
      }
      if (pick(10) == 0) request.salt = "tenant";
    }
    request.id = ++m_lastId;
    request.run = 1 + request.id / 3;
    request.lookahead = pick(3) != 0 ? 0 : pick(2 * m_config.blockSize + 2);
    return request;
  }

  void start() {
    // A request that was refused is tried again, as a scheduler would.
    if (!m_waiting && !m_preempted.empty() && pick(3) != 0) {
      m_waiting = std::move(m_preempted.back());
      m_preempted.pop_back();
    }
    if (!m_waiting) m_waiting = makeRequest();
    if (m_driver.admit(*m_waiting)) {
      ++admissions;
      if (!m_waiting->computedBefore.empty()) ++resumptions;
      if (pick(3) != 0) m_driver.copied(m_waiting->id);
      m_waiting.reset();
      return;
    }
    ++refusals;
    switch (m_driver.lastRefusal->reason) {
      case Refusal::Reason::NeverFits:
        ++neverFits;
        m_waiting.reset();
        break;
      case Refusal::Reason::WaitForOther:
        ++waits;
        break;
      case Refusal::Reason::NoRoomNow:
        break;
    }
    if (pick(10) == 0) m_waiting.reset();
  }

  void advance(RequestId id) {
    if (pick(2) == 0 && !m_driver.live().at(id).copySources.empty()) m_driver.copied(id);
    if (m_driver.compute(id, 1 + pick(2 * m_config.blockSize))) return;
    if (pick(12) != 0) {
      if (!m_driver.append(id, pick(3))) {
        // The youngest gives way, be it this one.
        const RequestId youngest = m_driver.live().rbegin()->first;
        ++preemptions;
        m_preempted.push_back(m_driver.preempt(youngest));
        if (pick(2) == 0) m_preempted.back().segments.back().tokens.push_back(pick(3));
      } else if (pick(8) == 0 && m_driver.live().at(id).remaining > 0) {
        CacheDriver::require(m_driver.append(id, pick(3)), "there is room that was kept");
      }
      return;
    }
    m_history.push_back(m_driver.finish(id));
    if (m_history.size() > 6) m_history.erase(m_history.begin());
  }

  std::mt19937 m_random;
  CacheConfig m_config;
  CacheDriver m_driver;
  std::vector<std::vector<TokenId>> m_documents;
  std::vector<std::vector<TokenId>> m_questions;
  std::vector<RequestSpec> m_history;
  std::optional<RequestSpec> m_waiting;
  std::vector<RequestSpec> m_preempted;
  RequestId m_lastId = 0;
};

}  // namespace

Q_DECLARE_METATYPE(spanscope::cache::CacheConfig)
Q_DECLARE_METATYPE(spanscope::cache::KeyHash)

class TestKvCacheRandom : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void randomRequests_data() {
    QTest::addColumn<CacheConfig>("config");
    QTest::addColumn<KeyHash>("hash");
    QTest::addColumn<int>("steps");
    const auto row = [](const char* name, std::int32_t blockSize, std::int32_t blockCount, bool tails,
                        bool enabled, KeyHash hash = &xxh3Key) {
      CacheConfig config;
      config.blockSize = blockSize;
      config.blockCount = blockCount;
      config.cacheTails = tails;
      config.enabled = enabled;
      QTest::newRow(name) << config << hash << 2000;
    };
    row("one token a block", 1, 60, true, true);
    row("two tokens a block", 2, 40, true, true);
    row("four tokens a block, roomy", 4, 120, true, true);
    row("four tokens a block, room for a request and a bit", 4, 22, true, true);
    row("four tokens a block, tight", 4, 14, true, true);
    row("eight tokens a block, tight", 8, 16, true, true);
    row("eight tokens a block, roomy", 8, 100, true, true);
    row("four tokens a block, whole blocks only", 4, 30, false, true);
    row("four tokens a block, whole blocks only, tight", 4, 14, false, true);
    row("cache off", 4, 40, true, false);
    row("every key collides", 4, 30, true, true, &collidingKey);
  }

  void randomRequests() {
    QFETCH(CacheConfig, config);
    QFETCH(KeyHash, hash);
    QFETCH(int, steps);
    const unsigned seed = seedOfRun();
    const char* rounds = std::getenv("SPANSCOPE_TEST_ROUNDS");
    const unsigned count = rounds ? static_cast<unsigned>(std::strtoul(rounds, nullptr, 10)) : 2U;
    qInfo("SPANSCOPE_TEST_SEED=%u", seed);
    int admissions = 0;
    int refusals = 0;
    int waits = 0;
    int preemptions = 0;
    int resumptions = 0;
    std::size_t evictions = 0;
    std::size_t copies = 0;
    for (unsigned round = 0; round < count; ++round) {
      RandomClient client(config, hash, seed + round);
      int step = 0;
      try {
        for (; step < steps; ++step) client.step();
        client.endAll();
      } catch (const std::exception& error) {
        QFAIL(qPrintable(QStringLiteral("seed %1, step %2: %3")
                             .arg(seed + round)
                             .arg(step)
                             .arg(QLatin1String(error.what()))));
      }
      admissions += client.admissions;
      refusals += client.refusals;
      waits += client.waits;
      preemptions += client.preemptions;
      resumptions += client.resumptions;
      evictions += client.driver().sink.all<trace::BlockRemoved>().size();
      copies += client.driver().sink.all<trace::BlockCopied>().size();
    }
    qInfo("%d admitted, %d refused (%d to wait), %d preempted (%d resumed), %zu removed, %zu copied",
          admissions, refusals, waits, preemptions, resumptions, evictions, copies);
    QVERIFY(admissions > 100);
  }
};

SPANSCOPE_TEST(tst_kv_cache_random, TestKvCacheRandom)
#include "tst_kv_cache_random.moc"
