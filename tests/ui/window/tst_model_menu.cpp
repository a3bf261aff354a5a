// SPDX-License-Identifier: GPL-3.0-or-later
// The button with the model's name lists what other programs keep on this machine.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/model_choices.h"
#include "ui/window/workspace.h"

#include <QAction>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QScreen>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

QAction* actionOf(const QMenu& menu, const QString& beginning) {
  for (QAction* action : menu.actions()) {
    if (action->text().startsWith(beginning)) return action;
  }
  return nullptr;
}

}  // namespace

class TestModelMenu : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void modelsOfOtherProgramsAreOffered() {
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    const QString home = fresh.path(QStringLiteral("home"));
    const QString snapshot =
        home + QStringLiteral("/.cache/huggingface/hub/models--org--small/snapshots/commit");
    const QString hybrid = home + QStringLiteral("/.lmstudio/models/pub/hybrid");
    QVERIFY(QDir().mkpath(snapshot) && QDir().mkpath(hybrid));
    const QDir source(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet"));
    for (const QString& name : source.entryList(QDir::Files))
      QVERIFY(QFile::copy(source.filePath(name), snapshot + QLatin1Char('/') + name));
    QFile config(hybrid + QStringLiteral("/config.json"));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write(R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"})");
    config.close();
    window.workspace().modelSearch().setEnvironment([home](const char* name) -> std::optional<std::string> {
      return std::string_view(name) == "HOME" ? std::optional(home.toStdString()) : std::nullopt;
    });

    QVERIFY(fresh.show());
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    QMenu* models = nullptr;
    for (auto* button : window.findChildren<QToolButton*>()) {
      if (button->accessibleName() == QStringLiteral("Model")) models = button->menu();
    }
    QVERIFY(models != nullptr);
    QSignalSpy found(&window.workspace().modelSearch(), &ModelSearch::found);
    Q_EMIT models->aboutToShow();
    // The menu does not wait for the search.
    QVERIFY(window.workspace().modelSearch().isSearching());
    QVERIFY(actionOf(*models, QStringLiteral("Looking for models")) != nullptr);
    QVERIFY(!found.isEmpty() || found.wait(kPatience));
    Q_EMIT models->aboutToShow();
    QVERIFY(actionOf(*models, QStringLiteral("Looking for models")) == nullptr);
    QVERIFY(actionOf(*models, QStringLiteral("Ollama")) == nullptr);

    QAction* studio = actionOf(*models, QStringLiteral("LM Studio"));
    QVERIFY(studio != nullptr && studio->menu() != nullptr);
    QAction* refused = actionOf(*studio->menu(), QStringLiteral("pub/hybrid"));
    QVERIFY(refused != nullptr && !refused->isEnabled());
    QVERIFY2(refused->text().contains(worded("<keeps-running-state>").mid(1)), qPrintable(refused->text()));
    QVERIFY2(refused->toolTip().contains(hybrid), qPrintable(refused->toolTip()));

    // It grows while it is open, and stays on the screen.
    const QRect screen = models->screen()->availableGeometry();
    found.clear();
    models->popup(screen.topRight() - QPoint(models->sizeHint().width(), 0));
    models->clear();
    models->addAction(QStringLiteral("Small"));
    models->move(screen.right() - models->sizeHint().width(), screen.top());
    QVERIFY(!found.isEmpty() || found.wait(kPatience));
    QVERIFY(models->isVisible() && actionOf(*models, QStringLiteral("LM Studio")) != nullptr);
    QVERIFY2(screen.contains(models->geometry()), qPrintable(QString::number(models->geometry().right())));
    models->close();

    QAction* hub = actionOf(*models, QStringLiteral("Hugging Face"));
    QVERIFY(hub != nullptr && hub->menu() != nullptr);
    QAction* small = actionOf(*hub->menu(), QStringLiteral("org/small"));
    QVERIFY(small != nullptr && small->isEnabled() && !small->isChecked());
    QVERIFY2(small->text().contains(QStringLiteral("1.4 M · BF16 · context 32768")),
             qPrintable(small->text()));
    small->trigger();
    QCOMPARE(QString::fromStdString(window.workspace().model()->document().settings.model), snapshot);
    QSignalSpy ended(&window.workspace(), &Workspace::jobEnded);
    window.perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QCOMPARE(window.workspace().engine().model().directory, snapshot.toStdString());
  }
};

SPANSCOPE_TEST(tst_model_menu, TestModelMenu, QApplication)
#include "tst_model_menu.moc"
