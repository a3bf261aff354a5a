// SPDX-License-Identifier: GPL-3.0-or-later
// The mask of a prompt: who sees whom, and why not.
#include "engine/trace/prompt_parts.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using trace::SegmentInfo;
using trace::Sight;
using trace::TokenPlace;
using trace::WhoSees;

namespace {

SegmentInfo segmentOf(std::size_t tokens, std::int64_t base, std::uint32_t scope,
                      std::vector<std::uint32_t> sees) {
  SegmentInfo info;
  info.tokens.resize(tokens);
  info.base = base;
  info.scope = scope;
  info.depth = scope == 0 ? 0 : 1;
  info.independent = scope != 0 && sees.empty();
  info.sees = std::move(sees);
  return info;
}

using Segments = std::vector<SegmentInfo>;

/// System, two documents, and a question: the policy spans.
Segments spans() {
  return {segmentOf(3, 0, 0, {}), segmentOf(4, 3, 1, {}), segmentOf(2, 7, 2, {}),
          segmentOf(3, 9, 0, {0, 1, 2})};
}

/// System, a document that holds a plus of two, and a question. The document's own text is before and after
/// its plus.
Segments nested() {
  return {segmentOf(1, 0, 0, {}),
          segmentOf(2, 1, 1, {}),
          segmentOf(2, 3, 2, {}),
          segmentOf(2, 5, 3, {}),
          segmentOf(2, 7, 1, {1, 2, 3}),
          segmentOf(1, 9, 4, {}),
          segmentOf(2, 10, 0, {0, 1, 2, 3, 4, 5})};
}

/// As in the policy link: the document's first two tokens are recomputed with attention to the system, and
/// the rest keeps a hidden copy of them.
Segments linked() {
  Segments segments{segmentOf(3, 0, 0, {}), segmentOf(2, 3, 1, {0}), segmentOf(5, 3, 1, {}),
                    segmentOf(1, 8, 0, {0, 1, 2})};
  segments[2].visibleBegin = 2;
  return segments;
}

/// As in the policy blend: two stored documents, and copies of them that attend to the tokens before them.
Segments blended() {
  Segments segments{segmentOf(2, 0, 0, {}),  segmentOf(4, 2, 1, {}),     segmentOf(4, 6, 2, {}),
                    segmentOf(4, 2, 1, {0}), segmentOf(4, 6, 2, {0, 3}), segmentOf(1, 10, 0, {0, 3, 4})};
  segments[1].hidden = true;
  segments[2].hidden = true;
  return segments;
}

}  // namespace

class TestSight : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whoSeesWhom_data() {
    QTest::addColumn<Segments>("segments");
    QTest::addColumn<TokenPlace>("row");
    QTest::addColumn<TokenPlace>("key");
    QTest::addColumn<Sight>("sight");
    const auto row = [](const char* name, const Segments& segments, TokenPlace at, TokenPlace key,
                        Sight sight) { QTest::newRow(name) << segments << at << key << sight; };
    row("itself", spans(), {1, 2}, {1, 2}, Sight::Own);
    row("the token before it", spans(), {1, 2}, {1, 1}, Sight::Own);
    row("the token behind it", spans(), {1, 2}, {1, 3}, Sight::Later);
    row("the next document", spans(), {1, 2}, {2, 0}, Sight::Later);
    row("the document before", spans(), {2, 0}, {1, 3}, Sight::Beside);
    row("the system before a document", spans(), {2, 1}, {0, 0}, Sight::Before);
    row("a document, from the question", spans(), {3, 0}, {1, 3}, Sight::Seen);
    row("a document, from the reply", spans(), {3, 7}, {2, 1}, Sight::Seen);
    row("the reply, from the reply", spans(), {3, 7}, {3, 6}, Sight::Own);
    row("no such segment", spans(), {3, 0}, {9, 0}, Sight::Hidden);
    row("an inner child and what it stands in", nested(), {2, 0}, {1, 0}, Sight::Before);
    row("an inner child and the system", nested(), {2, 0}, {0, 0}, Sight::Before);
    row("inner children", nested(), {3, 0}, {2, 1}, Sight::Beside);
    row("behind the inner plus", nested(), {4, 0}, {3, 1}, Sight::Seen);
    row("the next child and an inner child", nested(), {5, 0}, {2, 0}, Sight::Beside);
    row("a linked beginning sees the system", linked(), {1, 0}, {0, 2}, Sight::Seen);
    row("the rest has a beginning of its own", linked(), {2, 3}, {1, 1}, Sight::HiddenCopy);
    row("the rest does not see the system", linked(), {2, 3}, {0, 1}, Sight::Before);
    row("a hidden beginning is seen by nobody", linked(), {3, 0}, {2, 1}, Sight::Hidden);
    row("the question sees the rest", linked(), {3, 0}, {2, 2}, Sight::Seen);
    row("a stored document is seen by nobody", blended(), {5, 0}, {1, 0}, Sight::Hidden);
    row("a copy sees the copy before it", blended(), {4, 1}, {3, 0}, Sight::Seen);
  }
  void whoSeesWhom() {
    QFETCH(Segments, segments);
    QFETCH(TokenPlace, row);
    QFETCH(TokenPlace, key);
    QFETCH(Sight, sight);
    QCOMPARE(WhoSees(segments).sight(row, key), sight);
    QCOMPARE(trace::isSeen(sight), sight == Sight::Own || sight == Sight::Seen);
  }

  /// What was not computed again saw what the stored document saw.
  void copiesSeeByToken() {
    const Segments segments = blended();
    const trace::TokensRecomputed again{.layer = 1, .tokens = 8, .segments = {{4, {1, 3}}}};
    const WhoSees mask(segments, &again);
    QCOMPARE(mask.sight({4, 1}, {3, 0}), Sight::Seen);
    QCOMPARE(mask.sight({4, 1}, {0, 0}), Sight::Seen);
    QCOMPARE(mask.sight({4, 2}, {3, 0}), Sight::Beside);
    QCOMPARE(mask.sight({4, 2}, {0, 0}), Sight::Before);
    QCOMPARE(mask.sight({4, 2}, {4, 1}), Sight::Own);
    QCOMPARE(mask.storedIn({4, 1}), std::optional<std::uint32_t>());
    QCOMPARE(mask.storedIn({4, 2}), std::optional<std::uint32_t>(2));
    QCOMPARE(mask.storedIn({3, 0}), std::optional<std::uint32_t>(1));
    QCOMPARE(mask.storedIn({5, 0}), std::optional<std::uint32_t>());
    QVERIFY(mask.segmentsSeenBy({3, 0}).empty());
    QCOMPARE(mask.segmentsSeenBy({4, 3}), (std::vector<std::uint32_t>{0, 3}));
  }

  /// A stored document with segments of its own: what it saw of itself is seen in its copy.
  void copiesOfSeveralSegments() {
    Segments segments{segmentOf(2, 0, 1, {}),       segmentOf(2, 2, 2, {}),  segmentOf(2, 4, 1, {0, 1}),
                      segmentOf(2, 0, 1, {}),       segmentOf(2, 2, 2, {3}), segmentOf(2, 4, 1, {3, 4}),
                      segmentOf(1, 6, 0, {3, 4, 5})};
    for (std::size_t i = 0; i < 3; ++i) segments[i].hidden = true;
    const trace::TokensRecomputed again{.layer = 1, .tokens = 6, .segments = {}};
    const WhoSees mask(segments, &again);
    QCOMPARE(mask.segmentsSeenBy({5, 0}), (std::vector<std::uint32_t>{3, 4}));
    QVERIFY(mask.segmentsSeenBy({4, 1}).empty());
  }
};

SPANSCOPE_TEST(tst_sight, TestSight)
#include "tst_sight.moc"
