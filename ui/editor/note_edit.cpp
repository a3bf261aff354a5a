// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/note_edit.h"

#include "ui/editor/add_popup.h"

#include <QFocusEvent>
#include <QKeyEvent>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr QSize kLeastSize(160, 64);
constexpr int kAir = 4;

}  // namespace

NoteEdit::NoteEdit(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("noteEdit"));
  setAccessibleName(tr("Text of the note"));
  setPlaceholderText(tr("Text of the note"));
  setToolTip(tr("Ctrl+Enter keeps the text, Escape leaves the note as it was"));
  hide();
}

void NoteEdit::open(const QRect& area, const QString& text, const Theme& theme,
                    std::function<void(const QString&)> done) {
  m_done = std::move(done);
  applyTheme(*this, theme);
  setPlainText(text);
  const QRect room = parentWidget()->rect().adjusted(kAir, kAir, -kAir, -kAir);
  QRect place(area.topLeft(), area.size().expandedTo(kLeastSize).boundedTo(room.size()));
  place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() - place.width())));
  place.moveTop(std::clamp(place.top(), room.top(), std::max(room.top(), room.bottom() - place.height())));
  setGeometry(place);
  show();
  raise();
  selectAll();
  setFocus(Qt::OtherFocusReason);
}

bool NoteEdit::event(QEvent* event) {
  // While the text is open it gets every key, even the keys of the canvas's commands.
  if (event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  return QPlainTextEdit::event(event);
}

void NoteEdit::keyPressEvent(QKeyEvent* event) {
  const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (event->key() == Qt::Key_Escape) {
    finish(false);
  } else if (event->key() == Qt::Key_Tab || (isReturn && event->modifiers().testFlag(Qt::ControlModifier))) {
    finish(true);
  } else {
    QPlainTextEdit::keyPressEvent(event);
  }
}

void NoteEdit::focusOutEvent(QFocusEvent* event) {
  QPlainTextEdit::focusOutEvent(event);
  if (event->reason() != Qt::ActiveWindowFocusReason && event->reason() != Qt::PopupFocusReason) finish(true);
}

void NoteEdit::finish(bool keep) {
  if (!m_done) return;
  const auto done = std::exchange(m_done, nullptr);
  hide();
  if (keep) done(toPlainText());
  Q_EMIT closed();
}

}  // namespace spanscope::ui
