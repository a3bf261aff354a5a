// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of nodes that generate: how often, on which model, how long, how free.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/form_rows.h"

#include <QWidget>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

class NumberField;
class TextSection;

/// Makes a change to the fields of the current node: what it is called, which field it is of, the change.
using EditOwn = std::function<void(const QString& name, const QString& field,
                                   const std::function<void(query::Node& own)>& edit)>;

class GenerateSection : public QWidget {
  Q_OBJECT
 public:
  GenerateSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent);

  void setNode(document::NodeId id, const document::DocumentNode& node);
  void setTheme(const Theme& theme);
  void focusFirst();

 Q_SIGNALS:
  void freezeWanted();  ///< the last answers are to stand in for running it
  void unfreezeWanted();
  /// One of the frozen answers, from 0, says something else now.
  void frozenEdited(std::size_t index, const std::string& text);

 private:
  void showFrozen(const query::Node& own);
  void showReply();

  EditOwn m_edit;
  FormRows* m_rows;
  NumberField* m_count;
  QLabel* m_countLabel;
  QLineEdit* m_model;
  NumberField* m_maxTokens;
  NumberField* m_temperature;
  QPushButton* m_freeze;
  QLabel* m_freezeLabel;
  QLabel* m_whichLabel;
  QSpinBox* m_which;  ///< of several frozen answers the one that is shown, from 1
  TextSection* m_frozen;
  document::NodeId m_node = document::kNoNode;
  std::vector<std::string> m_replies;  ///< frozen ones; none: it is run
};

}  // namespace spanscope::ui
