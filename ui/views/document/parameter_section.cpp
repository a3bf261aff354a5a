// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/document/parameter_section.h"

#include "ui/views/document/checked_field.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kLabelWidth = 96;

bool askForTheSame(const std::vector<ParameterRow>& a, const std::vector<ParameterRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.kind == other.kind;
  });
}

}  // namespace

ParameterSection::ParameterSection(SetValue setValue, DocumentUndo::ModelOf model, QWidget* parent)
    : QWidget(parent),
      m_setValue(std::move(setValue)),
      m_model(std::move(model)),
      m_heading(new QLabel(tr("Parameters"), this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2 * kSpace);
  layout->addWidget(m_heading);
  hide();
}

void ParameterSection::setRows(const std::vector<ParameterRow>& rows) {
  setVisible(!rows.empty());
  if (!askForTheSame(rows, m_rows) || m_body == nullptr) rebuild(rows);
  m_rows = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Field& field = m_fields[i];
    field.value->setText(QString::fromStdString(rows[i].value.value_or(std::string())));
    field.value->line()->setPlaceholderText(rows[i].value ? tr("an empty text")
                                                          : withoutValueText(rows[i].kind));
    field.remove->setVisible(rows[i].value.has_value());
    field.label->setToolTip(tr("Stands in %n node(s)", nullptr, static_cast<int>(rows[i].nodes)));
  }
}

void ParameterSection::setTheme(const Theme& theme) {
  m_theme = theme;
  m_heading->setFont(theme.smallFont());
  colorLabel(*m_heading, theme, Role::TextThird);
  for (const Field& field : m_fields) {
    field.label->setFont(theme.interfaceFont());
    colorLabel(*field.label, theme, Role::TextSecond);
    field.value->setTheme(theme);
  }
}

void ParameterSection::rebuild(const std::vector<ParameterRow>& rows) {
  if (m_body != nullptr) m_body->deleteLater();
  m_fields.clear();
  m_body = new QWidget(this);
  layout()->addWidget(m_body);
  auto* grid = new QGridLayout(m_body);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(2 * kSpace);
  grid->setVerticalSpacing(2 * kSpace);
  grid->setColumnMinimumWidth(0, kLabelWidth);
  grid->setColumnStretch(1, 1);
  for (const ParameterRow& row : rows) {
    const int line = grid->rowCount();
    m_fields.push_back(makeField(row));
    grid->addWidget(m_fields.back().label, line, 0, Qt::AlignTop);
    grid->addWidget(m_fields.back().value, line, 1);
    grid->addWidget(m_fields.back().remove, line, 2, Qt::AlignTop);
  }
  m_body->setVisible(true);
  setTheme(m_theme);
}

ParameterSection::Field ParameterSection::makeField(const ParameterRow& row) {
  const QString shown = QStringLiteral("{%1}").arg(QString::fromStdString(row.name));
  auto* label = new QLabel(shown, m_body);
  label->setContentsMargins(0, kSpace, 0, 0);
  auto* value = new CheckedField(
      tr("Value of %1").arg(shown),
      [this, name = row.name, kind = row.kind](const QString& text) {
        QString reason = parameterReason(kind, text.toStdString());
        if (reason.isEmpty()) m_setValue(name, text.toStdString());
        return reason;
      },
      m_body);
  value->setObjectName(QStringLiteral("parameter:%1").arg(QString::fromStdString(row.name)));
  new DocumentUndo(value->line(), m_model);
  label->setBuddy(value);
  auto* remove = new QToolButton(m_body);
  remove->setObjectName(QStringLiteral("remove:%1").arg(QString::fromStdString(row.name)));
  remove->setText(QStringLiteral("×"));
  remove->setAutoRaise(true);
  QSizePolicy policy = remove->sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  remove->setSizePolicy(policy);
  remove->setToolTip(tr("Take the value away"));
  remove->setAccessibleName(tr("Take the value of %1 away").arg(shown));
  connect(remove, &QToolButton::clicked, this, [this, name = row.name] { m_setValue(name, std::nullopt); });
  return {label, value, remove};
}

}  // namespace spanscope::ui
