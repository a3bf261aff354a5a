// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run fits, and the smallest pool in which it does.
#include "engine/run/drive_plan.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QTest>

#include <algorithm>
#include <string>

using namespace spanscope;
using namespace spanscope::run;

namespace {

/// A run that needs a pool of that size, and then fails for `other`.
PredictInSession needing(std::int32_t blocks, int& calls, std::optional<Error> other = {}) {
  return [blocks, other, &calls](const SessionConfig& session) {
    ++calls;
    Prediction prediction;
    prediction.errorIsCertain = true;
    if (session.blockCount < blocks)
      prediction.error = errorAt("/g", "too many blocks", "at most " + std::to_string(session.blockCount));
    else
      prediction.error = other;
    return prediction;
  };
}

SessionConfig ofEightBlocks() {
  SessionConfig session;
  session.blockCount = 8;
  return session;
}

}  // namespace

class TestPlanFit : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theSmallestPoolIsFound() {
    for (const std::int32_t needed : {9, 16, 17, 245, 1000}) {
      int calls = 0;
      const SessionConfig session = ofEightBlocks();
      const PredictInSession predict = needing(needed, calls);
      const std::optional<PlanFit> fit = planFit(predict(session), session, predict);
      QVERIFY(fit && fit->error && fit->isCertain);
      QCOMPARE(fit->blocksNeeded, needed);
      QVERIFY(calls < 20);
    }
  }

  /// Only as much of the pool is tried as the run needs.
  void aLargePoolIsNotTriedAsAWhole() {
    SessionConfig session;
    session.blockCount = 1 << 24;
    std::int32_t largest = 0;
    const auto noting = [&](const PredictInSession& predict) {
      return [&largest, predict](const SessionConfig& part) {
        largest = std::max(largest, part.blockCount);
        return predict(part);
      };
    };
    int calls = 0;
    QVERIFY(planFit(session, noting(needing(3000, calls))) == PlanFit{});
    QVERIFY(largest < 30'000);
    // A prompt that is too long for the model fails in every pool.
    const Error tooLong = errorAt("/g", "9000 tokens", "at most 8191");
    const std::optional<PlanFit> fit = planFit(session, noting(needing(3000, calls, tooLong)));
    QVERIFY(fit && fit->error == tooLong && fit->isCertain && fit->blocksNeeded == 0);
    QVERIFY(largest < 1'000'000);
    session.blockCount = 2000;
    const std::optional<PlanFit> small = planFit(session, needing(3000, calls));
    QVERIFY(small && small->error && small->blocksNeeded == 3000);
  }

  void whatFitsNeedsNoOtherPool() {
    int calls = 0;
    const SessionConfig session = ofEightBlocks();
    const PredictInSession predict = needing(8, calls);
    QVERIFY(planFit(predict(session), session, predict) == PlanFit{});
    QCOMPARE(calls, 1);
  }

  /// A prompt that is longer than the context stays so, in whatever pool.
  void noPoolHelpsAgainstTheContext() {
    for (const std::int32_t needed : {4, 100}) {
      int calls = 0;
      const SessionConfig session = ofEightBlocks();
      const PredictInSession predict = needing(needed, calls, errorAt("/g", "too long", "shorter"));
      const std::optional<PlanFit> fit = planFit(predict(session), session, predict);
      QVERIFY(fit && fit->error);
      QCOMPARE(fit->blocksNeeded, 0);
      QVERIFY(calls < 20);
    }
  }

  void aStopEndsTheSearch() {
    const SessionConfig session = ofEightBlocks();
    Prediction first;
    first.error = errorAt("", "too many", "fewer");
    QVERIFY(!planFit(first, session, [](const SessionConfig&) {
      Prediction stopped;
      stopped.stopped = true;
      return stopped;
    }));
  }
};

SPANSCOPE_TEST(tst_plan_fit, TestPlanFit)
#include "tst_plan_fit.moc"
