// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/table_view.h"

#include <QString>
#include <QWidget>

class QLabel;
class QPushButton;

namespace spanscope::ui {

// Contents of the span store, by the trace's last report: blocks that have left the pool, or that outlive the
// program.

/// The name of a tier: "host memory", "disk".
QString tierName(trace::StoreTier tier);
/// The place from which something was loaded: "the disk".
QString tierPlace(trace::StoreTier tier);

struct StoreTable {
  enum Column { Name, Text, Blocks, Tokens, Size, Stored, Used };
  PaintedTable cells;  ///< each tier, in bold, comes before its parts; no row: no tier is in use
  QString summary;     ///< "disk 110 blocks, 2.1 MiB"
  bool operator==(const StoreTable&) const = default;
};

StoreTable storeTable(const ViewInput& input);

/// Lines to append to poolCsv(). Each has the name of a part, its tier in place of a state, and what it
/// holds.
QString storeCsv(const ViewInput& input);

/// Lists the tiers of the span store and what lies in them, below the blocks of the pool. It is hidden if no
/// tier is in use. It is as high as its rows, but at most half as high as `room`.
class StoreList : public TableView {
  Q_OBJECT
 public:
  explicit StoreList(QWidget* parent = nullptr);

  void showStore(const StoreTable& table, const Theme& theme, int room);

 private:
  PaintedTableModel* m_cells;
};

// Says whether the tiers of the span store are worth it: loading compared with computing, as measured on this
// machine.

struct StoreCost {
  bool isMeasured = false;
  QString text;     ///< a sentence
  QString details;  ///< one line for each measured length; empty if nothing was measured
  bool operator==(const StoreCost&) const = default;
};

/// The cost for the document's model.
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

}  // namespace spanscope::ui
