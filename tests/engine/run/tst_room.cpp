// SPDX-License-Identifier: GPL-3.0-or-later
// Requests and teams in small pools that are emptied under them: one fails only where a pool that nothing
// else is in would be too small for it, of a team for all together, and says by how much. So whether it fails
// does not depend on what is in the pool.
#include "engine/policy/choice.h"
#include "engine/run/request_options.h"
#include "tests/engine/behaviour/quiet_model.h"
#include "tests/engine/run/random_tables.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace spanscope;
using run::Scheduler;
using spanscope::behaviour::QuietModel;
using spanscope::test::RandomTables;
using spanscope::testing::Random;

namespace {

constexpr RunId kRun = 1;

/// One request of a made-up plan.
struct Planned {
  layout::SpanTable table;
  std::int32_t answerTokens = 1;
  std::uint32_t team = 0;          ///< 0: none
  std::vector<std::size_t> needs;  ///< those that have to have ended before
};

struct Case {
  cache::CacheConfig cache;
  std::int32_t rowsPerPass = 1;
  std::vector<Planned> plan;
  std::vector<int> emptiedAt;  ///< passes, ascending
};

/// Counts the blocks that requests need in an empty pool. Equal tokens after equal tokens count once. A
/// partial block does not count where an earlier block of its request begins with it.
class BlockCount {
 public:
  explicit BlockCount(const cache::CacheConfig& config) : m_config(config) {}

  /// With the first `rows` tokens of its answer.
  void add(const Planned& request, std::int32_t rows) {
    std::vector<std::string> contents;
    std::map<std::string, std::set<std::string>> earlier;
    const auto size = static_cast<std::size_t>(m_config.blockSize);
    for (const layout::Segment& segment : request.table.segments) {
      const bool isLast = &segment == &request.table.segments.back();
      std::string before = "<";
      for (const std::uint32_t seen : segment.sees) {
        const layout::Segment& other = request.table.segments[seen];
        before += contents[seen] + "@" + std::to_string(segment.base - other.base) + ",";
      }
      before += ">";
      std::vector<TokenId> tokens = segment.tokens;
      for (std::int32_t row = 0; isLast && row < rows; ++row) tokens.push_back(5000 + row);
      std::size_t kept = tokens.size();
      if (isLast) kept = request.team != 0 && rows > 0 ? segment.tokens.size() : tokens.size() - 1;
      for (std::size_t begin = 0; begin < tokens.size(); begin += size) {
        const std::size_t end = std::min(begin + size, tokens.size());
        std::string block;
        for (std::size_t at = begin; at < end; ++at) block += std::to_string(tokens[at]) + " ";
        const bool canBeFound = end <= kept && (end - begin == size || m_config.cacheTails);
        const bool isTail = end - begin < size;
        std::set<std::string>& others = earlier[before];
        if (!canBeFound) {
          ++m_own;
        } else if (!isTail || std::none_of(others.begin(), others.end(),
                                           [&](const auto& other) { return other.starts_with(block); })) {
          others.insert(block);
          m_found.insert(before + block);
        }
        before += block;
      }
      contents.push_back(before);
    }
  }

  std::int64_t blocks() const { return m_own + static_cast<std::int64_t>(m_found.size()); }

 private:
  cache::CacheConfig m_config;
  std::set<std::string> m_found;  ///< with all that is before them
  std::int64_t m_own = 0;         ///< that nothing else shares
};

/// The most that one request, or all of a team at once, come to need.
std::int64_t mostNeeded(const Case& made) {
  std::int64_t most = 0;
  std::map<std::uint32_t, BlockCount> teams;
  for (const Planned& request : made.plan) {
    if (request.team != 0) {
      // The last token of an answer is not computed.
      teams.try_emplace(request.team, made.cache).first->second.add(request, request.answerTokens - 1);
      continue;
    }
    for (std::int32_t rows = 0; rows < request.answerTokens; ++rows) {
      BlockCount alone(made.cache);
      alone.add(request, rows);
      most = std::max(most, alone.blocks());
    }
  }
  for (const auto& [team, count] : teams) most = std::max(most, count.blocks());
  return most;
}

Case makeCase(Random& random) {
  Case made;
  made.cache.blockSize = std::array{1, 2, 4, 8}[random.below(4)];
  made.cache.cacheTails = random.below(4) > 0;
  made.rowsPerPass = std::array{1, 3, 7, 64}[random.below(4)];
  RandomTables tables(random.next(), 30, 1 + static_cast<std::int32_t>(random.below(9)));
  std::vector<layout::SpanTable> known{tables.next(static_cast<int>(random.below(3)))};
  const auto nextTable = [&] {
    if (random.below(3) > 0) known.push_back(tables.next(static_cast<int>(random.below(3))));
    return known[random.below(known.size())];
  };
  const std::size_t units = 1 + random.below(5);
  std::uint32_t teams = 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const bool isTeam = random.below(2) == 0;
    if (isTeam) ++teams;
    const std::size_t members = isTeam ? 2 + random.below(3) : 1;
    // Nobody of a team needs another one of it.
    const std::size_t before = made.plan.size();
    for (std::size_t member = 0; member < members; ++member) {
      Planned& request = made.plan.emplace_back();
      request.table = nextTable();
      request.answerTokens = 1 + static_cast<std::int32_t>(random.below(random.below(3) == 0 ? 30 : 6));
      request.team = isTeam ? teams : 0;
      while (before > 0 && random.below(4) == 0) request.needs.push_back(random.below(before));
    }
  }
  for (std::size_t times = random.below(4); times > 0; --times)
    made.emptiedAt.push_back(static_cast<int>(random.below(60)));
  std::sort(made.emptiedAt.begin(), made.emptiedAt.end());
  return made;
}

/// Members of teams are between others in the order in which they become ready.
std::vector<std::size_t> shuffled(Random& random, std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// Gives the requests of a plan to a scheduler as their needs end.
class PlanSource final : public run::RequestSource {
 public:
  PlanSource(const Case& made, const QuietModel& model, std::vector<std::size_t> order)
      : m_case(made), m_model(model), m_left(order.begin(), order.end()) {}

  bool hasNext() const override { return m_model.errors.empty() && ready() != m_left.end(); }
  bool submitNext(Scheduler& scheduler) override {
    if (!hasNext()) return false;
    const auto ready = this->ready();
    const Planned& request = m_case.plan[*ready];
    run::RequestOptions options;
    options.run = kRun;
    options.maxNewTokens = request.answerTokens;
    if (request.team != 0) {
      options.team = placeOf(*ready);
      options.rows = policy::findChoice("views")->planRows(request.table, true);
    }
    m_ids[*ready] = scheduler.submit(request.table, std::move(options));
    m_left.erase(ready);
    return true;
  }
  bool isDone() const { return m_left.empty() && m_model.outcomes.size() == m_case.plan.size(); }
  RequestId idOf(std::size_t request) const { return m_ids.at(request); }

 private:
  /// The first that needs nobody who has not ended.
  std::deque<std::size_t>::const_iterator ready() const {
    return std::find_if(m_left.begin(), m_left.end(), [this](std::size_t each) {
      return std::all_of(m_case.plan[each].needs.begin(), m_case.plan[each].needs.end(),
                         [this](std::size_t need) { return hasEnded(need); });
    });
  }
  bool hasEnded(std::size_t request) const {
    const auto id = m_ids.find(request);
    return id != m_ids.end() && m_model.outcomes.contains(id->second);
  }
  run::TeamPlace placeOf(std::size_t request) const {
    run::TeamPlace place{.team = m_case.plan[request].team, .place = 0, .members = 0, .positions = 1 << 20};
    for (std::size_t i = 0; i < m_case.plan.size(); ++i) {
      if (m_case.plan[i].team != place.team) continue;
      if (i < request) ++place.place;
      ++place.members;
    }
    return place;
  }

  const Case& m_case;
  const QuietModel& m_model;
  std::deque<std::size_t> m_left;
  std::map<std::size_t, RequestId> m_ids;
};

/// The blocks that an error says are needed, and those that it says there are.
std::pair<std::int64_t, std::int64_t> saidBlocks(const Error& error) {
  static const QRegularExpression kNeeded(QStringLiteral("needs? (\\d+) block"));
  static const QRegularExpression kThere(QStringLiteral("(\\d+) usable block"));
  const QString text = QString::fromStdString(error.message());
  return {kNeeded.match(text).captured(1).toLongLong(), kThere.match(text).captured(1).toLongLong()};
}

}  // namespace

class TestRoom : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void failsOnlyWhereAnEmptyPoolIsTooSmall() {
    const std::uint64_t seed = spanscope::testing::testSeed(20261123);
    qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
    constexpr int kCases = 2000;
    int failed = 0;
    int preemptions = 0;
    for (int i = 0; i < kCases; ++i) {
      Random random(seed + static_cast<std::uint64_t>(i));
      Case made = makeCase(random);
      const std::int64_t needed = mostNeeded(made);
      const std::int64_t usable =
          std::max<std::int64_t>(1, needed + random.between(-2, random.below(2) == 0 ? 2 : 12));
      made.cache.blockCount = static_cast<std::int32_t>(usable) + 1;
      const auto describe = [&](const std::string& what) {
        return QString("case %1: %2; %3 blocks of %4, needed %5")
            .arg(i)
            .arg(QString::fromStdString(what))
            .arg(usable)
            .arg(made.cache.blockSize)
            .arg(needed);
      };

      QuietModel model(made.cache, made.rowsPerPass);
      PlanSource source(made, model, shuffled(random, made.plan.size()));
      constexpr int kMostPasses = 100'000;
      int passes = 0;
      auto empties = made.emptiedAt.begin();
      for (; !source.isDone() && model.errors.empty() && passes < kMostPasses; ++passes) {
        if (empties != made.emptiedAt.end() && *empties == passes) {
          QVERIFY(model.scheduler.clearCache(Scheduler::Running::Preempt));
          ++empties;
        }
        model.scheduler.pass({}, &source);
      }
      QVERIFY2(passes < kMostPasses, qPrintable(describe("it does not end")));
      preemptions += static_cast<int>(model.preempted.size());
      if (needed > usable) {
        failed += model.errors.empty() ? 0 : 1;
        QVERIFY2(!model.errors.empty(), qPrintable(describe("nothing failed")));
        for (const auto& [request, error] : model.errors) {
          const auto [said, there] = saidBlocks(error);
          QVERIFY2(there == usable && said > usable && said <= needed, qPrintable(describe(error.message())));
        }
      } else {
        if (!model.errors.empty()) QFAIL(qPrintable(describe(model.errors.begin()->second.message())));
        for (std::size_t each = 0; each < made.plan.size(); ++each) {
          const std::vector<TokenId>& answer = model.answers.at(source.idOf(each));
          QCOMPARE(static_cast<std::int32_t>(answer.size()), made.plan[each].answerTokens);
        }
      }
      model.scheduler.abort(kRun);
      QCOMPARE(model.cache.freeBlocks(), usable);
    }
    qInfo("%d of %d failed, requests gave way %d times", failed, kCases, preemptions);
    QVERIFY(failed > kCases / 20 && failed < kCases / 2);
    QVERIFY(preemptions > kCases);
  }
};

SPANSCOPE_TEST(tst_room, TestRoom)
#include "tst_room.moc"
