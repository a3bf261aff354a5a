// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the planner's passes, which turn a query into a plan. The view has a list of passes, and the tree
// before and after the chosen pass.
#pragma once

#include "engine/plan/plan.h"
#include "ui/session/document_predictor.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QLabel;
class QListWidget;
class QSplitter;
class QTableView;

namespace spanscope::ui {

// Two trees side by side, line by line. Equal lines are in one row. Lines that a pass changed are marked.

/// A row of both trees. A side without a line in this row is empty.
struct TreePairRow {
  std::optional<plan::TreeLine> before;
  std::optional<plan::TreeLine> after;
  bool operator==(const TreePairRow&) const = default;
};

/// Pairs the lines of two trees. As many equal lines as possible share a row. A line that only one tree has
/// counts as changed.
std::vector<TreePairRow> pairTrees(const std::vector<plan::TreeLine>& before,
                                   const std::vector<plan::TreeLine>& after);

class TreePairModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Before, After, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setRows(std::vector<TreePairRow> rows, const Theme& theme);
  const std::vector<TreePairRow>& rows() const { return m_rows; }
  /// The line at an index; nullptr: this side has none in this row.
  const plan::TreeLine* line(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<TreePairRow> m_rows;
  Theme m_theme;
};

class PassView : public QWidget {
  Q_OBJECT
 public:
  explicit PassView(QWidget* parent = nullptr);

  /// Shows the passes of a prediction. Shows nothing if the prediction is null or has no plan. `selected`:
  /// the node to mark.
  void show(std::shared_ptr<const DocumentPrediction> prediction, document::NodeId selected,
            const Theme& theme);

  QListWidget& list() { return *m_list; }
  QTableView& trees() { return *m_trees; }
  const TreePairModel& model() const { return *m_model; }
  /// The chosen entry: 0 for all passes together, else the number of a pass, from 1.
  int chosen() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void nodeWanted(spanscope::document::NodeId node);

 private:
  void fillList();
  void showChosen();
  void showSelected();
  void choose(const QModelIndex& index);
  document::NodeId nodeOf(const QModelIndex& index) const;

  std::shared_ptr<const DocumentPrediction> m_prediction;
  document::NodeId m_selected = document::kNoNode;
  std::optional<Theme> m_theme;
  bool m_filling = false;
  QSplitter* m_splitter;
  QListWidget* m_list;
  QLabel* m_why;
  QTableView* m_trees;
  TreePairModel* m_model;
};

}  // namespace spanscope::ui
