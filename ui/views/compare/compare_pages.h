// SPDX-License-Identifier: GPL-3.0-or-later
// Pages that show two runs beside each other: their answers, their queries and their blocks.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/compare/compare_model.h"

#include <QScrollArea>
#include <QTextEdit>
#include <QWidget>

class QTableWidget;

namespace spanscope::ui {

/// Shows the two answers. Words that stand only on one side are tinted and underlined.
class AnswerPair : public QWidget {
  Q_OBJECT
 public:
  explicit AnswerPair(QWidget* parent = nullptr);
  void setContent(const CompareModel& model, const Theme& theme);
  const QTextEdit& left() const { return *m_left; }
  const QTextEdit& right() const { return *m_right; }

 private:
  QTextEdit* m_left;
  QTextEdit* m_right;
};

/// Shows the two queries, one node in a line, with a sign for what differs.
class TreePair : public QWidget {
  Q_OBJECT
 public:
  explicit TreePair(QWidget* parent = nullptr);
  void setContent(const CompareModel& model, const Theme& theme);

 private:
  QTableWidget* m_table;
};

/// Shows a strip of blocks for each step and side, in the colours of their states.
class BlockStrips : public QWidget {
  Q_OBJECT
 public:
  explicit BlockStrips(QWidget* parent = nullptr);
  void setContent(const CompareModel& model, const Theme& theme);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Paints into this width, or only measures if `painter` is null. Returns the height that it takes.
  int layOut(QPainter* painter, int width) const;

  CompareModel m_model;
  BlockPainter m_painter;
};

/// "12 hit · 3 relocated · 4 computed"
QString rolesText(const std::vector<BlockRole>& roles);
/// The same, and what a step did not come to that did not end as it should: "stopped · 12 computed · 3 blocks
/// not computed".
QString stepText(const StepBlocks& step);
/// The sign before a line: "−" stands only on the left, "+" only on the right, "↕" moved.
QString signOf(DiffKind kind);

}  // namespace spanscope::ui
