// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/document/parameter_rows.h"
#include "ui/views/document/text_tools.h"

#include <QWidget>

#include <functional>
#include <vector>

class QGridLayout;
class QLabel;
class QToolButton;

namespace spanscope::ui {

class CheckedField;

/// A heading and a field for the value of each parameter.
class ParameterSection : public QWidget {
  Q_OBJECT
 public:
  /// Gives a parameter its value in the document, or takes it away.
  using SetValue = std::function<void(const std::string& name, const std::optional<std::string>& value)>;

  ParameterSection(SetValue setValue, DocumentUndo::ModelOf model, QWidget* parent);

  /// Hidden where there are none.
  void setRows(const std::vector<ParameterRow>& rows);
  void setTheme(const Theme& theme);

 private:
  struct Field {
    QLabel* label;
    CheckedField* value;
    QToolButton* remove;
  };

  void rebuild(const std::vector<ParameterRow>& rows);
  Field makeField(const ParameterRow& row);

  SetValue m_setValue;
  DocumentUndo::ModelOf m_model;
  Theme m_theme;
  QLabel* m_heading;
  QWidget* m_body = nullptr;  ///< made anew when the names or kinds change
  std::vector<ParameterRow> m_rows;
  std::vector<Field> m_fields;
};

}  // namespace spanscope::ui
