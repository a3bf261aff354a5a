// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/parameters.h"
#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"
#include "ui/views/common/text_tools.h"

#include <QString>
#include <QWidget>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

class QGridLayout;
class QLabel;
class QComboBox;
class QLineEdit;
class QToolButton;

namespace spanscope::ui {

// A form with rows of a label and a field. Labels line up over several such forms. In a narrow form, each
// label is above its field.

/// The width of the labels' column, in pixels, unless a label is wider.
inline constexpr int kFormLabelWidth = 96;

/// Whether a form of this width, in pixels, has no room for fields beside its labels.
bool isNarrowForm(int width, const std::vector<QLabel*>& labels);

class FormRows : public QWidget {
  Q_OBJECT
 public:
  explicit FormRows(QWidget* parent = nullptr);

  /// Adds a row and takes the field. If the label is empty, the column of labels has a gap.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Adds a widget over both columns.
  void addWide(QWidget* widget);
  void setTheme(const Theme& theme);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Row {
    QLabel* label;  ///< nullptr: the field takes the whole width
    QWidget* field;
  };

  void add(QLabel* label, QWidget* field);
  /// Gives a row its places in the grid, where each row has two lines.
  void place(std::size_t index);
  void fold();

  QGridLayout* m_grid;
  std::vector<Row> m_rows;
  std::vector<QLabel*> m_labels;
  bool m_isNarrow = false;
};

// The parameters of a document, such as "{n}" or "{topic}", as rows with a field for each value.

struct ParameterRow {
  std::string name;
  /// The kind of value that the parameter's strictest place takes. If the rows are of one node, only places
  /// in this node count.
  query::ParameterKind placesKind = query::ParameterKind::Text;
  std::optional<std::string> value;  ///< nothing: no value is given
  std::size_t nodes = 0;             ///< number of nodes in the document that use the parameter.
  /// The document's declaration of the parameter. Without a declaration, only the name is set.
  query::ParameterDeclaration declaration;

  /// The kind that the parameter's value must have, from the parameter's places and declaration.
  query::ParameterKind kind() const;
  bool operator==(const ParameterRow&) const = default;
};

/// Returns the parameters in the fields of the node. For kNoNode, returns all parameters of the document in
/// the order of the tree. Parameters that are declared but unused come last.
std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node);

/// Why the text cannot be a value of this kind. Empty if the text can be such a value.
QString parameterReason(query::ParameterKind kind, const std::string& text);

/// The placeholder of a parameter without a value.
QString withoutValueText(const ParameterRow& row);

/// The kinds that may be declared for the parameter: the kind that the parameter's places take, and narrower
/// kinds.
std::vector<query::ParameterKind> kindChoices(const ParameterRow& row);
/// The name of a kind in the window: "Whole number".
QString kindLabel(query::ParameterKind kind);

class CheckedField;

/// How a parameter section changes the document.
struct ParameterEdits {
  /// Gives a parameter its value, or removes the value if `value` is empty.
  std::function<void(const std::string& name, const std::optional<std::string>& value)> setValue;
  /// Declares a parameter. `command` names the change for undo. Consecutive changes with the same non-empty
  /// key are one undo step.
  std::function<void(const QString& command, const QString& key, query::ParameterDeclaration declaration)>
      declare;
};

/// A heading, and a field for the value of each parameter. If the user turns on Define, there are also fields
/// for type, default and description.
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
  /// Puts fields beside their labels, or below the labels if the section is narrow.
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
