// SPDX-License-Identifier: GPL-3.0-or-later
// A pair of tokens and the alternatives of an answer, computed in the window: asked for by command, shown,
// and not offered twice.
#include "engine/jobs/attention_replay.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/answering_window.h"
#include "ui/session/job_results.h"
#include "ui/views/attention_entropy/attention_entropy_view.h"
#include "ui/views/next_token/next_token_view.h"
#include "ui/views/rotation/rotation_view.h"
#include "ui/window/engine_jobs.h"

#include <QAction>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;

class TestRotationWindow : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aTurnIsComputedAndShown() {
    test::AnsweringWindow<RotationView> shown;
    QVERIFY(shown.open("rotation"));
    const QAction& command = *shown.window().findChild<QAction*>(QStringLiteral("run.rotation"));
    QVERIFY(!command.isEnabled());
    QCOMPARE(shown.run([&] { return shown.view().canCompute(); }), QString());
    QTRY_VERIFY(command.isEnabled());
    QCOMPARE(shown.perform(QStringLiteral("run.rotation")), QString());
    QTRY_VERIFY(shown.view().turn().isComputed);
    const RotationModel& turn = shown.view().turn();
    QVERIFY(std::abs(turn.places[0].score - turn.places[2].score) < 1e-9);
    QVERIFY(turn.weight > 0 && turn.weight < 1);
    QTRY_VERIFY(!command.isEnabled());
  }

  void alternativesAreComputedAndShown() {
    test::AnsweringWindow<NextTokenView> shown;
    QVERIFY(shown.open("next-token"));
    const QAction& command = *shown.window().findChild<QAction*>(QStringLiteral("run.next-token"));
    QCOMPARE(shown.run([&] { return shown.view().canCompute(); }), QString());
    QTRY_VERIFY(command.isEnabled());
    QCOMPARE(shown.perform(QStringLiteral("run.next-token")), QString());
    QTRY_VERIFY(shown.view().shownModel().isComputed());
    const NextTokenModel& model = shown.view().shownModel();
    QCOMPARE(model.tokens->size(), model.answerTokens);
    QVERIFY(model.shown().find(model.shown().drawn) != nullptr);
    QTRY_VERIFY(!command.isEnabled());
    // A trace that is saved has them, too.
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.trace"));
    QCOMPARE(shown.window().workspace().saveTrace(path), QString());
    const TraceStore file = TraceStore::open(path.toStdString());
    const auto saved = jobResult<jobs::NextTokenJob>(file, file.size(), model.choice);
    QVERIFY(saved != nullptr);
    QCOMPARE(saved->size(), model.tokens->size());
    QCOMPARE(saved->front().divergence, model.tokens->front().divergence);
  }

  /// Back in time, a result is not there yet, unless the user asks for it there.
  void aResultIsShownFromTheEndOfItsJobOn() {
    test::AnsweringWindow<AttentionEntropyView> shown;
    QVERIFY(shown.open("attention-entropy"));
    const auto model = [&shown] { return shown.view().shownModel(); };
    const auto& compute = *shown.view().findChild<QPushButton*>();
    QCOMPARE(shown.run([&] { return model().canCompute(); }), QString());
    const RunId first = shown.workspace().shownRun();
    QTest::mouseClick(shown.view().findChild<QPushButton*>(), Qt::LeftButton);
    // The result is in the trace before the job has ended.
    QTRY_VERIFY(model().entropy != nullptr && !shown.workspace().current()->job);
    const TraceStore& trace = *shown.workspace().input().trace;
    const std::size_t before = trace.indicesOf<trace::JobEnded>().back();
    shown.workspace().setPosition(before);
    QTRY_VERIFY(model().entropy == nullptr && model().canCompute());
    shown.workspace().setPosition(before + 1);
    QTRY_VERIFY(model().entropy != nullptr);

    shown.workspace().setPosition(before);
    QTRY_VERIFY(model().entropy == nullptr && compute.isEnabled());
    QTest::mouseClick(shown.view().findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY(model().entropy != nullptr && !shown.workspace().current()->job);
    QCOMPARE(shown.workspace().input().position, before);
    QVERIFY(trace.indicesOf<trace::JobEnded>().back() > before);
    shown.workspace().setPosition(before);
    QTRY_VERIFY(model().entropy == nullptr);

    // An older run that the user chooses has its results, whenever they came.
    QCOMPARE(shown.run([&] { return shown.workspace().shownRun() != first && model().canCompute(); }),
             QString());
    shown.workspace().showRun(first);
    QTRY_VERIFY(model().entropy != nullptr);
  }

  /// The entropy of a layer is that of the weights which a replay of the layer reports.
  void entropyIsComputedAndShown() {
    test::AnsweringWindow<AttentionEntropyView> shown;
    QVERIFY(shown.open("attention-entropy"));
    const auto model = [&shown] { return shown.view().shownModel(); };
    QCOMPARE(shown.run([&] { return model().canCompute(); }), QString());
    QTest::mouseClick(shown.view().findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY(model().entropy != nullptr);
    const jobs::AttentionEntropy& found = *model().entropy;
    QCOMPARE(found.rows, found.answerRows);
    QCOMPARE(shown.view().csv().count(QLatin1Char('\n')), static_cast<qsizetype>(found.layers.size()) + 1);
    for (std::size_t layer = 0; layer < found.layers.size(); ++layer)
      QVERIFY(found.layers[layer] > 0 && found.layers[layer] <= found.uniform[layer] + 1e-6);
    const jobs::ReplayChoice choice{.request = model().choice.request, .layer = 1};
    const jobs::JobCall call = jobs::callOf<jobs::AttentionReplayJob>(choice);
    // The result is in the trace before the job has ended.
    bool isStarted = false;
    QTRY_VERIFY(isStarted || (isStarted = startJob(shown.workspace(), call).isEmpty()));
    const auto& input = shown.workspace().input();
    QTRY_VERIFY(input.trace->lastJob(call.kind, call.arguments, input.trace->size()) != nullptr);
    double sum = 0;
    double heads = 0;
    for (const trace::Event& event : input.trace->events()) {
      const auto* replayed = std::get_if<trace::ReplayedMass>(&event.payload);
      if (replayed == nullptr) continue;
      QCOMPARE(replayed->mass.keySpan, 1);
      for (const float weight : replayed->mass.mass) {
        if (weight > 0) sum -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
      }
      heads += replayed->mass.heads;
    }
    QVERIFY(heads > 0);
    QVERIFY(std::abs(found.layers[1] - sum / heads) < 1e-4);
  }
};

SPANSCOPE_TEST(tst_rotation_window, TestRotationWindow, QApplication)
#include "tst_rotation_window.moc"
