// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_actions.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace spanscope::ui {
namespace {

QList<QKeySequence> sequences(const QStringList& portable) {
  QList<QKeySequence> keys;
  for (const QString& key : portable) keys.append(QKeySequence(key, QKeySequence::PortableText));
  return keys;
}

/// Spin boxes and editable combo boxes put the focus on their line edit or answer for it.
bool isTextField(const QWidget* widget) {
  if (widget == nullptr) return false;
  if (qobject_cast<const QLineEdit*>(widget) != nullptr ||
      qobject_cast<const QTextEdit*>(widget) != nullptr ||
      qobject_cast<const QPlainTextEdit*>(widget) != nullptr) {
    return true;
  }
  if (widget->inherits("QAbstractSpinBox")) return true;
  const auto* combo = qobject_cast<const QComboBox*>(widget);
  return combo != nullptr && combo->isEditable();
}

/// A key that types, moves or deletes in a text: without Ctrl, Alt or Meta, and no function key.
bool belongsToText(const QKeyEvent& key) {
  if ((key.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0) return false;
  return !(key.key() >= Qt::Key_F1 && key.key() <= Qt::Key_F35) && key.key() != Qt::Key_Escape;
}

}  // namespace

QString shownKey(const CommandInfo& info) {
  return info.keys.isEmpty() ? QString()
                             : sequences({info.keys.first()}).first().toString(QKeySequence::NativeText);
}

QString shownKeys(const CommandInfo& info) {
  return QKeySequence::listToString(sequences(info.keys), QKeySequence::NativeText)
      .replace(QStringLiteral("; "), QStringLiteral(", "));
}

CommandActions::CommandActions(QWidget* window) : QObject(window) {
  for (const CommandInfo& info : commandTable()) {
    auto* action = new QAction(info.text, this);
    action->setStatusTip(info.help);
    action->setObjectName(info.id);
    if (info.scope == CommandScope::Window) {
      action->setShortcutContext(Qt::WindowShortcut);
    } else {
      action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
    // The window's own menu roles are by id; Qt would guess them from the text.
    action->setMenuRole(QAction::NoRole);
    connect(action, &QAction::triggered, this, [this, id = info.id] { Q_EMIT triggered(id); });
    m_actions.insert(info.id, action);
  }
  addWindow(window);
  setKeys({});
  qApp->installEventFilter(this);
}

void CommandActions::setKeys(const KeyBindings& keys) {
  for (const CommandInfo& info : keys.table()) {
    QAction* action = m_actions.value(info.id);
    const QString names = shownKeys(info);
    action->setShortcuts(sequences(info.keys));
    action->setToolTip(names.isEmpty() ? info.help : tr("%1 (%2)").arg(info.help, names));
  }
}

void CommandActions::addWindow(QWidget* widget) {
  for (const CommandInfo& info : commandTable()) {
    if (info.scope == CommandScope::Window) widget->addAction(m_actions.value(info.id));
  }
}

void CommandActions::addCanvas(QWidget* canvas) {
  for (const CommandInfo& info : commandTable()) {
    if (info.scope == CommandScope::Canvas) canvas->addAction(m_actions.value(info.id));
  }
}

QList<QAction*> CommandActions::actions(CommandCategory category) const {
  QList<QAction*> actions;
  for (const CommandInfo& info : commandTable()) {
    if (info.category == category) actions.append(m_actions.value(info.id));
  }
  return actions;
}

bool CommandActions::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && isTextField(QApplication::focusWidget())) {
    // An accepted override reaches the text field as an ordinary key press.
    const auto* key = static_cast<QKeyEvent*>(event);
    if (belongsToText(*key)) {
      event->accept();
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace spanscope::ui
