// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/inspector/generate_section.h"

namespace spanscope::ui {

/// The fields of an augment: the document to search, and the model that searches.
class AugmentSection : public QWidget {
  Q_OBJECT
 public:
  AugmentSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent);

  void setNode(const document::DocumentNode& node);
  void setTheme(const Theme& theme);
  void focusFirst();

 private:
  EditOwn m_edit;
  FormRows* m_rows;
  QLineEdit* m_embedding;
  QLineEdit* m_name;
  QLabel* m_bytes;
  QLabel* m_bytesLabel;
  TextSection* m_content;
};

}  // namespace spanscope::ui
