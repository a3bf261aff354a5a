// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the passes that turn a query into a plan: a list of passes, and the tree before and after the chosen
// pass.
#pragma once

#include "ui/session/forecaster.h"
#include "ui/theme/theme.h"
#include "ui/views/plan/tree_pair_model.h"

#include <QWidget>

#include <memory>
#include <optional>

class QLabel;
class QListWidget;
class QSplitter;
class QTableView;

namespace spanscope::ui {

class PassView : public QWidget {
  Q_OBJECT
 public:
  explicit PassView(QWidget* parent = nullptr);

  /// Shows the passes of a forecast; nothing if it is null or has no plan. `selected` is the node whose lines
  /// are marked.
  void show(std::shared_ptr<const Forecast> forecast, document::NodeId selected, const Theme& theme);

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

  std::shared_ptr<const Forecast> m_forecast;
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
