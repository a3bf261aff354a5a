// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/template_facts.h"
#include "ui/session/task_thread.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <memory>
#include <string>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace spanscope::ui {

/// Shows the source of a checkpoint's chat template, and beside it a conversation in the chosen template. If
/// the checkpoint's template is unknown, the user chooses a template here. A separate thread reads the
/// checkpoint.
class TemplateDialog : public QDialog {
  Q_OBJECT
 public:
  /// `checkpoint`: a path. `chosen`: RunSettings::chatTemplate.
  TemplateDialog(const std::string& checkpoint, const QString& modelName, std::string chosen,
                 const Theme& theme, QWidget* parent = nullptr);
  ~TemplateDialog() override;

  /// The new value of RunSettings::chatTemplate.
  std::string chosen() const;
  /// False while the checkpoint is being read.
  bool isRead() const { return m_facts != nullptr; }

 Q_SIGNALS:
  void read();

 private:
  void show(std::shared_ptr<const workbench::TemplateFacts> facts);
  void fillChoices();
  void showChoice();

  QString m_model;
  std::string m_chosen;
  std::shared_ptr<const workbench::TemplateFacts> m_facts;
  QLabel* m_says;
  QPlainTextEdit* m_own;
  QLabel* m_ownTitle;
  QPlainTextEdit* m_sample;
  QComboBox* m_choices;
  QLabel* m_remark;
  QPushButton* m_use;
  TaskThread m_thread;  ///< ends before the other members
};

}  // namespace spanscope::ui
