// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/text_tools.h"

#include "engine/query/number_text.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
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

CheckedField::CheckedField(const QString& accessibleName, Apply apply, QWidget* parent)
    : QWidget(parent), m_apply(std::move(apply)), m_line(new QLineEdit(this)), m_reason(new QLabel(this)) {
  m_line->setAccessibleName(accessibleName);
  m_reason->setWordWrap(true);
  m_reason->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace / 2);
  layout->addWidget(m_line);
  layout->addWidget(m_reason);
  setFocusProxy(m_line);
  connect(m_line, &QLineEdit::textEdited, this, &CheckedField::check);
  // When the focus leaves, a refused text is replaced by the document's value.
  connect(m_line, &QLineEdit::editingFinished, this, [this] {
    if (m_line->hasFocus()) return;
    m_line->setText(m_shown);
    setReason({});
  });
}

void CheckedField::setText(const QString& text) {
  const bool isSame = text == m_shown;
  m_shown = text;
  // The user may write a value differently than the document does.
  if (m_isApplying || (isSame && m_line->hasFocus())) return;
  if (m_line->text() != text) m_line->setText(text);
  setReason({});
}

QString CheckedField::text() const {
  return m_line->text();
}

QString CheckedField::reason() const {
  return m_reason->text();
}

void CheckedField::setTheme(const Theme& theme) {
  m_theme = theme;
  m_reason->setFont(theme.smallFont());
  colorLabel(*m_reason, theme, Role::Error);
  setReason(m_reason->text());
}

void CheckedField::check(const QString& text) {
  m_isApplying = true;
  const QString reason = m_apply(text);
  m_isApplying = false;
  setReason(reason);
}

void CheckedField::setReason(const QString& reason) {
  m_reason->setText(reason);
  m_reason->setVisible(!reason.isEmpty());
  const QString ink = m_theme.color(Role::Error).name();
  setSheet(*m_line,
           reason.isEmpty() ? QString() : QStringLiteral("QLineEdit { border: 1px solid %1; }").arg(ink));
  m_line->setAccessibleDescription(reason);
}

std::optional<std::int64_t> wholeNumber(const QString& text, std::int64_t least, std::int64_t most) {
  bool good = false;
  const qlonglong value = text.trimmed().toLongLong(&good);
  if (!good || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> seedNumber(const QString& text) {
  bool good = false;
  const qulonglong value = text.trimmed().toULongLong(&good);
  if (!good) return std::nullopt;
  return value;
}

std::optional<float> floatNumber(const QString& text) {
  const std::string digits = text.trimmed().toStdString();
  if (!query::isJsonNumber(digits) || !query::isInDoubleRange(digits)) return std::nullopt;
  const float value = query::floatValue(digits);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace spanscope::ui
