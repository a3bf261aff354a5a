// SPDX-License-Identifier: GPL-3.0-or-later
// Shows two runs side by side: their figures, answers, queries and blocks.
#pragma once

#include "ui/views/common/run_view.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/compare/compare_model.h"

#include <QPointer>

#include <array>
#include <optional>

class QComboBox;
class QLabel;
class QStackedWidget;
class QTabBar;
class QTableWidget;

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
  /// Takes comparedRuns().
  void perform(const QString& command) override;
  /// Shows a page: 0 figures, 1 answers, 2 queries, 3 blocks.
  void setPage(int page);

 protected:
  void refresh() override;
  QString emptyText() const override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::array<QWidget*, 3> parts() const;
  void fillChoices();
  void fillTable();
  void fitColumns();
  PaintedTable painted() const;

  CompareModel m_model;
  RunMeters m_meters;
  std::optional<Theme> m_shown;  ///< theme of the table's present content
  RunId m_left = 0;
  RunId m_right = 0;
  QTableWidget* m_table;
  QTabBar* m_tabs;
  QLabel* m_likeness;
  QStackedWidget* m_pages;
  AnswerPair* m_answers;
  TreePair* m_trees;
  BlockStrips* m_blocks;
  QPointer<QComboBox> m_leftBox;
  QPointer<QComboBox> m_rightBox;
  bool m_filling = false;
};

}  // namespace spanscope::ui
