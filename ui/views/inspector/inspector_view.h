// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the fields of the selected node.
#pragma once

#include "ui/views/common/input_view.h"

#include <functional>
#include <optional>
#include <string>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;

namespace spanscope::ui {

class AugmentSection;
class FormRows;
class GenerateSection;
class MapInputsEditor;
class ParameterSection;
struct ParameterEdits;
class TextSection;

class InspectorView : public InputView {
  Q_OBJECT
 public:
  explicit InspectorView(QWidget* parent = nullptr);

  QSize sizeHint() const override { return {380, 460}; }

  /// Gives the focus to the text of the node, or else to its first field.
  Q_INVOKABLE void focusText();

 protected:
  void refresh() override;
  void modelChanged() override;

 private:
  void makeEmptyPage();
  void makeFields();
  void connectFields();
  void showNode(const document::DocumentNode& node);
  void showOperator(const query::Node& own);
  void applyTheme();
  void browse();  ///< lets the user choose the path of the node
  void change(const QString& name, const QString& key,
              const std::function<void(document::Document&)>& change);
  void editOwn(const QString& name, const QString& field, const std::function<void(query::Node&)>& edit);

  ParameterEdits parameterEdits();
  void setParameter(const std::string& name, const std::optional<std::string>& value);

  document::NodeId m_node = document::kNoNode;
  std::optional<Theme> m_applied;
  QWidget* m_emptyPage;
  QLabel* m_empty;
  ParameterSection* m_allParameters;
  QScrollArea* m_scroll;
  TextSection* m_text;
  GenerateSection* m_generate;
  MapInputsEditor* m_inputs;
  AugmentSection* m_augment;
  ParameterSection* m_parameters;
  FormRows* m_rows;
  QWidget* m_pathField;
  QLineEdit* m_path;
  QPushButton* m_browse;
  QLabel* m_pathLabel;
  QComboBox* m_operator;
  QLabel* m_operatorLabel;
  QLabel* m_place;
  QLineEdit* m_name;
  QCheckBox* m_muted;
  QLabel* m_help;
};

}  // namespace spanscope::ui
