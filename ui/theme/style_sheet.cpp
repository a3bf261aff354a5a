// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes of the controls: what a palette cannot say.
#include "ui/theme/theme.h"

#include <QtGlobal>

/// Static libraries register their resources only when asked to; the macro has to stand outside of
/// namespaces.
static void initControls() {
  Q_INIT_RESOURCE(controls);
}

namespace spanscope::ui {
namespace {

// Words in braces are replaced by colours and by the folder of the little arrows.
constexpr const char* kSheet = R"(
QWidget { color: {text}; }
QMainWindow, QDialog { background: {window}; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
/* Platforms set fonts for these classes, which would win over the application's. */
QPushButton, QToolButton, QTabBar, QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit, QCheckBox, QMenu, QMenuBar, QListView,
QStatusBar, #statusBar QLabel, #noticeBar QLabel, QToolTip { font-family: "Inter", "DejaVu Sans"; font-size: 13px; }
QMainWindow::separator { background: {window}; width: 8px; height: 8px; }
QToolTip { background: {surface}; color: {text}; border: 1px solid {outline}; padding: 6px; }

QDockWidget { border: none; }
QDockWidget[floating="true"] { background: {window}; border: 1px solid {outline}; }
#dockCard { background: {surface}; border: 1px solid {line}; border-radius: 6px; }
#dockTitle { background: {surface}; border: 1px solid {line}; border-top-left-radius: 6px; border-top-right-radius: 6px; }
#dockBody { background: {surface}; border: 1px solid {line}; border-top: none; border-bottom-left-radius: 6px;
  border-bottom-right-radius: 6px; }
#dockTitle[lit="true"] { background: {accentfill}; border-color: {accent}; }
#dockBody[lit="true"] { border-color: {accent}; }
#dockSummary, #dockUnreported { color: {second}; }
#topBar, #statusBar { background: {surface}; }
#topBar { border-bottom: 1px solid {line}; }
#statusBar { border-top: 1px solid {line}; }
QStatusBar::item { border: none; }
#noticeBar { background: {accentfill}; border: none; border-bottom: 1px solid {line}; }

QPushButton, QToolButton, QComboBox, QSpinBox, QDoubleSpinBox {
  background: {surface}; border: 1px solid {outline}; border-radius: 5px; padding: 4px 10px; min-height: 16px; }
QToolButton { padding: 3px 6px; }
QPushButton:hover, QToolButton:hover, QComboBox:hover { background: {canvas}; border-color: {third}; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: {accentfill}; }
QPushButton:disabled, QToolButton:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled { color: {disabled}; border-color: {line}; }
QPushButton:focus, QToolButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus,
QPlainTextEdit:focus, QTextEdit:focus, QTextBrowser:focus { border: 1px solid {accent}; }
QPushButton#primary { background: {accent}; color: {accenttext}; border-color: {accent}; font-weight: 600; }
QLineEdit:disabled { color: {disabled}; }
QPushButton#primary:disabled { background: {line}; border-color: {line}; color: {disabled}; }
#segments { background: {window}; border: 1px solid {outline}; border-radius: 6px; }
QPushButton#segment { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 4px 14px; }
QPushButton#segment:checked { background: {accentfill}; color: {accent}; border-color: {accentfill}; }
QPushButton#segment:focus { border: 1px solid {accent}; }
QPushButton[flat="true"], QToolButton[autoRaise="true"] { background: transparent; border: 1px solid transparent; }
QPushButton[flat="true"]:hover, QToolButton[autoRaise="true"]:hover { background: {accentfill}; }
QPushButton[flat="true"]:focus, QToolButton[autoRaise="true"]:focus { border: 1px solid {accent}; }
QToolButton::menu-indicator { image: none; }

QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url({icons}down.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: {surface}; border: 1px solid {outline}; selection-background-color: {accentfill};
  selection-color: {text}; outline: none; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
  border: none; background: transparent; width: 16px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url({icons}up.svg); width: 9px; height: 9px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url({icons}down.svg); width: 9px; height: 9px; }

QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {
  background: {surface}; border: 1px solid {outline}; border-radius: 5px; padding: 4px 6px;
  selection-background-color: {accentfill}; selection-color: {text}; }
QPlainTextEdit[readOnly="true"], QTextEdit[readOnly="true"] { background: {canvas}; }
QPlainTextEdit#bare, QTextEdit#bare, QTextBrowser#bare { border: none; background: {surface}; }

QListView, QTreeView, QTableView, QListWidget, QTreeWidget, QTableWidget {
  background: {surface}; border: none; outline: none; alternate-background-color: {canvas};
  selection-background-color: {accentfill}; selection-color: {text}; gridline-color: {line}; }
QListView::item, QTreeView::item { padding: 4px 6px; border-radius: 4px; }
QListView::item:hover, QTreeView::item:hover, QTableView::item:hover { background: {canvas}; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected { background: {accentfill}; color: {text}; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 1px solid {accent}; }
QHeaderView { background: {surface}; }
QHeaderView::section { background: {surface}; color: {second}; border: none; border-bottom: 1px solid {line}; padding: 4px 6px; }
QTableCornerButton::section { background: {surface}; border: none; }

QMenuBar { background: {surface}; padding: 2px 6px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: {accentfill}; }
QMenu { background: {surface}; border: 1px solid {outline}; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: {accentfill}; }
QMenu::item:disabled { color: {disabled}; }
QMenu::right-arrow { image: url({icons}right.svg); width: 10px; height: 10px; margin-right: 8px; }
QMenu::separator { height: 1px; background: {line}; margin: 4px 8px; }

QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; border: none; border-bottom: 2px solid transparent; padding: 4px 12px 5px 12px; color: {second}; }
#topBar QTabBar::tab { padding: 10px 14px; max-width: 220px; }
QTabBar::tab:selected { color: {text}; border-bottom: 2px solid {accent}; }
QTabBar::tab:hover { color: {text}; }
QTabBar::tab:focus { color: {accent}; }
QTabWidget::pane { border: none; border-top: 1px solid {line}; }
QTabBar::tear { width: 0; border: none; }
QTabBar::scroller { width: 24px; }
QTabBar QToolButton { border: none; background: {surface}; padding: 0; min-height: 0; }
#topBar QTabBar QToolButton { margin-bottom: 3px; }
QTabBar::close-button { image: url({icons}close.svg); width: 12px; height: 12px; }

QScrollArea { border: none; background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: {outline}; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: {third}; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QCheckBox { spacing: 6px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid {third}; border-radius: 3px; background: {surface}; }
QCheckBox::indicator:checked { background: {accent}; border-color: {accent}; image: url({icons}check.svg); }
QCheckBox:focus { color: {accent}; }
QGroupBox { border: 1px solid {line}; border-radius: 6px; margin-top: 14px; padding: 8px; }
QGroupBox::title { subcontrol-origin: margin; left: 8px; color: {second}; }
QProgressBar { background: {line}; border: none; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: {accent}; border-radius: 2px; }
QSplitter::handle { background: {line}; }
)";

}  // namespace

QString Theme::styleSheet() const {
  initControls();
  QString sheet = QString::fromLatin1(kSheet);
  const auto put = [&sheet](const char* word, const QString& value) {
    sheet.replace(QLatin1Char('{') + QString::fromLatin1(word) + QLatin1Char('}'), value);
  };
  const auto putColor = [&](const char* word, Role role) { put(word, color(role).name()); };
  putColor("window", Role::Window);
  putColor("surface", Role::Surface);
  putColor("canvas", Role::Canvas);
  putColor("line", Role::Line);
  putColor("outline", Role::Outline);
  putColor("text", Role::Text);
  putColor("second", Role::TextSecond);
  putColor("third", Role::TextThird);
  putColor("disabled", Role::EvictedInk);
  putColor("accent", Role::Accent);
  putColor("accenttext", Role::AccentText);
  putColor("accentfill", Role::AccentFill);
  put("icons", m_scheme == Scheme::Light ? QStringLiteral(":/spanscope/controls/light/")
                                         : QStringLiteral(":/spanscope/controls/dark/"));
  return sheet;
}

}  // namespace spanscope::ui
