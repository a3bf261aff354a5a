// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the streaming answer over the canvas while the answer's card cannot be read there.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QString>

namespace spanscope::ui {

class AnswerStrip : public QFrame {
  Q_OBJECT
 public:
  explicit AnswerStrip(QWidget* parent);
  void setTheme(const Theme& theme);
  /// Shows the end of the answer, as much as fits into two lines.
  void showAnswer(document::NodeId node, const QString& title, const QString& answer);

 Q_SIGNALS:
  /// The person clicked the strip: the canvas should show the node.
  void wanted(spanscope::document::NodeId node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  Theme m_theme;
  document::NodeId m_node = document::kNoNode;
  QString m_title;
  QString m_answer;
};

}  // namespace spanscope::ui
