// SPDX-License-Identifier: GPL-3.0-or-later
// The tiny model says what it was made for where it answers something else.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/answering_window.h"
#include "ui/session/run_traces.h"
#include "ui/views/common/choices.h"
#include "ui/views/output/output_view.h"

#include <QLabel>
#include <QMenu>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include <algorithm>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

std::string ragOf(const std::string& document, const std::string& question) {
  return R"({"g":{"model":"m","input":{"cross":[{"system":"Answer."},{"plus":[{"user":")" + document +
         R"("}]},{"user":")" + question + R"("}]}}})";
}

}  // namespace

class TestMadeFor : public QObject {
  Q_OBJECT

 private:
  test::AnsweringWindow<OutputView> m_shown;
  MainWindow* m_window = nullptr;  ///< its
  OutputView* m_view = nullptr;    ///< its

  const AnswerCard& card() const { return *m_view->cards().front(); }

  void run() {
    const RunId before = m_view->model().answers.empty() ? 0 : card().answer().run;
    const auto isShown = [&] {
      return !m_view->cards().empty() && card().answer().run != before &&
             card().answer().state == AnswerState::Finished;
    };
    QCOMPARE(m_shown.run(isShown), QString());
  }

  bool shows(const QString& text) const {
    const QList<QLabel*> labels = card().findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return label->isVisibleTo(&card()) && label->text().contains(text);
    });
  }

 private Q_SLOTS:
  void init() {
    QVERIFY(m_shown.open("output"));
    m_window = &m_shown.window();
    m_view = &m_shown.view();
  }
  void cleanup() {
    m_view = nullptr;
    m_window = nullptr;
    m_shown.close();
  }

  void isSaidOfTextsOfAPersonsOwn() {
    run();
    QVERIFY(!shows(QStringLiteral("made for")));
    QVERIFY(!m_view->cards().front()->modelsButton().isVisibleTo(&card()));

    // One document of the example is enough to know it for one.
    DocumentModel& model = *m_window->workspace().model();
    std::size_t left = 1;
    const auto replace = [&] {
      model.change(QStringLiteral("Type"), [&](document::Document& document) {
        std::size_t seen = 0;
        for (const document::NodeId id : document.ids()) {
          const auto* message = document.at(id).own.as<query::Message>();
          if (message == nullptr || message->role != query::Role::User || ++seen <= left) continue;
          document::setOwn(document, id,
                           {query::Message{.role = query::Role::User, .text = "Of " + std::to_string(seen)}});
        }
      });
    };
    replace();
    run();
    QVERIFY(!shows(QStringLiteral("made for")));
    left = 0;
    replace();
    run();
    QVERIFY(shows(worded("<made-for|short questions about a made-up world>")));
    // The offer opens the choice of models.
    QToolButton& button = m_view->cards().front()->modelsButton();
    QVERIFY(button.isVisibleTo(&card()));
    bool isOpen = false;
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      isOpen = menu != nullptr && !menu->actions().isEmpty();
      if (menu != nullptr) menu->close();
    });
    button.click();
    QVERIFY(isOpen);
  }

  void everyExampleIsKnown() {
    for (const Example& example : exampleTable()) {
      QVERIFY2(m_window->openExample(example.file), qPrintable(example.file));
      const document::QueryOf query =
          document::toQuery(m_window->workspace().model()->document(), document::TakeOut::MutedAndFrozen);
      QVERIFY2(hasExampleText(query::writeCanonical(*query.query)), qPrintable(example.file));
    }
  }

  void documentsDecide() {
    const std::string known = "Tarek is a baker. The pet of Tarek is called Biscuit. The garden needs water.";
    QVERIFY(hasExampleText(ragOf(known, "What is my own question?")));
    QVERIFY(!hasExampleText(ragOf("My own text.", "What is the name of the pet of Tarek?")));
    QVERIFY(!hasExampleText(R"({"g":{"model":"m","input":{"user":"What is my own question?"}}})"));
    // Of what cannot be read, nothing is said.
    QVERIFY(hasExampleText("no query"));
  }
};

SPANSCOPE_TEST(tst_made_for, TestMadeFor, QApplication)
#include "tst_made_for.moc"
