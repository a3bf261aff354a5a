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
  connect(this, &QPlainTextEdit::textChanged, this, [this] {
    // A change of the document may end the editor, and with it what is called.
    if (const auto typed = m_use.typed) typed(toPlainText());
  });
  hide();
}

void NoteEdit::open(const QRect& area, const QString& text, const Theme& theme, Use use) {
  finish(true);
  setAccessibleName(use.hint);
  setPlaceholderText(use.hint);
  setToolTip(use.keys);
  applyTheme(*this, theme);
  setPlainText(text);
  place(area);
  show();
  raise();
  selectAll();
  setFocus(Qt::OtherFocusReason);
  m_before = text;
  m_use = std::move(use);
}

void NoteEdit::take(const QString& text) {
  if (toPlainText() == text) return;
  const auto typed = std::exchange(m_use.typed, nullptr);
  setPlainText(text);
  moveCursor(QTextCursor::End);
  m_use.typed = typed;
}

void NoteEdit::place(const QRect& area) {
  const QRect room = parentWidget()->rect().adjusted(kAir, kAir, -kAir, -kAir);
  QRect place(area.topLeft(), area.size().expandedTo(kLeastSize).boundedTo(room.size()));
  place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() - place.width())));
  place.moveTop(std::clamp(place.top(), room.top(), std::max(room.top(), room.bottom() - place.height())));
  setGeometry(place);
}

bool NoteEdit::event(QEvent* event) {
  // While the text is open it gets every key, even the keys of the canvas's commands.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool passes = m_use.passes && m_use.passes(QKeySequence(key->keyCombination()));
    event->setAccepted(!passes);
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
  if (!m_use.typed) return;
  const Use use = std::exchange(m_use, {});
  hide();
  if (!keep && use.reverts) use.typed(m_before);
  use.ended();
  Q_EMIT closed();
}

}  // namespace spanscope::ui
