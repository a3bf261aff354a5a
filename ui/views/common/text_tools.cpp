// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/text_tools.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTextCursor>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

class WheelGuard : public QObject {
 public:
  explicit WheelGuard(QWidget* widget) : QObject(widget), m_widget(widget) {}

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::Wheel || m_widget->hasFocus()) return QObject::eventFilter(watched, event);
    event->ignore();
    return true;
  }

 private:
  QWidget* m_widget;
};

}  // namespace

void replaceText(QPlainTextEdit& editor, const QString& text) {
  const QString old = editor.toPlainText();
  if (old == text) return;
  const qsizetype shorter = std::min(old.size(), text.size());
  qsizetype front = 0;
  while (front < shorter && old[front] == text[front]) ++front;
  qsizetype back = 0;
  while (back < shorter - front && old[old.size() - 1 - back] == text[text.size() - 1 - back]) ++back;
  // The two halves of a surrogate pair must stay together.
  if (front > 0 && old[front - 1].isHighSurrogate()) --front;
  if (back > 0 && old[old.size() - back].isLowSurrogate()) --back;

  QTextCursor cursor(editor.document());
  cursor.setPosition(static_cast<int>(front));
  cursor.setPosition(static_cast<int>(old.size() - back), QTextCursor::KeepAnchor);
  cursor.insertText(text.mid(front, text.size() - front - back));
}

void colorLabel(QLabel& label, const Theme& theme, Role role) {
  setSheet(label, QStringLiteral("color: %1").arg(theme.color(role).name()));
}

void setSheet(QWidget& widget, const QString& sheet) {
  if (widget.styleSheet() != sheet) widget.setStyleSheet(sheet);
}

DocumentUndo::DocumentUndo(QWidget* editor, ModelOf model, UndoHistory history)
    : QObject(editor), m_model(std::move(model)), m_history(history) {
  editor->installEventFilter(this);
}

bool DocumentUndo::eventFilter(QObject* watched, QEvent* event) {
  DocumentModel* const model = m_model();
  if (model == nullptr) return QObject::eventFilter(watched, event);
  if (event->type() == QEvent::FocusOut) model->endMerge();
  if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
    return QObject::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool isUndo = key->matches(QKeySequence::Undo);
  if (!isUndo && !key->matches(QKeySequence::Redo)) return QObject::eventFilter(watched, event);
  // An accepted override reaches the field as a key press instead of the window as a command.
  if (event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  QUndoStack& stack = m_history == UndoHistory::Settings ? model->settingsUndoStack() : model->undoStack();
  if (isUndo)
    stack.undo();
  else
    stack.redo();
  return true;
}

void ignoreWheelWithoutFocus(QWidget* widget) {
  widget->setFocusPolicy(Qt::StrongFocus);
  widget->installEventFilter(new WheelGuard(widget));
}

}  // namespace spanscope::ui
