// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/document_model.h"

#include "engine/workbench/model_names.h"
#include "engine/workbench/settings.h"
#include "ui/document/unread_text.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QFileInfo>
#include <QStringList>
#include <QUndoCommand>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

// Names changes of settings for the undo history.

using workbench::RunSettings;
using workbench::Setting;

/// Longer values would make the menu wider than a small window.
constexpr qsizetype kMostCharacters = 28;

/// A value as the settings dock shows it.
class ValueText {
 public:
  ValueText(const Setting& setting, const RunSettings& settings) : m_setting(setting), m_settings(settings) {}

  QString text() const {
    QString text = std::visit([this](auto member) { return textOf(m_settings.*member); }, m_setting.member);
    if (text.size() > kMostCharacters) text = text.left(kMostCharacters - 1).trimmed() + QChar(0x2026);
    return text.isEmpty() ? tr("nothing") : text;
  }

 private:
  QString textOf(const std::string& value) const {
    if (m_setting.kind == workbench::TextKind::Checkpoint)
      return QString::fromStdString(workbench::modelNameOf(m_settings));
    if (m_setting.choices != nullptr) {
      const workbench::Choices choices = m_setting.choices();
      const auto choice = std::find_if(choices.begin(), choices.end(),
                                       [&](const workbench::Choice& one) { return one.name == value; });
      if (choice != choices.end() && *choice->label != '\0') return settingText(choice->label);
    }
    return QString::fromStdString(value).simplified();
  }
  QString textOf(bool on) const { return on ? tr("on") : tr("off"); }
  QString textOf(std::uint64_t value) const { return QString::number(value); }
  QString textOf(const std::vector<std::int32_t>& layers) const {
    QStringList numbers;
    for (const std::int32_t layer : layers) numbers += QString::number(layer);
    return numbers.isEmpty() ? tr("all") : numbers.join(QLatin1String(", "));
  }
  template <class Whole>
  QString textOf(Whole value) const {
    const workbench::SettingRow& row = m_setting.row;
    const workbench::WholeRange range = row.range.value_or(m_setting.range);
    if (*row.least != '\0' && value == static_cast<Whole>(range.least)) return settingText(row.least);
    return QString::number(value) + settingText(row.unit);
  }

  const Setting& m_setting;
  const RunSettings& m_settings;
};

bool differs(const Setting& setting, const RunSettings& one, const RunSettings& other) {
  return std::visit([&](auto member) { return one.*member != other.*member; }, setting.member);
}

/// "Reuse policy: spans → prefix" if one setting differs; long values are shortened. "NAME: Checkpoint,
/// Server" if several settings differ. At least one setting must differ.
QString settingChangeText(const QString& name, const RunSettings& before, const RunSettings& after) {
  std::vector<const Setting*> changed;
  for (const Setting& setting : workbench::runSettings()) {
    if (differs(setting, before, after)) changed.push_back(&setting);
  }
  if (changed.size() == 1) {
    const Setting& setting = *changed.front();
    return tr("%1: %2 → %3")
        .arg(settingText(setting.row.label), ValueText(setting, before).text(),
             ValueText(setting, after).text());
  }
  QStringList labels;
  for (const Setting* setting : changed) labels += settingText(setting->row.label);
  return tr("%1: %2").arg(name, labels.join(QLatin1String(", ")));
}

}  // namespace

/// Has the document before and after a change, and ignores the settings. Both documents share the unchanged
/// nodes.
class ChangeCommand final : public QUndoCommand {
 public:
  ChangeCommand(DocumentModel& model, const QString& name, std::shared_ptr<const document::Document> before,
                std::shared_ptr<const document::Document> after, QString key)
      : QUndoCommand(name),
        m_model(model),
        m_before(std::move(before)),
        m_after(std::move(after)),
        m_key(std::move(key)) {}

  void undo() override {
    // The next change is not merged into an earlier command.
    m_model.endMerge();
    show(*m_before);
  }
  void redo() override {
    // The stack calls redo() when it takes the command. The model already has the new value then.
    if (m_isTaken) show(*m_after);
    m_isTaken = true;
  }

  int id() const override { return m_key.isEmpty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const ChangeCommand*>(other);
    if (next == nullptr || next->m_key != m_key) return false;
    m_after = next->m_after;
    setObsolete(isSame(*m_before, *m_after));
    return true;
  }

  static bool isSame(const document::Document& one, const document::Document& other) {
    if (one.settings == other.settings) return one == other;
    document::Document copy = one;
    copy.settings = other.settings;
    return copy == other;
  }

 private:
  void show(const document::Document& value) {
    auto next = std::make_shared<document::Document>(value);
    next->settings = m_model.document().settings;
    m_model.replay(std::move(next));
  }

  DocumentModel& m_model;
  std::shared_ptr<const document::Document> m_before;
  std::shared_ptr<const document::Document> m_after;
  QString m_key;
  bool m_isTaken = false;  ///< by the stack
};

class SettingsCommand final : public QUndoCommand {
 public:
  SettingsCommand(DocumentModel& model, const QString& name, document::RunSettings before,
                  document::RunSettings after, QString key)
      : m_model(model),
        m_name(name),
        m_before(std::move(before)),
        m_after(std::move(after)),
        m_key(std::move(key)) {
    setText(settingChangeText(m_name, m_before, m_after));
  }

  void undo() override {
    m_model.endMerge();
    show(m_before);
  }
  void redo() override {
    if (m_isTaken) show(m_after);
    m_isTaken = true;
  }

  int id() const override { return m_key.isEmpty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const SettingsCommand*>(other);
    if (next == nullptr || next->m_key != m_key) return false;
    m_after = next->m_after;
    setText(settingChangeText(m_name, m_before, m_after));
    setObsolete(m_after == m_before);
    return true;
  }

 private:
  void show(const document::RunSettings& settings) {
    auto next = std::make_shared<document::Document>(m_model.document());
    next->settings = settings;
    m_model.replay(std::move(next));
  }

  DocumentModel& m_model;
  QString m_name;
  document::RunSettings m_before;
  document::RunSettings m_after;
  QString m_key;
  bool m_isTaken = false;  ///< by the stack
};

DocumentModel::DocumentModel(document::Document document, QObject* parent)
    : QObject(parent), m_document(std::make_shared<const document::Document>(std::move(document))) {
  for (QUndoStack* stack : {&m_undo, &m_settingsUndo})
    connect(stack, &QUndoStack::cleanChanged, this, &DocumentModel::stateChanged);
}

DocumentModel::~DocumentModel() {
  m_undo.disconnect(this);
  m_settingsUndo.disconnect(this);
  // The stacks are destroyed next, and must not notify anybody of that.
  if (const UnreadText* unread = UnreadText::find(*this)) m_undo.disconnect(unread);
}

bool DocumentModel::change(const QString& name, const std::function<void(document::Document&)>& change,
                           const QString& mergeKey) {
  // A change by a view during an undo would delete the commands that can be redone.
  if (m_replaying) return false;
  auto next = std::make_shared<document::Document>(*m_document);
  change(*next);
  if (*next == *m_document) return false;
  const bool wasModified = isModified();
  // The serial in the key ends a merge without an additional command.
  const QString key =
      mergeKey.isEmpty() ? QString() : mergeKey + QLatin1Char('#') + QString::number(m_mergeSerial);
  const std::shared_ptr<const document::Document> before = std::exchange(m_document, std::move(next));
  // The commands are pushed before changed() is emitted. So the commands of changes that react to this change
  // come later.
  if (!ChangeCommand::isSame(*before, *m_document))
    m_undo.push(new ChangeCommand(*this, name, before, m_document, key));
  if (before->settings != m_document->settings)
    m_settingsUndo.push(new SettingsCommand(*this, name, before->settings, m_document->settings, key));
  Q_EMIT changed();
  if (before->settings != m_document->settings && isModified() != wasModified) Q_EMIT stateChanged();
  return true;
}

void DocumentModel::endMerge() {
  ++m_mergeSerial;
}

void DocumentModel::setFilePath(const QString& path) {
  if (path == m_filePath) return;
  m_filePath = path;
  Q_EMIT stateChanged();
}

QString DocumentModel::title() const {
  if (!m_filePath.isEmpty()) return QFileInfo(m_filePath).fileName();
  return m_title.isEmpty() ? tr("Untitled") : m_title;
}

void DocumentModel::setTitle(const QString& title) {
  if (title == m_title) return;
  m_title = title;
  Q_EMIT stateChanged();
}

bool DocumentModel::isModified() const {
  const UnreadText* unread = UnreadText::find(*this);
  if (!m_undo.isClean() || (unread != nullptr && unread->typed())) return true;
  // A file with only a query has no settings. Choosing a model does not edit the file.
  const bool isOfQuery = unread != nullptr && unread->file() != nullptr;
  return !m_settingsUndo.isClean() && (!isOfQuery || unread->hasOwnSettings());
}

void DocumentModel::markSaved() {
  endMerge();
  m_undo.setClean();
  m_settingsUndo.setClean();
}

void DocumentModel::markUnsaved() {
  m_undo.resetClean();
}

void DocumentModel::replay(std::shared_ptr<const document::Document> document) {
  const bool areSettings = document->settings != m_document->settings;
  m_document = std::move(document);
  m_replaying = true;
  Q_EMIT changed();
  m_replaying = false;
  // isModified() can have changed without a signal of the stacks, because some settings are not saved.
  if (areSettings) Q_EMIT stateChanged();
}

}  // namespace spanscope::ui
