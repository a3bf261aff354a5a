// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/policy_field.h"

#include "engine/policy/policies.h"
#include "ui/views/common/checked_field.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStringList>
#include <QVBoxLayout>

#include <utility>
#include <variant>

namespace spanscope::ui {
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

/// Takes the values. Returns what is wrong with them, and then does not take them.
QString PolicyField::takeValues(const QString& text) {
  const auto read = policy::readValues(m_shown.policy(), text.trimmed().toStdString());
  if (const auto* problem = std::get_if<policy::ChoiceProblem>(&read))
    return tr("Expected %1").arg(QString::fromStdString(problem->expected));
  m_take(std::get<policy::Choice>(read));
  return {};
}

}  // namespace spanscope::ui
