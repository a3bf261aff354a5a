// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiment_form.h"

#include "ui/views/common/text_tools.h"
#include "ui/words/table_words.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>
#include <string_view>

namespace spanscope::ui {

namespace {

/// A text that is set by the program shows its beginning if it is too long for the field.
void showBeginning(QLineEdit& line) {
  line.setCursorPosition(0);
  QObject::connect(&line, &QLineEdit::textChanged, &line, [&line] {
    if (!line.hasFocus()) line.setCursorPosition(0);
  });
}

}  // namespace

ExperimentForm::ExperimentForm(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(2 * kSpace);
  m_grid->setVerticalSpacing(kSpace);
  m_grid->setColumnStretch(1, 1);
}

std::int32_t ExperimentForm::showExperiment(const experiment::Experiment& shown, std::int32_t repeatsBefore) {
  if (!m_made.empty()) {
    m_stackChoices[m_made] = {.experiment = m_made,
                              .values = values(),
                              .repeats = repeatsBefore,
                              .source = source(),
                              .expected = expected()};
  }
  m_fields.clear();
  m_source = nullptr;
  m_expected = nullptr;
  m_fitted.clear();
  m_focusOrder.clear();
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  m_made = shown.name;
  const auto known = m_stackChoices.find(m_made);
  experiment::ExperimentRequest request = known != m_stackChoices.end()
                                              ? known->second
                                              : experiment::completed({.experiment = m_made, .values = {}});
  int row = addOwnRows(shown, request);
  for (const experiment::ExperimentField& field : experiment::fieldsOf(shown))
    addRow(field, request.values[field.key], row++);
  showSource();
  return request.repeats;
}

/// Adds the rows about the user's documents. Returns their number.
int ExperimentForm::addOwnRows(const experiment::Experiment& shown,
                               const experiment::ExperimentRequest& request) {
  if (!experiment::takesOwnDocuments(shown)) return 0;
  int row = 0;
  m_source = new QComboBox(this);
  m_source->addItem(tr("generated"));
  m_source->addItem(tr("from this query"));
  m_source->setToolTip(
      tr("Generate documents, or use the children of plus and the last user message of this query"));
  m_source->setAccessibleName(tr("Document source"));
  m_source->setAccessibleDescription(m_source->toolTip());
  m_source->setCurrentIndex(request.source == experiment::DocumentSource::Own ? 1 : 0);
  ignoreWheelWithoutFocus(m_source);
  m_grid->addWidget(m_source, row, 1);
  addLabel(tr("Document source"), *m_source, row++);
  m_focusOrder.push_back(m_source);
  if (shown.own.judges) {
    m_expected = new QLineEdit(QString::fromStdString(request.expected), this);
    showBeginning(*m_expected);
    m_expected->setToolTip(
        tr("Set the right answer to the question. Without an expected answer, answers are not graded"));
    m_expected->setAccessibleName(tr("Expected answer"));
    m_expected->setAccessibleDescription(m_expected->toolTip());
    m_expected->setPlaceholderText(tr("no expected answer: answers are not graded"));
    connect(m_expected, &QLineEdit::textChanged, this, &ExperimentForm::changed);
    connect(m_expected, &QLineEdit::returnPressed, this, &ExperimentForm::runWanted);
    m_grid->addWidget(m_expected, row, 1);
    addLabel(tr("Expected answer"), *m_expected, row++);
    m_focusOrder.push_back(m_expected);
  }
  connect(m_source, &QComboBox::currentIndexChanged, this, [this] {
    showSource();
    Q_EMIT changed();
  });
  return row;
}

QLabel* ExperimentForm::addLabel(const QString& name, QWidget& buddy, int row) {
  auto* label = new QLabel(name, this);
  label->setToolTip(buddy.toolTip());
  label->setBuddy(&buddy);
  m_grid->addWidget(label, row, 0);
  return label;
}

/// Fields that describe generated documents are disabled for the user's documents, but stay in place.
void ExperimentForm::showSource() {
  const experiment::Experiment* shown = experiment::findExperiment(m_made);
  if (shown == nullptr || m_source == nullptr) return;
  const bool isOwn = source() == experiment::DocumentSource::Own;
  if (QLineEdit* made = field(QString::fromUtf8(shown->own.made))) made->setEnabled(!isOwn);
  if (m_expected != nullptr) m_expected->setEnabled(isOwn);
  if (!isOwn) fitNumbers({});
}

void ExperimentForm::fitNumbers(std::optional<std::size_t> ownDocuments) {
  const experiment::Experiment* shown = experiment::findExperiment(m_made);
  QLineEdit* line = shown == nullptr ? nullptr : field(QString::fromUtf8(shown->own.count));
  if (line == nullptr) return;
  const auto usual = std::find_if(shown->fields.begin(), shown->fields.end(), [&](const auto& one) {
    return std::string_view(one.key) == shown->own.count;
  });
  if (usual == shown->fields.end()) return;
  const QString made = QString::fromUtf8(usual->standard);
  if (line->text() != (m_fitted.isEmpty() ? made : m_fitted)) return;
  m_fitted = ownDocuments ? QString::fromStdString(experiment::usualValue(*shown, *usual, *ownDocuments))
                          : QString();
  const QString wanted = m_fitted.isEmpty() ? made : m_fitted;
  if (line->text() != wanted) line->setText(wanted);
}

void ExperimentForm::addRow(const experiment::ExperimentField& field, const std::string& value, int row) {
  const QString name = experimentWord(field.name);
  auto* line = new QLineEdit(QString::fromStdString(value), this);
  showBeginning(*line);
  line->setAccessibleName(name);
  line->setAccessibleDescription(experimentWord(field.help));
  line->setToolTip(experimentWord(field.help));
  connect(line, &QLineEdit::textChanged, this, &ExperimentForm::changed);
  connect(line, &QLineEdit::returnPressed, this, &ExperimentForm::runWanted);
  addLabel(name, *line, row);
  m_grid->addWidget(line, row, 1);
  m_fields.emplace(QString::fromUtf8(field.key), line);
  m_focusOrder.push_back(line);
  const bool isModels = field.kind == experiment::FieldKind::Models;
  if (field.kind != experiment::FieldKind::Folder && !isModels) return;
  line->setPlaceholderText(isModels ? tr("none") : tr("default folder"));
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

experiment::DocumentSource ExperimentForm::source() const {
  return m_source != nullptr && m_source->currentIndex() == 1 ? experiment::DocumentSource::Own
                                                              : experiment::DocumentSource::Made;
}

void ExperimentForm::setSource(experiment::DocumentSource source) {
  if (m_source != nullptr) m_source->setCurrentIndex(source == experiment::DocumentSource::Own ? 1 : 0);
}

std::string ExperimentForm::expected() const {
  const bool isAsked = m_expected != nullptr && source() == experiment::DocumentSource::Own;
  return isAsked ? m_expected->text().toStdString() : std::string();
}

void ExperimentForm::setExpected(const QString& answer) {
  if (m_expected != nullptr) m_expected->setText(answer);
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
  if (m_source != nullptr) m_source->setEnabled(!isReadOnly);
  if (m_expected != nullptr) m_expected->setReadOnly(isReadOnly);
  for (QToolButton* browse : findChildren<QToolButton*>()) browse->setEnabled(!isReadOnly);
}

void ExperimentForm::setTheme(const Theme& theme) {
  for (QLabel* label : findChildren<QLabel*>()) colorLabel(*label, theme, Role::TextSecond);
  for (const auto& [key, line] : m_fields) line->setFont(theme.monoFont());
  if (m_expected != nullptr) m_expected->setFont(theme.monoFont());
}

}  // namespace spanscope::ui
