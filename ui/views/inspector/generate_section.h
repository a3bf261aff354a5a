// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of nodes that generate: count, model, most tokens, temperature, and frozen answers.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/form_rows.h"

#include <QWidget>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

class NumberField;
class TextSection;

/// Changes the fields of the current node. `name` names the change for undo, `field` is the changed field,
/// `edit` makes the change.
using EditOwn = std::function<void(const QString& name, const QString& field,
                                   const std::function<void(query::Node& own)>& edit)>;

class GenerateSection : public QWidget {
  Q_OBJECT
 public:
  GenerateSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent);

  /// `servers`: the names of those that may answer.
  void setNode(document::NodeId id, const document::DocumentNode& node,
               const std::vector<std::string>& servers);
  void setTheme(const Theme& theme);
  void focusFirst();

 Q_SIGNALS:
  /// DocumentNode::server is to be this.
  void serverChosen(const std::string& server);
  void freezeWanted();  ///< the node's last answers should be used instead of running it
  void unfreezeWanted();
  /// The person has changed the text of the frozen answer with this index, from 0.
  void frozenEdited(std::size_t index, const std::string& text);

 private:
  void showServers(const std::string& chosen, const std::vector<std::string>& servers);
  void showFrozen(const query::Node& own);
  void showReply();

  EditOwn m_edit;
  FormRows* m_rows;
  NumberField* m_count;
  QLabel* m_countLabel;
  QLineEdit* m_model;
  NumberField* m_maxTokens;
  NumberField* m_temperature;
  QComboBox* m_server;
  QLabel* m_serverLabel;
  QPushButton* m_freeze;
  QLabel* m_freezeLabel;
  QLabel* m_whichLabel;
  QSpinBox* m_which;  ///< which of several frozen answers is shown, from 1
  TextSection* m_frozen;
  document::NodeId m_node = document::kNoNode;
  std::vector<std::string> m_replies;  ///< frozen answers; none: the node is run
};

}  // namespace spanscope::ui
