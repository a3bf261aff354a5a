// SPDX-License-Identifier: GPL-3.0-or-later
// A field for a number of the query language that may also be left out, null or a parameter.
#pragma once

#include "engine/query/query.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <variant>

class QComboBox;

namespace spanscope::ui {

class CheckedField;

/// A float and an int of 32 bits both fit into the double without loss.
using NumberValue = std::variant<query::Absent, query::Null, double, query::Parameter>;

class NumberField : public QWidget {
  Q_OBJECT
 public:
  enum class Kind {
    Count,        ///< 0 … 255, or a parameter
    MaxTokens,    ///< an int of 32 bits, null, left out, or a parameter
    Temperature,  ///< a finite float, null, left out, or a parameter
  };
  /// `parameter` is the name that the field suggests for a parameter.
  NumberField(Kind kind, const QString& accessibleName, const QString& parameter, QWidget* parent);

  void setValue(const NumberValue& value);
  const NumberValue& value() const { return m_value; }
  QString reason() const;
  void setTheme(const Theme& theme);
  QComboBox* modes() const { return m_modes; }
  CheckedField* field() const { return m_field; }

 Q_SIGNALS:
  void edited();  ///< the person has entered another valid value

 private:
  QString apply(const QString& text);
  void chooseMode(int index);
  void show();

  Kind m_kind;
  QString m_parameter;
  NumberValue m_value;
  double m_lastNumber;
  QComboBox* m_modes;
  CheckedField* m_field;
};

}  // namespace spanscope::ui
