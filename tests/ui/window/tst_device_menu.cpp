// SPDX-License-Identifier: GPL-3.0-or-later
// The button with the model's name on a machine with two cards.
#include "tests/support/test_program.h"
#include "tests/support/two_cards.h"
#include "tests/ui/window/fresh_window.h"

#include <QAction>
#include <QMenu>
#include <QTest>
#include <QToolButton>

#include <memory>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 60'000;

QAction* actionOf(const QMenu& menu, const QString& beginning) {
  for (QAction* action : menu.actions()) {
    if (action->text().startsWith(beginning)) return action;
  }
  return nullptr;
}

}  // namespace

class TestDeviceMenu : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theSecondCardIsChosenByPointing() {
    const auto made = std::make_shared<std::vector<int>>();
    test::FreshWindow fresh(test::twoCards(made));
    MainWindow& window = fresh.window();
    QVERIFY(fresh.show());
    QTRY_VERIFY_WITH_TIMEOUT(window.workspace().engine().devices() != nullptr, kPatience);
    QVERIFY(window.openExample(QStringLiteral("rag.json")));

    QMenu* models = nullptr;
    for (auto* button : window.findChildren<QToolButton*>()) {
      if (button->accessibleName() == QStringLiteral("Model")) models = button->menu();
    }
    QVERIFY(models != nullptr);
    const auto devices = [models] {
      Q_EMIT models->aboutToShow();
      QAction* entry = actionOf(*models, QStringLiteral("Computed by"));
      return entry == nullptr ? nullptr : entry->menu();
    };
    QVERIFY(devices() != nullptr);
    QCOMPARE(devices()->actions().size(), 4);
    QVERIFY(devices()->actions().front()->isChecked());
    QAction* second = actionOf(*devices(), QStringLiteral("cuda:1: Small Card"));
    QVERIFY(second != nullptr && !second->isChecked());
    second->trigger();
    QCOMPARE(window.workspace().model()->document().settings.device, std::string("cuda:1"));
    QVERIFY(actionOf(*devices(), QStringLiteral("cuda:1: Small Card"))->isChecked());

    made->clear();
    window.perform(QStringLiteral("run.run"));
    QTRY_COMPARE_WITH_TIMEOUT(*made, std::vector<int>{1}, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(window.workspace().engine().state() == EngineState::Idle, kPatience);
  }
};

SPANSCOPE_TEST(tst_device_menu, TestDeviceMenu, QApplication)
#include "tst_device_menu.moc"
