// SPDX-License-Identifier: GPL-3.0-or-later
// Servers with names: what the dialog keeps, and runs there in the window, beside those of the embedded
// engine.
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/remote/protocol.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/document/document_file.h"
#include "ui/editor/canvas_core.h"
#include "ui/session/model_choices.h"
#include "ui/session/run_list.h"
#include "ui/session/run_request.h"
#include "ui/session/simulator_asker.h"
#include "ui/views/output/output_model.h"
#include "ui/views/prediction/prediction_places.h"
#include "ui/views/prediction/prediction_table.h"
#include "ui/views/prediction/prediction_view.h"
#include "ui/views/timeline/timeline_model.h"
#include "ui/views/view.h"
#include "ui/window/dock.h"
#include "ui/window/dock_host.h"
#include "ui/window/servers_dialog.h"
#include "ui/window/workspace.h"
#include "ui/words/metric_words.h"

#include <QApplication>
#include <QByteArray>
#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using spanscope::remote::test::closedPort;
using spanscope::remote::test::http;
using spanscope::remote::test::Server;

namespace {

constexpr int kServerPatience = 60'000;  // milliseconds

QByteArray pieces(const QByteArray& text, const char* finish = "stop") {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
         "data: {\"choices\":[],\"prompt_progress\":{\"total\":40,\"cache\":8,\"processed\":24}}\n\n"
         "data: {\"model\":\"tiny\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" +
         text +
         "\"}}]}\n\n"
         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" +
         QByteArray(finish) +
         "\"}],\"timings\":{\"cache_n\":8,\"prompt_n\":32,\"predicted_n\":4}}\n\n"
         "data: [DONE]\n\n";
}

/// As llama.cpp's; `completion`: its answer to a chat.
Server::Answer llama(const QByteArray& completion) {
  return [completion](const QByteArray& request) {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/models")
      return http(200, R"({"object":"list","data":[{"id":"tiny","owned_by":"llamacpp"}]})");
    if (path == "/props") return http(200, R"({"build_info":"b7","total_slots":2})");
    if (path == "/v1/chat/completions") return completion;
    return http(404, R"({"error":{"message":"File Not Found","code":404}})");
  };
}

std::unique_ptr<DocumentModel> judging() {
  document::OpenedDocument opened = document::readDocument(
      R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {"cross": [
           {"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0,
                  "input": {"user": "Name a town."}}},
           {"user": "Is it large?"}]}}})");
  auto model = std::make_unique<DocumentModel>(std::move(*opened.document));
  model->setTitle(QStringLiteral("judging"));
  return model;
}

std::unique_ptr<DocumentModel> asking() {
  document::OpenedDocument opened = document::readDocument(
      R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {"user": "Name a town."}}})");
  return std::make_unique<DocumentModel>(std::move(*opened.document));
}

/// Waits for the end of a run that begins. Returns what went wrong, in words.
QString runToItsEnd(Workspace& workspace) {
  QSignalSpy ended(&workspace, &Workspace::jobEnded);
  const QString problem = workspace.runs().start();
  if (!problem.isEmpty()) return problem;
  if (ended.isEmpty() && !ended.wait(kServerPatience)) return QStringLiteral("it did not end");
  QTest::qWait(50);
  return ended.front().front().toString();
}

std::vector<Answer> answersOf(const Workspace& workspace) {
  return outputModel(workspace.input()).answers;
}

template <class Widget>
Widget* childOf(const QWidget& parent, const char* name) {
  return parent.findChild<Widget*>(QString::fromLatin1(name));
}

/// A llama-server that finds nothing and counts this number of tokens in a prompt.
Server::Answer countingLlama(const std::atomic<int>& counted) {
  return [&counted](const QByteArray& request) {
    QByteArray answer = pieces("Lisbon");
    answer.replace("\"cache_n\":8,\"prompt_n\":32",
                   "\"cache_n\":0,\"prompt_n\":" + QByteArray::number(counted.load()));
    return llama(answer)(request);
  };
}

}  // namespace

class TestServers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aRunThereIsShownAsOneHere() {
    Server server(llama(pieces("Lisbon")));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    chooseServer(*workspace.model(), "gpu-3");
    QCOMPARE(runToItsEnd(workspace), QString());

    QCOMPARE(workspace.serverRuns().serverTitle("gpu-3"), QStringLiteral("llama.cpp on gpu-3"));
    const std::vector<Answer> answers = answersOf(workspace);
    QCOMPARE(answers.size(), std::size_t{2});
    for (const Answer& answer : answers) {
      QVERIFY(answer.state == AnswerState::Finished);
      QCOMPARE(answer.text, QStringLiteral("Lisbon"));
      QCOMPARE(answer.policy, QStringLiteral("llama.cpp on gpu-3"));
      QCOMPARE(answer.server, QStringLiteral("gpu-3"));
      QCOMPARE(answer.model, QStringLiteral("tiny"));
      QVERIFY(answer.exactness.isEmpty());
      const QString facts = answerFacts(answer);
      QVERIFY2(facts.contains(metricShare("cached-tokens", 8, "prompt-tokens", 40)), qPrintable(facts));
      QVERIFY(answer.measureReason.contains(QStringLiteral("server")));
    }
    // Facts that servers cannot report are named as such.
    const ReportedFacts reported = workspace.input().reported;
    QVERIFY(reported.of(Fact::Pool) == Reporting::CannotBeReported);
    QVERIFY(reported.of(Fact::Attention) == Reporting::CannotBeReported);
    QVERIFY(reported.of(Fact::CachedTokens) == Reporting::Reported);
    QCOMPARE(workspace.input().replay.origin, TraceOrigin::Server);
    QVERIFY(workspace.input().trace->contradictions().empty());
    // What can be seen from here of the two steps, one after the other.
    const TimelineModel timeline = timelineModel(workspace.input());
    const auto& views = viewTable();
    const auto view = std::find_if(views.begin(), views.end(),
                                   [](const ViewInfo& one) { return one.id == QLatin1String("timeline"); });
    QVERIFY(view != views.end() && !reportsNothing(reported, view->needs));
    QCOMPARE(timeline.rows.size(), std::size_t{2});
    for (const TimelineRow& row : timeline.rows)
      QVERIFY(!row.bars.empty() && row.bars.back().kind == BarKind::Decode);
    const RunRecord* record = workspace.history().find(workspace.shownRun());
    QVERIFY(record != nullptr && record->metricValues);
    QCOMPARE(record->model, QStringLiteral("tiny"));
    QCOMPARE(record->settings.server, std::string("gpu-3"));
    // It comes back as what it is, also from its record.
    const std::optional<RunRecord> again = readRecord(recordText(*record));
    QVERIFY(again && again->metricValues);
    const auto& requests = again->metricValues->requests;
    QVERIFY(requests.begin()->second.reported &&
            requests.begin()->second.reported->cached == trace::CachedState::Found);
  }

  /// What is not reported is no zero, wherever a figure is.
  void whatIsNotReportedIsSaid() {
    QByteArray silent = pieces("Lisbon");
    silent.replace(R"("cache_n":8,"prompt_n":32,)", "");
    silent.replace(R"("choices":[],"prompt_progress":{"total":40,"cache":8,"processed":24})",
                   R"("choices":[],"usage":{"prompt_tokens":40})");
    Server server([silent](const QByteArray& request) {
      const QByteArray path = request.split(' ').value(1);
      if (path == "/v1/models") return http(200, R"({"data":[{"id":"tiny","owned_by":"vllm"}]})");
      if (path == "/v1/chat/completions") return silent;
      return http(404, "{}");
    });
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    chooseServer(*workspace.model(), "gpu-3");
    QCOMPARE(runToItsEnd(workspace), QString());
    const OutputModel output = outputModel(workspace.input());
    const QString facts = answerFacts(output.answers.front());
    QVERIFY2(facts.contains(QStringLiteral("40 prompt tokens · cached tokens not reported")),
             qPrintable(facts));
    QVERIFY(workspace.input().reported.of(Fact::CachedTokens) == Reporting::NotReported);
    const QString csv = outputCsv(output);
    QVERIFY2(csv.contains(QStringLiteral(",40,,")) && csv.contains(QStringLiteral("not reported")),
             qPrintable(csv));
  }

  void embeddedRunsAreBesideIt() {
    Server server(llama(pieces("Lisbon")));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    QCOMPARE(runToItsEnd(workspace), QString());
    const RunId here = workspace.shownRun();
    chooseServer(*workspace.model(), "gpu-3");
    QCOMPARE(runToItsEnd(workspace), QString());
    const RunId there = workspace.shownRun();
    QVERIFY(there > here);
    chooseServer(*workspace.model(), {});
    QCOMPARE(runToItsEnd(workspace), QString());
    QVERIFY(workspace.shownRun() > there);
    QCOMPARE(workspace.input().replay.origin, TraceOrigin::Session);
    const std::vector<ListedRun> runs = listRuns(workspace.input());
    QCOMPARE(runs.size(), std::size_t{3});
    QCOMPARE(runs[1].policyText(), QStringLiteral("llama.cpp on gpu-3"));
    QVERIFY(runs[0].policyText() == runs[2].policyText());
    workspace.showRun(there);
    QCOMPARE(workspace.input().replay.origin, TraceOrigin::Server);
    QCOMPARE(workspace.shownRun(), there);
  }

  /// The inner step here, the outer one there.
  void stepsOfAPlanGoWhereTheyAreSent() {
    Server server(llama(pieces("Yes")));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    workspace.model()->change(QStringLiteral("Server"), [](document::Document& document) {
      document::setServer(document, document.root(), "gpu-3");
    });
    QCOMPARE(runToItsEnd(workspace), QString());
    const std::vector<Answer> answers = answersOf(workspace);
    QCOMPARE(answers.size(), std::size_t{2});
    QCOMPARE(answers[0].server, QStringLiteral("gpu-3"));
    QCOMPARE(answers[0].text, QStringLiteral("Yes"));
    QCOMPARE(answers[1].server, QStringLiteral("the embedded engine"));
    QVERIFY(!answers[1].text.isEmpty());
    QVERIFY(answers[1].promptTokens > 0);
    QCOMPARE(answers[0].policy, QStringLiteral("the embedded engine, llama.cpp on gpu-3"));
    const QByteArray request = server.request();
    QVERIFY2(request.contains(answers[1].text.toUtf8().left(3)), request.constData());
    // What is made here comes as it is made, with how far the prompt is.
    std::vector<std::string> came;
    std::int64_t processed = 0;
    for (std::size_t i = 0; i < workspace.input().trace->size(); ++i) {
      const trace::Event& event = workspace.input().trace->event(i);
      if (event.request != answers[1].request) continue;
      if (const auto* text = std::get_if<trace::TextReceived>(&event.payload)) came.push_back(text->text);
      if (const auto* prompt = std::get_if<trace::PromptReported>(&event.payload))
        processed = prompt->processed;
    }
    QVERIFY(!came.empty());
    QCOMPARE(processed, std::int64_t{answers[1].promptTokens});
    std::string whole;
    for (const std::string& piece : came) whole += piece;
    QCOMPARE(QString::fromStdString(whole), answers[1].text);
  }

  /// The server setting of a node stays with the node, at any place, and after a file and a run as well.
  void aServerStaysWithItsNode() {
    Server server(llama(pieces("Yes")));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    DocumentModel& model = *workspace.model();
    const document::NodeId join = model.document().at(model.document().root()).children.front();
    const document::NodeId inner = model.document().at(join).children.front();
    model.change(QStringLiteral("Server"),
                 [inner](document::Document& document) { document::setServer(document, inner, "gpu-3"); });
    // The texts that nodes with a server of their own ask, as a run of this document would take it.
    const auto asked = [](const document::Document& document) {
      const document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
      QStringList texts;
      for (const auto& [path, name] : serversOf(document, taken.paths)) {
        const query::Node* const node = query::nodeAt(*taken.query, path);
        const auto* generate = node == nullptr ? nullptr : node->as<query::Generate>();
        const query::Node* const input =
            generate == nullptr ? nullptr : query::childrenOf(*node).front().node;
        texts << (input == nullptr ? QStringLiteral("nothing")
                                   : QString::fromStdString(*query::textOf(*input)));
      }
      return texts;
    };
    const QStringList town{QStringLiteral("Name a town.")};
    QCOMPARE(asked(model.document()), town);
    model.change(QStringLiteral("Insert"), [join](document::Document& document) {
      const document::NodeId fresh = document::addTree(
          document,
          *query::parseJson(R"({"g":{"model":"m","max_tokens":4,"input":{"user":"Name a river."}}})").query);
      document::connect(document, fresh, {.parent = join, .index = 0});
    });
    QCOMPARE(model.document().at(join).children.at(1), inner);
    QCOMPARE(asked(model.document()), town);
    model.change(QStringLiteral("Swap"),
                 [join](document::Document& document) { document::swapChildren(document, join, 0, 1); });
    QCOMPARE(model.document().at(join).children.at(0), inner);
    QCOMPARE(asked(model.document()), town);
    const document::OpenedDocument opened = document::readDocument(document::writeDocument(model.document()));
    QVERIFY(opened.document.has_value());
    QCOMPARE(asked(*opened.document), town);
    model.undoStack().undo();
    QCOMPARE(asked(model.document()), town);
    model.undoStack().undo();
    QCOMPARE(asked(model.document()), town);
    model.undoStack().redo();
    QCOMPARE(asked(model.document()), town);
    QCOMPARE(runToItsEnd(workspace), QString());
    QVERIFY2(server.request().contains("Name a town."), server.request().constData());
    QCOMPARE(answersOf(workspace).size(), std::size_t{3});
  }

  void aBreakKeepsWhatCame() {
    QByteArray cut = pieces("Lis");
    cut.truncate(cut.indexOf("data: {\"choices\":[{\"index\":0,\"delta\":{},"));
    cut.replace("Connection: close", "Content-Length: 90000");
    Server server(llama(cut));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    chooseServer(*workspace.model(), "gpu-3");
    const QString problem = runToItsEnd(workspace);
    QVERIFY2(problem.contains(QStringLiteral("incomplete answer")), qPrintable(problem));
    const std::vector<Answer> answers = answersOf(workspace);
    QCOMPARE(answers.size(), std::size_t{1});
    QVERIFY(answers.front().state == AnswerState::Failed);
    QCOMPARE(answers.front().text, QStringLiteral("Lis"));
    QVERIFY2(answers.front().problem.contains(QStringLiteral("incomplete answer")),
             qPrintable(answers.front().problem));
  }

  void aStopEndsTheRequestThere() {
    // It says nothing to a chat.
    Server server(llama({}));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.open(judging());
    chooseServer(*workspace.model(), "gpu-3");
    QSignalSpy ended(&workspace, &Workspace::jobEnded);
    QCOMPARE(workspace.runs().start(), QString());
    QVERIFY(workspace.engine().isBusy(workspace.current()->id));
    QTRY_VERIFY_WITH_TIMEOUT(server.request().contains("/v1/chat/completions"), kServerPatience);
    QTest::qWait(50);
    workspace.engine().stop(workspace.current()->id);
    QVERIFY(!ended.isEmpty() || ended.wait(kServerPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QVERIFY(answersOf(workspace).front().state == AnswerState::Stopped);
    QVERIFY(!workspace.engine().isBusy());
  }

  void whatCannotRunSaysWhy() {
    Workspace workspace(test::cpuBackends());
    workspace.open(judging());
    chooseServer(*workspace.model(), "gpu-9");
    const QString unknown = workspace.runs().start();
    QVERIFY2(unknown.contains(QStringLiteral("gpu-9")), qPrintable(unknown));
    workspace.serverRuns().servers().put(
        {.name = "gpu-9", .url = "http://127.0.0.1:" + std::to_string(closedPort())});
    const QString problem = runToItsEnd(workspace);
    QVERIFY2(problem.contains(QStringLiteral("127.0.0.1")), qPrintable(problem));
    // The earlier visible content stays there.
    QCOMPARE(workspace.input().replay.origin, TraceOrigin::Session);
    QVERIFY(!workspace.engine().isBusy());
  }

  /// What is wrong with the model here is nothing to a server.
  void aModelThatIsNotHereRunsThere() {
    Server server(llama(pieces("Lisbon")));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.serverRuns().readServers();
    workspace.open(judging());
    workspace.model()->change(QStringLiteral("Model"), [](document::Document& document) {
      document.settings.model = "/nowhere/at/all";
    });
    const QString here = runToItsEnd(workspace);
    QVERIFY2(here.contains(QStringLiteral("cannot be opened")), qPrintable(here));
    chooseServer(*workspace.model(), "gpu-3");
    QCOMPARE(runToItsEnd(workspace), QString());
    QCOMPARE(answersOf(workspace).size(), std::size_t{2});
    QCOMPARE(answersOf(workspace).front().text, QStringLiteral("Lisbon"));
    // A step that stays here needs it.
    workspace.model()->change(QStringLiteral("Server"), [](document::Document& document) {
      document::setServer(document, document.root(), document::kEmbedded);
    });
    QVERIFY(runToItsEnd(workspace).contains(QStringLiteral("cannot be opened")));
  }

  /// The prediction is for the document's server: it expects cache hits for queries sent from this window.
  void thePredictionIsThatOfTheServer() {
    std::atomic<int> counted = 0;
    Server server(countingLlama(counted));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.serverRuns().readServers();
    workspace.open(asking());
    chooseServer(*workspace.model(), "gpu-3");
    SimulatorAsker simulators;
    const auto table = [&] {
      simulators.ask(workspace.input());
      return predictionTable(workspace.input(), Against::Present, {}, simulators.newest().get());
    };
    const auto shown = [&table] {
      const PredictionTable now = table();
      return now.places.empty() ? PredictionPlace() : now.places.at(now.shown);
    };
    QTRY_VERIFY_WITH_TIMEOUT(shown().problem.contains(worded("<nothing-sent-yet>")), kServerPatience);
    QCOMPARE(shown().name, QStringLiteral("gpu-3"));
    counted = static_cast<int>(simulators.newest()->simulators.prompts.at(0).tokens().size());
    QCOMPARE(runToItsEnd(workspace), QString());
    QTRY_COMPARE_WITH_TIMEOUT(shown().counts.cached.least, std::int64_t{counted - 1}, kServerPatience);
    const PredictionTable now = table();
    QCOMPARE(shown().name, QStringLiteral("gpu-3, llama.cpp"));
    QCOMPARE(now.totals.prompt.least, std::int64_t{counted});
    QVERIFY2(shown().history.contains(QStringLiteral("1 request")), qPrintable(shown().history));
    // Here nothing was run, and the other servers have had what was run anywhere.
    QCOMPARE(now.places.at(0).counts.cached.least, std::int64_t{0});
    QVERIFY(now.places.at(2).counts.cached.least > 0);
    // From then on it counts otherwise.
    counted = counted + 5;
    QCOMPARE(runToItsEnd(workspace), QString());
    QTRY_VERIFY_WITH_TIMEOUT(shown().problem.contains(QStringLiteral("another tokenizer")), kServerPatience);
  }

  /// Figures on nodes are those of the server that answers, or there are none: never the embedded engine's.
  void nodesShowTheSimulatorOfTheirServer() {
    std::atomic<int> counted = 0;
    Server server(countingLlama(counted));
    Workspace workspace(test::cpuBackends());
    workspace.serverRuns().servers().put({.name = "gpu-3", .url = server.address()});
    workspace.serverRuns().readServers();
    workspace.open(asking());
    CanvasCore core;
    core.setModel(workspace.model());
    const document::NodeId root = workspace.model()->document().root();
    const document::NodeId text = workspace.model()->document().at(root).children.front();
    const auto onRoot = [&] {
      core.setInput(workspace.input());
      return core.predictionOf(root);
    };
    const auto isKnown = [&] {
      const ViewInput& input = workspace.input();
      return input.prediction.newest != nullptr && !input.prediction.isPending;
    };
    // The query was run here, so that its blocks would be cache hits.
    QCOMPARE(runToItsEnd(workspace), QString());
    QTRY_VERIFY_WITH_TIMEOUT(isKnown(), kServerPatience);
    chooseServer(*workspace.model(), "gpu-3");
    QTRY_VERIFY_WITH_TIMEOUT(isKnown(), kServerPatience);
    QVERIFY(onRoot() == nullptr);
    QTest::qWait(200);
    QVERIFY(onRoot() == nullptr || onRoot()->server == QStringLiteral("gpu-3"));

    SimulatorAsker simulators;
    simulators.ask(workspace.input());
    QTRY_VERIFY_WITH_TIMEOUT(simulators.newest() != nullptr && !simulators.isPending(), kServerPatience);
    counted = static_cast<int>(simulators.newest()->simulators.prompts.at(0).tokens().size());
    QCOMPARE(runToItsEnd(workspace), QString());
    QTRY_VERIFY_WITH_TIMEOUT(onRoot() != nullptr && onRoot()->cached.least == counted - 1, kServerPatience);
    QCOMPARE(onRoot()->server, QStringLiteral("gpu-3"));
    QCOMPARE(onRoot()->prompt.least, std::int64_t{counted});
    QVERIFY2(predictionWords(*onRoot()).contains(QStringLiteral("on gpu-3")),
             qPrintable(predictionWords(*onRoot())));
    const NodePrediction* const ofText = core.predictionOf(text);
    QVERIFY(ofText != nullptr && ofText->server == QStringLiteral("gpu-3"));
    QVERIFY(ofText->cached.least > 0 && ofText->cached.least <= ofText->prompt.least);
    QVERIFY2(says(core.tipOf(root), "<next-run-on-server|gpu-3|…|llama.cpp>"), qPrintable(core.tipOf(root)));

    // A node that the engine answers beside servers has no figure of its own.
    workspace.model()->change(QStringLiteral("Server"), [root](document::Document& document) {
      document::setServer(document, root, document::kEmbedded);
    });
    QTRY_VERIFY_WITH_TIMEOUT(isKnown(), kServerPatience);
    QTRY_VERIFY_WITH_TIMEOUT(onRoot() == nullptr, kServerPatience);
    // Without servers it is the engine's again.
    workspace.model()->change(QStringLiteral("Server"), [root](document::Document& document) {
      document::setServer(document, root, {});
    });
    chooseServer(*workspace.model(), {});
    QTRY_VERIFY_WITH_TIMEOUT(onRoot() != nullptr && onRoot()->server.isEmpty(), kServerPatience);
  }

  void theDialogKeepsAndAsks() {
    Server server(llama({}));
    workbench::ServerList list;
    ServersDialog dialog(list, {}, {}, Theme(Scheme::Light));
    dialog.show();
    QSignalSpy ended(&dialog, &ServersDialog::ended);
    childOf<QLineEdit>(dialog, "serverName")->setText(QStringLiteral("gpu-3"));
    childOf<QLineEdit>(dialog, "serverUrl")->setText(QStringLiteral("nowhere at all"));
    childOf<QPushButton>(dialog, "askServer")->click();
    auto* said = childOf<QLabel>(dialog, "serverSaid");
    QVERIFY2(said->text().contains(QStringLiteral("address")), qPrintable(said->text()));
    QVERIFY(list.list().empty());

    childOf<QLineEdit>(dialog, "serverUrl")->setText(QString::fromStdString(server.address()));
    childOf<QPushButton>(dialog, "askServer")->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kServerPatience));
    const QString facts = childOf<QLabel>(dialog, "serverFacts")->text();
    for (const char* part :
         {"llama.cpp b7", "<model-without-context|tiny>", "Cached tokens: reported",
          "<progress-prompt-reported>", "Slots: 2", "<server-protocols|chat completions, text completions>"})
      QVERIFY2(says(facts, part), qPrintable(facts));
    QCOMPARE(childOf<QComboBox>(dialog, "serverModel")->itemText(0), QStringLiteral("tiny"));
    // A test saves nothing. A server that is saved after its test keeps the result.
    QVERIFY(list.list().empty());
    QCOMPARE(childOf<QListWidget>(dialog, "servers")->count(), 0);
    QSignalSpy answered(&dialog, &ServersDialog::answered);
    childOf<QPushButton>(dialog, "primary")->click();
    QVERIFY(list.find("gpu-3"));
    QCOMPARE(answered.size(), 1);
    QCOMPARE(childOf<QListWidget>(dialog, "servers")->item(0)->text(), QStringLiteral("gpu-3 (llama.cpp)"));
    QCOMPARE(childOf<QLabel>(dialog, "serverFacts")->text(), facts);
    QCOMPARE(childOf<QComboBox>(dialog, "serverModel")->itemText(0), QStringLiteral("tiny"));
    // What it says takes no room from the fields.
    for (const char* field : {"serverName", "serverUrl", "certificates"}) {
      const auto* line = childOf<QLineEdit>(dialog, field);
      QTRY_VERIFY2(line->height() >= line->sizeHint().height(), field);
    }
    const auto* helpText = childOf<QLabel>(dialog, "protocolHelp");
    QTRY_VERIFY(helpText->height() >= helpText->heightForWidth(helpText->width()));

    // On a small screen, title and all, its last button is in sight.
    constexpr int kSmallScreen = 700;
    constexpr int kTitleBar = 28;
    QVERIFY2(dialog.minimumHeight() <= kSmallScreen - kTitleBar,
             qPrintable(QString::number(dialog.minimumHeight())));

    // In which protocol it is asked, and what is sent so.
    auto* protocol = childOf<QComboBox>(dialog, "serverProtocol");
    const auto* help = childOf<QLabel>(dialog, "protocolHelp");
    QCOMPARE(protocol->currentData().toString(), QString());
    for (const remote::Protocol* each : remote::protocols())
      QVERIFY(protocol->findData(QString::fromUtf8(each->name)) > 0);
    QVERIFY2(says(help->text(), "<protocol-help|chat completions>"), qPrintable(help->text()));
    protocol->setCurrentIndex(protocol->findData(QStringLiteral("spnl")));
    QCOMPARE(help->text(), worded("<server-not-take>"));
    protocol->setCurrentIndex(protocol->findData(QStringLiteral("completions")));
    QVERIFY2(help->text().contains(worded("<each-step-text>")), qPrintable(help->text()));
    childOf<QPushButton>(dialog, "primary")->click();
    QCOMPARE(list.find("gpu-3")->protocol, std::string("completions"));

    // A model of another name than the server lists is sent only if that is allowed.
    auto* isUnlisted = childOf<QCheckBox>(dialog, "unlistedModel");
    auto* model = childOf<QComboBox>(dialog, "serverModel");
    model->setEditText({});
    QVERIFY(!isUnlisted->isEnabled());
    model->setEditText(QStringLiteral("other"));
    QVERIFY(isUnlisted->isEnabled() && !isUnlisted->isChecked());
    isUnlisted->click();
    childOf<QPushButton>(dialog, "primary")->click();
    QVERIFY(list.find("gpu-3")->isUnlisted && list.find("gpu-3")->model == "other");
    QVERIFY(isUnlisted->isChecked());

    // How many requests it gets at the same time.
    auto* atOnce = childOf<QSpinBox>(dialog, "atOnce");
    QCOMPARE(list.find("gpu-3")->atOnce, std::size_t{0});
    atOnce->setValue(3);
    childOf<QPushButton>(dialog, "primary")->click();
    QCOMPARE(list.find("gpu-3")->atOnce, std::size_t{3});

    // Only the fields of the chosen place of a key are there.
    auto* place = childOf<QComboBox>(dialog, "keyPlace");
    QVERIFY(!childOf<QLineEdit>(dialog, "keyVariable")->isVisible());
    place->setCurrentIndex(1);
    QVERIFY(childOf<QLineEdit>(dialog, "keyVariable")->isVisible());
    place->setCurrentIndex(2);
    QVERIFY(childOf<QLineEdit>(dialog, "key")->isVisible());
    QVERIFY(childOf<QLineEdit>(dialog, "key")->echoMode() == QLineEdit::Password);
    place->setCurrentIndex(0);

    childOf<QLineEdit>(dialog, "serverName")->setText(QStringLiteral("gpu-4"));
    childOf<QPushButton>(dialog, "primary")->click();
    QVERIFY(list.find("gpu-4") && !list.find("gpu-3"));
    childOf<QPushButton>(dialog, "removeServer")->click();
    QVERIFY(list.list().empty());
    QCOMPARE(childOf<QLineEdit>(dialog, "serverName")->text(), QString());
  }

  /// The advice to test a server is not shown below the error of a test.
  void aTestThatFails() {
    workbench::ServerList list;
    list.put({.name = "gpu-3", .url = "http://127.0.0.1:9"});
    ServersDialog dialog(list, {}, "gpu-3", Theme(Scheme::Light));
    dialog.show();
    const auto* facts = childOf<QLabel>(dialog, "serverFacts");
    QCOMPARE(facts->text(), worded("<test-to-see>"));
    QSignalSpy ended(&dialog, &ServersDialog::ended);
    childOf<QLineEdit>(dialog, "serverUrl")->setText(QStringLiteral("http://127.0.0.1:1"));
    childOf<QPushButton>(dialog, "askServer")->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kServerPatience));
    QVERIFY(!childOf<QLabel>(dialog, "serverSaid")->text().isEmpty());
    QCOMPARE(facts->text(), QString());
    QCOMPARE(list.find("gpu-3")->url, std::string("http://127.0.0.1:9"));
  }

  /// Every line of the dialog is in sight, whatever its width and texts are.
  void theDialogClipsNothing() {
    workbench::ServerList list;
    list.put({.name = "gpu-3", .url = "http://gpu-3:8000"});
    remote::ServerFacts facts;
    facts.kind = remote::ServerKind::Vllm;
    facts.version = "0.33.0";
    facts.protocols = {"spnl", "chat", "completions"};
    facts.models.assign(9, {.name = "a-server-of-models/with-a-name-that-is-as-long-as-names-are-8B-Instruct",
                            .context = 131072});
    facts.cache = {.slotTokens = {}, .blockSize = 16, .cacheTokens = 100000, .findsPrefixes = false};
    ServersDialog dialog(list, {{"gpu-3", facts}}, "gpu-3", Theme(Scheme::Light));
    dialog.show();
    childOf<QLineEdit>(dialog, "serverUrl")
        ->setText(QStringLiteral("nowhere at all, in an address that is so long that its problem has lines"));
    childOf<QPushButton>(dialog, "askServer")->click();
    auto* protocol = childOf<QComboBox>(dialog, "serverProtocol");
    auto* place = childOf<QComboBox>(dialog, "keyPlace");
    for (const int width : {200, 620, 760, 1000}) {
      for (int choice = 0; choice < protocol->count(); ++choice) {
        protocol->setCurrentIndex(choice);
        place->setCurrentIndex(choice % place->count());
        dialog.resize(width, 300);
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        for (const QLabel* label : dialog.findChildren<QLabel*>()) {
          if (!label->isVisible() || !label->wordWrap()) continue;
          QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        }
      }
    }
  }

  /// On a screen of 1024 × 700 pixels at scale 1.5, the buttons of the dialog are visible.
  void theDialogFitsASmallScreen() {
    workbench::ServerList list;
    ServersDialog dialog(list, {}, {}, Theme(Scheme::Light));
    dialog.show();
    const QSize screen(682, 466);
    dialog.resize(screen);
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    QVERIFY2(dialog.height() <= screen.height(), qPrintable(QString::number(dialog.height())));
    for (const QPushButton* button : dialog.findChildren<QPushButton*>())
      QVERIFY2(button->mapTo(&dialog, button->rect().bottomRight()).y() < dialog.height(),
               qPrintable(button->text()));
  }

  /// A prediction that is opened later has the servers' earlier reports, their versions among them.
  void aPredictionThatIsOpenedLater() {
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    window.workspace().serverRuns().servers().put({.name = "gpu-3", .url = "http://gpu-3:8000"});
    window.workspace().serverRuns().readServers();
    remote::ServerFacts said{.kind = remote::ServerKind::Vllm, .version = "0.1.2", .models = {}, .slots = {}};
    said.cache.blockSize = 32;
    window.workspace().serverRuns().noteServerFacts("gpu-3", said);
    QVERIFY(fresh.show());
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    chooseServer(*window.workspace().model(), "gpu-3");
    QCoreApplication::processEvents();
    window.docks().reveal(QStringLiteral("prediction"));
    auto* view = qobject_cast<PredictionView*>(window.docks().dock(QStringLiteral("prediction"))->openView());
    const auto setup = [view] {
      for (const PredictionPlace& place : view->places().places()) {
        if (place.id == QStringLiteral("server gpu-3")) return place.setup;
      }
      return QString();
    };
    QTRY_VERIFY_WITH_TIMEOUT(setup().contains(QStringLiteral("0.1.2")), kServerPatience);
    QVERIFY2(setup().contains(QStringLiteral("32")), qPrintable(setup()));
  }

  void theMenuOffersThem() {
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    window.workspace().serverRuns().servers().put({.name = "gpu-3", .url = "http://gpu-3:8000"});
    QVERIFY(fresh.show());
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    chooseServer(*window.workspace().model(), "gpu-3");
    QToolButton* models = nullptr;
    for (auto* button : window.findChildren<QToolButton*>()) {
      if (button->accessibleName() == QStringLiteral("Model")) models = button;
    }
    QVERIFY(models != nullptr);
    QTRY_VERIFY2(models->text().startsWith(QStringLiteral("gpu-3")), qPrintable(models->text()));
    QVERIFY(models->toolTip().contains(QStringLiteral("http://gpu-3:8000")));
  }
};

SPANSCOPE_TEST(tst_servers, TestServers, QApplication)
#include "tst_servers.moc"
