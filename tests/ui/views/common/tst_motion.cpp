// SPDX-License-Identifier: GPL-3.0-or-later
// The motion between two events: the player that reports moments, and the views that show them.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/moment.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/block_table/block_table_area.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/scrubber/scrubber.h"
#include "ui/views/scrubber/scrubber_model.h"
#include "ui/views/scrubber/scrubber_track.h"
#include "ui/views/tokens/token_strip_motion.h"
#include "ui/views/view.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

std::unique_ptr<View> movingView(const QString& id) {
  for (const ViewInfo& info : viewTable()) {
    if (info.id == id) return std::unique_ptr<View>(info.make(nullptr));
  }
  return nullptr;
}

/// The first beat from `from` on whose first event is such a one.
template <class Event, class Condition>
Beat findBeat(const TraceStore& trace, std::size_t from, Condition condition) {
  for (std::size_t at = from; at < trace.size();) {
    const Beat beat = beatFrom(trace, at);
    const auto* event = std::get_if<Event>(&trace.event(at).payload);
    if (event != nullptr && condition(*event)) return beat;
    at = beat.last;
  }
  return {};
}

/// Where blocks of a document that was found at another position are used.
Beat relocation(const TraceStore& trace) {
  const Beat looked = findBeat<trace::BlockLookedUp>(trace, 0, [](const trace::BlockLookedUp& lookup) {
    return lookup.outcome == trace::LookupOutcome::Relocated;
  });
  const auto& lookup = std::get<trace::BlockLookedUp>(trace.event(looked.first).payload);
  return findBeat<trace::BlockShared>(
      trace, looked.last, [&](const trace::BlockShared& shared) { return shared.block == lookup.block; });
}

QImage pictureOf(View& view) {
  // The map of attention is drawn when its events come.
  QCoreApplication::processEvents();
  return view.grab().toImage();
}

QImage exportOf(View& view) {
  QImage image(800, 500, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::white);
  QPainter painter(&image);
  view.paintTo(painter, image.size());
  painter.end();
  return image;
}

}  // namespace

class TestMotion : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    run::SessionConfig session;
    session.blockCount = 24;
    test::RunRecorder recorder(session);
    const document::Document document = test::exampleDocument("rag.json");
    recorder.run(document, policy::standardPolicy(), true);
    recorder.run(test::swapped(document), policy::standardPolicy(), true);
    // A pool that is full evicts.
    recorder.run(test::exampleDocument("judge-2.json"));
    m_runs = recorder.recorded();
    m_input = m_runs.input();
    m_short = m_runs.input(40).trace;
  }

  void beatsCoverTheTrace() {
    const TraceStore& trace = *m_input.trace;
    std::size_t at = 0;
    while (at < trace.size()) {
      const Beat beat = beatFrom(trace, at);
      QCOMPARE(beat.first, at);
      QVERIFY(beat.last > beat.first && beat.milliseconds > 0);
      QCOMPARE(beatBefore(trace, beat.last), beat);
      at = beat.last;
    }
    QCOMPARE(at, trace.size());
  }

  /// Both blocks of the first document move together, and no others with them.
  void theBlocksOfADocumentAreOneBeat() {
    const Beat beat = relocation(*m_input.trace);
    QCOMPARE(beat.last - beat.first, std::size_t{2});
    const auto& first = std::get<trace::BlockShared>(m_input.trace->event(beat.first).payload);
    const auto& second = std::get<trace::BlockShared>(m_input.trace->event(beat.last - 1).payload);
    QCOMPARE(first.segment, second.segment);
    QCOMPARE(second.virtualIndex, first.virtualIndex + 1);
  }

  void playsWithMotion() {
    Player player;
    player.setMotion([] { return true; });
    player.follow(m_short, 0);
    QSignalSpy positions(&player, &Player::positionWanted);
    QSignalSpy moments(&player, &Player::momentChanged);
    player.setPlaying(true);
    const Beat first = beatFrom(*m_short, 0);
    player.advance(first.milliseconds / 2.0);
    QVERIFY(player.isUnderway());
    QCOMPARE(player.moment(), (Moment{first.first, first.last, 0.5}));
    QCOMPARE(player.position(), first.last);
    QCOMPARE(positions.size(), 1);
    player.advance(first.milliseconds / 4.0);
    QCOMPARE(player.moment().done, 0.75);
    QCOMPARE(positions.size(), 1);
    QCOMPARE(moments.size(), 2);
    // Twice the speed takes half the time.
    player.setSpeed(player.speedIndex() + 1);
    QCOMPARE(player.speed(), 2.0);
    player.advance(first.milliseconds / 8.0 + 1);
    QCOMPARE(player.moment().first, first.last);
    // To the end, which is at rest.
    player.advance(1e9);
    QVERIFY(!player.isPlaying() && !player.isUnderway());
    QCOMPARE(player.position(), m_short->size());
  }

  /// The newest state is visible at once; later events get there together, and soon.
  void whatArrivesMoves() {
    const auto store = std::make_shared<TraceStore>();
    const TraceStore& whole = *m_input.trace;
    const auto append = [&](std::size_t count) {
      while (store->size() < std::min(count, whole.size())) store->append(whole.event(store->size()));
    };
    const Beat beat = relocation(whole);
    append(beat.first);
    Player player;
    bool isWanted = true;
    player.setMotion([&isWanted] { return isWanted; });
    QSignalSpy positions(&player, &Player::positionWanted);
    player.follow(store, store->size());
    QVERIFY(!player.isUnderway());
    append(beat.last);
    player.follow(store, store->size());
    QVERIFY(player.isLive());
    QCOMPARE(player.moment(), (Moment{beat.first, beat.last, 0}));
    player.advanceLive(40);
    const double done = player.moment().done;
    QVERIFY(done > 0 && done < 0.5);
    // What comes meanwhile joins it, and makes it no longer.
    append(beat.last + 5);
    player.follow(store, store->size());
    QCOMPARE(player.moment(), (Moment{beat.first, beat.last + 5, done}));
    for (int i = 0; i < 12; ++i) player.advanceLive(33);
    QVERIFY(!player.isLive() && !player.isUnderway());
    QCOMPARE(player.moment(), Moment());
    // The player follows; it leads nobody anywhere.
    QCOMPARE(positions.size(), 0);
    // Nothing moves at an earlier place.
    player.follow(store, 3);
    append(store->size() + 40);
    player.follow(store, 3);
    QVERIFY(!player.isUnderway());
    // Nor who wants no motion.
    player.follow(store, store->size());
    isWanted = false;
    append(whole.size());
    player.follow(store, store->size());
    QVERIFY(!player.isUnderway());
  }

  /// However much arrives at once, and however long it takes to draw: nothing is late.
  void whatArrivesIsNeverBehind() {
    const TraceStore& whole = *m_input.trace;
    const Beat beat = relocation(whole);
    const auto store = std::make_shared<TraceStore>();
    const auto append = [&](std::size_t count) {
      while (store->size() < std::min(count, whole.size())) store->append(whole.event(store->size()));
    };
    Player player;
    player.setMotion([] { return true; });
    append(beat.first);
    player.follow(store, store->size());
    append(beat.last);
    player.follow(store, store->size());
    QVERIFY(player.isLive());
    // Frames that are late three times: then there is no motion for a while.
    for (int i = 0; i < 3; ++i) player.advanceLive(60);
    QVERIFY(!player.isLive());
    append(whole.size());
    player.follow(store, store->size());
    QVERIFY(!player.isLive() && !player.isUnderway());
    // More than there is time for is there at once.
    Player other;
    other.setMotion([] { return true; });
    const auto large = std::make_shared<TraceStore>();
    large->append(whole.event(0));
    other.follow(large, large->size());
    for (std::size_t i = 1; i < whole.size(); ++i) large->append(whole.event(i));
    trace::Event more = whole.event(whole.size() - 1);
    more.payload = trace::MessageLogged{};
    for (int i = 0; i < 4200; ++i) {
      ++more.sequence;
      large->append(more);
    }
    QVERIFY2(large->size() >= 4200, qPrintable(QString::number(large->size())));
    other.follow(large, large->size());
    QVERIFY(!other.isLive() && !other.isUnderway());
    QCOMPARE(other.position(), large->size());
  }

  void playsWithoutMotionWhereNoneIsWanted() {
    Player player;
    player.setMotion([] { return false; });
    player.follow(m_short, 0);
    QSignalSpy moments(&player, &Player::momentChanged);
    player.setPlaying(true);
    player.advance(200);
    QCOMPARE(player.position(), std::size_t{2});
    player.goTo(7.4);
    QCOMPARE(player.position(), std::size_t{7});
    player.nudge(0.25);
    QVERIFY(player.position() > 7);
    QCOMPARE(moments.size(), 0);
  }

  void nudgesForthAndBack() {
    Player player;
    player.setMotion([] { return true; });
    const Beat beat = relocation(*m_input.trace);
    player.follow(m_input.trace, beat.first);
    for (int i = 1; i <= 3; ++i) {
      player.nudge(0.25);
      QCOMPARE(player.moment(), (Moment{beat.first, beat.last, 0.25 * i}));
    }
    player.nudge(-0.5);
    QCOMPARE(player.moment().done, 0.25);
    player.nudge(-0.25);
    QVERIFY(!player.isUnderway());
    QCOMPARE(player.position(), beat.first);
    for (int i = 0; i < 4; ++i) player.nudge(0.25);
    QVERIFY(!player.isUnderway());
    QCOMPARE(player.position(), beat.last);
    player.nudge(-0.25);
    QCOMPARE(player.moment(), (Moment{beat.first, beat.last, 0.75}));
    // Where somebody else goes, nothing is underway.
    player.follow(m_input.trace, 3);
    QCOMPARE(player.moment(), Moment());
  }

  void draggingStopsBetweenEvents() {
    Scrubber scrubber;
    scrubber.player().setMotion([] { return true; });
    scrubber.resize(1600, 48);
    ViewInput input = m_runs.input(40);
    input.position = 10;
    connect(&scrubber, &View::positionWanted, &scrubber, [&](std::size_t position) {
      input.position = position;
      scrubber.setInput(input);
    });
    scrubber.setInput(input);
    scrubber.show();
    QVERIFY(QTest::qWaitForWindowExposed(&scrubber));
    ScrubberTrack& track = scrubber.track();
    const auto pressAt = [&](double x) {
      QTest::mouseClick(&track, Qt::LeftButton, {}, QPoint(static_cast<int>(x), track.height() / 2));
    };
    pressAt((track.xOf(20) + track.xOf(21)) / 2);
    QCOMPARE(input.position, std::size_t{21});
    QVERIFY(scrubber.player().isUnderway());
    QVERIFY(std::abs(scrubber.player().moment().done - 0.5) < 0.1);
    pressAt(track.xOf(20) + 1);
    QCOMPARE(input.position, std::size_t{20});
    QVERIFY(!scrubber.player().isUnderway());
    // A step from between two events leads to the end of what is underway.
    pressAt((track.xOf(20) + track.xOf(21)) / 2);
    scrubber.step(1);
    QCOMPARE(input.position, std::size_t{21});
    QVERIFY(!scrubber.player().isUnderway());
  }

  void foundBlocksTravelFromTheRowThatHasThem() {
    const Beat beat = relocation(*m_input.trace);
    ViewInput input = m_input;
    input.position = beat.last;
    BlockHistory history;
    history.follow(input.trace);
    const BlockTable table = blockTable(input, history);
    const TableMotion motion = tableMotion(input, {beat.first, beat.last, 0.5}, table, history);
    QCOMPARE(motion.travels.size(), std::size_t{2});
    for (const TableTravel& travel : motion.travels) {
      QCOMPARE(travel.from.row, std::size_t{0});
      QCOMPARE(travel.to.row, std::size_t{1});
      QCOMPARE(travel.role, BlockRole::Relocated);
      const auto& cells = table.rows[travel.from.row].cells;
      QCOMPARE(cells[travel.from.cell].facts.physical,
               table.rows[travel.to.row].cells[travel.to.cell].facts.physical);
      QVERIFY(motion.travelsTo(travel.to));
      QVERIFY(!motion.travelsTo(travel.from));
    }
    QCOMPARE(motion.note, QStringLiteral("stored at position 31, used at 13"));
  }

  void tokensTravelFromWhereTheyWereStored() {
    const Beat beat = relocation(*m_input.trace);
    ViewInput input = m_input;
    input.position = beat.last;
    const TokenStrip strip = tokenStrip(input);
    const StripMotion motion = stripMotion(input, {beat.first, beat.last, 0.5}, strip);
    QCOMPARE(motion.travels.size(), std::size_t{20});
    for (const TokenTravel& travel : motion.travels) {
      QCOMPARE(strip.tokens[travel.from].position - strip.tokens[travel.to].position, std::int64_t{18});
      QCOMPARE(strip.tokens[travel.to].role, BlockRole::Relocated);
    }
    QCOMPARE(motion.note, QStringLiteral("stored at position 31, used at 13"));
  }

  void evictedBlocksAreNamed() {
    const TraceStore& trace = *m_input.trace;
    const Beat beat = findBeat<trace::BlockRemoved>(trace, 0, [](const trace::BlockRemoved& removed) {
      return removed.reason == trace::RemovalReason::Evicted;
    });
    QVERIFY(beat.last > 0);
    ViewInput input = m_input;
    input.position = beat.last;
    BlockHistory history;
    history.follow(input.trace);
    const PoolMotion motion = poolMotion(input, {beat.first, beat.last, 0.5}, history);
    QCOMPARE(motion.lost.size(), beat.last - beat.first);
    for (const BlockId block : motion.lost)
      QCOMPARE(motion.before.blocks[static_cast<std::size_t>(block)].state, PoolBlockState::Cached);
  }

  void viewsMove_data() {
    QTest::addColumn<QString>("view");
    QTest::addColumn<std::size_t>("first");
    QTest::addColumn<std::size_t>("last");
    const TraceStore& trace = *m_input.trace;
    const auto row = [](const char* name, const char* view, const Beat& beat) {
      QTest::newRow(name) << QString::fromLatin1(view) << beat.first << beat.last;
    };
    const auto any = [](const auto&) { return true; };
    row("a block travels", "block-table", relocation(trace));
    row("tokens travel", "tokens", relocation(trace));
    row("tokens are computed", "tokens", findBeat<trace::BatchComputed>(trace, 0, any));
    row("blocks fill", "block-table", findBeat<trace::BatchComputed>(trace, 0, any));
    row("the pool fills", "pool", findBeat<trace::BlockAllocated>(trace, 0, any));
    row("the pool evicts", "pool",
        findBeat<trace::BlockRemoved>(trace, 0, [](const trace::BlockRemoved& removed) {
          return removed.reason == trace::RemovalReason::Evicted;
        }));
    row("a token is generated", "tokens", findBeat<trace::TokenGenerated>(trace, 0, any));
    row("attention grows", "attention",
        findBeat<trace::TokenGenerated>(trace, 0,
                                        [](const trace::TokenGenerated& token) { return token.index == 1; }));
  }
  /// A view is a function of input and moment: the same moment looks the same, however it was reached, and
  /// the end of a moment is the state at rest. Exported pictures know no moments.
  void viewsMove() {
    QFETCH(QString, view);
    QFETCH(std::size_t, first);
    QFETCH(std::size_t, last);
    QVERIFY2(last > first, "no such event");
    const std::unique_ptr<View> shown = movingView(view);
    auto* moving = dynamic_cast<MovingView*>(shown.get());
    QVERIFY(moving != nullptr);
    ViewInput input = m_input;
    input.position = last;
    shown->resize(900, 640);
    shown->setInput(input);
    shown->show();
    QVERIFY(QTest::qWaitForWindowExposed(shown.get()));
    const QImage rest = pictureOf(*shown);
    const QImage exported = exportOf(*shown);
    moving->setMoment({first, last, 0.5});
    const QImage half = pictureOf(*shown);
    QVERIFY(half != rest);
    if (const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES"); !folder.isEmpty())
      half.save(folder + QStringLiteral("/motion-%1.png").arg(QString::fromUtf8(QTest::currentDataTag())));
    QCOMPARE(exportOf(*shown), exported);
    QCOMPARE(pictureOf(*shown), half);
    moving->setMoment({first, last, 0.2});
    QVERIFY(pictureOf(*shown) != half);
    moving->setMoment({first, last, 0.5});
    QCOMPARE(pictureOf(*shown), half);
    moving->setMoment({first, last, 1});
    QCOMPARE(pictureOf(*shown), rest);
    // A moment of another position is none of this input.
    moving->setMoment({first + 1, last + 1, 0.5});
    QCOMPARE(pictureOf(*shown), rest);
    // The moment may come before its input.
    ViewInput earlier = input;
    earlier.position = first;
    shown->setInput(earlier);
    moving->setMoment({first, last, 0.5});
    shown->setInput(input);
    QCOMPARE(pictureOf(*shown), half);
  }

 private:
  test::Recorded m_runs;
  ViewInput m_input;
  std::shared_ptr<const TraceStore> m_short;  ///< so short that it is played at its own speed
};

SPANSCOPE_TEST(tst_motion, TestMotion, QApplication)
#include "tst_motion.moc"
