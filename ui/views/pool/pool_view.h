// SPDX-License-Identifier: GPL-3.0-or-later
// Shows every block of the pool and describes the selected block. Alternatively, shows the pool's use over
// time.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/table_view.h"
#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_plot.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QString>
#include <QWidget>

#include <optional>

class QLabel;
class QPushButton;
class QComboBox;

namespace spanscope::ui {

// The contents of the span store as a list, and a strip that compares loading with computing.

// Contents of the span store in the trace's last report. These blocks left the pool, or stay after the
// program ends.

/// The name of a tier: "host memory", "disk".
QString tierName(trace::StoreTier tier);
/// The tier as the source of a load: "host memory", "the disk".
QString tierPlace(trace::StoreTier tier);

struct StoreTable {
  enum Column { Name, Text, Blocks, Tokens, Size, Stored, Used };
  PaintedTable cells;  ///< each tier, in bold, is before its packs; no row: no tier is in use
  QString summary;     ///< "disk 110 blocks, 2.1 MiB"
  bool operator==(const StoreTable&) const = default;
};

StoreTable storeTable(const ViewInput& input);

/// Lines to append to poolCsv(). Each line has the name of a pack, the pack's tier in place of a state, and
/// the pack's content.
QString storeCsv(const ViewInput& input);

/// Lists the tiers of the span store and their contents, below the blocks of the pool. The list is hidden if
/// no tier is in use. The list is as high as its rows, but at most half as high as `room`.
class StoreList : public TableView {
  Q_OBJECT
 public:
  explicit StoreList(QWidget* parent = nullptr);

  void showStore(const StoreTable& table, const Theme& theme, int room);

 private:
  PaintedTableModel* m_cells;
};

// Compares loading from the tiers of the span store with computing, as measured on this machine.

struct StoreCost {
  bool isMeasured = false;
  QString text;     ///< the result in words
  QString details;  ///< one line for each measured length; empty if nothing was measured
  bool operator==(const StoreCost&) const = default;
};

/// The comparison for the document's model.
StoreCost storeCost(const ViewInput& input);

/// Shows a StoreCost, with a button that measures it.
class StoreCostStrip : public QWidget {
  Q_OBJECT
 public:
  explicit StoreCostStrip(QWidget* parent = nullptr);

  void showCost(const StoreCost& cost, const Theme& theme);
  const StoreCost& cost() const { return m_cost; }
  QPushButton& button() { return *m_measure; }

 Q_SIGNALS:
  void measureWanted();

 private:
  StoreCost m_cost;
  QLabel* m_text;
  QPushButton* m_measure;
};

class BlockLegend;
class PoolArea;
class PoolControls;
class PoolPlot;

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

  /// Shows the legend of the states that the table has, or the scale of the ages.
  void showShade(PoolShade shade, const PoolTable& table, const Theme& theme);
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
