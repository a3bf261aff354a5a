// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the metrics, answers, queries and blocks of two runs, side by side.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_view.h"
#include "ui/views/compare/compare_model.h"

#include <QPointer>
#include <QScrollArea>
#include <QTextEdit>
#include <QWidget>

#include <array>
#include <optional>

class QCheckBox;
class QComboBox;
class QLabel;
class QStackedWidget;
class QTabBar;

namespace spanscope::ui {

class AnswerPair;
class BlockStrips;
class TreePair;

class CompareView : public RunView {
  Q_OBJECT
 public:
  explicit CompareView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const CompareModel& model() const { return m_model; }
  /// Sets the runs to compare. 0: compareModel() chooses.
  void setRuns(RunId left, RunId right);
  /// Performs the commands that comparedRuns() reads. Also performs "compare.differences" and "compare.all",
  /// which set the rows of the table.
  void perform(const QString& command) override;
  /// Shows a page: 0 metrics, 1 answers, 2 queries, 3 blocks.
  void setPage(int page);
  /// Sets whether the table has only rows that differ.
  void showOnlyDifferences(bool isOnly);

 protected:
  void refresh() override;
  QString emptyText() const override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::array<QWidget*, 3> parts() const;
  void fillChoices();
  void fitColumns();
  PaintedTable table() const;

  CompareModel m_model;
  RunMeters m_meters;
  std::optional<Theme> m_shown;  ///< theme of the current content
  RunId m_left = 0;
  RunId m_right = 0;
  TableView* m_table;
  PaintedTableModel* m_rows;
  QWidget* m_head;  ///< the tabs and the choice of rows
  QTabBar* m_tabs;
  QCheckBox* m_onlyDifferences;
  QLabel* m_likeness;
  QStackedWidget* m_pages;
  AnswerPair* m_answers;
  TreePair* m_trees;
  BlockStrips* m_blocks;
  QPointer<QComboBox> m_leftBox;
  QPointer<QComboBox> m_rightBox;
  bool m_filling = false;
};

// Pages that show the answers, the queries and the blocks of two runs, side by side.

/// Shows the two answers. Words on one side only are tinted and underlined.
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

/// Shows the two queries, one node per line, with a sign for each difference.
class TreePair : public QWidget {
  Q_OBJECT
 public:
  explicit TreePair(QWidget* parent = nullptr);
  void setContent(const CompareModel& model, const Theme& theme);

 private:
  TableView* m_table;
  PaintedTableModel* m_rows;
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
  /// Paints into this width, or only measures if `painter` is null. Returns the height.
  int layOut(QPainter* painter, int width) const;

  CompareModel m_model;
  BlockPainter m_painter;
};

/// "12 hit · 3 relocated · 4 computed"
QString rolesText(const std::vector<BlockRole>& roles);
/// The same for a step. A stopped or failed step also has its unfinished blocks: "stopped · 12 computed · 3
/// blocks not computed".
QString stepText(const StepBlocks& step);
/// The sign before a line. "−" marks a line that is only on the left. "+" marks a line that is only on the
/// right. "↕" marks a moved line.
QString signOf(DiffKind kind);

}  // namespace spanscope::ui
