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

/// How a parameter section changes the document.
struct ParameterEdits {
  /// Gives a parameter its value, or removes the value if `value` is empty.
  std::function<void(const std::string& name, const std::optional<std::string>& value)> setValue;
  /// Declares a parameter. `command` names the change for undo. Consecutive changes with the same non-empty
  /// key are one undo step.
  std::function<void(const QString& command, const QString& key, query::ParameterDeclaration declaration)>
      declare;
};

/// A heading, and a field for the value of each parameter. If the person wants to define parameters, there
/// are also fields for type, default and description.
class ParameterSection : public QWidget {
  Q_OBJECT
 public:
  ParameterSection(ParameterEdits edits, DocumentUndo::ModelOf model, QWidget* parent);

  /// Sets the rows. Without rows the section is hidden.
  void setRows(const std::vector<ParameterRow>& rows);
  void setTheme(const Theme& theme);

 protected:
  void resizeEvent(QResizeEvent* event) override;

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
  /// Gives fields their places: beside their labels, or below them where there is little room.
  void fold();
  void makeValue(Field& field, std::size_t index, const QString& shown);
  void makeDefinition(Field& field, std::size_t index, const QString& shown);
  void showRow(const Field& field, const ParameterRow& row) const;
  void showDefinitions(bool shown);
  /// Changes the declaration of the parameter in this row.
  void declare(std::size_t index, const QString& what, const QString& key,
               const std::function<void(query::ParameterDeclaration&)>& change);

  ParameterEdits m_edits;
  DocumentUndo::ModelOf m_model;
  Theme m_theme;
  QLabel* m_heading;
  QToolButton* m_define;
  QWidget* m_body = nullptr;  ///< built again when the names or the offered kinds change
  std::vector<ParameterRow> m_rows;
  std::vector<Field> m_fields;
};

}  // namespace spanscope::ui
