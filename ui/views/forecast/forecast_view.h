// SPDX-License-Identifier: GPL-3.0-or-later
// What the next run will find in the cache, while the query is still being changed.
#pragma once

#include "ui/views/common/run_view.h"
#include "ui/views/forecast/forecast_model.h"

#include <QPointer>

#include <optional>
#include <set>

class QComboBox;
class QTreeView;

namespace spanscope::ui {

class ForecastDelegate;
class ForecastHeader;

class ForecastView : public RunView {
  Q_OBJECT
 public:
  explicit ForecastView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const ForecastModel& model() const { return *m_model; }
  QTreeView& tree() { return *m_tree; }
  void setAgainst(Against against);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void fill(ForecastTable table);
  void arrange();
  void showSelected();
  void choose(const QModelIndex& index);

  Against m_against = Against::Present;
  std::optional<Theme> m_shown;
  ForecastHeader* m_header;
  QTreeView* m_tree;
  ForecastModel* m_model;
  ForecastDelegate* m_delegate;
  std::set<document::NodeId> m_closed;  ///< steps that the person has folded
  bool m_filling = false;
  QPointer<QComboBox> m_box;
};

}  // namespace spanscope::ui
