// SPDX-License-Identifier: GPL-3.0-or-later
// A gateway of the window: its dialog, its tab with the queries of the requests, and its end.
#include "engine/query/node_parts.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/gateway_source.h"
#include "ui/window/document_saver.h"
#include "ui/window/status_line.h"
#include "ui/window/stream_dialogs.h"
#include "ui/window/workspace.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QUrl>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using remote::test::ServerOfMany;
using server::test::ask;
using server::test::HttpAnswer;

namespace {

constexpr int kGatewayPatience = 60'000;  // milliseconds
const QByteArray kAnswer =
    R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",)"
    R"("content":"Lisbon"},"finish_reason":"stop"}],"usage":{"prompt_tokens":40,"completion_tokens":1}})";

QByteArray found(const QByteArray& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

/// Answers like vLLM.
QByteArray vllm(const QByteArray& request) {
  if (request.startsWith("POST /v1/chat/completions")) return found(kAnswer);
  if (request.startsWith("GET /v1/models "))
    return found(R"({"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]})");
  if (request.startsWith("GET /version ")) return found(R"({"version":"0.33.0"})");
  if (request.startsWith("GET /metrics "))
    return found(
        "vllm:cache_config_info{block_size=\"4\",enable_prefix_caching=\"True\",num_gpu_blocks=\"1000\"} "
        "1.0\n");
  return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
}

std::string chat(const std::string& question) {
  return R"({"model":"m","messages":[{"role":"system","content":"Answer briefly."},{"role":"user","content":")" +
         question + R"("}]})";
}

}  // namespace

class TestGatewayTab : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show());
  }
  void cleanup() { m_fresh.reset(); }

  void showsEachRequest() {
    const ServerOfMany upstream(vllm);
    begin(upstream.address());
    OpenDocument* const tab = workspace().current();
    QVERIFY(tab != nullptr);
    const auto* source = dynamic_cast<const GatewaySource*>(tab->source.get());
    QVERIFY(source != nullptr && source->isOpen());
    QVERIFY(!tab->source->takesRuns());
    const int port = QUrl(source->url()).port();

    const std::string body = chat("Where does Mira live?");
    const HttpAnswer first = ask(port, "POST", "/v1/chat/completions", body);
    QCOMPARE(first.status, 200);
    QCOMPARE(QByteArray::fromStdString(first.body), kAnswer);
    QTRY_VERIFY_WITH_TIMEOUT(shownText().contains(QStringLiteral("Mira")), kGatewayPatience);
    ask(port, "POST", "/v1/chat/completions", chat("Where does Tarek live?"));
    QTRY_VERIFY_WITH_TIMEOUT(shownText().contains(QStringLiteral("Tarek")), kGatewayPatience);
    QVERIFY(!tab->model->isModified() && !tab->model->undoStack().canUndo());
    QTRY_COMPARE_WITH_TIMEOUT(source->trace()->newest().progress().requests.size(), std::size_t{2},
                              kGatewayPatience);
    QVERIFY(source->reports().of(Fact::Pool) == Reporting::Reported);
    QVERIFY(source->reports().of(Fact::Attention) == Reporting::CannotBeReported);
    QVERIFY(source->trace()->contradictions().empty());
    // The second prompt begins like the first one.
    QVERIFY(source->trace()->newest().pool().cachedCount() > 0);

    // The user looks at an earlier request. New requests do not change the tab.
    QTRY_COMPARE_WITH_TIMEOUT(workspace().shownRun(),
                              source->trace()->newest().progress().runs.rbegin()->first, kGatewayPatience);
    window().perform(QStringLiteral("run.older"));
    QVERIFY(shownText().contains(QStringLiteral("Mira")));
    ask(port, "POST", "/v1/chat/completions", chat("Where does Nadia live?"));
    QTRY_COMPARE_WITH_TIMEOUT(source->trace()->newest().progress().requests.size(), std::size_t{3},
                              kGatewayPatience);
    QVERIFY(shownText().contains(QStringLiteral("Mira")));

    window().perform(QStringLiteral("run.gateway"));
    QTRY_VERIFY_WITH_TIMEOUT(!source->isOpen(), kGatewayPatience);
    QCOMPARE(ask(port, "POST", "/v1/chat/completions", body).status, 0);
    QVERIFY(window().findChild<QToolButton*>(QStringLiteral("streamState"))->isHidden());
    QVERIFY(workspace().find(tab->id) == tab);
  }

  /// Closing the tab ends the gateway.
  void endsWithItsTab() {
    const ServerOfMany upstream(vllm);
    begin(upstream.address());
    const auto* source = dynamic_cast<const GatewaySource*>(workspace().current()->source.get());
    QVERIFY(source != nullptr);
    const int port = QUrl(source->url()).port();
    QCOMPARE(ask(port, "GET", "/v1/models").status, 200);
    window().perform(QStringLiteral("file.close"));
    QTRY_COMPARE_WITH_TIMEOUT(ask(port, "GET", "/v1/models").status, 0, kGatewayPatience);
  }

  /// The address is above the canvas until the gateway ends.
  void showsItsAddress() {
    const ServerOfMany upstream(vllm);
    begin(upstream.address());
    const auto* source = dynamic_cast<const GatewaySource*>(workspace().current()->source.get());
    QVERIFY(source != nullptr);
    auto* bar = window().findChild<NoticeBar*>();
    QVERIFY(bar != nullptr && bar->isVisible());
    QVERIFY(bar->notice().text.contains(source->url() + QStringLiteral("/v1")));
    QVERIFY(bar->notice().answers == std::vector{NoticeAnswer::CopyAddress});
    Q_EMIT bar->answered(NoticeAnswer::CopyAddress);
    QCOMPARE(QGuiApplication::clipboard()->text(), source->url() + QStringLiteral("/v1"));
    window().perform(QStringLiteral("run.gateway"));
    QTRY_VERIFY_WITH_TIMEOUT(!source->isOpen() && !bar->isVisible(), kGatewayPatience);
  }

  /// Two servers have a tab each. The gateway ends with its last tab.
  void severalServers() {
    const ServerOfMany first(vllm);
    const ServerOfMany second(vllm);
    begin(first.address() + "  " + second.address());
    std::vector<std::shared_ptr<const TraceSource>> sources;
    for (const OpenDocument* tab : workspace().tabs()) sources.push_back(tab->source);
    QCOMPARE(sources.size(), std::size_t{2});
    const auto requests = [&sources](std::size_t server) {
      return sources[server]->trace()->newest().progress().requests.size();
    };
    const int port = QUrl(dynamic_cast<const GatewaySource&>(*sources.front()).url()).port();
    // Requests with different texts go to the server with fewer answers.
    ask(port, "POST", "/v1/chat/completions", chat("Where does Mira live?"));
    ask(port, "POST", "/v1/chat/completions", R"({"model":"m","messages":[{"role":"user","content":"x"}]})");
    QTRY_COMPARE_WITH_TIMEOUT(requests(0), std::size_t{1}, kGatewayPatience);
    QTRY_COMPARE_WITH_TIMEOUT(requests(1), std::size_t{1}, kGatewayPatience);
    window().perform(QStringLiteral("file.close"));
    QCOMPARE(ask(port, "GET", "/v1/models").status, 200);
    sources.clear();
    window().perform(QStringLiteral("file.close"));
    QTRY_COMPARE_WITH_TIMEOUT(ask(port, "GET", "/v1/models").status, 0, kGatewayPatience);
  }

  /// A marked request has a note in another order, as a section of the plus.
  void sendsTheNote() {
    const ServerOfMany upstream(vllm);
    begin(upstream.address(), true);
    const auto* source = dynamic_cast<const GatewaySource*>(workspace().current()->source.get());
    QVERIFY(source != nullptr);
    const int port = QUrl(source->url()).port();
    const auto body = [](const char* first, const char* second, bool isMarked) {
      nlohmann::json chat{{"model", "m"}, {"messages", nlohmann::json::array()}};
      for (const char* text : {first, second, "Who?"})
        chat["messages"].push_back({{"role", "user"}, {"content", text}});
      if (isMarked) chat["spanscope"]["plus"] = nlohmann::json::parse("[[0,1]]");
      return chat.dump();
    };
    const char* const mira = "Mira lives in Lisbon with a cat, in a house on a hill near the river.";
    const char* const tarek = "Tarek has a dog and a bicycle, and works in the harbor of the old town.";
    ask(port, "POST", "/v1/chat/completions", body(tarek, mira, false));
    const HttpAnswer second = ask(port, "POST", "/v1/chat/completions", body(mira, tarek, true));
    QCOMPARE(second.status, 200);
    QTRY_COMPARE_WITH_TIMEOUT(source->trace()->newest().progress().requests.size(), std::size_t{2},
                              kGatewayPatience);
    QTRY_VERIFY_WITH_TIMEOUT(!source->trace()->newest().progress().requests.rbegin()->second.segments.empty(),
                             kGatewayPatience);
    const trace::SegmentInfo& prompt =
        source->trace()->newest().progress().requests.rbegin()->second.segments.front();
    const auto isNote = [](const trace::TokenRunInfo& run) { return run.node == "/g/input/cross/0"; };
    QVERIFY(std::ranges::any_of(prompt.runs, isNote));
  }

  /// The dialog stays open with the problem.
  void mistakesStayInTheDialog() {
    window().perform(QStringLiteral("run.gateway"));
    auto* dialog = window().findChild<GatewayDialog*>();
    QVERIFY(dialog != nullptr);
    auto* button = dialog->findChild<QPushButton*>(QStringLiteral("gatewayBegin"));
    auto* url = dialog->findChild<QComboBox*>(QStringLiteral("gatewayUrl"));
    url->setCurrentText(QString());
    QVERIFY(!button->isEnabled());
    url->setCurrentText(QStringLiteral("no address"));
    QVERIFY(button->isEnabled());
    button->click();
    QVERIFY(dialog->isVisible());
    QVERIFY(!dialog->findChild<QLabel*>(QStringLiteral("gatewayProblem"))->text().isEmpty());
    QVERIFY(workspace().current() == nullptr);
    dialog->reject();
  }

 private:
  MainWindow& window() { return m_fresh->window(); }
  Workspace& workspace() { return window().workspace(); }

  void begin(const std::string& url, bool hasOrderNote = false) {
    window().perform(QStringLiteral("run.gateway"));
    auto* dialog = window().findChild<GatewayDialog*>();
    QVERIFY(dialog != nullptr);
    dialog->findChild<QComboBox*>(QStringLiteral("gatewayUrl"))->setCurrentText(QString::fromStdString(url));
    dialog->findChild<QSpinBox*>(QStringLiteral("gatewayPort"))->setValue(0);
    dialog->findChild<QCheckBox*>(QStringLiteral("gatewayOrderNote"))->setChecked(hasOrderNote);
    dialog->findChild<QPushButton*>(QStringLiteral("gatewayBegin"))->click();
    QVERIFY(!dialog->isVisible());
  }

  /// All texts of the shown query.
  QString shownText() {
    QString text;
    const document::Document& document = workspace().current()->model->document();
    for (const document::NodeId top : document.tops()) {
      for (const document::NodeId id : document.subtree(top)) {
        if (const std::string* own = query::textOf(document.at(id).own))
          text += QString::fromStdString(*own) + QLatin1Char('\n');
      }
    }
    return text;
  }

  std::unique_ptr<test::FreshWindow> m_fresh;
};

SPANSCOPE_TEST(tst_gateway_tab, TestGatewayTab, QApplication)
#include "tst_gateway_tab.moc"
