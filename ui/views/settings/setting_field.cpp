// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/setting_field.h"

#include "engine/base/error.h"
#include "engine/policy/policies.h"
#include "engine/remote/http/http_client.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

using workbench::RunSettings;
using workbench::Setting;
using workbench::SettingRow;
using workbench::TextKind;
using workbench::WholeRange;

/// A spin box that steps to the next power of two.
class PowerSpinBox : public QSpinBox {
 public:
  using QSpinBox::QSpinBox;

  void stepBy(int steps) override {
    int value = this->value();
    for (; steps > 0; --steps) {
      int next = 1;
      while (next <= value) next *= 2;
      value = next;
    }
    for (; steps < 0; ++steps) {
      int next = 1;
      while (next * 2 < value) next *= 2;
      value = next;
    }
    setValue(value);
  }
};

/// Makes the field for each type of a setting's member.
class FieldMaker {
 public:
  FieldMaker(const Setting& setting, SettingsRows& rows)
      : m_setting(setting),
        m_rows(rows),
        m_name(QString::fromLatin1(setting.name)),
        m_title(*setting.row.title == '\0' ? tr("Settings") : settingText(setting.row.title)) {}

  SettingField make() {
    m_field.setting = &m_setting;
    std::visit([this](auto member) { make(member); }, m_setting.member);
    m_field.widget->setObjectName(m_name);
    return std::move(m_field);
  }

 private:
  template <class Whole>
  void make(Whole RunSettings::*member) {
    const SettingRow& row = m_setting.row;
    QSpinBox* const spin = row.step == 0 ? new PowerSpinBox(m_rows.owner()) : new QSpinBox(m_rows.owner());
    const WholeRange range = row.range.value_or(m_setting.range);
    spin->setRange(static_cast<int>(range.least), static_cast<int>(range.most));
    spin->setGroupSeparatorShown(false);
    spin->setSingleStep(std::max(1, row.step));
    spin->setSuffix(settingText(row.unit));
    spin->setSpecialValueText(settingText(row.least));
    spin->setToolTip(settingText(row.help));
    ignoreWheelWithoutFocus(spin);
    const auto take = [&rows = m_rows, title = m_title, name = m_name, member](int value) {
      rows.change(title, name, [=](RunSettings& settings) { settings.*member = static_cast<Whole>(value); });
    };
    QObject::connect(spin, &QSpinBox::valueChanged, &m_rows, take);
    QObject::connect(spin, &QSpinBox::editingFinished, &m_rows, &SettingsRows::endMerge);
    m_field.widget = spin;
    m_field.show = [spin, member](const RunSettings& settings, const Theme&) {
      spin->setValue(static_cast<int>(settings.*member));
    };
  }

  void make(bool RunSettings::*member) {
    auto* const check = new QCheckBox(settingText(m_setting.row.label), m_rows.owner());
    check->setToolTip(settingText(m_setting.row.help));
    QObject::connect(check, &QCheckBox::clicked, &m_rows, [&rows = m_rows, title = m_title, member](bool on) {
      rows.change(title, {}, [=](RunSettings& settings) { settings.*member = on; });
    });
    m_field.widget = check;
    m_field.show = [check, member](const RunSettings& settings, const Theme&) {
      check->setChecked(settings.*member);
    };
  }

  void make(std::string RunSettings::*member) {
    if (m_setting.kind == TextKind::Policy) return makePolicy(member);
    if (m_setting.choices != nullptr) return makeCombo(member);
    if (m_setting.kind == TextKind::Line) return makeLine(member);
    CheckedField* const field = makeChecked([kind = m_setting.kind, member](const QString& text) {
      const std::string value = text.trimmed().toStdString();
      return std::pair(problemOf(kind, value),
                       SettingsRows::Change([=](RunSettings& settings) { settings.*member = value; }));
    });
    QObject::connect(field->line(), &QLineEdit::editingFinished, &m_rows, &SettingsRows::endMerge);
    showIn(field, [member](const RunSettings& settings) { return QString::fromStdString(settings.*member); });
  }

  void make(std::uint64_t RunSettings::*member) {
    CheckedField* const field = makeChecked([member](const QString& text) {
      const std::optional<std::uint64_t> value = seedNumber(text);
      return std::pair(value ? QString() : tr("A whole number from 0, of 64 bits"),
                       SettingsRows::Change([=](RunSettings& settings) { settings.*member = *value; }));
    });
    showIn(field, [member](const RunSettings& settings) { return QString::number(settings.*member); });
  }

  void make(std::vector<std::int32_t> RunSettings::*member) {
    CheckedField* const field = makeChecked([member](const QString& text) {
      const auto value = readLayers(text);
      return std::pair(value ? QString() : tr("all, or numbers of layers from 0, separated by commas"),
                       SettingsRows::Change([=](RunSettings& settings) { settings.*member = *value; }));
    });
    showIn(field, [member](const RunSettings& settings) { return layersText(settings.*member); });
  }

  void makeCombo(std::string RunSettings::*member) {
    auto* const combo = new ElidedCombo(m_rows.owner());
    for (const workbench::Choice& choice : m_setting.choices()) {
      const QString name = QString::fromStdString(choice.name);
      const QString label = settingText(choice.label);
      combo->addItem(label.isEmpty() ? name : label, name);
      if (const QString help = settingText(choice.help); !help.isEmpty())
        combo->setItemData(combo->count() - 1, help, Qt::ToolTipRole);
    }
    combo->setToolTip(settingText(m_setting.row.help));
    ignoreWheelWithoutFocus(combo);
    QObject::connect(combo, &QComboBox::activated, &m_rows,
                     [&rows = m_rows, title = m_title, name = m_name, combo, member](int index) {
                       const std::string value = combo->itemData(index).toString().toStdString();
                       rows.change(title, name, [&](RunSettings& settings) { settings.*member = value; });
                       rows.endMerge();
                     });
    m_field.widget = combo;
    m_field.show = [combo, member](const RunSettings& settings, const Theme&) {
      combo->setCurrentIndex(combo->findData(QString::fromStdString(settings.*member)));
    };
  }

  void makePolicy(std::string RunSettings::*member) {
    auto* const field = new PolicyField(
        [&rows = m_rows, title = m_title, name = m_name, member](const policy::Choice& choice) {
          rows.change(title, name, [&](RunSettings& settings) { settings.*member = choice.name(); });
          rows.endMerge();
        },
        m_rows.owner());
    field->combo()->setObjectName(m_name);
    m_field.widget = field;
    m_field.show = [field, member](const RunSettings& settings, const Theme& theme) {
      field->show(settings.*member, theme);
    };
  }

  void makeLine(std::string RunSettings::*member) {
    auto* const line = new QLineEdit(m_rows.owner());
    line->setPlaceholderText(settingText(m_setting.row.example));
    line->setToolTip(settingText(m_setting.row.help));
    QObject::connect(line, &QLineEdit::textEdited, &m_rows,
                     [&rows = m_rows, title = m_title, name = m_name, member](const QString& text) {
                       rows.change(title, name,
                                   [&](RunSettings& settings) { settings.*member = text.toStdString(); });
                     });
    m_field.widget = line;
    m_field.show = [line, member](const RunSettings& settings, const Theme&) {
      const QString text = QString::fromStdString(settings.*member);
      if (line->text() != text) line->setText(text);
    };
  }

  static QString problemOf(TextKind kind, const std::string& text) {
    // An empty address is no error, because the user has not typed it yet.
    if (kind != TextKind::Address || text.empty()) return {};
    const auto address = remote::readServerAddress(text);
    const auto* problem = std::get_if<Error>(&address);
    return problem == nullptr ? QString() : tr("Expected %1").arg(QString::fromStdString(problem->expected));
  }

  /// `read` returns the reason why a text is invalid, or its change.
  template <class Read>
  CheckedField* makeChecked(Read read) {
    const auto apply = [&rows = m_rows, title = m_title, name = m_name, read](const QString& text) {
      const std::pair<QString, SettingsRows::Change> result = read(text);
      if (result.first.isEmpty()) rows.change(title, name, result.second);
      return result.first;
    };
    auto* const field = new CheckedField(m_title, apply, m_rows.owner());
    field->line()->setPlaceholderText(settingText(m_setting.row.example));
    field->line()->setToolTip(settingText(m_setting.row.help));
    m_field.widget = field;
    return field;
  }

  template <class TextOf>
  void showIn(CheckedField* field, TextOf textOf) {
    m_field.show = [field, textOf](const RunSettings& settings, const Theme& theme) {
      field->setTheme(theme);
      field->setText(textOf(settings));
    };
  }

  const Setting& m_setting;
  SettingsRows& m_rows;
  QString m_name;
  QString m_title;
  SettingField m_field;
};

}  // namespace

SettingField makeSettingField(const Setting& setting, SettingsRows& rows) {
  return FieldMaker(setting, rows).make();
}

QString layersText(const std::vector<std::int32_t>& layers) {
  if (layers.empty()) return QStringLiteral("all");
  QStringList numbers;
  for (const std::int32_t layer : layers) numbers += QString::number(layer);
  return numbers.join(QLatin1String(", "));
}

std::optional<std::vector<std::int32_t>> readLayers(const QString& text) {
  std::vector<std::int32_t> layers;
  const QString trimmed = text.trimmed();
  if (trimmed.isEmpty() || trimmed == QLatin1String("all")) return layers;
  for (const QString& part : trimmed.split(QLatin1Char(','))) {
    const std::optional<std::int64_t> layer = wholeNumber(part, 0, 1000);
    if (!layer) return std::nullopt;
    layers.push_back(static_cast<std::int32_t>(*layer));
  }
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  return layers;
}

namespace {

/// The label of the values: "tokens of each document", or for several parameters "share, layer, by".
QString labelOf(const policy::Policy& policy) {
  if (policy.parameters.size() == 1) return policyWord(policy.parameters.front().label);
  QStringList names;
  for (const policy::Parameter& parameter : policy.parameters) names += QString::fromUtf8(parameter.name);
  return names.join(QStringLiteral(", "));
}

QString helpOf(const policy::Policy& policy) {
  QStringList lines;
  for (const policy::Parameter& parameter : policy.parameters)
    lines += QStringLiteral("%1: %2").arg(QString::fromUtf8(parameter.name), policyWord(parameter.help));
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

PolicyField::PolicyField(Take take, QWidget* parent)
    : QWidget(parent), m_take(std::move(take)), m_combo(new QComboBox(this)), m_label(new QLabel(this)) {
  for (const policy::Policy* policy : policy::policies()) {
    m_combo->addItem(QString::fromUtf8(policy->name));
    m_combo->setItemData(m_combo->count() - 1, policyWord(policy->help), Qt::ToolTipRole);
  }
  m_combo->setAccessibleName(tr("Reuse policy"));
  ignoreWheelWithoutFocus(m_combo);
  connect(m_combo, &QComboBox::activated, this, &PolicyField::choose);
  m_values = new CheckedField(
      tr("Values of the policy"), [this](const QString& text) { return takeValues(text); }, this);
  m_values->setObjectName(QStringLiteral("policyValues"));
  m_label->setBuddy(m_values->line());

  auto* const rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(m_combo);
  auto* const row = new QHBoxLayout;
  row->addWidget(m_values, 1);
  row->addWidget(m_label, 1);
  rows->addLayout(row);
  setFocusProxy(m_combo);
}

void PolicyField::show(const std::string& policy, const Theme& theme) {
  m_shown = policy::findChoice(policy).value_or(policy::Choice());
  const policy::Policy& chosen = m_shown.policy();
  m_combo->setCurrentText(QString::fromUtf8(chosen.name));
  m_combo->setToolTip(policyWord(chosen.help));
  m_values->setVisible(!chosen.parameters.empty());
  m_label->setVisible(!chosen.parameters.empty());
  m_values->setTheme(theme);
  if (chosen.parameters.empty()) return;
  m_label->setText(labelOf(chosen));
  m_label->setToolTip(helpOf(chosen));
  m_values->line()->setToolTip(helpOf(chosen));
  m_values->setText(QString::fromStdString(policy::valuesText(m_shown)));
}

void PolicyField::choose(int index) {
  const policy::Policy& chosen = *policy::policies()[static_cast<std::size_t>(index)];
  if (&chosen != &m_shown.policy()) m_take(chosen);
}

/// Applies the values. If they are invalid, returns the reason and applies nothing.
QString PolicyField::takeValues(const QString& text) {
  const auto read = policy::readValues(m_shown.policy(), text.trimmed().toStdString());
  if (const auto* problem = std::get_if<policy::ChoiceProblem>(&read))
    return tr("Expected %1").arg(QString::fromStdString(problem->expected));
  m_take(std::get<policy::Choice>(read));
  return {};
}

namespace {

constexpr int kFieldWidth = 96;

}  // namespace

SettingsRows::SettingsRows(QWidget& owner, QGridLayout& grid, ModelOf model)
    : m_owner(owner), m_grid(grid), m_model(std::move(model)) {}

QLabel* SettingsRows::addHeader(const QString& title) {
  auto* label = new QLabel(title, &m_owner);
  label->setContentsMargins(0, m_headers.empty() ? 0 : kSpace, 0, 0);
  m_grid.addWidget(label, m_grid.rowCount(), 0, 1, 2);
  m_headers.push_back(label);
  return label;
}

QLabel* SettingsRows::addRow(const QString& label, QWidget* field) {
  const int row = m_grid.rowCount();
  // Without this setting, the field would be as wide as its largest number.
  field->setMinimumWidth(kFieldWidth);
  if (label.isEmpty()) {
    m_grid.addWidget(field, row, 0, 1, 2);
    return nullptr;
  }
  auto* text = new QLabel(label, &m_owner);
  text->setBuddy(field);
  // In a narrow dock the fields have the room.
  text->setWordWrap(true);
  text->setContentsMargins(0, kSpace, 0, 0);
  m_grid.addWidget(text, row, 0, Qt::AlignTop);
  m_labels.push_back(text);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  m_grid.addWidget(field, row, 1);
  return text;
}

QLabel* SettingsRows::addHint() {
  auto* label = new QLabel(&m_owner);
  label->setWordWrap(true);
  m_grid.addWidget(label, m_grid.rowCount(), 1);
  m_hints.push_back(label);
  return label;
}

QLabel* SettingsRows::addNote(const QString& text) {
  auto* label = new QLabel(text, &m_owner);
  label->setWordWrap(true);
  m_grid.addWidget(label, m_grid.rowCount(), 0, 1, 2);
  m_hints.push_back(label);
  return label;
}

void SettingsRows::change(const QString& name, const QString& key, const Change& change) {
  DocumentModel* const model = m_model();
  if (model == nullptr || m_isShowing) return;
  model->change(
      name, [&change](document::Document& document) { change(document.settings); },
      key.isEmpty() ? QString() : QStringLiteral("settings:") + key);
}

void SettingsRows::endMerge() {
  if (DocumentModel* const model = m_model()) model->endMerge();
}

void SettingsRows::setTheme(const Theme& theme) {
  for (QLabel* header : m_headers) header->setFont(theme.titleFont());
  for (QLabel* label : m_labels) colorLabel(*label, theme, Role::TextSecond);
  for (QLabel* hint : m_hints) {
    hint->setFont(theme.smallFont());
    colorLabel(*hint, theme, Role::TextThird);
  }
}

}  // namespace spanscope::ui
