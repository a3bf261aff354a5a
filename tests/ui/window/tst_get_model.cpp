// SPDX-License-Identifier: GPL-3.0-or-later
// The window that downloads models: from the menu of models to the model of the document, Stop, and a hub
// that refuses.
#include "tests/engine/remote/hub/stand_in_hub.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/window/get_model_dialog.h"
#include "ui/window/workspace.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

using namespace spanscope;
using namespace spanscope::ui;
using remote::test::Hub;
using remote::test::HubAsked;
using spanscope::product_text::says;

namespace {

constexpr int kHubWait = 20'000;  // milliseconds

workbench::VariableReader variablesOf(const Hub& hub) {
  return [&hub](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "HF_ENDPOINT") return hub.place().endpoint;
    if (std::string_view(name) == "HF_HUB_CACHE") return hub.place().cache.string();
    return std::nullopt;
  };
}

template <typename Widget>
Widget* childOf(QWidget& dialog, const char* name) {
  return dialog.findChild<Widget*>(QString::fromLatin1(name));
}

void listIn(GetModelDialog& dialog, const char* name) {
  QSignalSpy ended(&dialog, &GetModelDialog::ended);
  childOf<QLineEdit>(dialog, "hubName")->setText(QString::fromUtf8(name));
  childOf<QLineEdit>(dialog, "hubName")->textEdited({});
  childOf<QPushButton>(dialog, "hubList")->click();
  QVERIFY(!ended.isEmpty() || ended.wait(kHubWait));
}

}  // namespace

class TestGetModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The menu opens the window. The document gets the model, and the menu lists it.
  void documentsGetTheModel() {
    Hub hub;
    const std::filesystem::path source = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";
    hub.files.clear();
    for (const auto& entry : std::filesystem::directory_iterator(source)) {
      if (entry.is_regular_file())
        hub.files[entry.path().filename().string()] = remote::test::readBytes(entry.path());
    }
    qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.place().endpoint));
    qputenv("HF_HUB_CACHE", QByteArray::fromStdString(hub.place().cache.string()));
    qputenv("HF_TOKEN_PATH", "/no/such/file");
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    QVERIFY(fresh.show());
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    window.perform(QStringLiteral("run.get-model"));
    auto* dialog = window.findChild<GetModelDialog*>();
    QVERIFY(dialog != nullptr && dialog->isVisible() && !dialog->isModal());
    listIn(*dialog, remote::test::kHubRepository);
    auto* models = childOf<QTreeWidget>(*dialog, "hubModels");
    QCOMPARE(models->topLevelItemCount(), 1);
    QVERIFY(models->currentItem() != nullptr);
    QSignalSpy got(dialog, &GetModelDialog::got);
    QSignalSpy ended(dialog, &GetModelDialog::ended);
    childOf<QPushButton>(*dialog, "primary")->click();
    dialog->close();
    QVERIFY(dialog->isBusy());
    // A busy window is shown again.
    window.perform(QStringLiteral("run.get-model"));
    QCOMPARE(window.findChild<GetModelDialog*>(), dialog);
    QVERIFY(!ended.isEmpty() || ended.wait(kHubWait));
    const std::filesystem::path folder = hub.folder() / "snapshots" / remote::test::kHubCommit;
    QCOMPARE(got.size(), 1);
    QCOMPARE(window.workspace().model()->document().settings.model, folder.string());
    QSignalSpy run(&window.workspace(), &Workspace::jobEnded);
    window.perform(QStringLiteral("run.run"));
    QVERIFY(!run.isEmpty() || run.wait(60'000));
    QCOMPARE(run.front().front().toString(), QString());
    QCOMPARE(window.workspace().engine().model().directory, folder.string());
    for (const char* name : {"HF_ENDPOINT", "HF_HUB_CACHE", "HF_TOKEN_PATH"}) qunsetenv(name);
  }

  void stopKeepsTheBytes() {
    std::atomic<bool> stalls = true;
    Hub hub(
        [&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
          if (!stalls || !asked.isFile() || !asked.isFor(remote::test::kHubWeights)) return std::nullopt;
          return served.fileAnswer(asked, remote::test::kHubWeights).chopped(10'000);
        },
        remote::test::Server::After::Hold);
    GetModelDialog dialog({.name = QStringLiteral("cpu"), .memory = 1U << 30U}, Theme(), nullptr,
                          variablesOf(hub));
    dialog.show();
    listIn(dialog, remote::test::kHubRepository);
    auto* stop = childOf<QPushButton>(dialog, "hubStop");
    QVERIFY(!stop->isEnabled());
    QSignalSpy ended(&dialog, &GetModelDialog::ended);
    QSignalSpy got(&dialog, &GetModelDialog::got);
    childOf<QPushButton>(dialog, "primary")->click();
    QTRY_VERIFY_WITH_TIMEOUT(
        std::filesystem::exists(hub.unfinished(remote::test::kHubWeights)) &&
            std::filesystem::file_size(hub.unfinished(remote::test::kHubWeights)) == 40'000,
        kHubWait);
    QVERIFY(stop->isEnabled());
    QElapsedTimer timer;
    timer.start();
    stop->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kHubWait));
    QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(got.isEmpty() && !dialog.isBusy());
    stalls = false;
    ended.clear();
    childOf<QPushButton>(dialog, "primary")->click();
    QVERIFY(!ended.isEmpty() || ended.wait(kHubWait));
    QCOMPARE(got.size(), 1);
    QCOMPARE(hub.asked().back().from(), std::size_t{40'000});
  }

  /// A gated model needs a token. The typed token is sent, and no text shows it.
  void gatedModelsAskForAToken() {
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus");
    Hub hub([](const Hub&, const HubAsked& asked) -> std::optional<QByteArray> {
      if (asked.hasToken()) return std::nullopt;
      return remote::test::hubAnswer("401 No", "X-Error-Code: GatedRepo\r\n" + remote::test::lengthLine(0));
    });
    GetModelDialog dialog({.name = QStringLiteral("cpu"), .memory = 0}, Theme(), nullptr, variablesOf(hub));
    dialog.show();
    auto* token = childOf<QLineEdit>(dialog, "hubToken");
    QVERIFY(!token->isVisible());
    listIn(dialog, remote::test::kHubRepository);
    const QString said = childOf<QLabel>(dialog, "hubSaid")->text();
    QVERIFY2(says(said, "<hub-gated>"), qPrintable(said));
    QVERIFY(token->isVisible());
    token->setText(QStringLiteral("hf_secret"));
    listIn(dialog, remote::test::kHubRepository);
    QCOMPARE(childOf<QTreeWidget>(dialog, "hubModels")->topLevelItemCount(), 1);
    QVERIFY(!childOf<QLabel>(dialog, "hubSaid")->text().contains(QStringLiteral("hf_secret")));
  }

  void wrongNamesAreExplained() {
    Hub hub;
    GetModelDialog dialog({}, Theme(), nullptr, variablesOf(hub));
    childOf<QLineEdit>(dialog, "hubName")->setText(QStringLiteral("a/b/c"));
    childOf<QLineEdit>(dialog, "hubName")->textEdited({});
    childOf<QPushButton>(dialog, "hubList")->click();
    QVERIFY(!dialog.isBusy() && hub.asked().empty());
    QVERIFY(says(childOf<QLabel>(dialog, "hubSaid")->text(), "<hub-name-form>"));
  }
};

SPANSCOPE_TEST(tst_get_model, TestGetModel, QApplication)
#include "tst_get_model.moc"
