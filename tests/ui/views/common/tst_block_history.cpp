// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/ui/views/common/traced_requests.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"

#include <QTest>

using namespace spanscope;

class TestBlockHistory : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void storedUntilEvicted();
  void lostToAnotherRequest();
  void snapshotsTakeWhatTheyDoNotHave();
  void growsWithTheTrace();
  void csvIsQuoted();
};

void TestBlockHistory::storedUntilEvicted() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 8, 1);
  const std::size_t before = maker.trace()->size();
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input")});
  maker.send(2, 2, trace::BlockRemoved{1, {1, 1}, trace::RemovalReason::Evicted});
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  QVERIFY(history.storedAt(1, before).has_value());
  QVERIFY(history.usedAt(1, before).has_value());
  QVERIFY(!history.lostAt(1, 1, before));
  QVERIFY(!history.storedAt(1, input.position));
  QCOMPARE(history.lostAt(1, 1, input.position), std::optional(input.position - 1));
  QVERIFY(!history.lostAt(2, 1, input.position));
  QVERIFY(!history.storedAt(99, input.position));
}

void TestBlockHistory::lostToAnotherRequest() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 4, 1);
  maker.send(0, 0, trace::BlockRemoved{1, {1, 1}, trace::RemovalReason::Grown});
  const std::size_t grown = maker.trace()->size();
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input")});
  maker.send(2, 2, trace::BlockAllocated{1, 0, 0});
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  QVERIFY(!history.lostAt(1, 1, grown));
  QVERIFY(history.lostAt(1, 1, input.position).has_value());
  QVERIFY(!history.lostAt(1, 2, input.position));
}

void TestBlockHistory::snapshotsTakeWhatTheyDoNotHave() {
  test::TraceMaker maker(4, 4);
  maker.computedRequest(1, 1, 8, 1);
  trace::Snapshot snapshot;
  snapshot.pool = maker.trace()->newest().pool().state();
  snapshot.pool.blocks[2] = {};
  maker.send(0, 0, snapshot);
  const ui::ViewInput input = maker.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  QVERIFY(!history.lostAt(1, 1, input.position));
  QVERIFY(history.lostAt(2, 1, input.position).has_value());
}

void TestBlockHistory::growsWithTheTrace() {
  test::TraceMaker maker;
  ui::BlockHistory history;
  history.follow(maker.trace());
  QVERIFY(!history.storedAt(1, maker.trace()->size()));
  maker.computedRequest(1, 1, 4, 1);
  history.follow(maker.trace());
  QVERIFY(history.storedAt(1, maker.trace()->size()).has_value());
  const test::TraceMaker other;
  history.follow(other.trace());
  QVERIFY(!history.storedAt(1, other.trace()->size()));
}

void TestBlockHistory::csvIsQuoted() {
  QCOMPARE(ui::csvLine({QStringLiteral("a"), QStringLiteral("b,c"), QStringLiteral("say \"x\""), QString()}),
           QStringLiteral("a,\"b,c\",\"say \"\"x\"\"\",\n"));
}

SPANSCOPE_TEST(tst_block_history, TestBlockHistory, QApplication)
#include "tst_block_history.moc"
