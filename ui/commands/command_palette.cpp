// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_palette.h"

#include "ui/commands/palette_delegate.h"

#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QScreen>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kWidth = 600;
constexpr int kRows = 9;  ///< as many are in sight; more scroll

}  // namespace

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_field(new QLineEdit(this)),
      m_list(new QListView(this)),
      m_count(new QLabel(this)),
      m_nothing(new QLabel(tr("No command is called that."), this)),
      m_model(new PaletteModel(this)),
      m_delegate(new PaletteDelegate(this)) {
  setObjectName(QStringLiteral("commandPalette"));
  setAccessibleName(tr("Commands"));
  setFocusProxy(m_field);

  m_field->setPlaceholderText(tr("Find a command…"));
  m_field->setAccessibleName(tr("Find a command"));
  m_field->setClearButtonEnabled(true);
  m_field->installEventFilter(this);

  m_list->setModel(m_model);
  m_list->setItemDelegate(m_delegate);
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setUniformItemSizes(true);
  m_list->setMouseTracking(true);
  m_list->setSelectionMode(QAbstractItemView::SingleSelection);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setAccessibleName(tr("Commands that fit"));
  m_nothing->setAlignment(Qt::AlignCenter);
  m_nothing->hide();

  auto* hint = new QLabel(tr("↑ ↓ choose   ·   Return carry out   ·   Esc close"), this);
  hint->setObjectName(QStringLiteral("paletteHint"));
  m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);

  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, 2 * kSpace);
  foot->addWidget(hint);
  foot->addStretch();
  foot->addWidget(m_count);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  head->addWidget(m_field);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(m_list, 1);
  column->addWidget(m_nothing, 1);
  column->addLayout(foot);

  connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::applyFilter);
  connect(m_list, &QListView::clicked, this, [this](const QModelIndex& index) { choose(index.row()); });
  connect(m_list, &QListView::entered, this,
          [this](const QModelIndex& index) { m_list->setCurrentIndex(index); });
  setTheme(m_theme);
}

void CommandPalette::setTheme(const Theme& theme) {
  m_theme = theme;
  m_delegate->setTheme(theme);
  setPalette(theme.palette());
  const auto name = [&theme](Role role) { return theme.color(role).name(); };
  setStyleSheet(
      QStringLiteral("#commandPalette { background: %1; border: 1px solid %2; border-radius: %3px; }"
                     "#commandPalette QListView { background: %1; border: none; }"
                     "#commandPalette QLabel { color: %4; background: transparent; }")
          .arg(name(Role::Surface), name(Role::Outline))
          .arg(kDockRadius)
          .arg(name(Role::TextThird)));
  m_field->setFont(theme.interfaceFont());
  m_nothing->setFont(theme.interfaceFont());
  for (QLabel* label : findChildren<QLabel*>()) {
    if (label != m_nothing) label->setFont(theme.smallFont());
  }
}

void CommandPalette::open(std::vector<PaletteEntry> entries) {
  m_model->setEntries(std::move(entries));
  m_field->clear();
  applyFilter({});
  place();
  show();
  m_field->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::place() {
  const QWidget* window = parentWidget()->window();
  const int width = std::min(kWidth, std::max(320, window->width() - 8 * kSpace));
  const int rows = std::clamp((window->height() - 160) / kPaletteRowHeight, 3, kRows);
  for (QWidget* middle : {static_cast<QWidget*>(m_list), static_cast<QWidget*>(m_nothing)}) {
    middle->setFixedHeight(rows * kPaletteRowHeight);
  }
  layout()->activate();
  resize(width, sizeHint().height());
  const QPoint corner =
      window->mapToGlobal(QPoint((window->width() - width) / 2, std::min(96, window->height() / 8)));
  QFrame::move(corner);
}

void CommandPalette::applyFilter(const QString& wanted) {
  m_model->setFilter(wanted);
  const int rows = m_model->rowCount();
  m_count->setText(rows == 1 ? tr("1 command") : tr("%1 commands").arg(rows));
  m_list->setVisible(rows > 0);
  m_nothing->setVisible(rows == 0);
  // The first that can be carried out, so that Return does something wherever it can.
  int row = 0;
  while (row < rows && !m_model->isEnabledAt(row)) ++row;
  if (rows > 0) m_list->setCurrentIndex(m_model->index(row < rows ? row : 0));
}

void CommandPalette::move(int rows) {
  const int count = m_model->rowCount();
  if (count == 0) return;
  const int current = m_list->currentIndex().row();
  // One step past an end comes in at the other; a page stops there.
  const int wanted = current + rows;
  const bool isStep = rows == 1 || rows == -1;
  const int row = isStep ? (wanted + count) % count : std::clamp(wanted, 0, count - 1);
  const QModelIndex index = m_model->index(row);
  m_list->selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect);
  m_list->scrollTo(index);
}

void CommandPalette::choose(int row) {
  if (!m_model->isEnabledAt(row)) return;
  const QString id = m_model->idAt(row);
  // Closed first: the command may open a dialog.
  close();
  Q_EMIT chosen(id);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_field || event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
    case Qt::Key_Up:
      move(-1);
      return true;
    case Qt::Key_Down:
      move(1);
      return true;
    case Qt::Key_PageUp:
      move(-kRows);
      return true;
    case Qt::Key_PageDown:
      move(kRows);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose(m_list->currentIndex().row());
      return true;
    case Qt::Key_Escape:
      close();
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

}  // namespace spanscope::ui
