// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the fields of the selected node.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"

#include <QAbstractListModel>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

class QGridLayout;
class QLabel;
class QListView;
class QPushButton;
class QCheckBox;
class QComboBox;
class QLineEdit;
class QScrollArea;

namespace spanscope::ui {

class MapInputsModel;

/// The list of a map's inputs with buttons to add, remove and move.
class MapInputsEditor : public QWidget {
  Q_OBJECT
 public:
  explicit MapInputsEditor(QWidget* parent = nullptr);

  void setInputs(const std::vector<std::string>& inputs);
  const std::vector<std::string>& inputs() const;
  void setTheme(const Theme& theme);
  void focusList();

 Q_SIGNALS:
  void edited();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Puts the buttons into one row, or into two if the editor is narrow.
  void placeButtons();
  void add();
  void remove();
  void move(int step);
  void updateButtons();

  MapInputsModel* m_model;
  QLabel* m_label;
  QListView* m_list;
  QGridLayout* m_buttons;
  QPushButton* m_add;
  QPushButton* m_remove;
  QPushButton* m_up;
  QPushButton* m_down;
};

// The inputs of a map as an editable list.

class MapInputsModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;

  /// Sets the inputs from the document. Rows that do not change are kept, so that the selection or an open
  /// editor stays.
  void setInputs(const std::vector<std::string>& inputs);
  const std::vector<std::string>& inputs() const { return m_inputs; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool insertRows(int row, int count, const QModelIndex& parent = {}) override;
  bool removeRows(int row, int count, const QModelIndex& parent = {}) override;
  bool moveRows(const QModelIndex& sourceParent, int from, int count, const QModelIndex& targetParent,
                int to) override;

 Q_SIGNALS:
  void edited();  ///< the user has changed the inputs

 private:
  std::vector<std::string> m_inputs;
};

// The texts of the inspector about the selected node, in addition to its fields.

struct InspectorFacts {
  QString title;  ///< "user · document"
  QString place;  ///< "plus, place 1 of 3"
  QString help;   ///< what the operator does
  bool operator==(const InspectorFacts&) const = default;
};

/// The facts of a node of the document.
InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node);

/// "58 tokens of text". The number excludes the tokens that a chat template adds. The node card also counts
/// those tokens.
QString tokenText(std::int64_t tokens);

/// Whether the node is a text: a message, a print, a question.
bool hasTextSection(const query::Node& own);
/// Whether the node's text is a path.
bool hasPath(const query::Node& own);
/// Returns the path of a file for a document in `folder`. The path is relative if the file is in the folder
/// or below it, else absolute. `folder` is empty if the document has no file yet.
QString pathInFolder(const QString& file, const QString& folder);
/// The label of the node's text: "Text", "Message to the console", "Question".
QString textLabel(const query::Node& own);

class AugmentSection;
class FormRows;
class GenerateSection;
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
