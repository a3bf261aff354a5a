// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in the smallest usual window: labels, buttons, choices, headers and tabs have the room that they ask
// for. Texts that end in an ellipsis on purpose (ElidedLabel, ElidedCombo) have tool tips and are left out.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/export/export_dialog.h"
#include "ui/lessons/lesson_recorder_panel.h"
#include "ui/views/common/elided_text.h"
#include "ui/window/dialogs.h"
#include "ui/window/document_tabs.h"
#include "ui/window/get_model_dialog.h"
#include "ui/window/servers_dialog.h"
#include "ui/window/stream_dialogs.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFont>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QObject>
#include <QPushButton>
#include <QRect>
#include <QScopeGuard>
#include <QScreen>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTabBar>
#include <QTest>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr QSize kSmall{1024, 700};
constexpr int kSlack = 1;            // pixels
constexpr int kLongestRun = 120000;  // milliseconds
constexpr int kDocuments = 20;

QString fault(const QWidget& widget, const QString& text, int has, int needs) {
  return QStringLiteral("%1 %2 “%3” has %4 of %5 pixels")
      .arg(QLatin1String(widget.metaObject()->className()), widget.objectName(), text.left(60))
      .arg(has)
      .arg(needs);
}

QString faultOfLabel(const QLabel& label) {
  if (dynamic_cast<const ElidedLabel*>(&label) != nullptr || label.text().isEmpty()) return {};
  if (label.wordWrap()) {
    const int needs = label.heightForWidth(label.width());
    return label.height() + kSlack < needs ? fault(label, label.text(), label.height(), needs) : QString();
  }
  const int needs = label.sizeHint().width();
  return label.width() + kSlack < needs ? fault(label, label.text(), label.width(), needs) : QString();
}

QString faultOfCombo(const QComboBox& combo) {
  if (dynamic_cast<const ElidedCombo*>(&combo) != nullptr) return {};
  QStyleOptionComboBox option;
  option.initFrom(&combo);
  option.editable = combo.isEditable();
  const int has = combo.style()
                      ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &combo)
                      .width();
  const QString text = combo.currentText();
  const int needs = combo.fontMetrics().horizontalAdvance(text);
  return has + kSlack < needs ? fault(combo, text, has, needs) : QString();
}

QStringList faultsOfTabs(const QTabBar& tabs) {
  QStringList faults;
  if (tabs.elideMode() != Qt::ElideNone && !tabs.usesScrollButtons())
    faults << QStringLiteral("tabs are shortened");
  for (int i = 0; i < tabs.count(); ++i) {
    if (!tabs.isTabVisible(i)) continue;
    const int needs = tabs.fontMetrics().horizontalAdvance(tabs.tabText(i));
    if (tabs.tabRect(i).width() < needs)
      faults << fault(tabs, tabs.tabText(i), tabs.tabRect(i).width(), needs);
  }
  return faults;
}

QStringList faultsOfHeader(const QHeaderView& header) {
  QStringList faults;
  if (header.model() == nullptr || header.orientation() != Qt::Horizontal) return faults;
  for (int i = 0; i < header.count(); ++i) {
    if (header.isSectionHidden(i)) continue;
    const QString text = header.model()->headerData(i, Qt::Horizontal).toString();
    const int needs = header.fontMetrics().size(0, text).width();
    if (header.sectionSize(i) < needs) faults << fault(header, text, header.sectionSize(i), needs);
  }
  return faults;
}

/// Whether the widget is in a dock behind another tab.
bool isCovered(const QWidget& widget) {
  for (const QWidget* above = &widget; above != nullptr; above = above->parentWidget()) {
    if (qobject_cast<const Dock*>(above) != nullptr) return above->visibleRegion().isEmpty();
  }
  return false;
}

/// The texts below a widget that have too little room.
QStringList faultsIn(const QWidget& root) {
  QStringList faults;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->window() != root.window() || isCovered(*widget)) continue;
    // The names of files are shortened on purpose.
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
      if (qobject_cast<const DocumentTabs*>(tabs->parentWidget()) == nullptr) faults += faultsOfTabs(*tabs);
    } else if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      faults << faultOfLabel(*label);
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      const int needs = button->sizeHint().width();
      if (!button->text().isEmpty() && button->width() + kSlack < needs && button->maximumWidth() >= needs)
        faults << fault(*button, button->text(), button->width(), needs);
    } else if (const auto* combo = qobject_cast<const QComboBox*>(widget)) {
      faults << faultOfCombo(*combo);
    } else if (const auto* line = qobject_cast<const QLineEdit*>(widget)) {
      constexpr int kFrame = 8;
      const int needs = line->fontMetrics().horizontalAdvance(line->placeholderText()) + kFrame;
      if (line->text().isEmpty() && line->width() < needs)
        faults << fault(*line, line->placeholderText(), line->width(), needs);
    } else if (const auto* header = qobject_cast<const QHeaderView*>(widget)) {
      faults += faultsOfHeader(*header);
    }
  }
  faults.removeAll(QString());
  return faults;
}

}  // namespace

class TestWholeTexts : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  static QString twentyDocuments() {
    QStringList documents;
    for (int i = 0; i < kDocuments; ++i)
      documents << QStringLiteral(R"({"user":"Mira %1 lives in Lisbon and plays the cello."})").arg(i);
    return QStringLiteral(
               R"({"g":{"model":"spnl/spanlet","max_tokens":4,"temperature":0.0,"input":{"cross":[)"
               R"({"system":"Answer."},{"plus":[%1]},{"user":"Where does Mira live?"}]}}})")
        .arg(documents.join(QLatin1Char(',')));
  }
  void run() const {
    m_window->perform(QStringLiteral("run.run"));
    const auto isBusy = [this] {
      return m_window->workspace().engine().isBusy(m_window->workspace().current()->id);
    };
    QTRY_VERIFY_WITH_TIMEOUT(!isBusy(), kLongestRun);
    QTest::qWait(60);
  }
  /// Waits until nothing is clipped, because docks take their sizes in several goes. Returns what is clipped.
  static QStringList clippedIn(const QWidget& root) {
    constexpr int kPatience = 3000;  // milliseconds
    QElapsedTimer timer;
    timer.start();
    QStringList faults;
    do {
      QTest::qWait(100);
      faults = faultsIn(root);
    } while (!faults.isEmpty() && timer.elapsed() < kPatience);
    return faults;
  }

 private Q_SLOTS:
  void initTestCase() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show(kSmall));
    QFile file(m_fresh->path(QStringLiteral("twenty.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(twentyDocuments().toUtf8());
    file.close();
    QVERIFY(m_window->openFile(file.fileName()));
    run();
    run();
  }
  void cleanupTestCase() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void everyLayoutShowsWholeTexts_data() {
    QTest::addColumn<QString>("layout");
    for (const char* layout : {"author", "explain", "measure", "diagnose"})
      QTest::newRow(layout) << QString(QLatin1String(layout));
  }
  void everyLayoutShowsWholeTexts() {
    QFETCH(const QString, layout);
    m_window->perform(QStringLiteral("view.") + layout);
    const QStringList faults = clippedIn(*m_window);
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
    QCOMPARE(m_window->size(), kSmall);
  }

  void everyDockShowsWholeTexts_data() {
    QTest::addColumn<QString>("dock");
    for (const ViewInfo& info : viewTable()) QTest::newRow(qPrintable(info.id)) << info.id;
  }
  void everyDockShowsWholeTexts() {
    QFETCH(const QString, dock);
    for (const ViewInfo& info : viewTable()) {
      if (info.id != dock) continue;
      const LayoutId layout = info.places.empty() ? LayoutId::Explain : info.places.front().layout;
      m_window->perform(QStringLiteral("view.") + layoutName(layout));
      m_window->perform(QStringLiteral("view.reset"));
      m_window->perform(QStringLiteral("view.dock:") + dock);
    }
    const QStringList faults = clippedIn(*m_window);
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
  }

  void dialogsShowWholeTexts_data() {
    QTest::addColumn<int>("points");
    QTest::newRow("usual font") << 0;
    QTest::newRow("large font") << 14;
  }
  void dialogsShowWholeTexts() {
    QFETCH(const int, points);
    const QFont usual = QApplication::font();
    const auto restore = qScopeGuard([&usual] { QApplication::setFont(usual); });
    if (points > 0) {
      QFont large = usual;
      large.setPointSize(points);
      QApplication::setFont(large);
    }
    const Theme theme = m_window->workspace().input().theme;
    const workbench::ServerList servers;
    const QString problem =
        QStringLiteral("tcp://gpu-3:5557: the endpoint cannot be reached; no answer in 5 seconds ")
            .repeated(6);
    WatchDialog watch({}, servers, QString(), m_window);
    watch.complain(problem, theme);
    GatewayDialog gateway({}, servers, QString(), m_window);
    gateway.complain(problem, theme);
    workbench::ServerList own;
    ServersDialog known(own, {}, {}, theme, m_window);
    ExportDialog exported(m_window->workspace().model()->document(), QStringLiteral("twenty"), theme,
                          m_window);
    ChecklistDialog question(QStringLiteral("Quit"), problem, problem,
                             {{QStringLiteral("a"), QStringLiteral("b")}},
                             {{.id = QStringLiteral("save"), .text = QStringLiteral("Save documents")}},
                             QStringLiteral("Cancel"), theme, m_window);
    const workbench::VariableReader nothing = [](const char*) { return std::optional<std::string>(); };
    GetModelDialog getModel({.name = QStringLiteral("cpu"), .memory = std::uint64_t{8} << 30U}, theme,
                            m_window, nothing);
    TemplateDialog chat(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", QStringLiteral("spanlet"), "auto",
                        theme, m_window);
    QTRY_VERIFY(chat.isRead());
    for (QDialog* dialog :
         std::initializer_list<QDialog*>{&watch, &gateway, &known, &exported, &question, &getModel, &chat}) {
      dialog->show();
      QVERIFY(QTest::qWaitForWindowExposed(dialog));
      QStringList faults = clippedIn(*dialog);
      if (dialog == &exported) {
        for (const exports::ExportTarget& target : exports::exportTargets()) {
          exported.setTarget(target);
          faults += clippedIn(*dialog);
        }
      }
      QVERIFY2(faults.isEmpty(),
               qPrintable(dialog->windowTitle() + QLatin1Char('\n') + faults.join(QLatin1Char('\n'))));
      // With a large font, the fields of Servers need more height.
      const bool isTall = points > 0 && dialog == &known;
      QVERIFY2(dialog->width() <= kSmall.width() && (isTall || dialog->height() <= kSmall.height()),
               qPrintable(dialog->windowTitle()));
      dialog->close();
    }
  }

  /// A lesson recorder beside the docks. The last case of the window, because the recording does not end.
  void theRecorderShowsWholeTexts() {
    m_window->perform(QStringLiteral("view.author"));
    m_window->perform(QStringLiteral("learn.record"));
    QTRY_VERIFY(m_window->findChild<LessonRecorderPanel*>() != nullptr);
    const QStringList faults = clippedIn(*m_window);
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
    QCOMPARE(m_window->size(), kSmall);
  }

  /// A dialog that is larger than the screen is made smaller and moved, so that its buttons are visible.
  void dialogsStayOnTheScreen() {
    // The platform moves a dialog by the width of its frame.
    constexpr int kFrame = 4;
    const QRect room = m_window->screen()->availableGeometry();
    const QRect screen = room.adjusted(-kFrame, -kFrame, kFrame, kFrame);
    QDialog dialog;
    auto* const column = new QVBoxLayout(&dialog);
    column->addStretch();
    auto* const button = new QPushButton(QStringLiteral("OK"));
    column->addWidget(button);
    dialog.resize(room.size() + QSize(100, 200));
    dialog.move(room.topLeft() + QPoint(40, 60));
    dialog.show();
    QVERIFY(QTest::qWaitForWindowExposed(&dialog));
    QTRY_VERIFY(screen.contains(dialog.geometry()));
    QTRY_VERIFY(screen.contains(QRect(button->mapToGlobal(QPoint()), button->size())));
    dialog.close();
    // A dialog that fits is only moved.
    dialog.resize(300, 200);
    dialog.move(room.bottomRight() - QPoint(50, 50));
    dialog.show();
    QVERIFY(QTest::qWaitForWindowExposed(&dialog));
    QTRY_VERIFY(screen.contains(dialog.geometry()));
    QCOMPARE(dialog.size(), QSize(300, 200));
  }

  /// A long tool tip has several lines.
  void longTipsAreWrapped() {
    QToolTip::showText(m_window->mapToGlobal(QPoint(50, 50)),
                       QStringLiteral("some words of a tip ").repeated(20), m_window);
    const auto tip = [] {
      for (QWidget* widget : QApplication::topLevelWidgets()) {
        if (widget->inherits("QTipLabel") && widget->isVisible()) return widget;
      }
      return static_cast<QWidget*>(nullptr);
    };
    QTRY_VERIFY(tip() != nullptr);
    QVERIFY2(tip()->width() <= kSmall.width() / 2, qPrintable(QString::number(tip()->width())));
    QVERIFY(tip()->height() > 3 * m_window->fontMetrics().height());
    QToolTip::hideText();
  }
};

SPANSCOPE_TEST(tst_whole_texts, TestWholeTexts, QApplication)
#include "tst_whole_texts.moc"
