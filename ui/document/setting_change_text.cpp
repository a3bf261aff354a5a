// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/setting_change_text.h"

#include "engine/workbench/model_names.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

using workbench::RunSettings;
using workbench::Setting;

/// More would make the menu wider than a small window.
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

}  // namespace

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

}  // namespace spanscope::ui
