// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/parameter_rows.h"

#include <QWidget>

#include <functional>
#include <optional>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace spanscope::ui {

class CheckedField;
class FormRows;

/// What a parameter section does to the document.
struct ParameterEdits {
  /// Gives a parameter its value, or takes it away.
  std::function<void(const std::string& name, const std::optional<std::string>& value)> setValue;
  /// Says this of a parameter. `command` names the change; changes with the same non-empty key are one.
  std::function<void(const QString& command, const QString& key, query::ParameterDeclaration declaration)>
      declare;
};

/// A heading and a field for the value of each parameter; where the person wants to define parameters, also
/// its type, its default and what it is for.
class ParameterSection : public QWidget {
  Q_OBJECT
 public:
  ParameterSection(ParameterEdits edits, DocumentUndo::ModelOf model, QWidget* parent);

  /// Hidden where there are none.
  void setRows(const std::vector<ParameterRow>& rows);
  void setTheme(const Theme& theme);

 private:
  struct Field {
    QLabel* label;
    CheckedField* value;
    QToolButton* remove;
    FormRows* definition;
    QComboBox* kind;
    CheckedField* defaultValue;
    QLineEdit* description;
  };

  void rebuild(const std::vector<ParameterRow>& rows);
  void makeValue(Field& field, std::size_t index, const QString& shown);
  void makeDefinition(Field& field, std::size_t index, const QString& shown);
  void showRow(const Field& field, const ParameterRow& row) const;
  void showDefinitions(bool shown);
  /// Changes what is said of the parameter of that row.
  void declare(std::size_t index, const QString& what, const QString& key,
               const std::function<void(query::ParameterDeclaration&)>& change);

  ParameterEdits m_edits;
  DocumentUndo::ModelOf m_model;
  Theme m_theme;
  QLabel* m_heading;
  QToolButton* m_define;
  QWidget* m_body = nullptr;  ///< made anew when the names or the kinds that may be chosen change
  std::vector<ParameterRow> m_rows;
  std::vector<Field> m_fields;
};

}  // namespace spanscope::ui
