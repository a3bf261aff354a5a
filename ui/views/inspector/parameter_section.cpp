// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/parameter_section.h"

#include "engine/workbench/document/edits.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace spanscope::ui {

namespace {

/// Min letters that a field beside its label must have space for.
constexpr int kFewestFieldLetters = 14;

}  // namespace

bool isNarrowForm(int width, const std::vector<QLabel*>& labels) {
  if (labels.empty()) return false;
  int widest = kFormLabelWidth;
  for (const QLabel* label : labels) {
    if (!label->isHidden()) widest = std::max(widest, label->sizeHint().width());
  }
  const int field = kFewestFieldLetters * labels.front()->fontMetrics().averageCharWidth();
  return width < widest + 2 * kSpace + field;
}

FormRows::FormRows(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(2 * kSpace);
  m_grid->setVerticalSpacing(2 * kSpace);
  m_grid->setColumnMinimumWidth(0, kFormLabelWidth);
  m_grid->setColumnStretch(1, 1);
}

QLabel* FormRows::addRow(const QString& label, QWidget* field) {
  auto* text = new QLabel(label, this);
  text->setBuddy(field);
  m_labels.push_back(text);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  add(text, field);
  return text;
}

void FormRows::addWide(QWidget* widget) {
  add(nullptr, widget);
}

void FormRows::add(QLabel* label, QWidget* field) {
  m_rows.push_back({.label = label, .field = field});
  place(m_rows.size() - 1);
}

void FormRows::place(std::size_t index) {
  const auto& [label, field] = m_rows[index];
  const int line = 2 * static_cast<int>(index);
  if (label == nullptr) {
    m_grid->addWidget(field, line, 0, 1, 2);
  } else if (m_isNarrow) {
    label->setContentsMargins(0, kSpace, 0, 0);
    m_grid->addWidget(label, line, 0, 1, 2);
    m_grid->addWidget(field, line + 1, 0, 1, 2);
  } else {
    // The label is level with the first line of a field of any height.
    label->setContentsMargins(0, qobject_cast<QLabel*>(field) == nullptr ? kSpace : 0, 0, 0);
    m_grid->addWidget(label, line, 0, Qt::AlignTop);
    m_grid->addWidget(field, line, 1);
  }
}

void FormRows::fold() {
  const bool isNarrow = isNarrowForm(width(), m_labels);
  if (isNarrow == m_isNarrow) return;
  m_isNarrow = isNarrow;
  m_grid->setVerticalSpacing(isNarrow ? kSpace : 2 * kSpace);
  m_grid->setColumnMinimumWidth(0, isNarrow ? 0 : kFormLabelWidth);
  for (std::size_t i = 0; i < m_rows.size(); ++i) place(i);
}

void FormRows::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold();
}

void FormRows::setTheme(const Theme& theme) {
  for (QLabel* label : m_labels) {
    label->setFont(theme.interfaceFont());
    colorLabel(*label, theme, Role::TextSecond);
  }
  fold();
}

namespace {

bool askForTheSame(const std::vector<ParameterRow>& a, const std::vector<ParameterRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.placesKind == other.placesKind;
  });
}

QString objectNameOf(const char* what, const ParameterRow& row) {
  return QStringLiteral("%1:%2").arg(QLatin1String(what), QString::fromStdString(row.name));
}

QString labelTip(const ParameterRow& row) {
  QString places = row.nodes == 0
                       ? ParameterSection::tr("Used in no node")
                       : ParameterSection::tr("Used in %n node(s)", nullptr, static_cast<int>(row.nodes));
  if (row.declaration.description.empty()) return places;
  return QString::fromStdString(row.declaration.description) + QStringLiteral("\n") + places;
}

}  // namespace

ParameterSection::ParameterSection(ParameterEdits edits, DocumentUndo::ModelOf model, QWidget* parent)
    : QWidget(parent),
      m_edits(std::move(edits)),
      m_model(std::move(model)),
      m_heading(new QLabel(tr("Parameters"), this)),
      m_define(new QToolButton(this)) {
  m_define->setObjectName(QStringLiteral("define"));
  m_define->setText(tr("Define"));
  m_define->setCheckable(true);
  m_define->setAutoRaise(true);
  m_define->setToolTip(tr("Show the type, the default and the description of each parameter"));
  connect(m_define, &QToolButton::toggled, this, &ParameterSection::showDefinitions);
  auto* head = new QHBoxLayout;
  head->addWidget(m_heading);
  head->addStretch();
  head->addWidget(m_define);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2 * kSpace);
  layout->addLayout(head);
  hide();
}

void ParameterSection::setRows(const std::vector<ParameterRow>& rows) {
  setVisible(!rows.empty());
  const bool isSame = askForTheSame(rows, m_rows) && m_body != nullptr;
  m_rows = rows;
  if (!isSame) rebuild(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) showRow(m_fields[i], rows[i]);
}

void ParameterSection::setTheme(const Theme& theme) {
  m_theme = theme;
  m_heading->setFont(theme.smallFont());
  m_define->setFont(theme.smallFont());
  colorLabel(*m_heading, theme, Role::TextThird);
  for (const Field& field : m_fields) {
    field.label->setFont(theme.interfaceFont());
    colorLabel(*field.label, theme, Role::TextSecond);
    field.value->setTheme(theme);
    field.definition->setTheme(theme);
    field.defaultValue->setTheme(theme);
  }
  fold();
}

void ParameterSection::rebuild(const std::vector<ParameterRow>& rows) {
  if (m_body != nullptr) m_body->deleteLater();
  m_fields.clear();
  m_body = new QWidget(this);
  layout()->addWidget(m_body);
  auto* grid = new QGridLayout(m_body);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(2 * kSpace);
  grid->setColumnStretch(1, 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const QString shown = QStringLiteral("{%1}").arg(QString::fromStdString(rows[i].name));
    Field field{};
    makeValue(field, i, shown);
    makeDefinition(field, i, shown);
    m_fields.push_back(field);
  }
  fold();
  m_body->setVisible(true);
  showDefinitions(m_define->isChecked());
  setTheme(m_theme);
}

void ParameterSection::fold() {
  if (m_body == nullptr) return;
  auto* grid = static_cast<QGridLayout*>(m_body->layout());
  std::vector<QLabel*> labels;
  for (const Field& field : m_fields) labels.push_back(field.label);
  const bool isNarrow = isNarrowForm(width(), labels);
  grid->setVerticalSpacing(isNarrow ? kSpace : 2 * kSpace);
  grid->setColumnMinimumWidth(0, isNarrow ? 0 : kFormLabelWidth);
  int line = 0;
  for (const Field& field : m_fields) {
    if (isNarrow) {
      grid->addWidget(field.label, line, 0, 1, 3);
      grid->addWidget(field.value, line + 1, 0, 1, 2);
      grid->addWidget(field.remove, line + 1, 2, Qt::AlignTop);
      grid->addWidget(field.definition, line + 2, 0, 1, 3);
    } else {
      grid->addWidget(field.label, line, 0, Qt::AlignTop);
      grid->addWidget(field.value, line, 1);
      grid->addWidget(field.remove, line, 2, Qt::AlignTop);
      grid->addWidget(field.definition, line + 2, 0, 1, 2);
    }
    line += 3;
  }
}

void ParameterSection::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold();
}

void ParameterSection::makeValue(Field& field, std::size_t index, const QString& shown) {
  const ParameterRow& row = m_rows[index];
  field.label = new QLabel(shown, m_body);
  field.label->setContentsMargins(0, kSpace, 0, 0);
  field.value = new CheckedField(
      tr("Value of %1").arg(shown),
      [this, index](const QString& text) {
        const ParameterRow& now = m_rows[index];
        QString reason = parameterReason(now.kind(), text.toStdString());
        if (reason.isEmpty()) m_edits.setValue(now.name, text.toStdString());
        return reason;
      },
      m_body);
  field.value->setObjectName(objectNameOf("parameter", row));
  new DocumentUndo(field.value->line(), m_model);
  field.label->setBuddy(field.value);
  field.remove = new QToolButton(m_body);
  field.remove->setObjectName(objectNameOf("remove", row));
  field.remove->setText(QStringLiteral("×"));
  field.remove->setAutoRaise(true);
  QSizePolicy policy = field.remove->sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  field.remove->setSizePolicy(policy);
  field.remove->setToolTip(tr("Remove the value"));
  field.remove->setAccessibleName(tr("Remove the value of %1").arg(shown));
  connect(field.remove, &QToolButton::clicked, this,
          [this, name = row.name] { m_edits.setValue(name, std::nullopt); });
}

void ParameterSection::makeDefinition(Field& field, std::size_t index, const QString& shown) {
  const ParameterRow& row = m_rows[index];
  field.definition = new FormRows(m_body);
  field.kind = new QComboBox(field.definition);
  field.kind->setObjectName(objectNameOf("kind", row));
  field.kind->setAccessibleName(tr("Type of %1").arg(shown));
  for (const query::ParameterKind kind : kindChoices(row)) {
    field.kind->addItem(kindLabel(kind), static_cast<int>(kind));
  }
  // There is no choice if no kind is narrower than the one that the places take.
  field.kind->setEnabled(field.kind->count() > 1);
  ignoreWheelWithoutFocus(field.kind);
  connect(field.kind, &QComboBox::activated, this, [this, index, kind = field.kind](int item) {
    const auto chosen = static_cast<query::ParameterKind>(kind->itemData(item).toInt());
    declare(index, tr("Type of {%1}"), {}, [&](query::ParameterDeclaration& said) {
      said.kind = chosen == m_rows[index].placesKind ? std::nullopt : std::optional(chosen);
    });
  });
  field.defaultValue = new CheckedField(
      tr("Default of %1").arg(shown),
      [this, index](const QString& text) {
        QString reason;
        if (!text.isEmpty()) reason = parameterReason(m_rows[index].kind(), text.toStdString());
        if (!reason.isEmpty()) return reason;
        declare(index, tr("Default of {%1}"), QStringLiteral("default"),
                [&text](query::ParameterDeclaration& said) {
                  said.defaultValue = text.isEmpty() ? std::nullopt : std::optional(text.toStdString());
                });
        return reason;
      },
      field.definition);
  field.defaultValue->setObjectName(objectNameOf("default", row));
  field.defaultValue->line()->setPlaceholderText(tr("none"));
  field.description = new QLineEdit(field.definition);
  field.description->setObjectName(objectNameOf("description", row));
  field.description->setAccessibleName(tr("Description of %1").arg(shown));
  field.description->setPlaceholderText(tr("e.g. Number of documents"));
  connect(field.description, &QLineEdit::textEdited, this, [this, index](const QString& text) {
    declare(index, tr("Description of {%1}"), QStringLiteral("description"),
            [&text](query::ParameterDeclaration& said) { said.description = text.toStdString(); });
  });
  for (QLineEdit* line : {field.defaultValue->line(), field.description}) new DocumentUndo(line, m_model);
  // Space below keeps the fields of one parameter together.
  field.definition->layout()->setContentsMargins(0, 0, 0, 4 * kSpace);
  field.definition->addRow(tr("Type"), field.kind);
  field.definition->addRow(tr("Default"), field.defaultValue);
  field.definition->addRow(tr("Description"), field.description);
}

void ParameterSection::showRow(const Field& field, const ParameterRow& row) const {
  field.value->setText(QString::fromStdString(row.value.value_or(std::string())));
  field.value->line()->setPlaceholderText(row.value ? tr("an empty text") : withoutValueText(row));
  field.remove->setVisible(row.value.has_value());
  field.label->setToolTip(labelTip(row));
  field.value->line()->setToolTip(QString::fromStdString(row.declaration.description));
  field.kind->setCurrentIndex(field.kind->findData(static_cast<int>(row.kind())));
  field.defaultValue->setText(QString::fromStdString(row.declaration.defaultValue.value_or(std::string())));
  const QString description = QString::fromStdString(row.declaration.description);
  if (field.description->text() != description) field.description->setText(description);
}

void ParameterSection::showDefinitions(bool shown) {
  m_define->setText(shown ? tr("Done") : tr("Define"));
  for (const Field& field : m_fields) field.definition->setVisible(shown);
}

void ParameterSection::declare(std::size_t index, const QString& what, const QString& key,
                               const std::function<void(query::ParameterDeclaration&)>& change) {
  query::ParameterDeclaration said = m_rows[index].declaration;
  change(said);
  const QString name = QString::fromStdString(said.name);
  m_edits.declare(what.arg(name), key.isEmpty() ? key : key + QStringLiteral(":") + name, std::move(said));
}

namespace {

using query::ParameterKind;

ParameterRow rowOf(const document::Document& document, const std::string& name) {
  ParameterRow row;
  row.name = name;
  const auto value = document.parameters.find(name);
  if (value != document.parameters.end()) row.value = value->second;
  const query::ParameterDeclaration* declared = document::declarationOf(document, name);
  if (declared != nullptr) row.declaration = *declared;
  row.declaration.name = name;
  return row;
}

}  // namespace

ParameterKind ParameterRow::kind() const {
  return declaration.kind ? query::narrowerKind(placesKind, *declaration.kind) : placesKind;
}

std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node) {
  std::vector<ParameterRow> rows;
  std::map<std::string, std::size_t> places;
  const auto take = [&](document::NodeId id) {
    for (const query::ParameterUse& use : query::findParameters(document.at(id).own)) {
      const auto [place, isNew] = places.emplace(use.name, rows.size());
      if (isNew) rows.push_back(rowOf(document, use.name));
      ParameterRow& row = rows[place->second];
      row.placesKind = query::narrowerKind(row.placesKind, use.kind);
    }
  };
  if (node != document::kNoNode) {
    take(node);
    if (rows.empty()) return rows;
  } else {
    for (const document::NodeId top : document.tops()) {
      for (const document::NodeId id : document.subtree(top)) take(id);
    }
    for (const query::ParameterDeclaration& declaration : document.declarations) {
      if (places.emplace(declaration.name, rows.size()).second)
        rows.push_back(rowOf(document, declaration.name));
    }
  }
  for (const document::NodeId id : document.ids()) {
    std::set<std::string> seen;
    for (const query::ParameterUse& use : query::findParameters(document.at(id).own)) {
      const auto place = places.find(use.name);
      if (place != places.end() && seen.insert(use.name).second) ++rows[place->second].nodes;
    }
  }
  return rows;
}

QString parameterReason(ParameterKind kind, const std::string& text) {
  if (query::isParameterValue(kind, text)) return {};
  return tr("Expected: %1").arg(QString::fromStdString(query::parameterValueForm(kind)));
}

QString withoutValueText(const ParameterRow& row) {
  const std::optional<std::string>& given = row.declaration.defaultValue;
  if (given) return tr("default: %1").arg(QString::fromStdString(*given));
  return row.placesKind == ParameterKind::Text ? tr("unchanged") : tr("needs a value");
}

std::vector<ParameterKind> kindChoices(const ParameterRow& row) {
  std::vector<ParameterKind> choices;
  for (const ParameterKind kind : query::parameterKinds()) {
    if (query::narrowerKind(row.placesKind, kind) == kind) choices.push_back(kind);
  }
  return choices;
}

QString kindLabel(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Text:
      return tr("Text");
    case ParameterKind::Temperature:
      return tr("Number");
    case ParameterKind::MaxTokens:
      return tr("Whole number");
    case ParameterKind::Count:
      return tr("Whole number, 0 to 255");
  }
  return {};
}

}  // namespace spanscope::ui
