// SPDX-License-Identifier: GPL-3.0-or-later
// Shows every block of the pool and describes the selected block. Alternatively, shows the pool's use over
// time.
#pragma once

#include "ui/views/common/block_history.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_model.h"
#include "ui/views/pool/pool_plot.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QWidget>

#include <optional>

class QComboBox;
class QLabel;

namespace spanscope::ui {

class BlockLegend;
class PoolArea;
class PoolControls;
class PoolPlot;
class StoreCostStrip;
class StoreList;

class PoolView : public InputView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit PoolView(QWidget* parent = nullptr);

  QWidget* takeTitleControls() override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PoolTable& table() const { return m_table; }
  const PoolDetail& detail() const { return m_detail; }
  PoolShade shade() const { return m_shade; }
  /// Shows the blocks, with this meaning of their colours.
  void setShade(PoolShade shade);
  bool isOverTime() const { return m_isOverTime; }
  void showOverTime();
  PoolPlot& plot() { return *m_plot; }
  StoreCostStrip& storeCostStrip() { return *m_cost; }

  const QWidget& placesIn() const override;
  /// The cell of the selection's physical block.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

 protected:
  void refresh() override;

 private:
  void select(BlockId block);
  void stopMotion() override;
  void showMotion() override;
  void selectEvent(std::size_t event);
  void setOverTime(bool isOverTime);
  void showDetail();
  void showControls();
  /// The physical block of a selection at the input's position; the null block: none.
  BlockId physicalOf(const Selection& selection) const;

  BlockHistory m_history;
  PoolTable m_table;
  PoolDetail m_detail;
  std::optional<PoolMotion> m_motion;  ///< motion of the moment, at the current input
  PoolShade m_shade = PoolShade::State;
  BlockId m_revealed = kNullBlock;
  QString m_summary;
  bool m_isOverTime = false;
  PoolLevels m_levels;  ///< follows the trace after showOverTime()
  PoolArea* m_area;
  PoolPlot* m_plot;
  StoreList* m_store;
  StoreCostStrip* m_cost;
  QLabel* m_detailLabel;
  QPointer<PoolControls> m_controls;
};

// The controls in the title bar of the pool. The controls are a legend of the colours, and the choice between
// state, age and the pool over time.

class AgeScale;

class PoolControls : public QWidget {
  Q_OBJECT
 public:
  explicit PoolControls(QWidget* parent = nullptr);

  void showShade(PoolShade shade, double oldest, bool anyLoaded, const Theme& theme);
  /// Hides the legends, because the plot has its own legend.
  void showOverTime();

 Q_SIGNALS:
  void shadeWanted(spanscope::ui::PoolShade shade);
  void overTimeWanted();

 private:
  BlockLegend* m_legend;
  AgeScale* m_scale;
  QComboBox* m_choice;
};

}  // namespace spanscope::ui
