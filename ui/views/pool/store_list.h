// SPDX-License-Identifier: GPL-3.0-or-later
// The contents of the span store as a list, and a strip that compares loading with computing.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/table_view.h"

#include <QString>
#include <QWidget>

class QLabel;
class QPushButton;

namespace spanscope::ui {

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

}  // namespace spanscope::ui
