// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/number_field.h"

#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "ui/views/common/checked_field.h"
#include "ui/views/common/text_tools.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>

#include <algorithm>
#include <limits>

namespace spanscope::ui {
namespace {

/// The modes, numbered as the alternatives of NumberValue.
enum Mode { Left = 0, None = 1, Number = 2, Named = 3 };

double firstNumber(NumberField::Kind kind) {
  switch (kind) {
    case NumberField::Kind::Count:
      return 2;
    case NumberField::Kind::MaxTokens:
      return 32;
    case NumberField::Kind::Temperature:
      return 0;
  }
  return 0;
}

}  // namespace

NumberField::NumberField(Kind kind, const QString& accessibleName, const QString& parameter, QWidget* parent)
    : QWidget(parent),
      m_kind(kind),
      m_parameter(parameter),
      m_lastNumber(firstNumber(kind)),
      m_modes(new QComboBox(this)),
      m_field(new CheckedField(
          accessibleName, [this](const QString& text) { return apply(text); }, this)) {
  if (kind == Kind::MaxTokens) {
    m_modes->addItem(tr("server's default"), Left);
    m_modes->addItem(tr("no limit"), None);
  } else if (kind == Kind::Temperature) {
    m_modes->addItem(tr("default, 0.6"), Left);
    m_modes->addItem(tr("null"), None);
  }
  m_modes->addItem(tr("number"), Number);
  m_modes->addItem(tr("{parameter}"), Named);
  m_modes->setAccessibleName(tr("%1: kind of value").arg(accessibleName));
  // In a narrow dock the value must be visible. The list of modes opens as wide as it needs.
  m_modes->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_modes->setMinimumContentsLength(3);
  m_field->line()->setMinimumWidth(10 * kSpace);
  int widest = 0;
  for (int i = 0; i < m_modes->count(); ++i)
    widest = std::max(widest, m_modes->fontMetrics().horizontalAdvance(m_modes->itemText(i)));
  m_modes->view()->setMinimumWidth(widest + 6 * kSpace);
  ignoreWheelWithoutFocus(m_modes);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_modes, 3, Qt::AlignTop);
  layout->addWidget(m_field, 2, Qt::AlignTop);
  setFocusProxy(m_modes);
  connect(m_modes, &QComboBox::activated, this, &NumberField::chooseMode);
  show();
}

void NumberField::setValue(const NumberValue& value) {
  m_value = value;
  if (const auto* number = std::get_if<double>(&value)) m_lastNumber = *number;
  show();
}

QString NumberField::reason() const {
  return m_field->reason();
}

void NumberField::setTheme(const Theme& theme) {
  m_field->setTheme(theme);
}

QString NumberField::apply(const QString& text) {
  if (std::holds_alternative<query::Parameter>(m_value)) {
    const QString name = text.trimmed();
    const std::string braced = "{" + name.toStdString() + "}";
    if (query::parameterName(braced) != name.toStdString()) return tr("A name of letters, digits and _ . -");
    m_value = query::Parameter{name.toStdString()};
  } else if (m_kind == Kind::Temperature) {
    const std::optional<float> number = floatNumber(text);
    if (!number) return tr("A number such as 0.7");
    m_value = double{*number};
  } else {
    const bool isCount = m_kind == Kind::Count;
    const std::int64_t least = isCount ? 0 : std::numeric_limits<std::int32_t>::min();
    const std::int64_t most = isCount ? 255 : std::numeric_limits<std::int32_t>::max();
    const std::optional<std::int64_t> number = wholeNumber(text, least, most);
    if (!number)
      return isCount ? tr("A whole number from 0 to 255") : tr("A whole number up to %1").arg(most);
    m_value = static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<double>(&m_value)) m_lastNumber = *number;
  Q_EMIT edited();
  return {};
}

void NumberField::chooseMode(int index) {
  const int mode = m_modes->itemData(index).toInt();
  if (mode == static_cast<int>(m_value.index())) return;
  if (mode == Left)
    m_value = query::Absent{};
  else if (mode == None)
    m_value = query::Null{};
  else if (mode == Number)
    m_value = m_lastNumber;
  else
    m_value = query::Parameter{m_parameter.toStdString()};
  show();
  Q_EMIT edited();
  if (m_field->isVisible()) m_field->line()->setFocus();
}

void NumberField::show() {
  m_modes->setCurrentIndex(m_modes->findData(static_cast<int>(m_value.index())));
  QString text;
  if (const auto* number = std::get_if<double>(&m_value)) {
    text = m_kind == Kind::Temperature ? QString::fromStdString(query::floatText(static_cast<float>(*number)))
                                       : QString::number(static_cast<qlonglong>(*number));
  } else if (const auto* parameter = std::get_if<query::Parameter>(&m_value)) {
    text = QString::fromStdString(parameter->name);
  }
  m_field->setText(text);
  m_field->setVisible(m_value.index() >= Number);
}

}  // namespace spanscope::ui
