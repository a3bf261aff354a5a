// SPDX-License-Identifier: GPL-3.0-or-later
// What this window has sent to servers, as the simulators of their caches get it.
#include "engine/trace/replay.h"
#include "tests/support/test_program.h"
#include "ui/session/simulator_asker.h"

#include <QObject>
#include <QTest>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using trace::RunOutcome;
using trace::StepOutcome;

namespace {

const char* const kQuery = R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name a town."}}})";

/// A run of one step at a server, which ended so.
ui::RunRecords recordOf(const std::string& text, const std::string& brokenBy, StepOutcome step,
                        RunOutcome run) {
  std::vector<std::pair<RequestId, trace::Payload>> payloads;
  const auto add = [&payloads](RequestId request, trace::Payload payload) {
    payloads.emplace_back(request, std::move(payload));
  };
  add(0, trace::SessionStarted{.program = "test", .model = "tiny", .backend = "gpu-3", .pool = {}});
  add(0, trace::RunStarted{.queryJson = kQuery, .policy = "vLLM on gpu-3", .seed = 0});
  trace::PlanMade plan;
  plan.steps.push_back({.step = 0, .node = "", .copy = 0, .ply = 0, .needs = {}});
  add(0, std::move(plan));
  add(1, trace::StepStarted{.step = 0, .copy = 0});
  add(1, trace::RequestSent{.server = "gpu-3", .model = "tiny", .bytes = 9});
  if (!text.empty()) add(1, trace::TextReceived{text});
  trace::ServerReported reported;
  reported.server = "gpu-3";
  reported.model = "tiny";
  reported.brokenBy = brokenBy;
  add(1, std::move(reported));
  add(1, trace::StepFinished{.step = 0, .outcome = step, .text = text});
  add(0, trace::RunFinished{.outcome = run, .answer = text});
  trace::Replay replay;
  std::uint64_t number = 0;
  for (auto& [request, payload] : payloads) {
    trace::Event event;
    event.sequence = ++number;
    event.run = std::holds_alternative<trace::SessionStarted>(payload) ? 0 : 3;
    event.request = request;
    event.payload = std::move(payload);
    if (const auto error = replay.apply(event)) qFatal("%s", error->message().c_str());
  }
  auto record = std::make_shared<ui::RunRecord>();
  record->run = 3;
  record->tab = 1;
  record->settings.server = "gpu-3";
  record->metricValues = std::make_shared<const trace::Progress>(replay.progress());
  return {record};
}

}  // namespace

class TestSentQueries : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A server has what it began to answer, and what it was sent before a stop; a refusal leaves nothing
  /// there.
  void whatABreakLeaves_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("brokenBy");
    QTest::addColumn<int>("step");
    QTest::addColumn<int>("run");
    QTest::addColumn<bool>("isThere");
    const auto row = [](const char* name, const char* text, const char* brokenBy, StepOutcome step,
                        RunOutcome run, bool isThere) {
      QTest::newRow(name) << QString::fromLatin1(text) << QString::fromLatin1(brokenBy)
                          << static_cast<int>(step) << static_cast<int>(run) << isThere;
    };
    row("whole", "Lisbon", "", StepOutcome::EndToken, RunOutcome::Finished, true);
    row("stopped", "Lis", "a stop", StepOutcome::Stopped, RunOutcome::Stopped, true);
    row("stopped at once", "", "a stop", StepOutcome::Stopped, RunOutcome::Stopped, true);
    row("broken off", "Lis", "the stream ended", StepOutcome::Failed, RunOutcome::Failed, true);
    row("refused", "", "status 400", StepOutcome::Failed, RunOutcome::Failed, false);
  }
  void whatABreakLeaves() {
    QFETCH(QString, text);
    QFETCH(QString, brokenBy);
    QFETCH(int, step);
    QFETCH(int, run);
    QFETCH(bool, isThere);
    const std::vector<workbench::SentQuery> sent =
        ui::sentQueries(recordOf(text.toStdString(), brokenBy.toStdString(), static_cast<StepOutcome>(step),
                                 static_cast<RunOutcome>(run)));
    QCOMPARE(sent.size(), std::size_t{1});
    QCOMPARE(sent.front().answers.size(), std::size_t{isThere ? 1U : 0U});
    if (!isThere) return;
    const workbench::SentAnswer& answer = sent.front().answers.at({"", 0});
    QCOMPARE(QString::fromStdString(answer.text), text);
    QCOMPARE(answer.server, std::string("gpu-3"));
    QCOMPARE(answer.endedItself, brokenBy.isEmpty());
  }
};

SPANSCOPE_TEST(tst_sent_queries, TestSentQueries)
#include "tst_sent_queries.moc"
