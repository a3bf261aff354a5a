// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/readable_texts.h"

#include <QCursor>
#include <QEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QScreen>
#include <QTreeView>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kMostCharacters = 64;     // of a line
constexpr QPoint kBelowPointer(2, 21);  // as in Qt

/// Qt's window of a tool tip; nullptr: another object.
QLabel* tipOf(QObject* object) {
  return object->inherits("QTipLabel") ? qobject_cast<QLabel*>(object) : nullptr;
}

void wrap(QLabel& tip) {
  const int most = tip.fontMetrics().averageCharWidth() * kMostCharacters;
  if (tip.width() <= most) return;
  tip.setWordWrap(true);
  tip.resize(most, tip.heightForWidth(most));
}

/// Moves a wrapped tip back to the pointer. Qt has placed the wider tip.
void place(QLabel& tip) {
  const QRect screen = tip.screen()->availableGeometry();
  QRect area(QCursor::pos() + kBelowPointer, tip.size());
  if (!screen.contains(QCursor::pos())) return;
  area.moveRight(std::min(area.right(), screen.right()));
  if (area.bottom() > screen.bottom()) area.moveBottom(QCursor::pos().y() - kBelowPointer.x());
  area.moveTopLeft({std::max(area.left(), screen.left()), std::max(area.top(), screen.top())});
  tip.move(area.topLeft());
}

/// Shows whole sizes, types and dates, and names of filters without their patterns.
void fitColumns(QFileDialog& dialog) {
  const QString filter = dialog.selectedNameFilter();
  dialog.setOption(QFileDialog::HideNameFilterDetails);
  if (!filter.isEmpty()) dialog.selectNameFilter(filter);
  const auto* files = dialog.findChild<QTreeView*>(QStringLiteral("treeView"));
  if (files == nullptr) return;
  QHeaderView& header = *files->header();
  header.setSectionResizeMode(QHeaderView::ResizeToContents);
  header.setStretchLastSection(false);
  if (header.count() > 0) header.setSectionResizeMode(0, QHeaderView::Stretch);
}

/// Shrinks and moves a dialog so that its buttons are on the screen.
void keepOnScreen(QDialog& dialog) {
  const QRect screen = dialog.screen()->availableGeometry();
  QRect area = dialog.geometry();
  area.setSize(area.size().boundedTo(screen.size()));
  area.moveRight(std::min(area.right(), screen.right()));
  area.moveBottom(std::min(area.bottom(), screen.bottom()));
  area.moveTopLeft({std::max(area.left(), screen.left()), std::max(area.top(), screen.top())});
  if (area != dialog.geometry()) dialog.setGeometry(area);
}

}  // namespace

bool ReadableTexts::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) {
    if (QLabel* tip = tipOf(watched)) wrap(*tip);
  } else if (event->type() == QEvent::Show) {
    QLabel* tip = tipOf(watched);
    if (tip != nullptr && tip->wordWrap()) place(*tip);
    if (auto* files = qobject_cast<QFileDialog*>(watched)) fitColumns(*files);
    if (auto* dialog = qobject_cast<QDialog*>(watched)) keepOnScreen(*dialog);
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace spanscope::ui
