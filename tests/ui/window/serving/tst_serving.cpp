// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a server: real requests over the loopback, answered by the bundled model, seen as runs.
#include "engine/query/json/json.h"
#include "engine/trace/event_codec.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/run_list.h"
#include "ui/session/simulator_asker.h"
#include "ui/views/output/output_model.h"
#include "ui/window/serving_controller.h"
#include "ui/window/workspace.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include <nlohmann/json.hpp>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using server::test::ask;
using server::test::Headers;
using server::test::HttpAnswer;
using server::test::HttpClient;
using server::test::requestText;

namespace {

using Json = nlohmann::json;

constexpr int kServingPatience = 60'000;  // milliseconds
const std::string kChat = "/v1/chat/completions";
const std::string kFact =
    "Mira lives in Lisbon and works as a baker in a small shop near the river, where she bakes bread and "
    "cakes "
    "for the whole street from four in the morning on, every single day of the year.";

std::string body(const std::string& question, int tokens = 8, const std::string& members = {}) {
  return "{" + members + R"("model":"spanlet","temperature":0,"seed":7,"max_tokens":)" +
         std::to_string(tokens) + R"(,"messages":[{"role":"system","content":")" + kFact +
         R"("},{"role":"user","content":")" + question + "\"}]}";
}

/// A long request, whatever the model says: many random answers.
std::string longBody() {
  return R"({"model":"spanlet","temperature":2,"seed":7,"n":16,"max_tokens":1500,"messages":[{"role":"user",)"
         R"("content":"Tell a long story."}]})";
}

/// Asks on a thread of its own: the window's thread goes on meanwhile.
std::future<HttpAnswer> post(int port, std::string text, const Headers& headers = {}) {
  return std::async(std::launch::async, [port, text = std::move(text), headers] {
    return ask(port, "POST", kChat, text, headers);
  });
}

bool isThere(const std::future<HttpAnswer>& answer) {
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// The answer, once it is there; status 0: it did not come.
HttpAnswer waitFor(std::future<HttpAnswer>& answer) {
  const bool came = QTest::qWaitFor([&answer] { return isThere(answer); }, kServingPatience);
  return came ? answer.get() : HttpAnswer();
}

std::string textIn(const HttpAnswer& answer) {
  return Json::parse(answer.body)["choices"][0]["message"]["content"].get<std::string>();
}
int usageOf(const HttpAnswer& answer, const char* member) {
  return Json::parse(answer.body)["usage"][member].get<int>();
}

int portOf(Serving& serving) {
  return QUrl(serving.state()->url).port();
}

/// Begins to serve on any port. Returns it; 0: nothing is served.
int startServing(Workspace& workspace, bool keepsTexts = true) {
  workspace.serve({.port = 0, .keepsTexts = keepsTexts});
  const bool isOn = QTest::qWaitFor(
      [&] {
        return workspace.serving().state()->phase == ServingPhase::On ||
               !workspace.serving().state()->problem.isEmpty();
      },
      kServingPatience);
  return isOn && workspace.serving().state()->phase == ServingPhase::On ? portOf(workspace.serving()) : 0;
}

/// Asks and waits until the list has the end of it.
HttpAnswer askServed(Workspace& workspace, int port, const std::string& text) {
  std::future<HttpAnswer> asked = post(port, text);
  HttpAnswer answer = waitFor(asked);
  static_cast<void>(
      QTest::qWaitFor([&] { return workspace.serving().state()->answering == 0; }, kServingPatience));
  return answer;
}

std::vector<Answer> answersIn(const Workspace& workspace) {
  return outputModel(workspace.input()).answers;
}

/// The answer of the visible request; nullptr: it has none.
std::unique_ptr<Answer> shownAnswer(const Workspace& workspace) {
  for (const Answer& answer : answersIn(workspace)) {
    if (answer.run == workspace.shownRun()) return std::make_unique<Answer>(answer);
  }
  return nullptr;
}

/// The window takes the events of a run a little after its client has the answer.
std::unique_ptr<Answer> awaitedAnswer(const Workspace& workspace) {
  std::unique_ptr<Answer> answer;
  (void)QTest::qWaitFor([&] { return (answer = shownAnswer(workspace)) != nullptr; }, kServingPatience);
  return answer;
}

std::string traceText(const Workspace& workspace) {
  std::string text;
  for (const trace::Event& event : workspace.input().trace->events()) text += trace::jsonLine(event);
  return text;
}

template <class Widget>
Widget* inWindow(const MainWindow& window, const char* name) {
  return window.findChild<Widget*>(QString::fromLatin1(name));
}

}  // namespace

class TestServing : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aRequestIsSeenAsARun();
  void whatIsKeptRunsAgainFromTheCache();
  void aPreviewGivesItsPlace();
  void severalAtOnceAreToldApart();
  void isSeenWhileItGoesOn();
  void textsStayOutOnRequest();
  void sessionsComeAndGo();
  void aTakenPortIsSaid();
  void pagesOfABrowserAreRefused();
  void endingAnswersWhatRuns();
  void theWindowMayCloseMeanwhile();
  void isNotKeptAfterQuitting();
  void theWindowHasASwitch();
  void theListIsAModel();
};

void TestServing::aRequestIsSeenAsARun() {
  Workspace workspace(test::cpuBackends());
  const int port = startServing(workspace);
  QVERIFY2(port > 0, qPrintable(workspace.serving().state()->problem));
  QVERIFY(workspace.documents().empty());
  const HttpAnswer first = askServed(workspace, port, body("Where does Mira live?"));
  QVERIFY2(first.status == 200, first.body.c_str());
  const HttpAnswer second = askServed(workspace, port, body("What does Mira bake?"));
  QVERIFY2(second.status == 200, second.body.c_str());

  const std::shared_ptr<const ServingState> state = workspace.serving().state();
  QCOMPARE(state->entries.size(), std::size_t{2});
  const ServedEntry& entry = state->entries.back();
  QCOMPARE(entry.endpoint, QStringLiteral("/v1/chat/completions"));
  QCOMPARE(entry.model, QStringLiteral("spanlet"));
  QCOMPARE(*entry.prompt, std::int64_t{usageOf(second, "prompt_tokens")});
  QCOMPARE(entry.generated, std::int64_t{usageOf(second, "completion_tokens")});
  QVERIFY(entry.cached > 0);
  QCOMPARE(entry.state, server::RequestState::Finished);

  // Its messages as a query, with the run on its nodes.
  OpenDocument* shown = workspace.showServed(2);
  QVERIFY(shown != nullptr && shown == workspace.current());
  QCOMPARE(shown->model->title(), QStringLiteral("Request 2"));
  const document::QueryOf query = document::toQuery(shown->model->document(), document::TakeOut::Nothing);
  QVERIFY(query.query);
  const std::string json = query::writeCanonical(*query.query);
  QVERIFY2(json.find(kFact) != std::string::npos && json.find("What does Mira bake?") != std::string::npos,
           json.c_str());
  QCOMPARE(workspace.shownRun(), entry.run);
  const std::unique_ptr<Answer> answer = awaitedAnswer(workspace);
  QVERIFY(answer != nullptr);
  QCOMPARE(answer->text.toStdString(), textIn(second));
  QCOMPARE(answer->cachedTokens, entry.cached);
  QVERIFY(workspace.input().nodeOf(entry.run, answer->node) != document::kNoNode);
  // Blocks with their reasons: what it shares with the first is found, the rest was never seen.
  const RequestId request = workspace.input().shownRequest();
  QCOMPARE(answer->request, request);
  int hits = 0;
  int misses = 0;
  for (const trace::Event& event : workspace.input().trace->events()) {
    const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload);
    if (lookup == nullptr || event.request != request) continue;
    (lookup->outcome == trace::LookupOutcome::Miss ? misses : hits) += 1;
  }
  QVERIFY(hits > 0 && misses > 0);
  // A cache simulator of another server gets them as earlier queries.
  const std::vector<workbench::SentQuery> sent = sentQueries(*workspace.history().records());
  QCOMPARE(sent.size(), std::size_t{2});
  QVERIFY(sent.back().queryJson.find("What does Mira bake?") != std::string::npos);
  // And what the answer read, as the settings have it recorded.
  QVERIFY(workspace.serving().runSettings().observe);
  QVERIFY(!workspace.input().trace->request(request)->of<trace::SegmentAttention>().empty());
  QVERIFY(workspace.input().trace->contradictions().empty());
}

void TestServing::whatIsKeptRunsAgainFromTheCache() {
  test::FreshWindow fresh;
  MainWindow& window = fresh.window();
  QVERIFY(fresh.show());
  Workspace& workspace = window.workspace();
  const int port = startServing(workspace);
  const HttpAnswer asked = askServed(workspace, port, body("Where does Mira live?"));
  QCOMPARE(asked.status, 200);
  window.perform(QStringLiteral("run.show-request:1"));
  QVERIFY(workspace.current() != nullptr && workspace.current()->isPreview);
  QVERIFY(!workspace.model()->isModified());
  window.perform(QStringLiteral("run.keep-request:1"));
  QVERIFY(!workspace.current()->isPreview && workspace.model()->isModified());
  QVERIFY(workspace.model()->filePath().isEmpty());

  QSignalSpy ended(&workspace, &Workspace::jobEnded);
  window.perform(QStringLiteral("run.run"));
  QVERIFY(!ended.isEmpty() || ended.wait(kServingPatience));
  QTest::qWait(50);
  const std::unique_ptr<Answer> again = awaitedAnswer(workspace);
  QVERIFY(again != nullptr);
  QVERIFY(again->run > workspace.serving().state()->entries.front().run);
  QCOMPARE(again->text.toStdString(), textIn(asked));
  QCOMPARE(again->promptTokens, std::int64_t{usageOf(asked, "prompt_tokens")});
  QCOMPARE(again->cachedTokens, again->promptTokens - 1);
  // Both are runs of this document.
  QCOMPARE(workspace.runBeside(-1), workspace.serving().state()->entries.front().run);
  // Edited, it is a query like any other.
  const document::NodeId root = workspace.model()->document().root();
  Selection selection;
  selection.nodes = {root};
  workspace.select(selection);
  window.perform(QStringLiteral("node.mute"));
  QCOMPARE(workspace.documents().size(), std::size_t{1});
  workspace.model()->markSaved();
}

void TestServing::aPreviewGivesItsPlace() {
  test::FreshWindow fresh;
  MainWindow& window = fresh.window();
  QVERIFY(fresh.show());
  Workspace& workspace = window.workspace();
  const int port = startServing(workspace);
  for (const char* question : {"Where?", "Who?", "When?"})
    QCOMPARE(askServed(workspace, port, body(question)).status, 200);
  window.perform(QStringLiteral("run.show-request:1"));
  window.perform(QStringLiteral("run.show-request:2"));
  QCOMPARE(workspace.documents().size(), std::size_t{1});
  QCOMPARE(workspace.model()->title(), QStringLiteral("Request 2"));
  // The same again changes nothing.
  const OpenDocument* shown = workspace.current();
  window.perform(QStringLiteral("run.show-request:2"));
  QCOMPARE(workspace.current(), shown);
  // What was edited stays.
  workspace.model()->change(QStringLiteral("Edit"), [](document::Document& document) {
    document.notes.push_back({.id = 1, .text = "mine", .area = {0, 0, 100, 40}});
  });
  window.perform(QStringLiteral("run.show-request:3"));
  QCOMPARE(workspace.documents().size(), std::size_t{2});
  QCOMPARE(workspace.documents().front()->model->title(), QStringLiteral("Request 2"));
  window.perform(QStringLiteral("run.show-request:99"));
  QCOMPARE(workspace.documents().size(), std::size_t{2});
  workspace.documents().front()->model->markSaved();
}

void TestServing::severalAtOnceAreToldApart() {
  Workspace workspace(test::cpuBackends());
  const int port = startServing(workspace);
  constexpr int kClients = 5;
  std::vector<std::future<HttpAnswer>> asked;
  for (int i = 0; i < kClients; ++i)
    asked.push_back(post(port, body("Where does number " + std::to_string(i) + " live?", 6 + i)));
  std::map<std::string, std::string> texts;
  for (int i = 0; i < kClients; ++i) {
    const HttpAnswer answer = waitFor(asked[static_cast<std::size_t>(i)]);
    QCOMPARE(answer.status, 200);
    texts["number " + std::to_string(i)] = textIn(answer);
  }
  QTRY_COMPARE(workspace.serving().state()->answering, std::size_t{0});
  const std::vector<ServedEntry> entries = workspace.serving().state()->entries;
  QCOMPARE(entries.size(), std::size_t{kClients});
  for (const ServedEntry& entry : entries) {
    QVERIFY(workspace.showServed(entry.number) != nullptr);
    const std::unique_ptr<Answer> answer = awaitedAnswer(workspace);
    QVERIFY(answer != nullptr);
    QCOMPARE(answer->run, entry.run);
    const std::size_t place = entry.queryJson.find("number ");
    QCOMPARE(answer->text.toStdString(), texts.at(entry.queryJson.substr(place, 8)));
  }
}

void TestServing::isSeenWhileItGoesOn() {
  Workspace workspace(test::cpuBackends());
  const int port = startServing(workspace);
  std::future<HttpAnswer> asked = post(port, body("Tell a long story.", 300));
  QTRY_VERIFY_WITH_TIMEOUT(!workspace.serving().state()->entries.empty(), kServingPatience);
  QVERIFY(workspace.showServed(1) != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(shownAnswer(workspace) != nullptr, kServingPatience);
  const auto length = [&] { return shownAnswer(workspace)->text.size(); };
  QTRY_VERIFY_WITH_TIMEOUT(length() > 0, kServingPatience);
  const auto before = length();
  if (!isThere(asked)) QTRY_VERIFY_WITH_TIMEOUT(length() > before || isThere(asked), kServingPatience);
  const HttpAnswer answer = waitFor(asked);
  QCOMPARE(answer.status, 200);
  QTRY_COMPARE(workspace.serving().state()->answering, std::size_t{0});
  QTRY_COMPARE(shownAnswer(workspace)->text.toStdString(), textIn(answer));
}

void TestServing::textsStayOutOnRequest() {
  test::FreshWindow fresh;
  MainWindow& window = fresh.window();
  QVERIFY(fresh.show());
  Workspace& workspace = window.workspace();
  const int port = startServing(workspace, false);
  const QString file = fresh.path(QStringLiteral("recorded.trace"));
  QCOMPARE(workspace.engine().startRecording(file, fresh.path(QStringLiteral("side"))), QString());
  const HttpAnswer answer = askServed(workspace, port, body("Where does Mira live?"));
  QCOMPARE(answer.status, 200);
  QVERIFY(!textIn(answer).empty());
  QCOMPARE(workspace.engine().finishRecording(), QString());
  const ServedEntry entry = workspace.serving().state()->entries.front();
  QVERIFY(entry.queryJson.empty());
  QCOMPARE(*entry.prompt, std::int64_t{usageOf(answer, "prompt_tokens")});

  window.perform(QStringLiteral("run.show-request:1"));
  window.perform(QStringLiteral("view.explain"));
  QTest::qWait(200);
  QCOMPARE(workspace.model()->document().size(), std::size_t{0});
  QCOMPARE(workspace.model()->document().notes.size(), std::size_t{1});
  QCOMPARE(workspace.shownRun(), entry.run);
  const std::unique_ptr<Answer> shown = awaitedAnswer(workspace);
  QVERIFY(shown != nullptr && shown->text.isEmpty());
  QVERIFY(sentQueries(*workspace.history().records()).empty());
  // There is nothing to keep.
  window.perform(QStringLiteral("run.requests"));
  QVERIFY(!inWindow<QPushButton>(window, "keepRequest")->isEnabled());
  window.perform(QStringLiteral("run.keep-request:1"));
  QVERIFY(workspace.current()->isPreview);
  QCOMPARE(shown->promptTokens, *entry.prompt);
  QVERIFY(workspace.input().shownRequest() != 0);
  QVERIFY(workspace.input().trace->contradictions().empty());
  const std::string seen = traceText(workspace);
  const TraceStore read = TraceStore::open(file.toStdString());
  std::string written;
  for (const trace::Event& event : read.events()) written += trace::jsonLine(event);
  QVERIFY(read.startOf(entry.run).has_value());
  for (const char* word : {"Mira", "Lisbon", "baker"}) {
    QVERIFY2(seen.find(word) == std::string::npos, word);
    QVERIFY2(written.find(word) == std::string::npos, word);
  }
}

void TestServing::sessionsComeAndGo() {
  test::FreshWindow fresh;
  MainWindow& window = fresh.window();
  QVERIFY(fresh.show());
  Workspace& workspace = window.workspace();
  const int port = startServing(workspace);
  QCOMPARE(askServed(workspace, port, body("Where does Mira live?")).status, 200);
  // A document with another cache takes the engine from the server.
  QVERIFY(window.openExample(QStringLiteral("rag.json")));
  workspace.model()->change(QStringLiteral("Blocks"),
                            [](document::Document& document) { document.settings.blockSize = 8; });
  QSignalSpy ended(&workspace, &Workspace::jobEnded);
  window.perform(QStringLiteral("run.run"));
  QVERIFY(!ended.isEmpty() || ended.wait(kServingPatience));
  QCOMPARE(ended.front().front().toString(), QString());
  workspace.model()->markSaved();
  // And the next request takes it back, and is seen all the same.
  const HttpAnswer later = askServed(workspace, port, body("Who is Mira?"));
  QCOMPARE(later.status, 200);
  for (const std::uint64_t number : {2, 1}) {
    QVERIFY(workspace.showServed(number) != nullptr);
    const std::unique_ptr<Answer> answer = awaitedAnswer(workspace);
    QVERIFY(answer != nullptr);
    QCOMPARE(answer->run, workspace.serving().entry(number)->run);
    if (number == 2) QCOMPARE(answer->text.toStdString(), textIn(later));
  }
}

void TestServing::aTakenPortIsSaid() {
  Workspace other(test::cpuBackends());
  const int taken = startServing(other);
  QVERIFY(taken > 0);
  Workspace workspace(test::cpuBackends());
  workspace.serve({.port = taken});
  QTRY_VERIFY_WITH_TIMEOUT(!workspace.serving().state()->problem.isEmpty(), kServingPatience);
  const ServingState state = *workspace.serving().state();
  QCOMPARE(state.phase, ServingPhase::Off);
  QVERIFY(state.problem.contains(QString::number(taken)));
  QVERIFY(state.problem.contains(QStringLiteral("Choose another port")));
  QCOMPARE(servingText(state), state.problem);
  QVERIFY(servingStatus(state).isEmpty());
  // The next attempt may succeed.
  QVERIFY(startServing(workspace) > 0);
  QVERIFY(workspace.serving().state()->problem.isEmpty());
}

void TestServing::pagesOfABrowserAreRefused() {
  Workspace workspace(test::cpuBackends());
  const int port = startServing(workspace);
  for (const char* header : {"Origin: https://page.example", "Sec-Fetch-Site: cross-site"}) {
    std::future<HttpAnswer> asked = post(port, body("Where?"), {header});
    QCOMPARE(waitFor(asked).status, 403);
  }
  QVERIFY(workspace.serving().state()->entries.empty());
}

void TestServing::endingAnswersWhatRuns() {
  Workspace workspace(test::cpuBackends());
  const int port = startServing(workspace);
  std::future<HttpAnswer> asked = post(port, body("Tell a story.", 40));
  QTRY_VERIFY_WITH_TIMEOUT(!workspace.serving().state()->entries.empty(), kServingPatience);
  workspace.serving().stop();
  const ServingPhase phase = workspace.serving().state()->phase;
  QVERIFY(phase == ServingPhase::Ending);
  QCOMPARE(waitFor(asked).status, 200);
  QTRY_COMPARE_WITH_TIMEOUT(workspace.serving().state()->phase, ServingPhase::Off, kServingPatience);
  QCOMPARE(workspace.serving().state()->entries.size(), std::size_t{1});
  QVERIFY(!HttpClient(port).isConnected());
  // Requests are numbered on, whatever server they came to.
  const int next = startServing(workspace);
  QCOMPARE(askServed(workspace, next, body("Where?")).status, 200);
  QCOMPARE(workspace.serving().state()->entries.back().number, std::uint64_t{2});
  // Who does not want to wait ends it at once.
  std::future<HttpAnswer> longest = post(next, longBody());
  QTRY_COMPARE_WITH_TIMEOUT(workspace.serving().state()->answering, std::size_t{1}, kServingPatience);
  workspace.serving().stop();
  workspace.serving().stop();
  QCOMPARE(waitFor(longest).status, 503);
  QTRY_COMPARE_WITH_TIMEOUT(workspace.serving().state()->phase, ServingPhase::Off, kServingPatience);
  QCOMPARE(workspace.serving().state()->entries.back().state, server::RequestState::Stopped);
}

void TestServing::theWindowMayCloseMeanwhile() {
  std::future<HttpAnswer> asked;
  {
    Workspace workspace(test::cpuBackends());
    const int port = startServing(workspace);
    asked = post(port, longBody());
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.serving().state()->entries.empty(), kServingPatience);
  }
  const int status = waitFor(asked).status;
  QVERIFY2(status == 503 || status == 0, qPrintable(QString::number(status)));
  // Or before the model is there.
  {
    Workspace workspace(test::cpuBackends());
    workspace.serve({.port = 0});
  }
  // Or while a stopped attempt still reads its model, and a second attempt waits.
  for (unsigned delay = 0; delay < 12; ++delay) {
    Workspace workspace(test::cpuBackends());
    workspace.serve({.port = 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    workspace.serving().stop();
    workspace.serve({.port = 0});
  }
}

void TestServing::isNotKeptAfterQuitting() {
  QTemporaryDir folder;
  Workspace workspace(test::cpuBackends());
  workspace.traces().keepRuns(folder.path());
  const int port = startServing(workspace);
  QCOMPARE(askServed(workspace, port, body("Where does Mira live?")).status, 200);
  QTest::qWait(200);
  workspace.traces().keepRuns(folder.path());
  QTest::qWait(200);
  for (const QString& name : QDir(folder.path()).entryList(QDir::Files)) {
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY2(!file.readAll().contains("Mira") && !name.endsWith(QLatin1String(".trace")), qPrintable(name));
  }
}

void TestServing::theWindowHasASwitch() {
  test::FreshWindow fresh;
  MainWindow& window = fresh.window();
  QVERIFY(fresh.show());
  Workspace& workspace = window.workspace();
  auto* panel = window.findChild<RequestsPanel*>();
  QVERIFY(panel != nullptr && !panel->isVisible());
  auto* status = inWindow<QToolButton>(window, "servingState");
  QVERIFY(!status->isVisible());
  auto* port = inWindow<QSpinBox>(window, "servePort");
  QCOMPARE(port->value(), 8000);
  port->setValue(0);
  QCOMPARE(fresh.settings().value(QStringLiteral("serve/port")).toInt(), 0);
  window.perform(QStringLiteral("run.serve"));
  QVERIFY(panel->isVisible() && status->isVisible());
  const auto phase = [&] { return workspace.serving().state()->phase; };
  QTRY_COMPARE_WITH_TIMEOUT(phase(), ServingPhase::On, kServingPatience);
  QTest::qWait(50);
  const QString address = QUrl(workspace.serving().state()->url).authority();
  QCOMPARE(status->text(), QStringLiteral("Serving %1").arg(address));
  QVERIFY(inWindow<QLabel>(window, "servingText")->text().contains(workspace.serving().state()->url));
  QVERIFY(!port->isVisible());
  inWindow<QToolButton>(window, "copyAddress")->click();
  QCOMPARE(QGuiApplication::clipboard()->text(), workspace.serving().state()->url + QStringLiteral("/v1"));

  QCOMPARE(askServed(workspace, portOf(workspace.serving()), body("Where?")).status, 200);
  QCOMPARE(askServed(workspace, portOf(workspace.serving()), body("Who?")).status, 200);
  auto* table = inWindow<QTableView>(window, "requests");
  QTRY_COMPARE(table->model()->rowCount(), 2);
  QVERIFY(!inWindow<QPushButton>(window, "keepRequest")->isEnabled());
  // The newest is at the top; a click shows it.
  QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier,
                    table->visualRect(table->model()->index(0, RequestsModel::Path)).center());
  QCOMPARE(workspace.model()->title(), QStringLiteral("Request 2"));
  QVERIFY(!window.isWelcome());
  auto* keep = inWindow<QPushButton>(window, "keepRequest");
  QTRY_VERIFY(keep->isEnabled());
  keep->click();
  QVERIFY(workspace.model()->isModified() && !workspace.current()->isPreview);
  workspace.model()->markSaved();

  window.perform(QStringLiteral("run.requests"));
  QVERIFY(!panel->isVisible());
  status->click();
  QVERIFY(panel->isVisible());
  window.perform(QStringLiteral("run.serve"));
  QTRY_COMPARE_WITH_TIMEOUT(phase(), ServingPhase::Off, kServingPatience);
  QTRY_VERIFY(!status->isVisible());
  // What was asked can be looked at and kept all the same.
  QCOMPARE(table->model()->rowCount(), 2);
  window.perform(QStringLiteral("run.show-request:1"));
  QCOMPARE(workspace.model()->title(), QStringLiteral("Request 1"));
}

void TestServing::theListIsAModel() {
  RequestsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  ServingState state;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ServedEntry entry;
    entry.number = number;
    state.entries.push_back(entry);
    model.setState(state);
    QCOMPARE(model.rowCount(), static_cast<int>(number));
    QCOMPARE(model.entry(0).number, number);
  }
  const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
  QCOMPARE(text(0, RequestsModel::State), QStringLiteral("Waiting"));
  QCOMPARE(text(0, RequestsModel::Prompt), QStringLiteral("–"));
  state.entries[2].run = 4;
  state.entries[2].prompt = 200;
  state.entries[2].cached = 50;
  model.setState(state);
  QCOMPARE(text(0, RequestsModel::State), QStringLiteral("Reading the prompt"));
  QCOMPARE(text(0, RequestsModel::Cached), QStringLiteral("50 (25\u00a0%)"));
  state.entries[2].generated = 3;
  model.setState(state);
  QCOMPARE(text(0, RequestsModel::State), QStringLiteral("Answering"));
  state.entries[2].state = server::RequestState::Failed;
  state.entries[2].problem = QStringLiteral("too long");
  model.setState(state);
  QCOMPARE(text(0, RequestsModel::State), QStringLiteral("Failed: too long"));
  state.entries.erase(state.entries.begin());
  model.setState(state);
  QCOMPARE(model.rowCount(), 2);
  QCOMPARE(model.rowOf(3), 0);
  QCOMPARE(model.rowOf(1), -1);
}

SPANSCOPE_TEST(tst_serving, TestServing, QApplication)
#include "tst_serving.moc"
