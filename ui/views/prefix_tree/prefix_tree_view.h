// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the tree of cached prefixes. Each row is a chain of blocks, with a bar at its token positions.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/prefix_tree/prefix_tree_model.h"

#include <optional>
#include <vector>

class QLabel;
class QStandardItem;
class QStandardItemModel;
class QTreeView;

namespace spanscope::ui {

class PrefixTreeView : public RunView, public DrawnParts {
  Q_OBJECT
 public:
  explicit PrefixTreeView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  /// The place of a block is its row. A block in a collapsed branch has no place.
  const QWidget& placesIn() const override;
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

  const PrefixTree& tree() const { return m_tree; }
  QTreeView& rows() { return *m_rows; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fill();
  /// The width of a column without cut texts.
  int leastWidth(int column) const;
  void fitColumns();
  void showSelection();
  void choose(int node);
  int nodeOf(const Selection& part) const;

  BlockHistory m_history;
  PrefixTree m_tree;
  std::optional<Theme> m_shown;
  QLabel* m_sentence;
  QTreeView* m_rows;
  QStandardItemModel* m_model;
  std::vector<QStandardItem*> m_items;  ///< first cell of each node; the model owns them
  bool m_isFilling = false;
};

}  // namespace spanscope::ui
