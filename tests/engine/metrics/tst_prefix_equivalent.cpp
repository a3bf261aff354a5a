// SPDX-License-Identifier: GPL-3.0-or-later
// What a stock prefix cache would have found: blocks of 4 tokens, and as many as each test says.
#include "engine/metrics/metric_table.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QTest>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::trace;

namespace {

using Tokens = std::vector<TokenId>;

/// A session whose requests come one after the other.
class Session {
 public:
  explicit Session(std::size_t blocks, bool isWarm = false) {
    SessionStarted started;
    started.pool.blockSize = 4;
    started.pool.blocks.resize(blocks + 1);
    if (isWarm) started.pool.blocks[1].cached = true;
    send(0, 0, started);
  }

  void send(RunId run, RequestId request, Payload payload) {
    m_meter->take(Event{++m_sequence, 0, 1, run, request, {}, std::move(payload)});
  }

  /// What a cache would have found of the prompt, whose documents are segments of their own.
  std::optional<double> run(const std::vector<Tokens>& segments, const Tokens& answer) {
    const RequestId request = ++m_request;
    std::vector<SegmentInfo> table;
    for (const Tokens& tokens : segments) {
      SegmentInfo& segment = table.emplace_back();
      segment.independent = true;
      segment.tokens = tokens;
    }
    send(1, request, SpanTableLaidOut{SharedList<SegmentInfo>(std::move(table))});
    send(1, request, RequestAdmitted{});
    for (std::size_t i = 0; i < answer.size(); ++i) {
      TokenGenerated token;
      token.index = static_cast<std::int32_t>(i);
      token.token = answer[i];
      send(1, request, token);
    }
    send(1, request, StepFinished{0, answer.empty() ? StepOutcome::Failed : StepOutcome::EndToken, {}});
    return m_meter->of(request);
  }

 private:
  std::unique_ptr<metrics::Meter> m_meter = metrics::get("prefix-equivalent-tokens").meter();
  std::uint64_t m_sequence = 0;
  RequestId m_request = 0;
};

const Tokens kSystem{1, 2, 3, 4};
const Tokens kFirst{5, 6, 7, 8};
const Tokens kSecond{9, 10, 11, 12};
const Tokens kQuestion{13, 14};

}  // namespace

class TestPrefixEquivalent : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void findsTheCommonPrefix() {
    Session session(8);
    QCOMPARE(session.run({kSystem, kFirst, kSecond, kQuestion}, {20, 21}), std::optional(0.0));
    QCOMPARE(session.run({kSystem, kFirst, kSecond, kQuestion}, {20, 21}), std::optional(12.0));
    // Documents in another order share the system prompt alone.
    QCOMPARE(session.run({kSystem, kSecond, kFirst, kQuestion}, {20, 21}), std::optional(4.0));
  }

  void alwaysComputesTheLastToken() {
    Session session(8);
    (void)session.run({kSystem, kFirst}, {20});
    QCOMPARE(session.run({kSystem, kFirst}, {20}), std::optional(4.0));
  }

  /// The answer is part of the conversation. No forward pass has read its last token.
  void findsAnswers() {
    Session session(8);
    (void)session.run({kSystem, kQuestion}, {20, 21, 22});
    QCOMPARE(session.run({kSystem, kQuestion, {20, 21}, kFirst}, {30}), std::optional(8.0));
    Session other(8);
    (void)other.run({kSystem, kQuestion}, {20, 21});
    QCOMPARE(other.run({kSystem, kQuestion, {20, 21}, kFirst}, {30}), std::optional(4.0));
  }

  void evictsTheLeastRecentlyUsed() {
    Session session(2);
    (void)session.run({kSystem, kFirst, kQuestion}, {20});
    (void)session.run({kSecond, kQuestion}, {20});
    // The system prompt was used after the document that follows it.
    QCOMPARE(session.run({kSystem, kFirst, kQuestion}, {20}), std::optional(4.0));
  }

  void findsNothingOfAFailedStep() {
    Session session(8);
    (void)session.run({kSystem, kQuestion}, {});
    QCOMPARE(session.run({kSystem, kQuestion}, {20}), std::optional(0.0));
  }

  void forgetsAClearedCache() {
    Session session(8);
    (void)session.run({kSystem, kQuestion}, {20});
    session.send(0, 0, CacheCleared{});
    QCOMPARE(session.run({kSystem, kQuestion}, {20}), std::optional(0.0));
  }

  /// What was computed before is not known, so the number would be a guess.
  void saysNothingWhereEventsAreMissing() {
    Session warm(8, true);
    QCOMPARE(warm.run({kSystem, kQuestion}, {20}), std::optional<double>());
    warm.send(0, 0, CacheCleared{});
    QCOMPARE(warm.run({kSystem, kQuestion}, {20}), std::optional(0.0));
    Session server(0);
    QCOMPARE(server.run({kSystem, kQuestion}, {20}), std::optional<double>());
    Session cut(8);
    (void)cut.run({kSystem, kQuestion}, {20});
    Snapshot snapshot;
    snapshot.pool.blockSize = 4;
    snapshot.pool.blocks.resize(9);
    cut.send(0, 0, snapshot);
    QCOMPARE(cut.run({kSystem, kQuestion}, {20}), std::optional<double>());
  }
};

SPANSCOPE_TEST(tst_prefix_equivalent, TestPrefixEquivalent)
#include "tst_prefix_equivalent.moc"
