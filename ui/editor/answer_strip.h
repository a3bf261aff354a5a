// SPDX-License-Identifier: GPL-3.0-or-later
// The streaming answer over the canvas, for as long as its card cannot be read there.
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
  /// The end of the answer is shown, as much as fits two lines.
  void showAnswer(document::NodeId node, const QString& title, const QString& answer);

 Q_SIGNALS:
  /// A click asks for the node itself.
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
