// SPDX-License-Identifier: GPL-3.0-or-later
// A model whose chat template is not known: the list of problems says so, Run refuses with the same words,
// and the user chooses beside the unchanged template.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/model_choices.h"
#include "ui/views/problems/problems_view.h"
#include "ui/window/dialogs.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>
#include <QTimer>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kReadingPatience = 60'000;  // milliseconds

/// A copy of the bundled model with a template of its own.
bool makeForeign(const QString& folder) {
  const QDir source(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet"));
  bool isDone = QDir().mkpath(folder);
  for (const QString& name : source.entryList(QDir::Files))
    isDone = isDone && QFile::copy(source.filePath(name), folder + QLatin1Char('/') + name);
  QFile jinja(folder + QStringLiteral("/chat_template.jinja"));
  return isDone && jinja.open(QIODevice::WriteOnly) && jinja.write("{{ 'nobody knows' }}") > 0;
}

QString textOf(const TemplateDialog& dialog, const char* name) {
  for (const auto* text : dialog.findChildren<QPlainTextEdit*>()) {
    if (text->accessibleName().contains(QString::fromLatin1(name))) return text->toPlainText();
  }
  return {};
}

}  // namespace

class TestTemplateDialog : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aPersonChooses() {
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    const QString foreign = fresh.path(QStringLiteral("foreign"));
    QVERIFY(makeForeign(foreign));
    QVERIFY(fresh.show());
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    DocumentModel& model = *window.workspace().model();
    chooseModel(model, foreign);

    const std::vector<Problem> problems = window.workspace().runs().problems();
    QVERIFY(!problems.empty() && problems.front().isOfTemplate);
    window.perform(QStringLiteral("view.dock:problems"));
    // The button in the row of the problem.
    const auto button = [&window] {
      auto* found = window.findChild<QPushButton*>(QStringLiteral("chooseTemplate"));
      return found != nullptr && found->isVisible() ? found : nullptr;
    };
    QTRY_VERIFY(button() != nullptr);
    window.perform(QStringLiteral("run.run"));
    QTRY_VERIFY2(window.statusBar()->currentMessage().contains(problems.front().text),
                 qPrintable(window.statusBar()->currentMessage()));

    QString own;
    QString sample;
    QTimer::singleShot(0, this, [&] {
      auto* dialog = qobject_cast<TemplateDialog*>(QApplication::activeModalWidget());
      QVERIFY(dialog != nullptr);
      QSignalSpy read(dialog, &TemplateDialog::read);
      QVERIFY(dialog->isRead() || read.wait(kReadingPatience));
      own = textOf(*dialog, "The template");
      auto* choices = dialog->findChild<QComboBox*>(QStringLiteral("templates"));
      auto* use = dialog->findChild<QPushButton*>(QStringLiteral("primary"));
      // One that the model's tokenizer cannot write cannot be chosen.
      choices->setCurrentIndex(choices->findData(QStringLiteral("chatml")));
      QVERIFY(!use->isEnabled());
      choices->setCurrentIndex(choices->findData(QStringLiteral("spanlet")));
      sample = textOf(*dialog, "conversation");
      QTest::mouseClick(use, Qt::LeftButton);
    });
    QTest::mouseClick(button(), Qt::LeftButton);
    QCOMPARE(own, QStringLiteral("{{ 'nobody knows' }}"));
    QVERIFY2(sample.contains(QStringLiteral("<|user|>")), qPrintable(sample));
    QCOMPARE(model.document().settings.chatTemplate, std::string("spanlet"));
    for (const Problem& problem : window.workspace().runs().problems()) QVERIFY(!problem.isOfTemplate);
    QTRY_VERIFY(button() == nullptr);

    // The engine opens the model with it.
    window.perform(QStringLiteral("run.run"));
    const auto answer = [&window] {
      const auto& requests = window.workspace().input().state().progress().requests;
      return requests.empty() ? std::string() : requests.rbegin()->second.text;
    };
    QTRY_COMPARE_WITH_TIMEOUT(answer(), std::string("The pet of Tarek is Biscuit."), kReadingPatience);

    // It is one step of the settings' own history, and another model forgets it.
    window.perform(QStringLiteral("edit.undo-setting"));
    QCOMPARE(model.document().settings.chatTemplate, std::string("auto"));
    window.perform(QStringLiteral("edit.redo-setting"));
    chooseModel(model, QString());
    QCOMPARE(model.document().settings.chatTemplate, std::string("auto"));
  }

  /// A sentence that is longer than the bar is not cut by the widgets at its right.
  void longReasonsAreReadable() {
    test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    const QString hybrid = fresh.path(QStringLiteral("hybrid"));
    QVERIFY(QDir().mkpath(hybrid));
    QFile config(hybrid + QStringLiteral("/config.json"));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write(R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"})");
    config.close();
    QVERIFY(fresh.show({1024, 700}));
    QVERIFY(window.openExample(QStringLiteral("rag.json")));
    chooseModel(*window.workspace().model(), hybrid);
    window.perform(QStringLiteral("run.run"));
    const QStatusBar& bar = *window.statusBar();
    const QString reason = window.workspace().runs().problems().front().text;
    QVERIFY(reason.contains(QStringLiteral("running state")));
    QVERIFY2(bar.currentMessage().endsWith(QStringLiteral("…")), qPrintable(bar.currentMessage()));
    QVERIFY(bar.fontMetrics().horizontalAdvance(bar.currentMessage()) < bar.width());
    QVERIFY2(bar.toolTip().startsWith(reason), qPrintable(bar.toolTip()));
    chooseModel(*window.workspace().model(), QString());
    QTRY_VERIFY(bar.toolTip().isEmpty());

    // In the list it takes as many lines as it needs.
    chooseModel(*window.workspace().model(), hybrid);
    window.perform(QStringLiteral("view.author"));
    window.perform(QStringLiteral("view.dock:problems"));
    auto* list = window.findChild<QListView*>(QStringLiteral("problems"));
    QTRY_VERIFY(list != nullptr && list->model()->rowCount() > 0);
    const QRect row = list->visualRect(list->model()->index(0, 0));
    const int lines = list->fontMetrics().horizontalAdvance(reason) / std::max(1, row.width()) + 1;
    QVERIFY2(lines > 1 && row.height() >= lines * list->fontMetrics().height(),
             qPrintable(QString::number(row.height())));
    // Where the dock is lower than that, all of it can be scrolled to.
    const int hidden = row.height() - list->viewport()->height();
    QVERIFY(list->verticalScrollBar()->maximum() >= hidden);
  }

  void knownTemplateIsItsOwn() {
    TemplateDialog dialog(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", QStringLiteral("spanlet"), "auto",
                          Theme(Scheme::Light));
    QSignalSpy read(&dialog, &TemplateDialog::read);
    QVERIFY(read.wait(kReadingPatience));
    QCOMPARE(dialog.chosen(), std::string("auto"));
    auto* choices = dialog.findChild<QComboBox*>(QStringLiteral("templates"));
    QCOMPARE(choices->currentText(), worded("<model-own-template|spanlet>"));
    QVERIFY(dialog.findChild<QPushButton*>(QStringLiteral("primary"))->isEnabled());
  }
};

SPANSCOPE_TEST(tst_template_dialog, TestTemplateDialog, QApplication)
#include "tst_template_dialog.moc"
