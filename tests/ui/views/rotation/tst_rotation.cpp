// SPDX-License-Identifier: GPL-3.0-or-later
// The algebra of a turn: which pair is chosen, what is said of it, and what the view does with a result.
#include "engine/run/pair_vectors.h"
#include "engine/run/trace_values.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/rotation/rotation_view.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

ViewInput turnRuns() {
  test::RunRecorder recorder;
  const document::Document document = test::exampleDocument("rag.json");
  recorder.run(document);
  recorder.run(test::swapped(document));
  ViewInput input = recorder.recorded().input();
  input.replay.origin = TraceOrigin::Session;
  return input;
}

const trace::RequestState& shown(const ViewInput& input) {
  return input.state().progress().requests.find(input.shownRequest())->second;
}

}  // namespace

class TestRotation : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    m_input = turnRuns();
    m_choice = rotationModel(m_input, {}).choice;
    const workbench::ModelBundle bundle =
        workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends());
    const std::vector<trace::SegmentInfo>& segments = shown(m_input).segments;
    m_vectors = run::pairVectors(
        *bundle.decoder, *bundle.backend,
        {run::spanTableOf(segments, bundle.config.vocabularySize), m_choice.query, m_choice.key});
    m_computed = test::withResult<jobs::PairVectorsJob>(m_input, m_choice, m_vectors);
  }

  /// Without a selection: the last token of the prompt, and one of the first document that it sees.
  void thePairAtFirst() {
    const RotationModel model = rotationModel(m_input, {});
    const trace::RequestState& request = shown(m_input);
    QCOMPARE(model.choice.query.segment, static_cast<std::uint32_t>(request.segments.size() - 1));
    QCOMPARE(model.choice.query.local + 1, static_cast<int>(request.segments.back().tokens.size()));
    QCOMPARE(model.choice.key.segment, std::uint32_t{1});
    QCOMPARE(model.choice.key.local, 1);
    QVERIFY2(model.keyName.contains(QStringLiteral("document 2")), qPrintable(model.keyName));
    QCOMPARE(model.base, request.segments[1].base);
    QVERIFY(model.reason.isEmpty());
    QVERIFY(!model.isComputed);
  }

  void theSelectedTokenIsTheKey() {
    ViewInput input = m_input;
    input.selection = selectionOfToken(input, {input.shownRequest(), 2, 3});
    const RotationModel model = rotationModel(input, {});
    QCOMPARE(model.choice.key, (trace::TokenPlace{2, 3}));
    // Of a query that does not see it another key is taken.
    RotationOptions options;
    options.query = TokenRef{input.shownRequest(), 1, 4};
    const RotationModel other = rotationModel(input, options);
    QCOMPARE(other.choice.query, (trace::TokenPlace{1, 4}));
    QCOMPARE(other.choice.key.segment, std::uint32_t{1});
  }

  /// However query and key are turned, the score is the same; a weight of 0 … 1 goes with it.
  void scoresAreEqual() {
    for (std::int32_t head = 0; head < 4; ++head) {
      RotationOptions options;
      options.layer = 1;
      options.head = head;
      const RotationModel model = rotationModel(m_computed, options);
      QVERIFY(model.isComputed);
      QCOMPARE(model.places.size(), std::size_t{3});
      for (const RotationWay& place : model.places)
        QVERIFY(std::abs(place.score - model.places.front().score) < 1e-9);
      QCOMPARE(model.places[0].keyRotation, std::int64_t{model.keyLocal});
      QCOMPARE(model.places[1].keyRotation, model.base + model.keyLocal);
      QVERIFY(model.weight > 0 && model.weight < 1);
      QVERIFY(std::abs(model.pairs[model.pair].score) >= std::abs(model.pairs.front().score));
    }
  }

  /// The document was stored at another base by the first run, and that is where the pair is moved to.
  void theOtherBaseIsWhereItWasStored() {
    const RotationModel model = rotationModel(m_computed, {});
    ViewInput first = m_input;
    first.selection.request = 1;
    const std::int64_t stored = shown(first).segments[2].base;
    QVERIFY(stored != model.base);
    QCOMPARE(model.places[2].keyRotation - model.keyLocal, stored);
    QCOMPARE(model.places[2].queryRotation - model.places[2].keyRotation,
             model.places[0].queryRotation - model.places[0].keyRotation);
  }

  /// The user moves the document along; the score and the angle between the arrows stay the same.
  void theDocumentIsMoved() {
    const RotationModel before = rotationModel(m_computed, {});
    for (const std::int64_t start : {std::int64_t{0}, std::int64_t{7}, before.lastStart}) {
      RotationOptions options;
      options.start = start;
      const RotationModel model = rotationModel(m_computed, options);
      const RotationWay& moved = model.places.back();
      QCOMPARE(model.start, start);
      QCOMPARE(moved.keyRotation, start + model.keyLocal);
      QCOMPARE(moved.queryRotation - moved.keyRotation,
               model.places[0].queryRotation - model.places[0].keyRotation);
      QVERIFY(std::abs(moved.score - model.places.front().score) < 1e-9);
    }
    RotationOptions far;
    far.start = before.lastStart + 1000;
    QCOMPARE(rotationModel(m_computed, far).start, before.lastStart);
  }

  void theHandleMovesTheDocument() {
    RotationView view;
    view.resize(683, 467);
    view.setInput(m_computed);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* handle = view.findChild<QSlider*>();
    QVERIFY(handle->isVisible());
    QCOMPARE(std::int64_t{handle->value()}, view.turn().start);
    const RotationWay stored = view.turn().places.front();
    handle->setFocus();
    QTest::keyClick(handle, Qt::Key_Home);
    QCOMPARE(view.turn().start, std::int64_t{0});
    QTest::keyClick(handle, Qt::Key_Right);
    QCOMPARE(view.turn().start, std::int64_t{1});
    QCOMPARE(view.turn().places.front().keyRotation, stored.keyRotation);
    // A key of another document begins at its own place.
    ViewInput other = m_computed;
    other.selection = selectionOfToken(other, {other.shownRequest(), 2, 3});
    view.setInput(other);
    view.setInput(m_computed);
    QCOMPARE(view.turn().start, rotationModel(m_computed, {}).start);
  }

  void aResultOfAnotherPairIsNotShown() {
    jobs::PairChoice other = m_choice;
    other.key.local += 1;
    const ViewInput ofOther = test::withResult<jobs::PairVectorsJob>(m_input, other, m_vectors);
    QVERIFY(!rotationModel(ofOther, {}).isComputed);
    // Nor one that a damaged file has.
    run::PairVectors damaged = m_vectors;
    damaged.queries.pop_back();
    const ViewInput ofDamaged = test::withResult<jobs::PairVectorsJob>(m_input, m_choice, damaged);
    QVERIFY(!rotationModel(ofDamaged, {}).isComputed);
  }

  /// A recording has what was computed, where nothing more can be.
  void aRecordedResultIsShown() {
    ViewInput file = m_computed;
    file.replay.origin = TraceOrigin::File;
    QVERIFY(rotationModel(file, {}).isComputed);
    QVERIFY(!rotationModel(file, {}).reason.isEmpty());
  }

  void reasons() {
    ViewInput input = m_input;
    input.replay.origin = TraceOrigin::File;
    QVERIFY(rotationModel(input, {}).reason.contains(QStringLiteral("recorded run")));
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"), *policy::findPolicy("blend"));
    input = recorder.recorded().input();
    input.replay.origin = TraceOrigin::Session;
    QVERIFY(rotationModel(input, {}).reason.contains(QStringLiteral("This policy")));
  }

  void theViewAsksAndShows() {
    RotationView view;
    view.resize(683, 467);
    view.setInput(m_input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QVERIFY(view.canCompute());
    QSignalSpy wanted(&view, &View::commandWanted);
    auto* compute = view.findChild<QPushButton*>();
    QTest::mouseClick(compute, Qt::LeftButton);
    QCOMPARE(wanted.back().front().toString(), QStringLiteral("run.rotation"));
    ViewInput running = m_input;
    running.replay.running = {.call = jobs::callOf<jobs::PairVectorsJob>(m_choice)};
    view.setInput(running);
    QVERIFY(!view.canCompute());
    QTest::mouseClick(compute, Qt::LeftButton);
    QCOMPARE(wanted.back().front().toString(), QStringLiteral("run.stop"));
    view.setInput(m_computed);
    QVERIFY(!view.canCompute() && view.turn().isComputed);
    auto* table = view.findChild<TableView*>();
    QCOMPARE(table->model()->rowCount(), static_cast<int>(view.turn().pairs.size()));
    table->selectRow(2);
    QCOMPARE(view.turn().pair, std::size_t{2});
    view.choose(1, 2);
    QCOMPARE(view.turn().layer, 1);
    QCOMPARE(view.turn().head, 2);
    const QStringList lines = view.csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), static_cast<qsizetype>(1 + view.turn().pairs.size() + 3));
    view.setInput(test::withProblem<jobs::PairVectorsJob>(m_computed, m_choice, "No memory."));
    QVERIFY(view.canCompute());
  }

  /// A lesson that speaks of one of the two tokens frames where its arrows end.
  void theTokensOfThePairAreFramed() {
    RotationView view;
    view.resize(900, 600);
    view.setInput(m_input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto part = [&view](const trace::TokenPlace& place) {
      Selection selection;
      selection.token = TokenRef{view.turn().choice.request, place.segment, place.local};
      return selection;
    };
    const Selection key = part(view.turn().choice.key);
    const Selection query = part(view.turn().choice.query);
    // Before anything is drawn, the words that name them.
    QCOMPARE(view.placesOf(key).size(), std::size_t{1});
    QVERIFY(view.rect().contains(view.placesOf(key).front()));
    view.setInput(m_computed);
    QTest::qWait(20);
    const std::vector<QRect> keys = view.placesOf(key);
    const std::vector<QRect> queries = view.placesOf(query);
    QCOMPARE(keys.size(), view.turn().places.size());
    QCOMPARE(queries.size(), view.turn().places.size());
    const QImage image = view.grab().toImage();
    const auto hasInk = [&image](const QRect& place, const QColor& ink) {
      for (int y = place.top(); y <= place.bottom(); ++y) {
        for (int x = place.left(); x <= place.right(); ++x) {
          if (image.rect().contains(x, y) && image.pixel(x, y) == ink.rgb()) return true;
        }
      }
      return false;
    };
    for (const QRect& place : keys) QVERIFY(hasInk(place, m_input.theme.segmentInk(view.turn().keyHue)));
    for (const QRect& place : queries) QVERIFY(hasInk(place, m_input.theme.color(Role::Accent)));
    // A block that holds the key selects it; another token selects nothing.
    Selection block;
    const std::int32_t size = m_input.state().pool().blockSize();
    block.block = BlockRef{view.turn().choice.request, view.turn().choice.key.segment,
                           view.turn().choice.key.local / size};
    QCOMPARE(view.placesOf(block), keys);
    QVERIFY(view.placesOf(part({0, 0})).empty());
  }

  /// The legend has all names, in as many rows as the width needs.
  void theLegendFits() {
    RotationDrawing drawing;
    drawing.setContent(rotationModel(m_computed, {}), Theme(Scheme::Light));
    for (const int width : {1000, 340, 240}) {
      const QRect area(0, 0, width, 230);
      const std::vector<QRectF> places = drawing.legendAreas(area);
      QCOMPARE(places.size(), std::size_t{4});
      for (std::size_t i = 0; i < places.size(); ++i) {
        QVERIFY2(QRectF(area).contains(places[i]), qPrintable(QString::number(width)));
        for (std::size_t j = 0; j < i; ++j) QVERIFY(!places[i].intersects(places[j]));
      }
    }
  }

  /// Before the pass that computes the query has happened, the view says so, and what it knows by then.
  void beforeItsPassNothingIsDrawn() {
    struct : RotationView {
      using RotationView::emptyText;
    } view;
    view.resize(900, 600);
    view.setInput(m_input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* table = view.findChild<TableView*>();
    auto* drawing = view.findChild<RotationDrawing*>();
    const auto sentence = [&view] { return rotationSentence(view.turn()); };
    const auto isShown = [&view](const QString& text) {
      for (const QLabel* label : view.findChildren<QLabel*>()) {
        if (label->isVisible() && label->text() == text) return true;
      }
      return false;
    };
    // At the end, what will be drawn, with the turns that are known.
    QVERIFY(!view.turn().isAhead && view.canCompute() && !drawing->isVisible() && !table->isVisible());
    const RotationModel& turn = view.turn();
    const QString ahead = worded(QStringLiteral("<rotation-ahead|%1|%2|%3>")
                                     .arg(turn.keyLocal)
                                     .arg(turn.queryPosition - turn.base)
                                     .arg(turn.base));
    QCOMPARE(sentence(), ahead);
    QVERIFY(isShown(ahead));
    view.setInput(m_computed);
    QVERIFY(drawing->isVisible() && table->isVisible());
    const RequestId request = view.turn().choice.request;
    std::size_t pass = 0;
    std::size_t laidOut = 0;
    for (std::size_t i = 0; i < m_input.trace->size() && pass == 0; ++i) {
      const trace::Event& event = m_input.trace->event(i);
      if (std::holds_alternative<trace::SpanTableLaidOut>(event.payload)) laidOut = i;
      const auto* batch = std::get_if<trace::BatchComputed>(&event.payload);
      if (batch != nullptr && batch->entries.front().request == request) pass = i;
    }
    QVERIFY(pass > laidOut && laidOut > 0);
    ViewInput then = m_computed;
    then.position = pass;
    view.setInput(then);
    QVERIFY(view.turn().isAhead && view.turn().isComputed && !isRotationDrawn(view.turn()));
    QVERIFY(!drawing->isVisible() && !table->isVisible() && !view.canCompute());
    QVERIFY2(says(sentence(), "<rotation-to-come>") && isShown(sentence()), qPrintable(sentence()));
    then.position = pass + 1;
    view.setInput(then);
    QVERIFY(!view.turn().isAhead && drawing->isVisible());
    // Before a prompt is laid out there is no pair; no text asks to run what runs.
    then.position = 2;
    view.setInput(then);
    QCOMPARE(view.turn().choice.request, RequestId{0});
    const QString words = view.emptyText();
    QVERIFY2(!words.isEmpty() && !words.contains(QStringLiteral("Run a query")), qPrintable(words));
  }

  /// For the developer to look at, where SPANSCOPE_PICTURES names a folder.
  void pictures() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      for (const QSize size : {QSize(683, 467), QSize(900, 640), QSize(400, 340)}) {
        ViewInput input = m_computed;
        input.theme = Theme(scheme);
        RotationView view;
        view.setInput(input);
        QImage image(size, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&image);
        view.paintTo(painter, size);
        painter.end();
        QVERIFY(image.pixelColor(2, 2) == input.theme.color(Role::Surface));
        const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
        if (folder.isEmpty()) continue;
        const QString name =
            QStringLiteral("/rotation-%1-%2.png")
                .arg(scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"))
                .arg(size.width());
        QVERIFY(image.save(folder + name));
        view.resize(size);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QVERIFY(view.grab().save(folder + QStringLiteral("/widget") + name.mid(1)));
      }
    }
  }

  /// While the pass that computes the query vector is underway, the query vector is rotated. The stored key
  /// is still; a key that is rotated by its position is rotated with it.
  void theQueryIsTurnedAndTheKeyStands() {
    RotationView view;
    view.resize(900, 600);
    view.setInput(m_computed);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QVERIFY(view.turn().isComputed);
    const RequestId request = view.turn().choice.request;
    std::size_t pass = 0;
    for (std::size_t i = 0; i < m_input.trace->size() && pass == 0; ++i) {
      const auto* batch = std::get_if<trace::BatchComputed>(&m_input.trace->event(i).payload);
      if (batch != nullptr && batch->entries.front().request == request) pass = i;
    }
    QVERIFY(pass > 0);
    ViewInput then = m_computed;
    then.position = pass + 1;
    view.setInput(then);
    QVERIFY(view.turn().isComputed);
    const QImage rest = view.grab().toImage();
    view.setMoment({pass, pass + 1, 0.5});
    QVERIFY(view.grab().toImage() != rest);
    view.setMoment({pass - 1, pass, 0.5});
    QCOMPARE(view.grab().toImage(), rest);

    constexpr QSize kSize(900, 260);
    RotationDrawing drawing;
    drawing.setContent(view.turn(), m_input.theme);
    const auto keyPixels = [&](double turned, int third) {
      QImage image(kSize, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      drawing.paint(painter, QRect(QPoint(), kSize), turned);
      painter.end();
      std::set<int> pixels;
      const QRgb ink = m_input.theme.segmentInk(view.turn().keyHue).rgb();
      // Without the legend below, which has the ink as well.
      for (int y = 0; y < kSize.height() - 24; ++y) {
        for (int x = third * 300; x < (third + 1) * 300; ++x) {
          if (image.pixel(x, y) == ink) pixels.insert(y * kSize.width() + x);
        }
      }
      return pixels;
    };
    const auto moved = [&](int third) {
      const std::set<int> early = keyPixels(0.3, third);
      const std::set<int> late = keyPixels(0.5, third);
      std::vector<int> gone;
      std::set_difference(early.begin(), early.end(), late.begin(), late.end(), std::back_inserter(gone));
      return early.empty() ? -1.0 : static_cast<double>(gone.size()) / static_cast<double>(early.size());
    };
    // The query may pass over the key.
    QVERIFY2(moved(0) >= 0 && moved(0) < 0.2, qPrintable(QString::number(moved(0))));
    QVERIFY2(moved(1) > 0.4, qPrintable(QString::number(moved(1))));
  }

 private:
  ViewInput m_input;
  jobs::PairChoice m_choice;
  run::PairVectors m_vectors;
  ViewInput m_computed;  ///< m_input with these vectors
};

SPANSCOPE_TEST(tst_rotation, TestRotation, QApplication)
#include "tst_rotation.moc"
