// SPDX-License-Identifier: GPL-3.0-or-later
// The tab of a watched server: the bar above its nodes, and its problems in the status line.
#include "engine/remote/server/kv_events.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/watch_source.h"
#include "ui/window/document_saver.h"
#include "ui/window/status_line.h"
#include "ui/window/stream_dialogs.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <memory>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;
using product_text::worded;

namespace {

constexpr int kWatchPatience = 60'000;  // milliseconds

}  // namespace

class TestWatchTab : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show());
    m_folder = std::make_unique<QTemporaryDir>();
    m_endpoint = QStringLiteral("ipc://") + m_folder->filePath(QStringLiteral("e"));
    m_replay = QStringLiteral("ipc://") + m_folder->filePath(QStringLiteral("r"));
  }
  void cleanup() { m_fresh.reset(); }

  /// The nodes of the tab are kinds of requests. The bar says so while the tab is shown, also after the end.
  void namesItsNodes() {
    server::KvPublisher publisher(
        {.endpoint = m_endpoint.toStdString(), .replayEndpoint = m_replay.toStdString()});
    publish(publisher);
    auto* bar = window().findChild<NoticeBar*>();
    QVERIFY(bar != nullptr && !bar->isVisible());
    begin({}, m_endpoint);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().current() != nullptr, kWatchPatience);
    const OpenDocument* const tab = workspace().current();
    QVERIFY(bar->isVisible());
    QCOMPARE(bar->notice().text, worded("<watched-tab>"));
    QVERIFY(bar->notice().answers.empty());
    QVERIFY(!tab->source->takesRuns());
    window().perform(QStringLiteral("run.watch"));
    QVERIFY(bar->isVisible());
    window().perform(QStringLiteral("file.new"));
    QVERIFY(workspace().current() != tab);
    QVERIFY(!bar->isVisible());
  }

  /// A server that never answered has no tab, so the status line has the problem.
  void complainsWithoutATab() {
    const int port = remote::test::closedPort();
    begin(QStringLiteral("http://127.0.0.1:%1").arg(port), {});
    const auto* const line = window().findChild<StatusLine*>();
    QVERIFY(line != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(line->toolTip().contains(QString::number(port)), kWatchPatience);
    QVERIFY(!line->currentMessage().isEmpty());
    QVERIFY(line->toolTip().startsWith(line->currentMessage().left(10)));
    QVERIFY(workspace().current() == nullptr);
  }

  /// The state of a watch with a problem is the problem, and the tool tip has its whole text.
  void showsTheProblemOfATab() {
    server::KvPublisher publisher(
        {.endpoint = m_endpoint.toStdString(), .replayEndpoint = m_replay.toStdString()});
    publish(publisher);
    begin(QStringLiteral("http://127.0.0.1:%1").arg(remote::test::closedPort()), m_endpoint);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().current() != nullptr, kWatchPatience);
    const auto* source = dynamic_cast<const WatchSource*>(workspace().current()->source.get());
    QVERIFY(source != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(!source->problem().isEmpty(), kWatchPatience);
    const auto* const state = window().findChild<QToolButton*>(QStringLiteral("streamState"));
    QVERIFY(state != nullptr);
    constexpr int kShown = 20;  // letters
    QTRY_VERIFY_WITH_TIMEOUT(state->text().contains(source->problem().left(kShown)), kWatchPatience);
    QVERIFY(state->isVisible());
    QVERIFY(state->toolTip().startsWith(source->problem() + QLatin1Char('\n')));
    QCOMPARE(state->accessibleName(), state->text());
    window().perform(QStringLiteral("run.watch"));
    QVERIFY(!state->isVisible());
  }

 private:
  MainWindow& window() { return m_fresh->window(); }
  Workspace& workspace() { return window().workspace(); }

  static void publish(server::KvPublisher& publisher) {
    publisher.publish(
        {server::KvBlocksStored{.hashes = {1}, .parent = {}, .tokens = {1, 2}, .blockSize = 2}});
  }

  void begin(const QString& url, const QString& events) {
    window().perform(QStringLiteral("run.watch"));
    auto* dialog = window().findChild<WatchDialog*>();
    QVERIFY(dialog != nullptr);
    dialog->findChild<QComboBox*>(QStringLiteral("watchUrl"))->setCurrentText(url);
    dialog->findChild<QLineEdit*>(QStringLiteral("watchEvents"))->setText(events);
    dialog->findChild<QLineEdit*>(QStringLiteral("watchReplay"))
        ->setText(events.isEmpty() ? QString() : m_replay);
    dialog->findChild<QPushButton*>(QStringLiteral("watchBegin"))->click();
    QVERIFY(!dialog->isVisible());
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  QString m_endpoint;
  QString m_replay;
  std::unique_ptr<test::FreshWindow> m_fresh;
};

SPANSCOPE_TEST(tst_watch_tab, TestWatchTab, QApplication)
#include "tst_watch_tab.moc"
