// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiment_form.h"

#include "ui/views/common/text_tools.h"
#include "ui/words/experiment_words.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace spanscope::ui {

ExperimentForm::ExperimentForm(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(2 * kSpace);
  m_grid->setVerticalSpacing(kSpace);
  m_grid->setColumnStretch(1, 1);
}

std::int32_t ExperimentForm::showExperiment(const experiment::Experiment& shown, std::int32_t repeatsBefore) {
  if (!m_made.empty())
    m_wishes[m_made] = {.experiment = m_made, .values = values(), .repeats = repeatsBefore};
  m_fields.clear();
  m_focusOrder.clear();
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  m_made = shown.name;
  const auto known = m_wishes.find(m_made);
  experiment::ExperimentWish wish =
      known != m_wishes.end() ? known->second : experiment::completed({.experiment = m_made, .values = {}});
  int row = 0;
  for (const experiment::ExperimentField& field : experiment::fieldsOf(shown))
    addRow(field, wish.values[field.key], row++);
  return wish.repeats;
}

void ExperimentForm::addRow(const experiment::ExperimentField& field, const std::string& value, int row) {
  const QString name = experimentWord(field.name);
  auto* label = new QLabel(name, this);
  auto* line = new QLineEdit(QString::fromStdString(value), this);
  line->setAccessibleName(name);
  line->setAccessibleDescription(experimentWord(field.help));
  line->setToolTip(experimentWord(field.help));
  label->setToolTip(line->toolTip());
  label->setBuddy(line);
  connect(line, &QLineEdit::textChanged, this, &ExperimentForm::changed);
  connect(line, &QLineEdit::returnPressed, this, &ExperimentForm::runWanted);
  m_grid->addWidget(label, row, 0);
  m_grid->addWidget(line, row, 1);
  m_fields.emplace(QString::fromUtf8(field.key), line);
  m_focusOrder.push_back(line);
  const bool isModels = field.kind == experiment::FieldKind::Models;
  if (field.kind != experiment::FieldKind::Folder && !isModels) return;
  line->setPlaceholderText(isModels ? tr("none") : tr("where it usually is"));
  auto* browse = new QToolButton(this);
  browse->setText(tr("…"));
  browse->setAccessibleName(tr("Choose: %1").arg(name));
  browse->setToolTip(tr("Choose a folder"));
  connect(browse, &QToolButton::clicked, this, [this, line, name, isModels] {
    const QString before = line->text();
    const QString folder =
        QFileDialog::getExistingDirectory(this, name, before.section(QLatin1Char(','), -1).trimmed());
    if (!folder.isEmpty())
      line->setText(isModels && !before.isEmpty() ? before + QLatin1Char(',') + folder : folder);
  });
  m_grid->addWidget(browse, row, 2);
  m_focusOrder.push_back(browse);
}

std::map<std::string, std::string> ExperimentForm::values() const {
  std::map<std::string, std::string> values;
  for (const auto& [key, line] : m_fields) values[key.toStdString()] = line->text().toStdString();
  return values;
}

void ExperimentForm::setValue(const QString& key, const QString& value) {
  if (QLineEdit* line = field(key)) line->setText(value);
}

QLineEdit* ExperimentForm::field(const QString& key) const {
  const auto found = m_fields.find(key);
  return found == m_fields.end() ? nullptr : found->second;
}

void ExperimentForm::setReadOnly(bool isReadOnly) {
  for (const auto& [key, line] : m_fields) line->setReadOnly(isReadOnly);
  for (QToolButton* browse : findChildren<QToolButton*>()) browse->setEnabled(!isReadOnly);
}

void ExperimentForm::setTheme(const Theme& theme) {
  for (QLabel* label : findChildren<QLabel*>()) colorLabel(*label, theme, Role::TextSecond);
  for (const auto& [key, line] : m_fields) line->setFont(theme.monoFont());
}

}  // namespace spanscope::ui
