// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/key_bindings.h"

#include "ui/words/tr.h"

#include <QKeySequence>
#include <QSettings>

#include <algorithm>

namespace spanscope::ui {
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

}  // namespace spanscope::ui
