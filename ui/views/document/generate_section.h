// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of nodes that generate: how often, on which model, how long, how free.
#pragma once

#include "ui/document/document.h"
#include "ui/views/document/form_rows.h"
#include "ui/views/document/text_tools.h"

#include <QWidget>

#include <functional>

class QLabel;
class QLineEdit;
class QPushButton;

namespace spanscope::ui {

class NumberField;
class TextSection;

/// Makes a change to the fields of the current node: what it is called, which field it is of, the change.
using EditOwn = std::function<void(const QString& name, const QString& field,
                                   const std::function<void(query::Node& own)>& edit)>;

class GenerateSection : public QWidget {
  Q_OBJECT
 public:
  GenerateSection(EditOwn edit, DocumentUndo::ModelOf model, QWidget* parent);

  void setNode(const document::DocumentNode& node);
  void setTheme(const Theme& theme);
  void focusFirst();

 Q_SIGNALS:
  void freezeWanted();  ///< the last answer is to stand in for running it
  void unfreezeWanted();
  void frozenEdited(const std::string& text);

 private:
  EditOwn m_edit;
  FormRows* m_rows;
  NumberField* m_count;
  QLabel* m_countLabel;
  QLineEdit* m_model;
  NumberField* m_maxTokens;
  NumberField* m_temperature;
  QPushButton* m_freeze;
  QLabel* m_freezeLabel;
  TextSection* m_frozen;
  bool m_isFrozen = false;
};

}  // namespace spanscope::ui
