// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_actions.h"

#include "ui/words/tr.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTextEdit>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

QList<QKeySequence> sequences(const QStringList& portable) {
  QList<QKeySequence> keys;
  for (const QString& key : portable) keys.append(QKeySequence(key, QKeySequence::PortableText));
  return keys;
}

/// Spin boxes and editable combo boxes give the focus to their line edit, or handle its keys.
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

/// Whether the key types, moves or deletes in a text: a key without Ctrl, Alt or Meta that is not a function
/// key.
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
    // The window sets menu roles by id. Qt would guess roles from the text.
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
    // If the override is accepted, the text field gets an ordinary key press.
    const auto* key = static_cast<QKeyEvent*>(event);
    if (belongsToText(*key)) {
      event->accept();
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

namespace {

constexpr QLatin1String kGroup("keys");

QKeySequence sequenceOf(const QString& key) {
  return QKeySequence(key, QKeySequence::PortableText);
}

QString portable(const QString& key) {
  return sequenceOf(key).toString(QKeySequence::PortableText);
}

QString nameOf(const CommandInfo& info) {
  return kGroup + QLatin1Char('/') + info.id;
}

}  // namespace

KeyBindings::KeyBindings(const QSettings& settings) {
  for (const CommandInfo& info : commandTable()) {
    if (!settings.contains(nameOf(info))) continue;
    QStringList keys;
    for (const QKeySequence& key : QKeySequence::listFromString(settings.value(nameOf(info)).toString())) {
      const bool isKey = !key.isEmpty() && key[0].key() != Qt::Key_unknown;
      if (isKey) keys << key.toString(QKeySequence::PortableText);
    }
    set(info, keys);
  }
}

QStringList KeyBindings::keys(const CommandInfo& info) const {
  return m_changed.value(info.id, info.keys);
}

bool KeyBindings::isChanged(const CommandInfo& info) const {
  return m_changed.contains(info.id);
}

void KeyBindings::set(const CommandInfo& info, const QStringList& keys) {
  if (keys == info.keys)
    m_changed.remove(info.id);
  else
    m_changed.insert(info.id, keys);
}

void KeyBindings::reset(const CommandInfo& info) {
  m_changed.remove(info.id);
}

void KeyBindings::assign(const CommandInfo& info, const QString& key) {
  const QString wanted = portable(key);
  for (const CommandInfo* other : conflicts(info, key)) {
    QStringList left;
    for (const QString& taken : keys(*other)) {
      if (sequenceOf(taken).matches(sequenceOf(wanted)) == QKeySequence::NoMatch &&
          sequenceOf(wanted).matches(sequenceOf(taken)) == QKeySequence::NoMatch)
        left << taken;
    }
    set(*other, left);
  }
  QStringList own = keys(info);
  if (!own.contains(wanted)) own << wanted;
  set(info, own);
}

std::vector<const CommandInfo*> KeyBindings::conflicts(const CommandInfo& info, const QString& key) const {
  std::vector<const CommandInfo*> found;
  const QKeySequence wanted = sequenceOf(key);
  for (const CommandInfo& other : commandTable()) {
    if (other.id == info.id) continue;
    const QStringList taken = keys(other);
    const bool isTaken = std::any_of(taken.begin(), taken.end(), [&wanted](const QString& each) {
      return sequenceOf(each).matches(wanted) != QKeySequence::NoMatch ||
             wanted.matches(sequenceOf(each)) != QKeySequence::NoMatch;
    });
    if (isTaken) found.push_back(&other);
  }
  return found;
}

std::vector<CommandInfo> KeyBindings::table() const {
  std::vector<CommandInfo> table = commandTable();
  for (CommandInfo& info : table) info.keys = keys(info);
  return table;
}

void KeyBindings::save(QSettings& settings) const {
  settings.remove(kGroup);
  for (const CommandInfo& info : commandTable()) {
    const auto changed = m_changed.find(info.id);
    if (changed == m_changed.end()) continue;
    QList<QKeySequence> keys;
    for (const QString& key : *changed) keys << sequenceOf(key);
    settings.setValue(nameOf(info), QKeySequence::listToString(keys, QKeySequence::PortableText));
  }
}

QString fixedUseOf(const QString& key) {
  const QKeySequence wanted = sequenceOf(key);
  const auto is = [&wanted](Qt::Key fixed) { return wanted == QKeySequence(fixed); };
  if (is(Qt::Key_F10)) return tr("opens the menu");
  if (is(Qt::Key_Escape)) return tr("cancels a gesture, closes a dialog");
  if (is(Qt::Key_Space)) return tr("moves the canvas, with the mouse");
  for (const Qt::Key arrow : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}) {
    if (is(arrow)) return tr("moves from node to node");
  }
  return {};
}

namespace {

constexpr QLatin1Char kBeforeArgument(':');

}  // namespace

QString commandId(const QString& command) {
  return command.section(kBeforeArgument, 0, 0);
}

void CommandHandlers::add(const char* id, std::function<void()> does) {
  add(
      id, [] { return true; }, std::move(does));
}

void CommandHandlers::add(const char* id, std::function<bool()> when, std::function<void()> does,
                          std::function<QString()> title) {
  m_rows.push_back({.id = QString::fromLatin1(id),
                    .when = std::move(when),
                    .does = [does = std::move(does)](const QString&) { does(); },
                    .title = std::move(title)});
}

void CommandHandlers::addWithArgument(const char* id, std::function<bool()> when,
                                      std::function<void(const QString& argument)> does) {
  m_rows.push_back(
      {.id = QString::fromLatin1(id), .when = std::move(when), .does = std::move(does), .title = {}});
}

const CommandHandler* CommandHandlers::find(const QString& id) const {
  const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                  [&id](const CommandHandler& handler) { return handler.id == id; });
  return found == m_rows.end() ? nullptr : &*found;
}

bool CommandHandlers::can(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  return handler != nullptr && handler->when();
}

bool CommandHandlers::perform(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  if (handler == nullptr) return false;
  if (handler->when()) handler->does(command.section(kBeforeArgument, 1));
  return true;
}

}  // namespace spanscope::ui
